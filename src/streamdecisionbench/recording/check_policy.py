"""Was accepted what the recorded policy accepts at the recorded times?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamdecisionbench.policy_file import Policy
from streamdecisionbench.recording.confidence import composed_confidence
from streamdecisionbench.recording.events import AFTER_HORIZON, Response
from streamdecisionbench.recording.live_policy import LivePolicy
from streamdecisionbench.recording.recording import Episode, Problem
from streamdecisionbench.suite.scenario import Scenario

__all__ = ["check_policy"]

_NEAR_S = 1e-3
"""An arrival this close to the horizon may have been decided on the other side of it."""


def check_policy(
    episode: Episode,
    horizon: float,
    policy: Policy,
    scenario: Scenario,
    lanes: Sequence[str | None],
) -> list[Problem]:
    """Arrivals in order of time; at equal times the newer source first, then the later component."""
    live = LivePolicy(policy, scenario, lanes)
    arrivals = sorted(
        episode.responses,
        key=lambda r: (r.actual_recorded_s, -r.t, -live.ranks.get(r.component, 0)),
    )
    problems: list[Problem] = []
    for response in arrivals:
        problems += _check(episode.episode_id, response, live, scenario, horizon)
        if response.accepted:
            live.arbiter.activate(response.component, response.t)
    return problems


def _check(
    episode_id: str, response: Response, live: LivePolicy, scenario: Scenario, horizon: float
) -> Iterator[Problem]:
    part = f" ({response.component})" if response.component else ""
    where = f"{episode_id} t={response.t}{part}"
    if response.component not in live.ranks:
        yield Problem(where, "is of a component that the policy does not name")
        return
    late = response.actual_recorded_s >= horizon
    if abs(response.actual_recorded_s - horizon) < _NEAR_S and not response.accepted:
        return
    spec = scenario.decision_spec
    sure = composed_confidence(
        spec, response.pred, response.wire_answers, response.confidence, response.probabilities
    )
    reason = AFTER_HORIZON
    if not late:
        reason = (
            live.arbiter.refusal(
                response.component,
                response.t,
                spec.compose(response.pred),
                None if sure is None else sure[live.policy.gate.compose],
            )
            or ""
        )
    if (response.discard_reason or "") != reason or response.accepted != (not reason):
        yield Problem(
            where,
            f"was {_said(response)}, but under the recorded policy it is {reason or 'accepted'}",
        )


def _said(response: Response) -> str:
    return "accepted" if response.accepted else f"discarded ({response.discard_reason!r:.40})"
