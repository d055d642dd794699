"""One recording, one score: what the component was worth, and whether judgment or latency is to blame.

>>> import streamdecisionbench as sdb
>>> example = sdb.example_recording()
>>> s = sdb.score(example, sdb.example_suite(), interval=2.0)
>>> round(s.overall.untimed, 3), round(s.in_force, 3)
(0.75, 0.6)
>>> round(s.oracle * s.overall.u_current + s.overall.outdated_correct, 3)   # A = O·U_cur + λ
0.6

Everything is known of a stream once its own arrays are; so streams are scored some thousand
decisions at a time, in time and memory linear in decisions and in streams, and sums of seconds keep
their last digits however many streams there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from streamdecisionbench._version import __version__
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import ALL_CLASSES, CLASSES, UNATTRIBUTED, UNJUDGED
from streamdecisionbench.recording.check import Punctuality, punctuality
from streamdecisionbench.recording.notes import remarks, source_notes, unusual_settings
from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.answers import AnswerScore, answer_score, mean_answers
from streamdecisionbench.scoring.classes import SEGMENT, class_stretches, table_of, table_over
from streamdecisionbench.scoring.curves import Curve, curves
from streamdecisionbench.scoring.latency import Latency, Reliability, latency, reliability
from streamdecisionbench.scoring.measure import ByLevel, Levels, family_weights
from streamdecisionbench.scoring.pace_bounds import DEFAULT_BOUNDS, Bounds, check_interval
from streamdecisionbench.scoring.sweep import Sweep, effects_of, sweep_over
from streamdecisionbench.scoring.timeline import (
    ANOTHER_SESSION,
    Columns,
    Flat,
    Floats,
    Ints,
    Timeline,
    flat_of,
    joined,
    portions,
    timelines,
)
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import find_suite

if TYPE_CHECKING:
    from streamdecisionbench.rules.costs import Costs
    from streamdecisionbench.scoring.cost import CostScore


_DECISIONS = 1 << 13
"""A batch's arrays of this length lie in a processor's second cache together."""
_STREAMS = 1 << 11
"""Beyond this many streams, finding a time within its stream costs digits (see `Flat.locate`)."""


@dataclass(frozen=True, slots=True)
class Tables(Columns):
    """Per stream, columns as in `TABLE`: shares of observed time, and what else was counted."""

    at: Floats
    over: Floats | None
    physical: Floats | None
    untimed: Floats
    untimed_segment: Floats
    accepted: Ints
    after_horizon: Ints


def batches(n: Ints) -> Iterator[slice]:
    """Consecutive streams with some thousand decisions together, or one longer stream alone."""
    return portions(n, _DECISIONS, _STREAMS)


def tables_of(
    parts: Sequence[Timeline], *, interval: float | None = None, bounds: Bounds | None = None
) -> Tables:
    """What `tables` says of timelines, batch by batch."""
    sizes = np.array([p.n for p in parts], dtype=np.int64)
    found = []
    for batch in batches(sizes):
        some = parts if batch == slice(0, len(parts)) else parts[batch]
        flat, ran = flat_of(some), _as_published(some)
        arrivals = joined([p.arrival for p in some])
        found.append(
            tables(flat, interval=interval, bounds=bounds, arrivals=arrivals, published=ran)
        )
    return found[0].followed_by(found[1:])


def tables(
    flat: Flat,
    *,
    interval: float | None = None,
    bounds: Bounds | None = None,
    arrivals: Floats | None = None,
    published: Flat | None = None,
    segments: bool = True,
) -> Tables:
    """Scores whole streams at one pace (as recorded without `interval`) and over the bounds.

    `published` holds the streams as they ran, where `flat` is on another clock.
    """
    u = flat.arrivals(flat.scale(interval))
    effects, physical = effects_of(flat, u), None
    at = table_of(flat, class_stretches(flat, effects), segments=segments)
    if flat.lived is not None and flat.alone:
        physical = at
    elif arrivals is not None:
        ran = published or flat
        took = class_stretches(ran, effects_of(ran, arrivals))
        physical = table_of(ran, took, segments=segments)
    untimed, untimed_segment = flat.untimed() if segments else (np.zeros(0), np.zeros(0))
    return Tables(
        at=at,
        over=table_over(flat, bounds, segments=segments) if bounds else None,
        physical=physical,
        untimed=untimed,
        untimed_segment=untimed_segment,
        accepted=np.bincount(effects.scenario, minlength=flat.count),
        after_horizon=np.bincount(flat.scenario[u >= flat.H[flat.scenario]], minlength=flat.count),
    )


def _as_published(parts: Sequence[Timeline]) -> Flat | None:
    """The same streams with releases as they happened; None where that is what they have."""
    if all(p.published is None for p in parts):
        return None
    return Flat([p if p.published is None else replace(p, release=p.published) for p in parts])


@dataclass(frozen=True, slots=True)
class Shares:
    """The classes as shares of observed time, and what follows from them.

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
    unjudged: float = 0.0
    """Time of which nobody knows what was right; zero in every recording of a suite."""
    unattributed: float = 0.0
    own_pace: bool = field(default=False, kw_only=True)
    """Whether it stands where a mean over paces would, of what holds for its own pace alone."""

    @property
    def judged(self) -> float:
        """The share of observed time of which it is known what was right."""
        return 1.0 - self.unjudged

    @property
    def in_force(self) -> float:
        """A: the share of judged time with a correct decision in force."""
        return self._of_judged(self.current_correct + self.outdated_correct)

    @property
    def oracle(self) -> float:
        """O: in-force accuracy of the reference answers at these arrivals."""
        return self._of_judged(self.current_correct + self.judgment)

    @property
    def u_current(self) -> float | None:
        """U_cur: accuracy while the source is current; a ratio of macro shares. None if O = 0."""
        current = self.current_correct + self.judgment
        return self.current_correct / current if current > 0 else None

    def classes(self) -> dict[str, float]:
        """Six shares that sum to one; with the two classes more where references are unknown."""
        unknown = self.unjudged > 0 or self.unattributed > 0
        return {name: getattr(self, name) for name in (ALL_CLASSES if unknown else CLASSES)}

    def _of_judged(self, share: float) -> float:
        if not self.unjudged:
            return share
        return share / self.judged if self.judged > 1e-12 else float("nan")


