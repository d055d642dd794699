"""Does `sdb analyze repacing` find the rate at which a server saturates, and only where there is one?

    python bench/repacing.py                  # 20 seeds, queueing and not

Every seed records a simulation (p50 0.25 s, mean 0.27 s) under five conditions on the virtual clock, at 0.5,
1, 2, 4 and 8 requests a second from one to eight streams, with draws of its own at each: once behind one
worker, whose capacity of 3.7 requests a second lies between 2 and 4, and once with a latency that depends on
nothing. Printed: in how many seeds the analysis put the break between 2 and 4, and in how many it named
none where there is none.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from streamdecisionbench.analysis.repacing import Repacing, repacing
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

CONDITIONS = ((2.0, 1), (1.0, 1), (1.0, 2), (2.0, 8), (1.0, 8))
SUITE = read_suite(builtin_suite_path())


def sweep(home: Path, seed: int, workers: int | None) -> Repacing:
    """One recording per condition, each with draws of its own."""
    folders = []
    for index, (interval, streams) in enumerate(CONDITIONS):
        out = home / f"{seed}-{workers}-{interval:g}-{streams}"
        launch(
            RunOptions.of(
                {None: "simulated:jev"},
                out,
                interval_s=interval,
                streams=(streams,),
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
    seeds: int = parser.parse_args().seeds
    found = none = 0
    with tempfile.TemporaryDirectory() as name:
        for seed in range(seeds):
            queued = sweep(Path(name), seed, workers=1)
            free = sweep(Path(name), seed, workers=None)
            found += (queued.holds_to_rate, queued.fails_from_rate) == (2.0, 4.0)
            none += free.fails_from_rate is None
            print(
                f"seed {seed}: queueing holds to {queued.holds_to_rate} a second, fails from"
                f" {queued.fails_from_rate}; free fails from {free.fails_from_rate}",
                flush=True,
            )
    print(f"break found in the right place: {found} of {seeds}")
    print(f"none reported where there is none: {none} of {seeds}")
    return 0 if found == seeds and none >= 0.95 * seeds else 1


if __name__ == "__main__":
    sys.exit(main())
