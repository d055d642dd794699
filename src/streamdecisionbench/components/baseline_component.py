"""`baseline:` — policies that read no rules, as components: the floor every model has to clear.

`first-option`     the first listed label of every question
`lexical-overlap`  the option whose text shares the most words with the state
`constant`         the label that sorts first, always the same within a scenario
`random`           a label drawn evenly, seeded by the request and `--seed`: the same every time
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from streamdecisionbench.components.contract import Answer, ComponentInfo, Options, Request
from streamdecisionbench.components.providers.address_and_key import refuse
from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.constant_baselines import (
    first_option,
    lexical_overlap,
)
from streamdecisionbench.suite.digest import digest

Policy = Callable[[Mapping[str, Any]], dict[str, str]]


class Baseline:
    """A pure function of the request; no network, no clock."""

    def __init__(self, name: str, options: Options) -> None:
        if name != "random" and name not in POLICIES:
            raise InputError(
                f"no baseline is called {name!r}",
                fix=f"choose one of: {', '.join(sorted((*POLICIES, 'random')))}",
            )
        refuse(options, "baseline", "effort", "base_url")
        self._name = name
        self._seed = options.seed
        self.info = ComponentInfo(
            provider="baseline",
            model=name,
            settings={"seed": options.seed} if name == "random" else {},
            in_process=True,
        )

    async def open(self) -> None:
        """Nothing to prepare."""

    async def answer(self, request: Request) -> Answer:
        payload = {"state": request.state, "questions": request.questions}
        if self._name == "random":
            key = request.request_hash or digest(payload)
            return Answer(labels=draw(payload, f"{self._seed}:{key}"), model=self.info.name)
        return Answer(labels=POLICIES[self._name](payload), model=self.info.name)

    async def close(self) -> None:
        """Nothing to release."""


def constant(request: Mapping[str, Any]) -> dict[str, str]:
    """The label that sorts first: labels are shuffled, so it is an arbitrary fixed answer.

    >>> constant({"questions": {"mode": {"criteria": {"K02": "talk: …", "K01": "closed: …"}}}})
    {'mode': 'K01'}
    """
    return {name: min(question["criteria"]) for name, question in request["questions"].items()}


def draw(request: Mapping[str, Any], seed: str) -> dict[str, str]:
    """One label per question, evenly; `seed` fixes the draw."""
    generator = random.Random(seed)
    return {
        name: generator.choice(sorted(question["criteria"]))
        for name, question in request["questions"].items()
    }


POLICIES: dict[str, Policy] = {
    "first-option": first_option,
    "lexical-overlap": lexical_overlap,
    "constant": constant,
}
