"""Pairs: how long composing takes, against the plain definition and in all.

    python bench/pairs.py                 30 settings: 870 ordered pairs, 3 rules, 8 scenarios
    python bench/pairs.py --settings 8    fewer

Settings are the simulated profiles over the built-in suite with different seeds. One pair is scored
under all rules: at an interval, integrated over 0.5–8 s, by scenario, family and overall. The plain
definition (tests/scoring/plain_pairs.py) splits at every crossing and walks through time twice per
piece; it is timed on a sample of pieces and multiplied out.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

from streamdecisionbench.components.simulated.profiles import builtin_profiles
from streamdecisionbench.components.simulated.simulator import Simulator
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.rule import RULES
from streamdecisionbench.recording.event_log import Release, Response
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.scoring.pairs import all_pairs, compose, compose_recordings
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.scoring import plain_pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", type=int, default=30)
    arguments = parser.parse_args()
    suite = read_suite(builtin_suite_path())
    recordings = made(suite, arguments.settings)

    jev, terra = (next(r for r in recordings if r.name.startswith(n)) for n in ("jev", "terra-low"))
    one = min(timed(lambda: compose_recordings(jev, terra, suite)) for _ in range(10))
    plain = plain_seconds(timelines(jev, suite), timelines(terra, suite))
    print(f"one pair, {len(RULES)} rules, {len(suite.scenarios)} scenarios: {1e3 * one:.1f} ms")
    print(f"plain definition: about {plain:.0f} s, ratio {plain / one:,.0f}")
    print(
        f"largest difference to it (first 16 steps of each scenario): {deviation(jev, terra, suite):.1e}"
    )

    begin = time.perf_counter()
    cpu = time.process_time()
    pairs = all_pairs(recordings, suite)
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    count = len(pairs) // len(RULES)
    print(
        f"all {count} ordered pairs of {len(recordings)} settings: {wall:.1f} s on one core "
        f"({1e3 * wall / count:.1f} ms a pair, {cpu / wall:.2f} cores used), "
        f"{120 / wall:.0f} times within two minutes"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB")


def made(suite: Suite, count: int) -> list[Recording]:
    """Recordings drawn from the profiles, as if nothing but the drawn latency passed."""
    found: list[Recording] = []
    seed = 0
    while len(found) < count:
        simulator = Simulator(suite, seed)
        for profile in builtin_profiles().values():
            episodes = {}
            for scenario in suite:
                responses = []
                for t in range(scenario.n):
                    draw = simulator.draw(profile, scenario, t)
                    start = t * scenario.tick_seconds
                    end = start + draw.latency_s
                    responses.append(
                        Response(
                            scenario.episode_id, t, start, "", True, True, start, end,
                            dict(draw.answers), end, end,
                        )
                    )  # fmt: skip
                releases = tuple(
                    Release(scenario.episode_id, r.t, r.release_s, r.release_s) for r in responses
                )
                episodes[scenario.episode_id] = Episode(
                    scenario.episode_id, releases, (), tuple(responses)
                )
            run = {"dataset_manifest": {"dataset_hash": suite.dataset_hash}}
            found.append(Recording(f"{profile.name} seed {seed}", run, episodes))
        seed += 1
    return found[:count]


def plain_seconds(fast: list[Timeline], slow: list[Timeline], sample: int = 12) -> float:
    """Two walks per piece and rule, timed on a few and multiplied by the number of pieces."""
    total = 0.0
    for f, s in zip(fast, slow, strict=True):
        low, high = f.tick / 8, f.tick / 0.5
        pieces = 1 + len({c for c in plain_pairs.crossings(f, s) if low < c < high})
        walks = timed(
            lambda f=f, s=s: [
                plain_pairs.shares(f, s, 0.5 * 16 ** (k / sample), RULES[k % 3])
                for k in range(sample)
            ]
        )
        total += walks / sample * 2 * pieces * len(RULES)
    return total


def deviation(fast: Recording, slow: Recording, suite: Suite) -> float:
    worst = 0.0
    for f, s in zip(timelines(fast, suite), timelines(slow, suite), strict=True):
        f, s = cut(f), cut(s)
        for rule in RULES:
            exact = compose([f], [s], rule, bounds=Bounds()).overall.integrated
            judge = plain_pairs.integral(f, s, rule, 0.5, 8.0, "log")
            worst = max(
                worst, *(abs(getattr(exact, name) - judge[name]) for name in plain_pairs.CLASSES)
            )
    return worst


def cut(part: Timeline, n: int = 16) -> Timeline:
    return Timeline(
        part.episode_id, part.family, part.tick, part.release[:n], part.latency[:n],
        part.reference[:n], part.predicted[:n],
    )  # fmt: skip


def timed(work: object) -> float:
    begin = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
