"""What a decision log is worth, by the same definition as a recording: groups, how sure they are, how
they differ; as an object, as JSON, as CSV.

>>> import pyarrow as pa
>>> import streamdecisionbench as sdb
>>> table = pa.table({
...     "stream": ["call-7"] * 3,
...     "published_at": [0.0, 2.0, 4.0],
...     "answered_at": [1.0, 2.5, None],
...     "decision": ["hold", "resume", None],
...     "reference": ["hold", "resume", "resume"],
...     "ended_at": [6.0] * 3,
... })
>>> score = sdb.score_log(table)
>>> round(score.groups[0].in_force, 3), round(score.groups[0].classes["no_decision"], 3)
(0.75, 0.167)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from streamdecisionbench._version import __version__
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import Floats
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CAUSES,
    CORRECT,
    UNKNOWN,
)
from streamdecisionbench.kernel.paces import (
    Bounds,
    check_interval,
)
from streamdecisionbench.logs.engines.engine import Engine
from streamdecisionbench.logs.log_references import ReferenceSource
from streamdecisionbench.logs.log_schema import (
    COLUMNS,
    kind_of,
)
from streamdecisionbench.logs.log_source import LogSource
from streamdecisionbench.logs.log_sums import (
    DAY,
    LogSettings,
    LogSums,
)
from streamdecisionbench.logs.stream_arrays import (
    LATE,
    MARKS,
    ORIGIN,
)
from streamdecisionbench.logs.unusable_rows import (
    Allowed,
    Unusable,
)
from streamdecisionbench.logs.worst_streams import (
    Key,
    StreamsAsked,
    StreamsShown,
    group_name,
    wrong_shares,
)
from streamdecisionbench.policies.cost_file import (
    DEFAULT,
    default_costs,
    read_cost_file,
)
from streamdecisionbench.policies.cost_rules import Costs
from streamdecisionbench.render.sentences import NO_USABLE_STREAM, REPEATED_IDS, assumed_end
from streamdecisionbench.scoring.error_costs import (
    THETA_S,
    CostRates,
    check_theta,
)
from streamdecisionbench.scoring.intervals import (
    FEWEST,
    RESAMPLES,
    Spread,
    interval_95,
    linear_ratio,
)
from streamdecisionbench.scoring.score_json import COST_COLUMNS
from streamdecisionbench.scoring.stream_costs import CostSums, GroupCosts
from streamdecisionbench.scoring.stream_sums import (
    Group,
    StreamRows,
    attributed,
    in_force_of,
)
from streamdecisionbench.text import plural

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = "sdb-logs/1"
SCORED = (
    "stream", "published_at", "requested_at", "answered_at", "applied_at", "effects",
    "member_latency_s", "decision", "reference", "ended_at", "cost", "weight", "tick_s", *MARKS, ORIGIN,
)  # fmt: skip
"""What the kernel reads; nothing else is sorted or moved."""

_UNJUDGED = ALL_CLASSES.index("unjudged")
_UNATTRIBUTED = ALL_CLASSES.index("unattributed")
_OF_CAUSE = [[ALL_CLASSES.index(name) for name in names] for names in CAUSES.values()]
_SPELLS = ("mean_age_s", "beyond_share", "longest_s", "count", "wrong_share", "long_share")
_CHANGES = ("changes", "never_right", "median_delay_s", "p95_delay_s")
LATENCY = ("answered", "mean", "p50", "p95", "p99")


Change = tuple[float, tuple[float, float] | None]
"""A share or a difference, with its interval."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """Seconds by class of a group, and of every replicate of it: one stream says nothing of another."""

    seconds: Floats
    spread: Spread
    replicates: Floats | None = None
    older_judgment: Floats | None = None
    """Of the judgment seconds, those whose decision was made for an older state; None: not counted."""
    older_replicates: Floats | None = None
    both_labelled: Spread | None = None
    """Of wrong time with an older source, where both references are known."""

    @property
    def in_force(self) -> float | None:
        """A: correct time over judged time; None where nothing was judged."""
        return _number(float(in_force_of(self.seconds)))

    @property
    def judged_share(self) -> float:
        return 1.0 - float(self.seconds[_UNJUDGED] / self.seconds.sum())

    @property
    def interval_95(self) -> tuple[float, float] | None:
        """None with fewer than five judged streams."""
        if self.replicates is None or self.in_force is None:
            return None
        drawn = _drawn_of_judged(self.seconds, self.replicates)[:, list(CORRECT)].sum(axis=1)
        return interval_95(self.in_force, drawn, self.spread, share=True)

    def classes(self) -> dict[str, float]:
        """Eight shares of observed time that sum to one."""
        return _class_shares(self.seconds)

    def estimated_classes(self) -> dict[str, float]:
        """The same, with unattributed time divided among the causes."""
        return _class_shares(self._attributed)

    @property
    def _attributed(self) -> Floats:
        if self.older_judgment is None:
            return self.seconds
        return attributed(self.seconds, self.older_judgment[0])

    def drawn_shares(self) -> Floats | None:
        """Shares of judged time by class, in every replicate."""
        return None if self.replicates is None else _drawn_of_judged(self.seconds, self.replicates)

    def cause_shares(self) -> tuple[Floats, Floats | None, Spread]:
        """Shares of judged time lost to each of `CAUSES`, in every replicate, and how they spread."""
        drawn, spread = self.replicates, self.spread
        if drawn is not None and self.older_replicates is not None:
            drawn = attributed(drawn, self.older_replicates[:, 0])
        # Fewer streams say how unattributed time divides than are judged.
        if self.both_labelled is not None and self.seconds[_UNATTRIBUTED] > 0:
            spread = spread.narrower(self.both_labelled)
        lost = None if drawn is None else _drawn_of_judged(self._attributed, drawn, _by_cause)
        return _lost(self._attributed), lost, spread

    def causes(self) -> dict[str, Change]:
        """Shares of judged time lost to each cause, with their intervals; empty where nothing is judged."""
        if self.in_force is None:
            return {}
        shares, drawn, spread = self.cause_shares()
        return {
            cause: (
                share,
                None
                if drawn is None or cause == UNKNOWN
                else interval_95(share, drawn[:, k], spread, share=True),
            )
            for k, (cause, share) in enumerate(zip(CAUSES, shares.tolist(), strict=True))
        }


@dataclass(frozen=True, slots=True)
class LogGroup:
    """One group of streams."""

    by: Mapping[str, Any]
    streams: int
    decisions: int
    judged_decisions: int
    seconds: float
    at_pace: Pooled
    over: Pooled | None
    physical: Pooled | None
    untimed: float | None
    latency: Mapping[str, Any]
    cost: float
    assumed_end: int
    marks: Mapping[str, int]
    costs: GroupCosts | None = None
    """Spells, changes, acts and costs, where they were asked for."""
    cascade: int = 0
    """Streams in which several components answered: there `untimed` and `latency` are those of the first
    answer to each state."""
    member_latency: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of cascades: the latency of each member, where the log has it."""

    @property
    def name(self) -> str:
        """For people, without what a terminal might obey."""
        return group_name(tuple(self.by.values()))

    @property
    def in_force(self) -> float | None:
        return self.at_pace.in_force

    @property
    def interval_95(self) -> tuple[float, float] | None:
        return self.at_pace.interval_95

    @property
    def judged_share(self) -> float:
        return self.at_pace.judged_share

    @property
    def judged_streams(self) -> int:
        """Streams with time of which the right answer is known: so many make the interval."""
        return self.at_pace.spread.streams

    @property
    def classes(self) -> dict[str, float]:
        return self.at_pace.classes()

    @property
    def estimated_classes(self) -> dict[str, float]:
        return self.at_pace.estimated_classes()

    @property
    def causes(self) -> dict[str, Change]:
        return self.at_pace.causes()

    def of_judged(self, name: str) -> float | None:
        """A class, estimated, as a share of judged time; None where nothing is judged."""
        judged = self.judged_share
        return self.estimated_classes[name] / judged if judged > 0 else None

    @property
    def log_auc(self) -> float | None:
        return self.over.in_force if self.over else None

    @property
    def mean_interval_s(self) -> float:
        return self.seconds / self.decisions


