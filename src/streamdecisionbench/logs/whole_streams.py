"""Sorted batches cut anew, so that no stream spans two of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from streamdecisionbench.logs.columns import changes, plain_array

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ROWS", "whole_streams"]

ROWS = 1 << 17
"""Rows worth handing on together; a longer stream comes alone."""


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
        cut = _last_begin(table, keys)
        if cut:
            yield table.slice(0, cut)
            table = table.slice(cut)
        held = table.to_batches()
        size = table.num_rows
        # A stream longer than a portion is looked at again only when it has doubled.
        wanted = max(rows, 2 * size)
    if held:
        yield pa.Table.from_batches(held)


def _last_begin(table: pa.Table, keys: Sequence[str]) -> int:
    """The row at which the last stream begins."""
    begins = np.zeros(table.num_rows, dtype=bool)
    for key in keys:
        begins |= changes(plain_array(table.column(key)))
    return int(np.flatnonzero(begins)[-1])
