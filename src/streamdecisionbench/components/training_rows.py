"""Rows for fine-tuning: what a component is sent at a state, with the reference as its reply.

Only suites of the train split become rows. A model trained on a suite is not measured by it, and
its score does not show that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from streamdecisionbench.components.contract import Request
from streamdecisionbench.components.providers.prompt import INSTRUCTION, as_json
from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.scenario import Suite

Row = dict[str, Any]


def require_train_split(suite: Suite) -> None:
    """Refuse every suite that scores are measured on."""
    generation = suite.manifest.generation
    generation = generation if isinstance(generation, dict) else {}
    split, mark = generation.get("split"), f"_train{generation.get('seed', '')}_"
    strangers = [name for name in suite.scenarios if mark not in name]
    if split == "train" and not strangers:
        return
    what = f"{suite.name} is of the {split} split" if split else f"{suite.name} is no training data"
    if split == "train":
        what = f"{suite.name} says it is of the train split, but {strangers[0]} is not"
    raise InputError(
        f"{what}: a model that learned from it could no longer be measured by it",
        fix="sdb suite generate --split train --seed N --out DIR, then export --data DIR",
    )


def training_rows(suite: Suite, form: str) -> Iterator[Row]:
    """One row per state, scenario by scenario.

    `chat`: `messages`, the very conversation of the provider `chat:`, the labels as its last line.
    `systemone`: `state`, `questions` and `answers` as the System One API names them.
    `laya`: `state`, `questions` and `expected`, the label of each, as `laya-train` reads them.
    """
    require_train_split(suite)
    if form not in FORMATS:
        raise InputError(f"--format {form!r} is not known", fix=f"choose {' or '.join(FORMATS)}")
    for scenario in suite:
        questions = scenario.wire_questions()
        for step in scenario.steps:
            labels = scenario.encode(step.gold)
            yield FORMATS[form](Request(step.state, questions), labels)


def _chat(request: Request, labels: dict[str, str]) -> Row:
    return {
        "messages": [
            {"role": "system", "content": INSTRUCTION},
            {"role": "user", "content": as_json(request)},
            {"role": "assistant", "content": json.dumps(labels, separators=(",", ":"))},
        ]
    }


def _systemone(request: Request, labels: dict[str, str]) -> Row:
    return {
        "state": request.state,
        "questions": request.questions,
        "answers": {name: {"type": "choice", "choice": label} for name, label in labels.items()},
    }


def _laya(request: Request, labels: dict[str, str]) -> Row:
    return {"state": request.state, "questions": request.questions, "expected": labels}


FORMATS: dict[str, Callable[[Request, dict[str, str]], Row]] = {
    "chat": _chat,
    "systemone": _systemone,
    "laya": _laya,
}
"""What a row is, by the name of the interface it is for."""
