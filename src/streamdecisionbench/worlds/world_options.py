"""Defaults of `sdb world run`, without any import."""

SEEDS = (1,)
"""One session per seed."""
STEPS = 60
WORDING = "listed"
FRAMES = 1
"""Steps of a Gymnasium environment in one tick."""
