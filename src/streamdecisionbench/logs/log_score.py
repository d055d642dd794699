"""What a decision log is worth: groups, their shares, how sure they are, how they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from streamdecisionbench._version import __version__
from streamdecisionbench.logs.costs_json import costs_json, costs_used
from streamdecisionbench.logs.log_sums import Key, LogSums, Settings
from streamdecisionbench.logs.references import References
from streamdecisionbench.logs.usable import REASONS, Unusable, printable
from streamdecisionbench.scoring.classes import ALL_CLASSES
from streamdecisionbench.scoring.costs.cost_sums import GroupCosts
from streamdecisionbench.scoring.group_sums import Group, in_force_of
from streamdecisionbench.scoring.poisson_bootstrap import interval_95
from streamdecisionbench.scoring.timeline import Floats

__all__ = [
    "CAUSES",
    "SCHEMA",
    "Change",
    "Difference",
    "LogGroup",
    "LogScore",
    "Pooled",
    "log_score",
]

SCHEMA = "sdb-logs/1"
_MARKS = {
    "simulated": "simulation: answers and latencies were drawn from a declared profile",
    "virtual_clock": "virtual clock: service times measured one by one, queueing simulated",
}
_UNJUDGED = ALL_CLASSES.index("unjudged")


@dataclass(frozen=True, slots=True)
class Pooled:
    """Seconds by class of a group, and of every replicate of it."""

    seconds: Floats
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
        if self.replicates is None:
            return None
        return interval_95(in_force_of(self.replicates))

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
        shown = ", ".join("–" if v is None else str(v) for v in self.by.values()) or "all"
        return printable(shown)

    @property
    def in_force(self) -> float | None:
        return self.at_pace.in_force

    @property
    def interval_95(self) -> tuple[float, float] | None:
        """None with fewer than two streams: one says nothing about another."""
        return self.at_pace.interval_95 if self.streams > 1 else None

    @property
    def judged_share(self) -> float:
        return self.at_pace.judged_share

    @property
    def classes(self) -> dict[str, float]:
        return self.at_pace.classes()

    @property
    def log_auc(self) -> float | None:
        return self.over.in_force if self.over else None

    @property
    def mean_interval_s(self) -> float:
        return self.seconds / self.decisions


Change = tuple[float, tuple[float, float] | None]
"""A difference with its interval."""

CAUSES: Mapping[str, tuple[str, ...]] = {
    "latency": ("stale", "no_decision"),
    "judgment": ("judgment",),
    "both": ("compound", "unattributed"),
}
"""Why a decision in force is wrong, by class: what is not lost to one of them is right."""


@dataclass(frozen=True, slots=True)
class Difference:
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
    signature: str
    settings: Settings
    references: References
    rows: int
    unusable: Unusable
    notes: tuple[str, ...]
    source: str = ""

    @property
    def differences(self) -> tuple[Difference, ...]:
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
            "references": {"kind": self.references.kind, "source": self.references.source},
            "rows": self.rows,
            "unusable": dict(sorted(self.unusable.counts.items())),
            **costs_used(self.settings),
            "differences": [_difference_json(d) for d in self.differences],
            "notes": list(self.notes),
        }


def log_score(
    sums: LogSums, references: References, source: str, further: Sequence[str] = ()
) -> LogScore:
    """The score from the sums, wherever they were made."""
    settings = sums.settings
    keys = sorted(sums.groups, key=lambda key: [(v is not None, _sortable(v)) for v in key])
    priced = settings.costs is not None
    groups = tuple(
        replace(
            _group(key, sums.groups[key], settings),
            costs=sums.charged[key].get(priced=priced) if key in sums.charged else None,
        )
        for key in keys
    )
    return LogScore(
        groups=groups,
        signature=_signature(sums, references),
        settings=settings,
        references=references,
        rows=sums.rows,
        unusable=sums.unusable,
        notes=(
            *_notes(groups, references, sums.unusable),
            *(sums.named.notes(settings.costs) if settings.costs else ()),
            *further,
        ),
        source=source,
    )


def _group(key: Key, group: Group, settings: Settings) -> LogGroup:
    counts = group.counts()
    pace, over = group.get("pace"), group.get("over")
    physical = group.get("physical")
    judged = counts["weighted_judged"]
    return LogGroup(
        by=dict(zip(settings.by, key, strict=True)),
        streams=int(counts["streams"]),
        decisions=int(counts["decisions"]),
        judged_decisions=int(counts["judged"]),
        seconds=counts["seconds"],
        at_pace=Pooled(
            np.zeros(len(ALL_CLASSES)) if pace is None else pace, group.get("pace_replicates")
        ),
        over=None if over is None else Pooled(over, group.get("over_replicates")),
        physical=None if physical is None else Pooled(physical),
        untimed=counts["weighted_right"] / judged if judged > 0 else None,
        latency=group.latency.to_json(),
        cost=counts["cost"],
        assumed_end=int(counts["assumed_end"]),
        marks={mark: int(counts[mark]) for mark in _MARKS},
    )


def _difference(group: LogGroup, against: LogGroup) -> Difference:
    one, two = group.at_pace, against.at_pace
    now = _of_judged(one.seconds) - _of_judged(two.seconds)
    drawn = None
    if (
        one.replicates is not None
        and two.replicates is not None
        and min(group.streams, against.streams) > 1
    ):
        drawn = _of_judged(one.replicates) - _of_judged(two.replicates)

    def change(names: Sequence[str], sign: float = 1.0) -> Change:
        columns = [ALL_CLASSES.index(name) for name in names]
        value = sign * float(now[columns].sum())
        if drawn is None:
            return value, None
        return value, interval_95(sign * drawn[:, columns].sum(axis=1))

    return Difference(
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
        "judged_decisions": group.judged_decisions,
        "seconds": group.seconds,
    }
    if group.over is not None:
        found["log_auc"] = group.over.in_force
        found["log_auc_interval_95"] = (
            _listed(group.over.interval_95) if group.streams > 1 else None
        )
        found["integrated"] = {"classes": group.over.classes()}
    if group.physical is not None:
        found["physical"] = {
            "in_force": group.physical.in_force,
            "classes": group.physical.classes(),
        }
    if group.costs is not None:
        found |= costs_json(group.costs, several=group.streams > 1)
    if group.cost:
        found["cost"] = {"total": group.cost, "per_hour": group.cost / group.seconds * 3600}
    return found


def _difference_json(difference: Difference) -> dict[str, Any]:
    def one(change: Change) -> dict[str, Any]:
        return {"value": _number(change[0]), "interval_95": _listed(change[1])}

    return {
        "by": dict(difference.group.by),
        "against": dict(difference.against.by),
        "in_force": one(difference.in_force),
        "causes": {cause: one(change) for cause, change in difference.causes.items()},
        "classes": {name: one(change) for name, change in difference.classes.items()},
    }


def _signature(sums: LogSums, references: References) -> str:
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


def _notes(groups: Sequence[LogGroup], references: References, unusable: Unusable) -> list[str]:
    found = [references.note] if references.note else []
    streams = sum(group.streams for group in groups)
    for mark, says in _MARKS.items():
        marked = sum(group.marks[mark] for group in groups)
        if marked:
            found.append(says if marked == streams else f"{marked} of {streams} streams: {says}")
    assumed = sum(group.assumed_end for group in groups)
    if assumed:
        found.append(
            f"{assumed} of {streams} streams have no ended_at: each was taken"
            " to end one median gap after its last state"
        )
    found += [
        f"{count} {'row' if count == 1 else 'rows'} left out: {REASONS[reason].what}"
        for reason, count, _ in unusable.ordered()
    ]
    return found


def _listed(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else [interval[0], interval[1]]


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _sortable(value: Any) -> tuple[int, float, str]:
    if isinstance(value, bool | int | float):
        return (0, float(value), "")
    return (1, 0.0, str(value))
