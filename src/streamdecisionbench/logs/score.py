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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from streamdecisionbench._version import __version__
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import ALL_CLASSES, CAUSES
from streamdecisionbench.logs.arrays import MARKS, ORIGIN
from streamdecisionbench.logs.engines.engine import Engine, ProgressTold, untold
from streamdecisionbench.logs.references import Judge, ReferenceSource, attach_references
from streamdecisionbench.logs.schema import COLUMNS, check_columns, kind_of
from streamdecisionbench.logs.show import (
    Key,
    StreamsAsked,
    StreamsShown,
    group_name,
    wrong_shares,
)
from streamdecisionbench.logs.sources import find_files, torn_note
from streamdecisionbench.logs.sums import DAY, LogSettings, LogSums
from streamdecisionbench.logs.unusable import Allowed, Unusable
from streamdecisionbench.rules.cost_file import DEFAULT, default_costs, read_cost_file
from streamdecisionbench.rules.costs import Costs
from streamdecisionbench.scoring.cost import THETA_S, CostRates, check_theta
from streamdecisionbench.scoring.json import COST_COLUMNS
from streamdecisionbench.scoring.pace_bounds import Bounds, check_interval
from streamdecisionbench.scoring.pooled import (
    FEWEST,
    RESAMPLES,
    Group,
    Spread,
    StreamRows,
    in_force_of,
    interval_95,
)
from streamdecisionbench.scoring.stream_costs import CostSums, GroupCosts
from streamdecisionbench.scoring.timeline import Floats

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = "sdb-logs/1"
ENGINES = ("duckdb", "spark")
SCORED = (
    "stream", "published_at", "requested_at", "answered_at", "applied_at", "effects", "decision",
    "reference", "ended_at", "cost", "weight", "tick_s", *MARKS, ORIGIN,
)  # fmt: skip
"""What the kernel reads; nothing else is sorted or moved."""

_LATE = 1e11
"""Seconds since 1970 from here on are beyond the year 5000: milliseconds, more likely."""
_UNJUDGED = ALL_CLASSES.index("unjudged")
_SPELLS = ("mean_age_s", "beyond_share", "longest_s", "count", "wrong_share", "long_share")
_CHANGES = ("changes", "never_right", "median_delay_s", "p95_delay_s")
_LATENCY = ("answered", "mean", "p50", "p95", "p99")


@dataclass(frozen=True, slots=True)
class Pooled:
    """Seconds by class of a group, and of every replicate of it: one stream says nothing of another."""

    seconds: Floats
    spread: Spread
    replicates: Floats | None = None

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
        return interval_95(self.in_force, in_force_of(self.replicates), self.spread, share=True)

    def classes(self) -> dict[str, float]:
        """Eight shares of observed time that sum to one."""
        shares = self.seconds / self.seconds.sum()
        shares[np.abs(shares) < 1e-15] = 0.0
        return dict(zip(ALL_CLASSES, shares.tolist(), strict=True))


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

    def of_judged(self, name: str) -> float | None:
        """A class as a share of judged time; None where nothing is judged."""
        judged = self.judged_share
        return self.classes[name] / judged if judged > 0 else None

    @property
    def log_auc(self) -> float | None:
        return self.over.in_force if self.over else None

    @property
    def mean_interval_s(self) -> float:
        return self.seconds / self.decisions


Change = tuple[float, tuple[float, float] | None]
"""A difference with its interval."""


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
    references: Any = None,
    references_sql: str | None = None,
    references_sql_name: str = "the query over the references",
    reference: str | Judge | None = None,
    sql: str | None = None,
    sql_name: str = "the query",
    allow_unusable: str | int = 0,
    seed: int = 0,
    resamples: int = RESAMPLES,
    engine: str | None = None,
    master: str | None = None,
    memory: str = "1GB",
    costs: str | Path | Costs | None = None,
    theta: float | None = None,
    days: bool = False,
    streams: bool = False,
    show: StreamsAsked | None = None,
    told: ProgressTold = untold,
) -> LogScore:
    """Scores decisions that somebody recorded, in schema `sdb-decisions/1`.

    `table` is a path or several (files, folders, patterns), an Arrow table or reader, anything that
    streams Arrow (polars, pandas, DuckDB), or a Spark DataFrame. `sql` is a query over the table
    `source` that yields the schema's columns. `references` is a second table, another log or a
    recording, or several, of one a query `references_sql` may make the columns; `reference` a function
    of the state, or its name `python:module:function`, for what they leave open. `theta` also
    measures wrong spells and changes, with θ in seconds; `costs`, a cost file or `default`, also what
    they cost. `days` also groups streams by the day they began on; `streams` keeps them one by one;
    `show` says which to keep whole, with what was in force while what was right.
    """
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
    allowed = Allowed.read(allow_unusable)
    with open_log(
        table, sql=sql, sql_name=sql_name, engine=engine, master=master, memory=memory, told=told
    ) as opened:
        held = attach_references(
            opened,
            references,
            reference,
            sql=references_sql,
            sql_name=references_sql_name,
            told=told,
        )
        return score_opened(opened, settings, held, allowed)