@dataclass(frozen=True, slots=True)
class ReplayLevel:
    """A scenario, a family (mean of scenarios) or the whole (mean of families)."""

    name: str
    at_interval: Shares
    integrated: Shares

    @property
    def in_force(self) -> float:
        """A at the interval."""
        return self.at_interval.in_force

    @property
    def log_auc(self) -> float:
        """S: in-force accuracy integrated over the bounds (log-weighted unless asked otherwise).

        Not a number of what holds for its own pace alone.
        """
        return float("nan") if self.integrated.own_pace else self.integrated.in_force


@dataclass(frozen=True, slots=True)
class Level(ReplayLevel):
    """One component."""

    untimed: float
    untimed_segment: float
    physical: Shares | None
    """Wall-clock shares at the recorded pace, beside the replay."""

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


class _InForce(Protocol):
    @property
    def in_force(self) -> float: ...


L = TypeVar("L", bound=_InForce)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored(ByLevel[L]):
    """What every replay is told by: levels, at an interval and over bounds."""

    interval: float
    bounds: Bounds
    clock: str
    family_of: Mapping[str, str]
    parts: Sequence[Timeline]
    """Of the first component."""
    signature: str = ""
    simulated: bool = False
    virtual_clock: bool = False

    @property
    def in_force(self) -> float:
        return self.overall.in_force

    @property
    def alone(self) -> bool:
        """Whether it holds for its own pace alone."""
        return any(part.alone for part in self.parts)

    def swept(self, bounds: Bounds) -> Sweep:
        """What is in force at every interval within bounds."""
        raise NotImplementedError

    def curve(
        self,
        level: str = "overall",
        metrics: tuple[str, ...] = ("in_force",),
        bounds: Bounds | None = None,
    ) -> dict[str, Curve]:
        """Exact curves c0 + c1/Δ of the whole, a family or a scenario over the bounds, jumps included.

        Names are those of `METRICS`, of a pair those of `PAIR_METRICS`.
        """
        bounds = bounds or self.bounds
        if self.alone:
            raise InputError(f"there is no curve over paces: {ANOTHER_SESSION}")
        return curves(self.swept(bounds), level_weights(self.parts, level), bounds, metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived(ByLevel[Shares]):
    """A live recording as it happened, at its own pace."""

    name: str

    @property
    def recorded(self) -> Shares:
        return self.overall


def took_effect(
    components: Sequence[Recording], episodes: Sequence[str], horizon: Floats
) -> tuple[Ints, Ints, Ints, Floats]:
    """What took effect live: scenario, component, step and when, scenario by scenario in that order.

    At equal times in the order of the protocol: the newer source first, then the later component.
    """
    every = (
        (s, r.actual_recorded_s if r.accepted_s is None else r.accepted_s, -r.t, -k)
        for s, name in enumerate(episodes)
        for k, one in enumerate(components)
        for r in one.episodes[name].responses
        if r.accepted
    )
    found = np.array(sorted(x for x in every if x[1] < horizon[x[0]])).reshape(-1, 4)
    scenario, step, component = (np.abs(found[:, k]).astype(np.int64) for k in (0, 2, 3))
    return scenario, component, step, found[:, 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Scored[Level]):
    """Everything `sdb score` says about one recording."""

    name: str
    accepted: int
    discarded_after_horizon: int
    discarded_older: int
    punctuality: Punctuality | None = None
    """How late states were published; None where only arrays were scored."""
    latency: Latency | None = None
    latency_by_scenario: Mapping[str, Latency] | None = None
    reliability: Reliability | None = None
    answers: Mapping[str, AnswerScore] | None = None
    served_models: tuple[str, ...] = ()
    cost: CostScore | None = None
    """What being wrong costs, where a cost file was given."""
    remarks: tuple[str, ...] = ()
    """Why this is not the score of a whole recording, where it is not."""

    def __repr__(self) -> str:
        """One line, as a failed assertion shows it: everything is in `to_json` of the command."""
        return f"<Score {self.name}: {100 * self.in_force:.1f} % in force at {self.interval:g} s>"

    @property
    def log_auc(self) -> float:
        return self.overall.log_auc

    @property
    def untimed(self) -> float:
        return self.overall.untimed

    @property
    def oracle(self) -> float:
        return self.overall.oracle

    @property
    def notes(self) -> tuple[str, ...]:
        """What every reader of these numbers must be told."""
        found = [
            *self.remarks,
            *source_notes(
                simulated=self.simulated,
                virtual_clock=self.virtual_clock and self.clock != "paused",
            ),
        ]
        if self.alone:
            waited = ", which waited for every answer" if self.clock == "paused" else ""
            found.append(
                f"lived through in a world{waited}: no other pace and no mean over paces, since"
                f" {ANOTHER_SESSION}"
            )
        if self.punctuality is not None and not self.punctuality.punctual:
            found.append(
                f"{self.punctuality.words}; re-paced from the plan, not from when they came"
            )
        return tuple(found)

    def answers_at(self, level: str = "overall") -> AnswerScore | None:
        """Single answers of the whole, a family or a scenario; None where only arrays were scored."""
        if self.answers is None:
            return None
        if level in self.answers and level not in self.by_family:
            return self.answers[level]
        weights = level_weights(self.parts, level).tolist()
        parts = zip(weights, self.parts, strict=True)
        return mean_answers([(w, self.answers[p.episode_id]) for w, p in parts if w > 0])

    def swept(self, bounds: Bounds) -> Sweep:
        return sweep_over(flat_of(self.parts), bounds)


def score(
    recording: Recording | str | Path,
    suite: Suite | None = None,
    *,
    interval: float = 2.0,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
    weighting: str = "log",
    clock: str = "recorded",
    costs: Costs | None = None,
) -> Score:
    """Scores a complete recording, given itself or its folder.

    Without `suite`, it is the built-in one or the one that lies beside the recording.
    """
    if not isinstance(recording, Recording):
        folder = Path(recording)
        suite = suite or find_suite(recorded_suite_hash(folder), near=folder)
        recording = read_recording(folder, suite)
    suite = suite or suite_of([recording])
    limits = Bounds(bounds[0], bounds[1], weighting, alone=recording.lived_at_s is not None)
    parts = timelines(recording, suite, clock=clock)
    ticks = {s.episode_id: s.tick_seconds for s in suite}
    on_time = punctuality({p.episode_id: recording.episodes[p.episode_id] for p in parts}, ticks)
    if clock == "recorded" and parts[0].published is not None:
        clock = "nominal"
    if recording.config.get("clock") == "paused":
        clock = "paused"
    episodes = [recording.episodes[p.episode_id] for p in parts]
    base = score_timelines(
        parts, name=recording.name, interval=interval, bounds=limits, clock=clock
    )
    scored = replace(
        base,
        signature=signature_of(
            suite,
            base,
            {"events": recording.events_sha256[:12]},
            {
                "time": "virtual" if recording.virtual_clock else "real",
                "simulated": "yes" if recording.simulated else "no",
                **({} if on_time.punctual else {"lag": on_time.lag}),
                **unusual_settings(recording.config, recording.failures),
            },
            costs,
        ),
        punctuality=on_time,
        simulated=recording.simulated,
        virtual_clock=recording.virtual_clock,
        latency=latency(episodes),
        latency_by_scenario={
            p.episode_id: latency([e]) for p, e in zip(parts, episodes, strict=True)
        },
        reliability=reliability(recording),
        served_models=recording.served_models,
        **_as_it_ran(base, recording),
        answers={
            p.episode_id: answer_score(recording, suite.scenarios[p.episode_id]) for p in parts
        },
    )
    if costs is None:
        return scored
    from streamdecisionbench.scoring.cost import charge, course_of

    return replace(scored, cost=charge(course_of(parts, interval, limits), costs))


def _as_it_ran(base: Score, recording: Recording) -> dict[str, Any]:
    """What must be said of a recording in which more decided than who is newest, and its counts by the log."""
    said = remarks(recording.config)
    if not recording.arbitrated:
        if recording.policy is not None:
            said.append(
                "its answers without the policy it was recorded under, which `sdb policy score` has"
            )
        return {"remarks": tuple(said)}
    counted = reliability(recording)
    late = counted.discarded_after_horizon_live
    silent = sum(p.n - len(recording.answers(p.episode_id)) for p in base.parts)
    said.append(
        f"what its {'policy' if recording.policy else 'rule'} let take effect, as it happened"
        + (
            f"; untimed, {silent} states that nobody was asked about count as wrong"
            if silent
            else ""
        )
    )
    return {
        "accepted": counted.accepted_live,
        "discarded_after_horizon": late,
        "discarded_older": counted.requests - counted.accepted_live - late,
        "remarks": tuple(said),
    }


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
    found = tables_of(parts, interval=interval, bounds=bounds)
    levels = Levels(parts)

    def shares(table: Floats | None, *, own_pace: bool = False) -> list[Shares] | list[None]:
        if table is None:
            return [None] * len(levels.names)
        return level_shares(levels, table, found.untimed, own_pace=own_pace)

    rows = zip(
        levels.names,
        shares(found.at),
        shares(found.over, own_pace=any(part.alone for part in parts)),
        levels.means(found.untimed).tolist(),
        levels.means(found.untimed_segment).tolist(),
        shares(found.physical),
        strict=True,
    )
    accepted, after_horizon = int(found.accepted.sum()), int(found.after_horizon.sum())
    return Score(
        *levels.split([Level(*row) for row in rows]),
        name=name,
        interval=interval,
        bounds=bounds,
        clock=clock,
        family_of=levels.family_of,
        accepted=accepted,
        discarded_after_horizon=after_horizon,
        discarded_older=sum(p.n for p in parts) - accepted - after_horizon,
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


def macro_shares(table: Floats, untimed: Floats, weights: Floats) -> Shares:
    """Weighted means of the columns for one set of scenario weights."""
    product = weights @ (untimed * (table[:, 0] + table[:, 1]))
    return _all_shares((weights @ table)[None, :], np.array([product]))[0]


def level_shares(
    levels: Levels, table: Floats, untimed: Floats, *, own_pace: bool = False
) -> list[Shares]:
    """The shares of every level from a table and U by scenario."""
    product = untimed * (table[:, 0] + table[:, 1])
    found = _all_shares(levels.means(table), levels.means(product))
    return [replace(shares, own_pace=True) for shares in found] if own_pace else found


def _all_shares(means: Floats, products: Floats) -> list[Shares]:
    """Shares from rows of mean columns. The partition's sum is asserted at run time."""
    totals = means[:, : len(ALL_CLASSES)].sum(axis=1)
    if np.max(np.abs(totals - 1.0)) > 1e-9:
        raise AssertionError(f"the classes sum to {totals!r}, not to one")
    # A class no instant falls into may come out as a rounding residue of either sign.
    means = np.where(np.abs(means) < 1e-15, 0.0, means)
    columns = [*range(len(CLASSES)), SEGMENT, UNJUDGED, UNATTRIBUTED]
    rows: list[list[float]] = np.insert(
        means[:, columns], len(CLASSES) + 1, products, axis=1
    ).tolist()
    return [Shares(*row) for row in rows]


def suite_of(recordings: Sequence[Recording], suite: Suite | None = None) -> Suite:
    """The suite recordings were made on; refused where one was not.

    Without `suite`, it is the built-in one or the one that lies beside the first.
    """
    first = recordings[0]
    suite = suite or find_suite(first.dataset_hash, near=first.path)
    for one in recordings:
        if one.dataset_hash != suite.dataset_hash:
            raise InputError(
                f"was recorded on suite {one.dataset_hash[:12] or '(unnamed)'}, "
                f"not on {suite.dataset_hash[:12]}",
                where=one.path or one.name,
                fix="give recordings of the same suite",
            )
    return suite


def signature_of(
    suite: Suite,
    scored: Scored[L],
    who: Mapping[str, str],
    made: Mapping[str, str],
    costs: Costs | None = None,
) -> str:
    """How a score was made, in one line that can be pasted beside the number."""
    parts = {
        "suite": suite.dataset_hash[:12],
        **who,
        "scenarios": f"{len(scored.by_scenario)}/{len(suite.scenarios)}",
        "protocol": "step-anchored",
        "interval": f"{scored.interval:g}",
        **(
            {"bounds": "own-pace"}
            if scored.alone
            else {
                "bounds": f"{scored.bounds.low:g}-{scored.bounds.high:g}",
                "weighting": scored.bounds.weighting,
            }
        ),
        "clock": scored.clock,
        **made,
        "sdb": __version__,
        **({} if costs is None else {"costs": costs.digest[:12] or costs.name}),
    }
    return " ".join(f"{key}:{value}" for key, value in parts.items())