@dataclass(frozen=True, slots=True)
class LogDifference:
    """One group against the first: in-force accuracy, what made it, and every class.

    `causes` add up to `in_force`: what less (or more) time lost to each of them brought. `classes` are
    shares of judged time.
    """

    group: LogGroup
    against: LogGroup
    in_force: Change
    causes: Mapping[str, Change]
    classes: Mapping[str, Change]


@dataclass(frozen=True, slots=True)
class LogScore:
    """Everything `sdb logs score` says."""

    groups: tuple[LogGroup, ...]
    days: tuple[LogGroup, ...]
    """The same streams by group and the day they began on, where that was asked for and is known."""
    signature: str
    settings: LogSettings
    references: ReferenceSource
    rows: int
    unusable: Unusable
    notes: tuple[str, ...]
    origins: tuple[int, ...] = ()
    """How many references came from each of `references.all`."""
    source: str = ""
    streams: tuple[tuple[StreamRows, ...], ...] = ()
    """Of every group one by one, where they were asked for."""
    shown: StreamsShown = field(default_factory=StreamsShown)
    """Single streams with their lanes, and mix-ups in seconds, where they were asked for."""

    @property
    def differences(self) -> tuple[LogDifference, ...]:
        """Every further group against the first; streams with the same id are paired."""
        first, *others = self.groups
        return tuple(_difference(other, first) for other in others)

    def difference(self, group: LogGroup, against: LogGroup) -> LogDifference:
        """One group against another; streams with the same id are paired."""
        return _difference(group, against)

    def to_json(self) -> dict[str, Any]:
        """Schema `sdb-logs/1`: full precision, shares as fractions."""
        bounds = self.settings.bounds
        return {
            "schema": SCHEMA,
            "groups": [_group_json(group) for group in self.groups],
            "signature": self.signature,
            "interval": self.settings.interval,
            "bounds": [bounds.low, bounds.high] if bounds else None,
            "references": {
                "kind": self.references.kind,
                "source": self.references.source,
                "origins": [
                    {"kind": one.kind, "source": one.source, "states": states}
                    for one, states in zip(self.references.all, self.origins, strict=True)
                ],
            },
            "rows": self.rows,
            "unusable": dict(sorted(self.unusable.counts.items())),
            **_costs_used(self.settings),
            "differences": [_difference_json(d) for d in self.differences],
            "notes": list(self.notes),
        }


