"""Assembly B: a cable module is crimped, tested and labelled."""
