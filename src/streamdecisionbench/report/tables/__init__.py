"""Tables of a report: each a function of the material that returns a `Table`."""
