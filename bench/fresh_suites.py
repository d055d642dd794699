"""Do generated suites rank as published, and do their intervals cover? Simulated profiles on fresh suites.

    python bench/fresh_suites.py                          20 suites of ten scenarios a family
    python bench/fresh_suites.py --suites 40 --jobs 2

Every suite is generated from a seed of its own; the six hosted settings are simulated on it with the
real recorder on the virtual clock and scored with the real scorer. A suite keeps the published order
if no two settings that were published more than a point apart change places: two of the six were
published 0.1 points apart, which no suite can tell. An interval covers if it holds the value of the very large suite
that all of them make together. These are simulations: they show what suite and intervals do, not what a
service does. A profile fixes how many states of a scenario it gets right, so suites differ less than
services would and the intervals are wide for it. Therefore a second part, on the timelines of `--pool`
generated suites, draws components whose error rate and latency vary from scenario to scenario: `--trials`
fresh suites of as many scenarios, each against the value of very many passes over the whole pool.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import permutations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from bench.simulation import simulate

from streamdecisionbench.analysis.bootstrap import (
    METRICS,
    Sampling,
    ScoreIntervals,
    intervals,
    score_intervals,
)
from streamdecisionbench.components.simulated.profiles import builtin_profiles
from streamdecisionbench.components.simulated.simulator import Simulator
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.scoring.score import score_timelines
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.worlds.generate import (
    generate,
    generated_families,
)
from streamdecisionbench.worlds.generation.parameters import Parameters

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
    parser.add_argument("--pool", type=int, default=5, help="suites whose timelines are drawn from")
    parser.add_argument("--trials", type=int, default=200)
    wanted = parser.parse_args()
    seeds = range(wanted.first_seed, wanted.first_seed + max(wanted.suites, 1))
    if wanted.trials:
        for line in varying(seeds[0], wanted.pool, wanted.per_family, wanted.trials):
            print(line, flush=True)
    if not wanted.suites:
        return
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


Reference = tuple[str, np.ndarray]
"""A scenario's family and the ids of its composed reference decisions."""


def varying(first_seed: int, suites: int, per_family: int, trials: int) -> Iterator[str]:
    """How often the interval of a fresh suite holds the value of a very large one."""
    families = tuple(generated_families())
    pool: list[Reference] = []
    for seed in range(first_seed, first_seed + suites):
        made = generate(Parameters(seed=seed, families=families, per_family=per_family))
        pool += [(scenario.task_family, _ids(scenario)) for scenario in made]
    for name, error, latency_s in (("fast", 0.36, 0.25), ("slow", 0.05, 2.6)):
        rng = np.random.default_rng(1)
        passes = [score_timelines(_answered(pool, error, latency_s, rng)) for _ in range(60)]
        truth = {m: float(np.mean([getattr(s, m) for s in passes])) for m in METRICS}
        held = dict.fromkeys(METRICS, 0)
        for trial in range(trials):
            drawn = [
                one
                for family in families
                for one in rng.permutation(
                    np.array([k for k, (f, _) in enumerate(pool) if f == family])
                )[:per_family]
            ]
            parts = _answered([pool[k] for k in drawn], error, latency_s, rng)
            found = intervals({name: parts}, sampling=Sampling(10, 1000, trial)).recordings[name]
            for m in METRICS:
                held[m] += found[m].low <= truth[m] <= found[m].high
        shown = ", ".join(f"{m} {100 * n / trials:.1f} %" for m, n in held.items())
        yield f"{name}: of {trials} fresh suites the interval holds the large one's {shown}"


def _ids(scenario: Scenario) -> np.ndarray:
    known: dict[object, int] = {}
    composed = [scenario.decision_spec.compose(step.gold) for step in scenario.steps]
    return np.array([known.setdefault(str(decision), len(known)) for decision in composed])


def _answered(
    references: Sequence[Reference], error: float, latency_s: float, rng: np.random.Generator
) -> list[Timeline]:
    """Errors that last, at a rate and with a median latency of the scenario's own."""
    found = []
    for k, (family, reference) in enumerate(references):
        n = len(reference)
        rate = float(np.clip(rng.normal(error, 0.5 * error), 0.0, 0.95))
        wrong = np.zeros(n, bool)
        wrong[0] = rng.random() < rate
        for t in range(1, n):
            wrong[t] = wrong[t - 1] if rng.random() < 0.6 else rng.random() < rate
        latency = latency_s * rng.lognormal(0, 0.3) * rng.lognormal(0, 0.25, n)
        predicted = np.where(wrong, 10_000, reference)
        found.append(
            Timeline(
                f"s{k}", family, 2.0, np.arange(0, 2.0 * n, 2.0), latency, reference, predicted
            )
        )
    return found


def suite_scored(seed: int, per_family: int) -> Scored:
    """One suite, every setting on it, each with its intervals."""
    families = tuple(generated_families())
    suite = generate(Parameters(seed=seed, families=families, per_family=per_family))
    profiles, simulator = builtin_profiles(), Simulator(suite, seed)
    return {name: score_intervals(simulate(profiles[name], suite, simulator)) for name in HOSTED}


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
