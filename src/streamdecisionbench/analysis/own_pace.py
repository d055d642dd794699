"""One setting recorded under several conditions: which recordings belong together, and which to use.

A condition is a pace and a load. What was measured at one's own pace needs no re-pacing, so it is
preferred to what another pace predicts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from streamdecisionbench.components.providers.hosts import same_place
from streamdecisionbench.recording.punctuality import punctuality
from streamdecisionbench.recording.recording import Recording

__all__ = ["at_own_pace", "condition_of", "sweeps"]

_CONDITION = frozenset({
    "interval_s", "tick_seconds", "streams", "replica", "seed", "workers", "max_in_flight_in_all",
    "scenarios", "clock",
})  # fmt: skip
"""What of a config may differ between the conditions of one setting."""

_SAME = 1e-9


def condition_of(recording: Recording) -> tuple[float, int] | None:
    """Its interval and its streams; None where scenarios have intervals of their own."""
    interval, streams = recording.config.get("interval_s"), recording.config.get("streams", 1)
    if not isinstance(interval, int | float) or not isinstance(streams, int):
        return None
    return float(interval), streams


def sweeps(recordings: Sequence[Recording]) -> list[list[int]]:
    """Places of recordings of one setting that were made under two or more conditions."""
    groups: dict[bytes, list[int]] = {}
    for place, recording in enumerate(recordings):
        if condition_of(recording) is not None:
            groups.setdefault(_setting(recording), []).append(place)
    return [
        places
        for places in groups.values()
        if len({condition_of(recordings[place]) for place in places}) > 1
    ]


def at_own_pace(recordings: Sequence[Recording], interval: float) -> tuple[list[int], list[str]]:
    """Whom to weigh at an interval, by place, and what people should know about it.

    Of a setting under several conditions: those recorded at the interval itself, at the lowest load;
    otherwise at the nearest interval, re-paced. A condition that the client did not hold is passed
    over where another was.
    """
    dropped: set[int] = set()
    words: list[str] = []
    for places in sweeps(recordings):
        held = [p for p in places if punctuality(recordings[p].episodes).held] or places
        best = min((_place(recordings[p]) for p in held), key=lambda c: _distance(c, interval))
        kept = [p for p in held if _place(recordings[p]) == best]
        dropped |= {*places} - {*kept}
        name = recordings[kept[0]].name
        load = f" with {best[1]} streams" if best[1] > 1 else ""
        if _near(best[0], interval):
            words.append(f"{name}: measured at {interval:g} s{load} itself, not re-paced.")
        else:
            words.append(
                f"{name}: not measured at {interval:g} s; re-paced from {best[0]:g} s{load},"
                " the nearest of its conditions."
            )
    return [place for place in range(len(recordings)) if place not in dropped], words


def _place(recording: Recording) -> tuple[float, int]:
    found = condition_of(recording)
    if found is None:
        raise AssertionError("a sweep has conditions")
    return found


def _distance(condition: tuple[float, int], interval: float) -> tuple[float, int]:
    apart = 0.0 if _near(condition[0], interval) else abs(math.log(condition[0] / interval))
    return apart, condition[1]


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= _SAME * b


def _setting(recording: Recording) -> bytes:
    return msgspec.json.encode(
        [recording.dataset_hash, _plain(recording.config, leave=_CONDITION)], order="deterministic"
    )


def _plain(config: Mapping[str, Any], leave: frozenset[str]) -> dict[str, Any]:
    """Without what differs between conditions, seeds of simulations and ports of this machine."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        if key in leave:
            continue
        if key == "base_url_host":
            value = same_place(value)
        elif isinstance(value, Mapping):
            value = _plain(value, leave=frozenset({"seed"}))
        found[key] = value
    return found
