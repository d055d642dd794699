"""The architecture: core packages in one line, features around them, a kernel that stands alone."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import streamdecisionbench
from streamdecisionbench.cli import main
from streamdecisionbench.features import FEATURES, HOOKS, load

PACKAGE = "streamdecisionbench"
HOME = Path(streamdecisionbench.__file__).parent
CORE = (
    "kernel", "policies", "suite", "families", "components", "recording", "render", "scoring", "logs",
    "analysis",
)  # fmt: skip
"""Each imports only those before it."""
ROOT_MODULES = ("errors", "text", "features", "_version")
"""Every package may import these."""
ENTRY_POINTS = ("__init__", "__main__", "examples", "inspect_task")
METER_IMPORTS = {"errors", "text", "_version", "kernel.rule", "kernel.classes", "policies"}
"""The meter runs inside other people's services."""
SOURCES = sorted(path for path in HOME.rglob("*.py") if "__pycache__" not in path.parts)
FIXED_NAMES = {"__init__", "commands", "hooks"}
"""File names that every package may use; families and worlds have fixed files as well."""


def module_of(path: Path) -> str:
    parts = path.relative_to(HOME).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_of(path): path for path in SOURCES}


@cache
def imports(module: str) -> frozenset[str]:
    """The modules of this package that a module imports: at the top, in functions, for types only."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} imports relatively; name the package"
            for alias in node.names:
                name = f"{node.module}.{alias.name}".removeprefix(f"{PACKAGE}.")
                found.add(
                    name if name in MODULES else (node.module or "").removeprefix(f"{PACKAGE}.")
                )
        elif isinstance(node, ast.Import):
            found |= {alias.name.removeprefix(f"{PACKAGE}.") for alias in node.names}
    return frozenset(name for name in found if name in MODULES and name != module)


def package_of(module: str) -> str:
    return module.partition(".")[0]


def modules_of(package: str) -> Iterator[str]:
    return (module for module in MODULES if package_of(module) == package)


def test_every_package_has_its_place() -> None:
    folders = {path.name for path in HOME.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {*CORE, *FEATURES, "cli", "data"}
    files = {path.stem for path in HOME.glob("*.py")}
    assert files == {*ROOT_MODULES, *ENTRY_POINTS}


@pytest.mark.parametrize("package", CORE)
def test_a_core_package_imports_only_those_before_it(package: str) -> None:
    allowed = {*CORE[: CORE.index(package) + 1], *ROOT_MODULES}
    wrong = [
        f"{module} imports {name}"
        for module in modules_of(package)
        for name in imports(module)
        if package_of(name) not in allowed
    ]
    assert not wrong


@pytest.mark.parametrize("package", FEATURES)
def test_a_feature_imports_the_core_and_no_other_feature(package: str) -> None:
    allowed = {*CORE, *ROOT_MODULES, package}
    wrong = [
        f"{module} imports {name}"
        for module in modules_of(package)
        for name in imports(module)
        if package_of(name) not in allowed
        and not (package_of(name) == "cli" and is_command_module(module))
        and not (name == "cli.loading" and module in OPEN_RECORDINGS)
    ]
    assert not wrong


def is_command_module(module: str) -> bool:
    """Modules with commands may use what the commands of the core share."""
    text = MODULES[module].read_text(encoding="utf-8")
    return re.search(r"^(COMMANDS|GROUPS) = ", text, flags=re.MULTILINE) is not None


OPEN_RECORDINGS = {"gate.compare"}
"""Not commands, and opening what commands are given: they may use `cli.loading`."""


def test_the_command_line_imports_no_feature() -> None:
    wrong = [
        f"{module} imports {name}"
        for module in modules_of("cli")
        for name in imports(module)
        if package_of(name) in FEATURES
    ]
    assert not wrong


def test_the_meter_carries_nothing_else_into_a_service() -> None:
    wrong = [
        f"{module} imports {name}"
        for module in modules_of("meter")
        for name in imports(module)
        if package_of(name) != "meter" and name not in METER_IMPORTS
        and package_of(name) not in METER_IMPORTS
    ]  # fmt: skip
    assert not wrong


def test_there_is_no_import_cycle() -> None:
    """Imports inside functions and for types count, too."""
    done: set[str] = set()
    for start in MODULES:
        path: list[str] = []
        _visit(start, path, done)


def _visit(module: str, path: list[str], done: set[str]) -> None:
    assert module not in path, " → ".join([*path[path.index(module) :], module])
    if module in done:
        return
    path.append(module)
    for name in sorted(imports(module)):
        _visit(name, path, done)
    path.pop()
    done.add(module)


def test_no_file_name_is_used_twice() -> None:
    free = [
        path.stem
        for path in SOURCES
        if path.relative_to(HOME).parts[0] not in ("families", "worlds")
        and path.stem not in FIXED_NAMES
    ]
    assert [name for name, count in Counter(free).items() if count > 1] == []


def test_a_public_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        if package_of(module) in ("families", "worlds"):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_every_module_has_a_docstring() -> None:
    missing = [
        module
        for module, path in MODULES.items()
        if path.stat().st_size
        and ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) is None
    ]
    assert missing == []


BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if blocked(name):
            raise ModuleNotFoundError(f"{name} is blocked", name=name)

sys.meta_path.insert(0, Blocker())
"""


