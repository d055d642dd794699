"""The self-contained page of `sdb report`: one HTML file that opens from disk without a network."""
