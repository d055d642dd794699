"""What a suite puts to the test: every rule, every option, every way to misread a rule.

A rule *decides* a state if some misreading of it changes the composed decision there. That is a
statement about the suite: a rule that decides no state could be dropped without anybody noticing.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.registry import FAMILY_MODULES, has
from streamdecisionbench.suite.misreading import Misreading, Reference, misread
from streamdecisionbench.suite.scenario import Scenario, Step, Suite


@dataclass(frozen=True, slots=True)
class MisreadingCoverage:
    """One misreading: the states whose composed decision it changes, and whose answers."""

    rule: str
    what: str
    decisions: int
    answers: int
    answers_only: bool

    @property
    def shown(self) -> bool:
        return bool(self.answers if self.answers_only else self.decisions)


@dataclass(frozen=True, slots=True)
class FamilyCoverage:
    """One family's part of a suite."""

    scenarios: int
    states: int
    options: dict[str, dict[str, int]]
    """Question → value → states whose reference answer it is."""
    rules: dict[str, int] = field(default_factory=dict)
    """Rule → states it decides. Empty where the family's rules are not known here."""
    misreadings: tuple[MisreadingCoverage, ...] = ()

    def unanswered(self) -> list[tuple[str, str]]:
        """Options that answer no state."""
        return [(q, v) for q, values in self.options.items() for v, n in values.items() if not n]

    def undecided(self) -> list[str]:
        """Rules that decide no state, of those that could."""
        inert = {m.rule for m in self.misreadings if not m.answers_only}
        return [rule for rule, n in self.rules.items() if not n and rule in inert]

    def unnoticed(self) -> list[MisreadingCoverage]:
        """Misreadings that this suite would not notice."""
        return [m for m in self.misreadings if not m.shown]


def coverage(suite: Suite) -> dict[str, FamilyCoverage]:
    """Every family of the suite, in reported order."""
    return {
        family: _family(family, group, _wording(suite, group))
        for family, group in suite.families().items()
    }


def _wording(suite: Suite, scenarios: list[Scenario]) -> str:
    """As the suite was generated; of authored scenarios, as what was set beforehand says."""
    if "wording" in suite.manifest.generation:
        return str(suite.manifest.generation["wording"])
    states = [scenario.steps[0].state for scenario in scenarios]
    set_up = [state.get(part, {}) for state in states for part in ("policy", "prepared")]
    return "free" if any("intents" in part for part in set_up) else "listed"


def _family(family: str, scenarios: list[Scenario], wording: str) -> FamilyCoverage:
    states = sum(s.n for s in scenarios)
    module = FAMILY_MODULES.get(family)
    if module is None or not has(module, "misreadings"):
        return FamilyCoverage(len(scenarios), states, _options(scenarios))
    package = f"streamdecisionbench.families.{module}"
    reference = importlib.import_module(f"{package}.reference")
    steps = (step for scenario in scenarios for step in scenario.steps)
    if not all(_answers(reference.reference, step) == step.gold for step in steps):
        # Scenarios with rules of their own that only share the family's name.
        return FamilyCoverage(len(scenarios), states, _options(scenarios))
    every: tuple[Misreading, ...] = importlib.import_module(f"{package}.misreadings").MISREADINGS
    table = [m for m in every if m.wording in ("", wording)]
    rules: dict[str, str] = importlib.import_module(package).RULES
    concerned = {m.rule for m in table}
    decided: dict[str, set[tuple[str, int]]] = {r: set() for r in rules if r in concerned}
    measured = []
    changed = _changed([misread(reference, m) for m in table], scenarios)
    for misreading, (decisions, answers) in zip(table, changed, strict=True):
        decided[misreading.rule] |= decisions
        measured.append(
            MisreadingCoverage(
                misreading.rule,
                misreading.what,
                len(decisions),
                answers,
                misreading.answers_only,
            )
        )
    return FamilyCoverage(
        len(scenarios),
        states,
        _options(scenarios),
        {rule: len(found) for rule, found in decided.items()},
        tuple(measured),
    )


def _options(scenarios: Iterable[Scenario]) -> dict[str, dict[str, int]]:
    counts: Counter[tuple[str, str]] = Counter()
    known: dict[str, dict[str, int]] = {}
    for scenario in scenarios:
        for question, labels in scenario.option_semantics.items():
            known.setdefault(question, {}).update(dict.fromkeys(labels.values(), 0))
        counts.update((q, v) for step in scenario.steps for q, v in step.gold.items())
    return {q: {v: counts[q, v] for v in sorted(values)} for q, values in known.items()}


def _changed(
    readings: list[Reference], scenarios: Iterable[Scenario]
) -> list[tuple[set[tuple[str, int]], int]]:
    """A misreading: states at which it decides otherwise; how many it answers otherwise."""
    decisions: list[set[tuple[str, int]]] = [set() for _ in readings]
    answers = [0] * len(readings)
    for scenario in scenarios:
        compose = scenario.decision_spec.compose
        for step in scenario.steps:
            right = compose(step.gold)
            for i, wrong in enumerate(readings):
                got = _answers(wrong, step)
                if got == step.gold:
                    continue
                answers[i] += 1
                if got is None or compose(got) != right:
                    decisions[i].add((scenario.episode_id, step.t))
    return list(zip(decisions, answers, strict=True))


def _answers(wrong: Reference, step: Step) -> dict[str, str] | None:
    """None where the misreading leaves a reader without any answer."""
    try:
        return wrong(step.state)
    except (InputError, LookupError, TypeError, ValueError):
        return None
