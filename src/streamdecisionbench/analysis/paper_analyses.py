"""The paper's analyses of recordings: trivial baselines, pace, clocks, sensitivity to bounds, other schedules,
judgment times timing, states decided by two, errors near changes, a representative window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from streamdecisionbench.analysis.bootstrap import same_states
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    Ints,
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.kernel.paces import (
    Bounds,
    check_interval,
)
from streamdecisionbench.kernel.shares import (
    Shares,
    classify_at,
    table_of,
)
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.table import (
    Cell,
    Column,
    Table,
    count,
    number,
    percentage,
    readable,
    text,
)
from streamdecisionbench.scoring.result import Level
from streamdecisionbench.scoring.score import score_timelines
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.constant_baselines import (
    POLICIES,
    best_constant,
    first_option,
    lexical_overlap,
    states_right,
)
from streamdecisionbench.suite.scenario import Scenario, Suite, estimate_tokens


@dataclass(frozen=True, slots=True)
class ScenarioBaselines:
    """States decided right. None where the suite holds no real states or options to read."""

    states: int
    first_option: int | None
    lexical_overlap: int | None
    best_constant: int
    """How often the most frequent composed reference decision is the reference."""


@dataclass(frozen=True, slots=True)
class Baselines:
    """By scenario, and as the suite averages: mean over families of the mean over scenarios."""

    by_scenario: Mapping[str, ScenarioBaselines]
    first_option: float | None
    lexical_overlap: float | None
    best_constant: float


def baselines(suite: Suite) -> Baselines:
    """Runs the trivial policies over every state of the suite."""
    found = {s.episode_id: _scenario(s) for s in suite}
    weights = family_weights([s.task_family for s in suite])

    def mean(name: str) -> float | None:
        counts = [getattr(row, name) for row in found.values()]
        if any(c is None for c in counts):
            return None
        states = [row.states for row in found.values()]
        return float(weights @ (np.array(counts, dtype=np.float64) / states))

    return Baselines(
        found, mean("first_option"), mean("lexical_overlap"), mean("best_constant") or 0.0
    )


def baselines_table(
    result: Baselines, title: str, names: Mapping[str, str] | None = None, whole: str = "overall"
) -> Table:
    """A row per scenario, by the `names` people read where there are any, then the whole."""
    policies = ("first_option", "lexical_overlap", "best_constant")
    rows: list[tuple[Cell, ...]] = []
    for key, found in result.by_scenario.items():
        right = (getattr(found, policy) for policy in policies)
        shares = (None if n is None else n / found.states for n in right)
        rows.append((names[key] if names else key, found.states, *shares))
    states = sum(found.states for found in result.by_scenario.values())
    rows.append((whole, states, *(getattr(result, policy) for policy in policies)))
    notes = ("– : this suite was imported from tables, which carry no states and no options.",)
    return Table(
        title,
        (text("", "scenario", "Scenario"), count("states", title="States"),
         percentage("first option", title="First option"),
         percentage("lexical overlap", title="Lexical overlap"),
         percentage("best constant", title="Best constant")),
        tuple(rows),
        notes if result.first_option is None else (),
        rules=frozenset({len(rows) - 1}),
    )  # fmt: skip


def _scenario(scenario: Scenario) -> ScenarioBaselines:
    readable = any(len(step.state) > 1 for step in scenario.steps)
    return ScenarioBaselines(
        scenario.n,
        states_right(scenario, first_option) if readable else None,
        states_right(scenario, lexical_overlap) if readable else None,
        best_constant(scenario),
    )


# How the score depends on pace: at single intervals, and on the bounds and weighting of the AUC.
#
# Multiplying every latency by c on a recording at interval Δ equals the same latencies at Δ/c.


SCALES = (("×0.5", 0.5), ("×2/3", 2 / 3), ("×1", 1.0), ("×1.5", 1.5), ("×2", 2.0))
"""Latency scales of the published time-step table."""

SENSITIVITY = (
    Bounds(0.5, 8.0), Bounds(0.5, 8.0, "linear"), Bounds(1.0, 4.0), Bounds(0.5, 4.0),
    Bounds(1.0, 8.0), Bounds(0.1, 4.0), Bounds(0.1, 8.0),
)  # fmt: skip
"""All six combinations of 0.1, 0.5, 1 s with 4, 8 s, and linear weighting of the primary bounds."""


@dataclass(frozen=True, slots=True)
class Pace:
    """In-force accuracy with latencies scaled: equivalent to `interval` at the recorded ones."""

    label: str
    scale: float
    interval: float
    in_force: float


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The integrated score for each choice of bounds and weighting, and A at the interval."""

    aucs: Mapping[str, float]
    interval: float
    in_force: float


