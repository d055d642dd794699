"""Mutated files through every reader: nothing but success or one clear refusal.

    python bench/fuzz.py                      # 50,000 cases
    python bench/fuzz.py --cases 2000 --first 100000

Prints counts by kind of file. A case that ends in any other exception is printed with its number,
which repeats it: `python bench/fuzz.py --cases 1 --first NUMBER`. Exit code 1 if there was one.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.mutations import KINDS, run_case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=1_000_000)
    arguments = parser.parse_args()
    ended: Counter[tuple[str, str]] = Counter()
    broken = 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        for number in range(arguments.first, arguments.first + arguments.cases):
            folder = Path(name) / "case"
            folder.mkdir()
            try:
                outcome = run_case(number, folder)
                ended[outcome.kind, "worked" if outcome.error is None else "refused"] += 1
            except Exception:
                broken += 1
                kind = list(KINDS)[number % len(KINDS)]
                ended[kind, "broken"] += 1
                if broken <= 10:
                    print(f"case {number} ({kind}):", traceback.format_exc(limit=-3), sep="\n")
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{'kind':<14}{'worked':>8}{'refused':>9}{'broken':>8}")
    for kind in KINDS:
        counts = [ended[kind, how] for how in ("worked", "refused", "broken")]
        print(f"{kind:<14}{counts[0]:>8}{counts[1]:>9}{counts[2]:>8}")
    seconds = time.monotonic() - begin
    print(f"{arguments.cases} cases, {broken} broken, {seconds:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
