"""A decision as text that is equal when the decision is.

Decisions and references are compared as text: JSON with sorted keys and no blanks, or the text itself
where it is no JSON object or list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["decision_text"]


def decision_text(value: Any) -> str:
    """The canonical text of a decision.

    >>> decision_text({"card": "wait", "badge": "idle"})
    '{"badge":"idle","card":"wait"}'
    >>> decision_text('{"card": "wait", "badge": "idle"}') == decision_text({"badge": "idle", "card": "wait"})
    True
    >>> decision_text("wait")
    'wait'
    """
    if isinstance(value, str):
        if value[:1] in ("{", "["):
            try:
                return _dump(json.loads(value))
            except ValueError:
                return value
        return str(value)
    return _dump(value)


def _dump(value: Any) -> str:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain
    )


def _plain(value: Any) -> Any:
    import dataclasses
    import enum

    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a decision of type {type(value).__name__} is no JSON value")
