"""Digests that name suites and requests: SHA-256 of canonical JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import msgspec


def canonical(value: Any) -> bytes:
    """JSON with sorted keys, separators "," and ":", non-ASCII kept, UTF-8.

    >>> canonical({"b": 1, "a": "é"}).decode()
    '{"a":"é","b":1}'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def digest(value: Any) -> str:
    """SHA-256 of `canonical(value)`, in hexadecimal.

    >>> digest({})[:12]
    '44136fa355b3'
    """
    return hashlib.sha256(canonical(value)).hexdigest()


def has_digest(value: Any, expected: str) -> bool:
    """Whether `digest(value)` is `expected`, decided fast for the usual case.

    The quick encoder writes the same bytes except for numbers with an exponent, so a match is a
    match; only a mismatch needs the slow word.
    """
    quick = hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
    return quick == expected or digest(value) == expected


def request_hash(state: Any, questions: Any) -> str:
    """Identifies one request {state, questions}."""
    return digest({"state": state, "questions": questions})


def request_hashes(states: Iterable[Any], questions: Any) -> list[str]:
    """`request_hash` of every state with the same questions, which are written down once.

    >>> request_hashes([{"t": 0}], {"q": 1}) == [request_hash({"t": 0}, {"q": 1})]
    True
    """
    before = b'{"questions":' + canonical(questions) + b',"state":'
    return [hashlib.sha256(before + canonical(state) + b"}").hexdigest() for state in states]


def public_hash(requests: Iterable[dict[str, Any]]) -> str:
    """Digest of the list of requests of one scenario: all that a component ever sees of it."""
    return digest(list(requests))
