"""One recording, one score: what the component was worth, and whether judgment or latency is to blame.

>>> import streamdecisionbench as sdb
>>> example = sdb.example_recording()
>>> s = sdb.score(example, sdb.example_suite(), interval=2.0)
>>> round(s.overall.untimed, 3), round(s.in_force, 3)
(0.75, 0.6)
>>> round(s.oracle * s.overall.u_current + s.overall.outdated_correct, 3)   # A = O·U_cur + λ
0.6
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from streamdecisionbench._version import __version__
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.conditions import conditions
from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.answers import AnswerScore, answer_score, mean_answers
from streamdecisionbench.scoring.bounds import DEFAULT_BOUNDS, Bounds, check_interval
from streamdecisionbench.scoring.classes import CLASSES, shares_at
from streamdecisionbench.scoring.curves import Curve, curves
from streamdecisionbench.scoring.in_force_replay import accepted_at
from streamdecisionbench.scoring.integrals import integrated_shares
from streamdecisionbench.scoring.latency import Latency, Reliability, latency, reliability
from streamdecisionbench.scoring.timeline import Flat, Floats, Timeline, timelines
from streamdecisionbench.suite.find_suite import find_suite
from streamdecisionbench.suite.scenario import Suite

__all__ = [
    "Level",
    "Score",
    "Shares",
    "family_weights",
    "level_weights",
    "macro_shares",
    "score",
    "score_timelines",
]


@dataclass(frozen=True, slots=True)
class Shares:
    """The six classes as shares of observed time, and what follows from them.

    A = current_correct + outdated_correct;  O = current_correct + judgment;
    U_cur = current_correct / O;  λ = outdated_correct;  A = O·U_cur + λ.
    """

    current_correct: float
    judgment: float
    stale: float
    compound: float
    outdated_correct: float
    no_decision: float
    segment_in_force: float
    product: float
    """Mean over scenarios of U_e·O_e, with the same weights: the approximation of A."""

    @property
    def in_force(self) -> float:
        """A: the share of observed time with a correct decision in force."""
        return self.current_correct + self.outdated_correct

    @property
    def oracle(self) -> float:
        """O: in-force accuracy of the reference answers at these arrivals."""
        return self.current_correct + self.judgment

    @property
    def u_current(self) -> float | None:
        """U_cur: accuracy while the source is current; a ratio of macro shares. None if O = 0."""
        return self.current_correct / self.oracle if self.oracle > 0 else None

    def classes(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in CLASSES}


@dataclass(frozen=True, slots=True)
class Level:
    """A scenario, a family (mean of scenarios) or the whole (mean of families)."""

    name: str
    untimed: float
    untimed_segment: float
    at_interval: Shares
    integrated: Shares
    physical: Shares | None
    """Wall-clock shares at the recorded pace, beside the replay."""

    @property
    def log_auc(self) -> float:
        """S: in-force accuracy integrated over the bounds (log-weighted unless asked otherwise)."""
        return self.integrated.in_force

    @property
    def in_force(self) -> float:
        return self.at_interval.in_force

    @property
    def segment_in_force(self) -> float:
        return self.at_interval.segment_in_force

    @property
    def oracle(self) -> float:
        return self.at_interval.oracle

    @property
    def u_current(self) -> float:
        value = self.at_interval.u_current
        return float("nan") if value is None else value

    @property
    def outdated_correct(self) -> float:
        """λ, the paper's "lucky" share."""
        return self.at_interval.outdated_correct

    @property
    def product(self) -> float:
        return self.at_interval.product


