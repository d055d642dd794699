"""When a scenario's steps may be published: every tick, or at times of their own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

__all__ = ["LONGEST_TICK_S", "SHORTEST_TICK_S", "published_violations", "tick_violations"]

SHORTEST_TICK_S, LONGEST_TICK_S = 1e-6, 1e6
"""Intervals beyond these leave no latency in a recorded time, or no distance between two."""


def tick_violations(tick: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with `tick_seconds`, as field and words."""
    if not _is_number(tick) or tick <= 0:
        yield "tick_seconds", "must be a number of seconds above 0 (not NaN, not negative)"
    elif not SHORTEST_TICK_S <= tick <= LONGEST_TICK_S:
        yield (
            "tick_seconds",
            f"is {tick!r:.80}, must be between {SHORTEST_TICK_S:g} and {LONGEST_TICK_S:g} s",
        )


def published_violations(episode: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with `published_s`: one time per step, from 0 on, the last before the end."""
    times, steps, tick = episode["published_s"], episode.get("steps"), episode.get("tick_seconds")
    if not isinstance(times, list) or not all(map(_is_number, times)):
        yield "published_s", "must be a list of seconds, one for every step"
        return
    if not isinstance(steps, list) or not steps or tick is None or any(tick_violations(tick)):
        return  # said elsewhere
    horizon = len(steps) * tick
    if len(times) != len(steps):
        yield "published_s", f"has {len(times)} times for {len(steps)} steps"
    elif times[0] != 0:
        yield "published_s[0]", f"is {times[0]!r:.80}; the first step is published at 0"
    elif times[-1] >= horizon:
        yield (
            f"published_s[{len(times) - 1}]",
            f"is {times[-1]!r:.80}, at or after the end at n · tick_seconds = {horizon:g}",
        )
    for index, (before, after) in enumerate(pairwise(times), start=1):
        if after - before < SHORTEST_TICK_S * (1 - 1e-3):  # of times that were rounded to it
            yield (
                f"published_s[{index}]",
                f"is {after!r:.80}, must be at least {SHORTEST_TICK_S:g} s after the step before",
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
