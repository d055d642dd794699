"""The columns of a decision log, schema `sdb-decisions/1`: one row per state of a stream.

`data/sdb-decisions-1.schema.json` says the same for other programs, docs/reference/formats.md for people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = "sdb-decisions/1"
APPLIED = "applied"
"""The component whose decisions the application used; a meter's shadows have other names."""


@dataclass(frozen=True, slots=True)
class LogColumn:
    """One column: what it means and which kinds of values it may hold."""

    name: str
    kind: str
    """`id`, `time`, `decision`, `json`, `number` or `truth`."""
    meaning: str
    required: bool = False


COLUMNS: Mapping[str, LogColumn] = {
    column.name: column
    for column in (
        LogColumn("stream", "id", "which session, call, unit or user", required=True),
        LogColumn("published_at", "time", "when the state became current", required=True),
        LogColumn("requested_at", "time", "when the component was asked; published_at otherwise"),
        LogColumn("answered_at", "time", "when its answer reached the application; null: never"),
        LogColumn("applied_at", "time", "when the answer really took effect; null: never"),
        LogColumn(
            "effects", "json", "what of its answers a policy let take effect, and until when"
        ),
        LogColumn(
            "member_latency_s", "json", "of a cascade: seconds until the answer of each member"
        ),
        LogColumn("decision", "decision", "what was answered; null with no answer"),
        LogColumn("reference", "decision", "what was right for this state; null: not known"),
        LogColumn("ended_at", "time", "when the stream ended, the same on all its rows"),
        LogColumn(
            "state", "json", "the state itself, for references computed later and for suites"
        ),
        LogColumn("state_id", "id", "names the state, to find its reference in another table"),
        LogColumn("confidence", "number", "of the answer, from 0 to 1"),
        LogColumn("cost", "number", "of the answer, in money"),
        LogColumn("weight", "number", "of the stream, when only a sample was judged"),
        LogColumn("tick_s", "number", "nominal seconds between states; (end − start)/n otherwise"),
        LogColumn("partial", "truth", "rows of one stream and published_at complete each other"),
    )
}
LATENCIES: Mapping[str, LogColumn] = {
    column.name: column
    for column in (
        LogColumn("latency_ms", "number", "from the request to the answer, in milliseconds"),
        LogColumn("latency_s", "number", "from the request to the answer, in seconds"),
        LogColumn("latency", "duration", "from the request to the answer, as a duration"),
    )
}
"""Columns that say when an answer came where there is no `answered_at`; beside one they are labels."""


def latencies_of(names: Collection[str]) -> dict[str, LogColumn]:
    """Those of a table by which its answers are timed. A meter writes `answered_at` itself."""
    if "answered_at" in names or "partial" in names:
        return {}
    return {name: column for name, column in LATENCIES.items() if name in names}


class ColumnsMissingError(InputError):
    """A table without columns that no log can do without: a query must name them."""


def kind_of(dtype: pa.DataType) -> str:
    """`text`, `timestamp`, `seconds`, `nested`, `truth`, `nothing` or the type's own name."""
    import pyarrow.types as t

    kinds = {
        "text": (t.is_string, t.is_large_string, t.is_string_view),
        "timestamp": (t.is_timestamp,),
        "seconds": (t.is_integer, t.is_floating, t.is_decimal),
        "nested": (t.is_nested,),
        "truth": (t.is_boolean,),
        "duration": (t.is_duration, t.is_interval),
        "nothing": (t.is_null,),
    }
    plain = plain_type(dtype)
    found = (kind for kind, tests in kinds.items() if any(test(plain) for test in tests))
    return next(found, str(plain))


def kind_shown(dtype: pa.DataType) -> str:
    """The same for messages, with the time zone."""
    kind = kind_of(dtype)
    if kind == "timestamp":
        zone = plain_type(dtype).tz
        return f"timestamps of the time zone {zone}" if zone else "timestamps without a time zone"
    return "numbers" if kind == "seconds" else kind


def duration_unit(dtype: pa.DataType) -> str | None:
    """Of an Arrow duration: s, ms, us or ns."""
    import pyarrow.types as t

    return dtype.unit if t.is_duration(dtype) else None


def plain_type(dtype: pa.DataType) -> pa.DataType:
    """Without dictionaries, runs and extensions."""
    import pyarrow as pa
    import pyarrow.types as t

    if isinstance(dtype, pa.BaseExtensionType):
        return plain_type(dtype.storage_type)
    if t.is_dictionary(dtype) or t.is_run_end_encoded(dtype):
        return plain_type(dtype.value_type)
    return dtype


_ALLOWED = {
    "id": ("text or a number", ("text", "seconds", "nothing")),
    "time": ("timestamps or seconds", ("timestamp", "seconds", "nothing")),
    "decision": ("text or JSON", ("text", "seconds", "truth", "nested", "nothing")),
    "json": ("JSON", ("text", "nested", "nothing")),
    "number": ("numbers", ("seconds", "nothing")),
    "truth": ("true and false", ("truth", "nothing")),
    "duration": ("durations", ("duration", "nothing")),
}
"""What a kind of column holds, in words and as kinds of values."""


