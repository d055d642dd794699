"""`simulated:` components: a declared profile answers the states of a known suite, as it was drawn.

Everything about one scenario is drawn at once from (seed, profile, scenario): which states go wrong,
how, and how long each takes. So an answer does not depend on the order, the number or the concurrency of
requests. docs/explanation/simulation.md gives the model and what it leaves out. A simulation knows the references; it
looks the state up, answers as drawn and takes the drawn time, and everything it returns says that it is
a simulation. The in-process component and `sdb serve` use the same `Simulator`.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import msgspec

from streamdecisionbench.components.contract import (
    Answer,
    Component,
    ComponentInfo,
    Fatal,
    Options,
    Request,
    Usage,
)
from streamdecisionbench.components.providers.address_and_key import refuse
from streamdecisionbench.components.simulated.profiles import (
    DeclaredTokens,
    Errors,
    Profile,
    find_profile,
    quantile,
    right_states,
    spread,
)
from streamdecisionbench.suite.digest import canonical, digest
from streamdecisionbench.suite.scenario import INACTIVE, Scenario, Step, Suite, estimate_tokens
from streamdecisionbench.suite.suite_files import builtin_suite_path, make_suite, read_suite
from streamdecisionbench.text import plural

_NORMAL = NormalDist()
_CONFIDENCE = (0.62, 0.97)


@dataclass(frozen=True, slots=True)
class Draw:
    """One simulated answer: values by question, whether the composed decision is right, seconds."""

    answers: Mapping[str, str]
    right: bool
    latency_s: float
    confidence: Mapping[str, float]
    """By question: how probable the component says its choice is."""


def draw_scenario(profile: Profile, scenario: Scenario, seed: int) -> tuple[Draw, ...]:
    """All answers of one pass over one scenario. The same arguments give the same answers."""
    latencies = _latencies(profile, scenario, _stream(profile, scenario, seed, "latency"))
    segments = _segments(scenario)
    wrong = _wrong_states(profile, scenario, segments, _stream(profile, scenario, seed, "errors"))
    answers = _wrong_answers(
        scenario, segments, wrong, profile.errors, _stream(profile, scenario, seed, "answers")
    )
    confidences = _confidences(
        profile, scenario, answers, _stream(profile, scenario, seed, "confidence")
    )
    return tuple(
        Draw(
            answers=answers.get(t, step.gold),
            right=t not in answers,
            latency_s=latencies[t],
            confidence=confidences[t],
        )
        for t, step in enumerate(scenario.steps)
    )


def output_tokens(tokens: DeclaredTokens, latency_s: float, median_s: float) -> tuple[int, int]:
    """(output, reasoning) tokens: the medians, moved by the time above or below the median.

    >>> output_tokens(DeclaredTokens(output=148, reasoning=100, output_min=85, decode_ms=8.3), 3.41, 2.41)
    (268, 220)
    """
    if not tokens.decode_ms:
        return tokens.output, tokens.reasoning
    output = tokens.output + round((latency_s - median_s) * 1000 / tokens.decode_ms)
    output = max(output, tokens.output_min)
    return output, max(0, output - (tokens.output - tokens.reasoning))


def _stream(profile: Profile, scenario: Scenario, seed: int, purpose: str) -> random.Random:
    """One generator per purpose: a change in one draw leaves the others as they were."""
    return random.Random(f"sdb/{seed}/{profile.name}/{scenario.scenario_id}/{purpose}")


def _latencies(profile: Profile, scenario: Scenario, rng: random.Random) -> list[float]:
    """One draw from each of n equal strata in random order: every pass keeps the quantiles."""
    latency, n = profile.latency, scenario.n
    strata = list(range(n))
    rng.shuffle(strata)
    median, gamma = _median_s(profile, scenario), spread(profile)
    drawn = []
    for stratum in strata:
        ratio = quantile(latency, (stratum + rng.random()) / n) / latency.p50_s
        drawn.append(min(max(median * ratio**gamma, latency.floor_s), latency.max_s))
    return drawn


def _median_s(profile: Profile, scenario: Scenario) -> float:
    """The scenario's own, where one was published."""
    figures = profile.scenarios.get(scenario.scenario_id)
    return (figures.latency_p50_s if figures else None) or profile.latency.p50_s


def _segments(scenario: Scenario) -> list[int]:
    """The index of the reference segment of every step."""
    changes = set(scenario.changes())
    found: list[int] = []
    for t in range(scenario.n):
        found.append((found[-1] if found else 0) + (t in changes))
    return found


