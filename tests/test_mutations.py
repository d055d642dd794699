"""A few hundred mutated files: each works or is refused in words. `bench/fuzz.py` runs 50,000."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

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
