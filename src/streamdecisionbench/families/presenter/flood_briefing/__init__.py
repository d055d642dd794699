"""Presenter B: a public briefing on a flood barrier."""