def _wrong_states(
    profile: Profile, scenario: Scenario, segments: Sequence[int], rng: random.Random
) -> list[int]:
    """The k states with the highest score logit(p_t) + logit(Φ(z_t)).

    p_t is the published error rate near or far from a change. z_t = √ρ·a + √(1 − ρ)·e_t shares `a`
    within a segment: a model's misjudgment lasts until the situation changes.
    """
    errors, n = profile.errors, scenario.n
    changes = scenario.changes()
    shared: dict[int, float] = {}
    scores = []
    for t in range(n):
        a = shared.setdefault(segments[t], rng.gauss(0, 1))
        z = math.sqrt(errors.persistence) * a
        z += math.sqrt(1 - errors.persistence) * rng.gauss(0, 1)
        near = any(abs(t - change) <= 1 for change in changes)
        scores.append(_logit(_NORMAL.cdf(z)) + _logit((errors.near if near else errors.far) / 100))
    count = n - right_states(profile, scenario)
    return sorted(sorted(range(n), key=lambda t: (-scores[t], t))[:count])


def _logit(p: float) -> float:
    p = min(max(p, 5e-4), 1 - 5e-4)
    return math.log(p / (1 - p))


def _wrong_answers(
    scenario: Scenario,
    segments: Sequence[int],
    wrong: Sequence[int],
    errors: Errors,
    rng: random.Random,
) -> dict[int, Mapping[str, str]]:
    """One wrong decision per run of wrong states within a segment."""
    found: dict[int, Mapping[str, str]] = {}
    for run in _runs(wrong, segments):
        first, last = run[0], run[-1]
        starts = first > 0 and segments[first - 1] != segments[first]
        ends = last + 1 < scenario.n and segments[last + 1] != segments[last]
        draw = rng.random()
        slip = _slip(scenario, first, rng)
        if ends and draw < errors.anticipate:
            found.update(dict.fromkeys(run, scenario.steps[last + 1].gold))
        elif starts and draw >= 1 - errors.linger:
            found.update(dict.fromkeys(run, scenario.steps[first - 1].gold))
        elif slip:
            found.update({t: {**scenario.steps[t].gold, **slip} for t in run})
    return found


def _confidences(
    profile: Profile, scenario: Scenario, wrong: Mapping[int, Mapping[str, str]], rng: random.Random
) -> list[dict[str, float]]:
    """Per state and question, two decimals.

    With a declared calibration, what is drawn depends on whether that answer is right. Without one,
    one number per state is drawn from a fixed range, so that nothing can be read out of it.
    """
    declared = profile.calibration
    if declared is None:
        return [
            dict.fromkeys(scenario.questions, round(rng.uniform(*_CONFIDENCE), 2))
            for _ in range(scenario.n)
        ]
    found = []
    for t, step in enumerate(scenario.steps):
        answers = wrong.get(t, step.gold)
        row = {}
        for name, question in scenario.questions.items():
            mean = declared.right if answers[name] == step.gold[name] else declared.wrong
            weight = mean * (1 - mean) / declared.spread**2 - 1
            sureness = rng.betavariate(mean * weight, (1 - mean) * weight)
            chance = 1 / len(question.criteria)
            row[name] = round(chance + (1 - chance) * sureness, 2)
        found.append(row)
    return found


