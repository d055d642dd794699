"""Counts agree with their nouns: messages name a count through `text.plural`, never by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamdecisionbench

HOME = Path(streamdecisionbench.__file__).parent
NOUNS = (
    "answers", "attempts", "decisions", "groups", "items", "moments", "recordings", "requests",
    "responses", "rows", "scenarios", "sessions", "spans", "states", "streams",
)  # fmt: skip
FIXED = {"limit", "queue", "debounce", "dispatch"}
"""Settings whose sentence is only printed for two or more, or that name a limit."""


def counted(path: Path) -> Iterator[tuple[int, str]]:
    """Every f-string in which a value is followed by a plural noun, unless it is a constant."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            words = str(after.value).split()
            if not str(after.value).startswith(" ") or not words:
                continue
            names = {
                n.id if isinstance(n, ast.Name) else n.attr
                for n in ast.walk(value.value)
                if isinstance(n, ast.Name | ast.Attribute)
            }
            text = ast.unparse(value.value)
            if "plural" in names or any(name.isupper() for name in names) or FIXED & names:
                continue
            if words[0].strip(".,;:") in NOUNS:
                yield node.lineno, f"{{{text}}} {words[0]}"


ALLOWED = {
    "{first.rate} requests",  # a rate
    "{last.rate} requests",
    "{len(extra)} answers",  # two or more
    "{len(items)} items",  # a programming error, never printed
    "{', '.join(remote)} answers",  # the verb
    "{unknown[0]} answers",
    "{value} answers",
    "{judged} judged",
    "{len(runs)} recordings",  # two or more
    "{name} answers",
    "{facts.get('steps', 0)} answers",  # a running count
}


@pytest.mark.parametrize(
    "room",
    sorted(p.name for p in HOME.iterdir() if p.is_dir() and p.name not in ("families", "data")),
)
def test_counts_of_things_go_through_plural(room: str) -> None:
    found = [
        f"{path.relative_to(HOME)}:{line}: {text}"
        for path in sorted((HOME / room).rglob("*.py"))
        for line, text in counted(path)
        if text not in ALLOWED
    ]
    assert not found, "use text.plural:\n" + "\n".join(found)
