"""Which moments of a log people are asked about, so that a few hundred answers say how much of the time
the decision in force was right.

A *moment* is a stream and an instant in it. Time is cut into *strata*: a group's time by what silver
references say of it (right, wrong, unknown), or simply all that has a decision in force, and the time in
which nothing is in force. Within a stratum moments are drawn independently, every second alike, times the
stream's weight; how much of a group's time a stratum is, W, the log says exactly.

A draw is a race. For moment j of a stratum every stream s runs with an exponential time −ln U(s, j) / w_s,
w_s its weighted seconds in the stratum; the first one has it, with probability w_s / Σ w, and a second
number says where in its time. U is read off a hash of seed, stratum, stream and j. So one pass suffices,
parts can be drawn anywhere and merged, and what is drawn depends on the order of nothing.

Nothing that people see tells what was decided: an item is a state, asked once however many moments need
it, and items are ordered by a hash of the state.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from streamdecisionbench._version import __version__
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    UNKNOWN,
    Floats,
    Ints,
)
from streamdecisionbench.kernel.classes import (
    CORRECT,
    UNJUDGED,
)
from streamdecisionbench.kernel.shares import classify_time
from streamdecisionbench.kernel.trajectory import activations_of
from streamdecisionbench.labels.label_files import (
    GUIDE_FILE,
    ITEMS_FILE,
    LABELS_FOLDER,
    OTHER,
    SAMPLE_FILE,
    AnswerForm,
    Item,
    ItemQuestion,
    write_items,
)
from streamdecisionbench.logs.engines.engine import Engine, ProgressReported, StreamSums
from streamdecisionbench.logs.log_files import find_files
from streamdecisionbench.logs.log_references import (
    Judge,
    ReferenceSource,
    attach_references,
    read_state,
)
from streamdecisionbench.logs.log_schema import kind_of
from streamdecisionbench.logs.log_score import (
    SCORED,
    check_by,
    in_order,
)
from streamdecisionbench.logs.log_source import LogSource, query_of
from streamdecisionbench.logs.log_sums import grouped
from streamdecisionbench.logs.stream_arrays import (
    StreamArrays,
    flat_streams,
    plain_array,
    stream_begins,
    text_column,
    times,
)
from streamdecisionbench.logs.suite_of_log import Asked, asked_by_decisions
from streamdecisionbench.logs.worst_streams import Key
from streamdecisionbench.render.sentences import NO_USABLE_STREAM
from streamdecisionbench.scoring.intervals import (
    drawn_sums,
    stream_keys,
)
from streamdecisionbench.suite.file_io import (
    make_folder,
    require_empty,
    write_bytes,
    write_text,
)
from streamdecisionbench.text import (
    compact_json,
    decision_text,
    plural,
)

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = "sdb-audit-sample/1"
RIGHT, WRONG, SILENT, DECIDED, NONE = SAYS = ("right", "wrong", "unknown", "decided", "none")
"""What is known of a second before anybody is asked: what silver says of the decision in force, or only
that there is one (`decided`), or none."""
FLOOR = 5
"""Moments that every stratum gets where there are enough of them."""
RESAMPLES = 500

_SPREAD = {RIGHT: 0.2, WRONG: 0.5, SILENT: 0.5, DECIDED: 0.5, NONE: 0.0}
"""How much answers are expected to vary in a stratum: √(p(1 − p)) with 4 % errors where silver says
right, and as good as anything elsewhere. It sets how many moments go where, never what they say."""
_AT_ONCE = 1 << 20
"""Runs of a race that lie in memory together."""
_MOST_DECISIONS = 100_000
_GUIDE = """\
# What is right

Write here what those who answer must know: the rules, what each answer means, and what to do where two
rules seem to apply. They see this beside every state.
"""


class Moment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A second of a stream that stands for `share` of its group's time."""

    stratum: int
    stream: str
    at: float
    """The instant, in seconds since the stream's start."""
    share: float
    item: str
    """The state that is current then."""
    published_at: float | int
    decision: str | None = None
    """In force, in canonical form."""
    source: str | None = None
    """The item of the state it was given for, where that is an older one."""
    source_published_at: float | int | None = None
    silver: str | None = None
    """What silver says is right then."""


