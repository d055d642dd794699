"""Generated scenarios beside SDB v1: what differs in pace, options, sizes and guesses.

    python bench/shift.py [--per-family 20] [--seed 1]

Prints the table of docs/generation.md. Ranges are over scenarios, shares over states.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import mean, median

from streamdecisionbench.families.sdb_v1 import build
from streamdecisionbench.suite.constant_baselines import (
    Policy,
    best_constant,
    first_option,
    lexical_overlap,
    states_right,
)
from streamdecisionbench.suite.scenario import FAMILIES, Scenario, estimate_tokens
from streamdecisionbench.worlds.generate import (
    generate,
    generated_families,
)
from streamdecisionbench.worlds.generation.parameters import Parameters

COLUMNS = (
    "changes", "ticks between changes", "of these 1–3 ticks", "commonest route", "routes",
    "tokens", "best constant", "first option", "lexical overlap",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-family", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    authored = build().families()
    print("| family | suite | " + " | ".join(COLUMNS) + " |")
    print("|---|---" + "|---:" * len(COLUMNS) + "|")
    for family in generated_families():
        parameters = Parameters(seed=wanted.seed, families=(family,), per_family=wanted.per_family)
        generated = list(generate(parameters, tell=print))
        for name, scenarios in (("generated", generated), ("SDB v1", authored[family])):
            print(f"| {FAMILIES[family]} | {name} | " + " | ".join(_row(scenarios)) + " |")


def _row(scenarios: Sequence[Scenario]) -> Iterator[str]:
    lengths = [length for s in scenarios for length in _segments(s)]
    routes = Counter(
        (step.gold[s.decision_spec.route_question]) for s in scenarios for step in s.steps
    )
    states = sum(s.n for s in scenarios)
    tokens = [estimate_tokens(s.request(t)) for s in scenarios for t in (0, s.n - 1)]
    constants = [best_constant(s) / s.n for s in scenarios]
    yield _range([len(s.changes()) for s in scenarios])
    yield f"{median(lengths):g}"
    yield f"{sum(n <= 3 for n in lengths) / len(lengths):.0%}"
    yield f"{max(routes.values()) / states:.0%}"
    yield str(len(routes))
    yield f"{min(tokens):,}–{max(tokens):,}"
    yield f"{mean(constants):.0%}, at most {max(constants):.0%}"
    yield _share(scenarios, first_option)
    yield _share(scenarios, lexical_overlap)


def _segments(scenario: Scenario) -> list[int]:
    return [b - a for a, b in pairwise([0, *scenario.changes(), scenario.n])]


def _range(values: Sequence[int]) -> str:
    return f"{min(values)}–{max(values)}"


def _share(scenarios: Sequence[Scenario], policy: Policy) -> str:
    right = sum(states_right(s, policy) for s in scenarios)
    return f"{right / sum(s.n for s in scenarios):.1%}"


if __name__ == "__main__":
    main()
