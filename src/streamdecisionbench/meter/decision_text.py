"""A decision as text that is equal where the decision is, as `sdb logs` compares it.

Text counts without the white space around it. What begins with {, [ or a quotation mark is JSON: the
order of keys, white space and escapes do not matter, 1 equals 1.0, and a JSON string equals its text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def decision_text(value: Any) -> str:
    """The canonical text of a decision, a reference or a state.

    >>> decision_text({"card": "wait", "badge": 1.0})
    '{"badge":1,"card":"wait"}'
    >>> decision_text('{"card": "wait", "badge": 1}') == decision_text({"badge": 1, "card": "wait"})
    True
    >>> decision_text(" wait "), decision_text('"wait"'), decision_text(True)
    ('wait', 'wait', 'true')
    """
    if not isinstance(value, str):
        return _dump(value)
    text = value.strip()
    if text[:1] not in ("{", "[", '"'):
        return text
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return f"not JSON: {text}"  # so that nobody who reads it again takes it for JSON
    if not isinstance(parsed, str):
        return _dump(parsed)
    inner = parsed.strip()
    return decision_text(inner) if inner[:1] in ("{", "[") else inner


def _dump(value: Any) -> str:
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """JSON values, with whole numbers written as such."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    import dataclasses
    import enum

    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain(dataclasses.asdict(value))
    raise TypeError(f"a decision of type {type(value).__name__} is no JSON value")
