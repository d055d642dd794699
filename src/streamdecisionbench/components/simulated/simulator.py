"""`simulated:` components: a declared profile answers the states of a known suite.

A simulation knows the references. It looks the state up, answers as drawn (`drawing`) and takes the
drawn time. Everything it returns says that it is a simulation. The same `Simulator` stands behind
the in-process component and behind the HTTP server (`server`).
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from streamdecisionbench.components.contract import (
    Answer,
    Component,
    ComponentInfo,
    Fatal,
    Options,
    Request,
)
from streamdecisionbench.components.providers.endpoint import refuse
from streamdecisionbench.components.simulated.outcomes import Draw, draw_scenario, output_tokens
from streamdecisionbench.components.simulated.profiles import Profile, find_profile
from streamdecisionbench.components.usage import Usage
from streamdecisionbench.suite.digest import digest
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.suite.sizes import estimate_tokens
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

__all__ = ["SimulatedComponent", "Simulator", "UnknownStateError", "create"]


class UnknownStateError(Exception):
    """The request is about a state or about questions that the simulated suite does not hold."""


@dataclass(frozen=True, slots=True)
class _Place:
    scenario: Scenario
    t: int


class Simulator:
    """Answers requests about one suite, for any profile, from one seed."""

    def __init__(self, suite: Suite, seed: int = 0) -> None:
        self.suite = suite
        self.seed = seed
        self._places: dict[bytes, list[_Place]] = {}
        for scenario in suite:
            for t, step in enumerate(scenario.steps):
                self._places.setdefault(_key(step.state), []).append(_Place(scenario, t))
        self._draws: dict[tuple[str, str], tuple[Draw, ...]] = {}
        self._tokens: dict[tuple[str, int], int] = {}

    @property
    def states(self) -> int:
        return sum(scenario.n for scenario in self.suite)

    def draw(self, profile: Profile, scenario: Scenario, t: int) -> Draw:
        """The answer to one step; the whole scenario is drawn when it is first asked about."""
        key = (profile.name, scenario.episode_id)
        if key not in self._draws:
            self._draws[key] = draw_scenario(profile, scenario, self.seed)
        return self._draws[key][t]

    def prepare(self, profile: Profile) -> None:
        """Draws everything ahead of time, so that no answer of a real-time pass pays for it."""
        for scenario in self.suite:
            for t in range(scenario.n):
                self._usage(profile, _Place(scenario, t), self.draw(profile, scenario, t))

    def answer(
        self,
        profile: Profile,
        state: Mapping[str, Any],
        questions: Mapping[str, Any],
        *,
        timed_by: Profile | None = None,
    ) -> Answer:
        """What the profile answers to {state, questions}, with the drawn `service_s`.

        `timed_by`: the service time is that profile's for the same state, not the answering one's.
        """
        place = self._find(state, questions)
        scenario = place.scenario
        draw = self.draw(profile, scenario, place.t)
        labels = scenario.encode(draw.answers)
        return Answer(
            labels=labels,
            model=profile.model,
            usage=self._usage(profile, place, draw),
            probabilities={q: _distribution(scenario, q, labels[q], draw) for q in labels},
            confidence=dict(draw.confidence),
            service_s=self.draw(timed_by or profile, scenario, place.t).latency_s,
        )

    def _find(self, state: Mapping[str, Any], questions: Mapping[str, Any]) -> _Place:
        places = self._places.get(_key(state), [])
        if not places:
            raise UnknownStateError(
                f"this state is none of the {self.states} states of {self.suite.name}; "
                "a simulation answers only the suite it was started with"
            )
        # A state alone is nearly always unique (it shows the clock); the questions settle the rest.
        for place in places:
            if _same_options(place.scenario, questions):
                return place
        raise UnknownStateError(
            f"the state is step {places[0].t} of {places[0].scenario.episode_id}, "
            "but the questions or their option labels are not that scenario's"
        )

    def _usage(self, profile: Profile, place: _Place, draw: Draw) -> Usage:
        key = (place.scenario.episode_id, place.t)
        if key not in self._tokens:
            self._tokens[key] = estimate_tokens(place.scenario.request(place.t))
        figures = profile.scenarios.get(place.scenario.scenario_id)
        median = (figures.latency_p50_s if figures else None) or profile.latency.p50_s
        output, reasoning = output_tokens(profile.tokens, draw.latency_s, median)
        return Usage(
            input_tokens=self._tokens[key], output_tokens=output, reasoning_tokens=reasoning
        )


class SimulatedComponent:
    """A profile in process: it waits the drawn time, or only declares it on a virtual clock."""

    def __init__(self, simulator: Simulator, profile: Profile, *, virtual: bool = False) -> None:
        self._simulator = simulator
        self._profile = profile
        self._virtual = virtual
        self.info = ComponentInfo(
            provider="simulated",
            model=profile.name,
            settings={
                "description": profile.description,
                "seed": simulator.seed,
                "profile": digest(msgspec.to_builtins(profile))[:16],
            },
            simulated=True,
            in_process=True,
        )

    async def open(self) -> None:
        if not self._virtual:  # where no time passes, what nobody asks about need not be drawn
            self._simulator.prepare(self._profile)

    async def answer(self, request: Request) -> Answer:
        started = time.monotonic()
        try:
            answer = self._simulator.answer(self._profile, request.state, request.questions)
        except UnknownStateError as error:
            raise Fatal(
                "unknown_state",
                str(error),
                fix="record the suite the simulation was given, or name it with --data",
            ) from None
        if self._profile.interface == "responses":
            # The published settings behind these profiles return labels alone.
            answer = replace(answer, probabilities=None, confidence=None)
        if self._virtual:
            return answer
        await asyncio.sleep((answer.service_s or 0.0) - (time.monotonic() - started))
        return replace(answer, received_at=time.monotonic())

    async def close(self) -> None:
        return None


def create(model: str, options: Options) -> Component:
    """`simulated:NAME`, or `simulated:FILE.json` for a profile of your own.

    `options.extra["data"]` names the suite folder (default: the one in the package);
    `options.extra["clock"] == "virtual"` makes the answer immediate, with `service_s` declared.
    """
    refuse(options, "simulated", "effort", "base_url", allowed=("clock", "data"))
    profile = find_profile(model)
    suite = read_suite(options.extra.get("data") or builtin_suite_path())
    virtual = options.extra.get("clock") == "virtual"
    return SimulatedComponent(Simulator(suite, options.seed), profile, virtual=virtual)


def _key(state: Mapping[str, Any]) -> bytes:
    """Two states are the same if they are written alike; the quick encoder will do within a process."""
    return hashlib.sha256(msgspec.json.encode(dict(state), order="sorted")).digest()


def _same_options(scenario: Scenario, questions: Mapping[str, Any]) -> bool:
    if set(questions) != set(scenario.questions):
        return False
    for name, question in scenario.questions.items():
        asked = questions[name]
        criteria = asked.get("criteria") if isinstance(asked, Mapping) else None
        if not isinstance(criteria, Mapping) or set(criteria) != set(question.criteria):
            return False
    return True


def _distribution(scenario: Scenario, question: str, label: str, draw: Draw) -> dict[str, float]:
    """Two decimals that sum to one exactly: the choice has the drawn confidence, the rest share."""
    others = [x for x in scenario.questions[question].criteria if x != label]
    if not others:
        return {label: 1.0}
    sure = draw.confidence[question]
    rest = 100 - round(sure * 100)
    share, extra = divmod(rest, len(others))
    found = {x: (share + (i < extra)) / 100 for i, x in enumerate(others)}
    return {x: sure if x == label else found[x] for x in scenario.questions[question].criteria}
