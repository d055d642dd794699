"""Do bootstrap intervals cover? Simulated recordings with known truth, 200 trials.

    python bench/bootstrap.py                 prints coverage per process and metric
    python bench/bootstrap.py --trials 50     fewer trials
    python bench/bootstrap.py --json

A process draws eight scenarios of 60 steps: reference segments, latencies that drift, errors that
persist within a segment. Error rates and median latencies differ between scenarios and are fixed.
The truth is the mean score over many passes of the process.

  new streams     every pass draws new timelines and new answers: what the intervals are made for
  same timelines  timelines are drawn once; answers are new in every pass. Structure the timeline
                  forces on every pass counts as chance in a resample, so intervals are wide here
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamdecisionbench.analysis.bootstrap import METRICS, Sampling, intervals
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.scoring.score import score_timelines

FAMILIES = ("a", "a", "b", "b", "c", "c", "d", "d")
STEPS, TICK = 60, 2.0
SEGMENT_LENGTHS = (1, 2, 2, 2, 2, 3, 3, 4, 4, 7)


@dataclass(frozen=True)
class Process:
    """A component on streams of one kind."""

    name: str
    error: float
    latency_s: float
    spread: float = 0.25
    drift: float = 0.5
    persistence: float = 0.6


FAST = Process("fast", error=0.36, latency_s=0.25)
SLOW = Process("slow", error=0.05, latency_s=2.6)
MIDDLE = Process("middle", error=0.2, latency_s=1.0, spread=0.4, drift=0.8, persistence=0.9)


def draw_references(rng: np.random.Generator) -> list[np.ndarray]:
    """Eight timelines of segments; decisions recur."""
    found = []
    for _ in FAMILIES:
        reference: list[int] = []
        now = 0
        while len(reference) < STEPS:
            reference += [now] * int(rng.choice(SEGMENT_LENGTHS))
            now = (now + int(rng.integers(1, 9))) % 10
        found.append(np.array(reference[:STEPS]))
    return found


def draw_pass(
    process: Process, references: list[np.ndarray], rng: np.random.Generator
) -> list[Timeline]:
    """One recording of the process."""
    return [_scenario(process, k, reference, rng) for k, reference in enumerate(references)]


def coverage(
    processes: tuple[Process, Process],
    *,
    same_timelines: bool,
    trials: int,
    passes: int,
    resamples: int,
    seed: int = 0,
    block: int = 10,
) -> dict[str, float]:
    """How often the interval holds the truth: each process's metrics, and their difference's."""
    rng = np.random.default_rng(seed)
    fixed = draw_references(rng)

    def both() -> dict[str, list[Timeline]]:
        references = fixed if same_timelines else draw_references(rng)
        return {p.name: draw_pass(p, references, rng) for p in processes}

    scores: dict[str, list[list[float]]] = {p.name: [] for p in processes}
    for _ in range(passes):
        for name, parts in both().items():
            s = score_timelines(parts)
            scores[name].append([s.log_auc, s.in_force, s.untimed])
    truth = {name: np.mean(values, axis=0) for name, values in scores.items()}
    first, second = (p.name for p in processes)
    truth[f"{first} − {second}"] = truth[first] - truth[second]

    held: dict[str, int] = {}
    for trial in range(trials):
        result = intervals(both(), sampling=Sampling(block, resamples, trial))
        found = {**result.recordings, f"{first} − {second}": result.differences[0].metrics}
        for name, metrics in found.items():
            for k, metric in enumerate(METRICS):
                inside = metrics[metric].low <= truth[name][k] <= metrics[metric].high
                key = f"{name}: {metric}"
                held[key] = held.get(key, 0) + bool(inside)
    return {key: count / trials for key, count in held.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--passes", type=int, default=2000, help="passes behind the truth")
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--block", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    a = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for label, same in (("new streams", False), ("same timelines", True)):
        for pair in ((FAST, SLOW), (MIDDLE, FAST)):
            begin = time.perf_counter()
            found = coverage(
                pair, same_timelines=same, trials=a.trials, passes=a.passes,
                resamples=a.resamples, seed=a.seed, block=a.block,
            )  # fmt: skip
            rows.append({"process": label, "coverage": found})
            if a.json:
                print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
                continue
            print(
                f"{label}, {pair[0].name} and {pair[1].name} ({time.perf_counter() - begin:.0f} s)"
            )
            for key, share in found.items():
                mark = "" if same or 0.90 <= share <= 0.99 else "   outside 90–99 %"
                print(f"  {key:28} {100 * share:5.1f} %{mark}")
    asked = [v for row in rows if row["process"] == "new streams" for v in row["coverage"].values()]
    outside = sum(not 0.90 <= v <= 0.99 for v in asked)
    if not a.json:
        print(f"new streams: {len(asked) - outside} of {len(asked)} within 90–99 %")
    if outside:
        raise SystemExit(1)


def _scenario(
    process: Process, k: int, reference: np.ndarray, rng: np.random.Generator
) -> Timeline:
    n = len(reference)
    # Scenarios differ, by fixed factors: some are harder, some slower.
    error = min(0.9, process.error * (0.6 + 0.8 * k / 7))
    median = process.latency_s * (0.85 + 0.3 * ((3 * k) % 8) / 7)
    noise = rng.standard_normal(n)
    level = np.empty(n)
    level[0] = noise[0]
    for i in range(1, n):
        level[i] = process.drift * level[i - 1] + np.sqrt(1 - process.drift**2) * noise[i]
    segment = np.cumsum(np.append(0, reference[1:] != reference[:-1]))
    shared = rng.standard_normal(segment[-1] + 1)[segment]
    z = np.sqrt(process.persistence) * shared
    z += np.sqrt(1 - process.persistence) * rng.standard_normal(n)
    wrong = z < _normal_quantile(error)
    return Timeline(
        f"s{k}", FAMILIES[k], TICK, np.arange(n, dtype=np.float64) * TICK,
        median * np.exp(process.spread * level),
        reference, np.where(wrong, reference + 10 + rng.integers(0, 3, n), reference),
    )  # fmt: skip


def _normal_quantile(p: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


if __name__ == "__main__":
    main()
