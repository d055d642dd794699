"""Worlds under any history of decisions, and how fast they are.

    python bench/worlds.py [--histories 10000] [--family live_debugging] [--wording free] [--seeds 20]

Plays every family's worlds by decisions that are right, late, drawn, stuck, missing and nonsense, and
looks at every state: no exception, valid states, references that equal the session's own account. Prints
the time of a session beside it.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.families.test_worlds import PLAYERS, composed, play

from streamdecisionbench.families.generate import generated_families
from streamdecisionbench.suite.generation.draws import Draws


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--family", choices=generated_families())
    parser.add_argument("--wording", default="listed")
    parser.add_argument("--seeds", type=int, default=20)
    wanted = parser.parse_args()
    for family in [wanted.family] if wanted.family else generated_families(wanted.wording):
        began = time.process_time()
        worlds = [
            composed(family, seed, seed % 10, wanted.wording) for seed in range(1, wanted.seeds + 1)
        ]
        opened = time.process_time()
        for history in range(wanted.histories):
            player = PLAYERS[history % len(PLAYERS)]
            world = worlds[history // len(PLAYERS) % len(worlds)]
            try:
                play(world.again(), player, Draws("history", history))
            except Exception:
                print(f"{family}: history {history}, {world.scenario_id}, {player.__name__}")
                raise
        ended = time.process_time()
        print(
            f"{family} ({wanted.wording}): {wanted.histories} histories sound;"
            f" {1000 * (ended - opened) / wanted.histories:.1f} ms a session with all its states,"
            f" {1000 * (opened - began) / wanted.seeds:.0f} ms to find and open a world"
        )


if __name__ == "__main__":
    main()
