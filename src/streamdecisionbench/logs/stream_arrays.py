"""Rows of a log as the arrays the kernel reads: whole streams, checked row by row, times as numbers,
decisions as small ids."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.kernel.arrays import (
    NO_ANSWER,
    UNKNOWN,
    Activations,
    Floats,
    Ints,
    JoinedTimelines,
)
from streamdecisionbench.kernel.trajectory import activations_of
from streamdecisionbench.logs.log_schema import (
    kind_of,
    time_columns,
)
from streamdecisionbench.logs.unusable_rows import (
    REASONS,
    Example,
    Unusable,
)
from streamdecisionbench.recording.provenance_notes import (
    DECLARED_LATENCY,
    SIMULATION,
    VIRTUAL_CLOCK,
)
from streamdecisionbench.text import (
    decision_text,
    printable,
)

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 17
"""Rows worth handing on together; a longer stream comes alone."""
UNREADABLE = "_sdb_unreadable"
"""The column that says which time of a row cannot be read, and its text."""
MARKS = {
    "simulated": SIMULATION,
    "virtual_clock": VIRTUAL_CLOCK,
    "declared_latency": DECLARED_LATENCY,
}
"""Columns of exported recordings, true where answers or times are not a real service's, and what every
reader of their numbers must hear."""

FILE_MARK = "_sdb_file"
"""A number for each file, where a stream may lie in several."""
ORIGIN = "_sdb_origin"
"""Which of several sources a reference came from, where it is not the log's own."""

_READ = r'^[\[{"]|^-?[0-9]+[.eE]|^-0$'
"""Texts that may be spelled otherwise than in canonical form."""
_MOST_NAMES = 1000
"""More distinct fractions than this are measured, not named."""
_FRACTION = r"^-?(0|[1-9][0-9]*)[.][0-9]*[1-9][0-9]*$"
_CODE = {reason: code for code, reason in enumerate(REASONS, start=1)}
_REMEMBERED = 100_000
SLACK_S = 2e-6
"""Times written with six decimals, or added up in seconds, may cross by this much and mean nothing."""
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_FAR = 1 << 62
"""No difference of two such times overflows: what lies beyond it is as good as never."""
_INFINITE = (1 << 63) - 1
"""What a timestamp holds that is infinite; with a minus sign, what is infinitely long ago."""
_LEAST_S = 1e-100
"""Shorter streams have no length that can be divided by. A meter's may end with the next reading that a
clock can show."""
_MOST = 1e12
"""Weights, ticks and costs from here on, or as far below one, are slips of a pen: sums of their squares
would be no numbers."""
_LONG_PAUSE = 10
"""A gap this many times a stream's others, where its file changes, is no pause of one session."""
_LONG_PAUSE_S = 1800
"""Within a file, a pause of one session is no longer than this, or than ten of its shorter gaps."""
LATE = 1e11
"""Seconds since 1970 from here on are beyond the year 5000: milliseconds, more likely. A note says so."""


@dataclass(frozen=True, slots=True)
class Times:
    """Times of one column: whole units of a timestamp, or seconds as they were written."""

    value: NDArray[Any]
    known: NDArray[np.bool_]
    per_second: int = 1
    """How many units of `value` a second has."""
    beyond: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """Where a time is further away than can be computed with; `value` is as far as that goes."""

    def since(self, start: NDArray[Any]) -> Floats:
        """Seconds since `start`, exact to the last digit of the source; nan where unknown."""
        out: Floats = np.where(self.known, (self.value - start) / self.per_second, np.nan)
        return out

    def take(self, rows: NDArray[Any]) -> Times:
        return Times(self.value[rows], self.known[rows], self.per_second, self.beyond[rows])


def plain_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One array of plain values: without chunks, dictionaries and extension types."""
    import pyarrow as pa
    import pyarrow.types as t

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # pragma: no cover - several chunks that do not combine
        array = pa.concat_arrays(array.chunks)
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if t.is_dictionary(array.type):
        array = array.dictionary_decode()
    if t.is_run_end_encoded(array.type):
        array = array.cast(array.type.value_type)
    return array


def times(columns: Mapping[str, pa.Array]) -> dict[str, Times]:
    """Times as numbers that can be subtracted without loss, in the finest unit of any column.

    An infinite time is not known, be it a number or a timestamp.
    """
    import pyarrow as pa
    import pyarrow.types as t

    stamps = {name for name, column in columns.items() if t.is_timestamp(column.type)}
    finest = max((PER_SECOND[columns[name].type.unit] for name in stamps), default=1)
    found = {}
    for name, column in columns.items():
        known = np.asarray(column.is_valid())
        if name in stamps or t.is_signed_integer(column.type):
            whole = np.asarray(column.cast(pa.int64()).fill_null(0))
            factor = finest // PER_SECOND[column.type.unit] if name in stamps else 1
            if name in stamps:
                known = known & (whole > -_INFINITE) & (whole < _INFINITE)
            value: NDArray[Any] = np.clip(whole, -(_FAR // factor), _FAR // factor)
            beyond = known & ((value != whole) | (np.abs(value) == _FAR))
            found[name] = Times(value * factor, known, finest if name in stamps else 1, beyond)
        else:
            value = number_column(column)
            known = known & np.isfinite(value)
            found[name] = Times(
                np.clip(value, -_FAR, _FAR), known, 1, known & (np.abs(value) >= _FAR)
            )
    return found


def number_column(column: pa.Array) -> Floats:
    """Numbers, nan where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(column.cast(pa.float64(), safe=False), np.nan))