def pace(
    parts: Sequence[Timeline],
    *,
    scales: Sequence[tuple[str, float]] = SCALES,
    tick: float | None = None,
) -> list[Pace]:
    """In-force accuracy at each latency scale, relative to the recording's own tick."""
    base = parts[0].tick if tick is None else tick
    if tick is None and any(p.tick != base for p in parts):
        raise InputError(
            "scenarios were recorded at different intervals", fix="name the intervals instead"
        )
    found = []
    for label, scale in scales:
        if not scale > 0:
            raise InputError(f"latency scale {scale:g} is not above 0")
        scored = score_timelines(parts, interval=base / scale)
        found.append(Pace(label, scale, base / scale, scored.in_force))
    return found


def sensitivity(
    parts: Sequence[Timeline],
    *,
    bounds: Sequence[Bounds] = SENSITIVITY,
    interval: float = 2.0,
) -> Sensitivity:
    """How much the choice of bounds and weighting decides."""
    return Sensitivity(
        {b.text(): score_timelines(parts, bounds=b).log_auc for b in bounds},
        interval,
        score_timelines(parts, interval=interval).in_force,
    )


def pace_table(results: Mapping[str, Sequence[Pace]], *, shared: bool = False) -> Table:
    """One row per scale, one column per recording; `shared` where ×1 is the same pace for all."""
    first = next(iter(results.values()))
    interval = Column("Interval (s)", "number", 2, align="left") if shared else text("interval")
    return Table(
        "In-force accuracy by time-step interval (%)",
        (text("scale", title="Scale"), interval, *map(percentage, results)),
        tuple(
            (row.label, row.interval if shared else f"{row.interval:.2f} s",
             *(found[k].in_force for found in results.values()))
            for k, row in enumerate(first)
        ),
        ("Answers and latencies as recorded; ×1 is the recording's own pace.",),
    )  # fmt: skip


def sensitivity_table(results: Mapping[str, Sensitivity]) -> Table:
    """One row per choice, one column per recording."""
    first = next(iter(results.values()))
    rows: list[tuple[Cell, ...]] = [
        (label, *(found.aucs[label] for found in results.values())) for label in first.aucs
    ]
    rows.append((f"at {first.interval:g} s", *(f.in_force for f in results.values())))
    return Table(
        "Normalised AUC by bounds and weighting (%)",
        (text("", "score"), *map(percentage, results)),
        tuple(rows),
        ("log 0.5–8 s is the primary score.",),
    )


# Releases as they happened, and as they were planned: what the choice of clock is worth.


@dataclass(frozen=True, slots=True)
class ClockGap:
    """In-force accuracy on both clocks. `scored` is the clock scores are on: `nominal` where a release lagged."""

    recorded: float
    nominal: float
    recorded_log_auc: float
    nominal_log_auc: float
    by_scenario: Mapping[str, float]
    """Recorded minus nominal at the interval."""
    worst_lag_s: float
    scored: str

    @property
    def difference(self) -> float:
        return self.recorded - self.nominal

    @property
    def log_auc_difference(self) -> float:
        return self.recorded_log_auc - self.nominal_log_auc


