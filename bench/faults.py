"""Applies the planted faults of `bench/faults.toml` one at a time and runs the tests that must notice.

    python bench/faults.py                    # all of them; `make faults` does this
    python bench/faults.py --only 'meter-*' --jobs 2

A fault replaces the text `old` in `file` by `new`. It is applied to a copy of the tree, never to the
tree itself. The tests must pass without any fault. The exit code is 1 unless every fault was noticed.
Next to each fault is the first test that noticed it; the last lines count by package.
"""

from __future__ import annotations

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "bench" / "faults.toml"
PACKAGE = Path("src", "streamdecisionbench")
PARTS = ("src", "tests", "docs", "bench")
FILES = (
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "constraints.txt",
    "Makefile",
)

NOTICED, SURVIVED, UNRUN = "noticed", "survived", "tests do not run"
PASSED, FAILED = 0, 1
"""What pytest returns; anything else means that it could not run the tests."""


@dataclass(frozen=True)
class Replacement:
    """Text that occurs exactly once in a file of the package, and the text that replaces it."""

    file: str
    old: str
    new: str

    def apply(self, tree: Path) -> None:
        path = tree / PACKAGE / self.file
        text = path.read_text(encoding="utf-8")
        if (found := text.count(self.old)) != 1:
            raise SystemExit(
                f"{TABLE.name}: `old` occurs {found} times in {self.file}:\n{self.old}"
            )
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass(frozen=True)
class Fault:
    """What to replace, and the tests that must notice it."""

    name: str
    replacements: tuple[Replacement, ...]
    tests: tuple[str, ...]

    @property
    def package(self) -> str:
        return self.replacements[0].file.partition("/")[0]


def read_faults(pattern: str = "*") -> list[Fault]:
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["fault"]
    found = []
    for row in rows:
        changes = [{key: row[key] for key in ("file", "old", "new")}, *row.get("also", ())]
        replacements = tuple(Replacement(**change) for change in changes)
        if fnmatch(row["name"], pattern):
            found.append(Fault(row["name"], replacements, tuple(row["tests"])))
    if not found:
        raise SystemExit(f"no fault in {TABLE.name} is called {pattern}")
    return found


def copy_tree(folder: Path) -> Path:
    """What the tests need of the tree, and nothing that was made from it."""
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy2(ROOT / name, folder / name)
    return folder


def run_in(tree: Path, words: list[str], timeout_s: float) -> tuple[int, str]:
    """A Python that imports the copy, draws the same examples every time and writes no bytecode."""
    paths = {"PYTHONPATH": os.pathsep.join((str(tree / "src"), str(tree)))}
    same = {"PYTHONDONTWRITEBYTECODE": "1", "CI": "1", "HYPOTHESIS_PROFILE": "faults"}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env={**os.environ, **paths, **same},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout_s,
    )
    return done.returncode, done.stdout


def run_tests(tree: Path, tests: tuple[str, ...], timeout_s: float) -> tuple[int, str]:
    return run_in(tree, ["-m", "pytest", "-x", "-p", "no:cacheprovider", *tests], timeout_s)


def try_fault(tree: Path, fault: Fault, timeout_s: float) -> tuple[str, str]:
    """The outcome, and the output of the tests."""
    shutil.rmtree(tree / "src")
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for replacement in fault.replacements:
        replacement.apply(tree)
    try:
        code, output = run_tests(tree, fault.tests, timeout_s)
    except subprocess.TimeoutExpired:
        return NOTICED, "the tests did not end"
    return {PASSED: SURVIVED, FAILED: NOTICED}.get(code, UNRUN), output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="*", metavar="GLOB", help="names of faults")
    parser.add_argument("--timeout", type=float, default=900.0, metavar="SECONDS")
    arguments = parser.parse_args()
    faults = read_faults(arguments.only)
    with tempfile.TemporaryDirectory() as name:
        trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for k in range(arguments.jobs):
            trees.put(copy_tree(Path(name) / str(k)))
        tree = Path(name) / "0"
        where = "import streamdecisionbench; print(streamdecisionbench.__file__)"
        _, imported = run_in(tree, ["-c", where], 60.0)
        if not Path(imported.strip()).is_relative_to(tree):
            print(f"the copy is not what is imported: {imported}")
            return 1
        tests = tuple(dict.fromkeys(test for fault in faults for test in fault.tests))
        code, output = run_tests(tree, tests, arguments.timeout * len(faults))
        if code != PASSED:
            print(output, "these tests do not pass without any fault", sep="\n")
            return 1

        def attempt(fault: Fault) -> tuple[Fault, str, str]:
            tree = trees.get()
            try:
                return fault, *try_fault(tree, fault, arguments.timeout)
            finally:
                trees.put(tree)

        ended: Counter[str] = Counter()
        packages: Counter[str] = Counter()
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for fault, outcome, output in pool.map(attempt, faults):
                ended[outcome] += 1
                packages[fault.package] += outcome == NOTICED
                by = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
                print(f"{outcome:<17} {fault.name}", *(by.groups() if by else ()), flush=True)
                if outcome == UNRUN:
                    print("\n".join(f"    {line}" for line in output.splitlines()[-4:]))
    every = Counter(fault.package for fault in faults)
    print(
        "; ".join(f"{package} {packages[package]} of {every[package]}" for package in sorted(every))
    )
    print(", ".join(f"{ended[how]} {how}" for how in (NOTICED, SURVIVED, UNRUN)))
    return 0 if ended[NOTICED] == len(faults) else 1


if __name__ == "__main__":
    sys.exit(main())
