"""Scenarios of one length as arrays: all that a policy sees of components, states and references.

Axes are written in order: variant v (one threshold each), component k, scenario s, step i. A *row*
is one replay: a scenario, a variant and a scale c = tick/Δ by which every delay is multiplied.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.components.contract import RETURN_CONFIDENCE
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    Ints,
    TimeIndex,
    Timeline,
    nominal,
    nominal_like,
)
from streamdecisionbench.policies.policy_file import (
    COMPOSES,
    Policy,
)
from streamdecisionbench.recording.event_log import Cancelled
from streamdecisionbench.recording.live_policy import (
    changed_states,
    composed_confidence,
    has_field,
    require_fallbacks,
)
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.scoring.timelines import (
    decisions_of,
    timelines,
)
from streamdecisionbench.suite.scenario import Scenario, Suite

Bools = NDArray[np.bool_]

NO_FALLBACK = -1


@dataclass(frozen=True, slots=True)
class Answers:
    """One component's answers, scenario by scenario.

    An infinite latency is an answer that nobody has: the request was never made, or given up.
    """

    name: str
    parts: Sequence[Timeline]
    confidence: Mapping[str, Sequence[Floats]] | None = None
    """By way of composing ("min", "product"): how sure each composed decision is."""
    cost: Sequence[Floats] | None = None
    """Money for each request."""
    waited: Sequence[Floats] | None = None
    """Where a latency is infinite: for how many seconds the request is known to have run."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a policy needs to know of the suite: which states it sends, what it falls back to."""

    changed: Mapping[str, Bools]
    fallback: Mapping[str, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """The numbers of a policy that a search varies while everything else stays."""

    gate: float = 0.0
    below: float = 0.0
    after_s: float = np.inf


@dataclass(frozen=True, slots=True)
class Rows:
    """Replays to make: scenario, variant and scale of each."""

    scenario: Ints
    variant: Ints
    c: Floats

    def __len__(self) -> int:
        return len(self.c)


@dataclass(frozen=True)
class PolicyArrays:
    """Scenarios with the same number of steps, for one policy and its variants."""

    policy: Policy
    index: Ints
    """Which scenario of the whole each is."""
    release: Floats
    horizon: Floats
    tick: Floats
    reference: Ints
    latency: Floats
    predicted: Ints
    waited: Floats
    """[k, s, i]: where a latency is infinite, for how long its request is known to have run."""
    sure: Bools
    """[v, k, s, i]: passes the gate."""
    unsure: Bools
    """[v, k, s, i]: makes the next component be asked."""
    wanted: Bools
    """[s, i]: the dispatch mode sends it at all."""
    after: Floats
    """[v]: seconds from release to expiry."""
    fallback: Ints
    """[s]: id of the decision to fall back to, −1 for none."""
    names: Sequence[str]
    """Of the scenarios."""

    @property
    def components(self) -> int:
        return len(self.latency)

    @property
    def n(self) -> int:
        return int(self.release.shape[1])

    @property
    def count(self) -> int:
        return len(self.horizon)

    @cached_property
    def places(self) -> TimeIndex:
        """Releases of all scenarios, to find times among."""
        every = np.repeat(np.arange(self.count), self.n)
        return TimeIndex(self.release.ravel(), every, self.release[:, 0], self.horizon)

    @cached_property
    def share(self) -> Floats:
        """[s]: seconds to shares of observed time."""
        share: Floats = 1.0 / (self.horizon - self.release[:, 0])
        return share

    @cached_property
    def time_before(self) -> Floats:
        """[s, d, i]: share of observed time before step i whose reference is d; the last d is never."""
        decisions = int(self.reference.max()) + 2
        edges = np.concatenate((self.release, self.horizon[:, None]), axis=1)
        amounts = np.diff(edges, axis=1) * self.share[:, None]
        hit = self.reference[:, None, :] == np.arange(decisions)[None, :, None]
        sums = np.cumsum(np.where(hit, amounts[:, None, :], 0.0), axis=2)
        return np.concatenate((np.zeros((self.count, decisions, 1)), sums), axis=2)

    def known(self, decision: Ints) -> Ints:
        """Decision ids with everything that is never a reference as one id."""
        never = int(self.reference.max()) + 1
        return np.where((decision < 0) | (decision > never), never, decision)

    def rows(self, interval: float, variants: int = 1) -> Rows:
        """Every scenario under every variant at one interval, variant by variant."""
        scenario = np.tile(np.arange(self.count), variants)
        variant = np.repeat(np.arange(variants), self.count)
        return Rows(scenario, variant, (self.tick / interval)[scenario])


def policy_arrays(
    policy: Policy,
    components: Sequence[Answers],
    *,
    variants: Sequence[Variant] | None = None,
    setting: Setting | None = None,
) -> list[PolicyArrays]:
    """The scenarios of these components, grouped by length. All components hold the same ones.

    Without `variants`, the policy's own numbers are the only one.
    """
    parts = components[0].parts
    _require_references(parts)
    below = policy.cascade.below if policy.when_unsure and policy.cascade else 0.0
    own = Variant(policy.gate.confidence, below, policy.expire.after_s)
    variants = variants or [own]
    sureness = [_sureness(policy, k, one, variants) for k, one in enumerate(components)]
    setting = setting or Setting({}, {})
    groups = [
        [s for s, p in enumerate(parts) if p.n == n] for n in dict.fromkeys(p.n for p in parts)
    ]
    return [_arrays(policy, components, index, variants, sureness, setting) for index in groups]


def _arrays(
    policy: Policy,
    components: Sequence[Answers],
    index: Sequence[int],
    variants: Sequence[Variant],
    sureness: Sequence[Sequence[Floats] | None],
    setting: Setting,
) -> PolicyArrays:
    parts = [components[0].parts[s] for s in index]

    def stacked(own: Sequence[NDArray[Any]] | None, otherwise: float = 0.0) -> NDArray[Any]:
        if own is None:
            return np.full((len(parts), parts[0].n), otherwise)
        return np.stack([own[s] for s in index])

    gates = np.array([v.gate for v in variants])[:, None, None, None]
    belows = np.array([v.below for v in variants])[:, None, None, None]
    # Without confidences only thresholds that need none get this far.
    confidence = np.stack([stacked(own, 0.5) for own in sureness])
    gated = np.array(policy.gated())[None, :, None, None]
    every = np.ones(parts[0].n, dtype=bool)
    sends_changes = policy.dispatch.mode == "changed"
    return PolicyArrays(
        policy=policy,
        index=np.array(index, dtype=np.int64),
        release=np.stack([p.release for p in parts]),
        horizon=np.array([p.horizon for p in parts]),
        tick=np.array([p.tick for p in parts]),
        reference=np.stack([p.reference for p in parts]),
        latency=np.stack([stacked([p.latency for p in one.parts]) for one in components]),
        predicted=np.stack([stacked([p.predicted for p in one.parts]) for one in components]),
        waited=np.stack([stacked(one.waited) for one in components]),
        sure=(confidence[None] >= gates) | ~gated,
        unsure=confidence[None] < belows,
        wanted=np.stack(
            [setting.changed.get(p.episode_id, every) if sends_changes else every for p in parts]
        ),
        after=np.array([v.after_s for v in variants], dtype=np.float64),
        fallback=np.array(
            [setting.fallback.get(p.episode_id, NO_FALLBACK) for p in parts], dtype=np.int64
        ),
        names=[p.episode_id for p in parts],
    )


def _require_references(parts: Sequence[Timeline]) -> None:
    unknown = [p.episode_id for p in parts if (p.reference < 0).any()]
    if unknown:
        raise InputError(
            f"{unknown[0]} has states of which nobody knows what was right",
            fix="policies are judged on states that all have a reference",
        )


def _sureness(
    policy: Policy, k: int, one: Answers, variants: Sequence[Variant]
) -> Sequence[Floats] | None:
    """The confidences a policy reads of a component; refused where it has none to read."""
    gated, further = policy.gated()[k], policy.when_unsure and k + 1 < policy.count
    needed = any((gated and 0 < v.gate <= 1) or (further and 0 < v.below <= 1) for v in variants)
    if not needed:
        return None
    if one.confidence is None:
        part = "[gate]" if gated and policy.gate.confidence > 0 else '[cascade] ask = "when-unsure"'
        raise InputError(
            f"its answers carry no confidences, and {part} needs them",
            where=one.name,
            fix="leave that part out, or record a component that returns probabilities;"
            f" {RETURN_CONFIDENCE}",
        )
    return one.confidence[policy.gate.compose]


# What a policy reads of a recording and its suite: answers, delays, confidences, states, fallbacks.


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
    first = [nominal(part) for part in components[0].parts]
    return [answers_like(first, one) for one in components]


def answers_like(first: Sequence[Timeline], one: Answers) -> Answers:
    """A component's answers in the order of other timelines, on their clock; gaps stay gaps."""
    place = {p.episode_id: k for k, p in enumerate(one.parts)}
    parts = nominal_like(first, one.parts, one.name, gaps=True)

    def ordered(values: Sequence[Floats] | None) -> list[Floats] | None:
        return None if values is None else [values[place[p.episode_id]] for p in first]

    confidence = None
    if one.confidence is not None:
        confidence = {way: ordered(values) or [] for way, values in one.confidence.items()}
    return Answers(one.name, parts, confidence, ordered(one.cost), ordered(one.waited))


def setting_of(policy: Policy, suite: Suite, episodes: Sequence[str]) -> Setting:
    """Reads the states (mode "changed") and the fallback decision against the suite."""
    scenarios = [suite.scenarios[e] for e in episodes]
    changed: dict[str, Bools] = {}
    fallback: dict[str, int] = {}
    notes: list[str] = []
    if policy.dispatch.mode == "changed":
        changed = {
            s.episode_id: np.array(changed_states(s, policy.dispatch.fields)) for s in scenarios
        }
        notes += _field_notes(policy, scenarios)
    if policy.expire.fallback is not None and math.isfinite(policy.expire.after_s):
        fallback, lines = _fallbacks(policy, suite, scenarios)
        notes += lines
    return Setting(changed, fallback, tuple(notes))


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


def _fallbacks(
    policy: Policy, suite: Suite, scenarios: Sequence[Scenario]
) -> tuple[dict[str, int], list[str]]:
    require_fallbacks(policy, suite)
    found: dict[str, int] = {}
    unfit: list[str] = []
    for scenario in scenarios:
        decision = policy.expire.fallback_for(scenario.task_family, scenario.episode_id)
        if decision is None:
            continue
        # A decision that is never the reference is simply never right.
        found[scenario.episode_id] = decisions_of(suite, scenario).number(decision)
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