@dataclass(frozen=True, slots=True)
class Clocks:
    """By recording, and the largest absolute difference of them all."""

    interval: float
    bounds: Bounds
    by_recording: Mapping[str, ClockGap]

    @property
    def largest(self) -> float:
        return max(abs(gap.difference) for gap in self.by_recording.values())

    @property
    def largest_log_auc(self) -> float:
        return max(abs(gap.log_auc_difference) for gap in self.by_recording.values())


def clock_gap(recording: Recording, suite: Suite, interval: float, bounds: Bounds) -> ClockGap:
    """Every release as it happened, however late, beside every release as planned."""
    asked = timelines(recording, suite)
    real, plan = (
        score_timelines(timelines(recording, suite, clock=clock), interval=interval, bounds=bounds)
        for clock in ("published", "nominal")
    )
    lags = [r.release_s - r.planned_s for e in recording.episodes.values() for r in e.releases]
    return ClockGap(
        real.in_force,
        plan.in_force,
        real.log_auc,
        plan.log_auc,
        {k: v.in_force - plan.by_scenario[k].in_force for k, v in real.by_scenario.items()},
        max(lags),
        "recorded" if asked[0].published is None else "nominal",
    )


def clocks_table(found: Clocks) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name, gap.recorded, gap.nominal, gap.difference, gap.log_auc_difference,
         max(gap.by_scenario.values(), key=abs), 1000 * gap.worst_lag_s, gap.scored)
        for name, gap in found.by_recording.items()
    ]  # fmt: skip
    rows.append(("largest", None, None, found.largest, found.largest_log_auc, None, None, ""))
    return Table(
        f"Recorded against nominal clock at {found.interval:g} s (%, differences in points)",
        (text("", "recording"), percentage("recorded"), percentage("nominal"),
         percentage("diff.", "difference", 4), percentage("AUC", "log_auc_difference", 4),
         percentage("worst", "worst_scenario_difference", 4), number("lag ms", 1, "worst_lag_ms"),
         text("scored on", "scored")),
        tuple(rows),
        (
            f"AUC: difference over {found.bounds.text()}; worst: of a scenario; lag: of the latest"
            " release. A recording with a release more than 1 % of its tick late is scored on the"
            " nominal clock.",
        ),
        rules=frozenset({len(rows) - 1}),
    )  # fmt: skip


# Projection onto other reference schedules: untimed accuracy × mean oracle share.
#
# The oracle share depends on the schedule and the latencies alone, so it is computed exactly for
# latencies drawn with replacement from the recording. The projection assumes A ≈ U·O and that U does
# not depend on the schedule.


STEPS = 60

_STATES_AT_ONCE = 200_000
"""Of all draws together: some tens of megabytes, and more than the usual 300 draws of 60 steps."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A reference of 60 steps by the lengths of its segments; `recurrent` alternates two decisions."""

    name: str
    segments: tuple[int, ...]
    recurrent: bool = False

    @property
    def changes(self) -> int:
        return len(self.segments) - 1

    def reference(self) -> Ints:
        ids = np.arange(len(self.segments))
        return np.repeat(ids % 2 if self.recurrent else ids, self.segments).astype(np.int64)


def evenly(changes: int, steps: int = STEPS) -> tuple[int, ...]:
    """Segment lengths with the changes spaced evenly, each at the nearest step.

    >>> evenly(5)
    (10, 10, 10, 10, 10, 10)
    """
    at = [0, *(round(k * steps / (changes + 1)) for k in range(1, changes + 1)), steps]
    return tuple(b - a for a, b in pairwise(at))


def _bursts(sizes: tuple[int, ...], quiet: int) -> tuple[int, ...]:
    """Each burst: a quiet segment, then changes one step apart; the rest at the end."""
    lengths = [x for size in sizes for x in (quiet, *([1] * (size - 1)))]
    return (*lengths, STEPS - sum(lengths))


