"""A few hundred mutated files: each works or is refused in words. `bench/fuzz.py` runs 50,000."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.policies.policy_file import read_policy
from streamdecisionbench.scoring.error_costs import read_costs
from tests.mutations import KINDS, run_case

CASES = 450


def test_mutated_files_work_or_are_refused(tmp_path: Path) -> None:
    ended: Counter[tuple[str, bool]] = Counter()
    for number in range(CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        outcome = run_case(number, folder)
        ended[outcome.kind, outcome.error is None] += 1
    # The mutator is worth something only if it reaches both ends of every reader.
    for kind in KINDS:
        assert ended[kind, False], f"no {kind} was refused"
    assert sum(count for (_, worked), count in ended.items() if worked) > CASES // 20


def test_deep_toml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.toml"
    path.write_text("a = " + "[" * 100_000)
    for read in (read_costs, read_policy):
        with pytest.raises(InputError, match="is not TOML"):
            read(path)


def test_a_mutation_deeper_than_python_can_write_is_refused(tmp_path: Path) -> None:
    assert run_case(1_029_363, tmp_path).error is not None  # found by bench/fuzz.py
