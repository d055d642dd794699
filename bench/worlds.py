"""Worlds under any history of decisions, how fast they are, and what figures say of outcomes.

    python bench/worlds.py [--histories 10000] [--family live_debugging] [--wording free] [--seeds 20]
    python bench/worlds.py --speed
    python bench/worlds.py --question [--seeds 5] [--paces 0.5,2,8] [--profiles jev,luna-low,…]
    python bench/worlds.py --cart [--seeds 8] [--out docs/images]

Plays every family's worlds by decisions that are right, late, drawn, stuck, missing and nonsense, and
looks at every state: no exception, valid states, references that equal the session's own account. Prints
the time of a session beside it.

`--speed` times a recorded session of a component that takes no time, and generation. `--question` records
simulated profiles in every family that declares outcomes, at several paces, and ranks them: how well do
untimed, in-force, segment-balanced and cost-weighted figures predict what becomes of the sessions?
`--cart` balances CartPole on a clock with a component that is right and takes a declared time, and draws
in-force accuracy and reward against it. All of it is simulation.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.families.test_worlds import PLAYERS, composed, play

from streamdecisionbench.families.generate import generate, generated_families, open_seeds
from streamdecisionbench.families.registry import FAMILY_MODULES
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.request import RunRequest, launch
from streamdecisionbench.report.figures.figure import Figure, render
from streamdecisionbench.report.figures.style import beside, chart, layers, quantity
from streamdecisionbench.report.palette import PALETTE
from streamdecisionbench.rules.cost_file import default_costs
from streamdecisionbench.scoring.score import Score, score
from streamdecisionbench.suite.generation.draws import Draws
from streamdecisionbench.suite.generation.parameters import Parameters
from streamdecisionbench.suite.suite_files import read_suite


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--family", choices=generated_families())
    parser.add_argument("--wording", default="listed")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--question", action="store_true")
    parser.add_argument("--cart", action="store_true")
    parser.add_argument("--paces", default="0.5,2,8")
    parser.add_argument("--profiles", default="jev,terra-none,luna-low,laya-english")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    wanted = parser.parse_args()
    if wanted.speed:
        speed()
    elif wanted.cart:
        cart(wanted.seeds, wanted.out)
    elif wanted.question:
        paces = [float(pace) for pace in wanted.paces.split(",")]
        question(wanted.profiles.split(","), paces, range(1, wanted.seeds + 1))
    else:
        histories(wanted)


def histories(wanted: argparse.Namespace) -> None:
    """Every family's worlds under any history of decisions."""
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


def recorded(component: str, folder: Path, **options: Any) -> tuple[Score, dict[str, Any]]:
    """What a component scored in a world, costs included, and the outcomes of every session."""
    request = RunRequest({None: component}, folder, clock="virtual", **options)
    launch(request, lambda _: True)
    suite = read_suite(folder / "suite")
    found = read_recording(folder, suite)
    scored = score(found, suite, interval=found.lived_at_s or 2.0, costs=default_costs())
    return scored, found.run["summary"]["outcomes"]


def speed() -> None:
    """Seconds of this process: a session with a component that takes no time, and a thousand sessions."""
    for world in FAMILY_MODULES.values():
        (opened,) = open_seeds(world, (1,))
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            recorded("baseline:constant", Path(folder) / "run", world=world, seeds=(1,))
            whole = time.process_time() - began
        began = time.process_time()
        opened.again().play_right()
        played = time.process_time() - began
        print(
            f"{world}: a session of 60 ticks opened, recorded on the virtual clock and scored in"
            f" {whole:.2f} s, of which playing it takes {played:.3f} s"
        )
    began, count = time.process_time(), 0
    for seed in (1, 2):
        count += len(
            generate(Parameters(seed=seed, families=tuple(generated_families()))).scenarios
        )
    each = (time.process_time() - began) / count
    print(f"generation: {each:.3f} s a session, {1000 * each / 60:.1f} minutes for 1,000"
          f" (extrapolated from {count})")  # fmt: skip


FIGURES = ("untimed", "in force", "segment-balanced", "cost-weighted")
ALL = "all, by cost"


def question(profiles: Sequence[str], paces: Sequence[float], seeds: Sequence[int]) -> None:
    """Spearman's rank correlation over settings, a setting being a profile at a pace.

    Figures and outcomes are means over seeds; an outcome is its loss against the oracle at the same pace,
    seconds counted in ticks, and costs what a unit costs. 1: the figure ranks settings as the outcome
    does. Intervals: seeds drawn again 2,000 times, the same for all settings.
    """
    for world in FAMILY_MODULES.values():
        sessions = open_seeds(world, seeds)
        declared = {one.name: one for w in sessions for one in w.kind.outcomes}
        if not declared:
            print(f"{world}: declares no outcomes")
            continue
        settings = [(profile, pace) for profile in profiles for pace in paces]
        figures = np.empty((len(settings), len(seeds), len(FIGURES)))
        losses = np.empty((len(settings), len(seeds), len(declared) + 1))
        for place, (profile, pace) in enumerate(settings):
            for k, (row, lost) in enumerate(_lived(world, profile, pace, seeds)):
                # What a kind of session cannot lose is not lost there.
                figures[place, k] = row
                losses[place, k] = [lost.get(name, 0.0) for name in (*declared, ALL)]
        draws = np.random.default_rng(0).integers(len(seeds), size=(2000, len(seeds)))
        print(f"{world}: {len(settings)} settings ({', '.join(profiles)}; {paces} s),"
              f" {len(seeds)} seeds. SIMULATION")  # fmt: skip
        print(f"| outcome | {' | '.join(FIGURES)} |")
        print(f"|---|{'---:|' * len(FIGURES)}")
        for j, name in enumerate((*declared, ALL)):
            cells = [_cell(figures[:, :, i], losses[:, :, j], draws) for i in range(len(FIGURES))]
            print(f"| {name} | {' | '.join(cells)} |")


