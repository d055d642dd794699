"""Policies that read no rules, and how far they get: a suite is only worth something if that is near zero."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from streamdecisionbench.suite.digest import canonical
from streamdecisionbench.suite.scenario import Scenario

_WORD = re.compile(r"[a-z0-9]+")
_STOP = frozenset(
    _WORD.findall(
        "a an and any are as at be been but by can do for from had has have if in into is it its no nor not of off"
        " on only or other our out over so such than that the their them then there these they this those to too"
        " under until up was we were what when where which while who will with you your"
    )
)


@lru_cache(maxsize=1024)  # options are asked again with every state
def content_words(text: str) -> frozenset[str]:
    """Lower-case words of two or more characters that are not function words.

    >>> sorted(content_words("Return to the customer, J2!"))
    ['customer', 'j2', 'return']
    """
    return frozenset(w for w in _WORD.findall(text.lower()) if len(w) > 1 and w not in _STOP)


def first_option(request: Mapping[str, Any]) -> dict[str, str]:
    """The first listed label of every question."""
    return {name: next(iter(q["criteria"])) for name, q in request["questions"].items()}


def lexical_overlap(request: Mapping[str, Any]) -> dict[str, str]:
    """The option whose text shares the most content words with the state; ties go to the first listed."""
    seen = content_words(canonical(request["state"]).decode())
    labels = {}
    for name, question in request["questions"].items():
        criteria: dict[str, str] = question["criteria"]
        labels[name] = max(criteria, key=lambda label: len(content_words(criteria[label]) & seen))
    return labels


Policy = Callable[[Mapping[str, Any]], dict[str, str]]

POLICIES: dict[str, Policy] = {"first_option": first_option, "lexical_overlap": lexical_overlap}


def states_right(scenario: Scenario, policy: Policy) -> int:
    """States whose composed decision a policy gets right."""
    spec = scenario.decision_spec
    right = 0
    for step in scenario.steps:
        answers = scenario.decode(policy(scenario.request(step.t)))
        right += spec.compose(answers) == spec.compose(step.gold)
    return right


def best_constant(scenario: Scenario) -> int:
    """States at which the most frequent composed reference decision holds: no constant does better."""
    counts = Counter(tuple(decision.items()) for decision in scenario.reference())
    return counts.most_common(1)[0][1]
