"""What a blind reader gets: the states and questions of one scenario, and nothing else.

One JSON file per step, exactly the request a component sees, and one compact view of the whole: the
questions, the first state, and after that only what changed from step to step.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from streamdecisionbench.audit.labels import Item, ItemQuestion, Label
from streamdecisionbench.suite.disk import make_folder, require_empty, write_text
from streamdecisionbench.suite.scenario import Scenario

_READ_ME = """\
# Blind reading of one scenario

`steps/NN.json` is the request published at tick NN: the public state and the questions. `timeline.md`
shows the same, compactly: the questions, the state at tick 0, then what changed at every tick.

For every tick, answer every question with one of its values (the word before the colon in its
options) or its label, from the rules and the evidence in that state alone. Write the answers into a
copy of `answers.template.json`. Note every place where the text allows another reading.
"""


def export(scenario: Scenario, folder: str | Path) -> Path:
    """Writes the export into a fresh folder."""
    folder = Path(folder)
    require_empty(folder)
    make_folder(folder / "steps")
    for t in range(scenario.n):
        text = json.dumps(scenario.request(t), indent=1, ensure_ascii=False)
        write_text(folder / "steps" / f"{t:02d}.json", text + "\n")
    write_text(folder / "timeline.md", _timeline(scenario))
    write_text(folder / "answers.template.json", json.dumps(template(scenario), indent=1) + "\n")
    write_text(folder / "README.md", _READ_ME)
    return folder


def template(scenario: Scenario) -> dict[str, Any]:
    """An answer sheet with every cell empty."""
    return {
        "scenario": scenario.episode_id,
        "steps": [
            {"t": t, "answers": dict.fromkeys(scenario.questions)} for t in range(scenario.n)
        ],
    }


def items_of(scenario: Scenario) -> list[Item]:
    """The same, one state after another, for a person at the label page."""
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
    """The answer sheet that `sdb audit check` reads, from answers to `items_of`; what was not told is empty."""
    sheet = template(scenario)
    for item, row in zip(items_of(scenario), sheet["steps"], strict=True):
        given = answers[item.item].answer if item.item in answers else None
        if isinstance(given, dict) and set(given) == set(scenario.questions):
            row["answers"] = given
    return sheet


def diff(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """What changed between two JSON values, one line a change, in a fixed order.

    >>> list(diff({"now": 3, "log": ["a"]}, {"now": 4, "log": ["a", "b"]}))
    ['now: 3 → 4', 'log[1]: added "b"']
    """
    both = (before, after)
    named = all(isinstance(value, dict) for value in both)
    if named or all(isinstance(value, list) for value in both):
        old, new = both if named else (dict(enumerate(value)) for value in both)
        for key in {**old, **new}:
            where = f"{path}.{key}" if named and path else str(key) if named else f"{path}[{key}]"
            if key not in new:
                yield f"{where}: removed (was {_text(old[key])})"
            elif key not in old:
                yield f"{where}: added {_text(new[key])}"
            else:
                yield from diff(old[key], new[key], where)
    elif before != after:
        yield f"{path}: {_text(before)} → {_text(after)}"


def _timeline(scenario: Scenario) -> str:
    lines = ["# Questions", ""]
    for name, question in scenario.questions.items():
        lines += [f"## {name}", "", question.instructions, ""]
        lines += [f"- {label}: {text}" for label, text in question.criteria.items()]
        lines.append("")
    first = json.dumps(scenario.steps[0].state, indent=1, ensure_ascii=False)
    lines += ["# Tick 0: the whole state", "", "```json", first, "```", ""]
    for before, after in pairwise(scenario.steps):
        lines += [f"# Tick {after.t}", ""]
        lines += [f"- {line}" for line in diff(before.state, after.state)]
        lines.append("")
    return "\n".join(lines)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