def text_column(column: pa.Array) -> pa.Array:
    """Decisions, ids and labels as text, whatever type they came in: equal ones are spelled alike."""
    import pyarrow as pa
    import pyarrow.types as t

    if column.type == pa.large_string():
        return column
    if t.is_nested(column.type):
        values = column.to_pylist(maps_as_pydicts="lossy")
        return pa.array([None if v is None else spelled(v) for v in values], pa.large_string())
    if t.is_floating(column.type) or t.is_decimal(column.type):
        short = t.is_floating(column.type) and column.type.bit_width < 64
        encoded = (column.cast(pa.float32()) if short else column).dictionary_encode()
        values = encoded.dictionary.to_pylist()
        if short:
            # The nearest short decimal, as every program prints it: 0.1 and not 0.10000000149.
            values = [float(str(np.float32(v))) for v in values]
        return pa.array([spelled(v) for v in values], pa.large_string()).take(encoded.indices)
    return column.cast(pa.large_string())


def shown_values(column: pa.Array) -> list[Any]:
    """Values for people and as names of groups: timestamps and days as text, whatever their year and unit.

    >>> import pyarrow as pa
    >>> shown_values(pa.array([1_500_000_001, None], pa.timestamp("ns", "UTC")))
    ['1970-01-01 00:00:01.500000001+00:00', None]
    >>> shown_values(pa.array([253402300800], pa.timestamp("s")))
    ['10000-01-01 00:00:00']
    """
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_timestamp(column.type):
        zone = "+00:00" if column.type.tz else ""
        moments = np.asarray(column.cast(pa.int64()).fill_null(0)).astype(f"M8[{column.type.unit}]")
        texts = [_moment_text(str(one)) + zone for one in moments]
    elif t.is_date32(column.type):
        texts = [
            str(one) for one in np.asarray(column.cast(pa.int32()).fill_null(0)).astype("M8[D]")
        ]
    else:
        try:
            return column.to_pylist()  # type: ignore[no-any-return]
        except ValueError:  # nanoseconds of a duration or a time of day
            return column.cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
    return [
        text if known else None
        for text, known in zip(texts, column.is_valid().to_pylist(), strict=True)
    ]


def _moment_text(iso: str) -> str:
    """As Python writes a time: no fraction where it is zero, six digits, or nine where they count."""
    text, _, digits = iso.replace("T", " ").partition(".")
    digits = digits.rstrip("0")
    return f"{text}.{digits.ljust(9 if len(digits) > 6 else 6, '0')}" if digits else text


def spelled(value: Any) -> str:
    """A value as text.

    >>> spelled(1.0), spelled(Decimal("1.10")), spelled({"b": Decimal("2.50"), "a": 2**60})
    ('1', '1.1', '{"b": 2.5, "a": 1152921504606846976}')
    """
    if isinstance(value, Decimal):
        value = _plain_decimal(value)
    if isinstance(value, dict | list):
        return json.dumps(value, default=_plain_decimal)
    return value if isinstance(value, str) else decision_text(value) or ""