def score_log(
    table: Any,
    *,
    by: str | Sequence[str] = (),
    interval: float | None = None,
    bounds: tuple[float, float] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    costs: str | Path | Costs | None = None,
    theta: float | None = None,
    days: bool = False,
    streams: bool = False,
    show: StreamsAsked | None = None,
    **source: Any,
) -> LogScore:
    """Scores the recorded decisions of a log in schema `sdb-decisions/1`.

    `table` is a path or several (files, folders, patterns), an Arrow table or reader, any object that
    streams Arrow (polars, pandas, DuckDB), a Spark DataFrame, or a `LogSource`. Further keywords are the
    fields of `LogSource`: `sql`, `references`, `references_sql`, `reference`, `engine`, `master`,
    `memory`, `allow_unusable`, `progress`.

    `by` names the columns to group by. `theta` adds error episodes and changes, with θ in seconds;
    `costs`, a cost file or `default`, adds their costs. `days` also groups streams by the day they
    began on; `streams` keeps the figures of each stream; `show` selects streams to keep whole.
    """
    log = LogSource.of(table, **source)
    if isinstance(costs, str | Path):
        costs = default_costs() if costs == DEFAULT else read_cost_file(costs)
    settings = LogSettings(
        by=(by,) if isinstance(by, str) else tuple(by),
        interval=interval,
        bounds=Bounds(*bounds) if bounds else None,
        seed=seed,
        resamples=resamples,
        costs=costs,
        theta=check_theta(THETA_S if theta is None and costs is not None else theta),
        days=days,
        streams=streams,
        show=show,
    )
    if interval is not None:
        check_interval(interval)
    if resamples < 0:
        raise InputError(f"--resamples {resamples} is below 0", fix="0 leaves intervals out")
    allowed = log.allowed
    with log.opened() as (opened, references):
        return score_opened(opened, settings, references, allowed)


