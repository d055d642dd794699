"""One decision out of a trace, and what had to be assumed about it.

No tracing convention says when a state became current, which stream it belongs to for sure, or when an
answer took effect. Ours adds four attributes: `sdb.stream`, `sdb.step`, `sdb.applied_at` and
`sdb.reference`. What is missing is assumed, counted, and said.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

__all__ = ["Decision", "Told", "decision_row", "instant", "own_attributes"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Decision:
    """A span or an observation, whatever tool wrote it. Times are seconds since 1970."""

    stream: str | None
    trace: str
    started: float
    ended: float | None
    failed: bool
    decision: str | None
    state: str | None
    extra: Mapping[str, str | None] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    """The `sdb.*` attributes, by what follows the dot."""


@dataclass
class Told:
    """What a reader of the result must know: assumptions and what was left out, with counts."""

    assumed: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


def decision_row(found: Decision, told: Told) -> dict[str, Any] | None:
    """A row of `sdb-decisions/1`, or None where the span cannot be one."""
    stream = found.own.get("stream") or found.stream
    if not stream:
        if not found.trace:
            told.left_out["neither a session nor a trace"] += 1
            return None
        stream = found.trace
        told.assumed["no session is named: every trace is a stream of its own"] += 1
    told.assumed["a state became current when its span began"] += 1
    answered = None if found.failed else found.ended
    if found.ended is None:
        told.assumed["a span without an end never got an answer"] += 1
    elif found.failed:
        told.assumed["a span that failed got no answer"] += 1
    decision = None if answered is None else found.decision
    if answered is not None and decision is None:
        told.assumed["a span without an output got no answer"] += 1
        answered = None
    applied = instant(found.own.get("applied_at"))
    if answered is not None and applied is None:
        told.assumed["when an answer took effect is not said: it is replayed, newest first"] += 1
    step = found.own.get("step")
    reference = found.own.get("reference")
    return {
        "stream": str(stream),
        "step": int(step) if isinstance(step, int | str) and str(step).isdigit() else None,
        "published_at": _stamp(found.started),
        "requested_at": _stamp(found.started),
        "answered_at": _stamp(answered),
        "applied_at": _stamp(applied),
        "decision": decision,
        "reference": None if reference is None else _text(reference),
        "state": found.state,
        **found.extra,
    }


def own_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The `sdb.*` ones.

    >>> own_attributes({"sdb.stream": "call-7", "session.id": "s"})
    {'stream': 'call-7'}
    """
    return {k.removeprefix("sdb."): v for k, v in attributes.items() if k.startswith("sdb.")}


def instant(value: Any) -> float | None:
    """Seconds since 1970 from seconds, a time in ISO 8601, or a datetime; None from anything else.

    >>> instant("2026-01-02T03:04:05Z") == instant(1767323045.0)
    True
    """
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (aware - _EPOCH).total_seconds()
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        return instant(datetime.fromisoformat(str(value)))
    except ValueError:
        return None


def _stamp(seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(round(seconds, 6), UTC)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
