"""A scenario for people at the label page: its states as items, their answers as an answer sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamdecisionbench.analysis.agreement import empty_sheet
from streamdecisionbench.labels.label_files import Item, ItemQuestion, Label
from streamdecisionbench.suite.scenario import Scenario


def items_of(scenario: Scenario) -> list[Item]:
    """The states of a scenario, one after another, with its questions."""
    questions = {
        name: ItemQuestion(
            question.instructions,
            {
                scenario.option_semantics[name][label]: text.partition(": ")[2]
                for label, text in question.criteria.items()
            },
        )
        for name, question in scenario.questions.items()
    }
    states = [step.state for step in scenario.steps]
    return [
        Item(f"t{t:04d}", state, before, questions)
        for t, (before, state) in enumerate(zip([None, *states], states, strict=False))
    ]


def sheet_of(scenario: Scenario, answers: Mapping[str, Label]) -> dict[str, Any]:
    """The answer sheet that `sdb audit check` reads, from answers to `items_of`; open cells stay empty."""
    sheet = empty_sheet(scenario)
    for item, row in zip(items_of(scenario), sheet["steps"], strict=True):
        given = answers[item.item].answer if item.item in answers else None
        if isinstance(given, dict) and set(given) == set(scenario.questions):
            row["answers"] = given
    return sheet
