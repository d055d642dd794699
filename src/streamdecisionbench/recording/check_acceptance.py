"""Was accepted what the in-force rule accepts at the recorded times?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamdecisionbench.in_force import FAST, Arbiter, Newest, PairRule
from streamdecisionbench.recording.events import AFTER_HORIZON, OLDER_THAN_ACTIVE, Response
from streamdecisionbench.recording.recording import Problem

__all__ = ["check_acceptance"]

_NEAR_S = 1e-3
"""An arrival this close to the horizon may have been decided on the other side of it."""


def check_acceptance(
    episode_id: str, responses: Sequence[Response], horizon: float, rule: str | None = None
) -> list[Problem]:
    """All flags of one episode: of one component, or of both in a live pair under `rule`.

    Arrivals in order of time; at equal times the newer source first, then slow before fast.
    """
    arbiter: Arbiter = PairRule(rule) if rule else Newest()
    arrivals = sorted(responses, key=lambda r: (r.actual_recorded_s, -r.t, r.component == FAST))
    problems: list[Problem] = []
    for response in arrivals:
        problems += _check(episode_id, response, arbiter, horizon)
        if response.accepted:
            arbiter.activate(response.component, response.t)
    return problems


def _check(
    episode_id: str, response: Response, arbiter: Arbiter, horizon: float
) -> Iterator[Problem]:
    part = f" ({response.component})" if response.component else ""
    where = f"{episode_id} t={response.t}{part}"
    late = response.actual_recorded_s >= horizon
    near = abs(response.actual_recorded_s - horizon) < _NEAR_S
    admitted = not (late and not near) and not arbiter.refusal(
        response.component, response.t, response.decision, None
    )
    if response.accepted != (admitted and not late) and not near:
        rule = "arrived after the horizon" if late else "the active source was newer"
        verb = "was accepted but" if response.accepted else "was discarded but should not be: no"
        yield Problem(where, f"{verb} {rule}")
    if response.accepted:
        if response.discard_reason is not None:
            yield Problem(
                where, f"is accepted and has discard_reason {response.discard_reason!r:.60}"
            )
    elif response.discard_reason not in (AFTER_HORIZON, OLDER_THAN_ACTIVE):
        yield Problem(where, f"discard_reason {response.discard_reason!r:.60} is not known")
    elif response.discard_reason == AFTER_HORIZON and not late and not near:
        yield Problem(where, "discard_reason is after_horizon, but it arrived before the horizon")
