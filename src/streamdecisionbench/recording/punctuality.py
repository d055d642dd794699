"""Was the client on time? How far releases lag behind their plan, in ticks.

A state published late is an error of the measurement, not of the component. Up to `TOLERATED` of a
tick it is noise; beyond that it is said wherever a score of the recording stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamdecisionbench.recording.check_times import recorded_tick
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.suite.scenario import Suite

__all__ = ["MATTERS", "TOLERATED", "Punctuality", "is_punctual", "punctuality"]

TOLERATED = 0.01
"""Release lag, as a share of the tick, that a recording may show and still count as punctual."""

MATTERS = 0.01
"""A point: a share of time below that makes no difference worth a word."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Punctuality:
    """The worst release lag of a recording.

    >>> Punctuality(60, 0, 0.004, 0.002).words
    ''
    >>> print(Punctuality(60, 14, 1.3, 6.5).words)
    published late: 14 of 60 states by more than 1 % of the tick, at worst by 1.3 s (6.5 ticks)
    """

    steps: int
    late_steps: int
    """Releases that lag by more than `TOLERATED` of their tick."""
    worst_s: float
    worst_ticks: float
    mean_ticks: float = 0.0

    @property
    def held(self) -> bool:
        """Whether the client kept the pace so well that its lateness cannot matter in force.

        A late client delays a state and, as much, its answer: by x ticks in the mean, that can change
        at most 2x of the time.

        >>> Punctuality(60, 14, 1.3, 6.5, 0.2).held, Punctuality(60, 1, 0.02, 0.04, 0.0007).held
        (False, True)
        """
        return 2 * self.mean_ticks <= MATTERS

    @property
    def punctual(self) -> bool:
        return self.late_steps == 0

    @property
    def lag(self) -> str:
        """For a signature: the worst lag in ticks.

        >>> Punctuality(60, 14, 1.3, 6.5).lag
        '6.5ticks'
        """
        return f"{self.worst_ticks:.3g}ticks"

    @property
    def words(self) -> str:
        """For people; empty where there is nothing to say."""
        if self.punctual:
            return ""
        return (
            f"published late: {self.late_steps} of {self.steps} states by more than"
            f" {100 * TOLERATED:g} % of the tick, at worst by {self.worst_s:.3g} s"
            f" ({self.worst_ticks:.3g} ticks)"
        )


def is_punctual(recording: Recording, suite: Suite) -> bool:
    """Whether no release lags by more than `TOLERATED` of its tick."""
    return punctuality(recording.episodes, {s.episode_id: s.tick_seconds for s in suite}).punctual


def punctuality(
    episodes: Mapping[str, Episode], ticks: Mapping[str, float] | None = None
) -> Punctuality:
    """Over all releases. `ticks` is needed only for scenarios of a single step."""
    steps = late = 0
    worst_s = worst_ticks = total = 0.0
    for episode_id, episode in episodes.items():
        releases = sorted(episode.releases, key=lambda r: r.t)
        tick = recorded_tick(releases, (ticks or {}).get(episode_id, 0.0))
        for release in releases:
            lag = release.release_s - release.planned_s
            share = lag / tick if tick > 0 else 0.0
            steps += 1
            late += share > TOLERATED + _ROUNDING
            worst_s, worst_ticks = max(worst_s, lag), max(worst_ticks, share)
            total += share
    return Punctuality(steps, late, worst_s, worst_ticks, total / max(steps, 1))
