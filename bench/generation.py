"""Generated suites over many seeds: coverage, bounds, agreement, and the cost of a scenario.

    python bench/generation.py [--seeds 20] [--family live_debugging] [--per-family 10]
                                [--wording free] [--no-coverage]

Prints one line per seed and the totals. The ratio at the end compares generating a scenario with
building an authored one from its sources.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.families.second_solvers import second_solver

from streamdecisionbench.families.coverage import coverage
from streamdecisionbench.families.registry import drafts
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.constant_baselines import (
    best_constant,
    first_option,
    lexical_overlap,
    states_right,
)
from streamdecisionbench.suite.scenario import Suite, estimate_tokens
from streamdecisionbench.worlds.generate import (
    generate,
    generated_families,
)
from streamdecisionbench.worlds.generation.parameters import Parameters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--family", choices=generated_families())
    parser.add_argument("--per-family", type=int, default=10)
    parser.add_argument("--wording", default="listed")
    parser.add_argument("--no-coverage", action="store_true")
    wanted = parser.parse_args()
    families = [wanted.family] if wanted.family else generated_families(wanted.wording)
    plain = _authored_seconds()
    for family in families:
        seconds = 0.0
        totals: Counter[str] = Counter()
        for seed in range(1, wanted.seeds + 1):
            started = time.process_time()
            parameters = Parameters(
                seed=seed,
                families=(family,),
                per_family=wanted.per_family,
                wording=wanted.wording,
            )
            suite = generate(parameters, {family: second_solver(family, wanted.wording)})
            seconds += time.process_time() - started
            facts = _bounds(suite)
            totals += facts
            line = f"{family} seed {seed}: {dict(facts)}"
            if not wanted.no_coverage:
                (found,) = coverage(suite).values()
                missing = [*found.undecided(), *found.unanswered()]
                missing += [f"{m.rule}: {m.what}" for m in found.unnoticed()]
                line += f" missing: {missing or 'nothing'}"
            print(line, flush=True)
        each = seconds / (wanted.seeds * wanted.per_family)
        print(f"{family}: {dict(totals)}")
        print(f"{family}: {each:.2f} s of CPU a scenario, {each / plain:.0f} times an authored one")


def _bounds(suite: Suite) -> Counter[str]:
    facts: Counter[str] = Counter()
    for scenario in suite:
        sizes = [estimate_tokens(scenario.request(t)) for t in (0, scenario.n - 1)]
        facts["states"] += scenario.n
        facts["first option right"] += states_right(scenario, first_option)
        facts["lexical overlap right"] += states_right(scenario, lexical_overlap)
        facts["constant above 30 %"] += best_constant(scenario) > 0.3 * scenario.n
        facts["size out of bounds"] += sizes[0] < 2000 or sizes[1] > 4000
    return facts


def _authored_seconds() -> float:
    started = time.process_time()
    made = [expand(draft) for draft in drafts().values()]
    return (time.process_time() - started) / len(made)


if __name__ == "__main__":
    main()
