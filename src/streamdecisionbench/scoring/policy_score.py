"""One policy on recorded answers: what it keeps in force, what it costs, what it did on the way.

>>> import streamdecisionbench as sdb
>>> suite, recording = sdb.example_suite(), sdb.example_recording()
>>> plain = score_policy_recordings(Policy(), [recording], suite)
>>> round(plain.in_force, 3), plain.counts.requests
(0.6, (4,))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    ANOTHER_SESSION,
    Floats,
    fixed_pace,
)
from streamdecisionbench.kernel.classes import CORRECT
from streamdecisionbench.kernel.levels import (
    Levels,
    family_weights,
)
from streamdecisionbench.kernel.paces import (
    Bounds,
    bounds_for,
    check_interval,
)
from streamdecisionbench.kernel.shares import (
    AnswerCounts,
    level_shares,
    shares_over,
    trajectory_table,
)
from streamdecisionbench.kernel.trajectory import Trajectory
from streamdecisionbench.policies.policy_file import Policy
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.counterfactual import (
    Counterfactual,
    changed_parts,
    counterfactuals,
)
from streamdecisionbench.scoring.policy_answers import (
    Answers,
    PolicyArrays,
    Setting,
    answers_of,
    setting_of,
)
from streamdecisionbench.scoring.policy_replay import (
    Held,
    Line,
    MissingAnswersError,
    PolicyReplay,
    Replay,
    Taken,
    hold,
)
from streamdecisionbench.scoring.result import (
    LIVE_POLICY,
    POLICY,
    Level,
    Result,
    as_it_happened,
    live_levels,
)
from streamdecisionbench.scoring.score import signature_of, suite_of, took_effect
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.scenario import Suite

if TYPE_CHECKING:
    from streamdecisionbench.policies.cost_rules import Costs


def count(played: PolicyReplay, done: Sequence[Replay]) -> AnswerCounts:
    K = played.policy.count
    found = np.zeros((5, K), dtype=np.int64)
    held_back = expiries = 0
    for arrays, one in zip(played.groups, done, strict=True):
        flights = one.flights
        arrived = flights.arrival < arrays.horizon[:, None, None]
        unsure = arrived & ~np.swapaxes(arrays.sure[0], 0, 1)
        found[:4] += [
            x.sum(axis=(0, 2)) for x in (flights.sent, flights.cancelled, arrived, unsure)
        ]
        found[4] += np.bincount(one.taken.component, minlength=K)
        held_back += int(one.taken.held_back.sum())
        expiries += int((one.held.yields.time < one.held.end.time).sum())
    states = sum(arrays.release.size for arrays in played.groups)
    requests, cancelled, answers, withheld, taken = (tuple(row) for row in found.tolist())
    escalations = sum(requests[1:]) if played.policy.when_unsure else 0
    return AnswerCounts(
        taken,
        states=states,
        requests=requests,
        cancelled=cancelled,
        answers=answers,
        withheld=withheld,
        held_back=held_back,
        expiries=expiries,
        escalations=escalations,
    )


def cost_per_hour(played: PolicyReplay, done: Sequence[Replay], interval: float) -> float | None:
    """Money for every request sent, cancelled ones too, per hour of stream."""
    spent = 0.0
    for k, one in enumerate(played.components):
        if one.cost is None:
            return None
        for arrays, found in zip(played.groups, done, strict=True):
            for nth, s in enumerate(arrays.index.tolist()):
                spent += float(one.cost[s][found.flights.sent[nth, k]].sum())
    hours = sum(p.n for p in played.parts) * interval / 3600
    return None if math.isnan(spent) else spent / hours


@dataclass(slots=True)
class _Replays:
    """Trajectories of a policy, by interval or bounds."""

    played: PolicyReplay
    known: dict[float | Bounds, Trajectory]
    why_not: str
    """Why there is none over bounds."""

    def __call__(self, over: float | Bounds) -> Trajectory:
        if over not in self.known:
            if not isinstance(over, Bounds):
                self.known[over] = self.played.trajectory(over)
            elif self.why_not:
                raise InputError(self.why_not, where=self.played.policy.name)
            else:
                self.known[over] = self.played.sweep(over)
        return self.known[over]


def score_policy(
    policy: Policy,
    components: Sequence[Answers],
    *,
    interval: float = 2.0,
    bounds: Bounds | None = None,
    setting: Setting | None = None,
) -> Result:
    """Scores arrays: what `score_policy_recordings` does once recordings have become answers."""
    check_interval(interval)
    bounds, setting = bounds or Bounds(), setting or Setting({}, {})
    if len(components) != policy.count:
        raise InputError(
            f"the policy takes {policy.count} component(s), {len(components)} given",
            where=policy.name,
            fix="give one recording per name in cascade.components, in that order",
        )
    played = PolicyReplay(policy, components, setting)
    components, parts = played.components, played.parts
    done = played.at(interval)
    path = played.trajectory_from([one.held for one in done])
    at = trajectory_table(played.flat, path)
    sweep, over, why_not = _integrated(played, bounds)
    untimed = np.array([p.untimed for p in components[-1].parts])
    levels = Levels(parts)
    # O: what the reference answers would get. Where acceptance does not look at answers, it is C.
    perfect_in_force: Iterable[tuple[float, float] | None] = repeat(None, len(levels.names))
    if policy.debounce.agree > 1 or setting.fallback:
        perfect = [
            replace(one, parts=[replace(p, predicted=p.reference) for p in one.parts])
            for one in components
        ]
        best = PolicyReplay(policy, perfect, setting)
        best_over = _integrated(best, bounds)[1]
        now = levels.means(_share(best.table(interval), CORRECT))
        mean = now if best_over is None else levels.means(_share(best_over, CORRECT))
        perfect_in_force = zip(now.tolist(), mean.tolist(), strict=True)
    rows = zip(
        levels.names,
        level_shares(levels, at, untimed),
        level_shares(levels, at if over is None else over, untimed, fixed_pace=over is None),
        perfect_in_force,
        strict=True,
    )
    whole, by_family, by_scenario = levels.split(
        [Level(name, a, b, reference_in_force=best) for name, a, b, best in rows]
    )
    return Result(
        whole,
        by_family,
        by_scenario,
        kind=POLICY,
        name=policy.name,
        members=tuple(one.name for one in components),
        policy=policy,
        interval=interval,
        bounds=bounds,
        clock="recorded" if len(components) == 1 else "nominal",
        family_of=levels.family_of,
        counts=count(played, done),
        cost_per_hour=cost_per_hour(played, done, interval),
        parts=parts,
        replay=_Replays(
            played, {interval: path, **({} if sweep is None else {bounds: sweep})}, why_not
        ),
        remarks=(*setting.notes, *([why_not] if why_not else [])),
        why_not=why_not,
        would_help=partial(
            policy_counterfactuals, [policy], components, _first_in_force, interval, whole.in_force,
            setting,
        ),
    )  # fmt: skip


def _first_in_force(tables: list[Floats]) -> Floats:
    return _share(tables[0], CORRECT)


def policy_counterfactuals(
    policies: Sequence[Policy],
    components: Sequence[Answers],
    shares: Callable[[list[Floats]], Floats],
    interval: float,
    recorded: float,
    setting: Setting | None = None,
) -> list[Counterfactual]:
    """Policies replayed with changed components. `shares` makes one share per scenario of their tables.

    A session in a world would have gone another way: none there.
    """
    parts = components[0].parts
    if fixed_pace(parts):
        return []
    weights = family_weights([p.family for p in parts])

    def in_force(changed: Sequence[Answers]) -> float | None:
        try:
            tables = [PolicyReplay(one, changed, setting).table(interval) for one in policies]
        except MissingAnswersError:
            return None
        return float(weights @ shares(tables))

    return counterfactuals(
        [one.name for one in components],
        components,
        lambda one, change: replace(one, parts=changed_parts(one.parts, change)),
        in_force,
        recorded,
    )


def score_policy_recordings(
    policy: Policy,
    recordings: Sequence[Recording],
    suite: Suite | None = None,
    *,
    interval: float = 2.0,
    bounds: tuple[float, float] = (0.5, 8.0),
    weighting: str = "log",
    costs: Sequence[Sequence[Floats] | None] | None = None,
    error_costs: Costs | None = None,
    theta: float | None = None,
) -> Result:
    """One policy on one recording per component, in the cascade's order.

    `costs` is money per request; `error_costs` is what being wrong costs, `theta` from when on a wrong
    spell is long.
    """
    suite = suite_of(recordings, suite)
    costs = costs or [None] * len(recordings)
    components = [
        answers_of(one, suite, cost=cost) for one, cost in zip(recordings, costs, strict=True)
    ]
    limits = Bounds(bounds[0], bounds[1], weighting)
    setting = setting_of(policy, suite, [p.episode_id for p in components[0].parts])
    found = score_policy(policy, components, interval=interval, bounds=limits, setting=setting)
    if error_costs is not None:
        found = _charged(found, error_costs, theta)
    simulated = any(one.simulated for one in recordings)
    who = {"events": "+".join(one.events_sha256[:12] for one in recordings), "policy": policy.name}
    made = {"simulated": "yes" if simulated else "no"}
    signature = signature_of(suite, found, who, made, error_costs)
    return replace(found, signature=signature, simulated=simulated)


def _charged(found: Result, costs: Costs, theta: float | None) -> Result:
    from streamdecisionbench.scoring.error_costs import (
        THETA_S,
        path_measures_along,
        wrong_time,
    )

    if found.why_not:
        note = "no costs: they are means over the bounds, too"
        return replace(found, remarks=(*found.remarks, note))
    paths = found.trajectory(found.interval), found.trajectory(found.bounds)
    course = path_measures_along(*paths, found.parts, found.bounds)
    wrong = wrong_time(course, costs, THETA_S if theta is None else theta)
    return replace(found, cost=wrong.cost, wrong_time=wrong)


def _integrated(
    played: PolicyReplay, bounds: Bounds
) -> tuple[Trajectory | None, Floats | None, str]:
    """The sweep over the bounds and its shares, or why there is no mean over paces."""
    try:
        sweep = played.sweep(bounds)
    except MissingAnswersError as error:
        return None, None, f"no integral: {error.what}"
    if sweep.fixed_pace:
        return sweep, None, f"no integral: {ANOTHER_SESSION}"
    return sweep, shares_over(sweep, [sweep.weights(bounds)])[0], ""


def _share(table: Floats, classes: Sequence[int]) -> Floats:
    share: Floats = table[:, classes].sum(axis=1)
    return share


# A policy recorded live: what really was in force, beside the replay of its own answers.
#
# The log says which answers took effect and when, and which of them lapsed when; that is what is scored.
# By the policy a decision lapses at its release plus `after_s`: where the log says otherwise, so does the
# score. The replay of the same policy at the recorded pace is a check of the replay, as far as the
# recording holds the answers it needs: what the policy never sent or gave up nobody knows.


_SAME_MOMENT_S = 1e-6
"""Times are written to the nanosecond: what lies further apart than this are two moments."""


def live_policy(recording: Recording, suite: Suite) -> Result:
    """Scores a recording made with `sdb run --policy` as it happened."""
    policy = recording.policy
    if policy is None:
        raise InputError(
            "was not recorded under a policy",
            where=recording.path or recording.name,
            fix="give a recording made by `sdb run --policy`",
        )
    halves = list(recording.halves.values()) or [recording]
    components = [answers_of(half, suite) for half in halves]
    as_lived = [
        Answers(one.name, timelines(half, suite, clock="published", gaps=True), one.confidence)
        for one, half in zip(components, halves, strict=True)
    ]
    parts = as_lived[0].parts
    setting = setting_of(policy, suite, [p.episode_id for p in parts])
    lived = PolicyReplay(policy, as_lived, setting, as_recorded=True)
    # At the pace of the recording one second of its clock is one second.
    rows = [replace(arrays.rows(1.0), c=np.ones(arrays.count)) for arrays in lived.groups]
    logged = [
        _as_logged(arrays, hold(arrays, own, _taken(arrays, halves)), halves)
        for arrays, own in zip(lived.groups, rows, strict=True)
    ]
    path = lived.trajectory_from([held for held, _ in logged])
    table = trajectory_table(lived.flat, path)
    interval = float(parts[0].tick)
    replays, why_not = [], ""
    try:
        replays = [score_policy(policy, components, interval=interval, setting=setting)]
    except InputError as error:
        why_not = error.what

    levels = Levels(parts)
    expiries = sum(len(e.expired) for half in halves for e in half.episodes.values())
    taken = tuple(
        sum(r.accepted for e in half.episodes.values() for r in e.responses) for half in halves
    )
    return Result(
        *live_levels(levels, table, np.zeros(len(parts))),
        kind=LIVE_POLICY,
        name=recording.name,
        members=tuple(one.name for one in components),
        policy=policy,
        interval=interval,
        bounds=bounds_for(parts),
        clock="published",
        family_of=levels.family_of,
        parts=parts,
        replay=partial(as_it_happened, path),
        counts=AnswerCounts(taken, expiries=expiries),
        replayed={one.name: one.overall.at_interval for one in replays},
        replays=replays,
        why_not=why_not,
        expiry_differences=tuple(line for _, lines in logged for line in lines),
    )


def _as_logged(
    arrays: PolicyArrays, held: Held, halves: Sequence[Recording]
) -> tuple[Held, list[str]]:
    """Decisions in force with the lapses that the log has, and where the policy says otherwise."""
    logged = {
        (s, k, event.t): event.expired_s
        for s, name in enumerate(arrays.names)
        for k, half in enumerate(halves)
        for event in half.episodes[name].expired
    }
    lapses, differences = held.end.time.copy(), []

    def told(s: int, t: int, log: float | None, policy: float | None) -> None:
        by = [f"at {x:.6f} s" if x is not None else "never" for x in (log, policy)]
        differences.append(
            f"{arrays.names[s]} t={t}: lapsed {by[0]} by the log, {by[1]} by the policy"
        )

    whose = (column.tolist() for column in (held.row, held.component, held.source))
    for nth, (s, k, t) in enumerate(zip(*whose, strict=True)):
        end, due = float(held.end.time[nth]), float(held.yields.time[nth])
        found = logged.pop((s, k, t), None)
        lapses[nth] = end if found is None else np.clip(found, held.begin.time[nth], end)
        if abs((end if found is None else found) - due) > _SAME_MOMENT_S:
            told(s, t, found, due if due < end else None)
    for (s, _, t), found in logged.items():
        told(s, t, found, None)
    return replace(held, yields=Line.still(lapses)), differences


def _taken(arrays: PolicyArrays, halves: Sequence[Recording]) -> Taken:
    row, component, source, begin = took_effect(halves, arrays.names, arrays.horizon)
    nothing = np.zeros(arrays.count, dtype=np.int64)
    return Taken(row, component, source, Line.still(begin), nothing)