def _plain_decimal(value: Any) -> Any:
    """A whole number, a float where that is the same number, and digits as text otherwise."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return str(value)
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value.normalize())


def decision_ids(
    columns: list[pa.Array], cache: dict[str, str | None]
) -> tuple[list[Ints], NDArray[np.bool_], pa.Array | list[str], list[set[str]]]:
    """Ids that are equal exactly where decisions are, −1 for null; which ids are no decisions; their
    texts in canonical form; and the decimal fractions of each column as they are written.

    Every distinct spelling is read once; `cache` remembers those of earlier calls.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    together = pa.concat_arrays(columns) if len(columns) > 1 else columns[0]
    encoded = together.dictionary_encode()
    spellings = encoded.dictionary
    ids = np.asarray(pc.fill_null(encoded.indices, -1)).astype(np.int64)
    bad = np.zeros(len(spellings) + 1, dtype=bool)
    texts: pa.Array | list[str] = spellings
    sizes = np.cumsum([len(column) for column in columns])[:-1]
    fractions: list[set[str]] = [set() for _ in columns]
    trimmed = pc.utf8_trim_whitespace(spellings)
    special = np.asarray(
        pc.or_(
            pc.not_equal(trimmed, spellings),
            pc.match_substring_regex(trimmed, _READ),
        ),
        dtype=bool,
    )
    if special.any():
        names: dict[str, int] = {}
        new_id = np.empty(len(spellings) + 1, dtype=np.int64)
        new_id[-1] = -1
        for k, text in enumerate(spellings.to_pylist()):
            one: str | None = text
            if special[k]:
                one = cache[text] if text in cache else cache.setdefault(text, decision_text(text))
            new_id[k] = names.setdefault(text if one is None else one, len(names))
            bad[new_id[k]] |= one is None
        written = np.asarray(pc.match_substring_regex(trimmed, _FRACTION), dtype=bool)
        if 1 < np.count_nonzero(written) <= _MOST_NAMES:
            for said, part in zip(fractions, np.split(ids, sizes), strict=True):
                there = np.bincount(part[part >= 0], minlength=len(written)) > 0
                said |= set(trimmed.filter(pa.array(there & written)).to_pylist())
        ids = new_id[ids]
        texts = list(names)
    if len(cache) > _REMEMBERED:
        cache.clear()
    return np.split(ids, sizes), bad, texts, fractions


def changes(column: pa.Array) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; the first one does. Nulls are alike."""
    import pyarrow.compute as pc
    import pyarrow.types as t

    if not len(column):
        return np.zeros(0, dtype=bool)
    if t.is_nested(column.type):
        column = text_column(column)
    after, before = column.slice(1), column.slice(0, len(column) - 1)
    if t.is_null(column.type):
        return np.append(True, np.zeros(len(column) - 1, dtype=bool))
    differs = np.asarray(pc.fill_null(pc.not_equal(after, before), False), dtype=bool)
    if t.is_floating(column.type):
        nan = np.asarray(pc.fill_null(pc.is_nan(column), False), dtype=bool)
        differs = differs & ~(nan[1:] & nan[:-1])
    if column.null_count:
        differs = differs | (np.asarray(after.is_valid()) != np.asarray(before.is_valid()))
    return np.append(True, differs)


def stream_begins(table: pa.Table, keys: Sequence[str]) -> NDArray[np.bool_]:
    """Where another stream begins, in rows in which equal `keys` follow each other."""
    begins = np.zeros(table.num_rows, dtype=bool)
    for key in keys:
        begins |= changes(plain_array(table.column(key)))
    return begins


def whole_streams(
    batches: Iterable[pa.RecordBatch], keys: Sequence[str], rows: int = ROWS
) -> Iterator[pa.Table]:
    """Tables of whole streams from batches in which equal `keys` follow each other."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    size, wanted = 0, rows
    for batch in batches:
        if not batch.num_rows:
            continue
        held.append(batch)
        size += batch.num_rows
        if size < wanted:
            continue
        table = pa.Table.from_batches(held)
        cut = int(np.flatnonzero(stream_begins(table, keys))[-1])
        if cut:
            yield table.slice(0, cut)
            table = table.slice(cut)
        held = table.to_batches()
        size = table.num_rows
        # A stream longer than a portion is looked at again only when it has doubled.
        wanted = max(rows, 2 * size)
    if held:
        yield pa.Table.from_batches(held)


@dataclass(frozen=True, slots=True)
class StreamArrays:
    """Usable streams of a batch, laid end to end; times in seconds since each stream's start."""

    row: Ints
    """The batch's row of each stream's first state, to look up whose stream it is."""
    rows: Ints
    """The batch's row of every state."""
    n: Ints
    r: Floats
    L: Floats
    H: Floats
    tick: Floats
    y: Ints
    p: Ints
    weight: Floats
    cost: Floats
    applied: Floats | None
    """When each answer really took effect, infinite where it did not."""
    assumed_end: NDArray[np.bool_]
    texts: pa.Array | list[str]
    """The decision of each id, in canonical form."""
    marks: Mapping[str, NDArray[np.bool_]]
    """Streams that carry a mark every reader of their numbers must hear of, by mark."""
    scattered: int
    """Streams without a known end that lie in several files."""
    origins: Ints
    """How many references came from each source: first the log's own, then the others by number."""
    fractions: Mapping[str, set[str]]
    """Decimal fractions among decisions and references, as they are written, by column."""
    cascade: NDArray[np.bool_]
    """Streams in which several components answered: their rows hold the first answer to each state."""
    policy: PolicyTrace | None = None
    members: MemberLatencies | None = None


