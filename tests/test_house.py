"""The house: a room imports only from rooms before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamdecisionbench

PACKAGE = "streamdecisionbench"
HOME = Path(streamdecisionbench.__file__).parent
ROOMS = (
    "errors", "suite", "families", "components", "audit", "recording", "scoring", "analysis",
    "report", "cli",
)  # fmt: skip
ANYWHERE = ("_version", "errors")


def imported(path: Path) -> Iterator[str]:
    """The rooms a module imports from, at the top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            names = [f"{PACKAGE}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module]
        elif isinstance(node, ast.ImportFrom):
            raise AssertionError(f"{path}:{node.lineno} imports relatively; name the room")
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == PACKAGE and rest:
                yield rest.partition(".")[0]


def test_every_folder_is_a_room() -> None:
    folders = {p.name for p in HOME.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert folders - {"data"} == set(ROOMS) - {"errors"}


@pytest.mark.parametrize("room", ROOMS[1:])
def test_a_room_imports_only_from_rooms_before_it(room: str) -> None:
    allowed = {*ROOMS[: ROOMS.index(room) + 1], *ANYWHERE}
    wrong = {
        f"{path.relative_to(HOME)} imports from {name}"
        for path in sorted((HOME / room).rglob("*.py"))
        for name in imported(path)
        if name not in allowed
    }
    assert not wrong
