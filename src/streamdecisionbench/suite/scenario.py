"""What is asked: questions, the decision spec, scenarios and suites.

All types are frozen and plain. `DecisionSpec.compose` is the paper's κ: it turns an answer vector
into the one decision an application consumes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

__all__ = [
    "FAMILIES",
    "INACTIVE",
    "SCHEMA_VERSION",
    "DecisionSpec",
    "EpisodeSummary",
    "Manifest",
    "Question",
    "Scenario",
    "State",
    "Step",
    "Suite",
]

SCHEMA_VERSION = "sdb-lite/0.1"

INACTIVE = "none"
"""What a reference answers to a question its branch does not use."""

FAMILIES = {
    "live_debugging": "IDE debugging",
    "procedural_coaching": "Assembly station",
    "support_call_assist": "Support call",
    "presenter_voice_control": "Presenter control",
}
"""Family ids in the order they are reported, with the names people read."""

State = dict[str, Any]
"""One public state: JSON, and nothing a component may not see."""


class Question(msgspec.Struct, frozen=True):
    """A typed choice. `criteria` maps an opaque label to "value: description"."""

    type: str
    instructions: str
    criteria: dict[str, str]


class DecisionSpec(msgspec.Struct, frozen=True):
    """Which answers an application consumes: the route, the always-used and the branch questions.

    >>> spec = DecisionSpec("route", ("recorder",), {"hold": ("hold_action",), "wrap": ()})
    >>> spec.compose({"route": "wrap", "recorder": "stop", "hold_action": "wait"})
    {'route': 'wrap', 'recorder': 'stop'}
    """

    route_question: str
    always: tuple[str, ...]
    branches: dict[str, tuple[str, ...]]

    def consumed(self, route: str) -> tuple[str, ...]:
        """Questions the application reads when the route answer is `route`, in composed order."""
        return (self.route_question, *self.always, *self.branches.get(route, ()))

    def compose(self, answers: Mapping[str, str]) -> dict[str, str]:
        """κ(a) = (a_ρ, (a_q) for q in G, (a_q) for q in B of a_ρ)."""
        return {q: answers[q] for q in self.consumed(answers[self.route_question])}

    def questions(self) -> frozenset[str]:
        """Every question some branch uses."""
        used = {self.route_question, *self.always}
        for names in self.branches.values():
            used.update(names)
        return frozenset(used)


class Step(msgspec.Struct, frozen=True):
    """Tick `t`: the public state, the reference answers, and notes on what caused them."""

    t: int
    state: State
    gold: dict[str, str]
    evidence: tuple[str, ...] = ()


class Scenario(msgspec.Struct, frozen=True, omit_defaults=True):
    """A timeline of public states with reference answers, in the published file format.

    Step i is published at i · tick_seconds, or at `published_s[i]` where a logged session kept its
    own times; then tick_seconds is their mean distance, (end − start)/n.
    """

    schema_version: str
    episode_id: str
    task_family: str
    scenario_id: str
    title: str
    tick_seconds: float
    questions: dict[str, Question]
    option_semantics: dict[str, dict[str, str]]
    decision_spec: DecisionSpec
    steps: tuple[Step, ...]
    published_s: tuple[float, ...] | None = None

    @property
    def n(self) -> int:
        """Number of steps."""
        return len(self.steps)

    @property
    def horizon_s(self) -> float:
        """H = n · tick_seconds on the recording clock."""
        return self.n * self.tick_seconds

    def evidence(self, t: int) -> tuple[str, ...]:
        """The author's notes on what happened at step t; where nothing did, on what happened last."""
        notes = (step.evidence for step in self.steps[t::-1])
        return next((tuple(found) for found in notes if found), ())

    def planned(self, interval_s: float | None = None) -> list[float]:
        """When each step is published with states `interval_s` apart on average; at its own pace
        without.

        r_i = i · Δ, or published_s[i] · Δ / tick_seconds.
        """
        interval_s = self.tick_seconds if interval_s is None else interval_s
        if self.published_s is None:
            return [t * interval_s for t in range(self.n)]
        if interval_s == self.tick_seconds:
            return list(self.published_s)
        return [at * interval_s / self.tick_seconds for at in self.published_s]

    def reference(self) -> list[dict[str, str]]:
        """κ(y_i) for every step."""
        return [self.decision_spec.compose(step.gold) for step in self.steps]

    def changes(self) -> list[int]:
        """Steps at which the composed reference differs from the step before."""
        decisions = self.reference()
        return [i for i in range(1, self.n) if decisions[i] != decisions[i - 1]]

    def request(self, t: int) -> dict[str, Any]:
        """The only thing that crosses to a component: the state and the questions."""
        return {"state": self.steps[t].state, "questions": self.wire_questions()}

    def wire_questions(self) -> dict[str, Any]:
        """The questions as JSON."""
        return {
            name: {"type": q.type, "instructions": q.instructions, "criteria": dict(q.criteria)}
            for name, q in self.questions.items()
        }

    def decode(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Opaque labels to values. The caller has checked that every label is defined."""
        return {q: self.option_semantics[q][labels[q]] for q in self.questions}

    def encode(self, answers: Mapping[str, str]) -> dict[str, str]:
        """Values to opaque labels: the inverse of `decode`."""
        wire = {}
        for q in self.questions:
            by_value = {value: label for label, value in self.option_semantics[q].items()}
            wire[q] = by_value[answers[q]]
        return wire


class EpisodeSummary(msgspec.Struct, frozen=True):
    """A manifest's line about one scenario. Only the id is needed for reading."""

    episode_id: str
    questions: Any = 0
    steps: Any = 0
    duration_s: Any = 0.0
    decision_transitions: Any = 0
    routes_seen: Any = ()
    routes_unseen: Any = ()
    public_hash: str = ""


class Manifest(msgspec.Struct, frozen=True):
    """What a suite is, by digest. Unknown keys are read over.

    `name`, `generator` (digests of the sources) and `generation` (the parameters of a generated
    suite, its seed among them) are ours.
    """

    schema_version: str
    episodes: list[EpisodeSummary]
    hashes: dict[str, str]
    dataset_hash: str
    name: str = ""
    generator: Any = msgspec.field(default_factory=dict)
    generation: Any = msgspec.field(default_factory=dict)


class Suite(msgspec.Struct, frozen=True):
    """Scenarios by id, in manifest order, with their manifest."""

    manifest: Manifest
    scenarios: dict[str, Scenario]

    @property
    def dataset_hash(self) -> str:
        return self.manifest.dataset_hash

    @property
    def name(self) -> str:
        return self.manifest.name or f"suite {self.dataset_hash[:8]}"

    def __iter__(self) -> Iterator[Scenario]:
        return iter(self.scenarios.values())

    def families(self) -> dict[str, list[Scenario]]:
        """Scenarios by family: the four known families first, then any other by first appearance."""
        found: dict[str, list[Scenario]] = {}
        for scenario in self.scenarios.values():
            found.setdefault(scenario.task_family, []).append(scenario)
        order = [f for f in FAMILIES if f in found] + [f for f in found if f not in FAMILIES]
        return {family: found[family] for family in order}
