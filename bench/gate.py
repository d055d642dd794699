"""How often the gate is wrong: false passes and false alarms, by how much data there is.

    python bench/gate.py [--trials 200] [--allowed 1] [--kinds recordings suites scores logs unpaired]
    python bench/gate.py --shapes [--trials 4000]    # logs whose streams are not equally long

Pairs of components are drawn whose true drop is known, gated, and the verdicts counted, in percent:

    false pass   the true drop is ten points more than allowed, and the gate passes
    edge pass    the true drop is exactly what is allowed, and the gate passes: the hardest case
    false alarm  the same, and the gate fails
    found        the true drop is ten points more than allowed, and the gate fails

Both err in runs of three states, so that neighbouring states are not independent, mostly in the same
ones, and streams differ in how hard they are. Intervals of 95 % promise at most 2.5 % of the first three.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.gate.verdict import (
    FAIL,
    PASS,
    Gate,
    Limits,
    Streams,
    gate_by_scenario,
    gate_streams,
    gate_timelines,
)
from streamdecisionbench.kernel.arrays import (
    Floats,
    Timeline,
)

SIZES = ((1, 60), (2, 30), (2, 60), (3, 30), (5, 1), (5, 10), (5, 60), (8, 1), (8, 2), (8, 3), (8, 10),
         (8, 30), (8, 60), (20, 1), (20, 10), (20, 60), (50, 1), (50, 10), (50, 60))  # fmt: skip
"""Streams, and the steps of each."""
RUN = 3
BEYOND = 0.10
SAMPLING = Sampling(resamples=300)

Wrong = NDArray[np.bool_]
"""Whether each state (streams, steps) is decided wrong."""
Kind = Callable[[Wrong, Wrong, Limits], Gate]


def drawn(rng: np.random.Generator, streams: int, steps: int, drop: float) -> tuple[Wrong, Wrong]:
    """Where the new component is wrong, and where the old one is.

    Streams differ: each errs in its own share of states, a quarter on average, four fifths of it in
    common. The new one errs in `drop` of all states more: in so many of those that are right until now.
    """
    share = rng.beta(2, 6, (streams, 1))
    common = _runs(rng, 0.8 * share, steps)
    own, others = (_runs(rng, 0.2 * share, steps) for _ in range(2))
    more = _runs(rng, np.minimum(drop / ((1 - 0.8 * share) * (1 - 0.2 * share)), 1.0), steps)
    return common | own | more, common | others


def _runs(rng: np.random.Generator, share: Floats, steps: int) -> Wrong:
    """Runs of `RUN` states that go wrong together; where the first one begins is random."""
    hit = rng.random((len(share), steps // RUN + 2)) < share
    first = int(rng.integers(RUN))
    out: Wrong = np.repeat(hit, RUN, axis=1)[:, first : first + steps]
    return out


def of_recordings(new: Wrong, old: Wrong, limits: Limits, families: int = 4) -> Gate:
    """Scenarios of four families, as in SDB v1: fewer than five of each, so blocks are drawn."""
    return gate_timelines(
        *(_timelines(side, families) for side in (new, old)),
        limits=limits, interval=2.0, sampling=SAMPLING,
    )  # fmt: skip


def of_suites(new: Wrong, old: Wrong, limits: Limits) -> Gate:
    """Scenarios of one family: from five on, scenarios are drawn first."""
    return of_recordings(new, old, limits, families=1)


def of_scores(new: Wrong, old: Wrong, limits: Limits) -> Gate:
    now, before = (
        {str(k): 1 - float(row.mean()) for k, row in enumerate(side)} for side in (new, old)
    )
    families = {str(k): f"f{k % 4}" for k in range(len(new))}
    return gate_by_scenario(
        now, before, families, states=new.size, limits=limits, measure="in force"
    )


def of_logs(new: Wrong, old: Wrong, limits: Limits) -> Gate:
    return gate_streams(_streams(new), _streams(old), limits=limits, measure="in force")


def of_unpaired(new: Wrong, old: Wrong, limits: Limits) -> Gate:
    """`new` is given of other streams than `old`."""
    sides = _streams(new), _streams(old, len(new))
    return gate_streams(*sides, limits=limits, measure="in force", paired=False)


SHAPES = ("equal", "lognormal", "one stream of 30 %", "one stream of 80 %")
"""How long the streams of a log are: 60 states; 60·exp(N(0, 1)); 60, and one that has most of the time."""
SHAPE_STREAMS = (5, 10, 20, 50)


def run_counts(rng: np.random.Generator, shape: str, streams: int) -> NDArray[np.int64]:
    """How many runs of `RUN` states each stream has."""
    usual = 60 // RUN
    if shape == "lognormal":
        drawn = np.round(usual * rng.lognormal(0.0, 1.0, streams))
        return np.maximum(drawn, 1).astype(np.int64)
    found = np.full(streams, usual)
    if shape != "equal":
        share = int(shape.split()[-2]) / 100
        found[0] = max(usual, round(share / (1 - share) * usual * (streams - 1)))
    return found


def unequal_logs(
    rng: np.random.Generator, shape: str, streams: int, drop: float
) -> tuple[Streams, Streams]:
    """The new log and the old one, of the same streams; runs are counted, not laid out.

    As in `drawn`, and each component is better on some streams than on others, so that streams differ in
    what they lose.
    """
    runs = run_counts(rng, shape, streams)
    share = rng.beta(2, 6, streams)
    rest = runs - rng.binomial(runs, 0.8 * share)
    own, others = (0.4 * share * rng.beta(2, 2, streams) for _ in range(2))
    more = np.minimum(drop / ((1 - 0.8 * share) * (1 - own)), 1.0)
    right = (rng.binomial(rest, (1 - own) * (1 - more)), rng.binomial(rest, 1 - others))
    whole = RUN * runs.astype(np.float64)
    new, old = (
        Streams(np.arange(streams), RUN * one.astype(np.float64), whole, whole, int(whole.sum()))
        for one in right
    )
    return new, old


def shape_verdicts(
    shape: str, streams: int, drop: float, limits: Limits, trials: int, *, paired: bool
) -> list[str]:
    """Of so many pairs of logs whose new component errs in `drop` of all states more."""
    seed = [SHAPES.index(shape), streams, round(1e6 * drop), paired]
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(trials):
        new, old = unequal_logs(rng, shape, streams, drop)
        if not paired:
            _, old = unequal_logs(rng, shape, streams, 0.0)
        gate = gate_streams(new, old, limits=limits, measure="in force", paired=paired)
        found.append(gate.verdict)
    return found


def shape_rates(
    shape: str, streams: int, allowed: float, trials: int, *, paired: bool
) -> list[float]:
    """As `rates`; a drop of 20 points is found or passes."""
    limits = Limits(100 * allowed)
    beyond, edge = (
        shape_verdicts(shape, streams, drop, limits, trials, paired=paired)
        for drop in (allowed + 2 * BEYOND, allowed)
    )
    counts = (beyond.count(PASS), edge.count(PASS), edge.count(FAIL), beyond.count(FAIL))
    return [n / trials for n in counts]


def print_shapes(allowed: float, trials: int) -> None:
    print(
        "| streams | | "
        + " | ".join(f"{n}: passes | fails | found" for n in SHAPE_STREAMS)
        + " |\n|---|---|"
        + "---:|---:|---:|" * len(SHAPE_STREAMS)
    )
    worst = 0.0
    for shape in SHAPES:
        for paired in (True, False):
            cells = []
            for streams in SHAPE_STREAMS:
                shares = shape_rates(shape, streams, allowed / 100, trials, paired=paired)
                worst = max(worst, *shares[:3])
                cells += [f"{100 * x:.1f}" for x in shares[1:]]
            pairing = "paired" if paired else "unpaired"
            print(f"| {shape} | {pairing} | {' | '.join(cells)} |", flush=True)
    error = 100 * np.sqrt(0.025 * 0.975 / trials)
    print(f"most of any false verdict {100 * worst:.1f}; standard error of 2.5 is {error:.2f}")


KINDS: dict[str, Kind] = {
    "recordings": of_recordings, "suites": of_suites, "scores": of_scores, "logs": of_logs,
    "unpaired": of_unpaired,
}  # fmt: skip


def _timelines(wrong: Wrong, families: int) -> list[Timeline]:
    steps = wrong.shape[1]
    reference = np.arange(steps)
    at: Floats = 2.0 * np.arange(steps, dtype=np.float64)
    return [
        Timeline(
            f"s{k}", f"f{k % families}", 2.0, at, np.full(steps, 1e-3), reference,
            np.where(row, reference + 1000, reference),
        )
        for k, row in enumerate(wrong)
    ]  # fmt: skip


def _streams(wrong: Wrong, first: int = 0) -> Streams:
    whole = np.full(len(wrong), float(wrong.shape[1]))
    keys = np.arange(first, first + len(wrong))
    return Streams(keys, (~wrong).sum(axis=1).astype(np.float64), whole, whole, wrong.size)


def verdicts(
    kind: str, streams: int, steps: int, drop: float, limits: Limits, trials: int, seed: int = 0
) -> list[str]:
    """Of so many pairs whose new component errs in `drop` of all states more."""
    rng = np.random.default_rng([seed, streams, steps, round(1e6 * drop)])
    found = []
    for _ in range(trials):
        new, old = drawn(rng, streams, steps, drop)
        if kind == "unpaired":
            _, old = drawn(rng, streams, steps, 0.0)
        found.append(KINDS[kind](new, old, limits).verdict)
    return found


def rates(kind: str, streams: int, steps: int, allowed: float, trials: int) -> list[float]:
    """False passes, passes at the edge, false alarms, drops found: shares of trials."""
    limits = Limits(100 * allowed)
    beyond = verdicts(kind, streams, steps, allowed + BEYOND, limits, trials)
    edge = verdicts(kind, streams, steps, allowed, limits, trials)
    counts = (beyond.count(PASS), edge.count(PASS), edge.count(FAIL), beyond.count(FAIL))
    return [n / trials for n in counts]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--allowed", type=float, default=1.0, help="points")
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS], default=[*KINDS])
    parser.add_argument("--shapes", action="store_true", help="logs of unequal streams")
    asked = parser.parse_args(arguments)
    if asked.shapes:
        print(f"{asked.trials} trials each, {asked.allowed:g} points allowed; percent of verdicts")
        print_shapes(asked.allowed, asked.trials)
        return
    print(f"{asked.trials} trials each, {asked.allowed:g} points allowed; percent of verdicts")
    print(
        f"{'':12}{'streams':>8}{'steps':>7}{'false pass':>12}{'edge pass':>11}{'alarm':>8}{'found':>8}"
    )
    for kind in asked.kinds:
        for streams, steps in SIZES:
            if streams < 2 and kind in ("scores", "logs", "unpaired"):
                continue  # refused
            shares = rates(kind, streams, steps, asked.allowed / 100, asked.trials)
            cells = [f"{100 * x:{wide}.1f}" for x, wide in zip(shares, (12, 11, 8, 8), strict=True)]
            print(f"{kind:12}{streams:>8}{steps:>7}{''.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
