"""What a policy reads of a recording: answers, delays, and how sure each decision is.

The confidence of a decision is composed over the answers it consumes (κ's questions under the
answered route): their minimum, or their product in composed order. An answer's confidence is the one
the component gave for it, else the probability it gave to its choice. Nothing is made up where a
recording has neither.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.policy_file import COMPOSES, Policy
from streamdecisionbench.recording.events import Response
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.pairs.nominal_clock import Stage, on_stage, stage
from streamdecisionbench.scoring.policies.scene import Answers, Bools
from streamdecisionbench.scoring.timeline import Floats, timelines
from streamdecisionbench.suite.scenario import DecisionSpec, Scenario, Suite

__all__ = [
    "Setting",
    "answers_of",
    "compose_confidence",
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


def answers_of(
    recording: Recording, suite: Suite, *, cost: Sequence[Floats] | None = None
) -> Answers:
    """One component's recording, on its own clock."""
    parts = timelines(recording, suite)
    return Answers(
        name=recording.name,
        parts=parts,
        confidence=_confidence(recording, suite, [p.episode_id for p in parts]),
        cost=cost,
    )


def on_one_clock(components: Sequence[Answers]) -> list[Answers]:
    """One component keeps its recorded releases; several share the nominal ones, as pairs do."""
    if len(components) == 1:
        return list(components)
    where = stage(components[0].parts)
    return [on_stage_of(where, one) for one in components]


def on_stage_of(where: Stage, one: Answers) -> Answers:
    """A component's answers in a stage's order, on its nominal clock."""
    return Answers(
        one.name,
        on_stage(where, one.parts, one.name),
        _sorted_like(where.parts, one, one.confidence),
        None if one.cost is None else _sorted(where.parts, one, one.cost),
        None if one.waited is None else _sorted(where.parts, one, one.waited),
    )


def compose_confidence(response: Response, spec: DecisionSpec) -> dict[str, float] | None:
    """How sure a composed decision is, by way of composing; None where an answer does not say.

    >>> spec = DecisionSpec("route", (), {"hold": ("action",)})
    >>> answer = Response("e", 0, 0.0, "", True, True, 0.0, 0.1, {"route": "hold", "action": "wait"},
    ...     0.1, 0.1, confidence={"route": 0.5, "action": 0.5, "other": 0.1})
    >>> compose_confidence(answer, spec)
    {'min': 0.5, 'product': 0.25}
    """
    found = []
    for question in spec.consumed(response.pred[spec.route_question]):
        value = (response.confidence or {}).get(question)
        if value is None:
            label = response.wire_answers.get(question)
            value = ((response.probabilities or {}).get(question) or {}).get(label or "")
        if value is None:
            return None
        found.append(float(value))
    return dict(zip(COMPOSES, (min(found), math.prod(found)), strict=True))


def setting_of(policy: Policy, suite: Suite, episodes: Sequence[str]) -> Setting:
    """Reads the states (mode "changed") and the fallback decision against the suite."""
    scenarios = [suite.scenarios[e] for e in episodes]
    changed: dict[str, Bools] = {}
    fallback: dict[str, int] = {}
    notes: list[str] = []
    if policy.dispatch.mode == "changed":
        changed = {s.episode_id: _changes(s, policy.dispatch.fields) for s in scenarios}
        notes += _field_notes(policy, scenarios)
    if policy.expire.fallback is not None and math.isfinite(policy.expire.after_s):
        fallback, lines = _fallbacks(policy, scenarios)
        notes += lines
    return Setting(changed, fallback, tuple(notes))


def _confidence(
    recording: Recording, suite: Suite, episodes: Sequence[str]
) -> dict[str, list[Floats]] | None:
    out: dict[str, list[Floats]] = {way: [] for way in COMPOSES}
    for episode_id in episodes:
        spec = suite.scenarios[episode_id].decision_spec
        rows = []
        for response in recording.episodes[episode_id].responses:
            sure = compose_confidence(response, spec)
            if sure is None:
                return None
            rows.append(sure)
        for way in COMPOSES:
            out[way].append(np.array([row[way] for row in rows]))
    return out


def _changes(scenario: Scenario, fields: Sequence[str]) -> Bools:
    """The first state, and every one that differs from the state before in one of the fields."""
    seen = [_part(step.state, fields) for step in scenario.steps]
    return np.array([True, *(a != b for a, b in pairwise(seen))])


def _part(state: Mapping[str, Any], fields: Sequence[str]) -> Any:
    return [_look_up(state, field) for field in fields] if fields else state


def _look_up(state: Any, field: str) -> Any:
    """A field by its name, or by a path of names joined with dots; None where it is not there."""
    if isinstance(state, Mapping) and field in state:
        return state[field]
    head, dot, rest = field.partition(".")
    if dot and isinstance(state, Mapping) and head in state:
        return _look_up(state[head], rest)
    return None


def _field_notes(policy: Policy, scenarios: Sequence[Scenario]) -> list[str]:
    fields = policy.dispatch.fields
    if not fields:
        return []
    held = {
        s.episode_id: [f for f in fields if any(_look_up(t.state, f) is not None for t in s.steps)]
        for s in scenarios
    }
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
