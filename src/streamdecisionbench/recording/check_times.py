"""Could these times have happened? Every step once, published in order, answered after it was asked.

Completeness: every step was released once and has exactly one valid response, or one line that says
why a policy wanted none.
Plan: step i was to be published at i·Δ or at the scenario's own time, was not published before, and
not at or after the horizon.
Causality: release ≤ start ≤ receipt ≤ completion ≤ recording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from streamdecisionbench.recording.events import Cancelled, Release, Response, Skipped, finite
from streamdecisionbench.recording.recording import Problem
from streamdecisionbench.suite.scenario import Scenario

__all__ = ["SLACK_S", "check_completeness", "check_order", "check_plan", "recorded_tick", "tick_of"]

SLACK_S = 2e-6
"""Published tables carry six decimals; two rounded times may cross by two units of the last one."""

_SHOWN = 5


def recorded_tick(releases: Sequence[Release], scenario_tick: float) -> float:
    """Seconds per tick on the recording clock: what the planned releases say."""
    if len(releases) < 2:
        return scenario_tick
    tick = (releases[-1].planned_s - releases[0].planned_s) / (len(releases) - 1)
    return scenario_tick if abs(tick - scenario_tick) < 1e-9 else round(tick, 9)


def tick_of(
    releases: Sequence[Release], scenario: Scenario, interval_s: float | None = None
) -> float:
    """Seconds per tick on the recording clock.

    Times of its own say nothing about the pace of a scenario: what the run record states does, and
    where it states nothing it was the scenario's own.
    """
    if scenario.published_s is None:
        return recorded_tick(releases, scenario.tick_seconds)
    return scenario.tick_seconds if interval_s is None else interval_s


def check_completeness(
    episode_id: str,
    steps: int,
    releases: Sequence[Release],
    responses: Sequence[Response],
    gaps: Sequence[Cancelled | Skipped] = (),
) -> list[Problem]:
    """Nothing here grows with `steps`, which may come from a file, only with what was recorded."""
    problems = []
    for what, found in (
        ("release", Counter(r.t for r in releases)),
        ("response", Counter(r.t for r in (*responses, *gaps))),
    ):
        inside = sum(0 <= t < steps for t in found)
        if inside < steps:
            missing = islice((t for t in range(steps) if t not in found), _SHOWN + 1)
            shown = [str(t) for t in missing]
            if len(shown) > _SHOWN:
                shown[_SHOWN] = "…"
            problems.append(
                Problem(
                    episode_id,
                    f"{steps - inside} of {steps} steps have no {what} (t = {', '.join(shown)})",
                )
            )
        problems += [
            Problem(f"{episode_id} t={t}", f"has more than one {what}")
            for t in sorted(t for t, count in found.items() if count > 1)[:_SHOWN]
        ]
        problems += [
            Problem(f"{episode_id} t={t}", f"a {what} for a step outside 0–{steps - 1}")
            for t in sorted(t for t in found if not 0 <= t < steps)[:_SHOWN]
        ]
    problems += [
        Problem(
            f"{episode_id} t={r.t}", "the response is not ok; only valid responses can be scored"
        )
        for r in responses
        if not r.ok
    ][:_SHOWN]
    return problems


def check_plan(
    episode_id: str,
    releases: Sequence[Release],
    interval_s: float | None,
    scenario: Scenario | None = None,
) -> list[Problem]:
    """`interval_s` is what the run record states; None where it states nothing."""
    problems = [
        Problem(f"{episode_id} t={r.t}", f"{name} is not a time (NaN, infinite or negative)")
        for r in releases
        for name in ("planned_s", "release_s")
        if not finite(getattr(r, name))
    ]
    if problems:
        return problems
    own = scenario if scenario is not None and scenario.published_s is not None else None
    interval = interval_s
    if interval is None:
        interval = tick_of(releases, own) if own else recorded_tick(releases, 0.0)
    for before, after in pairwise(releases):
        for name, verb in (("release_s", "released"), ("planned_s", "planned")):
            if getattr(after, name) <= getattr(before, name):
                problems.append(
                    Problem(
                        f"{episode_id} t={after.t}", f"{verb} at or before t={before.t} ({name})"
                    )
                )
    if problems:
        return problems
    if own is None:
        due = [t * interval for t in range(len(releases))]
        return list(_against_plan(episode_id, releases, interval, due, "t·interval"))
    due = own.planned(interval)
    return list(_against_plan(episode_id, releases, interval, due, "the scenario's own time"))


def _against_plan(
    episode_id: str,
    releases: Sequence[Release],
    interval: float,
    plan: Sequence[float],
    named: str,
) -> Iterator[Problem]:
    rounding = SLACK_S + min(5e-4, interval / 100)
    early = SLACK_S + max(1e-3, interval / 100)
    horizon = len(releases) * interval
    for release in releases:
        where = f"{episode_id} t={release.t}"
        due = plan[release.t]
        if abs(release.planned_s - due) > rounding:
            yield Problem(
                where,
                f"planned_s is {release.planned_s:.6f}, but {named} is {due:.6f}",
            )
        elif release.release_s < release.planned_s - early:
            yield Problem(
                where,
                f"release_s ({release.release_s:.6f}) is before planned_s ({release.planned_s:.6f})",
            )
        elif interval > 0 and release.release_s >= horizon:
            yield Problem(
                where,
                f"released at {release.release_s:.3f} s, at or after the horizon ({horizon:.3f} s):"
                " the client stood still",
            )


def check_order(episode_id: str, release: Release, response: Response) -> list[Problem]:
    """One step's times, from its publication to the acceptance check."""
    where = f"{episode_id} t={response.t}"
    chain = (
        ("release_s", response.release_s),
        ("started_s", response.success_started_s),
        ("received_s", response.received_s),
        ("completed_s", response.completed_s),
        ("actual_recorded_s", response.actual_recorded_s),
    )
    bad = [name for name, value in (*chain, ("started_s", response.started_s)) if not finite(value)]
    if bad:
        names = ", ".join(dict.fromkeys(bad))
        return [Problem(where, f"{names} is not a time (NaN, infinite or negative)")]
    problems = [
        Problem(where, f"{name} ({value:.6f}) is before {earlier} ({least:.6f})")
        for (earlier, least), (name, value) in pairwise(chain)
        if value < least - SLACK_S
    ]
    if response.started_s > response.success_started_s + SLACK_S:
        problems.append(Problem(where, "started_s is after the start of the successful attempt"))
    if response.started_s < response.release_s - SLACK_S and not problems:
        problems.append(Problem(where, "started_s is before release_s"))
    if abs(release.release_s - response.release_s) > SLACK_S:
        problems.append(Problem(where, "release_s of the response is not that of the release"))
    taken = response.accepted_s if response.accepted else None
    if taken is not None and taken < response.actual_recorded_s - SLACK_S:
        problems.append(Problem(where, "accepted_s is before actual_recorded_s"))
    return problems
