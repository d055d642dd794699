"""Hostile input through every reader and every measurement: it works and is right, or it is refused.

    python bench/fuzz.py                                    # 50,000 cases
    python bench/fuzz.py --cases 2000 --first 100000
    python bench/fuzz.py --kinds logs,meter --cases 500

Half of the cases are mutated files of every kind that commands read; the others attack logs (one table in
three formats, one or many files, hostile names and values), the meter (impossible events), the gate
(broken scores, poor logs) and bundles (forged archives), and compare what comes of it with the plain
definitions under `tests/`. Prints counts by kind. A case that ends in a traceback or in a figure that is
silently another one is printed with its number, which repeats it: `--kinds KIND --cases 1 --first NUMBER`.
Exit code 1 if there was one.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.attacks import ATTACKS, Differs, attack
from tests.mutations import KINDS, run_case

ENDS = ("worked", "refused", "differs", "traceback")
_SHOWN = 5
"""Faults of a kind that are printed in full."""


def mutated(kind: int, number: int, folder: Path) -> bool:
    return run_case(number * len(KINDS) + kind, folder).error is None


CASES: dict[str, Callable[[int, Path], bool]] = {
    **{name: partial(mutated, k) for k, name in enumerate(KINDS)},
    **{name: partial(attack, name) for name in ATTACKS},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=100_000)
    parser.add_argument("--kinds", default="", help="comma-separated; all of them otherwise")
    arguments = parser.parse_args()
    # As many attacks as mutated files, and of either as many of every kind.
    pairs = zip(list(KINDS) * len(ATTACKS), list(ATTACKS) * len(KINDS), strict=True)
    usual = [kind for pair in pairs for kind in pair]
    kinds = [kind for kind in arguments.kinds.split(",") if kind] or usual
    ended: Counter[tuple[str, str]] = Counter()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        for number in range(arguments.first, arguments.first + arguments.cases):
            kind = kinds[number % len(kinds)]
            folder = Path(name) / "case"
            folder.mkdir()
            try:
                how = "worked" if CASES[kind](number, folder) else "refused"
            except Exception as error:
                how = "differs" if isinstance(error, Differs) else "traceback"
                if ended[kind, how] < _SHOWN:
                    said = error if how == "differs" else traceback.format_exc(limit=-3)
                    print(f"case {number} ({kind}), {how}: {said}", flush=True)
            ended[kind, how] += 1
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{'kind':<14}" + "".join(f"{how:>11}" for how in ENDS))
    for kind in dict.fromkeys(kinds):
        print(f"{kind:<14}" + "".join(f"{ended[kind, how]:>11}" for how in ENDS))
    faults = sum(count for (_, how), count in ended.items() if how in ENDS[2:])
    print(f"{arguments.cases} cases, {faults} faults, {time.monotonic() - begin:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