def run_blocked(blocked: str, code: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a process in which the modules are missing for which `blocked` is true."""
    text = f"def blocked(name):\n    return {blocked}\n{BLOCKED}\n{code}"
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=300
    )


KERNEL = sorted(modules_of("kernel"))


def test_the_kernel_needs_numpy_and_nothing_else() -> None:
    ours = (
        f"name.startswith('{PACKAGE}.') and not name.startswith(('{PACKAGE}.kernel',"
        f" '{PACKAGE}.errors', '{PACKAGE}.text'))"
    )
    theirs = (
        "name.partition('.')[0] not in {*sys.stdlib_module_names, 'numpy', 'streamdecisionbench'}"
    )
    code = "\n".join(f"import {PACKAGE}.{module}" for module in KERNEL)
    done = run_blocked(f"({ours}) or ({theirs})", code)
    assert done.returncode == 0, done.stderr


def test_the_rule_and_the_classes_need_the_standard_library_only() -> None:
    code = (
        f"import {PACKAGE}.kernel.rule, {PACKAGE}.kernel.classes\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}"
        " - {*sys.stdlib_module_names, 'streamdecisionbench', '__main__'}))"
    )
    third_party = "name.partition('.')[0] not in {*sys.stdlib_module_names, 'streamdecisionbench'}"
    done = run_blocked(third_party, code)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_can_be_removed(feature: str) -> None:
    """Without its package every other module imports, and the command line only lacks its commands."""
    others = [
        f"{PACKAGE}.{module}"
        for module in MODULES
        if package_of(module) != feature and module not in ("__init__", "__main__", "inspect_task")
    ]
    code = f"import importlib\nfor module in {others!r}:\n    importlib.import_module(module)\n"
    prefix = f"{PACKAGE}.{feature}"
    blocked = f"name == {prefix!r} or name.startswith({prefix + '.'!r})"
    done = run_blocked(blocked, code + LIST_COMMANDS)
    assert done.returncode == 0, done.stderr
    whole = run_blocked("False", LIST_COMMANDS)
    assert whole.returncode == 0, whole.stderr
    expected = commands_of(feature)
    assert listed(whole.stdout) - listed(done.stdout) == expected
    in_help = {name for name in expected if " " not in name}
    assert helped(whole.stdout) - helped(done.stdout) == in_help


def listed(text: str) -> set[str]:
    return {line for line in text.partition("Usage:")[0].splitlines() if line}


def helped(text: str) -> set[str]:
    return set(re.findall(r"^  ([a-z]+)  ", text.partition("Usage:")[2], flags=re.MULTILINE))


LIST_COMMANDS = """
from streamdecisionbench.cli import main
import typer

top = typer.main.get_command(main.app)
for name in top.list_commands(None):
    print(name)
    command = top.get_command(None, name)
    for inner in command.list_commands(None) if hasattr(command, "commands") else ():
        print(name, inner)
top.main(["--help", "--all"], standalone_mode=False)
"""


def commands_of(feature: str) -> set[str]:
    """The commands that a feature defines: `label`, `share`, `share board`, `logs sample`."""
    found: set[str] = set()
    for module in filter(is_command_module, modules_of(feature)):
        loaded = load(module)
        group = next((k for k, v in main.MODULES.items() if v == module), "")
        group = group if hasattr(loaded, "HELP") else ""
        found |= {f"{group} {name}".strip() for name in getattr(loaded, "COMMANDS", {})}
        found |= {group} - {""}
        added = getattr(loaded, "GROUPS", {})
        found |= {f"{name} {inner}" for name, inners in added.items() for inner in inners}
    return found


def test_every_hook_is_offered_by_one_feature_and_called() -> None:
    offered = Counter(
        name
        for feature in FEATURES
        for name, value in vars(load(f"{feature}.hooks") or object).items()
        if getattr(value, "__module__", "") == f"{PACKAGE}.{feature}.hooks"
    )
    assert offered == Counter(HOOKS.keys())
    sources = [path.read_text(encoding="utf-8") for path in SOURCES if path.name != "features.py"]
    assert [
        n for n in HOOKS if not any(f'hook("{n}"' in s or f'hooks("{n}"' in s for s in sources)
    ] == []


def test_the_architecture_page_names_every_package() -> None:
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)/` \|", page, flags=re.MULTILINE) == [*CORE, *FEATURES, "cli"]


@pytest.mark.parametrize("heading", ["The walk of one answer", "The walk of one log row"])
def test_a_walk_has_no_way_back(heading: str) -> None:
    """Each file once, in the order of the packages; no file imports a later one of the walk."""
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    text = page.partition(f"## {heading}\n")[2].partition("\n## ")[0].partition("Both walks")[0]
    kernel = page.partition("Both walks use the kernel")[2].partition("\n## ")[0]
    walk = [
        name.removesuffix(".py").replace("/", ".")
        for part in (kernel, text)
        for name in re.findall(r"`([\w/]+\.py)`", part)
    ]
    assert len(walk) > 12
    assert [name for name in walk if name not in MODULES] == []
    assert len(set(walk)) == len(walk)
    places = [[*CORE, "cli"].index(package_of(name)) for name in walk]
    assert places == sorted(places)
    back = [(a, b) for k, a in enumerate(walk) for b in walk[k:] if b in imports(a)]
    assert back == []


@pytest.mark.slow
def test_without_the_published_recordings_pytest_prints_how_many_tests_it_skipped() -> None:
    surroundings = {name: v for name, v in os.environ.items() if name != "SDB_PUBLISHED"}
    options = ("-n", "1", "-p", "no:cacheprovider", "tests/scoring/test_pairs_published.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=Path(__file__).parents[1],
        env=surroundings, capture_output=True, text=True, check=False,
    )  # fmt: skip
    (skipped,) = re.findall(r"(\d+) skipped", done.stdout)
    assert int(skipped) > 5
    assert f"SDB_PUBLISHED is not set: {skipped} laws were not held" in done.stdout