class Stratum(msgspec.Struct, frozen=True):
    """Time of one group of which the same is known beforehand."""

    group: int
    says: str
    """One of `SAYS`."""
    seconds: float
    """Times weight."""
    share: float
    """W: of its group's time."""
    streams: int
    moments: int
    replicates: list[float]
    """Its seconds in replicates of the log whose streams were drawn again."""


class SampledGroup(msgspec.Struct, frozen=True):
    by: dict[str, Any]
    streams: int
    seconds: float


class SampledSource(msgspec.Struct, frozen=True):
    """What was sampled, to recognise it."""

    name: str
    files: list[str] = []
    """As they were named, from the root; empty for a table in memory."""
    digest: str | None = None
    """SHA-256 of the files' bytes."""
    sql: str | None = None
    clock: tuple[str, ...] = ("seconds",)
    """What `published_at` is: seconds, or timestamp with its unit and, where it has one, its time zone."""


class AuditSample(msgspec.Struct, frozen=True):
    """How an audit was drawn: everything an estimate needs beside the answers."""

    schema: str
    source: SampledSource
    by: list[str]
    seed: int
    census: bool
    """Every stretch of time is there, weighed by its length: nothing was left to chance."""
    silver: dict[str, str] | None
    asked: AnswerForm
    items: int
    groups: list[SampledGroup]
    strata: list[Stratum]
    moments: list[Moment]
    notes: list[str]
    signature: str


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A moment with the states it is about, as the log has them."""

    stream: str
    at: float
    seconds: float
    """How long nothing changes around it, times weight."""
    published_at: float | int
    state: str
    before: str | None
    decision: str | None
    silver: str | None
    source: tuple[float | int, str, str | None] | None
    """When the state of the decision in force was published, that state, and the one before."""


@dataclass
class _Stratum:
    """One stratum while streams come in: its time, and who is ahead in the race for each moment."""

    slots: int
    resamples: int
    seconds: float = 0.0
    streams: int = 0

    def __post_init__(self) -> None:
        self.replicates = np.zeros(self.resamples)
        self.best = np.full(self.slots, np.inf)
        self.drawn: dict[int, _Drawn] = {}
        self.every: list[_Drawn] = []
        """All cells, of a census."""

    def merge(self, other: _Stratum) -> None:
        self.seconds += other.seconds
        self.streams += other.streams
        self.replicates = self.replicates + other.replicates
        self.every += other.every
        for slot in np.flatnonzero(other.best < self.best).tolist():
            self.drawn[slot] = other.drawn[slot]
        self.best = np.minimum(self.best, other.best)


@dataclass
class MomentSums(StreamSums):
    """The strata of a log, with the moments drawn so far; `slots` 0 keeps all of its time instead."""

    by: tuple[str, ...]
    silver: bool
    slots: int
    seed: int = 0
    resamples: int = RESAMPLES
    strata: dict[tuple[Key, int], _Stratum] = field(default_factory=dict)
    groups: dict[Key, int] = field(default_factory=dict)
    """How many streams each has."""
    decisions: set[str] = field(default_factory=set)
    without_state: int = 0
    known: int = 0
    """States that silver says something of."""

    @property
    def grouping(self) -> Sequence[str]:
        return self.by

    def take(self, found: StreamArrays, table: pa.Table) -> None:
        rows = rows_of(found, table, self.keys(table.schema))
        states = text_column(plain_array(table.column("state")))
        self.without_state += int(states.take(rows).null_count)
        if self.without_state:
            return
        texts = found.texts if isinstance(found.texts, list) else found.texts.to_pylist()
        if len(self.decisions) < _MOST_DECISIONS:
            self.decisions |= {texts[k] for k in np.unique(found.p[found.p >= 0]).tolist()}
        self.known += int((found.y >= 0).sum())
        cells = _cells(found, silver=self.silver)
        first = table.take(found.row)
        names = [str(name) for name in plain_array(first.column("stream")).to_pylist()]
        batch = _Batch(found, table, rows, states, names, texts, np.cumsum(found.n) - found.n)
        for key, streams in grouped(first, self.by):
            self.groups[key] = self.groups.get(key, 0) + len(streams)
            inside = np.zeros(len(found.n), dtype=bool)
            inside[streams] = True
            for says in range(len(SAYS)):
                here = np.flatnonzero(inside[cells.stream] & (cells.says == says))
                if len(here):
                    self._add(key, says, batch, cells.take(here))

    def merge(self, other: Self) -> None:
        super().merge(other)
        for place, one in other.strata.items():
            if place in self.strata:
                self.strata[place].merge(one)
            else:
                self.strata[place] = one
        for key, streams in other.groups.items():
            self.groups[key] = self.groups.get(key, 0) + streams
        self.decisions |= other.decisions
        self.without_state += other.without_state
        self.known += other.known

    def _add(self, key: Key, says: int, batch: _Batch, cells: _Cells) -> None:
        """Cells of one stratum: their time, and whoever now leads the race for a moment."""
        stratum = self.strata.setdefault((key, says), _Stratum(self.slots, self.resamples))
        seconds: Floats = np.bincount(cells.stream, cells.seconds, len(batch.names)).astype(float)
        streams = np.flatnonzero(seconds > 0)
        stratum.seconds += float(seconds.sum())
        stratum.streams += len(streams)
        names = [batch.names[k] for k in streams.tolist()]
        stratum.replicates = (
            stratum.replicates
            + drawn_sums(
                stream_keys(names, self.seed), seconds[streams][:, None], self.resamples
            ).T[0]
        )
        if not self.slots:
            stratum.every += [batch.drawn(cells, k, 0.0) for k in range(len(cells.stream))]
            return
        salt = compact_json([SAYS[says], *map(str, key)])
        keys = stream_keys([f"{salt}/{name}" for name in names], self.seed)
        # Even places say who is drawn, odd ones where in its time.
        run = 2 * np.arange(1, self.slots + 1)
        at_once = max(1, _AT_ONCE // self.slots)
        for begin in range(0, len(streams), at_once):
            part = slice(begin, begin + at_once)
            race = -np.log(_uniform(keys[part], run)) / seconds[streams[part]][:, None]
            first = race.argmin(axis=0)
            ahead = race[first, np.arange(self.slots)]
            for slot in np.flatnonzero(ahead < stratum.best).tolist():
                k = begin + int(first[slot])
                where = float(_uniform(keys[k : k + 1], run[slot : slot + 1] + 1)[0, 0])
                stratum.drawn[slot] = batch.drawn(cells, *cells.place(int(streams[k]), where))
            stratum.best = np.minimum(stratum.best, ahead)


@dataclass(frozen=True, slots=True)
class _Cells:
    """Stretches of streams in which neither the state nor the decision in force changes."""

    stream: Ints
    step: Ints
    source: Ints
    """The step whose decision is in force; −1: none."""
    decision: Ints
    """Its id; −1: none."""
    begin: Floats
    end: Floats
    seconds: Floats
    """Times weight."""
    says: Ints

    def take(self, keep: Ints) -> _Cells:
        return _Cells(*(getattr(self, name)[keep] for name in _Cells.__dataclass_fields__))

    def place(self, stream: int, share: float) -> tuple[int, float]:
        """After this share of a stream's time here: the cell, and how far into it."""
        begin, end = np.searchsorted(self.stream, [stream, stream + 1]).tolist()
        reached = np.cumsum(self.seconds[begin:end])
        target = share * reached[-1]
        at = min(int(np.searchsorted(reached, target, side="right")), end - begin - 1)
        into = float((target - reached[at]) / self.seconds[begin + at]) + 1.0
        return begin + at, min(max(into, 0.0), 1.0)


