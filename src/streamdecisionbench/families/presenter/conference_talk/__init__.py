"""Presenter A: a conference talk with a demonstration clip."""
