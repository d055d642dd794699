"""What a policy reads of a recording and its suite: answers, delays, confidences, states, fallbacks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.policy_file import COMPOSES, Policy
from streamdecisionbench.recording.changed_states import changed_states, has_field
from streamdecisionbench.recording.confidence import composed_confidence
from streamdecisionbench.recording.events import Cancelled
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.scoring.pairs.nominal_clock import Stage, on_stage, stage
from streamdecisionbench.scoring.policies.scene import Answers, Bools
from streamdecisionbench.scoring.timeline import Floats, timelines
from streamdecisionbench.suite.scenario import Scenario, Suite

__all__ = [
    "Setting",
    "answers_of",
    "on_one_clock",
    "on_stage_of",
    "setting_of",
]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a policy needs to know of the suite: which states it sends, what it falls back to."""

    changed: Mapping[str, Bools]
    fallback: Mapping[str, int]
    notes: tuple[str, ...] = ()
    said: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What the fallback says, field by field."""


def answers_of(
    recording: Recording, suite: Suite, *, cost: Sequence[Floats] | None = None
) -> Answers:
    """One component's recording, on its own clock; where a policy asked less, with gaps."""
    parts = timelines(recording, suite, gaps=True)
    episodes = [recording.episodes[p.episode_id] for p in parts]
    return Answers(
        name=recording.name,
        parts=parts,
        confidence=_confidence(recording, suite, [p.episode_id for p in parts]),
        cost=cost,
        waited=[_waited(e, p.n) for e, p in zip(episodes, parts, strict=True)],
    )


def on_one_clock(components: Sequence[Answers]) -> list[Answers]:
    """One component keeps its recorded releases; several share the nominal ones, as pairs do."""
    if len(components) == 1:
        return list(components)
    where = stage(components[0].parts)
    return [on_stage_of(where, one) for one in components]


def on_stage_of(where: Stage, one: Answers) -> Answers:
    """A component's answers in a stage's order, on its nominal clock; gaps stay gaps."""
    whole = [replace(p, latency=np.where(np.isinf(p.latency), 0.0, p.latency)) for p in one.parts]
    staged = on_stage(where, whole, one.name)
    latencies = _sorted(where.parts, one, [p.latency for p in one.parts])
    return Answers(
        one.name,
        [replace(p, latency=own) for p, own in zip(staged, latencies, strict=True)],
        _sorted_like(where.parts, one, one.confidence),
        None if one.cost is None else _sorted(where.parts, one, one.cost),
        None if one.waited is None else _sorted(where.parts, one, one.waited),
    )


def setting_of(policy: Policy, suite: Suite, episodes: Sequence[str]) -> Setting:
    """Reads the states (mode "changed") and the fallback decision against the suite."""
    scenarios = [suite.scenarios[e] for e in episodes]
    changed: dict[str, Bools] = {}
    fallback: dict[str, int] = {}
    said: dict[str, Mapping[str, str]] = {}
    notes: list[str] = []
    if policy.dispatch.mode == "changed":
        changed = {
            s.episode_id: np.array(changed_states(s, policy.dispatch.fields)) for s in scenarios
        }
        notes += _field_notes(policy, scenarios)
    if policy.expire.fallback is not None and math.isfinite(policy.expire.after_s):
        fallback, lines = _fallbacks(policy, scenarios)
        notes += lines
        for scenario in scenarios:
            decision = policy.expire.fallback_for(scenario.task_family, scenario.episode_id)
            if decision is not None:
                said[scenario.episode_id] = decision
    return Setting(changed, fallback, tuple(notes), said)


def _confidence(
    recording: Recording, suite: Suite, episodes: Sequence[str]
) -> dict[str, list[Floats]] | None:
    out: dict[str, list[Floats]] = {way: [] for way in COMPOSES}
    for episode_id in episodes:
        scenario = suite.scenarios[episode_id]
        spec = scenario.decision_spec
        rows = [dict.fromkeys(COMPOSES, math.nan)] * scenario.n
        for response in recording.episodes[episode_id].responses:
            sure = composed_confidence(
                spec,
                response.pred,
                response.wire_answers,
                response.confidence,
                response.probabilities,
            )
            if sure is None:
                return None
            rows[response.t] = sure
        for way in COMPOSES:
            out[way].append(np.array([row[way] for row in rows]))
    return out


def _waited(episode: Episode, n: int) -> Floats:
    """Seconds for which a request that was given up is known not to have been answered."""
    out = np.zeros(n)
    for gap in episode.gaps:
        if isinstance(gap, Cancelled):
            out[gap.t] = gap.waited_s
    return out


def _field_notes(policy: Policy, scenarios: Sequence[Scenario]) -> list[str]:
    fields = policy.dispatch.fields
    if not fields:
        return []
    held = {s.episode_id: [f for f in fields if has_field(s, f)] for s in scenarios}
    nowhere = [f for f in fields if not any(f in found for found in held.values())]
    if nowhere:
        known = sorted({key for s in scenarios for key in s.steps[0].state})
        raise InputError(
            f"dispatch.fields names {nowhere[0]!r}, which no state of these scenarios has",
            where=policy.name,
            fix=f"states have: {', '.join(known)}",
        )
    without = [e for e, found in held.items() if not found]
    if not without:
        return []
    return [
        f"{', '.join(without)}: no state has {' or '.join(fields)},"
        " so only the first state of each is sent"
    ]


def _fallbacks(policy: Policy, scenarios: Sequence[Scenario]) -> tuple[dict[str, int], list[str]]:
    found: dict[str, int] = {}
    unfit: list[str] = []
    for scenario in scenarios:
        decision = policy.expire.fallback_for(scenario.task_family, scenario.episode_id)
        if decision is None:
            continue
        ids: dict[tuple[tuple[str, str], ...], int] = {}
        for reference in scenario.reference():
            ids.setdefault(tuple(sorted(reference.items())), len(ids))
        # A decision that is never the reference is simply never right.
        found[scenario.episode_id] = ids.get(tuple(sorted(decision.items())), len(ids))
        if not _is_composed(scenario, decision):
            unfit.append(scenario.episode_id)
    if unfit and len(unfit) == len(found):
        spec = scenarios[0].decision_spec
        raise InputError(
            "expire.fallback is no composed decision of any of these scenarios",
            where=policy.name,
            fix=f"give every field the route uses; for example {spec.compose(scenarios[0].steps[0].gold)}",
        )
    notes = [f"{', '.join(unfit)}: expire.fallback is no decision there, so it is never right"]
    return found, notes if unfit else []


def _is_composed(scenario: Scenario, decision: Mapping[str, str]) -> bool:
    spec = scenario.decision_spec
    route = decision.get(spec.route_question)
    return (
        route is not None
        and set(decision) == set(spec.consumed(route))
        and all(v in scenario.option_semantics[q].values() for q, v in decision.items())
    )


def _sorted_like(
    parts: Sequence[Any], one: Answers, table: Mapping[str, Sequence[Floats]] | None
) -> dict[str, list[Floats]] | None:
    if table is None:
        return None
    return {way: _sorted(parts, one, values) for way, values in table.items()}


def _sorted(parts: Sequence[Any], one: Answers, values: Sequence[Floats]) -> list[Floats]:
    mine = dict(zip((p.episode_id for p in one.parts), values, strict=True))
    return [mine[p.episode_id] for p in parts]
