"""Is a recording whole, and could it have happened? Every rule of the protocol, one by one.

Completeness: every step was released once and has exactly one valid response.
Causality: release ≤ start ≤ receipt ≤ completion ≤ recording, attempt by attempt; releases in order.
Meaning: labels decode to the recorded values, values compose to the recorded decision, and what was
accepted is what the acceptance rule accepts at the recorded times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from streamdecisionbench.recording.events import (
    AFTER_HORIZON,
    OLDER_THAN_ACTIVE,
    Attempt,
    Release,
    Response,
    finite,
)
from streamdecisionbench.recording.recording import Problem
from streamdecisionbench.suite.scenario import Scenario

__all__ = ["check_episode", "recorded_tick"]

_SLACK = 2e-6
"""Published tables carry six decimals; two rounded times may cross by two units of the last one."""


def recorded_tick(releases: Sequence[Release], scenario_tick: float) -> float:
    """Seconds per tick on the recording clock: what the planned releases say."""
    if len(releases) < 2:
        return scenario_tick
    tick = (releases[-1].planned_s - releases[0].planned_s) / (len(releases) - 1)
    return scenario_tick if abs(tick - scenario_tick) < 1e-9 else round(tick, 9)


def check_episode(
    episode_id: str,
    steps: int,
    releases: Sequence[Release],
    attempts: Iterable[Attempt],
    responses: Sequence[Response],
    *,
    scenario: Scenario | None = None,
    consumed_only: bool = False,
    arbitrated: bool = False,
) -> list[Problem]:
    """All violations found in one episode. `arbitrated`: acceptance was a pair's, not one component's."""
    problems = _check_completeness(episode_id, steps, releases, responses)
    if problems:
        return problems
    releases = sorted(releases, key=lambda r: r.t)
    responses = sorted(responses, key=lambda r: r.t)
    problems += _check_releases(episode_id, releases)
    for release, response in zip(releases, responses, strict=True):
        problems += _check_times(episode_id, release, response)
    problems += _check_attempts(episode_id, attempts, responses)
    if scenario is not None:
        for response in responses:
            problems += _check_meaning(episode_id, response, scenario, consumed_only)
    if not problems and not arbitrated:
        tick = recorded_tick(releases, scenario.tick_seconds if scenario else 0.0)
        if tick > 0:
            problems += _check_acceptance(episode_id, responses, horizon=steps * tick)
    return problems


def _check_completeness(
    episode_id: str, steps: int, releases: Sequence[Release], responses: Sequence[Response]
) -> list[Problem]:
    problems = []
    for what, found in (
        ("release", [r.t for r in releases]),
        ("response", [r.t for r in responses]),
    ):
        missing = sorted(set(range(steps)) - set(found))
        if missing:
            shown = ", ".join(map(str, missing[:5])) + (" …" if len(missing) > 5 else "")
            problems.append(
                Problem(episode_id, f"{len(missing)} of {steps} steps have no {what} (t = {shown})")
            )
        twice = (
            sorted({t for t in found if found.count(t) > 1}) if len(set(found)) < len(found) else []
        )
        problems += [Problem(f"{episode_id} t={t}", f"has more than one {what}") for t in twice[:5]]
        beyond = sorted({t for t in found if not 0 <= t < steps})
        problems += [
            Problem(f"{episode_id} t={t}", f"a {what} for a step outside 0–{steps - 1}")
            for t in beyond[:5]
        ]
    problems += [
        Problem(
            f"{episode_id} t={r.t}", "the response is not ok; only valid responses can be scored"
        )
        for r in responses
        if not r.ok
    ][:5]
    return problems


def _check_releases(episode_id: str, releases: Sequence[Release]) -> list[Problem]:
    problems = []
    for release in releases:
        where = f"{episode_id} t={release.t}"
        for name in ("planned_s", "release_s"):
            if not finite(getattr(release, name)):
                problems.append(Problem(where, f"{name} is not a time (NaN, infinite or negative)"))
    if problems:
        return problems
    for before, after in pairwise(releases):
        if after.release_s <= before.release_s:
            problems.append(
                Problem(
                    f"{episode_id} t={after.t}", f"released at or before t={before.t} (release_s)"
                )
            )
        if after.planned_s <= before.planned_s:
            problems.append(
                Problem(
                    f"{episode_id} t={after.t}", f"planned at or before t={before.t} (planned_s)"
                )
            )
    return problems


def _check_times(episode_id: str, release: Release, response: Response) -> list[Problem]:
    where = f"{episode_id} t={response.t}"
    chain = (
        ("release_s", response.release_s),
        ("started_s", response.success_started_s),
        ("received_s", response.received_s),
        ("completed_s", response.completed_s),
        ("actual_recorded_s", response.actual_recorded_s),
    )
    bad = [name for name, value in chain if not finite(value)]
    if bad:
        return [Problem(where, f"{', '.join(bad)} is not a time (NaN, infinite or negative)")]
    problems = [
        Problem(where, f"{name} ({value:.6f}) is before {earlier} ({least:.6f})")
        for (earlier, least), (name, value) in pairwise(chain)
        if value < least - _SLACK
    ]
    if abs(release.release_s - response.release_s) > _SLACK:
        problems.append(Problem(where, "release_s of the response is not that of the release"))
    taken = response.accepted_s if response.accepted else None
    if taken is not None and taken < response.actual_recorded_s - _SLACK:
        problems.append(Problem(where, "accepted_s is before actual_recorded_s"))
    return problems


def _check_attempts(
    episode_id: str, attempts: Iterable[Attempt], responses: Sequence[Response]
) -> list[Problem]:
    hashes = {(r.t, r.component): r.request_hash for r in responses}
    problems = []
    seen: dict[tuple[int, str | None], int] = {}
    for attempt in attempts:
        where = f"{episode_id} t={attempt.t} attempt {attempt.attempt}"
        key = (attempt.t, attempt.component)
        if key in hashes and attempt.request_hash != hashes[key]:
            problems.append(
                Problem(where, "sent another request than the response answers (request_hash)")
            )
        if not finite(attempt.started_s):
            problems.append(Problem(where, "started_s is not a time (NaN, infinite or negative)"))
        if seen.get(key, attempt.attempt - 1) >= attempt.attempt:
            problems.append(Problem(where, "attempts are not numbered in order"))
        seen[key] = attempt.attempt
    return problems


def _check_meaning(
    episode_id: str, response: Response, scenario: Scenario, consumed_only: bool
) -> list[Problem]:
    where = f"{episode_id} t={response.t}"
    spec = scenario.decision_spec
    expected = (
        spec.consumed(response.pred.get(spec.route_question, ""))
        if consumed_only
        else scenario.questions
    )
    unanswered = [q for q in expected if q not in response.pred]
    if unanswered:
        return [Problem(where, f"pred leaves {', '.join(unanswered)} unanswered")]
    unknown = [q for q in response.pred if q not in scenario.questions]
    if unknown:
        return [Problem(where, f"pred answers {', '.join(unknown)}, which the suite does not ask")]
    for q, value in response.pred.items():
        if value not in scenario.option_semantics[q].values():
            return [Problem(where, f"pred.{q} = {value!r} is no option of that question")]
    for q, label in response.wire_answers.items():
        if scenario.option_semantics.get(q, {}).get(label) != response.pred.get(q):
            return [Problem(where, f"wire_answers.{q} = {label!r} does not mean pred.{q}")]
    if response.decision and response.decision != spec.compose(response.pred):
        return [Problem(where, "decision is not what pred composes to")]
    return []


def _check_acceptance(
    episode_id: str, responses: Sequence[Response], horizon: float
) -> list[Problem]:
    """At the recorded times: accepted exactly when newer than the active source and before H."""
    problems = []
    active = -1
    arrivals = sorted(responses, key=lambda r: (r.actual_recorded_s, -r.t))
    for response in arrivals:
        late = response.actual_recorded_s >= horizon
        expected = response.t > active and not late
        where = f"{episode_id} t={response.t}"
        near = abs(response.actual_recorded_s - horizon) < 1e-3
        if response.accepted != expected and not near:
            rule = (
                "arrived after the horizon" if late else f"arrived while step {active} was in force"
            )
            verb = (
                "was accepted but" if response.accepted else "was discarded but should not be: it"
            )
            problems.append(Problem(where, f"{verb} {rule}"))
        if not response.accepted and response.discard_reason not in (
            AFTER_HORIZON,
            OLDER_THAN_ACTIVE,
        ):
            problems.append(
                Problem(where, f"discard_reason {response.discard_reason!r} is not known")
            )
        if response.accepted:
            active = max(active, response.t)
    return problems
