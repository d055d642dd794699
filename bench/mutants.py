"""Is every planted fault noticed? Applies each patch of `bench/mutants/` and runs the tests it names.

    python bench/mutants.py                   # all of them
    python bench/mutants.py --only 'meter-*' --jobs 2

A patch is a unified diff of `src` below one line `# tests: PATH …`, the pytest paths that must notice
it. Each is applied to a copy of the tree, never to the tree itself. The tests must pass without any
patch, or failing would say nothing. Exit code 1 unless every fault was noticed: one that survives
means a law nobody holds, one that does not apply or leaves nothing to run checks nothing any more. Beside
what was noticed stands the first test that did; the end counts by room.
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
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATCHES = ROOT / "bench" / "mutants"
MARK = "# tests:"
PARTS = ("src", "tests", "docs", "bench")
FILES = (
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "constraints.txt",
    "Makefile",
)

NOTICED, SURVIVED, UNFIT, UNRUN = "noticed", "survived", "does not apply", "tests do not run"
PASSED, FAILED = 0, 1
"""What pytest returns; anything else means that it could not run the tests."""


@dataclass(frozen=True)
class Mutant:
    """A fault, and the tests that must notice it."""

    name: str
    path: Path
    tests: tuple[str, ...]
    room: str
    """The first it touches."""


def read_mutants(pattern: str) -> list[Mutant]:
    found = []
    for path in sorted(PATCHES.glob(f"{pattern}.patch")):
        first, _, diff = path.read_text(encoding="utf-8").partition("\n")
        tests = tuple(first.removeprefix(MARK).split())
        if not first.startswith(MARK) or not tests:
            raise SystemExit(f"{path}: the first line is not `{MARK} PATH …`")
        room = diff.partition("+++ b/src/streamdecisionbench/")[2].partition("/")[0].split("\n")[0]
        found.append(Mutant(path.stem, path, tests, room))
    if not found:
        raise SystemExit(f"no patch in {PATCHES} is called {pattern}.patch")
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


def try_mutant(tree: Path, mutant: Mutant, timeout_s: float) -> tuple[str, str]:
    """What became of it, and the last of what was said."""
    shutil.rmtree(tree / "src")
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    apply = ["git", "apply", "--whitespace=nowarn", str(mutant.path)]
    applied = subprocess.run(apply, cwd=tree, capture_output=True, text=True, check=False)
    if applied.returncode:
        return UNFIT, applied.stderr
    try:
        code, said = run_tests(tree, mutant.tests, timeout_s)
    except subprocess.TimeoutExpired:
        return NOTICED, "the tests did not end"
    return {PASSED: SURVIVED, FAILED: NOTICED}.get(code, UNRUN), said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="*", metavar="GLOB", help="names without .patch")
    parser.add_argument("--timeout", type=float, default=900.0, metavar="SECONDS")
    arguments = parser.parse_args()
    mutants = read_mutants(arguments.only)
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
        tests = tuple(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
        code, said = run_tests(tree, tests, arguments.timeout * len(mutants))
        if code != PASSED:
            print(said, "these tests do not pass without any patch", sep="\n")
            return 1

        def attempt(mutant: Mutant) -> tuple[Mutant, str, str]:
            tree = trees.get()
            try:
                return mutant, *try_mutant(tree, mutant, arguments.timeout)
            finally:
                trees.put(tree)

        ended: Counter[str] = Counter()
        rooms: Counter[str] = Counter()
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for mutant, outcome, told in pool.map(attempt, mutants):
                ended[outcome] += 1
                rooms[mutant.room] += outcome == NOTICED
                by = re.search(r"^(?:FAILED|ERROR) (\S+)", told, re.MULTILINE)
                print(f"{outcome:<17} {mutant.name}", *(by.groups() if by else ()), flush=True)
                if outcome in (UNFIT, UNRUN):
                    print("\n".join(f"    {line}" for line in told.splitlines()[-4:]))
    every = Counter(mutant.room for mutant in mutants)
    print("; ".join(f"{room} {rooms[room]} of {every[room]}" for room in sorted(every)))
    print(", ".join(f"{ended[how]} {how}" for how in (NOTICED, SURVIVED, UNFIT, UNRUN)))
    return 0 if ended[NOTICED] == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