def _cells(found: StreamArrays, *, silver: bool) -> _Cells:
    """Streams at the pace at which they were recorded, cut as the scorer cuts them."""
    y = found.y if silver else np.full_like(found.y, UNKNOWN)
    flat = flat_streams(found, slice(None), slice(None), y)
    effects = activations_of(flat, flat.r + flat.L)
    cut = classify_time(flat, effects)
    seconds = (cut.end - cut.begin) * found.weight[cut.scenario]
    if silver:
        says = np.where(np.isin(cut.column, CORRECT), SAYS.index(RIGHT), SAYS.index(WRONG))
        says = np.where(cut.column == UNJUDGED, SAYS.index(SILENT), says)
    else:
        says = np.full(len(seconds), SAYS.index(DECIDED))
    said, own = (np.append(ids, -1)[cut.piece] for ids in (effects.decision, effects.source))
    said = np.where(said < 0, -1, said - flat.offset[cut.scenario])
    says, own = np.where(said < 0, SAYS.index(NONE), says), np.where(said < 0, -1, own)
    cells = _Cells(cut.scenario, cut.step, own, said, cut.begin, cut.end, seconds, says)
    return cells.take(np.flatnonzero(seconds > 0))


@dataclass(frozen=True)
class _Batch:
    """Streams of one portion of the log, and where to look up what a moment is about."""

    found: StreamArrays
    table: pa.Table
    rows: Ints
    """The table's row of every step."""
    column: pa.Array
    """Its states."""
    names: Sequence[str]
    texts: Sequence[str]
    first: Ints
    """The first step of every stream."""

    @cached_property
    def states(self) -> list[str]:
        """By step."""
        found: list[str] = self.column.take(self.rows).to_pylist()
        return found

    @cached_property
    def published(self) -> list[float] | list[int]:
        """By step, in the log's own unit."""
        import pyarrow as pa

        column = plain_array(self.table.column("published_at")).take(self.rows)
        whole = kind_of(column.type) == "timestamp"
        found: list[float] = column.cast(pa.int64() if whole else pa.float64()).to_pylist()
        return found

    def drawn(self, cells: _Cells, k: int, into: float) -> _Drawn:
        """The moment that far into cell k."""
        step, source = int(cells.step[k]), int(cells.source[k])
        stream = int(cells.stream[k])
        begin, end = float(cells.begin[k]), float(cells.end[k])
        silver = int(self.found.y[step])
        return _Drawn(
            stream=self.names[stream],
            at=begin + into * (end - begin),
            seconds=float(cells.seconds[k]),
            published_at=self.published[step],
            state=self.states[step],
            before=self._before(step, stream),
            decision=None if source < 0 else self.texts[int(cells.decision[k])],
            silver=None if silver < 0 else self.texts[silver],
            source=None
            if source in (-1, step)
            else (
                self.published[source],
                self.states[source],
                self._before(source, stream),
            ),
        )

    def _before(self, step: int, stream: int) -> str | None:
        return None if step == self.first[stream] else self.states[step - 1]


