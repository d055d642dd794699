"""One line of `events.jsonl`: a release, an attempt, a response, or what a policy did instead.

Times are seconds since the episode's start on a monotonic clock. Field names are those of the
published format; a reader ignores keys it does not know.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from streamdecisionbench.components.usage import Usage
from streamdecisionbench.in_force import NOT_AGREED, OLDER_THAN_ACTIVE, WITHHELD

__all__ = [
    "AFTER_HORIZON",
    "NOT_AGREED",
    "OLDER_THAN_ACTIVE",
    "WITHHELD",
    "Attempt",
    "Cancelled",
    "Event",
    "Expired",
    "Release",
    "Response",
    "Skipped",
    "Usage",
]

AFTER_HORIZON = "after_horizon"


class Release(msgspec.Struct, frozen=True, tag_field="kind", tag="release"):
    """Step `t` was to be published at `planned_s` and really was at `release_s`."""

    episode_id: str
    t: int
    planned_s: float
    release_s: float


class Attempt(msgspec.Struct, frozen=True, tag_field="kind", tag="attempt", omit_defaults=True):
    """One call to the component, successful or not. No error text: it could echo the input."""

    episode_id: str
    t: int
    request_hash: str
    attempt: int
    started_s: float
    received_s: float | None = None
    completed_s: float | None = None
    ok: bool = False
    retryable: bool = False
    error_type: str | None = None
    http_status: int | None = None
    component: str | None = None


class Response(msgspec.Struct, frozen=True, tag_field="kind", tag="response", omit_defaults=True):
    """The answer to step `t`, what it decodes to, and whether it took effect."""

    episode_id: str
    t: int
    release_s: float
    request_hash: str
    ok: bool
    accepted: bool
    started_s: float
    received_s: float
    pred: dict[str, str]
    completed_s: float
    actual_recorded_s: float
    discard_reason: str | None = None
    attempts: list[Any] = []
    wire_answers: dict[str, str] = {}
    decision: dict[str, str] = {}
    model: str | None = None
    usage: Usage | None = None
    accepted_s: float | None = None
    component: str | None = None
    probabilities: dict[str, dict[str, float]] | None = None
    confidence: dict[str, float] | None = None

    @property
    def success_started_s(self) -> float:
        """Start of the successful attempt (the last one that was ok)."""
        for attempt in reversed(self.attempts):
            if not isinstance(attempt, dict) or not attempt.get("ok", True):
                continue
            if isinstance(attempt.get("started_s"), int | float):
                return float(attempt["started_s"])
        return self.started_s

    @property
    def service_s(self) -> float:
        """completed − started of the successful attempt: what published latency quantiles use."""
        return self.completed_s - self.success_started_s

    @property
    def commit_lag_s(self) -> float:
        """From validated completion to the acceptance check."""
        return self.actual_recorded_s - self.completed_s

    @property
    def latency_s(self) -> float:
        """L_i = (completed − started of the successful attempt) + (recorded − completed)."""
        return self.service_s + self.commit_lag_s


class Cancelled(msgspec.Struct, frozen=True, tag_field="kind", tag="cancelled", omit_defaults=True):
    """A request that a policy gave up: its answer will never be known."""

    episode_id: str
    t: int
    request_hash: str
    started_s: float
    cancelled_s: float
    component: str | None = None

    @property
    def waited_s(self) -> float:
        """For how long it is known not to have been answered."""
        return self.cancelled_s - self.started_s


class Skipped(msgspec.Struct, frozen=True, tag_field="kind", tag="skipped", omit_defaults=True):
    """A state that a policy did not send to a component."""

    episode_id: str
    t: int
    reason: str
    component: str | None = None


class Expired(msgspec.Struct, frozen=True, tag_field="kind", tag="expired", omit_defaults=True):
    """A decision that lapsed: from `expired_s` on the policy's fallback was in force."""

    episode_id: str
    t: int
    expired_s: float
    component: str | None = None


Event = Release | Attempt | Response | Cancelled | Skipped | Expired


def finite(value: float | None) -> bool:
    """A usable time: present, finite, not negative."""
    return value is not None and math.isfinite(value) and value >= 0
