"""Partial rows made whole: a meter writes of a state when it is published, answered and judged.

Rows of one stream and `published_at` are one state. What is said of it is said once, so the largest
value of a column is its only one. When a stream ended stands on one of its rows. A stream that a kill
left open is known to have lasted as long as its process is: up to the last time that the process wrote.
The query is the same for DuckDB and Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

__all__ = ["completed"]

_TIMES = ("published_at", "requested_at", "answered_at", "applied_at", "ended_at")


def completed(
    query: str,
    names: Collection[str],
    quoted: Callable[[str], str] = lambda name: '"' + name.replace('"', '""') + '"',
) -> str:
    """A query for the whole rows behind `query`, whose columns are `names`."""
    others = sorted(set(names) - {"stream", "published_at", "partial", "ended_at", "filename"})
    times = [name for name in _TIMES if name in names]
    latest = f"greatest({', '.join(times)})" if len(times) > 1 else times[0]
    ended = "max(ended_at)" if "ended_at" in names else "NULL"
    shown = [*map(quoted, others), *(["filename"] if "filename" in names else [])]
    states = ", ".join(
        [
            "stream",
            "published_at",
            *(f"max({quoted(name)}) AS {quoted(name)}" for name in others),
            *(["min(filename) AS filename"] if "filename" in names else []),
            f"{ended} AS _ended",
            f"max({latest}) AS _latest",
            f"{_process(names)} AS _process",
        ]
    )
    return (
        f"SELECT {', '.join(['stream', 'published_at', *shown, '_until AS ended_at'])} FROM ("
        f"SELECT *, coalesce(_known, CASE WHEN _process <> '' THEN _alive END) AS _until FROM ("
        f"SELECT *, max(_ended) OVER (PARTITION BY stream) AS _known,"
        f" max(_latest) OVER (PARTITION BY _process) AS _alive FROM ("
        f"SELECT {states} FROM ({query}) _given GROUP BY stream, published_at) _states) _lasted) _whole"
        # The newest state of a stream that a kill left open was current for no time we know of.
        " WHERE _known IS NOT NULL OR _until IS NULL OR published_at < _until"
    )


def _process(names: Collection[str]) -> str:
    """Which run of a meter wrote a row: its streams are called name@run.number, shadows ~component."""
    stream = "max(CAST(stream AS STRING))"
    if "component" in names:
        stream = (
            f"CASE WHEN max(component) <> 'applied' THEN"
            f" substr({stream}, 1, length({stream}) - length(max(component)) - 1) ELSE {stream} END"
        )
    return f"coalesce(regexp_extract({stream}, '@([0-9A-Za-z-]+)[.][0-9]+$', 1), '')"