SCHEDULES = (
    Schedule("sparse", evenly(5)),
    Schedule("medium", evenly(11)),
    Schedule("uniform", evenly(22)),
    Schedule("dense", evenly(40)),
    Schedule("bursty", _bursts((6, 6, 5, 5), 8)),
    Schedule(
        "long-tail dwell", (1, 2, 1, 6, 1, 1, 2, 1, 14, 1, 2, 3, 1, 2, 1, 1, 10, 1, 2, 1, 3, 2, 1)
    ),
    Schedule("recurrent A-B-A", evenly(22), recurrent=True),
)
"""The published kinds. Where the changes of the bursty and the long-tailed one fall is ours."""


@dataclass(frozen=True, slots=True)
class Projection:
    """One row: `projected` = untimed × mean oracle; `changes` None for the suite's own schedules."""

    schedule: str
    changes: int | None
    oracle: float
    projected: float


def project(
    parts: Sequence[Timeline],
    *,
    schedules: Sequence[Schedule] = SCHEDULES,
    draws: int = 300,
    seed: int = 0,
    interval: float = 2.0,
) -> list[Projection]:
    """The suite's own schedules first (each scenario with its own latencies), then the others."""
    check_interval(interval)
    if not 1 <= draws <= 100_000:
        raise InputError(f"{draws} resamples cannot be drawn", fix="give 1 to 100000")
    rng = np.random.default_rng(seed)
    untimed = score_timelines(parts).untimed
    weights = family_weights([p.family for p in parts])
    own = np.array([_oracle(p.reference, p.latency, interval, draws, rng) for p in parts])
    found = [
        Projection("the suite's own", None, float(weights @ own), untimed * float(weights @ own))
    ]
    pool = np.concatenate([p.latency for p in parts])
    for schedule in schedules:
        oracle = _oracle(schedule.reference(), pool, interval, draws, rng)
        found.append(Projection(schedule.name, schedule.changes, oracle, untimed * oracle))
    return found


def schedules_table(results: Mapping[str, Sequence[Projection]], draws: int) -> Table:
    """One row per schedule, the suite's own first, one column per recording."""
    first = next(iter(results.values()))
    return Table(
        "Projected in-force accuracy by reference schedule (%)",
        (text("schedule", title="Reference schedule"),
         Column("changes", "count", 0, title="Changes", align="left"), *map(percentage, results)),
        tuple(
            (row.schedule, row.changes, *(found[k].projected for found in results.values()))
            for k, row in enumerate(first)
        ),
        (f"Untimed accuracy × mean oracle over {draws} resamples of the recorded latencies.",),
        rules=frozenset({1}),
    )  # fmt: skip


