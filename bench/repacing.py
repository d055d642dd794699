"""Does `sdb analyze repacing` find the rate at which a server saturates, and only where there is one?

    python bench/repacing.py                  # 20 seeds, queueing and not

Every seed records a simulation (p50 0.25 s) at four intervals on the virtual clock, with draws of its own
at each: once behind one worker, whose capacity of about four requests a second lies between the rates at
0.5 s and 0.2 s, and once with a latency that depends on nothing. Printed: in how many seeds the analysis
named the break at 0.2 s, and in how many it named none where there is none.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from streamdecisionbench.analysis.repacing import Repacing, repacing
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.run_request import RunRequest, launch
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

INTERVALS = (2.0, 1.0, 0.5, 0.2)
SUITE = read_suite(builtin_suite_path())


def sweep(home: Path, seed: int, workers: int | None) -> Repacing:
    """One recording per interval, each with draws of its own."""
    folders = []
    for index, interval in enumerate(INTERVALS):
        out = home / f"{seed}-{workers}-{interval:g}"
        launch(
            RunRequest(
                {None: "simulated:jev"},
                out,
                interval_s=interval,
                clock="virtual",
                workers=workers,
                seed=1000 * seed + index,
            ),
            lambda estimates: True,
        )
        folders.append(out)
    return repacing([(read_recording(folder, SUITE), SUITE) for folder in folders])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    found = none = 0
    with tempfile.TemporaryDirectory() as name:
        for seed in range(seeds):
            queued = sweep(Path(name), seed, workers=1)
            free = sweep(Path(name), seed, workers=None)
            found += queued.fails_from == 0.2
            none += free.fails_from is None
            print(f"seed {seed}: queueing fails from {queued.fails_from}, free {free.fails_from}")
    print(f"break found in the right place: {found} of {seeds}")
    print(f"none reported where there is none: {none} of {seeds}")
    return 0 if found == seeds and none >= 0.95 * seeds else 1


if __name__ == "__main__":
    sys.exit(main())
