"""A log added up: whole streams are scored, by group and by day, parts merge; with a cost file also what
wrong time costs, and which of the file's names the log shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Activations,
    Floats,
    Ints,
    JoinedTimelines,
    joined,
)
from streamdecisionbench.kernel.classes import ALL_CLASSES
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import (
    batches,
    classify_time,
    table_of,
    tables,
)
from streamdecisionbench.logs.engines.engine import StreamSums
from streamdecisionbench.logs.log_schema import kind_of
from streamdecisionbench.logs.stream_arrays import (
    StreamArrays,
    flat_streams,
    number_column,
    plain_array,
    shown_values,
    spelled,
    text_column,
)
from streamdecisionbench.logs.worst_streams import (
    Key,
    StreamsAsked,
    StreamsShown,
)
from streamdecisionbench.policies.cost_rules import (
    Costs,
    Section,
    fields_of,
)
from streamdecisionbench.scoring.intervals import (
    RESAMPLES,
    stream_keys,
)
from streamdecisionbench.scoring.stream_costs import (
    CostSums,
    StreamCosts,
    joined_costs,
    stream_costs,
)
from streamdecisionbench.scoring.stream_sums import (
    COUNTS,
    Group,
    LatencySums,
    StreamRows,
)
from streamdecisionbench.text import (
    decision_text,
    plural,
    printable,
)

if TYPE_CHECKING:
    import pyarrow as pa


DAY = "day"
"""Groups streams by the day they began on (UTC), where no column has that name."""
MOST_GROUPS = 2000
FAMILY = "family"
"""The column that picks a stream's section of a cost file."""

Name = tuple[str, str | None]
"""A field and one of its values, or the field alone."""

_REMEMBERED = 100_000
_SHOWN = 5
_MOST_VALUES = 1000
_ENOUGH = 5
"""Judged rows from which on a decision that is never right is worth a word."""


