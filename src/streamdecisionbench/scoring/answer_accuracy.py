"""What the answers are worth without a clock: exact match, per question, active questions, mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.suite.scenario import Scenario, Suite


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """Untimed accuracy below the composed decision, for a scenario or a mean of several.

    `exact_match` and `per_question` need every answer; they are None for imported tables, which
    hold only the consumed ones. `active_question` counts the questions the reference consumes.
    """

    states: int
    exact_match: float | None
    per_question: dict[str, float] | None
    active_question: float
    inactive_only_errors: int | None
    """States at which only answers the application ignores are wrong."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One state answered wrongly: what was expected, what came, and the evidence behind it."""

    episode_id: str
    t: int
    expected: dict[str, str]
    answered: dict[str, str]
    evidence: tuple[str, ...]


def answer_score(recording: Recording, scenario: Scenario) -> AnswerScore:
    """Scores every single answer of one scenario."""
    responses, spec = recording.answers(scenario.episode_id), scenario.decision_spec
    active = active_right = exact = ignored_only = 0
    right = dict.fromkeys(scenario.questions, 0)
    for t, response in responses.items():
        step = scenario.steps[t]
        consumed = spec.consumed(step.gold[spec.route_question])
        active += len(consumed)
        active_right += sum(response.pred.get(q) == step.gold[q] for q in consumed)
        if recording.consumed_only:
            continue
        matches = {q: response.pred[q] == step.gold[q] for q in scenario.questions}
        for q, hit in matches.items():
            right[q] += hit
        exact += all(matches.values())
        composed_right = spec.compose(response.pred) == spec.compose(step.gold)
        ignored_only += composed_right and not all(matches.values())
    n = len(responses)
    known = not recording.consumed_only
    return AnswerScore(
        states=n,
        exact_match=exact / n if known else None,
        per_question={q: hits / n for q, hits in right.items()} if known else None,
        active_question=active_right / active,
        inactive_only_errors=ignored_only if known else None,
    )


def mean_answers(parts: Sequence[tuple[float, AnswerScore]]) -> AnswerScore:
    """The mean of scenarios under weights that sum to one; counts are added up.

    A question's accuracy is the mean over the scenarios that ask it.

    >>> one = AnswerScore(60, 0.5, {"route": 0.8, "card": 0.6}, 0.7, 3)
    >>> two = AnswerScore(60, 0.9, {"route": 1.0}, 0.9, 0)
    >>> mean = mean_answers([(0.5, one), (0.5, two)])
    >>> mean.states, round(mean.exact_match, 3), round(mean.active_question, 3)
    (120, 0.7, 0.8)
    >>> {q: round(share, 3) for q, share in mean.per_question.items()}
    {'route': 0.9, 'card': 0.6}
    """
    known = all(a.exact_match is not None for _, a in parts)
    weighed: dict[str, list[tuple[float, float]]] = {}
    for weight, answers in parts:
        for question, share in (answers.per_question or {}).items():
            weighed.setdefault(question, []).append((weight, share))
    return AnswerScore(
        states=sum(a.states for _, a in parts),
        exact_match=sum(w * (a.exact_match or 0.0) for w, a in parts) if known else None,
        per_question={
            question: sum(w * share for w, share in found) / sum(w for w, _ in found)
            for question, found in weighed.items()
        }
        if known
        else None,
        active_question=sum(w * a.active_question for w, a in parts),
        inactive_only_errors=sum(a.inactive_only_errors or 0 for _, a in parts) if known else None,
    )


def mistakes(recording: Recording, suite: Suite) -> list[Mistake]:
    """Every state whose composed decision was wrong, ignoring latency, in suite order."""
    found = []
    for scenario in suite.scenarios.values():
        if scenario.episode_id not in recording.episodes:
            continue
        spec = scenario.decision_spec
        for t, response in sorted(recording.answers(scenario.episode_id).items()):
            step = scenario.steps[t]
            expected, answered = spec.compose(step.gold), spec.compose(response.pred)
            if expected != answered:
                evidence = scenario.evidence(step.t)
                found.append(Mistake(scenario.episode_id, step.t, expected, answered, evidence))
    return found
