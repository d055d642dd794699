"""A representative stretch to show: Figure 1's window rule.

Candidates are the windows of a given length that start at a step and end within the horizon. The
one shown minimises, over recordings, the largest difference between the share of the window with
the right decision in force and the recording's overall in-force accuracy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.analysis.bootstrap import same_states
from streamdecisionbench.analysis.result_table import Cell, Table, percent, text
from streamdecisionbench.analysis.steps import in_force_at
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import check_interval
from streamdecisionbench.scoring.score import score_timelines
from streamdecisionbench.scoring.timeline import Flat, Floats, Timeline

__all__ = ["Window", "choose_window", "window_shares", "window_table"]


@dataclass(frozen=True, slots=True)
class Window:
    """Seconds since the scenario's start at `interval`; the first candidate wins a tie."""

    episode_id: str
    interval: float
    start_step: int
    start_s: float
    end_s: float
    candidates: int
    shares: Mapping[str, float]
    overall: Mapping[str, float]

    @property
    def deviation(self) -> float:
        """The largest difference that the choice minimised."""
        return max(abs(self.shares[name] - self.overall[name]) for name in self.shares)


def choose_window(
    recordings: Mapping[str, Sequence[Timeline]],
    *,
    scenario: str | None = None,
    seconds: float = 20.0,
    interval: float = 2.0,
) -> Window:
    """The most representative window of one scenario, or of any."""
    check_interval(interval)
    parts = same_states(recordings)
    names = [p.episode_id for p in parts]
    if scenario is not None and scenario not in names:
        raise InputError(
            f"{scenario!r} is not in these recordings", fix=f"choose one of: {', '.join(names)}"
        )
    overall = {
        name: score_timelines(own, interval=interval).in_force for name, own in recordings.items()
    }
    best: Window | None = None
    for k, episode_id in enumerate(names):
        if scenario not in (None, episode_id):
            continue
        tables = {
            name: window_shares(own[k], seconds=seconds, interval=interval)
            for name, own in recordings.items()
        }
        size = min(map(len, tables.values()))
        if not size:
            continue
        gaps = np.stack([np.abs(t[:size] - overall[name]) for name, t in tables.items()])
        start = int(np.argmin(np.round(gaps.max(axis=0), 12)))  # a rounding error breaks no tie
        opens = float(parts[k].nominal(interval)[start])
        found = Window(
            episode_id,
            interval,
            start,
            opens,
            opens + seconds,
            size,
            {name: float(t[start]) for name, t in tables.items()},
            overall,
        )
        if best is None or found.deviation < best.deviation:
            best = found
    if best is None:
        raise InputError(
            f"no scenario is {seconds:g} s long at {interval:g} s a step", fix="ask for less"
        )
    return best


def window_shares(part: Timeline, *, seconds: float = 20.0, interval: float = 2.0) -> Floats:
    """The correct share of every candidate window of one scenario, by starting step.

    Steps start as planned here: windows are named by the time of the step that opens them.
    """
    length = seconds * part.tick / interval
    if not length > 0:
        raise InputError(f"a window of {seconds:g} s is empty")
    starts = part.nominal(part.tick)
    starts = starts[starts + length <= part.horizon * (1 + 1e-12)]
    held = in_force_at(Flat([part]), interval)
    begin, end = held.begin[held.right], held.end[held.right]
    if not len(begin):
        return np.zeros(len(starts))
    # Right time up to any moment: constant between stretches, rising within them.
    moments = np.stack((begin, end), axis=1).ravel()
    until = np.cumsum(end - begin)
    right = np.stack((until - (end - begin), until), axis=1).ravel()
    inside = np.interp(starts + length, moments, right) - np.interp(starts, moments, right)
    shares: Floats = inside / length
    return shares


def window_table(window: Window) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name, share, window.overall[name], share - window.overall[name])
        for name, share in window.shares.items()
    ]
    return Table(
        f"Most representative window: {window.episode_id}, {window.start_s:g}–{window.end_s:g} s"
        f" (from step {window.start_step})",
        (text("", "recording"), percent("in window"), percent("overall"), percent("difference")),
        tuple(rows),
        (
            f"Of {window.candidates} windows it has the smallest largest difference,"
            f" {100 * window.deviation:.1f} points, at {window.interval:g} s a step.",
        ),
    )