def _oracle(
    reference: Ints, pool: Floats, interval: float, draws: int, rng: np.random.Generator
) -> float:
    """The mean over the draws, so many at a time that a long reference fits in memory."""
    n = len(reference)
    release: Floats = np.arange(n, dtype=np.float64) * interval
    at_once = max(1, _STATES_AT_ONCE // n)
    total = 0.0
    for first in range(0, draws, at_once):
        latency = rng.choice(pool, (min(at_once, draws - first), n))
        many = len(latency)
        decisions = np.tile(reference, many)
        flat = JoinedTimelines.of(
            n=np.full(many, n), r=np.tile(release, many), L=latency.ravel(),
            H=np.full(many, n * interval), tick=np.full(many, interval), y=decisions, p=decisions,
        )  # fmt: skip
        shares = table_of(flat, classify_at(flat, None), segments=False)
        total += float(np.sum(shares[:, 0] + shares[:, 1]))
    return total / draws


# Is accuracy nearly judgment times timing? U_e·O_e against A_e, scenario by scenario.


@dataclass(frozen=True, slots=True)
class Product:
    """`product` is U·O (of a family or the whole: the mean of scenarios' products)."""

    untimed: float
    oracle: float
    product: float
    in_force: float

    @property
    def deviation(self) -> float:
        """A − U·O."""
        return self.in_force - self.product


@dataclass(frozen=True, slots=True)
class Separability:
    """At the interval and integrated over the bounds."""

    interval: float
    bounds: Bounds
    overall: Product
    by_scenario: Mapping[str, Product]
    integrated: Product
    integrated_by_scenario: Mapping[str, Product]

    @property
    def max_deviation(self) -> float:
        """The largest |A − U·O| of a scenario at the interval."""
        return max(abs(p.deviation) for p in self.by_scenario.values())

    @property
    def integrated_max_deviation(self) -> float:
        return max(abs(p.deviation) for p in self.integrated_by_scenario.values())


def separability(
    parts: Sequence[Timeline], *, interval: float = 2.0, bounds: Bounds | None = None
) -> Separability:
    """U·O beside A for one recording."""
    scored = score_timelines(parts, interval=interval, bounds=bounds)
    return Separability(
        interval,
        scored.bounds,
        _product(scored.overall, scored.overall.at_interval),
        {k: _product(v, v.at_interval) for k, v in scored.by_scenario.items()},
        _product(scored.overall, scored.overall.integrated),
        {k: _product(v, v.integrated) for k, v in scored.by_scenario.items()},
    )


def separability_table(name: str, result: Separability) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for key in (*result.by_scenario, "overall"):
        at = result.overall if key == "overall" else result.by_scenario[key]
        over = result.integrated if key == "overall" else result.integrated_by_scenario[key]
        rows.append(
            (key, at.untimed, at.oracle, at.product, at.in_force, at.deviation,
             over.product, over.in_force, over.deviation)
        )  # fmt: skip
    return Table(
        f"{name}: U·O against in-force accuracy (%)",
        (text("", "scenario"), percentage("U", "untimed"), percentage("O", "oracle"),
         percentage("U·O", "product"), percentage(f"A {result.interval:g} s", "in_force"),
         percentage("A−U·O", "deviation"), percentage("U·O AUC", "integrated_product"),
         percentage("AUC", "log_auc"), percentage("diff.", "integrated_deviation")),
        tuple(rows),
        (
            f"Largest deviation of a scenario: {100 * result.max_deviation:.1f} points at"
            f" {result.interval:g} s, {100 * result.integrated_max_deviation:.1f} over"
            f" {result.bounds.text()}.",
        ),
    )  # fmt: skip


def _product(level: Level, shares: Shares) -> Product:
    return Product(level.untimed, shares.oracle, shares.product, shares.in_force)


# Two recordings, state by state: both right, only one, neither. Latency is ignored.


@dataclass(frozen=True, slots=True)
class PairedCount:
    level: str
    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def states(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def either(self) -> float:
        """The untimed accuracy of a perfect arbiter between the two."""
        return 1 - self.neither / self.states


@dataclass(frozen=True, slots=True)
class Paired:
    """Families first, then all."""

    first: str
    second: str
    counts: tuple[PairedCount, ...]


def paired_counts(
    first: Sequence[Timeline],
    second: Sequence[Timeline],
    names: tuple[str, str] = ("first", "second"),
) -> Paired:
    """Counts by family and over all states of two recordings of the same scenarios."""
    same_states({names[0]: first, names[1]: second})
    families = list(dict.fromkeys(p.family for p in first))
    found = []
    for level in (*families, "all"):
        chosen = [k for k, p in enumerate(first) if level in ("all", p.family)]
        a = np.concatenate([first[k].right for k in chosen])
        b = np.concatenate([second[k].right for k in chosen])
        counts = (a & b, a & ~b, ~a & b, ~a & ~b)
        found.append(PairedCount(level, *(int(x.sum()) for x in counts)))
    return Paired(*names, tuple(found))


def paired_table(result: Paired) -> Table:
    names = readable(c.level for c in result.counts)
    return Table(
        f"States decided correctly by {result.first} and {result.second}, ignoring latency",
        (text("", "level"), count("both"), count(f"only {result.first}"), count(f"only {result.second}"),
         count("neither"), percentage("either %", "either")),
        tuple(
            (names[c.level], c.both, c.only_first, c.only_second, c.neither, c.either)
            for c in result.counts
        ),
    )  # fmt: skip


def paired_in_one(results: Sequence[Paired]) -> Table:
    """The counts of several pairs below each other, a section each."""
    rows: list[tuple[Cell, ...]] = []
    sections = {}
    for pair in results:
        sections[len(rows)] = f"{pair.first} (first) vs. {pair.second} (second)"
        rows += [
            ("All" if row[0] == "all" else row[0], *row[1:5]) for row in paired_table(pair).rows
        ]
    return Table(
        "States decided correctly by two settings, latency ignored",
        (text(""), count("Both"), count("First only"), count("Second only"), count("Neither")),
        tuple(rows),
        sections=sections,
        rules=frozenset(sections),
    )


# A scenario in figures: one row of the benchmark table.


def facts(scenario: Scenario) -> dict[str, Any]:
    """One row of the benchmark table."""
    options = [len(q.criteria) for q in scenario.questions.values()]
    changes = scenario.changes()
    edges = [0, *changes, scenario.n]
    lengths = [b - a for a, b in pairwise(edges)]
    sizes = [estimate_tokens(scenario.request(t)) for t in range(scenario.n)]
    consumed = [len(decision) for decision in scenario.reference()]
    near = sum(any(abs(t - c) <= 1 for c in changes) for t in range(scenario.n))
    return {
        "scenario": scenario.episode_id,
        "family": scenario.task_family,
        "title": scenario.title,
        "steps": scenario.n,
        "questions": len(options),
        "routes": len(scenario.decision_spec.branches),
        "options_min": min(options),
        "options_max": max(options),
        "consumed_min": min(consumed),
        "consumed_max": max(consumed),
        "changes": len(changes),
        "near_states": near,
        "segment_min": min(lengths),
        "segment_max": max(lengths),
        "best_constant": best_constant(scenario) / scenario.n,
        **{f"{name}_states": states_right(scenario, policy) for name, policy in POLICIES.items()},
        "tokens_min": min(sizes),
        "tokens_max": max(sizes),
    }


# Are wrong answers near reference changes? Untimed errors by distance to the nearest change.
#
# Every state belongs to the nearest actual change of the composed reference, ties to the earlier one;
# the beginning of a scenario is no change. The signed offset is −1 on the last state before a change,
# 0 at it, +1 after it. Near: at most one tick away. Every state counts once.


NEAR = 1


@dataclass(frozen=True, slots=True)
class ErrorCount:
    states: int
    errors: int

    @property
    def rate(self) -> float | None:
        return self.errors / self.states if self.states else None


@dataclass(frozen=True, slots=True)
class Transitions:
    """Near and far errors, and every signed offset, of the whole and of each family."""

    near: Mapping[str, ErrorCount]
    far: Mapping[str, ErrorCount]
    by_offset: Mapping[str, Mapping[int, ErrorCount]]
    without_change: int
    """States of scenarios whose reference never changes: far, with no offset."""


def transition_errors(parts: Sequence[Timeline]) -> Transitions:
    """Counts of one recording. Levels are `overall` and the families."""
    families = list(dict.fromkeys(p.family for p in parts))
    near, far, by_offset = {}, {}, {}
    for level in ("overall", *families):
        chosen = [p for p in parts if level in ("overall", p.family)]
        wrong = np.concatenate([~p.right for p in chosen])
        with_offset = [offsets(p.reference) for p in chosen]
        known = np.concatenate(
            [np.full(p.n, o is not None) for p, o in zip(chosen, with_offset, strict=True)]
        )
        offset = np.concatenate(
            [np.zeros(p.n, dtype=np.int64) if o is None else o
             for p, o in zip(chosen, with_offset, strict=True)]
        )  # fmt: skip
        close = known & (np.abs(offset) <= NEAR)
        near[level] = ErrorCount(int(close.sum()), int((wrong & close).sum()))
        far[level] = ErrorCount(int((~close).sum()), int((wrong & ~close).sum()))
        by_offset[level] = {
            int(k): ErrorCount(
                int((known & (offset == k)).sum()), int((wrong & known & (offset == k)).sum())
            )
            for k in np.unique(offset[known])
        }
    lonely = sum(p.n for p in parts if offsets(p.reference) is None)
    return Transitions(near, far, by_offset, lonely)


def offsets(reference: Ints) -> Ints | None:
    """Signed distance of every step to its nearest change; None when there is no change.

    >>> offsets(np.array([0, 0, 0, 1, 1, 1, 2])).tolist()
    [-3, -2, -1, 0, 1, -1, 0]
    """
    changes = np.flatnonzero(reference[1:] != reference[:-1]) + 1
    if not changes.size:
        return None
    steps = np.arange(len(reference))
    after = np.searchsorted(changes, steps, side="right")
    earlier = changes[np.maximum(after - 1, 0)]
    later = changes[np.minimum(after, len(changes) - 1)]
    from_earlier = np.where(after > 0, steps - earlier, len(reference) + 1)
    to_later = np.where(after < len(changes), later - steps, len(reference) + 1)
    found: Ints = np.where(from_earlier <= to_later, steps - earlier, steps - later)
    return found


def transition_tables(results: Mapping[str, Transitions]) -> list[Table]:
    every = sorted({k for r in results.values() for k in r.by_offset["overall"]})
    return [
        near_and_far(results),
        *(_offset_table(name, r, every) for name, r in results.items()),
    ]


def near_and_far(results: Mapping[str, Transitions], *, families: bool = True) -> Table:
    """Errors at most one tick from a reference change, and farther away."""
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        for level, label in readable(result.near if families else ["overall"]).items():
            near, far = result.near[level], result.far[level]
            head = (name if level == "overall" else "", *((label,) if families else ()))
            rows.append(
                (*head, near.rate, near.errors, near.states, far.rate, far.errors, far.states)
            )
    return Table(
        "Untimed errors near (at most one tick) and far from reference changes",
        (text("", "recording", "Setting"), *((text("level"),) if families else ()),
         percentage("near %", "near", title="Near error (%)"),
         count("errors", "near_errors", "Near errors"), count("states", "near_states", "Near states"),
         percentage("far %", "far", title="Far error (%)"),
         count("errors", "far_errors", "Far errors"), count("states", "far_states", "Far states")),
        tuple(rows),
    )  # fmt: skip


def _offset_table(name: str, result: Transitions, every: list[int]) -> Table:
    levels = readable(result.by_offset)
    rows: list[tuple[Cell, ...]] = []
    for k in every:
        row: list[Cell] = [f"{k:+d}" if k else "0"]
        for level in levels:
            found = result.by_offset[level].get(k, ErrorCount(0, 0))
            row.append(f"{found.errors}/{found.states}")
        rows.append(tuple(row))
    return Table(
        f"{name}: errors / states by signed offset to the nearest change (ticks)",
        (text("offset"), *(text(label) for label in levels.values())),
        tuple(rows),
    )


# A representative stretch to show: Figure 1's window rule.
#
# Candidates are the windows of a given length that start at a step and end within the horizon. The
# one shown minimises, over recordings, the largest difference between the share of the window with
# the right decision in force and the recording's overall in-force accuracy.


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
    held = classify_at(JoinedTimelines([part]), interval)
    begin, end = held.begin[held.correct], held.end[held.correct]
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
        (
            text("", "recording"),
            percentage("in window"),
            percentage("overall"),
            percentage("difference"),
        ),
        tuple(rows),
        (
            f"Of {window.candidates} windows it has the smallest largest difference,"
            f" {100 * window.deviation:.1f} points, at {window.interval:g} s a step.",
        ),
    )
