"""Spans in OTLP's JSON, line by line, as a collector's file exporter writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.errors import InputError

__all__ = ["Span", "read_spans"]

_FAILED = (2, "STATUS_CODE_ERROR")


@dataclass(frozen=True, slots=True)
class Span:
    """What conversion reads of a span. Times are seconds since 1970."""

    name: str
    trace: str
    started: float
    ended: float | None
    failed: bool
    attributes: dict[str, Any]
    resource: dict[str, Any]


def read_spans(paths: Sequence[Path]) -> Iterator[Span]:
    """All spans of all files. A line is one export of resource spans, or the file is one document."""
    for path in paths:
        for number, document in _documents(path):
            try:
                yield from _spans(document)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise InputError(
                    f"line {number} holds no OTLP spans ({type(error).__name__}: {error})",
                    where=path,
                    fix="export traces as OTLP JSON, one export per line",
                ) from None


def _documents(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield number, msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                if number == 1:
                    whole = _whole(path)
                    if whole is not None:
                        yield 1, whole
                        return
                raise InputError(
                    f"line {number} is not JSON ({error})", where=path, fix="export it as OTLP JSON"
                ) from None


def _whole(path: Path) -> Any:
    """One document over many lines, as people print it."""
    try:
        return msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _spans(document: Any) -> Iterator[Span]:
    groups = document["resourceSpans"]
    for group in groups:
        resource = _attributes((group.get("resource") or {}).get("attributes") or [])
        for scope in group.get("scopeSpans") or []:
            for span in scope.get("spans") or []:
                yield Span(
                    name=str(span.get("name", "")),
                    trace=str(span.get("traceId", "")),
                    started=_seconds(span["startTimeUnixNano"]) or 0.0,
                    ended=_seconds(span.get("endTimeUnixNano")),
                    failed=(span.get("status") or {}).get("code") in _FAILED,
                    attributes=_attributes(span.get("attributes") or []),
                    resource=resource,
                )


def _attributes(pairs: list[Any]) -> dict[str, Any]:
    return {str(pair["key"]): _value(pair.get("value") or {}) for pair in pairs}


def _value(value: dict[str, Any]) -> Any:
    for kind, held in value.items():
        if kind == "intValue":
            return int(held)
        if kind == "doubleValue":
            return float(held)
        if kind == "arrayValue":
            return [_value(v) for v in held.get("values") or []]
        if kind == "kvlistValue":
            return _attributes(held.get("values") or [])
        return held
    return None


def _seconds(nanoseconds: Any) -> float | None:
    """Microseconds are kept: whole seconds and the rest are divided apart."""
    if nanoseconds in (None, "", 0, "0"):
        return None
    seconds, rest = divmod(int(nanoseconds), 1_000_000_000)
    return seconds + rest / 1e9
