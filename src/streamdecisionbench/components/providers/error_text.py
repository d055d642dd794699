"""The words of a server's error body: quoted for a server of one's own, otherwise only looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

__all__ = ["mentions_key", "quote"]

_LONGEST = 300
_KEY_WORDS = re.compile(
    r"api[ _-]?key|authenticat|authoriz|credential|bearer|virtual key|invalid key", re.IGNORECASE
)


def quote(body: Any, secrets: Iterable[str]) -> str:
    """The message inside an error body as one line without secrets and control characters.

    >>> quote(b'{"error": {"message": "model not\\\\nfound for sk-12"}}', ["sk-12"])
    'model not found for [hidden]'
    """
    text = _message(_parsed(body))
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "[hidden]")
    text = "".join(c if c.isprintable() else " " for c in text)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def mentions_key(body: Any) -> bool:
    """Whether the body is about the key: some gateways answer a wrong one with status 400.

    >>> mentions_key(b'{"error": "Invalid API key provided"}'), mentions_key(b"bad schema")
    (True, False)
    """
    return _KEY_WORDS.search(_message(_parsed(body))) is not None


def _parsed(body: Any) -> Any:
    if isinstance(body, bytes):
        body = body[:100_000].decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return body
    return body


def _message(value: Any) -> str:
    """Where servers put it: `error`, `message` or `detail`, as text, object or list of objects."""
    if isinstance(value, str):
        return "" if "<html" in value[:1000].lower() else value
    if isinstance(value, list):
        return "; ".join(filter(None, (_message(item) for item in value[:5])))
    if not isinstance(value, dict):
        return ""
    for name in ("error", "message", "detail", "msg", "title"):
        found = value.get(name)
        if isinstance(found, str | dict | list) and found:
            return _message(found)
    return ""