def rows_of(found: StreamArrays, table: pa.Table, keys: Sequence[str]) -> Ints:
    """The table's row of every usable state.

    They follow each other in the table, unless a stream has rows that cannot be used; then a state is
    the first row of its stream with its time.
    """
    offset = np.arange(len(found.r)) - np.repeat(np.cumsum(found.n) - found.n, found.n)
    rows: Ints = np.repeat(found.row, found.n) + offset
    begins = np.flatnonzero(stream_begins(table, keys))
    ends = np.append(begins[1:], table.num_rows)
    block = np.searchsorted(begins, found.row, side="right") - 1
    broken = np.flatnonzero((ends - begins)[block] != found.n)
    if len(broken):
        published = times({"at": plain_array(table.column("published_at"))})["at"]
        at = np.cumsum(found.n) - found.n
        for k in broken.tolist():
            inside = slice(int(begins[block[k]]), int(ends[block[k]]))
            since = published.take(np.arange(inside.start, inside.stop)).since(
                published.value[found.row[k]]
            )
            since = np.where(np.isnan(since), np.inf, since)
            own = slice(int(at[k]), int(at[k] + found.n[k]))
            rows[own] = inside.start + np.searchsorted(since, found.r[own], side="left")
    return rows


def _uniform(keys: NDArray[np.uint64], places: Ints) -> Floats:
    """Numbers in (0, 1), one per stream (row) and place (column)."""
    with np.errstate(over="ignore"):
        x = keys[:, None] + places.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(30)
        x *= np.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> np.uint64(27)
        x *= np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    found: Floats = ((x >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return found


def allocate(shares: Mapping[str, float], moments: int) -> dict[str, int]:
    """How many of a group's moments each of its strata gets, by how much of the time it is.

    Every one gets the floor; the rest goes where answers are expected to vary, W·√(p(1 − p)), which
    is more often than its share where silver says wrong.

    >>> allocate({"right": 0.75, "wrong": 0.2, "none": 0.05}, 100)
    {'right': 56, 'wrong': 39, 'none': 5}
    """
    if moments < len(shares):
        raise InputError(
            f"{plural(moments, 'moment is', 'moments are')} too few: a group has {len(shares)} kinds of time"
            f" ({', '.join(shares)}), and every one needs one",
            fix="ask for more with --moments, or group by less",
        )
    floor = min(FLOOR, moments // len(shares))
    rest = moments - floor * len(shares)
    wanted = {says: share * _SPREAD[says] for says, share in shares.items()}
    total = sum(wanted.values())
    exact = {
        says: rest * (value / total if total else shares[says] / sum(shares.values()))
        for says, value in wanted.items()
    }
    found = {says: floor + int(value) for says, value in exact.items()}
    by_remainder = sorted(exact, key=lambda says: (int(exact[says]) - exact[says], says))
    for says in by_remainder[: moments - sum(found.values())]:
        found[says] += 1
    return found


def draw_sample(
    table: Any,
    *,
    moments: int | None = 300,
    by: str | Sequence[str] = (),
    silver: Any = None,
    asked: Asked | None = None,
    seed: int = 0,
    **source: Any,
) -> tuple[AuditSample, list[Item]]:
    """Draws time points of a log and makes the items that people label.

    `table` is any table of `sdb.score_log` or a `LogSource`; further keywords are its fields. `moments` None takes all of the log's time: a census. `silver` is another log, a recording or a
    table, a function of the state or its name, or `column` for the log's own references.
    """
    log = LogSource.of(table, **source)
    allowed = log.allowed
    names = (by,) if isinstance(by, str) else tuple(by)
    if moments is not None and moments < 1:
        raise InputError(f"--moments is {moments}", fix="give a number above 0, or all")
    with log.progress() as told, log.open(told=told) as opened:
        schema = opened.schema()
        if "state" not in schema.names:
            raise InputError(
                "has no column 'state': there is nothing to show to people",
                where=opened.name,
                fix="write what was known when it was decided into the log, as JSON or text, or"
                " name it in a query: --sql with SELECT … AS state FROM source",
            )
        check_by(schema, names, opened.name)
        held = _attach_silver(opened, silver, told)
        columns = (*SCORED, "state", *names)
        if held is None:
            columns = tuple(name for name in columns if name != "reference")
        sums = MomentSums(names, held is not None, moments or 0, seed)
        sums = opened.usable(sums, columns, allowed)
        _require_drawable(sums, opened, held)
        drawn_from = _source(log, opened.name, schema.field("published_at").type)
    return _sample(sums, drawn_from, held, asked, moments, seed)


def write_audit(out: Path, sample: AuditSample, items: Sequence[Item]) -> None:
    """A fresh folder for an audit."""
    require_empty(out)
    make_folder(out / LABELS_FOLDER)
    write_items(out / ITEMS_FILE, items)
    write_text(out / GUIDE_FILE, _GUIDE)
    text = msgspec.json.format(msgspec.json.encode(sample), indent=1)
    write_bytes(out / SAMPLE_FILE, text + b"\n")


def digest_of(files: Sequence[str]) -> str | None:
    """SHA-256 over the bytes of all files that these sources mean; None where some lie elsewhere."""
    found = hashlib.sha256()
    for path in sorted(find_files(files).formats):
        if "://" in path:
            return None
        with Path(path).open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


def state_value(text: str) -> tuple[str, Any]:
    """A state's canonical text, by which states are told apart, and the state itself.

    A state that is not JSON is text, and stays as it is written.

    >>> state_value('{"b": 1.0, "a": "x"}'), state_value("12.50"), state_value('{"b"')
    (('{"a":"x","b":1}', {'a': 'x', 'b': 1}), ('12.50', '12.50'), ('{"b"', '{"b"'))
    """
    text = text.encode("utf-8", "replace").decode()
    key = decision_text(text)
    if key is None:
        return text, text
    key = key.encode("utf-8", "replace").decode()
    if key[:1] in ("{", "["):
        return key, json.loads(key)
    said = read_state(text.strip()).strip().encode("utf-8", "replace").decode()
    return (key, key) if said[:1] in ("{", "[", '"') else (said, said)


def _attach_silver(opened: Engine, silver: Any, told: ProgressReported) -> ReferenceSource | None:
    if silver is None:
        return None
    if isinstance(silver, str) and silver == "column":
        if "reference" not in opened.schema().names:
            raise InputError(
                "has no column 'reference' to take as silver",
                where=opened.name,
                fix="name another log, a recording or python:module:function with --silver",
            )
        return ReferenceSource()
    if callable(silver) or (isinstance(silver, str) and silver.startswith("python:")):
        judge: str | Judge = silver
        return attach_references(opened, None, judge, alone=True, told=told)
    return attach_references(opened, silver, None, alone=True, told=told)


def _require_drawable(sums: MomentSums, opened: Engine, held: ReferenceSource | None) -> None:
    if not sums.rows:
        raise InputError("holds no row", where=opened.name)
    if sums.without_state:
        raise InputError(
            f"has rows without a state, at least {sums.without_state}: nobody could say what was"
            " right then",
            where=opened.name,
            fix="fill them in, or leave such streams out with --sql",
        )
    if not sums.strata:
        raise InputError(NO_USABLE_STREAM, where=opened.name, fix="sdb logs check")
    if not sums.decisions:
        raise InputError(
            "holds no decision: there is nothing that could be right",
            where=opened.name,
            fix="add columns 'decision' and 'answered_at'",
        )
    if held is not None and not sums.known:
        raise InputError(
            f"silver says nothing of any state ({held.text()})",
            where=opened.name,
            fix="check that it is about the same streams and times, or leave --silver out",
        )


def _source(log: LogSource, name: str, clock: pa.DataType) -> SampledSource:
    sql, _ = query_of(log.sql, "")
    paths = log.table if isinstance(log.table, list | tuple) else [log.table]
    files: list[str] = []
    if all(isinstance(path, str | Path) for path in paths):
        files = [str(p) if "://" in str(p) else str(Path(p).absolute()) for p in paths]
    kind: tuple[str, ...] = ("seconds",)
    if kind_of(clock) == "timestamp":
        kind = ("timestamp", clock.unit, *([clock.tz] if clock.tz else []))
    return SampledSource(name, files, digest_of(files) if files else None, sql, kind)


def _sample(
    sums: MomentSums,
    source: SampledSource,
    held: ReferenceSource | None,
    asked: Asked | None,
    moments: int | None,
    seed: int,
) -> tuple[AuditSample, list[Item]]:
    decisions = sorted(sums.decisions)
    asked = asked or asked_by_decisions(decisions)
    form = answer_form(asked, decisions)
    keys = sorted(sums.groups, key=in_order)
    total = {
        key: sum(one.seconds for (own, _), one in sums.strata.items() if own == key) for key in keys
    }
    strata: list[Stratum] = []
    chosen: list[tuple[int, float, _Drawn]] = []
    for group, key in enumerate(keys):
        own = {
            SAYS[says]: sums.strata[k, says]
            for k, says in sorted(sums.strata, key=_place)
            if k == key
        }
        shares = {says: one.seconds / total[key] for says, one in own.items()}
        counts = dict.fromkeys(own, 0)
        if moments is not None:
            counts = allocate(shares, moments // len(keys) + (group < moments % len(keys)))
        for says, one in own.items():
            if moments is None:
                drawn = [(d.seconds / total[key], d) for d in one.every]
            else:
                share = shares[says] / counts[says]
                drawn = [(share, one.drawn[slot]) for slot in range(counts[says])]
            strata.append(
                Stratum(
                    group, says, one.seconds, shares[says], one.streams, len(drawn),
                    [float(f"{value:.7g}") for value in one.replicates.tolist()],
                )
            )  # fmt: skip
            chosen += [(len(strata) - 1, share, d) for share, d in drawn]
    items, name_of = _items(chosen, asked, seed)
    found = [
        Moment(
            stratum=stratum,
            stream=d.stream,
            at=d.at,
            share=share,
            item=name_of(d.state),
            published_at=d.published_at,
            decision=d.decision,
            source=None if d.source is None else name_of(d.source[1]),
            source_published_at=None if d.source is None else d.source[0],
            silver=d.silver if held is not None else None,
        )
        for stratum, share, d in chosen
    ]
    sample = AuditSample(
        schema=SCHEMA,
        source=source,
        by=list(sums.by),
        seed=seed,
        census=moments is None,
        silver=None if held is None else {"kind": held.kind, "source": held.source},
        asked=form,
        items=len(items),
        groups=[
            SampledGroup(
                dict(zip(sums.by, map(_plain, key), strict=True)), sums.groups[key], total[key]
            )
            for key in keys
        ],
        strata=strata,
        moments=found,
        notes=list(sums.unusable.notes()),
        signature=_signature(sums, source, held, moments, seed),
    )
    return sample, items


def _place(stratum: tuple[Key, int]) -> int:
    return stratum[1]


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def answer_form(asked: Asked, decisions: Iterable[str]) -> AnswerForm:
    """How answers are decisions of the log; refused where its own do not fit what is asked."""
    values: dict[str, dict[str, Any]] = {}
    plain = True
    for decision in decisions:
        asked.answers(decision)
        if decision[:1] == "{":
            plain = False
            for name, value in json.loads(decision).items():
                if not isinstance(value, str):
                    values.setdefault(name, {})[compact_json(value)] = value
    if OTHER in asked.questions:
        raise InputError(
            f"a field of its decisions is called {OTHER!r}, which stands for none of the options",
            fix="call it something else with --sql",
        )
    return AnswerForm(asked.decision_spec, plain, dict(asked.always), values)


def _items(
    chosen: Sequence[tuple[int, float, _Drawn]], asked: Asked, seed: int
) -> tuple[list[Item], Callable[[str], str]]:
    """Every state once, in the order of a hash, and the item of each state as the log has it."""
    questions = {
        name: ItemQuestion(q.instructions, dict(q.options)) for name, q in asked.questions.items()
    }
    before: dict[str, tuple[tuple[str, float | int], str | None]] = {}
    values: dict[str, Any] = {}
    known: dict[str, str] = {}
    for _, _, d in chosen:
        own = [(d.published_at, d.state, d.before), *([d.source] if d.source else [])]
        for published, state, previous in own:
            key, value = state_value(state)
            known[state] = key
            values[key] = value
            here = (d.stream, published)
            # Of a state that came several times, what came before it first.
            if key not in before or here < before[key][0]:
                before[key] = here, previous
    salt = seed.to_bytes(8, "little", signed=True)
    order = sorted(
        values,
        key=lambda key: (hashlib.blake2b(key.encode(), digest_size=8, key=salt).digest(), key),
    )
    width = max(4, len(str(len(order))))
    names = {key: f"i{k:0{width}d}" for k, key in enumerate(order, start=1)}
    items = []
    for key in order:
        previous = before[key][1]
        shown = None if previous is None else state_value(previous)[1]
        items.append(Item(names[key], values[key], shown, questions))
    return items, lambda state: names[known[state]]


def _signature(
    sums: MomentSums,
    source: SampledSource,
    held: ReferenceSource | None,
    moments: int | None,
    seed: int,
) -> str:
    parts = {
        "data": (source.digest or "table")[:12],
        "rows": sums.rows,
        "unusable": sums.unusable.rows,
        "moments": "all" if moments is None else moments,
        "by": ",".join(sums.by) or "none",
        "silver": "none" if held is None else held.text(),
        "protocol": "step-anchored",
        "seed": seed,
        "sdb": __version__,
    }
    return " ".join(f"{key}:{value}" for key, value in parts.items())
