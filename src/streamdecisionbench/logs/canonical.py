"""When two decisions are the same: text as it stands, JSON whatever its spelling.

Text is compared without the white space around it. A value that begins with {, [ or a quotation
mark is JSON: order of keys, white space and escapes do not matter, 1 equals 1.0, and a JSON string
equals its text.
"""

from __future__ import annotations

import json
from typing import Any

_OPENING = ("{", "[", '"')


def canonical(value: str) -> str | None:
    """The one spelling of a decision; None where it begins like JSON and is not.

    >>> canonical('{"b": 1.0, "a": "x"}') == canonical('{"a":"x","b":1}')
    True
    >>> canonical(' hold '), canonical('"hold"'), canonical('{"hold"')
    ('hold', 'hold', None)
    """
    text = value.strip()
    if not text.startswith(_OPENING):
        return text
    try:
        parsed = json.loads(text)
        if isinstance(parsed, str):
            return canonical(parsed) if parsed.strip().startswith(("{", "[")) else parsed.strip()
        return json.dumps(
            _plain_numbers(parsed), sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
    except (ValueError, RecursionError):
        return None


def decision_text(value: Any) -> str | None:
    """A decision or reference given as a Python object: text stays text, the rest becomes JSON.

    >>> decision_text("hold"), decision_text({"b": 1, "a": True}), decision_text(None)
    ('hold', '{"a":true,"b":1}', None)
    """
    if value is None:
        return None
    if isinstance(value, str):
        return canonical(value)
    return json.dumps(
        _plain_numbers(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_numbers(item) for item in value]
    return value