def _runs(wrong: Sequence[int], segments: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for t in wrong:
        if runs and runs[-1][-1] == t - 1 and segments[t] == segments[t - 1]:
            runs[-1].append(t)
        else:
            runs.append([t])
    return runs


def _slip(scenario: Scenario, t: int, rng: random.Random) -> dict[str, str]:
    """Another option for one consumed field; a new route also fills the fields it consumes."""
    spec, gold = scenario.decision_spec, scenario.steps[t].gold
    fields = list(spec.consumed(gold[spec.route_question]))
    rng.shuffle(fields)
    for field in fields:
        values = _others(scenario, field, gold[field])
        if not values:
            continue
        changed = {field: rng.choice(values)}
        if field == spec.route_question:
            for question in spec.branches.get(changed[field], ()):
                if gold[question] == INACTIVE:
                    changed[question] = rng.choice(_others(scenario, question, INACTIVE))
        return changed
    return {}


def _others(scenario: Scenario, question: str, value: str) -> list[str]:
    """Options other than `value`, without "none" where that leaves any; sorted, for stable draws."""
    values = sorted(set(scenario.option_semantics[question].values()) - {value})
    return [v for v in values if v != INACTIVE] or values


_MOST_OPTIONS = 255
_MOST_LEVELS = 10


class BadQuestionError(Exception):
    """A question that System One does not have; `where` is the path to it in the request's body."""

    def __init__(self, message: str, *where: str) -> None:
        super().__init__(message)
        self.where = where


def answer_blindly(seed: int, state: Any, questions: Any) -> dict[str, dict[str, Any]]:
    """One System One answer per question (noul, choice or score) to a state that no suite holds.

    For trying out a client, any state will do: each question gets a distribution that depends on the
    state and on the question, and on nothing else in the request.

    >>> question = {"type": "choice", "criteria": {"K01": "yes", "K02": "no"}}
    >>> answer = answer_blindly(0, "anything", {"q": question})["q"]
    >>> answer["choice"] == max(answer["probabilities"], key=answer["probabilities"].get)
    True
    """
    if not isinstance(state, str | dict | list):
        raise BadQuestionError("state is not a text, an object or an array", "state")
    if not isinstance(questions, dict) or not questions:
        raise BadQuestionError("questions is not an object with at least one question", "questions")
    return {name: _answer(seed, state, name, question) for name, question in questions.items()}


def _answer(seed: int, state: Any, name: str, question: Any) -> dict[str, Any]:
    kind = question.get("type") if isinstance(question, dict) else None
    where = ("questions", name)
    if kind not in ("noul", "choice", "score"):
        raise BadQuestionError("type is none of noul, choice and score", *where)
    asked = {"instructions": question.get("instructions"), "criteria": question.get("criteria")}
    criteria = asked["criteria"]
    if kind == "noul":
        if criteria is not None and not isinstance(criteria, dict):
            raise BadQuestionError("criteria of a noul is an object or null", *where, "criteria")
        return {"type": "noul", "noul": _spread(seed, [state, asked], ["true", "false"])[0]}
    if kind == "choice":
        if not isinstance(criteria, dict) or not 1 <= len(criteria) <= _MOST_OPTIONS:
            raise BadQuestionError(
                f"criteria of a choice is an object of up to {_MOST_OPTIONS} options",
                *where,
                "criteria",
            )
        labels = list(criteria)
        shares = _spread(seed, [state, asked["instructions"], criteria], labels)
        best = max(range(len(labels)), key=shares.__getitem__)
        return {
            "type": "choice",
            "choice": labels[best],
            "probabilities": dict(zip(labels, shares, strict=True)),
            "confidence": _sureness(shares),
        }
    if not isinstance(criteria, list) or not 1 <= len(criteria) <= _MOST_LEVELS or None in criteria:
        raise BadQuestionError(
            f"criteria of a score is a list of up to {_MOST_LEVELS} levels", *where, "criteria"
        )
    shares = _spread(seed, [state, asked], list(map(str, range(len(criteria)))))
    return {
        "type": "score",
        "score": sum(level * share for level, share in enumerate(shares)),
        "legend": {str(level): text for level, text in enumerate(criteria)},
        "probabilities": {str(level): share for level, share in enumerate(shares)},
        "confidence": _closeness(shares),
    }


def _spread(seed: int, about: Any, options: Sequence[str]) -> list[float]:
    """A softmax over logits hashed from what is asked about and the option."""
    logits = []
    for option in options:
        drawn = hashlib.sha256(canonical([seed, option, about])).digest()
        logits.append(6 * int.from_bytes(drawn[:8], "big") / 2**64)
    weights = [math.exp(x) for x in logits]
    return [w / sum(weights) for w in weights]


def _sureness(shares: Sequence[float]) -> float:
    """The distance of the highest share from an even draw, 0 to 1."""
    n = len(shares)
    return 1.0 if n == 1 else (max(shares) - 1 / n) / (1 - 1 / n)


def _closeness(shares: Sequence[float]) -> float:
    """How close the levels lie to the likeliest one, against an even draw around the middle."""
    n = len(shares)
    if n == 1:
        return 1.0
    mode = max(range(n), key=shares.__getitem__)
    even = sum(abs(i - (n - 1) / 2) for i in range(n)) / n
    return max(0.0, 1 - sum(p * abs(i - mode) for i, p in enumerate(shares)) / even)


class UnknownStateError(Exception):
    """The request is about a state or about questions that the simulated suite does not hold."""


_Place = tuple[Scenario, int]
"""A step of a scenario."""


class Simulator:
    """Answers requests about one suite, for any profile, from one seed."""

    def __init__(self, suite: Suite, seed: int = 0) -> None:
        self.suite = suite
        self.seed = seed
        self._places: dict[bytes, list[_Place]] = {}
        for scenario in suite:
            for t, step in enumerate(scenario.steps):
                self._places.setdefault(_key(step.state), []).append((scenario, t))
        self._draws: dict[tuple[str, str], tuple[Draw, ...]] = {}
        self._lived: dict[tuple[str, int], Step] = {}
        self._tokens: dict[tuple[str, int], int] = {}

    @property
    def states(self) -> int:
        return sum(scenario.n for scenario in self.suite)

    def learn(self, right: Scenario, step: Step) -> None:
        """A step of a live session: what is drawn for `right` at that step is answered there.

        Where the session has gone another way, an answer that was to be right is right for the state
        as it is, and an error of a run that began at some step is one slip, drawn for that step.
        """
        self._places[_key(step.state)] = [(right, step.t)]
        self._lived[right.episode_id, step.t] = step

    def draw(self, profile: Profile, scenario: Scenario, t: int) -> Draw:
        """The answer to one step; the whole scenario is drawn when it is first asked about."""
        key = (profile.name, scenario.episode_id)
        if key not in self._draws:
            self._draws[key] = draw_scenario(profile, scenario, self.seed)
        drawn, lived = self._draws[key], self._lived.get((scenario.episode_id, t))
        if lived is None or lived.gold == scenario.steps[t].gold:
            return drawn[t]
        if drawn[t].right:
            return replace(drawn[t], answers=lived.gold)
        began = t
        while began and not drawn[began - 1].right:
            began -= 1
        steps = (*scenario.steps[:t], lived, *scenario.steps[t + 1 :])
        rng = _stream(profile, scenario, self.seed, f"slip {began}")
        slip = _slip(msgspec.structs.replace(scenario, steps=steps), t, rng)
        return replace(drawn[t], answers={**lived.gold, **slip})

    def prepare(self, profile: Profile) -> None:
        """Draws everything ahead of time, so that no answer of a real-time pass pays for it."""
        for scenario in self.suite:
            for t in range(scenario.n):
                self._usage(profile, scenario, t)

    def answer(
        self,
        profile: Profile,
        state: Mapping[str, Any],
        questions: Mapping[str, Any],
        *,
        timed_by: Profile | None = None,
    ) -> Answer:
        """The answer of the profile to {state, questions}, with the drawn `service_s`.

        `timed_by`: the service time is that profile's for the same state, not the answering one's.
        """
        scenario, t = self._find(state, questions)
        draw = self.draw(profile, scenario, t)
        labels = scenario.encode(draw.answers)
        return Answer(
            labels=labels,
            model=profile.model,
            usage=self._usage(profile, scenario, t),
            probabilities={q: _distribution(scenario, q, labels[q], draw) for q in labels},
            confidence=dict(draw.confidence),
            service_s=self.draw(timed_by or profile, scenario, t).latency_s,
        )

    def _find(self, state: Mapping[str, Any], questions: Mapping[str, Any]) -> _Place:
        places = self._places.get(_key(state), [])
        if not places:
            raise UnknownStateError(
                f"this state is none of the {plural(self.states, 'state')} of {self.suite.name}; "
                "a simulation answers only the suite it was started with"
            )
        # A state alone is nearly always unique (it shows the clock); the questions settle the rest.
        for scenario, t in places:
            if _same_options(scenario, questions):
                return scenario, t
        scenario, t = places[0]
        raise UnknownStateError(
            f"the state is step {t} of {scenario.episode_id}, "
            "but the questions or their option labels are not that scenario's"
        )

    def _usage(self, profile: Profile, scenario: Scenario, t: int) -> Usage:
        key = (scenario.episode_id, t)
        if key not in self._tokens:
            self._tokens[key] = estimate_tokens(scenario.request(t))
        latency_s = self.draw(profile, scenario, t).latency_s
        output, reasoning = output_tokens(profile.tokens, latency_s, _median_s(profile, scenario))
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

    def learn(self, right: Scenario, step: Step) -> None:
        """The reference of a state of a live session, before the request."""
        self._simulator.learn(right, step)

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
    `options.extra["clock"] == "virtual"` makes the answer immediate, with `service_s` declared;
    with `options.extra["world"]` it knows only the states passed to `learn`.
    """
    refuse(options, "simulated", "effort", "base_url", allowed=("clock", "data", "world"))
    profile = find_profile(model)
    if options.extra.get("world"):
        suite = make_suite([])  # it learns its states one by one
    else:
        suite = read_suite(options.extra.get("data") or builtin_suite_path())
    virtual = options.extra.get("clock") in ("virtual", "paused")
    return SimulatedComponent(Simulator(suite, options.seed), profile, virtual=virtual)


def _key(state: Mapping[str, Any]) -> bytes:
    """Two states are the same if their text is the same; the quick encoder will do within a process."""
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
