"""The house: a room imports only from rooms before it, and every file has one job its name says."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamdecisionbench

PACKAGE = "streamdecisionbench"
HOME = Path(streamdecisionbench.__file__).parent
ROOMS = (
    "errors", "in_force", "safe_text", "rules", "suite", "families", "components", "worlds", "audit", "recording", "scoring",
    "logs", "meter", "analysis", "report", "cli",
)  # fmt: skip
"""In order, as CONTRIBUTING's map lists them."""
ANYWHERE = ("_version", "errors", "in_force", "safe_text")
ALONE = {"meter": {"errors", "in_force", "safe_text", "rules", "meter", "_version"}}
"""Rooms that people put into their own service carry nothing else with them."""
SOURCES = sorted(p for p in HOME.rglob("*.py") if "__pycache__" not in p.parts)


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
    assert folders - {"data"} <= set(ROOMS)


def test_the_map_names_every_room() -> None:
    lines = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    mapped = re.findall(r"^\| `(\w+)(?:/|\.py)`", lines, flags=re.MULTILINE)
    assert mapped == list(ROOMS)


@pytest.mark.parametrize("room", ROOMS[1:])
def test_a_room_imports_only_from_rooms_before_it(room: str) -> None:
    allowed = ALONE.get(room, {*ROOMS[: ROOMS.index(room) + 1], *ANYWHERE})
    wrong = {
        f"{path.relative_to(HOME)} imports from {name}"
        for path in (*sorted((HOME / room).rglob("*.py")), HOME / f"{room}.py")
        if path.exists()
        for name in imported(path)
        if name not in allowed
    }
    assert not wrong


def test_every_module_says_its_job() -> None:
    silent = {
        str(path.relative_to(HOME))
        for path in SOURCES
        if path.name != "__init__.py" and not ast.get_docstring(ast.parse(path.read_text()))
    }
    assert not silent


def test_a_public_class_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for path in SOURCES:
        if "families" in path.parts:
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(HOME)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_modules_do_not_import_each_other_in_circles() -> None:
    """Also not through imports inside functions."""
    names = {_module(path) for path in SOURCES}
    graph = {
        _module(path): {
            found
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and node.module and not _only_for_types(node, path)
            for alias in node.names
            for found in (_imported_module(node.module, alias.name, names),)
            if found != _module(path)
        }
        for path in SOURCES
    }
    # What imports nothing that is left goes; what remains at the end runs in circles.
    while leaves := {name for name, uses in graph.items() if not uses & graph.keys()}:
        graph = {name: uses for name, uses in graph.items() if name not in leaves}
    on_a_circle = {name for name in graph if _reaches(graph, name)}
    assert on_a_circle == set()


def _imported_module(package: str, name: str, modules: set[str]) -> str:
    inner = f"{package}.{name}"
    return inner if inner in modules else package


def _module(path: Path) -> str:
    name = ".".join((PACKAGE, *path.relative_to(HOME).with_suffix("").parts))
    return name.removesuffix(".__init__")


def _only_for_types(node: ast.ImportFrom, path: Path) -> bool:
    lines = path.read_text().splitlines()
    above = (line for line in reversed(lines[: node.lineno - 1]) if line and line[0] != " ")
    return node.col_offset > 0 and next(above, "").startswith("if TYPE_CHECKING")


def _reaches(graph: dict[str, set[str]], start: str) -> bool:
    seen, ahead = set(), list(graph[start])
    while ahead:
        name = ahead.pop()
        if name == start:
            return True
        if name in graph and name not in seen:
            seen.add(name)
            ahead += graph[name]
    return False


def test_without_the_published_recordings_one_is_told_what_that_leaves_out() -> None:
    surroundings = {name: v for name, v in os.environ.items() if name != "SDB_PUBLISHED"}
    words = (
        "-m",
        "pytest",
        "-n",
        "1",
        "-p",
        "no:cacheprovider",
        "tests/scoring/test_pairs_published.py",
    )
    done = subprocess.run(
        [sys.executable, *words], cwd=Path(__file__).parents[1], env=surroundings,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    (skipped,) = re.findall(r"(\d+) skipped", done.stdout)
    assert int(skipped) > 5
    assert f"SDB_PUBLISHED is not set: {skipped} laws were not held" in done.stdout
