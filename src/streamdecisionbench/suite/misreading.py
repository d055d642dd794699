"""Misreadings: one rule of a reference read wrongly in one way, everything else as it is.

A misreading is written as small replacements in the reference's own source, so that the reference
stays free of switches and every misreading can be seen as the one line it changes.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from streamdecisionbench.errors import SdbError
from streamdecisionbench.suite.scenario import State

Reference = Callable[[State], dict[str, str]]


@dataclass(frozen=True, slots=True)
class Misreading:
    """The reading of a person who gets `rule` wrong.

    Each of `swaps` replaces a text that occurs exactly once in the reference's source. A misreading
    with `answers_only` touches only answers that no application consumes.
    """

    rule: str
    what: str
    swaps: tuple[tuple[str, str], ...]
    answers_only: bool = False
    wording: str = ""
    """Where it can happen: in suites of this wording, or in any."""


def misread(module: types.ModuleType, misreading: Misreading) -> Reference:
    """The module's `reference`, with one rule read wrongly."""
    source = _source(str(module.__file__))
    for old, new in misreading.swaps:
        if source.count(old) != 1:
            raise SdbError(
                f"the misreading {misreading.what!r} of {misreading.rule} no longer fits"
                f" {module.__name__}: {old!r} occurs {source.count(old)} times"
            )
        source = source.replace(old, new)
    wrong = types.ModuleType(module.__name__)  # dataclasses look their module up by name
    code = compile(source, f"{module.__name__}, {misreading.what}", "exec")
    exec(code, wrong.__dict__)  # noqa: S102 (the package's own source)
    reference: Reference = wrong.reference
    return reference


@cache
def _source(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")
