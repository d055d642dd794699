"""Published limits of the decision APIs, checked before the first request is paid for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamdecisionbench.components.contract import Request
from streamdecisionbench.errors import InputError

__all__ = ["OPENAI_DECISIONS", "SYSTEM_ONE", "RequestLimits", "depth_of", "require_within"]


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What an API says it takes; None where it names no limit."""

    api: str
    questions: int | None = None
    options: tuple[int, int] = (2, 255)
    depth: int | None = None
    size: int | None = None


SYSTEM_ONE = RequestLimits("System One", depth=64, size=32 * 1024 * 1024)
OPENAI_DECISIONS = RequestLimits("the Decisions API", questions=400)


def require_within(limits: RequestLimits, request: Request, where: str) -> None:
    """Raises `InputError` for a request the API is known to refuse.

    >>> question = {"criteria": {"K01": "yes: it is"}}
    >>> require_within(SYSTEM_ONE, Request({}, {"mode": question}), "support_a step 0")
    Traceback (most recent call last):
    streamdecisionbench.errors.InputError: support_a step 0: mode has 1 options; System One takes 2 to 255
      fix: record it with another provider, or change the suite
    """
    problem = _problem(limits, request)
    if problem:
        raise InputError(
            problem, where=where, fix="record it with another provider, or change the suite"
        )


def depth_of(value: Any) -> int:
    """Levels of nesting: 1 for a flat object, without recursion."""
    deepest, stack = 0, [(value, 0)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, Mapping):
            parts = list(item.values())
        elif isinstance(item, list | tuple):
            parts = list(item)
        else:
            continue
        deepest = max(deepest, depth + 1)
        stack += [(part, depth + 1) for part in parts]
    return deepest


def _problem(limits: RequestLimits, request: Request) -> str:
    if limits.questions is not None and len(request.questions) > limits.questions:
        return f"{len(request.questions)} questions; {limits.api} takes {limits.questions}"
    low, high = limits.options
    for name, question in request.questions.items():
        count = len(question["criteria"])
        if not low <= count <= high:
            return f"{name} has {count} options; {limits.api} takes {low} to {high}"
    if limits.depth is not None and (depth := depth_of(request.state)) > limits.depth:
        return f"the state is nested {depth} levels deep; {limits.api} takes {limits.depth}"
    if limits.size is not None:
        size = len(json.dumps(request.payload(), ensure_ascii=False).encode("utf-8", "replace"))
        if size > limits.size:
            return f"the request has {size:,} bytes; {limits.api} takes {limits.size:,}"
    return ""
