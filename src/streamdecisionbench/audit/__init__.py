"""Auditing references: what a reader may see, how answers are compared, and how it is recorded."""