def time_columns(schema: pa.Schema) -> list[str]:
    return [
        name for name, column in COLUMNS.items() if column.kind == "time" and name in schema.names
    ]


def check_names(names: Sequence[str], where: str, fix: str) -> None:
    """Refuses a table in which two columns have one name."""
    again = [name for name in dict.fromkeys(names) if name and names.count(name) > 1]
    if again:
        raise InputError(f"has two columns called {again[0]!r}", where=where, fix=fix)


def trimmed(names: Sequence[str], where: str) -> list[str]:
    """Names of columns without the spaces around them; refuses those that differ in nothing else."""
    found = [name.strip() for name in names]
    check_names(found, where, "name every column once; spaces around a name do not count")
    return found


def first_of_each_case(names: Iterable[str]) -> Iterator[str]:
    """Names that differ in more than case, as SQL wants them; those of the schema come first."""
    seen: set[str] = set()
    for name in sorted(names, key=lambda n: n not in COLUMNS):
        if name.lower() not in seen:
            seen.add(name.lower())
            yield name


def column_called(name: str, names: Iterable[str], where: str) -> str | None:
    """The column that other files of a log call `name`: by its exact name, or in another case.

    >>> column_called("release", ["stream", " Release"], "b.csv")
    ' Release'
    """
    alike = [one for one in names if one.strip().lower() == name.lower()]
    exact = [one for one in alike if one.strip() == name]
    if len(alike) > 1 and not exact:
        raise InputError(
            f"has columns {alike[0]!r} and {alike[1]!r}, and another file has {name!r}: which of them"
            " is it?",
            where=where,
            fix="give every file of a log the same columns, or say with --sql which is meant",
        )
    found = exact or alike
    return found[0] if found else None


def check_columns(schema: pa.Schema, where: str) -> None:
    """Refuses a table whose columns are missing or hold the wrong kind of values."""
    _check_missing(schema.names, where)
    for name, column in {**COLUMNS, **latencies_of(schema.names)}.items():
        if name not in schema.names:
            continue
        found = kind_of(schema.field(name).type)
        if found in _ALLOWED[column.kind][1]:
            continue
        dtype = schema.field(name).type
        if column.kind == "decision":
            raise InputError(
                f"column {name!r} is neither text nor JSON, it is {dtype}",
                where=where,
                fix=f"decode it in a query: --sql with SELECT decode({name}) AS {name}",
            )
        raise InputError(
            f"column {name!r} holds {dtype}, not {_ALLOWED[column.kind][0]}",
            where=where,
            fix=NO_UNIT if column.kind == "duration" else "cast it in a query given with --sql",
        )
    _check_times({n: schema.field(n).type for n in time_columns(schema)}, where)


NO_UNIT = "a number needs its unit: name it latency_ms or latency_s, in a query given with --sql"


def _check_missing(names: Sequence[str], where: str) -> None:
    """Names everything at once that must be there and is not."""
    missing = [name for name, column in COLUMNS.items() if column.required and name not in names]
    answers = "answered_at" in names or bool(latencies_of(names))
    if missing and "decision" not in names:
        missing.append("decision")
    if not answers and "decision" in (*names, *missing):
        missing.append("answered_at")
    if not missing:
        return
    draft = "`sdb logs check SOURCE --write-mapping FILE` drafts a query for --sql"
    if missing == ["answered_at"]:
        raise ColumnsMissingError(
            "has decisions and no column 'answered_at': without it no answer ever arrived",
            where=where,
            fix="add when each answer reached the application, or how long it took as latency_ms or"
            f" latency_s, or write applied_at AS answered_at; {draft}",
        )
    told = " and ".join(f"no column {name!r} ({COLUMNS[name].meaning})" for name in missing)
    raise ColumnsMissingError(
        f"has {told}; its columns are {', '.join(n for n in names if n != 'filename') or 'none'}",
        where=where,
        fix=f"name them in a query: --sql with SELECT … AS {missing[0]} FROM source; {draft}",
    )


def check_zones(schema: pa.Schema, where: str) -> None:
    """Refuses a file whose timestamps are of different time zones; engines bring them to one."""
    types = {n: t for n, t in zip(schema.names, schema.types, strict=True) if n in COLUMNS}
    _check_times({n: t for n, t in types.items() if kind_of(t) == "timestamp"}, where)


def _check_times(times: Mapping[str, pa.DataType], where: str) -> None:
    """All times on one clock: seconds or timestamps, and those in one time zone."""
    kinds: dict[str, str] = {}
    for name, dtype in times.items():
        kind = kind_shown(dtype).replace("numbers", "seconds")
        if kind != "nothing":
            kinds.setdefault(kind, name)
    if len(kinds) > 1:
        (one, first), (two, second) = list(kinds.items())[:2]
        zones = "timestamps" in one and "timestamps" in two
        raise InputError(
            f"{'has two time zones' if zones else 'has two kinds of time'}: {first!r} holds {one},"
            f" {second!r} {two}",
            where=where,
            fix="bring all times to one form in a query given with --sql, for example"
            f" {second} AT TIME ZONE 'UTC' AS {second}",
        )