@dataclass(frozen=True, slots=True)
class Score:
    """Everything `sdb score` says about one recording."""

    name: str
    signature: str
    interval: float
    bounds: Bounds
    clock: str
    overall: Level
    by_family: Mapping[str, Level]
    by_scenario: Mapping[str, Level]
    family_of: Mapping[str, str]
    accepted: int
    discarded_after_horizon: int
    discarded_older: int
    parts: Sequence[Timeline]
    simulated: bool = False
    virtual_clock: bool = False
    latency: Latency | None = None
    latency_by_scenario: Mapping[str, Latency] | None = None
    reliability: Reliability | None = None
    answers: Mapping[str, AnswerScore] | None = None
    served_models: tuple[str, ...] = ()

    @property
    def log_auc(self) -> float:
        return self.overall.log_auc

    @property
    def untimed(self) -> float:
        return self.overall.untimed

    @property
    def in_force(self) -> float:
        return self.overall.in_force

    @property
    def oracle(self) -> float:
        return self.overall.oracle

    @property
    def notes(self) -> tuple[str, ...]:
        """What every reader of these numbers must be told."""
        found = []
        if self.simulated:
            found.append("simulation: answers and latencies were drawn from a declared profile")
        if self.virtual_clock:
            found.append("virtual clock: service times measured one by one, queueing simulated")
        return tuple(found)

    def answers_at(self, level: str = "overall") -> AnswerScore | None:
        """Single answers of the whole, a family or a scenario; None where only arrays were scored."""
        if self.answers is None:
            return None
        weights = level_weights(self.parts, level).tolist()
        parts = zip(weights, self.parts, strict=True)
        return mean_answers([(w, self.answers[p.episode_id]) for w, p in parts if w > 0])

    def curve(
        self,
        level: str = "overall",
        metrics: tuple[str, ...] = ("in_force",),
        bounds: Bounds | None = None,
    ) -> dict[str, Curve]:
        """Exact curves of the whole, a family or a scenario over the bounds."""
        flat = Flat(self.parts)
        return curves(flat, level_weights(self.parts, level), bounds or self.bounds, metrics)


def score(
    recording: Recording | str | Path,
    suite: Suite | None = None,
    *,
    interval: float = 2.0,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
    weighting: str = "log",
    clock: str = "recorded",
) -> Score:
    """Scores a complete recording, given itself or its folder.

    Without `suite`, it is the built-in one or the one that lies beside the recording.
    """
    if not isinstance(recording, Recording):
        folder = Path(recording)
        suite = suite or find_suite(recorded_suite_hash(folder), near=folder)
        recording = read_recording(folder, suite)
    if suite is None:
        suite = find_suite(recording.dataset_hash, near=recording.path)
    limits = Bounds(bounds[0], bounds[1], weighting)
    parts = timelines(recording, suite, clock=clock)
    episodes = [recording.episodes[p.episode_id] for p in parts]
    base = score_timelines(
        parts, name=recording.name, interval=interval, bounds=limits, clock=clock
    )
    return replace(
        base,
        signature=_signature(recording, suite, base, len(parts)),
        simulated=recording.simulated,
        virtual_clock=recording.virtual_clock,
        latency=latency(episodes),
        latency_by_scenario={
            p.episode_id: latency([e]) for p, e in zip(parts, episodes, strict=True)
        },
        reliability=reliability(recording),
        served_models=recording.served_models,
        answers={
            p.episode_id: answer_score(recording, suite.scenarios[p.episode_id]) for p in parts
        },
    )


