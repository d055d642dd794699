"""Is a recording whole, and could it have happened? Every rule of the protocol, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamdecisionbench.policy_file import Policy
from streamdecisionbench.recording.check_acceptance import check_acceptance
from streamdecisionbench.recording.check_attempts import check_attempts
from streamdecisionbench.recording.check_meaning import (
    check_answers,
    check_counts,
    check_requests,
)
from streamdecisionbench.recording.check_policy import check_policy
from streamdecisionbench.recording.check_times import (
    check_completeness,
    check_order,
    check_plan,
    recorded_tick,
    tick_of,
)
from streamdecisionbench.recording.events import Attempt, Cancelled, Release, Response, Skipped
from streamdecisionbench.recording.recording import Episode, Problem
from streamdecisionbench.suite.scenario import Scenario

__all__ = ["Expected", "check_episode", "recorded_tick"]


@dataclass(frozen=True, slots=True)
class Expected:
    """What the suite and the run record say an episode must be."""

    steps: int
    scenario: Scenario | None = None
    interval_s: float | None = None
    """Seconds per step as the run record states them; None: it does not."""
    irregular: bool = False
    """Whether scenarios have times of their own, as the run record states it."""
    consumed_only: bool = False
    lanes: tuple[str, ...] = ()
    """The components of a live pair or cascade, in order; empty: one component."""
    rule: str | None = None
    """The rule that decided between the components of a live pair; None: not known."""
    policy: Policy | None = None
    """The policy it was recorded under."""
    our_hashes: bool = False
    """Whether the recorder was ours, and with it the way requests are hashed."""


def check_episode(episode: Episode, expected: Expected) -> list[Problem]:
    """All violations found in one episode of one component, of a live pair or of a cascade."""
    parts = expected.lanes or ("",)
    problems: list[Problem] = []
    usable = True
    for part in parts:
        name = f"{episode.episode_id} ({part})" if part else episode.episode_id
        responses = [r for r in episode.responses if not part or r.component == part]
        attempts = [a for a in episode.attempts if not part or a.component == part]
        gaps = [g for g in episode.gaps if not part or g.component == part]
        wrong = _check_part_times(name, episode.releases, responses, gaps, expected)
        usable = usable and not wrong
        given_up = {g.t for g in gaps if isinstance(g, Cancelled)}
        attempts = [a for a in attempts if a.t not in given_up]
        problems += wrong or _check_part(name, attempts, responses, expected)
    if not usable:
        return problems
    releases = sorted(episode.releases, key=lambda r: r.t)
    if expected.scenario is not None:
        tick = tick_of(releases, expected.scenario, expected.interval_s)
    elif expected.irregular:
        return problems  # without the suite nobody knows when it ended
    else:
        tick = recorded_tick(releases, 0.0)
    if tick <= 0 or (expected.lanes and expected.rule is None and expected.policy is None):
        return problems
    horizon = expected.steps * tick
    if expected.policy is None:
        return problems + check_acceptance(
            episode.episode_id, episode.responses, horizon, expected.rule
        )
    if expected.scenario is None:
        return problems
    return problems + check_policy(
        episode, horizon, expected.policy, expected.scenario, expected.lanes or (None,)
    )


def _check_part_times(
    name: str,
    releases: Sequence[Release],
    responses: Sequence[Response],
    gaps: Sequence[Cancelled | Skipped],
    expected: Expected,
) -> list[Problem]:
    """What makes every other question pointless: steps that are missing, times that cannot be."""
    if gaps and expected.policy is None:
        return [Problem(name, "states were not sent, but the run record names no policy")]
    problems = check_completeness(name, expected.steps, releases, responses, gaps)
    if problems:
        return problems
    releases = sorted(releases, key=lambda r: r.t)
    if expected.scenario is not None or not expected.irregular:
        problems += check_plan(name, releases, expected.interval_s, expected.scenario)
    by_step = {release.t: release for release in releases}
    for response in sorted(responses, key=lambda r: r.t):
        problems += check_order(name, by_step[response.t], response)
    return problems


def _check_part(
    name: str, attempts: Sequence[Attempt], responses: Sequence[Response], expected: Expected
) -> list[Problem]:
    problems = check_attempts(name, attempts, responses)
    for response in responses:
        problems += check_counts(name, response)
    scenario = expected.scenario
    if scenario is None:
        return problems
    for response in responses:
        problems += check_answers(name, response, scenario, expected.consumed_only)
    return problems + check_requests(name, responses, scenario, ours=expected.our_hashes)
