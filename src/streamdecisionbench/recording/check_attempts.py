"""Do the attempts in the log and the responses tell the same story?

What others recorded may leave attempts out, in the log or in the response; what is there must agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from streamdecisionbench.recording.check_times import SLACK_S
from streamdecisionbench.recording.events import Attempt, Response, finite
from streamdecisionbench.recording.recording import Problem

__all__ = ["check_attempts"]


def check_attempts(
    episode_id: str, attempts: Iterable[Attempt], responses: Sequence[Response]
) -> list[Problem]:
    """All contradictions of one component's attempts in one episode."""
    logged: dict[int, list[Attempt]] = {}
    for attempt in attempts:
        logged.setdefault(attempt.t, []).append(attempt)
    known = {r.t for r in responses}
    problems = [
        Problem(f"{episode_id} t={t}", "an attempt for a step that has no response")
        for t in sorted(set(logged) - known)[:5]
    ]
    for response in responses:
        where = f"{episode_id} t={response.t}"
        problems += _listed(where, response)
        tries = logged.get(response.t)
        if tries:
            problems += _each(where, tries, response)
            problems += _against_response(where, tries, response)
    return problems


def _listed(where: str, response: Response) -> Iterator[Problem]:
    """The list inside the response."""
    flags = [a["ok"] for a in response.attempts if isinstance(a, dict) and "ok" in a]
    if flags and not any(flags):
        yield Problem(where, "is answered, but none of its attempts succeeded")


def _each(where: str, tries: Sequence[Attempt], response: Response) -> Iterator[Problem]:
    before = 0
    for attempt in tries:
        here = f"{where} attempt {attempt.attempt}"
        if attempt.request_hash != response.request_hash:
            yield Problem(here, "sent another request than the response answers (request_hash)")
        if attempt.attempt <= before and before > 0:
            yield Problem(here, "attempts are not numbered in order")
        before = max(attempt.attempt, before)
        times = [
            (name, value)
            for name in ("started_s", "received_s", "completed_s")
            if (value := getattr(attempt, name)) is not None
        ]
        for name, value in times:
            if not finite(value):
                yield Problem(here, f"{name} is not a time (NaN, infinite or negative)")
                return
        for (earlier, least), (name, value) in pairwise(times):
            if value < least - SLACK_S:
                yield Problem(here, f"{name} is before {earlier}")
        if attempt.started_s < response.release_s - SLACK_S:
            yield Problem(here, "started before its step was released")


def _against_response(
    where: str, tries: Sequence[Attempt], response: Response
) -> Iterator[Problem]:
    successful = [a for a in tries if a.ok]
    if not successful:
        yield Problem(where, "is answered, but no attempt in the log succeeded")
        return
    last = successful[-1]
    if tries[-1] is not last:
        yield Problem(where, "an attempt failed after the one that was answered")
    for name, theirs, ours in (
        ("started_s", last.started_s, response.success_started_s),
        ("received_s", last.received_s, response.received_s),
        ("completed_s", last.completed_s, response.completed_s),
    ):
        if theirs is not None and abs(theirs - ours) > SLACK_S:
            yield Problem(
                where,
                f"{name} of the successful attempt is {theirs:.6f}, the response says {ours:.6f}",
            )
    if not response.attempts:
        return
    if len(response.attempts) != len(tries):
        yield Problem(where, f"lists {len(response.attempts)} attempts, the log has {len(tries)}")
        return
    for attempt, listed in zip(tries, response.attempts, strict=True):
        differing = _differing(attempt, listed)
        if differing:
            yield Problem(
                f"{where} attempt {attempt.attempt}",
                f"{differing} is not what the response's list says",
            )


def _differing(attempt: Attempt, listed: Any) -> str | None:
    """The first field that both give and that differs."""
    if not isinstance(listed, dict):
        return None
    for name in ("attempt", "ok", "started_s", "received_s", "completed_s", "error_type"):
        ours, theirs = getattr(attempt, name), listed.get(name)
        if ours is None or theirs is None or (name == "ok" and not isinstance(theirs, bool)):
            continue
        if isinstance(ours, float):
            same = isinstance(theirs, int | float) and abs(ours - theirs) <= SLACK_S
        else:
            same = ours == theirs
        if not same:
            return name
    return None
