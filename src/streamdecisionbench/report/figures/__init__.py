"""Figures of a report: each a function of the material that returns a `Figure`, or None."""