def score_opened(
    opened: Engine, settings: LogSettings, references: ReferenceSource, allowed: Allowed
) -> LogScore:
    """Scores a log that is open, and refuses what cannot be trusted."""
    schema = opened.schema()
    check_by(schema, settings.by, opened.name)
    if settings.show is not None and settings.show.states and "state" not in schema.names:
        raise InputError(
            "has no column 'state'",
            where=opened.name,
            fix="leave out --states, or name it in a query given with --sql",
        )
    if settings.days:
        settings = replace(settings, days=_knows_days(schema))
    sums = opened.usable(LogSums(settings), (*SCORED, *settings.columns), allowed)
    if not sums.rows:
        raise InputError("holds no row", where=opened.name)
    if not sums.groups:
        raise InputError(NO_USABLE_STREAM, where=opened.name, fix="sdb logs check")
    groups = tuple(
        _group(
            zip(settings.by, key, strict=True), sums.groups[key], sums.charged.get(key), settings
        )
        for key in sorted(sums.groups, key=in_order)
    )
    if not any(group.judged_decisions for group in groups):
        raise InputError(
            "no reference is known for any of its rows: nothing can be judged",
            where=opened.name,
            fix="add a column 'reference', or give --references FILE or --reference"
            " python:module:function"
            if references.kind == "column"
            else f"check that {references.source} is about the same states",
        )
    if sums.shown is not None:
        sums.shown.require(opened.name)
    return LogScore(
        groups=groups,
        days=tuple(
            _group(zip(settings.by_day, key, strict=True), sums.days[key], None, settings)
            for key in sorted(sums.days, key=in_order)
        ),
        signature=_signature(sums, references),
        settings=settings,
        references=references,
        rows=sums.rows,
        unusable=sums.unusable,
        notes=(
            *_notes(groups, references, sums),
            *sums.values.notes(),
            *sums.unusable.notes(),
            *(sums.named.notes(settings.costs) if settings.costs else ()),
            *opened.notes(),
        ),
        origins=tuple(sums.origins[k] for k in range(len(references.all))),
        source=opened.name,
        streams=tuple(tuple(sums.kept[key]) for key in sorted(sums.kept, key=in_order)),
        shown=sums.shown or StreamsShown(),
    )


def check_by(schema: pa.Schema, by: Sequence[str], where: str) -> None:
    """Refuses to group by what is not there."""
    for name in by:
        if name in schema.names:
            if kind_of(schema.field(name).type) == "nested":
                raise InputError(
                    f"--by {name} is nested", where=where, fix="take a field of it with --sql"
                )
            continue
        if name == DAY and _knows_days(schema):
            continue
        others = [n for n in schema.names if n not in COLUMNS]
        raise InputError(
            f"has no column {name!r} to group by",
            where=where,
            fix="days need timestamps, and published_at holds seconds"
            if name == DAY
            else f"its further columns are {', '.join(others)}"
            if others
            else "it has none but the schema's",
        )


def _knows_days(schema: pa.Schema) -> bool:
    return DAY in schema.names or kind_of(schema.field("published_at").type) == "timestamp"


def in_order(key: Key) -> list[Any]:
    """Nothing, then numbers, then text."""

    def place(value: str | None) -> tuple[int, float, str]:
        if value is None:
            return 0, 0.0, ""
        try:
            number = float(value)
        except ValueError:
            number = np.nan
        return (1, number, value) if np.isfinite(number) else (2, 0.0, value)

    return [place(value) for value in key]


def _group(
    by: Iterable[tuple[str, Any]], group: Group, charged: CostSums | None, settings: LogSettings
) -> LogGroup:
    counts = group.counts()
    judged = counts["weighted_judged"]

    several = counts["streams"] > 1

    def pooled(name: str) -> Pooled:
        drawn = group.get(f"{name}_replicates") if several else None
        return Pooled(group.sums[name].get(), group.spread(name), drawn)

    return LogGroup(
        by=dict(by),
        streams=int(counts["streams"]),
        decisions=int(counts["decisions"]),
        judged_decisions=int(counts["judged"]),
        seconds=counts["seconds"],
        at_pace=replace(
            pooled("pace"),
            older_judgment=group.get("older_judgment"),
            older_replicates=group.get("older_judgment_replicates") if several else None,
            both_labelled=group.both_labelled(),
        ),
        over=pooled("over") if "over" in group.sums else None,
        physical=pooled("physical") if "physical" in group.sums else None,
        untimed=counts["weighted_right"] / judged if judged > 0 else None,
        latency=group.latency.to_json(),
        cost=counts["cost"],
        assumed_end=int(counts["assumed_end"]),
        marks={mark: int(counts[mark]) for mark in MARKS},
        costs=None
        if charged is None
        else charged.get(group.spread("pace"), priced=settings.costs is not None),
        cascade=int(counts["cascade"]),
        member_latency={name: one.to_json() for name, one in sorted(group.members.items())},
    )


