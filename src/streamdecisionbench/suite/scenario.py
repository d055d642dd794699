"""The types of a suite: ids, questions, the decision spec, scenarios and suites.

All types are frozen and plain. `DecisionSpec.compose` is the paper's κ: it turns an answer vector
into the one decision an application consumes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.digest import canonical

ID_RULE = (
    "an id has letters a–z, digits, `.`, `_` and `-`, at most 100 of them, at least one letter or"
    " digit, and is not `manifest`"
)

_PLAIN = re.compile(r"(?=.*[A-Za-z0-9])[A-Za-z0-9._-]{1,100}")


def is_id(text: object) -> bool:
    """Whether a scenario or a recording may be called so.

    >>> [is_id(x) for x in ("debugging_a", "lite-v0.1", "../x", "/etc/x", "..", "manifest", "")]
    [True, True, False, False, False, False, False]
    """
    return (
        isinstance(text, str) and _PLAIN.fullmatch(text) is not None and text.lower() != "manifest"
    )


def require_id(text: object, where: str | None = None, what: str = "id") -> str:
    """The id itself, or a message that shows it and the rule."""
    if not isinstance(text, str) or not is_id(text):
        raise InputError(f"{text!r:.80} is no {what}", where=where, fix=ID_RULE)
    return text


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
    """The digest that identifies a suite. Unknown keys are read over.

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


CHARACTERS_PER_TOKEN = 4.0
"""English text and JSON keys come to about four characters a token in current vocabularies."""


def estimate_tokens(request: dict[str, Any]) -> int:
    """Tokens of {state, questions}, estimated from the characters of its compact JSON."""
    return round(len(canonical(request).decode()) / CHARACTERS_PER_TOKEN)


SHORTEST_TICK_S, LONGEST_TICK_S = 1e-6, 1e6
"""Intervals beyond these leave no latency in a recorded time, or no distance between two."""


def tick_violations(tick: Any) -> Iterator[tuple[str, str]]:
    """Violations of `tick_seconds`, as field and message."""
    if not _is_number(tick) or tick <= 0:
        yield "tick_seconds", "must be a number of seconds above 0 (not NaN, not negative)"
    elif not SHORTEST_TICK_S <= tick <= LONGEST_TICK_S:
        yield (
            "tick_seconds",
            f"is {tick!r:.80}, must be between {SHORTEST_TICK_S:g} and {LONGEST_TICK_S:g} s",
        )


def published_violations(episode: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Violations of `published_s`: one time per step, from 0 on, the last before the end."""
    times, steps, tick = episode["published_s"], episode.get("steps"), episode.get("tick_seconds")
    if not isinstance(times, list) or not all(map(_is_number, times)):
        yield "published_s", "must be a list of seconds, one for every step"
        return
    if not isinstance(steps, list) or not steps or tick is None or any(tick_violations(tick)):
        return  # said elsewhere
    horizon = len(steps) * tick
    if len(times) != len(steps):
        yield "published_s", f"has {len(times)} times for {len(steps)} steps"
    elif times[0] != 0:
        yield "published_s[0]", f"is {times[0]!r:.80}; the first step is published at 0"
    elif times[-1] >= horizon:
        yield (
            f"published_s[{len(times) - 1}]",
            f"is {times[-1]!r:.80}, at or after the end at n · tick_seconds = {horizon:g}",
        )
    for index, (before, after) in enumerate(pairwise(times), start=1):
        if after - before < SHORTEST_TICK_S * (1 - 1e-3):  # of times that were rounded to it
            yield (
                f"published_s[{index}]",
                f"is {after!r:.80}, must be at least {SHORTEST_TICK_S:g} s after the step before",
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