def open_log(
    table: Any,
    *,
    sql: str | None = None,
    sql_name: str = "the query",
    engine: str | None = None,
    master: str | None = None,
    memory: str = "1GB",
    told: ProgressTold = untold,
    checked: bool = True,
) -> Engine:
    """A log, mapped and with its columns checked: in Spark where it is asked for or the table is its
    own, in DuckDB otherwise. Not `checked`, it is any table, of which a mapping can be drafted."""
    from streamdecisionbench.logs.engines.duck import DuckEngine
    from streamdecisionbench.logs.engines.spark import SparkEngine, is_spark

    if engine not in (None, *ENGINES):
        raise InputError(f"engine {engine!r} is not known", fix=f"use {' or '.join(ENGINES)}")
    spark = engine == "spark" or is_spark(table)
    if master is not None and not spark:
        raise InputError("--master belongs to Spark", fix="add --engine spark")
    opened: Engine = (
        SparkEngine(master=master, told=told) if spark else DuckEngine(memory=memory, told=told)
    )
    try:
        paths = table if isinstance(table, list | tuple) else [table]
        if all(isinstance(path, str | Path) for path in paths):
            opened.open_files(find_files(paths), mapped=sql is not None or not checked)
        else:
            opened.open_table(table)
        if sql is not None:
            opened.map(sql, sql_name)
        opened.settle(forced=checked)
        if checked:
            check_columns(opened.schema(), opened.name)
    except BaseException:
        opened.close()
        raise
    return opened


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
        raise InputError(
            "holds no stream that can be used", where=opened.name, fix="sdb logs check"
        )
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
            *torn_note(opened.torn),
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

    def pooled(name: str) -> Pooled:
        drawn = group.get(f"{name}_replicates") if counts["streams"] > 1 else None
        return Pooled(group.sums[name].get(), group.spread(name), drawn)

    return LogGroup(
        by=dict(by),
        streams=int(counts["streams"]),
        decisions=int(counts["decisions"]),
        judged_decisions=int(counts["judged"]),
        seconds=counts["seconds"],
        at_pace=pooled("pace"),
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
    )


def _difference(group: LogGroup, against: LogGroup) -> LogDifference:
    one, two = group.at_pace, against.at_pace
    spread = one.spread.narrower(two.spread)
    now = _of_judged(one.seconds) - _of_judged(two.seconds)
    drawn = None
    if one.replicates is not None and two.replicates is not None:
        drawn = _of_judged(one.replicates) - _of_judged(two.replicates)

    def change(names: Sequence[str], sign: float = 1.0) -> Change:
        columns = [ALL_CLASSES.index(name) for name in names]
        value = sign * float(now[columns].sum())
        if drawn is None:
            return value, None
        return value, interval_95(value, sign * drawn[:, columns].sum(axis=1), spread)

    return LogDifference(
        group=group,
        against=against,
        in_force=change(("current_correct", "outdated_correct")),
        causes={cause: change(names, -1.0) for cause, names in CAUSES.items()},
        classes={name: change((name,)) for name in ALL_CLASSES if name != "unjudged"},
    )


def _of_judged(seconds: Floats) -> Floats:
    judged = seconds.sum(axis=-1) - seconds[..., _UNJUDGED]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares: Floats = seconds / judged[..., None]
    return shares


def _group_json(group: LogGroup) -> dict[str, Any]:
    found: dict[str, Any] = {
        "by": dict(group.by),
        "streams": group.streams,
        "decisions": group.decisions,
        "judged_share": group.judged_share,
        "in_force": group.in_force,
        "classes": group.classes,
        "interval_95": _listed(group.interval_95),
        "untimed": group.untimed,
        "latency": dict(group.latency),
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
    def one(change: Change) -> dict[str, Any]:
        return {"value": _number(change[0]), "interval_95": _listed(change[1])}

    return {
        "by": dict(difference.group.by),
        "against": dict(difference.against.by),
        "in_force": one(difference.in_force),
        "causes": {cause: one(change) for cause, change in difference.causes.items()},
        "classes": {name: one(change) for name, change in difference.classes.items()},
    }


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
    if sums.latest >= _LATE:
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
            f"{sums.scattered} streams without ended_at lie in more than one file: if ids start anew in"
            " every file, make them unique with --sql"
        )
    streams = sum(group.streams for group in groups)
    for mark, says in MARKS.items():
        marked = sum(group.marks[mark] for group in groups)
        if marked:
            found.append(says if marked == streams else f"{marked} of {streams} streams: {says}")
    assumed = sum(group.assumed_end for group in groups)
    if assumed:
        found.append(
            f"{assumed} of {streams} streams have no ended_at: each was taken"
            " to end one median gap after its last state"
        )
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
    yield from ((f"latency_{name}", group.latency.get(name)) for name in _LATENCY)
    yield "mean_interval_s", group.mean_interval_s
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
