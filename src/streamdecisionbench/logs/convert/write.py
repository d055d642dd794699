"""From a trace to a file in `sdb-decisions/1`, in batches, with what was assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.convert.conventions import from_openinference, from_otel
from streamdecisionbench.logs.convert.langfuse import from_langfuse
from streamdecisionbench.logs.convert.rows import Decision, Told, decision_row

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMATS", "Converted", "convert"]

Reader = Callable[[Sequence[Path], Told], Iterator[Decision]]
FORMATS: dict[str, Reader] = {
    "openinference": from_openinference,
    "otel": from_otel,
    "langfuse": from_langfuse,
}
_BATCH = 20_000
_TYPES = (".parquet", ".jsonl", ".csv")


@dataclass(frozen=True, slots=True)
class Converted:
    """What came of it. Assumptions and reasons are sentences, with how many rows each concerns."""

    rows: int
    streams: int
    spans: int
    assumed: dict[str, int]
    left_out: dict[str, int]


def convert(kind: str, paths: Sequence[Path], out: Path) -> Converted:
    """Reads traces of one convention and writes a decision log; nothing is written if it fails."""
    if kind not in FORMATS:
        raise InputError(f"--from {kind} is not known", fix=f"use one of: {', '.join(FORMATS)}")
    if out.suffix not in _TYPES:
        raise InputError(
            f"the ending {out.suffix or 'none'} is not known",
            where=out,
            fix=f"use {', '.join(_TYPES)}",
        )
    if out.exists():
        raise InputError("exists already", where=out, fix="give a new file with --out")
    told, streams, count = Told(), set[str](), 0
    batches: list[pa.RecordBatch] = []
    rows: list[dict[str, Any]] = []
    spans = 0
    for found in FORMATS[kind](paths, told):
        spans += 1
        row = decision_row(found, told)
        if row is None:
            continue
        streams.add(row["stream"])
        count += 1
        rows.append(row)
        if len(rows) >= _BATCH:
            batches.append(_batch(rows))
            rows = []
    if rows:
        batches.append(_batch(rows))
    if not count:
        why = "; ".join(f"{n} {reason}" for reason, n in told.left_out.most_common(4))
        raise InputError(
            f"holds no decision ({why or 'no span at all'})",
            where=", ".join(map(str, paths[:3])),
            fix=f"check that the traces follow the convention named by --from {kind}",
        )
    _write(batches, out)
    return Converted(
        count,
        len(streams),
        spans + sum(told.left_out.values()),
        dict(told.assumed),
        dict(told.left_out),
    )


def _schema() -> pa.Schema:
    import pyarrow as pa

    stamp = pa.timestamp("us", tz="UTC")
    return pa.schema(
        [
            ("stream", pa.string()), ("step", pa.int64()), ("published_at", stamp),
            ("requested_at", stamp), ("answered_at", stamp), ("applied_at", stamp),
            ("decision", pa.string()), ("reference", pa.string()), ("state", pa.string()),
            ("model", pa.string()), ("service", pa.string()), ("span", pa.string()),
        ]
    )  # fmt: skip


def _batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pylist(rows, schema=_schema())


def _write(batches: list[pa.RecordBatch], out: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    table = pa.Table.from_batches(batches, schema=_schema())
    table = table.sort_by([("stream", "ascending"), ("published_at", "ascending")])
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(out.name + ".partial")
    try:
        if out.suffix == ".parquet":
            pyarrow.parquet.write_table(table, partial, compression="zstd")
        elif out.suffix == ".csv":
            pyarrow.csv.write_csv(table, partial)
        else:
            _write_lines(table, partial)
        partial.rename(out)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(
            f"cannot be written ({error.strerror})", where=out, fix="choose another place"
        ) from None


def _write_lines(table: pa.Table, path: Path) -> None:
    import msgspec

    with path.open("wb") as file:
        for batch in table.to_batches(_BATCH):
            for row in batch.to_pylist():
                file.write(
                    msgspec.json.encode({k: v for k, v in row.items() if v is not None}) + b"\n"
                )