@dataclass
class CostNames:
    """The families of a log's streams, and those names of their sections that its decisions have."""

    seen: dict[str, set[Name]] = field(default_factory=dict)
    _fields: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    _met: set[tuple[str, str]] = field(default_factory=set, repr=False)

    def values(
        self, found: StreamArrays, families: Sequence[str], costs: Costs | None
    ) -> list[Mapping[str, str]]:
        """What each decision id says; notes which names of the cost file it has."""
        texts = found.texts if isinstance(found.texts, list) else found.texts.to_pylist()
        if len(self._fields) > _REMEMBERED:
            self._fields.clear()
            self._met.clear()
        values: list[Mapping[str, str]] = [
            self._fields[text]
            if text in self._fields
            else self._fields.setdefault(text, fields_of(text))
            for text in texts
        ]
        if costs is not None:
            self._meet(found, families, costs, texts)
        return values or [{}]

    def merge(self, other: CostNames) -> None:
        for family, names in other.seen.items():
            self.seen.setdefault(family, set()).update(names)

    def notes(self, costs: Costs) -> list[str]:
        """What a reader of the costs must be told: sections that are not used, names never met."""
        found = []
        others = sorted(family for family in self.seen if family not in costs.families)
        if costs.families and others:
            shown = ", ".join(repr(name) for name in others[:_SHOWN] if name)
            found.append(
                f"costs: no section for family {shown}; `default` was used"
                if shown
                else "costs: the log has no column 'family', so the section `default` was used"
            )
        for family, names in sorted(self.seen.items()):
            missing = sorted(_names(costs.section(family)) - names, key=str)
            if missing:
                shown = ", ".join(
                    name if value is None else f"{name} = {value}"
                    for name, value in islice(missing, _SHOWN)
                )
                more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
                of = f" of family {family!r}" if family else ""
                found.append(f"costs: no decision{of} in this log has {shown}{more}")
        return found

    def _meet(
        self, found: StreamArrays, families: Sequence[str], costs: Costs, texts: Sequence[str]
    ) -> None:
        place: dict[str, int] = {}
        of = np.repeat([place.setdefault(name, len(place)) for name in families], found.n)
        width = len(texts) + 1
        keys = np.concatenate([of * width + np.maximum(ids, -1) + 1 for ids in (found.y, found.p)])
        names = list(place)
        for family in names:
            self.seen.setdefault(family, set())
        for key in np.unique(keys).tolist():
            family, text = names[key // width], texts[key % width - 1] if key % width else None
            if text is None or (family, text) in self._met:
                continue
            self._met.add((family, text))
            said = self._fields[text]
            self.seen[family] |= _names(costs.section(family)) & {
                name for item in said.items() for name in (item, (item[0], None))
            }


def _names(section: Section) -> set[Name]:
    """Fields and values a section names."""
    found: set[Name] = {(name, None) for name in section.fields}
    for pair in section.pairs:
        found |= {(pair.field, value) for value in (pair.reference, pair.decision) if value}
    for act in section.acts:
        found |= set(act.when.items())
        found |= {(name, None) for name in act.fields}
    return found


@dataclass
class ValueCounts:
    """How often each value is a reference, a decision, one that can be judged, and right: what is never
    met on one side may be spelled differently on the other."""

    counts: dict[str, list[int]] = field(default_factory=dict)
    """By value; of a decision with fields by field."""
    many: bool = False
    """Too many to compare."""
    fractions: dict[str, set[str]] = field(default_factory=dict)
    """The decimal fractions among decisions and references, as they are written, by column."""

    def add(self, found: StreamArrays) -> None:
        self._add_fractions(found.fractions)
        if self.many or len(found.texts) > _MOST_VALUES:
            self.many = True
            return
        texts = found.texts if isinstance(found.texts, list) else found.texts.to_pylist()
        y, p = found.y, found.p
        sides = (y, p, np.where(y >= 0, p, -1), np.where(y == p, p, -1))
        rows = np.stack([np.bincount(one[one >= 0], minlength=len(texts)) for one in sides], axis=1)
        for text, row in zip(texts, rows.tolist(), strict=True):
            fields = fields_of(text) if text.startswith("{") else {}
            for name in [f"{k} = {v}" for k, v in fields.items()] or [text]:
                before = self.counts.get(name, [0, 0, 0, 0])
                self.counts[name] = [a + b for a, b in zip(before, row, strict=True)]
        self.many = len(self.counts) > _MOST_VALUES

    def merge(self, other: ValueCounts) -> None:
        for name, row in other.counts.items():
            before = self.counts.get(name, [0, 0, 0, 0])
            self.counts[name] = [a + b for a, b in zip(before, row, strict=True)]
        self.many |= other.many or len(self.counts) > _MOST_VALUES
        self._add_fractions(other.fractions)

    def _add_fractions(self, more: Mapping[str, set[str]]) -> None:
        for column, texts in more.items():
            own = self.fractions.setdefault(column, set())
            own |= set(islice(sorted(texts - own), max(0, _MOST_VALUES - len(own))))

    def _one_number(self) -> list[str]:
        """One program writes one number one way: two ways in a column may be two names."""
        for column, texts in sorted(self.fractions.items()):
            ways: dict[str | None, list[str]] = {}
            for text in sorted(texts):
                ways.setdefault(decision_text(text), []).append(text)
            for one in ways.values():
                if len(one) > 1:
                    return [
                        f"column {column!r} has {' and '.join(f'`{w}`' for w in one[:_SHOWN])}, which are"
                        " one number and count as one decision; if they are names, such as versions,"
                        " put a letter before them in decision and reference with --sql:"
                        f" 'v' || {column} AS {column}"
                    ]
        return []

    def notes(self) -> list[str]:
        """Values that only one side has, where the other side has such values too, and decisions that
        were never right. A reference that was never decided is by itself an ordinary mistake."""
        told = np.array(list(self.counts.values()) or [[0] * 4])
        first, lines = self._one_number(), []
        if self.many or not told[:, 0].any() or not told[:, 2].any():
            return first
        doubtful = self._doubtful()
        for name, (right, said, judged, hit) in sorted(
            self.counts.items(), key=lambda item: (-max(item[1]), item[0])
        ):
            shown = f"`{printable(name[:60])}`"
            if right and not said:
                if name not in doubtful:
                    continue
                rows = plural(right, "row")
                lines.append(
                    f"{shown} is a reference in {rows} and never a decision: spelled differently?"
                )
            elif not hit and (judged >= _ENOUGH or name in doubtful):
                asked = ", nor a reference anywhere: spelled differently?"
                asked = asked if name in doubtful else ""
                lines.append(
                    f"{shown} is a decision in {plural(judged, 'judged row')} and right in none{asked}"
                )
        more = len(lines) - 2 * _SHOWN
        if more > 0:
            lines = [*lines[: 2 * _SHOWN], f"and {more} more values that only one side has"]
        return first + lines

    def _doubtful(self) -> set[str]:
        """Values of one side alone that may be the other side's in another spelling.

        Either the two differ in case and punctuation only, or both sides of a field have values of
        their own in several rows.
        """
        sides: dict[str, tuple[dict[str, int], dict[str, int]]] = {}
        for name, (right, said, judged, _) in self.counts.items():
            field_name = name.partition(" = ")[0] if " = " in name else ""
            references, decisions = sides.setdefault(field_name, ({}, {}))
            if right and not said:
                references[name] = right
            elif judged and not right:
                decisions[name] = judged
        found: set[str] = set()
        for references, decisions in sides.values():
            if min(sum(references.values()), sum(decisions.values())) >= _ENOUGH:
                found |= {*references, *decisions}
            plain = [{_letters(name) for name in side} for side in (references, decisions)]
            alike = plain[0] & plain[1]
            found |= {name for name in (*references, *decisions) if _letters(name) in alike}
        return found


def _letters(name: str) -> str:
    """
    >>> _letters("Hand-Off ") == _letters("hand_off")
    True
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum())


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is asked of a log."""

    by: tuple[str, ...] = ()
    interval: float | None = None
    bounds: Bounds | None = None
    seed: int = 0
    resamples: int = RESAMPLES
    costs: Costs | None = None
    theta: float | None = None
    """Without it neither spells nor changes nor costs are measured."""
    days: bool = False
    """Streams are also grouped by the day they began on, within their groups."""
    streams: bool = False
    """Streams are also kept one by one."""
    show: StreamsAsked | None = None
    """Which streams are also kept whole, with which decision was in force while which was right."""

    @property
    def by_day(self) -> tuple[str, ...]:
        """The columns that tell groups and days apart."""
        return self.by if DAY in self.by else (*self.by, DAY)

    @property
    def columns(self) -> tuple[str, ...]:
        """What is read beside the kernel's columns: a stream's family picks its costs."""
        costs = (FAMILY,) if self.costs is not None else ()
        states = ("state",) if self.show is not None and self.show.states else ()
        return (*self.by, *costs, *((DAY,) if self.days else ()), *states)


@dataclass
class LogSums(StreamSums):
    """The sums of every group, with what could not be used."""

    settings: LogSettings
    groups: dict[Key, Group] = field(default_factory=dict)
    days: dict[Key, Group] = field(default_factory=dict)
    """The same streams by group and day, where that was asked for and they are not too many."""
    too_many_days: bool = False
    charged: dict[Key, CostSums] = field(default_factory=dict)
    """Of the groups: spells, changes, acts and costs, where they were asked for."""
    fingerprint: int = 0
    """A sum over streams, so that the same streams give the same whatever their order."""
    named: CostNames = field(default_factory=CostNames)
    """What of the cost file the log has."""
    kept: dict[Key, list[StreamRows]] = field(default_factory=dict)
    """Streams of every group one by one, where they were asked for."""
    scattered: int = 0
    """Streams without a known end that lie in several files."""
    origins: Counter[int] = field(default_factory=Counter)
    """How many references came from each source, by its number; 0 is the log's own column."""
    values: ValueCounts = field(default_factory=ValueCounts)
    latest: float = 0.0
    """When the last of the streams began, where times are numbers."""
    shown: StreamsShown | None = None
    """Single streams and mix-ups, where they were asked for."""

    def __post_init__(self) -> None:
        if self.settings.show is not None:
            self.shown = StreamsShown(self.settings.show)

    @property
    def grouping(self) -> Sequence[str]:
        return self.settings.by

    def take(self, found: StreamArrays, table: pa.Table) -> None:
        settings = self.settings
        first = table.take(found.row)
        self.scattered += found.scattered
        self.origins.update(dict(enumerate(found.origins.tolist())))
        self.values.add(found)
        began = plain_array(first.column("published_at"))
        if kind_of(began.type) == "seconds":
            self.latest = max(self.latest, float(np.max(number_column(began))))
        names = _lived_through(first)
        keys = stream_keys(names, settings.seed)
        self.fingerprint = (self.fingerprint + _fingerprint(keys, found)) % (1 << 64)
        rows = _score(found, keys, settings)
        if settings.streams:
            rows = replace(rows, names=np.array(names, dtype=object))
        groups = grouped(first, settings.by)
        for key, streams in groups:
            own = self._add(self.groups, key, streams, rows, found)
            self._check_groups()
            if settings.streams:
                self.kept.setdefault(key, []).append(own)
        for key, streams in grouped(first, settings.by_day) if settings.days else ():
            self._add(self.days, key, streams, rows, found)
            self._check_days()
        if self.shown is not None:
            flats = ((portion[0], _flat(found, portion)) for portion in _portions(found.n))
            seconds = rows.pace[:, : len(ALL_CLASSES)] * rows.time[:, None]
            self.shown.take(found, table, flats, groups, seconds, settings.interval)
        charged = self._charge(found, first)
        if charged is not None:
            for key, streams in groups:
                sums = self.charged.setdefault(key, CostSums())
                part = charged if len(streams) == len(found.n) else charged.take(streams)
                sums.add(part, found.weight[streams], keys[streams], settings.resamples)

    def merge(self, other: Self) -> None:
        super().merge(other)
        for own, given in ((self.groups, other.groups), (self.days, other.days)):
            for key, group in given.items():
                own.setdefault(key, Group()).merge(group)
        self._check_groups()
        self.too_many_days |= other.too_many_days
        self._check_days()
        for key, charged in other.charged.items():
            self.charged.setdefault(key, CostSums()).merge(charged)
        self.fingerprint = (self.fingerprint + other.fingerprint) % (1 << 64)
        self.named.merge(other.named)
        for key, kept in other.kept.items():
            self.kept.setdefault(key, []).extend(kept)
        self.scattered += other.scattered
        self.origins.update(other.origins)
        self.values.merge(other.values)
        self.latest = max(self.latest, other.latest)
        if self.shown is not None and other.shown is not None:
            self.shown.merge(other.shown)

    def _add(
        self,
        groups: dict[Key, Group],
        key: Key,
        streams: Ints,
        rows: StreamRows,
        found: StreamArrays,
    ) -> StreamRows:
        """Adds the streams that belong to a group, and gives them back."""
        latencies = found.L
        if len(streams) < len(found.n):
            rows = _take(rows, streams)
            chosen = np.zeros(len(found.n), dtype=bool)
            chosen[streams] = True
            latencies = latencies[np.repeat(chosen, found.n)]
        answered = latencies[np.isfinite(latencies)]
        group = groups.setdefault(key, Group())
        group.add(rows, answered, self.settings.resamples)
        members = found.members
        if members is not None:
            mine = np.isin(members.stream, streams)
            for k, name in enumerate(members.names):
                took = members.seconds[mine & (members.member == k)]
                if len(took):
                    group.members.setdefault(name, LatencySums()).add(took)
        return rows

    def _charge(self, found: StreamArrays, first: pa.Table) -> StreamCosts | None:
        """Spells, changes, acts and costs, where they were asked for."""
        settings = self.settings
        if settings.theta is None:
            return None
        families = [""] * len(found.n)
        if settings.costs is not None and FAMILY in first.schema.names:
            families = [str(name) for name in plain_array(first.column(FAMILY)).to_pylist()]
        values = self.named.values(found, families, settings.costs)
        parts = [
            stream_costs(
                _flat(found, (streams, decisions)).worded(values),
                families[streams],
                costs=settings.costs,
                theta=settings.theta,
                interval=settings.interval,
                bounds=settings.bounds,
            )
            for streams, decisions in _portions(found.n)
        ]
        return joined_costs(parts)

    def _check_days(self) -> None:
        self.too_many_days |= len(self.days) > MOST_GROUPS
        if self.too_many_days:
            self.days.clear()

    def _check_groups(self) -> None:
        if len(self.groups) > MOST_GROUPS:
            raise InputError(
                f"--by {' --by '.join(self.settings.by)} makes more than {MOST_GROUPS} groups",
                fix="group by a column with few values, such as a model or a region",
            )


def _lived_through(first: pa.Table) -> list[str]:
    """What each stream is resampled as: a meter's shadow lived through the stream that it shadowed.

    Its stream is called like that one with ~component behind, so that the two are drawn together.
    """
    names: list[str] = text_column(plain_array(first.column("stream"))).to_pylist()
    if "component" not in first.schema.names:
        return names
    components = plain_array(first.column("component")).to_pylist()
    return [
        name.removesuffix(f"~{component}")
        for name, component in zip(names, components, strict=True)
    ]


def _score(found: StreamArrays, keys: NDArray[np.uint64], settings: LogSettings) -> StreamRows:
    scored, applied = [], []
    for portion in _portions(found.n):
        flat = _flat(found, portion)
        scored.append(
            tables(flat, interval=settings.interval, bounds=settings.bounds, segments=False)
        )
        applied.append(_physical(found, portion, flat))
    right = found.p == found.y
    known = found.y >= 0
    begins = np.cumsum(found.n) - found.n
    judged = np.add.reduceat(known, begins, dtype=np.float64)
    hits = np.add.reduceat(right, begins, dtype=np.float64)
    scale = 1.0 if settings.interval is None else settings.interval / found.tick
    counts = {
        "streams": np.ones(len(found.n)),
        "decisions": found.n.astype(np.float64),
        "judged": judged,
        "seconds": found.H,
        "weighted_judged": judged * found.weight,
        "weighted_right": hits * found.weight,
        "cost": found.cost,
        "assumed_end": found.assumed_end.astype(np.float64),
        "cascade": found.cascade.astype(np.float64),
        **{mark: streams.astype(np.float64) for mark, streams in found.marks.items()},
    }
    return StreamRows(
        keys=keys,
        counts=np.stack([counts[name] for name in COUNTS], axis=1),
        time=found.weight * found.H * scale,
        length=found.weight * found.H / found.tick,
        as_it_ran=found.weight * found.H,
        pace=np.concatenate([one.at for one in scored]),
        older=np.concatenate([one.older_judgment for one in scored]),
        over=joined([one.over for one in scored]),
        physical=joined(applied),
    )


def _portions(n: Ints) -> list[tuple[slice, slice]]:
    """Streams and their decisions, some thousand at a time."""
    ends = np.cumsum(n)
    return [
        (batch, slice(int(ends[batch.start] - n[batch.start]), int(ends[batch.stop - 1])))
        for batch in batches(n)
    ]


def _physical(
    found: StreamArrays, portion: tuple[slice, slice], flat: JoinedTimelines
) -> Floats | None:
    """What the application says it did, in the order it did it: of two at once the newer source."""
    if found.applied is None:
        return None
    applied = found.applied[portion[1]]
    source = np.flatnonzero(applied < flat.H[flat.scenario])
    source = source[np.lexsort((source, applied[source], flat.scenario[source]))]
    took = Activations(flat.scenario[source], source, flat.p[source], applied[source])
    return table_of(flat, classify_time(flat, took), segments=False)


def _flat(found: StreamArrays, portion: tuple[slice, slice]) -> JoinedTimelines:
    streams, decisions = portion
    return flat_streams(found, streams, decisions, found.y[decisions])


def _take(rows: StreamRows, streams: Ints) -> StreamRows:
    there = {one.name: getattr(rows, one.name) for one in fields(rows)}
    return StreamRows(**{name: v[streams] for name, v in there.items() if v is not None})


def grouped(first: pa.Table, by: Sequence[str]) -> list[tuple[Key, Ints]]:
    """The groups that streams belong to, given every stream's first row."""
    if not by:
        return [((), np.arange(first.num_rows))]
    code = np.zeros(first.num_rows, dtype=np.int64)
    values: list[list[Any]] = []
    for name in by:
        distinct, of_stream = _distinct(first, name)
        code = code * (len(distinct) + 1) + of_stream
        values.append([distinct[k] for k in of_stream])
    _, sample, group = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return [
        (tuple(column[k] for column in values), part)
        for k, part in zip(sample.tolist(), parts, strict=True)
    ]


def _distinct(first: pa.Table, name: str) -> tuple[list[Any], Ints]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if name == DAY and name not in first.schema.names:
        column = plain_array(first.column("published_at"))
        column = column.cast(pa.timestamp("s", "UTC"), safe=False).cast(pa.date32())
    else:
        column = plain_array(first.column(name))
    encoded = column.dictionary_encode(null_encoding="encode")
    plain = [v if v is None else _label(v) for v in shown_values(encoded.dictionary)]
    return plain, np.asarray(pc.fill_null(encoded.indices, 0)).astype(np.int64)


def _label(value: Any) -> str:
    """A group's name: the same whatever format the log came in."""
    return spelled(value) if isinstance(value, str | bool | int | float | Decimal) else str(value)


def _fingerprint(keys: NDArray[np.uint64], found: StreamArrays) -> int:
    """Which streams, when and how fast, and which answers were right: a sum that has no order."""
    begins = np.cumsum(found.n) - found.n
    with np.errstate(over="ignore"):
        mixed = keys.copy()
        for values in (found.r, found.L, np.where(found.y < 0, 0.0, 1.0 + (found.p == found.y))):
            bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
            place = np.arange(1, len(bits) + 1, dtype=np.uint64) - np.repeat(
                begins, found.n
            ).astype(np.uint64)
            mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + np.add.reduceat(bits * place, begins)
            mixed ^= mixed >> np.uint64(29)
        return int(mixed.sum(dtype=np.uint64))
