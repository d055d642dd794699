"""Arrow columns as the arrays the kernel reads: times as numbers, decisions as small ids."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.logs.canonical import canonical, decision_text
from streamdecisionbench.logs.schema import kind_of
from streamdecisionbench.scoring.timeline import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Times",
    "changes",
    "decision_ids",
    "number_column",
    "plain_array",
    "text_column",
    "times",
]

_NANOSECONDS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


@dataclass(frozen=True, slots=True)
class Times:
    """Times of one column: whole nanoseconds, or seconds as they were written."""

    value: NDArray[Any]
    known: NDArray[np.bool_]
    seconds: float
    """What one unit of `value` is, in seconds."""

    def since(self, start: NDArray[Any]) -> Floats:
        """Seconds since `start`, exact to the last digit of the source; nan where unknown."""
        difference = (
            (self.value - start) * self.seconds if self.seconds != 1 else self.value - start
        )
        out: Floats = np.where(self.known, difference, np.nan)
        return out

    def take(self, rows: NDArray[Any]) -> Times:
        return Times(self.value[rows], self.known[rows], self.seconds)


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


def times(column: pa.Array) -> Times:
    """Times as numbers that can be subtracted without loss."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = np.asarray(column.is_valid())
    if kind_of(column.type) == "timestamp":
        factor = _NANOSECONDS[column.type.unit]
        whole = column.cast(pa.int64()).fill_null(0)
        return Times(np.asarray(whole) * factor, known, 1e-9)
    value = np.asarray(pc.fill_null(column.cast(pa.float64()), np.nan))
    return Times(value, known & np.isfinite(value), 1.0)


def number_column(column: pa.Array) -> Floats:
    """Numbers, nan where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(column.cast(pa.float64()), np.nan))


def text_column(column: pa.Array) -> pa.Array:
    """Decisions as text, whatever type they came in."""
    import pyarrow as pa

    kind = kind_of(column.type)
    if kind == "text":
        return column.cast(pa.large_string()) if column.type != pa.large_string() else column
    if kind == "nested":
        texts = [None if v is None else json.dumps(v, default=str) for v in column.to_pylist()]
        return pa.array(texts, pa.large_string())
    if kind == "seconds":
        texts = [decision_text(v if v is None else float(v)) for v in column.to_pylist()]
        return pa.array(texts, pa.large_string())
    return column.cast(pa.large_string())


def decision_ids(
    columns: list[pa.Array], cache: dict[str, str | None]
) -> tuple[list[Ints], NDArray[np.bool_], pa.Array | list[str]]:
    """Ids that are equal exactly where decisions are, −1 for null; which ids are no decisions; their
    texts in canonical form.

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
    trimmed = pc.utf8_trim_whitespace(spellings)
    special = np.asarray(
        pc.or_(
            pc.not_equal(trimmed, spellings),
            pc.match_substring_regex(trimmed, r'^[\[{"]'),
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
                one = cache[text] if text in cache else cache.setdefault(text, canonical(text))
            new_id[k] = names.setdefault(text if one is None else one, len(names))
            bad[new_id[k]] |= one is None
        ids = new_id[ids]
        texts = list(names)
    if len(cache) > _REMEMBERED:
        cache.clear()
    sizes = np.cumsum([len(column) for column in columns])[:-1]
    return np.split(ids, sizes), bad, texts


_REMEMBERED = 100_000


def changes(column: pa.Array) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; the first one does. Nulls are alike."""
    import pyarrow.compute as pc

    if not len(column):
        return np.zeros(0, dtype=bool)
    after, before = column.slice(1), column.slice(0, len(column) - 1)
    differs = np.asarray(pc.fill_null(pc.not_equal(after, before), False), dtype=bool)
    if column.null_count:
        differs = differs | (np.asarray(after.is_valid()) != np.asarray(before.is_valid()))
    return np.append(True, differs)
