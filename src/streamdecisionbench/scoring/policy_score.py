"""One policy on recorded answers: what it keeps in force, what it costs, what it did on the way.

>>> import streamdecisionbench as sdb
>>> suite, recording = sdb.example_suite(), sdb.example_recording()
>>> plain = score_policy_recordings(Policy(), [recording], suite)
>>> round(plain.in_force, 3), plain.counts.requests
(0.6, (4,))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import CORRECT, CURRENT_CORRECT, JUDGMENT
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.rules.policy_file import Policy
from streamdecisionbench.scoring.classes import path_stretches, shares_over, table_of
from streamdecisionbench.scoring.measure import Levels, Over
from streamdecisionbench.scoring.pace_bounds import Bounds, check_interval
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
from streamdecisionbench.scoring.score import (
    Lived,
    Scored,
    Shares,
    level_shares,
    signature_of,
    suite_of,
    took_effect,
)
from streamdecisionbench.scoring.sweep import Sweep
from streamdecisionbench.scoring.timeline import ANOTHER_SESSION, Floats, timelines
from streamdecisionbench.suite.scenario import Suite

if TYPE_CHECKING:
    from streamdecisionbench.rules.costs import Costs
    from streamdecisionbench.scoring.cost import WrongTime


@dataclass(frozen=True, slots=True)
class PolicyCounts:
    """What became of states and answers at the interval, over all scenarios; tuples by component."""

    states: int
    requests: tuple[int, ...]
    cancelled: tuple[int, ...]
    answers: tuple[int, ...]
    """That arrived before the horizon."""
    withheld: tuple[int, ...]
    """Of these, kept back by the gate."""
    taken: tuple[int, ...]
    held_back: int
    """Sure and new, but not yet agreed on: kept back by the debounce."""
    expiries: int
    """Decisions that yielded to the fallback before another one came."""
    escalations: int
    """Requests that an unsure answer caused."""


def count(played: PolicyReplay, done: Sequence[Replay]) -> PolicyCounts:
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
    by_component = requests, cancelled, answers, withheld, taken
    return PolicyCounts(states, *by_component, held_back, expiries, escalations)


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


_NO_INTEGRAL = "no integral"


@dataclass(frozen=True, slots=True)
class PolicyLevel:
    """A scenario, a family (mean of scenarios) or the whole (mean of families).

    A = C·U_cur + λ with C the share of time whose source is current (`at_interval.oracle` of the six
    classes). `oracle` is O, what the reference answers would get under this policy. C = O unless the
    policy looks at what was answered: a debounce, or a fallback decision.
    """

    name: str
    at_interval: Shares
    integrated: Shares | None
    """None where the recording lacks answers that the policy needs at other intervals."""
    oracle: float
    oracle_integrated: float | None

    @property
    def in_force(self) -> float:
        return self.at_interval.in_force

    @property
    def log_auc(self) -> float | None:
        return None if self.integrated is None else self.integrated.in_force

    @property
    def current(self) -> float:
        """C: the share of time with a decision whose source is current."""
        return self.at_interval.oracle


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyScore(Scored[PolicyLevel]):
    """Everything `sdb policy score` says about one policy on one set of components."""

    policy: Policy
    components: tuple[str, ...]
    counts: PolicyCounts
    cost_per_hour: float | None
    path: Sweep
    """What is in force at the interval."""
    sweep: Sweep | None
    """What is in force at every interval within the bounds; None where that cannot be replayed."""
    notes: tuple[str, ...] = ()
    wrong_time: WrongTime | None = None
    """What being wrong costs, where that was asked for and every interval can be replayed."""

    @property
    def log_auc(self) -> float | None:
        return self.overall.log_auc

    @property
    def why_no_integral(self) -> str:
        """The answer that is missing; empty where none is."""
        return next((note for note in self.notes if note.startswith(_NO_INTEGRAL)), "")

    def swept(self, bounds: Bounds) -> Sweep:
        if self.sweep is None or bounds != self.bounds:
            why = self.why_no_integral or f"was scored over {self.bounds.text()} only"
            raise InputError(why, where=self.policy.name)
        return self.sweep


def score_policy(
    policy: Policy,
    components: Sequence[Answers],
    *,
    interval: float = 2.0,
    bounds: Bounds | None = None,
    setting: Setting | None = None,
) -> PolicyScore:
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
    path = played.trajectory_of([one.held for one in done])
    at = table_of(played.flat, path_stretches(played.flat, path))
    sweep, over, why_not = _integrated(played, bounds)
    # O: what the reference answers would get. Where acceptance does not look at answers, it is C.
    current = CURRENT_CORRECT, JUDGMENT
    now, mean = _share(at, current), None if over is None else _share(over, current)
    if policy.debounce.agree > 1 or setting.fallback:
        perfect = [
            replace(one, parts=[replace(p, predicted=p.reference) for p in one.parts])
            for one in components
        ]
        best = PolicyReplay(policy, perfect, setting)
        now = _share(best.table(interval), CORRECT)
        best_over = _integrated(best, bounds)[1]
        mean = None if best_over is None else _share(best_over, CORRECT)
    untimed = np.array([p.untimed for p in components[-1].parts])

    levels = Levels(parts)
    none = [None] * len(levels.names)
    rows = zip(
        levels.names,
        level_shares(levels, at, untimed),
        none if over is None else level_shares(levels, over, untimed),
        levels.means(now).tolist(),
        none if mean is None else levels.means(mean).tolist(),
        strict=True,
    )
    return PolicyScore(
        *levels.split([PolicyLevel(*row) for row in rows]),
        policy=policy,
        components=tuple(one.name for one in components),
        interval=interval,
        bounds=bounds,
        clock="recorded" if len(components) == 1 else "nominal",
        family_of=levels.family_of,
        counts=count(played, done),
        cost_per_hour=cost_per_hour(played, done, interval),
        parts=parts,
        path=path,
        sweep=sweep,
        notes=(*setting.notes, *([why_not] if why_not else [])),
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
) -> PolicyScore:
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


def _charged(found: PolicyScore, costs: Costs, theta: float | None) -> PolicyScore:
    from streamdecisionbench.scoring.cost import THETA_S, course_along, wrong_time

    if found.sweep is None:  # the note says which answer is missing
        return replace(found, notes=(*found.notes, "no costs: they are means over the bounds, too"))
    course = course_along(found.path, found.sweep, found.parts, found.bounds)
    return replace(found, wrong_time=wrong_time(course, costs, THETA_S if theta is None else theta))


def _integrated(played: PolicyReplay, bounds: Bounds) -> tuple[Sweep | None, Floats | None, str]:
    """The sweep over the bounds and its shares, or which answer is missing for it."""
    if played.flat.alone:
        return None, None, f"{_NO_INTEGRAL}: {ANOTHER_SESSION}"
    try:
        sweep = played.sweep(bounds)
    except MissingAnswersError as error:
        return None, None, f"{_NO_INTEGRAL}: {error.what}"
    return sweep, shares_over(sweep, [Over(bounds, played.flat.tick)])[0], ""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePolicyScore(Lived):
    """Under a policy, and its replay where there can be one."""

    policy: Policy
    components: tuple[str, ...]
    interval: float
    replayed: float | None
    """In-force accuracy of the same policy replayed on the recording's own answers."""
    why_not: str = ""
    """What keeps it from being replayed."""
    expiries: int = 0
    """Decisions that lapsed, by the log."""
    expiry_differences: tuple[str, ...] = ()
    """Where the log and the policy do not agree on a lapse."""

    @property
    def gap(self) -> float | None:
        """As it happened minus its replay."""
        return None if self.replayed is None else self.recorded.in_force - self.replayed


def live_policy(recording: Recording, suite: Suite) -> LivePolicyScore:
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
    path = lived.trajectory_of([held for held, _ in logged])
    table = table_of(lived.flat, path_stretches(lived.flat, path))
    interval = float(parts[0].tick)
    replayed, why_not = None, ""
    try:
        again = score_policy(policy, components, interval=interval, setting=setting)
        replayed = again.in_force
    except InputError as error:
        why_not = error.what

    levels = Levels(parts)
    return LivePolicyScore(
        *levels.split(level_shares(levels, table, np.zeros(len(parts)))),
        name=recording.name,
        policy=policy,
        components=tuple(one.name for one in components),
        interval=interval,
        replayed=replayed,
        why_not=why_not,
        expiries=sum(len(e.expired) for half in halves for e in half.episodes.values()),
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
