"""A closed JSON Lines file of the decision log as a Parquet file."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["to_parquet"]

_NUMBERS = ("published_at", "answered_at", "applied_at", "ended_at", "confidence", "cost")


def to_parquet(path: str) -> None:
    """Writes `path` as Parquet beside it, and removes it once that is complete.

    Rows of one state that stand in the same file become one.
    """
    source = Path(path)
    merged: dict[tuple[str, float], dict[str, object]] = {}
    with source.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            merged.setdefault((row["stream"], row["published_at"]), {}).update(row)
    names: dict[str, None] = {}
    for row in merged.values():
        names |= dict.fromkeys(row)
    columns = {
        name: pa.array([row.get(name) for row in merged.values()], _type(name)) for name in names
    }
    partial, target = source.with_suffix(".parquet.part"), source.with_suffix(".parquet")
    pq.write_table(pa.table(columns), partial, compression="zstd")
    partial.replace(target)
    source.unlink()


def _type(name: str) -> pa.DataType:
    if name in _NUMBERS:
        return pa.float64()
    if name == "partial":
        return pa.bool_()
    return pa.int64() if name == "step" else pa.string()
