"""The table of planted faults fits the tree: `make faults` can apply every row."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.analysis.kit import bench

faults = bench("faults")
ROOT = Path(__file__).resolve().parents[1]


def test_every_old_text_occurs_exactly_once() -> None:
    wrong = {}
    for fault in faults.read_faults():
        for change in fault.replacements:
            text = (ROOT / faults.PACKAGE / change.file).read_text(encoding="utf-8")
            if text.count(change.old) != 1 or change.old == change.new:
                wrong[fault.name] = (change.file, text.count(change.old))
    assert not wrong


def test_a_fault_still_leaves_python() -> None:
    for fault in faults.read_faults():
        for change in fault.replacements:
            if change.file.endswith(".py"):
                text = (ROOT / faults.PACKAGE / change.file).read_text(encoding="utf-8")
                ast.parse(text.replace(change.old, change.new), change.file)


def test_every_named_test_exists() -> None:
    missing = set()
    for test in {test for fault in faults.read_faults() for test in fault.tests}:
        path, _, name = test.partition("::")
        if not (ROOT / path).exists() or f"def {name.partition('[')[0]}(" not in (
            (ROOT / path).read_text(encoding="utf-8") if name else f"def {name}("
        ):
            missing.add(test)
    assert not missing


def test_names_are_unique() -> None:
    names = [fault.name for fault in faults.read_faults()]
    assert len(names) == len(set(names))


def test_a_text_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / faults.PACKAGE).mkdir(parents=True)
    (tmp_path / faults.PACKAGE / "a.py").write_text("x = 1\nx = 1\n")
    with pytest.raises(SystemExit, match="2 times"):
        faults.Replacement("a.py", "x = 1", "x = 2").apply(tmp_path)
