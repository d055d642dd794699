"""Recordings that travel: packed with all that is needed to score them again."""