def _difference(group: LogGroup, against: LogGroup) -> LogDifference:
    one, two = group.at_pace, against.at_pace

    def change(
        name: int | Sequence[int],
        now: Floats,
        drawn: Floats | None,
        spread: Spread,
        sign: float = 1.0,
    ) -> Change:
        columns = [name] if isinstance(name, int) else list(name)
        value = sign * float(now[columns].sum())
        if drawn is None:
            return value, None
        return value, interval_95(value, sign * drawn[:, columns].sum(axis=1), spread)

    of_class = (
        _of_judged(one.seconds) - _of_judged(two.seconds),
        _minus(one.drawn_shares(), two.drawn_shares()),
        one.spread.narrower(two.spread),
    )
    (now, drawn, spread), (then, drawn_then, spread_then) = one.cause_shares(), two.cause_shares()
    of_cause = now - then, _minus(drawn, drawn_then), spread.narrower(spread_then)
    return LogDifference(
        group=group,
        against=against,
        in_force=change(CORRECT, *of_class),
        causes={cause: change(k, *of_cause, -1.0) for k, cause in enumerate(CAUSES)},
        classes={
            name: change(k, *of_class) for k, name in enumerate(ALL_CLASSES) if name != "unjudged"
        },
    )


def _minus(one: Floats | None, two: Floats | None) -> Floats | None:
    return None if one is None or two is None else one - two


def _class_shares(seconds: Floats) -> dict[str, float]:
    shares = seconds / seconds.sum()
    shares[np.abs(shares) < 1e-15] = 0.0
    return dict(zip(ALL_CLASSES, shares.tolist(), strict=True))


def _lost(seconds: Floats) -> Floats:
    """Shares of judged time lost to each cause, along the last axis."""
    return _by_cause(_of_judged(seconds))


def _by_cause(of_class: Floats) -> Floats:
    """Sums over the classes of each cause, along the last axis."""
    return np.stack([of_class[..., columns].sum(axis=-1) for columns in _OF_CAUSE], axis=-1)


def _of_judged(seconds: Floats) -> Floats:
    judged = seconds.sum(axis=-1) - seconds[..., _UNJUDGED]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares: Floats = seconds / judged[..., None]
    return shares


def _drawn_of_judged(
    seconds: Floats, replicates: Floats, of: Callable[[Floats], Floats] = np.asarray
) -> Floats:
    """Replicates of shares of judged time: by class, or by what `of` makes of the classes."""
    judged, drawn = (
        (found.sum(axis=-1) - found[..., _UNJUDGED])[..., None] for found in (seconds, replicates)
    )
    return linear_ratio(of(seconds), judged, of(replicates), drawn)


def _group_json(group: LogGroup) -> dict[str, Any]:
    found: dict[str, Any] = {
        "by": dict(group.by),
        "streams": group.streams,
        "decisions": group.decisions,
        "judged_share": group.judged_share,
        "in_force": group.in_force,
        "classes": group.classes,
        "causes": causes_json(group.causes),
        "interval_95": _listed(group.interval_95),
        "untimed": group.untimed,
        "latency": dict(group.latency),
        **({"cascade_streams": group.cascade} if group.cascade else {}),
        **({"member_latency": dict(group.member_latency)} if group.member_latency else {}),
        "mean_interval_s": group.mean_interval_s,
        "judged_streams": group.judged_streams,
        "judged_decisions": group.judged_decisions,
        "seconds": group.seconds,
    }
    if group.over is not None:
        found["log_auc"] = group.over.in_force
        found["log_auc_interval_95"] = _listed(group.over.interval_95)
        found["integrated"] = {"classes": group.over.classes()}
    if group.physical is not None:
        found["physical"] = {
            "in_force": group.physical.in_force,
            "classes": group.physical.classes(),
        }
    if group.costs is not None:
        found |= _costs_json(group.costs)
    if group.cost:
        found["cost"] = {"total": group.cost, "per_hour": group.cost / group.seconds * 3600}
    return found


