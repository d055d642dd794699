"""What a blind reader gets: the states and questions of one scenario, and nothing else.

One JSON file per step, exactly the request a component sees, and one compact view of the whole: the
questions, the first state, and after that only what changed from step to step.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from streamdecisionbench.analysis.agreement import empty_sheet
from streamdecisionbench.suite.file_io import (
    make_folder,
    require_empty,
    write_text,
)
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.state_changes import state_changes

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
    write_text(folder / "answers.template.json", json.dumps(empty_sheet(scenario), indent=1) + "\n")
    write_text(folder / "README.md", _READ_ME)
    return folder


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
        lines += [f"- {line}" for line in state_changes(before.state, after.state)]
        lines.append("")
    return "\n".join(lines)
