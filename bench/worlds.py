"""Worlds under any history of decisions, how fast they are, and what figures say of outcomes.

    python bench/worlds.py [--histories 10000] [--family live_debugging] [--wording free] [--seeds 20]
    python bench/worlds.py --speed
    python bench/worlds.py --question [--seeds 20] [--paces 0.5,1,2,4,8] [--profiles jev,luna-low,…]
    python bench/worlds.py --cart [--seeds 8] [--out docs/images]

Plays every family's worlds by decisions that are right, late, drawn, stuck, missing and nonsense, and
looks at every state: no exception, valid states, references that equal the session's own account. Prints
the time of a session beside it.

`--speed` times a recorded session of a component that takes no time, and generation. `--question` records
simulated profiles in every family that declares outcomes, at several paces, and ranks them: how well do
untimed, in-force, segment-balanced and cost-weighted figures predict what becomes of the sessions? The
whole run takes a quarter of an hour on two cores and draws a figure.
`--cart` balances CartPole on a clock with a component that is right and takes a declared time, and draws
in-force accuracy and reward against it. All of it is simulation.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.families.test_worlds import PLAYERS, composed, play

from streamdecisionbench.components.simulated.profiles import builtin_profiles
from streamdecisionbench.families.registry import FAMILY_MODULES
from streamdecisionbench.policies.cost_file import default_costs
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.render.palette import (
    GREY,
    PALETTE,
)
from streamdecisionbench.report.figures.figure import Figure, render
from streamdecisionbench.report.figures.style import (
    beside,
    chart,
    keyed,
    lanes,
    layers,
    names,
    panel_title,
    quantity,
)
from streamdecisionbench.scoring.score import Score, score
from streamdecisionbench.suite.suite_files import read_suite
from streamdecisionbench.worlds.generate import (
    generate,
    generated_families,
    open_seeds,
)
from streamdecisionbench.worlds.generation.draws import Draws
from streamdecisionbench.worlds.generation.parameters import Parameters
from streamdecisionbench.worlds.live_sessions import open_world


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--family", choices=generated_families())
    parser.add_argument("--wording", default="listed")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--question", action="store_true")
    parser.add_argument("--cart", action="store_true")
    parser.add_argument("--paces", default="0.5,1,2,4,8")
    parser.add_argument("--profiles", default=",".join(builtin_profiles()))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    wanted = parser.parse_args()
    if wanted.speed:
        speed()
    elif wanted.cart:
        cart(wanted.seeds, wanted.out)
    elif wanted.question:
        paces = [float(pace) for pace in wanted.paces.split(",")]
        seeds = range(1, wanted.seeds + 1)
        question(wanted.profiles.split(","), paces, seeds, wanted.jobs, wanted.out)
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
    request = RunOptions.of({None: component}, folder, clock="virtual", **options)
    launch(request, lambda _: True)
    suite = read_suite(folder / "suite")
    found = read_recording(folder, suite)
    scored = score(
        found, suite, interval=found.closed_loop_interval_s or 2.0, costs=default_costs()
    )
    return scored, found.run["summary"]["outcomes"]


def speed() -> None:
    """Seconds of this process: a session with a component that takes no time, and a thousand sessions."""
    for world in FAMILY_MODULES.values():
        (opened,) = open_seeds(world, (1,))
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            recorded("baseline:constant", Path(folder) / "run", world=open_world(world))
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


def question(
    profiles: Sequence[str], paces: Sequence[float], seeds: Sequence[int], jobs: int, out: Path
) -> None:
    """Spearman's rank correlation between figures and outcomes; 1: the figure ranks as the outcome does.

    Two questions: over all settings, a setting being a profile at a pace; and over the profiles at one pace,
    then the mean over paces, which is what somebody asks whose pace is given. Figures and outcomes are means
    over seeds; an outcome is its loss against the oracle at the same pace, seconds counted in ticks, and
    costs what a unit costs. Intervals: seeds drawn again 2,000 times, the same for all settings.
    """
    settings = [(profile, pace) for profile in profiles for pace in paces]
    draws = np.random.default_rng(0).integers(len(seeds), size=(2000, len(seeds)))
    every = np.arange(len(settings)).reshape(len(profiles), len(paces))
    views = {"over all settings": [every.ravel()], "among profiles at one pace": [*every.T]}
    rows: list[tuple[str, str, str, float, float, float]] = []
    with ProcessPoolExecutor(jobs) as pool:
        for world in FAMILY_MODULES.values():
            sessions = open_seeds(world, seeds)
            names = [*{one.name: 0 for w in sessions for one in w.kind.outcomes}, ALL]
            right = {pace: [_played_right(w.again(), pace) for w in sessions] for pace in paces}
            lived = pool.map(
                _lived, [(world, *one, tuple(seeds), right[one[1]]) for one in settings]
            )
            found = [
                [(row, [lost.get(n, 0.0) for n in names]) for row, lost in one] for one in lived
            ]
            figures = np.array([[row for row, _ in one] for one in found])
            losses = np.array([[lost for _, lost in one] for one in found])
            print(f"\n{world}: {len(profiles)} profiles, {paces} s, {len(seeds)} seeds. SIMULATION")
            for view, groups in views.items():
                print(
                    f"\n| {view}: outcome | {' | '.join(FIGURES)} |\n|---|{'---:|' * len(FIGURES)}"
                )
                for j, name in enumerate(names):
                    cells = []
                    for i, figure in enumerate(FIGURES):
                        of = _correlation(figures[:, :, i], losses[:, :, j], draws, groups)
                        rows.append((view, world, f"{name}: {figure}", *of))
                        cells.append("{:.2f} [{:.2f}, {:.2f}]".format(*of))
                    print(f"| {name} | {' | '.join(cells)} |", flush=True)
    drawing = question_figure(
        rows, f"{len(profiles)} profiles, {len(paces)} paces, {len(seeds)} seeds"
    )
    for kind, content in render(drawing, ("png",)).items():
        (out / f"{drawing.name}.{kind}").write_bytes(content)
    print(f"\n{out / drawing.name}.png")


def _played_right(session: Any, pace: float) -> dict[str, float]:
    while not session.done:
        t = session.t
        session.advance((t + 1) * pace, [(t * pace, session.reference())])
    return dict(session.outcomes())


def _lived(given: tuple[Any, ...]) -> list[tuple[list[float], dict[str, float]]]:
    """Figures (more is better) and what was lost (less is better), session by session."""
    world, profile, pace, seeds, right = given
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        scored, outcomes = recorded(
            f"simulated:{profile}", run, world=open_world(world, seeds), interval_s=pace
        )
    assert scored.cost is not None
    kinds = {w.right.episode_id: w.kind for w in open_seeds(world, seeds)}
    found = []
    for (name, kind), best in zip(kinds.items(), right, strict=True):
        level = scored.by_scenario[name]
        charged = scored.cost.levels.by_scenario[name].at_interval.total
        lost = {ALL: 0.0}
        for outcome in kind.outcomes:
            per = pace if outcome.unit == "s" else 1.0
            worse = (outcomes[name][outcome.name] - best[outcome.name]) / per
            lost[outcome.name] = float(np.sign(outcome.cost)) * worse
            lost[ALL] += outcome.cost * worse
        figures = [level.untimed, level.in_force, level.segment_in_force, -charged]
        found.append((figures, lost))
    return found


def _correlation(
    figure: Any, loss: Any, draws: Any, groups: Sequence[Any]
) -> tuple[float, float, float]:
    """The mean over groups of settings, and its range over seeds drawn again."""
    whole = np.arange(figure.shape[1])[None, :]
    found, again = (_spearman(figure, -loss, seeds, groups) for seeds in (whole, draws))
    known = again[~np.isnan(again)]
    low, high = np.percentile(known, [2.5, 97.5]) if known.size else (np.nan, np.nan)
    return float(found[0]), float(low), float(high)


def _spearman(one: Any, other: Any, seeds: Any, groups: Sequence[Any]) -> Any:
    """Of means over each row of seeds; NaN where a group is all alike, left out of the mean over groups."""
    found = []
    for group in groups:
        ranks = [rankdata(np.round(x[group][:, seeds].mean(2), 9), axis=0) for x in (one, other)]
        a, b = (r - r.mean(0) for r in ranks)
        with np.errstate(invalid="ignore"):
            found.append((a * b).sum(0) / np.sqrt((a**2).sum(0) * (b**2).sum(0)))
    told = ~np.isnan(found)
    with np.errstate(invalid="ignore"):
        return np.where(told, found, 0.0).sum(0) / told.sum(0)


def question_figure(rows: Sequence[tuple[str, str, str, float, float, float]], what: str) -> Figure:
    """Every world's outcomes by cost: a dot and its range for every figure."""
    shown: list[dict[str, Any]] = [
        {"view": view, "world": world, "figure": name.removeprefix(f"{ALL}: "), "x": x, "low": low, "high": high}
        for view, world, name, x, low, high in rows
        if name.startswith(f"{ALL}: ")
    ]  # fmt: skip
    colours = keyed(
        "figure", dict(zip(FIGURES, PALETTE, strict=False)), {"title": None, "orient": "bottom"}
    )

    def panel(view: str, *, named: bool) -> Any:
        own = [row for row in shown if row["view"] == view]
        x = quantity(
            "low",
            (-1, 1),
            {"title": "rank correlation with outcomes", "values": [-1, -0.5, 0, 0.5, 1]},
        )
        y = lanes("world", [*FAMILY_MODULES.values()], labels=named)
        beneath = {"yOffset": names("figure", sort=list(FIGURES)), "color": colours}
        zero = chart([{"low": 0}], {"type": "rule", "color": GREY}, x=x)
        spans = chart(
            own, {"type": "rule", "strokeWidth": 2}, x=x, x2={"field": "high"}, y=y, **beneath
        )
        dots = chart(
            own,
            {"type": "point", "filled": True, "size": 60},
            x={**x, "field": "x"},
            y=y,
            **beneath,
        )
        return layers([zero, spans, dots], 300, {"step": 15}, title=panel_title(view))

    first, second = dict.fromkeys(row["view"] for row in shown)
    title = "Simulation: which figure ranks settings as their outcomes do?"
    words = "; ".join(
        "{world}, {view}, {figure}: {x:.2f} ({low:.2f} to {high:.2f})".format(**r) for r in shown
    )
    return Figure(
        "outcomes", title, "", f"{title} ({what}). {words}",
        beside(panel(first, named=True), panel(second, named=False), spacing=24),
        ("view", "world", "figure", "correlation", "low", "high"), rows,
    )  # fmt: skip


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
                world=open_world(
                    "gym:CartPole-v1",
                    tuple(range(1, seeds + 1)),
                    STEPS,
                    reference="python:bench_cart:right",
                ),
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