def _difference_json(difference: LogDifference) -> dict[str, Any]:
    return {
        "by": dict(difference.group.by),
        "against": dict(difference.against.by),
        "in_force": _change_json(difference.in_force),
        "causes": causes_json(difference.causes),
        "classes": {name: _change_json(change) for name, change in difference.classes.items()},
    }


def causes_json(causes: Mapping[str, Change]) -> dict[str, Any]:
    """Every cause as its value with its interval."""
    return {cause: _change_json(change) for cause, change in causes.items()}


def _change_json(change: Change) -> dict[str, Any]:
    return {"value": _number(change[0]), "interval_95": _listed(change[1])}


def _signature(sums: LogSums, references: ReferenceSource) -> str:
    """How this score was made, in one line. The engine is no part of it: all give the same."""
    settings = sums.settings
    bounds = settings.bounds
    parts = {
        "data": f"{sums.fingerprint:016x}"[:12],
        "rows": sums.rows,
        "unusable": sums.unusable.rows,
        "references": references.text(),
        "protocol": "step-anchored",
        "pooled": "time",
        "interval": "recorded" if settings.interval is None else f"{settings.interval:g}",
        "bounds": f"{bounds.low:g}-{bounds.high:g}" if bounds else "none",
        "weighting": bounds.weighting if bounds else "none",
        **({} if settings.theta is None else {"theta": f"{settings.theta:g}"}),
        **({"costs": settings.costs.digest[:12] or settings.costs.name} if settings.costs else {}),
        "resamples": settings.resamples,
        "seed": settings.seed,
        "sdb": __version__,
    }
    return " ".join(f"{key}:{value}" for key, value in parts.items())


def _notes(groups: Sequence[LogGroup], references: ReferenceSource, sums: LogSums) -> list[str]:
    found = references.notes([sums.origins[k] for k in range(len(references.all))])
    if sums.latest >= LATE:
        found.append(
            f"times are taken for seconds: published_at {sums.latest:.0f} would be in the year"
            f" {1970 + sums.latest / 31556952:.0f}; if they are milliseconds or less, divide them in a"
            " query given with --sql"
        )
    few = [group for group in groups if group.judged_streams < FEWEST]
    if few and sums.settings.resamples:
        named = ", ".join(group.name for group in few[:5]) + (", …" if len(few) > 5 else "")
        found.append(
            f"no interval for {named}: fewer than {FEWEST} streams are judged, too few to say how"
            " others would fare"
        )
    if sums.scattered:
        found.append(
            f"{plural(sums.scattered, 'stream without ended_at lies', 'streams without ended_at lie')} in more than one file: "
            + REPEATED_IDS
        )
    streams = sum(group.streams for group in groups)
    for mark, says in MARKS.items():
        marked = sum(group.marks[mark] for group in groups)
        if marked:
            found.append(
                says if marked == streams else f"{marked} of {plural(streams, 'stream')}: {says}"
            )
    cascades = sum(group.cascade for group in groups)
    if cascades:
        found.append(
            f"{cascades} of {plural(streams, 'stream')} are those of a cascade: untimed and latency are of the first"
            " answer to each state"
        )
    assumed = sum(group.assumed_end for group in groups)
    if assumed:
        found.append(assumed_end(f"{assumed} of {plural(streams, 'stream')} have"))
    return found


def _costs_json(found: GroupCosts) -> dict[str, Any]:
    """Keys of a group: `spells`, `changes`, and with a cost file `actions` and `cost_of_error`."""
    spells, changes = found.spells, found.changes
    edits = changes.decision_changes
    out: dict[str, Any] = {
        "spells": _without_none({**asdict(spells), "short_share": spells.short_share}),
        "changes": _without_none(
            {
                **asdict(changes),
                "never_right_share": changes.never_right_share,
                "relative_error": found.delay_error,
                "decision_changes": _without_none(
                    {
                        **asdict(edits),
                        "edit_overhead": edits.edit_overhead,
                        "flicker": edits.flicker,
                    }
                ),
            }
        ),
    }
    if found.cost is not None:
        out["actions"] = {name: _without_none(asdict(act)) for name, act in found.acts.items()}
        out["cost_of_error"] = {
            **_rates(found.cost),
            "interval_95": _listed(found.interval_95),
            **({"integrated": _rates(found.mean_cost)} if found.mean_cost else {}),
        }
    return out


