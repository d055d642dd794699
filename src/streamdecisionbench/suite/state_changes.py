"""What changed between two states, one line a change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def state_changes(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """What changed between two JSON values, one line a change, in a fixed order.

    >>> list(state_changes({"now": 3, "log": ["a"]}, {"now": 4, "log": ["a", "b"]}))
    ['now: 3 → 4', 'log[1]: added "b"']
    """
    both = (before, after)
    named = all(isinstance(value, dict) for value in both)
    if named or all(isinstance(value, list) for value in both):
        old, new = both if named else (dict(enumerate(value)) for value in both)
        for key in {**old, **new}:
            where = f"{path}.{key}" if named and path else str(key) if named else f"{path}[{key}]"
            if key not in new:
                yield f"{where}: removed (was {_text(old[key])})"
            elif key not in old:
                yield f"{where}: added {_text(new[key])}"
            else:
                yield from state_changes(old[key], new[key], where)
    elif before != after:
        yield f"{path}: {_text(before)} → {_text(after)}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
