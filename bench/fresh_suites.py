"""Do generated suites rank as published, and do their intervals cover? Simulated profiles on fresh suites.

    python bench/fresh_suites.py                          20 suites of ten scenarios a family
    python bench/fresh_suites.py --suites 40 --jobs 2

Every suite is generated from a seed of its own; the six hosted settings are simulated on it with the
real recorder on the virtual clock and scored with the real scorer. A suite keeps the published order
if no two settings that were published more than a point apart change places: two of the six were
published 0.1 points apart, which no suite can tell. An interval covers if it holds the value of the very large suite
that all of them make together. These are simulations: they show what suite and intervals do, not what a
service does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import permutations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.simulation import simulate

from streamdecisionbench.analysis.bootstrap import METRICS
from streamdecisionbench.analysis.score_intervals import ScoreIntervals, score_intervals
from streamdecisionbench.components.simulated.profiles import builtin_profiles
from streamdecisionbench.families.generate import generate, generated_families
from streamdecisionbench.suite.generation.parameters import Parameters

HOSTED = ("jev", "terra-none", "terra-low", "luna-low", "astra-low", "luna-none")
APART = 1.0
"""Points of published log-AUC below which two settings are level."""
Scored = dict[str, ScoreIntervals]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--suites", type=int, default=20)
    parser.add_argument("--per-family", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    wanted = parser.parse_args()
    seeds = range(wanted.first_seed, wanted.first_seed + wanted.suites)
    found = []
    with ProcessPoolExecutor(wanted.jobs) as pool:
        sizes = [wanted.per_family] * wanted.suites
        for seed, scored in zip(seeds, pool.map(suite_scored, seeds, sizes), strict=True):
            found.append(scored)
            values = {name: s.metrics["log_auc"].value for name, s in scored.items()}
            shown = ", ".join(f"{name} {100 * values[name]:.1f}" for name in HOSTED)
            changed = changed_places(scored)
            print(f"seed {seed}: {shown}; {', '.join(changed) or 'in order'}", flush=True)
    print("\npublished: " + ", ".join(f"{name} {published(name):.1f}" for name in HOSTED))
    kept = sum(not changed_places(scored) for scored in found)
    print(f"order kept in {kept} of {len(found)} suites")
    for metric in METRICS:
        print(coverage(found, metric))


def suite_scored(seed: int, per_family: int) -> Scored:
    """One suite, every setting on it, each with its intervals."""
    families = tuple(generated_families())
    suite = generate(Parameters(seed=seed, families=families, per_family=per_family))
    profiles = builtin_profiles()
    return {name: score_intervals(simulate(profiles[name], suite, seed)) for name in HOSTED}


def published(name: str) -> float:
    """Log-AUC in percent."""
    figures = builtin_profiles()[name].published
    assert figures is not None
    return figures.log_auc


def changed_places(scored: Scored) -> list[str]:
    """Settings published more than a point apart that stand the other way round here."""
    values = {name: found.metrics["log_auc"].value for name, found in scored.items()}
    return [
        f"{ahead} behind {behind}"
        for ahead, behind in permutations(HOSTED, 2)
        if published(ahead) > published(behind) + APART and values[ahead] <= values[behind]
    ]


def coverage(found: Sequence[Scored], metric: str) -> str:
    """Families and scenarios weigh the same in every suite, so the large suite's value is the mean."""
    held, trials, half = 0, 0, 0.0
    worst = 0
    for name in HOSTED:
        estimates = [scored[name].metrics[metric] for scored in found]
        truth = sum(e.value for e in estimates) / len(estimates)
        covers = [e.low <= truth <= e.high for e in estimates]
        held, trials = held + sum(covers), trials + len(covers)
        worst = max(worst, len(covers) - sum(covers))
        half += sum((e.high - e.low) / 2 for e in estimates)
    return (
        f"{metric}: {held} of {trials} intervals cover ({100 * held / trials:.1f} %; at worst"
        f" {worst} misses of a setting), half width {100 * half / trials:.2f} points on average"
    )


if __name__ == "__main__":
    main()