def _lived(
    world: str, profile: str, pace: float, seeds: Sequence[int]
) -> Iterator[tuple[list[float], dict[str, float]]]:
    """Figures (more is better) and what was lost (less is better), session by session."""
    with tempfile.TemporaryDirectory() as folder:
        scored, outcomes = recorded(
            f"simulated:{profile}",
            Path(folder) / "run",
            world=world,
            seeds=tuple(seeds),
            interval_s=pace,
        )
    assert scored.cost is not None
    for session in open_seeds(world, seeds):
        name = session.right.episode_id
        level = scored.by_scenario[name]
        charged = scored.cost.levels.by_scenario[name].at_interval.total
        while not session.done:
            t = session.t
            session.advance((t + 1) * pace, [(t * pace, session.reference())])
        lost, right = {ALL: 0.0}, session.outcomes()
        for outcome in session.kind.outcomes:
            per = pace if outcome.unit == "s" else 1.0
            worse = (outcomes[name][outcome.name] - right[outcome.name]) / per
            lost[outcome.name] = float(np.sign(outcome.cost)) * worse
            lost[ALL] += outcome.cost * worse
        yield [level.untimed, level.in_force, level.segment_in_force, -charged], lost


def _cell(figure: Any, loss: Any, draws: Any) -> str:
    found = [_spearman(figure[:, d].mean(1), -loss[:, d].mean(1)) for d in draws]
    low, high = np.nanpercentile(found, [2.5, 97.5]) if not np.isnan(found).all() else (np.nan,) * 2
    return f"{_spearman(figure.mean(1), -loss.mean(1)):.2f} [{low:.2f}, {high:.2f}]"


def _spearman(one: Any, other: Any) -> float:
    """Of mean ranks; NaN where one of them is all alike."""
    ranks = [_ranks(np.round(x, 9)) for x in (one, other)]
    if any(np.ptp(r) == 0 for r in ranks):
        return float("nan")
    return float(np.corrcoef(*ranks)[0, 1])


def _ranks(values: Any) -> Any:
    return np.array([(values < v).sum() + ((values == v).sum() + 1) / 2 for v in values])


CART = """
def right(observation):
    x, speed, angle, spin = observation
    return int(angle + 0.5 * spin + 0.05 * speed + 0.01 * x > 0)


class Player:
    def answer(self, request):
        wanted = str(right(request.state["observation"]))
        options = request.questions["action"]["criteria"]
        return {"action": next(label for label, text in options.items() if text == wanted)}
"""
STEPS, CART_TICK_S = 400, 0.02
LATENCIES_MS = (1, 5, 9, 11, 15, 20, 30, 40, 60, 80, 100, 120, 140, 160, 180, 200, 240, 300)


def cart(seeds: int, out: Path) -> None:
    """CartPole at its own 20 ms a step, by a component that is right and takes a declared time."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bench_cart.py").write_text(CART)
        sys.path.insert(0, folder)
        for latency_ms in LATENCIES_MS:
            scored, outcomes = recorded(
                "python:bench_cart:Player",
                Path(folder) / str(latency_ms),
                world="gym:CartPole-v1",
                reference="python:bench_cart:right",
                steps=STEPS,
                seeds=tuple(range(1, seeds + 1)),
                interval_s=CART_TICK_S,
                latency=str(latency_ms / 1000),
                workers=32,
            )
            # Every step pays 1; where the pole falls the next episode begins.
            balanced = [o["reward"] / (o["episodes_ended"] + 1) for o in outcomes.values()]
            rows.append((latency_ms, 100 * scored.in_force, float(np.mean(balanced))))
            print(
                "latency {:3d} ms: in force {:5.1f} %, reward an episode {:6.1f}".format(*rows[-1])
            )
    figure = cart_figure(rows, seeds)
    for name, content in render(figure, ("png",)).items():
        (out / f"{figure.name}.{name}").write_bytes(content)
    print(f"{out / figure.name}.png")


def cart_figure(rows: Sequence[tuple[int, float, float]], seeds: int) -> Figure:
    def panel(column: int, title: str, high: float) -> Any:
        points = [{"x": row[0], "y": row[column]} for row in rows]
        x = quantity("x", (0, rows[-1][0]), {"title": "declared latency (ms)", "tickCount": 5})
        y = quantity("y", (0, high), {"title": title, "tickCount": 5})
        line = {
            "type": "line",
            "color": PALETTE[column - 1],
            "point": {"color": PALETTE[column - 1]},
        }
        tick = chart([{"x": 1000 * CART_TICK_S}], {"type": "rule", "strokeDash": [4, 4]}, x=x)
        return layers([tick, chart(points, line, x=x, y=y)], 280, 220)

    title = "Simulation: CartPole on a clock, a component that is right but late"
    return Figure(
        "cart",
        title,
        "",
        f"{title}. "
        + "; ".join(f"{ms} ms: {a:.1f} % in force, {r:.0f} steps" for ms, a, r in rows),
        beside(
            panel(1, "in-force accuracy (%)", 100),
            panel(2, f"reward an episode (of {STEPS})", STEPS),
            spacing=24,
        ),
        ("latency_ms", "in_force", "reward"),
        rows,
    )


if __name__ == "__main__":
    main()
