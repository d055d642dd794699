"""The columns of a decision log, schema `sdb-decisions/1`: one row per state of a stream.

`data/sdb-decisions-1.schema.json` says the same for other programs, docs/formats.md for people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = "sdb-decisions/1"


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


def kind_of(dtype: pa.DataType) -> str:
    """`text`, `timestamp`, `seconds`, `nested`, `truth`, `nothing` or the type's own name."""
    import pyarrow.types as t

    kinds = {
        "text": (t.is_string, t.is_large_string, t.is_string_view),
        "timestamp": (t.is_timestamp,),
        "seconds": (t.is_integer, t.is_floating, t.is_decimal),
        "nested": (t.is_nested,),
        "truth": (t.is_boolean,),
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


def check_columns(schema: pa.Schema, where: str) -> None:
    """Refuses a table whose columns are missing or hold the wrong kind of values."""
    for name, column in COLUMNS.items():
        if name not in schema.names:
            if column.required:
                raise InputError(
                    f"has no column {name!r} ({column.meaning}); its columns are"
                    f" {', '.join(schema.names) or 'none'}",
                    where=where,
                    fix=f"name it in a query: --sql with SELECT … AS {name} FROM source",
                )
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
            fix="cast it in a query given with --sql",
        )
    _check_times({n: schema.field(n).type for n in time_columns(schema)}, where)
    if "decision" in schema.names and "answered_at" not in schema.names:
        raise InputError(
            "has decisions and no column 'answered_at': without it no answer ever arrived",
            where=where,
            fix="add when each answer reached the application, or write applied_at AS answered_at",
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
