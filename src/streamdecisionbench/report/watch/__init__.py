"""A page that shows a recording or a metered service while it runs."""