def _costs_used(settings: LogSettings) -> dict[str, Any]:
    """Keys of the document: θ, and which cost file."""
    found: dict[str, Any] = {}
    if settings.theta is not None:
        found["theta"] = settings.theta
    if settings.costs is not None:
        costs = settings.costs
        found["costs"] = {"name": costs.name, "dated": costs.dated, "sha256": costs.digest}
    return found


def _rates(rates: CostRates) -> dict[str, float]:
    return {"per_second": rates.total, **asdict(rates)}


def _without_none(found: dict[str, Any]) -> dict[str, Any]:
    """Without what was not integrated; a quantile that is never reached stays null."""
    return {name: v for name, v in found.items() if name != "integrated" or v is not None}


def shown_json(score: LogScore) -> dict[str, Any]:
    """Schema `sdb-logs-show/1`: streams with their seconds by class, and the seconds of every mix-up."""
    shown, by = score.shown, score.settings.by
    return {
        "schema": "sdb-logs-show/1",
        **wrong_shares(shown.wrong),
        "causes": [
            {"by": dict(group.by), "causes": causes_json(group.causes)} for group in score.groups
        ],
        "streams_shown": [
            {
                "stream": one.name,
                "by": dict(zip(by, one.group, strict=True)),
                "began": one.began,
                "wrong_s": one.wrong_s,
                "judged_s": one.judged_s,
                "seconds": dict(zip(ALL_CLASSES, one.seconds.tolist(), strict=True)),
                "states": [
                    {
                        "published_s": at,
                        "latency_s": wait,
                        "decision": decision,
                        "reference": reference,
                        **({} if one.states is None else {"state": one.states[k]}),
                    }
                    for k, (at, wait, decision, reference) in enumerate(
                        zip(one.release, one.latency, one.decisions, one.references, strict=True)
                    )
                ],
                "end_s": one.end,
            }
            for one in shown.kept
        ],
        "in_force_against_right": [
            {
                "by": dict(zip(by, key, strict=True)),
                "in_force": mix[0],
                "right": mix[1],
                "seconds": seconds,
            }
            for key in sorted(shown.mixes, key=in_order)
            for mix, seconds in shown.mixes_of(key).items()
        ],
        "signature": score.signature,
        "notes": list(score.notes),
    }


def csv_rows(score: LogScore) -> list[list[Any]]:
    """A heading, then one row per group."""
    cells = [[*group.by.items(), *_csv_cells(group, score)] for group in score.groups]
    return [[name for name, _ in cells[0]], *([value for _, value in row] for row in cells)]


def _csv_cells(group: LogGroup, score: LogScore) -> Iterator[tuple[str, Any]]:
    low, high = group.interval_95 or (None, None)
    for name in ("streams", "decisions", "judged_share", "in_force"):
        yield name, getattr(group, name)
    yield from {"interval_95_low": low, "interval_95_high": high}.items()
    yield from {"untimed": group.untimed, "log_auc": group.log_auc, **group.classes}.items()
    yield from ((f"latency_{name}", group.latency.get(name)) for name in LATENCY)
    yield "mean_interval_s", group.mean_interval_s
    yield from ((f"lost_to_{c}", group.causes.get(c, (None, None))[0]) for c in CAUSES)
    yield from {"references": score.references.text(), "signature": score.signature}.items()
    found = group.costs
    if found is not None:
        yield from ((name, getattr(found.spells, name)) for name in _SPELLS)
        yield from ((name, getattr(found.changes, name)) for name in _CHANGES)
        if found.cost is not None:
            totals = found.cost.total, found.mean_cost.total if found.mean_cost else None
            yield from zip(COST_COLUMNS, totals, strict=True)


def _listed(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else [interval[0], interval[1]]


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
