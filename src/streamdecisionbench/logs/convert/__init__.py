"""Traces that others wrote, as rows of a decision log."""
