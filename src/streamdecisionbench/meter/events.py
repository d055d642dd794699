"""What happened, as exports are told it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from streamdecisionbench.meter.stream import Stream

__all__ = ["Event", "Sink"]


class Event(NamedTuple):
    """Something that happened to one step of one component on one stream.

    `value` is the state as it was published, the decision or the reference as canonical text, or None
    at the end, where `step` is the last. `at` is when it happened on the meter's clock.
    """

    kind: Literal["published", "answered", "judged", "ended"]
    stream: Stream
    component: str
    step: int
    published_at: float
    at: float
    value: Any
    outcome: str = ""
    """Of an answer: applied, superseded or late."""
    correct: bool | None = None
    """Of an answer or a judgment, whichever came second: the decision was right for its own state."""
    confidence: float | None = None
    cost: float | None = None
    """Of an answer, where the application says."""


Sink = Callable[[Event], None]
"""Told after the fact, outside the meter's lock; whatever it raises is counted and goes no further."""
