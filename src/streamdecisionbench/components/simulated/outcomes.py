"""The draw behind a simulation: which states of a scenario go wrong, how, and how long each takes.

Everything about one scenario is drawn at once from (seed, profile, scenario), so an answer does not
depend on the order, the number or the concurrency of requests. docs/simulation.md gives the model
and what it leaves out.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from streamdecisionbench.components.simulated.profiles import (
    Errors,
    Profile,
    Tokens,
    quantile,
    right_states,
    spread,
)
from streamdecisionbench.suite.scenario import INACTIVE, Scenario

__all__ = ["Draw", "draw_scenario", "output_tokens"]

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


def output_tokens(tokens: Tokens, latency_s: float, median_s: float) -> tuple[int, int]:
    """(output, reasoning) tokens: the medians, moved by the time above or below the median.

    >>> output_tokens(Tokens(output=148, reasoning=100, output_min=85, decode_ms=8.3), 3.41, 2.41)
    (268, 220)
    """
    if not tokens.decode_ms:
        return tokens.output, tokens.reasoning
    output = tokens.output + round((latency_s - median_s) * 1000 / tokens.decode_ms)
    output = max(output, tokens.output_min)
    return output, max(0, output - (tokens.output - tokens.reasoning))


def _stream(profile: Profile, scenario: Scenario, seed: int, purpose: str) -> random.Random:
    """A generator of its own per purpose: a change in one draw leaves the others as they were."""
    return random.Random(f"sdb/{seed}/{profile.name}/{scenario.scenario_id}/{purpose}")


def _latencies(profile: Profile, scenario: Scenario, rng: random.Random) -> list[float]:
    """One draw from each of n equal strata in random order: every pass keeps the quantiles."""
    latency, n = profile.latency, scenario.n
    strata = list(range(n))
    rng.shuffle(strata)
    figures = profile.scenarios.get(scenario.scenario_id)
    median = (figures.latency_p50_s if figures else None) or latency.p50_s
    gamma = spread(profile)
    drawn = []
    for stratum in strata:
        ratio = quantile(latency, (stratum + rng.random()) / n) / latency.p50_s
        drawn.append(min(max(median * ratio**gamma, latency.floor_s), latency.max_s))
    return drawn


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
    within a segment: what a model misjudges it goes on misjudging until the situation changes.
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