@dataclass(frozen=True, slots=True)
class MemberLatencies:
    """Answers of the members of cascades, one by one, in no order."""

    stream: Ints
    member: Ints
    seconds: Floats
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PolicyTrace:
    """What took effect in streams in which a policy decided, in the order of streams and time."""

    decided: NDArray[np.bool_]
    """Streams of which this is so."""
    stream: Ints
    source: Ints
    decision: Ints
    """−1 where nothing is in force from then on."""
    begin: Floats


def flat_streams(found: StreamArrays, streams: slice, steps: slice, y: Ints) -> JoinedTimelines:
    """Some streams for the kernel, with these references."""
    n, r, L, p = found.n[streams], found.r[steps], found.L[steps], found.p[steps]
    H, tick = found.H[streams], found.tick[streams]
    flat = JoinedTimelines.of(n=n, r=r, L=L, H=H, tick=tick, y=y, p=p)
    trace = found.policy
    if trace is None or not trace.decided[streams].any():
        return flat
    first, before = streams.indices(len(found.n))[0], steps.indices(len(found.r))[0]
    some = np.flatnonzero((trace.stream >= first) & (trace.stream < first + len(n)))
    own = activations_of(flat, r + L)
    plain = np.flatnonzero(~trace.decided[streams][own.scenario])
    scenario = np.concatenate((trace.stream[some] - first, own.scenario[plain]))
    order = np.argsort(scenario, kind="stable")
    effects = Activations(
        scenario[order],
        np.concatenate((trace.source[some] - before, own.source[plain]))[order],
        np.concatenate((trace.decision[some], p[own.source[plain]]))[order],
        np.concatenate((trace.begin[some], own.begin[plain]))[order],
    )
    return JoinedTimelines.of(n=n, r=r, L=L, H=H, tick=tick, y=y, p=p, effects=effects)


class _Rows:
    """A batch's rows with the reasons found against them."""

    def __init__(self, table: pa.Table, keys: Sequence[str], cache: dict[str, str | None]) -> None:
        self.table = table
        self.size = table.num_rows
        self.of = np.cumsum(stream_begins(table, keys)) - 1
        self.times = times({name: self.column(name) for name in time_columns(table.schema)})
        self.reason = np.zeros(self.size, dtype=np.int8)
        self.scattered = 0
        self.effects = _Effects(self) if self.has("effects") else None
        self.members = _Members(self) if self.has("member_latency_s") else None
        self.decision, self.reference = self._decisions(cache)

    def column(self, name: str) -> pa.Array:
        return plain_array(self.table.column(name))

    def has(self, name: str) -> bool:
        return name in self.table.schema.names

    def number(self, name: str, otherwise: float) -> Floats:
        if not self.has(name):
            return np.full(self.size, otherwise)
        return number_column(self.column(name))

    def blame(self, reason: str, rows: NDArray[np.bool_]) -> None:
        """Marks rows that nothing was found against yet."""
        self.reason[rows & (self.reason == 0)] = _CODE[reason]

    def blame_at(self, reason: str, rows: Ints) -> None:
        hit = np.zeros(self.size, dtype=bool)
        hit[rows] = True
        self.blame(reason, hit)

    @property
    def file(self) -> Ints:
        """A small number for each file."""
        return np.unique(np.asarray(self.column(FILE_MARK)), return_inverse=True)[1]

    def _decisions(self, cache: dict[str, str | None]) -> tuple[Ints, Ints]:
        names = [name for name in ("decision", "reference") if self.has(name)]
        nothing = np.full(self.size, -1, dtype=np.int64)
        self.texts: pa.Array | list[str] = []
        self.fractions: Mapping[str, set[str]] = {}
        columns = [text_column(self.column(name)) for name in names]
        if self.effects is not None:
            columns.append(self.effects.texts())
        if not columns:
            return nothing, nothing
        ids, bad, self.texts, fractions = decision_ids(columns, cache)
        self.fractions = dict(zip(names, fractions, strict=False))
        if self.effects is not None:
            self.effects.decision = ids.pop()
            self.effects.row_bad[self.effects.row[bad[self.effects.decision]]] = True
        found = dict(zip(names, ids, strict=True))
        self._bad = {name: bad[one] & (one >= 0) for name, one in found.items()}
        return found.get("decision", nothing), found.get("reference", nothing)

    def bad(self, name: str) -> NDArray[np.bool_]:
        return self._bad[name] if self.has(name) else np.zeros(self.size, dtype=bool)


