"""A recording as arrays: what the kernel needs of each scenario."""

from __future__ import annotations

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    NO_ANSWER,
    NOTHING,
    Decisions,
    Floats,
    Ints,
    Timeline,
    Timelines,
)
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.recording_check import (
    is_punctual,
    tick_of,
)
from streamdecisionbench.suite.scenario import Scenario, Suite

Clock = str
"""`recorded`: releases as they really happened, where the client was punctual, else `nominal`;
`nominal`: r_i = i · tick (or the scenario's own times), as pairs use; `published`: as they happened, however late."""


_DECISIONS: dict[tuple[str, str], Decisions] = {}


def decisions_of(suite: Suite, scenario: Scenario) -> Decisions:
    """The one numbering of a scenario's decisions, for all recordings in this process."""
    return _DECISIONS.setdefault((suite.dataset_hash, scenario.episode_id), Decisions())


def timelines(
    recording: Recording, suite: Suite, *, clock: Clock = "recorded", gaps: bool = False
) -> Timelines:
    """The recording's scenarios in suite order. With `gaps` also one of a policy that sent less.

    What a rule or a policy let take effect in a world is told as it happened; with `gaps`, as answers.

    Re-pacing at Δ scales releases: r_i·Δ/tick. Of a release that lagged by ℓ_i it would make a lag of
    ℓ_i·Δ/tick, though the client's lateness has nothing to do with the pace. Below 1 % of the tick that
    is noise and stays; a recording with a larger lag is re-paced from its plan, u_i(Δ) = i·Δ + L_i.
    """
    if clock not in ("recorded", "nominal", "published"):
        raise InputError(f"clock {clock!r} is not known", fix="use recorded or nominal")
    policy_applied = recording.policy_applied and not gaps
    if recording.halves and not policy_applied:
        raise InputError(
            "is the recording of a live pair: it has two answers for every state",
            where=recording.name,
            fix="give it to `sdb compose` alone, or use `.halves` of the recording one by one",
        )
    if not gaps and not policy_applied and any(e.gaps for e in recording.episodes.values()):
        raise InputError(
            "was recorded under a policy that did not ask about every state",
            where=recording.name,
            fix="`sdb policy score POLICY` replays it under policies that need no other answers",
        )
    on_plan = clock == "nominal" or (clock == "recorded" and not is_punctual(recording, suite))
    on_plan = on_plan and not policy_applied
    config = recording.config.get("interval_s")
    stated = float(config) if isinstance(config, int | float) else None
    found = Timelines()
    for scenario in suite.scenarios.values():
        episode = recording.episodes.get(scenario.episode_id)
        if episode is None:
            continue
        tick = tick_of(episode.releases, scenario, stated)
        decisions, spec = decisions_of(suite, scenario), scenario.decision_spec
        reference = [decisions.number(decision) for decision in scenario.reference()]
        n = scenario.n
        predicted = np.full(n, NO_ANSWER, dtype=np.int64)
        latency, arrival = np.full(n, np.inf), np.full(n, np.inf)
        for response in recording.answers(scenario.episode_id).values():
            predicted[response.t] = decisions.number(spec.compose(response.pred))
            latency[response.t] = max(response.latency_s, 0.0)
            arrival[response.t] = response.actual_recorded_s
        nominal = np.array(scenario.planned(tick))
        recorded = np.array([r.release_s for r in episode.releases])
        found.append(
            Timeline(
                episode_id=scenario.episode_id,
                family=scenario.task_family,
                tick=tick,
                release=nominal if on_plan else recorded,
                latency=latency,
                reference=np.array(reference, dtype=np.int64),
                predicted=predicted,
                # Under a policy not simply the newest arrival took effect.
                arrival=None if recording.policy is not None or policy_applied else arrival,
                values=decisions,
                published=recorded if on_plan else None,
                rhythm=None
                if scenario.published_s is None
                else np.array(scenario.published_s) / scenario.tick_seconds,
                fixed_pace=recording.closed_loop_interval_s is not None,
                effects=_effects(recording, scenario, decisions, n * tick)
                if policy_applied
                else None,
            )
        )
    if not found:
        raise InputError(
            "the recording holds no scenario of this suite",
            where=recording.path,
            fix="check --data",
        )
    return found


def _effects(
    recording: Recording, scenario: Scenario, decisions: Decisions, horizon: float
) -> tuple[Ints, Ints, Floats]:
    """What took effect and what lapsed, by the log; a fallback stands in its source's place."""
    episode, policy = recording.episodes[scenario.episode_id], recording.policy
    instead = (
        policy.expire.fallback_for(scenario.task_family, scenario.episode_id) if policy else None
    )
    fallback = NOTHING if instead is None else decisions.number(instead)
    found = [
        (r.accepted_s if r.accepted_s is not None else r.actual_recorded_s, r.t,
         decisions.number(scenario.decision_spec.compose(r.pred)))
        for r in episode.responses if r.accepted
    ]  # fmt: skip
    found += [(e.expired_s, NOTHING if instead is None else e.t, fallback) for e in episode.expired]
    found = sorted(one for one in found if one[0] < horizon)
    begin, source, decision = zip(*found, strict=True) if found else ((), (), ())
    return np.array(source, np.int64), np.array(decision, np.int64), np.array(begin, np.float64)
