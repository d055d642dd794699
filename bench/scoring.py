"""How fast the exact scorer is, as ratios on the machine at hand.

    python bench/scoring.py            # an 8 × 60 recording drawn from a seed
    python bench/scoring.py FOLDER     # a recording of yours

Prints the ratio to nested trapezoids (128 → 4096 subintervals, tolerance 1e-5) over the plain
scorer, in this process; the time per recording; how time and memory grow with steps and with
recordings; and how long the commands take from a cold start, beside importing numpy alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from tests.kernel import plain

from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.scoring.score import score_timelines
from streamdecisionbench.scoring.timelines import timelines


def drawn(steps: int, seed: int, scenarios: int = 8) -> list[Timeline]:
    """A recording like the published ones: segments of 1–6 ticks, latencies around 2.5 s."""
    rng = np.random.default_rng(seed)
    parts = []
    for index in range(scenarios):
        reference = np.repeat(np.arange(steps), rng.integers(1, 6, steps))[:steps] % 17
        wrong = rng.random(steps) < 0.1
        parts.append(
            Timeline(
                f"s{index}",
                f"f{index // 2}",
                2.0,
                np.arange(steps) * 2.0 + rng.uniform(0, 0.005, steps),
                rng.lognormal(np.log(2.5), 0.35, steps),
                reference,
                np.where(wrong, rng.integers(0, 20, steps), reference),
            )
        )
    return parts


def best(call: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_mb(call: Callable[[], object]) -> float:
    """Most memory Python held at once during a call."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    if len(sys.argv) > 1:
        from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
        from streamdecisionbench.suite.suite_files import find_suite

        folder = Path(sys.argv[1])
        suite = find_suite(recorded_suite_hash(folder), near=folder)
        parts: Sequence[Timeline] = timelines(read_recording(folder, suite), suite)
    else:
        parts = drawn(60, seed=1)

    def plainly() -> list[float]:
        def curve(interval: float) -> list[float]:
            return [v for p in parts for v in plain.shares(p, interval).values()]

        return plain.nested_trapezoids(curve, 0.5, 8.0)

    start = time.perf_counter()
    trapezoids = plainly()
    slow = time.perf_counter() - start
    exact = best(lambda: score_timelines(parts), 20)
    result = score_timelines(parts)
    ours = [
        v
        for level in result.by_scenario.values()
        for v in (*level.integrated.classes().values(), level.integrated.segment_in_force)
    ]
    worst = max(abs(a - b) for a, b in zip(trapezoids, ours, strict=True))
    judged = [plain.integral(p, 0.5, 8.0, "log") for p in parts]
    exactness = max(
        abs(want[name] - got)
        for want, level in zip(judged, result.by_scenario.values(), strict=True)
        for name, got in level.integrated.classes().items()
    )
    print(f"nested trapezoids over the plain scorer : {slow:8.3f} s")
    print(f"exact scorer, all outputs               : {exact * 1e3:8.3f} ms per recording")
    print(f"ratio                                   : {slow / exact:8.0f} ×")
    print(f"largest difference to the trapezoids    : {worst:.1e} (their tolerance is 1e-5)")
    print(f"largest difference to the definition    : {exactness:.1e}")

    costs()

    print("\nsteps per scenario   ms per recording   ms per 60 steps   peak MB")
    for steps in (60, 200, 600, 2000, 6000):
        long = drawn(steps, seed=2)
        took = best(lambda long=long: score_timelines(long), 3) * 1e3  # type: ignore[misc]
        peak = peak_mb(lambda long=long: score_timelines(long))  # type: ignore[misc]
        print(f"{steps:18d}   {took:16.2f}   {took / steps * 60:15.2f}   {peak:7.1f}")

    print("\nrecordings           ms in all          ms each")
    for count in (1, 10, 100, 1000):
        many = [drawn(60, seed=s) for s in range(min(count, 50))]
        start = time.perf_counter()
        for i in range(count):
            score_timelines(many[i % len(many)], bounds=Bounds())
        took = (time.perf_counter() - start) * 1e3
        print(f"{count:10d}   {took:17.1f}   {took / count:14.2f}")

    print("\ncold start, best of 5                     s")
    for label, seconds in cold_starts().items():
        print(f"{label:36s}   {seconds:6.3f}")


def costs() -> None:
    """What spells, delays, changes, acts and costs add to a score of a recorded folder."""
    from streamdecisionbench.policies.cost_file import default_costs
    from streamdecisionbench.scoring.error_costs import (
        act_measures,
        change_measures,
        charge,
        path_measures,
        spell_measures,
    )
    from streamdecisionbench.scoring.score import score

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        sdb = [sys.executable, "-m", "streamdecisionbench.cli.main"]
        record = [*sdb, "run", "simulated:jev", "--clock", "virtual", "--quiet", "--out", str(out)]
        subprocess.run(record, check=True, capture_output=True)
        parts = score(out).parts

        def everything() -> None:
            course = path_measures(parts, 2.0, Bounds())
            spell_measures(course, 4.0)
            change_measures(course)
            charge(course, default_costs())
            act_measures(course, default_costs())

        default_costs()
        alone, added = best(lambda: score(out), 10), best(everything, 20)
        plain_call = best(
            lambda: subprocess.run([*sdb, "score", str(out)], check=True, capture_output=True), 5
        )
        priced = [*sdb, "score", str(out), "--costs", "default"]
        priced_call = best(lambda: subprocess.run(priced, check=True, capture_output=True), 5)
    arrays = best(lambda: score_timelines(parts), 20)
    print(f"\nsdb.score(folder)                       : {alone * 1e3:8.1f} ms")
    print(f"all of spells, changes, acts and costs  : {added * 1e3:8.1f} ms more")
    print(f"ratio with to without                   : {1 + added / alone:8.2f} × (aim: at most 2)")
    print(f"the same against the arrays alone       : {1 + added / arrays:8.2f} ×")
    print(
        f"sdb score --costs to sdb score, cold    : {priced_call / plain_call:8.2f} × (aim: at most 2)"
    )


def cold_starts() -> dict[str, float]:
    """New processes: the command on one 8 × 60 recording, its help, and what numpy alone takes."""
    sdb = [sys.executable, "-m", "streamdecisionbench.cli.main"]
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/run"
        record = [*sdb, "run", "simulated:jev", "--clock", "virtual", "--quiet", "--out", out]
        subprocess.run(record, check=True, capture_output=True)
        calls = {
            "sdb score RUN (aim: below 0.5)": [*sdb, "score", out],
            "sdb --help    (aim: below 0.3)": [*sdb, "--help"],
            "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
        }
        return {
            label: best(lambda call=call: subprocess.run(call, check=True, capture_output=True), 5)  # type: ignore[misc]
            for label, call in calls.items()
        }


if __name__ == "__main__":
    main()