class _Effects:
    """The column `effects`, read: what of each row's answers took effect, and what that yielded to."""

    def __init__(self, rows: _Rows) -> None:
        self.given = np.asarray(rows.column("effects").is_valid())
        self.row_bad = np.zeros(rows.size, dtype=bool)
        found: list[tuple[int, int, float, str | None]] = []
        texts = text_column(rows.column("effects")).to_pylist()
        for row in np.flatnonzero(self.given).tolist():
            try:
                found += [(row, *one) for one in effects_of_row(texts[row])]
            except (ValueError, TypeError, KeyError):
                self.row_bad[row] = True
        columns = list(zip(*found, strict=True)) or [()] * 4
        self.row, self._order = (np.array(columns[k], dtype=np.int64) for k in (0, 1))
        self._since = np.array(columns[2], dtype=np.float64)
        self._said = columns[3]
        answers = np.bincount(self.row[self._order % 2 == 0], minlength=rows.size)
        self.several = answers > 1
        """Rows of which more than one answer took effect."""
        self.decision = np.zeros(0, dtype=np.int64)

    def texts(self) -> pa.Array:
        import pyarrow as pa

        return pa.array(self._said, pa.large_string())

    def trace(self, kept: Ints, stream: Ints, r: Floats, end: Floats) -> PolicyTrace | None:
        """Of the rows kept, whose streams and times since the stream's start these are."""
        decided = np.bincount(stream, weights=self.given[kept], minlength=len(end)) > 0
        if not decided.any():
            return None
        place = np.full(len(self.given), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        some = np.flatnonzero(place[self.row] >= 0)
        some = some[np.lexsort((self._order[some], stream[place[self.row[some]]]))]
        source, decision = place[self.row[some]], self.decision[some]
        at, of = r[source] + self._since[some], stream[source]
        # A decision yields only if no other has taken effect until then.
        kept_back = self._order[some] % 2 == 1
        kept_back[:-1] &= (of[1:] == of[:-1]) & (at[1:] <= at[:-1])
        kept_back[-1:] = False
        keep = np.flatnonzero(~kept_back & (at < end[of]))
        return PolicyTrace(decided, of[keep], source[keep], decision[keep], at[keep])


class _Members:
    """The column `member_latency_s`, read: how long each member of a cascade took to answer each row."""

    def __init__(self, rows: _Rows) -> None:
        self.row_bad = np.zeros(rows.size, dtype=bool)
        names: dict[str, int] = {}
        found: list[tuple[int, int, float]] = []
        for row, text in enumerate(text_column(rows.column("member_latency_s")).to_pylist()):
            if text is None:
                continue
            try:
                took = {str(name): float(s) for name, s in json.loads(text).items()}
            except (ValueError, TypeError, AttributeError):
                took = {"": -1.0}
            if not all(0 <= seconds < np.inf for seconds in took.values()):
                self.row_bad[row] = True
                continue
            found += [(row, names.setdefault(name, len(names)), s) for name, s in took.items()]
        columns = list(zip(*found, strict=True)) or [()] * 3
        self._row, self._member = (np.array(columns[k], dtype=np.int64) for k in (0, 1))
        self._seconds = np.array(columns[2], dtype=np.float64)
        self.given = np.bincount(self._row, minlength=rows.size) > 0
        self._names = tuple(names)

    def of(self, kept: Ints, stream: Ints) -> MemberLatencies:
        """Of the rows kept, whose streams these are."""
        place = np.full(len(self.row_bad), -1, dtype=np.int64)
        place[kept] = stream
        some = np.flatnonzero(place[self._row] >= 0)
        return MemberLatencies(
            place[self._row[some]], self._member[some], self._seconds[some], self._names
        )


def effects_of_row(text: str) -> Iterator[tuple[int, float, str | None]]:
    """A place in the order of its stream, seconds after the state, and what is in force from then on:
    what took effect has an even place, what it yields to the odd one behind it."""
    for one in json.loads(text):
        number, since, decision = one["n"], one["after_s"], one["decision"]
        until, fallback = one.get("until_s", since), one.get("fallback")
        if not (0 <= number < _FAR and 0 <= since <= until < np.inf):
            raise ValueError
        if not isinstance(decision, str) or not isinstance(fallback, str | None):
            raise ValueError
        yield 2 * operator.index(number), float(since), decision
        if "until_s" in one:
            yield 2 * operator.index(number) + 1, float(until), fallback


def stream_arrays(
    table: pa.Table, keys: Sequence[str], unusable: Unusable, cache: dict[str, str | None]
) -> StreamArrays | None:
    """The usable streams of a table of whole, sorted streams; what cannot be used is counted.

    Streams are told apart by `keys`; rows of one are ordered by published_at.
    """
    rows = _Rows(table, keys, cache)
    _check_rows(rows)
    kept = np.flatnonzero(rows.reason == 0)
    for check in (_check_streams, _check_files, _check_pauses, _check_groups):
        if len(kept):
            check(rows, kept)
            kept = np.flatnonzero(rows.reason == 0)
    if len(kept) < rows.size:
        _report(rows, unusable)
    return _arrays(rows, kept) if len(kept) else None


def _check_rows(rows: _Rows) -> None:
    published = rows.times["published_at"]
    asked = rows.times.get("requested_at")
    answered, applied = rows.times.get("answered_at"), rows.times.get("applied_at")
    if rows.column("stream").null_count:
        rows.blame("no_stream", ~np.asarray(rows.column("stream").is_valid()))
    if rows.has(UNREADABLE):
        rows.blame("unreadable_time", np.asarray(rows.column(UNREADABLE).is_valid()))
    rows.blame("no_time", ~published.known | published.beyond)
    _blame_repeats(rows, published)
    if asked is not None:
        rows.blame("asked_before_published", _before(asked, published))
    if answered is not None:
        earliest = published if asked is None else _first_known(asked, published)
        rows.blame("answered_before_asked", _before(answered, earliest))
        given = rows.decision >= 0
        rows.blame("answer_without_decision", answered.known & ~given)
        rows.blame("decision_without_answer", given & ~answered.known)
    if applied is not None and answered is not None:
        rows.blame("applied_without_answer", applied.known & ~answered.known)
        rows.blame("applied_before_answered", _before(applied, answered))
    for name in ("decision", "reference"):
        rows.blame(f"bad_{name}", rows.bad(name))
    if rows.effects is not None:
        rows.blame("bad_effects", rows.effects.row_bad)
    if rows.members is not None:
        rows.blame("bad_member_latency", rows.members.row_bad)
    if rows.has("cost"):
        cost = rows.number("cost", 0.0)
        rows.blame("bad_cost", ~np.isnan(cost) & ~((cost >= 0) & (cost <= _MOST)))


def _check_streams(rows: _Rows, kept: Ints) -> None:
    """Reasons against whole streams, of the rows that are left."""
    begins, count, stream = _laid_out(rows, kept)
    published = rows.times["published_at"].take(kept)
    ended = rows.times.get("ended_at")

    def blame(reason: str, streams: NDArray[np.bool_]) -> None:
        rows.blame_at(reason, kept[streams[stream]])

    end, last = published, begins + count - 1
    known = np.zeros(len(begins), dtype=bool)
    if ended is not None:
        end = ended.take(kept)
        differs = (end.known != end.known[begins][stream]) | (
            end.known & (end.value != end.value[begins][stream])
        )
        blame("ends_differ", np.logical_or.reduceat(differs, begins))
        known = end.known[begins]
        blame("after_end", known & (end.value[last] <= published.value[last]))
        blame("no_length", end.beyond[begins])
    blame("no_end", ~known & (count == 1))
    lasted = np.where(known, end.value[last], published.value[last]) - published.value[begins]
    blame("no_length", lasted < published.per_second * _LEAST_S)
    for name, reason in (("weight", "bad_weight"), ("tick_s", "bad_tick")):
        if rows.has(name):
            value = rows.number(name, 1.0)[kept]
            wrong = ~((value >= 1 / _MOST) & (value <= _MOST)) | (value != value[begins][stream])
            blame(reason, np.logical_or.reduceat(wrong, begins))


def _check_files(rows: _Rows, kept: Ints) -> None:
    """Ids that were used again in another file: nothing says when the first session ended, and a gap
    stands where the file changes that is none of a session's own."""
    if not rows.has(FILE_MARK):
        return
    begins, _, stream = _laid_out(rows, kept)
    open_end = ~_known_ends(rows, kept[begins])
    file = rows.file[kept]
    at = rows.times["published_at"].take(kept).value
    same = stream[1:] == stream[:-1]
    gaps = np.where(same, np.diff(at), 0)
    switches = same & (file[1:] != file[:-1])
    pairs = np.unique(np.stack([stream, file]), axis=1)[0]
    files = np.bincount(pairs, minlength=len(begins))
    in_blocks = np.bincount(stream[1:], weights=switches, minlength=len(begins)) == files - 1
    longest = np.zeros((2, len(begins)))
    for k, these in enumerate((same & ~switches, switches)):
        np.maximum.at(longest[k], stream[1:][these], gaps[these])
    again = open_end & (files > 1) & in_blocks & (longest[1] > _LONG_PAUSE * longest[0])
    rows.blame_at("used_again", kept[again[stream]])
    rows.scattered = int(np.count_nonzero(open_end & (files > 1) & ~again))


def _check_pauses(rows: _Rows, kept: Ints) -> None:
    """Streams without a known end that pause for long: their id may be used again."""
    begins, _, stream = _laid_out(rows, kept)
    published = rows.times["published_at"].take(kept)
    limit = _LONG_PAUSE_S * published.per_second
    same = stream[1:] == stream[:-1]
    gaps = np.where(same, np.diff(published.value), 0)
    if not (gaps > limit).any():
        return
    short = np.zeros(len(begins), dtype=gaps.dtype)
    np.maximum.at(short, stream[1:], np.where(gaps > limit, 0, gaps))
    pause = np.full(len(begins), np.inf)
    np.minimum.at(pause, stream[1:], np.where(gaps > limit, gaps, np.inf))
    seconds = (published.per_second > 1) | (np.abs(published.value[begins]) < LATE)
    long = np.isfinite(pause) & (short > 0) & (pause > _LONG_PAUSE * short)
    again = long & seconds & ~_known_ends(rows, kept[begins])
    rows.blame_at("long_pause", kept[again[stream]])


def _known_ends(rows: _Rows, at: Ints) -> NDArray[np.bool_]:
    ended = rows.times.get("ended_at")
    return np.zeros(len(at), dtype=bool) if ended is None else ended.known[at]


def _check_groups(rows: _Rows, kept: Ints) -> None:
    """Streams that change their group while they run: their time would count in both. One id in two
    groups at the same moments is two components that answered it. Where nobody knows when a stream
    ended, only a long pause ends it."""
    begins, count, stream = _laid_out(rows, kept)
    ids = np.cumsum(changes(rows.column("stream")))[kept]
    of = ids[begins]
    if len(np.unique(of)) == len(of):
        return
    published = rows.times["published_at"].take(kept)
    at, last = published.value, begins + count - 1
    longest = np.zeros(len(begins), dtype=at.dtype)
    np.maximum.at(longest, stream[1:], np.where(stream[1:] == stream[:-1], np.diff(at), 0))
    order = np.lexsort((at[begins], of))
    one, two = order[:-1], order[1:]
    pause = at[begins[two]] - at[last[one]]
    apart = pause > _LONG_PAUSE_S * published.per_second
    if rows.has(FILE_MARK):
        apart |= rows.file[kept[begins[two]]] != rows.file[kept[last[one]]]
    over = apart & (pause > _LONG_PAUSE * np.maximum(longest[one], longest[two]))
    known = _known_ends(rows, kept[last])
    if known.any():
        ended = rows.times["ended_at"].take(kept[last]).value
        over = np.where(known[one], at[begins[two]] >= ended[one], over)
    meets = (of[one] == of[two]) & ~over
    moments = np.lexsort((at, ids))
    twice = (ids[moments][1:] == ids[moments][:-1]) & (at[moments][1:] == at[moments][:-1])
    wrong = np.isin(of, of[two][meets]) & ~np.isin(of, ids[moments][1:][twice])
    rows.blame_at("group_changes", kept[wrong[stream]])


def _laid_out(rows: _Rows, kept: Ints) -> tuple[Ints, Ints, Ints]:
    """Of the rows kept: where each stream begins, how many rows it has, and each row's stream."""
    of = rows.of[kept]
    begins = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
    n = np.diff(np.append(begins, len(kept)))
    return begins, n, np.repeat(np.arange(len(n)), n)


def _arrays(rows: _Rows, kept: Ints) -> StreamArrays:
    begins, n, stream = _laid_out(rows, kept)
    published = rows.times["published_at"].take(kept)
    start = published.value[begins][stream]
    r = published.since(start)
    latency, applied = _latency(rows, kept, published), None
    if "applied_at" in rows.times:
        since = rows.times["applied_at"].take(kept).since(start)
        applied = np.where(np.isnan(since), np.inf, since)
    end, assumed = _ends(rows, kept, begins, n, r, start)
    tick = end / n
    if rows.has("tick_s"):
        tick = rows.number("tick_s", 1.0)[kept][begins]
    cost = rows.number("cost", 0.0)[kept]
    return StreamArrays(
        row=kept[begins],
        rows=kept,
        n=n,
        r=r,
        L=latency,
        H=end,
        tick=tick,
        y=np.where(rows.reference[kept] < 0, UNKNOWN, rows.reference[kept]),
        p=np.where(np.isinf(latency), NO_ANSWER, rows.decision[kept]),
        weight=rows.number("weight", 1.0)[kept][begins],
        cost=np.add.reduceat(np.where(np.isnan(cost), 0.0, cost), begins),
        applied=applied,
        assumed_end=assumed,
        texts=rows.texts,
        marks={name: _marked(rows, name)[kept[begins]] for name in MARKS},
        scattered=rows.scattered,
        origins=_origins(rows, kept),
        fractions=rows.fractions,
        policy=None if rows.effects is None else rows.effects.trace(kept, stream, r, end),
        cascade=_cascades(rows, kept, begins),
        members=None if rows.members is None else rows.members.of(kept, stream),
    )


def _cascades(rows: _Rows, kept: Ints, begins: Ints) -> NDArray[np.bool_]:
    several = np.zeros(rows.size, dtype=bool)
    if rows.effects is not None:
        several |= rows.effects.several
    if rows.members is not None:
        several |= rows.members.given
    found: NDArray[np.bool_] = np.logical_or.reduceat(several[kept], begins)
    return found


def _marked(rows: _Rows, name: str) -> NDArray[np.bool_]:
    if not rows.has(name) or kind_of(rows.column(name).type) != "truth":
        return np.zeros(rows.size, dtype=bool)
    return np.asarray(rows.column(name).fill_null(False))


def _origins(rows: _Rows, kept: Ints) -> Ints:
    of = np.nan_to_num(rows.number(ORIGIN, 0.0)[kept]).astype(np.int64)
    return np.bincount(of[rows.reference[kept] >= 0], minlength=1)


def _latency(rows: _Rows, kept: Ints, published: Times) -> Floats:
    """answered − requested, infinite where no answer came."""
    answered = rows.times.get("answered_at")
    if answered is None:
        return np.full(len(kept), np.inf)
    asked = rows.times.get("requested_at")
    since = published if asked is None else _first_known(asked.take(kept), published)
    waited = answered.take(kept).since(since.value)
    return np.where(np.isnan(waited), np.inf, np.maximum(waited, 0.0))


def _ends(
    rows: _Rows, kept: Ints, begins: Ints, n: Ints, r: Floats, start: NDArray[Any]
) -> tuple[Floats, NDArray[np.bool_]]:
    """When each stream ended; otherwise its last state plus its median gap."""
    ended = rows.times.get("ended_at")
    known = np.zeros(len(begins), dtype=bool)
    end = np.full(len(begins), np.nan)
    if ended is not None:
        end = ended.take(kept).since(start)[begins]
        known = ~np.isnan(end)
    for size in np.unique(n[~known]).tolist():
        alike = np.flatnonzero(~known & (n == size))
        grid = r[begins[alike][:, None] + np.arange(size)]
        end[alike] = grid[:, -1] + np.median(np.diff(grid, axis=1), axis=1)
    return end, ~known


def _before(one: Times, other: Times) -> NDArray[np.bool_]:
    """Earlier by more than rounding explains."""
    return one.known & other.known & (one.since(other.value) < -SLACK_S)


def _first_known(one: Times, other: Times) -> Times:
    value = np.where(one.known, one.value, other.value)
    return Times(value, one.known | other.known, one.per_second)


def _blame_repeats(rows: _Rows, published: Times) -> None:
    """Several rows for one stream and moment: copies of a row, or rows that contradict each other."""
    again = (
        (rows.of[1:] == rows.of[:-1])
        & (published.value[1:] == published.value[:-1])
        & published.known[1:]
        & published.known[:-1]
    )
    if not again.any():
        return
    differs = np.zeros(rows.size, dtype=bool)
    for ids in (rows.decision, rows.reference):
        differs[1:] |= ids[1:] != ids[:-1]
    for name in set(rows.table.schema.names) - {FILE_MARK, "decision", "reference"}:
        differs |= changes(plain_array(rows.table.column(name)))
    begins = np.append(True, ~again)
    run = np.cumsum(begins) - 1
    several = np.bincount(run)[run] > 1
    contradicts = np.bincount(run, weights=differs & ~begins)[run] > 0
    rows.blame("duplicate", several & contradicts)
    rows.blame("repeated", several & ~contradicts & ~begins)


def _report(rows: _Rows, unusable: Unusable) -> None:
    for reason, code in _CODE.items():
        hit = np.flatnonzero(rows.reason == code)
        if len(hit):
            unusable.add(
                reason, len(hit), min(_example(rows, reason, k) for k in hit[:100].tolist())
            )


def _example(rows: _Rows, reason: str, row: int) -> Example:
    def shown(name: str) -> str:
        if not rows.has(name):
            return "none"
        (value,) = shown_values(plain_array(rows.table.column(name).slice(row, 1)))
        return "null" if value is None else printable(str(value)[:80])

    column = UNREADABLE if reason == "unreadable_time" else REASONS[reason].column
    return Example(shown("stream"), shown("published_at"), shown(column))