def score_timelines(
    parts: Sequence[Timeline],
    *,
    name: str = "",
    interval: float = 2.0,
    bounds: Bounds | None = None,
    clock: str = "recorded",
) -> Score:
    """Scores arrays: what `score` does once a recording has become timelines."""
    check_interval(interval)
    bounds = bounds or Bounds()
    flat = Flat(parts)
    u = flat.r + (flat.tick / interval)[flat.scenario] * flat.L
    accepted = accepted_at(flat, u)
    at_interval = shares_at(flat, u, accepted)
    integrated = integrated_shares(flat, bounds)
    physical = _physical(flat, parts)
    untimed, segment = flat.untimed()

    families = list(dict.fromkeys(p.family for p in parts))
    names = ["overall", *families, *(p.episode_id for p in parts)]
    weights = np.stack(
        [
            level_weights(parts, "overall"),
            *(level_weights(parts, f) for f in families),
            *np.eye(len(parts)),
        ]
    )
    levels = [
        Level(*row)
        for row in zip(
            names,
            (weights @ untimed).tolist(),
            (weights @ segment).tolist(),
            _all_shares(at_interval, untimed, weights),
            _all_shares(integrated, untimed, weights),
            [None] * len(names) if physical is None else _all_shares(physical, untimed, weights),
            strict=True,
        )
    ]
    after_horizon = u >= flat.H[flat.scenario]
    return Score(
        name=name,
        signature="",
        interval=interval,
        bounds=bounds,
        clock=clock,
        overall=levels[0],
        by_family={level.name: level for level in levels[1 : len(families) + 1]},
        by_scenario={level.name: level for level in levels[len(families) + 1 :]},
        family_of={p.episode_id: p.family for p in parts},
        accepted=int(accepted.sum()),
        discarded_after_horizon=int(after_horizon.sum()),
        discarded_older=int((~accepted & ~after_horizon).sum()),
        parts=parts,
    )


def level_weights(parts: Sequence[Timeline], level: str) -> Floats:
    """Weights of the scenarios in the whole, in a family, or alone. They sum to one."""
    if level == "overall":
        return family_weights([p.family for p in parts])
    chosen = np.array([level in (p.family, p.episode_id) for p in parts], dtype=np.float64)
    if not chosen.any():
        raise InputError(f"{level!r} is no family and no scenario of this recording")
    weights: Floats = chosen / chosen.sum()
    return weights


def family_weights(families: Sequence[str]) -> Floats:
    """Mean over families of the mean over their scenarios."""
    names = list(dict.fromkeys(families))
    return np.array([1.0 / (len(names) * families.count(f)) for f in families])


def macro_shares(table: Floats, untimed: Floats, weights: Floats) -> Shares:
    """Weighted means of the columns for one set of scenario weights."""
    return _all_shares(table, untimed, weights[None, :])[0]


def _all_shares(table: Floats, untimed: Floats, weights: Floats) -> list[Shares]:
    """Weighted means for every row of weights. The partition's sum is asserted at run time."""
    means = weights @ table
    totals = means[:, :6].sum(axis=1)
    if np.max(np.abs(totals - 1.0)) > 1e-9:
        raise AssertionError(f"the six classes sum to {totals!r}, not to one")
    # A class no instant falls into may come out as a rounding residue of either sign.
    means[np.abs(means) < 1e-15] = 0.0
    products = weights @ (untimed * (table[:, 0] + table[:, 1]))
    rows: list[list[float]] = np.column_stack((means, products)).tolist()
    return [Shares(*row) for row in rows]


def _physical(flat: Flat, parts: Sequence[Timeline]) -> Floats | None:
    if any(p.arrival is None for p in parts):
        return None
    arrivals = np.concatenate([p.arrival for p in parts if p.arrival is not None])
    return shares_at(flat, arrivals, accepted_at(flat, arrivals))


def _signature(recording: Recording, suite: Suite, base: Score, scenarios: int) -> str:
    """How this score was made, in one line that can be pasted beside the number."""
    parts = {
        "suite": suite.dataset_hash[:12],
        "events": recording.events_sha256[:12],
        "scenarios": f"{scenarios}/{len(suite.scenarios)}",
        "protocol": "step-anchored",
        "interval": f"{base.interval:g}",
        "bounds": f"{base.bounds.low:g}-{base.bounds.high:g}",
        "weighting": base.bounds.weighting,
        "clock": base.clock,
        "time": "virtual" if recording.virtual_clock else "real",
        "simulated": "yes" if recording.simulated else "no",
        **conditions(recording.config),
        "sdb": __version__,
    }
    return " ".join(f"{key}:{value}" for key, value in parts.items())
