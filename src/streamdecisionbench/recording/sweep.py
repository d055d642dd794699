"""A sweep: one setting recorded under several conditions, each in a folder of its own.

A condition is an interval and a number of streams. Its folder is a recording, or holds one recording
per replica where more streams play than there are scenarios (see `streams`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamdecisionbench.recording.run_record import RUN_FILE
from streamdecisionbench.recording.streams import replicas_for

__all__ = ["Condition", "conditions_in", "conditions_of", "recordings_in"]

_CONDITION = re.compile(r"interval-[^/]+|streams-[0-9]+")
_REPLICA = re.compile(r"(?:pass|replica)-[0-9]+")


@dataclass(frozen=True, slots=True)
class Condition:
    """What is recorded at one interval (None: every scenario's own tick) with so many streams."""

    folder: Path
    interval_s: float | None
    streams: int
    replicas: int

    @property
    def folders(self) -> list[Path]:
        """Where its recordings go.

        >>> [p.name for p in Condition(Path("x"), 1.0, 16, 2).folders]
        ['replica-1', 'replica-2']
        """
        if self.replicas == 1:
            return [self.folder]
        return [self.folder / f"replica-{k}" for k in range(1, self.replicas + 1)]


def conditions_of(
    out: Path,
    intervals: Sequence[float],
    streams: Sequence[int],
    interval_s: float | None,
    scenarios: int,
) -> list[Condition]:
    """Every interval with every number of streams, the slowest rates first as they were given.

    >>> [c.folder.name for c in conditions_of(Path("x"), [1.0, 0.5], [1, 4], None, 8)]
    ['interval-1-streams-1', 'interval-1-streams-4', 'interval-0.5-streams-1', 'interval-0.5-streams-4']
    >>> [c.folder.name for c in conditions_of(Path("x"), [], [4], 2.0, 8)]
    ['x']
    """
    found = []
    for pace in intervals or (interval_s,):
        for count in streams or (1,):
            words = [f"interval-{pace:g}"] if intervals else []
            words += [f"streams-{count}"] if streams and (intervals or len(streams) > 1) else []
            folder = out / "-".join(words) if words else out
            found.append(Condition(folder, pace, count, replicas_for(count, scenarios)))
    return found


def conditions_in(folder: Path) -> list[Path]:
    """The conditions of a sweep's folder, in order of their names; none where it is no sweep."""
    if not folder.is_dir() or (folder / RUN_FILE).exists():
        return []
    inside = [p for p in folder.iterdir() if _CONDITION.fullmatch(p.name) and recordings_in(p)]
    return sorted(inside, key=_by_numbers)


def recordings_in(folder: Path) -> list[Path]:
    """The recording itself, or the passes or replicas in the folder; empty where there are none."""
    if (folder / RUN_FILE).is_file():
        return [folder]
    if not folder.is_dir():
        return []
    found = [p for p in folder.iterdir() if _REPLICA.fullmatch(p.name) and (p / RUN_FILE).is_file()]
    return sorted(found, key=_by_numbers)


def _by_numbers(path: Path) -> tuple[list[float], str]:
    return [float(x) for x in re.findall(r"[0-9]+(?:\.[0-9]+)?", path.name)], path.name
