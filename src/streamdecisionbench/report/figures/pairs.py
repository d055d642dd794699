"""Pairs over the pace of events: what arbitration changes, and which pairs are worth having."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streamdecisionbench.analysis.table import percent
from streamdecisionbench.in_force import RULES, spelled
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    Drawing,
    accuracy,
    beside,
    chart,
    grid,
    intervals,
    layers,
    names,
    panel_title,
    short,
    with_labels,
)
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.palette import DASHES, INK, PALETTE
from streamdecisionbench.scoring.pairs import PairScore
from streamdecisionbench.scoring.score import Score, score_timelines

_RULES = tuple(spelled(rule) for rule in RULES)
"""In the order tables list them."""

_POINTS = 385
"""Arbitration makes jumps; twice the points of single curves show them as what they are."""

_PANELS, _CURVES = 3, 6
_WIDTH, _HEIGHT = 250, 230
_ALONE = "fast alone"
_GREY = "#8A8A8A"

Points = list[tuple[float, float]]


def arbitration(material: Material, pairs: Sequence[PairScore]) -> Figure | None:
    """Up to three pairs, each under the three rules, with the fast component alone in grey."""
    chosen = _best_pairs(pairs, _PANELS)
    if not chosen:
        return None
    colours = dict(zip((*_RULES, _ALONE), (*PALETTE[:3], _GREY), strict=True))
    dashes = dict(zip(colours, (*DASHES[:3], DASHES[0]), strict=True))
    panels: list[Drawing] = []
    table, words = [], []
    for group in chosen:
        fast = score_timelines(group[0].parts, interval=material.interval, bounds=material.bounds)
        # The grey line first: it lies under the others.
        curves = {_ALONE: _sampled(material, fast)}
        curves |= {spelled(p.rule): _sampled(material, p) for p in group}
        label = _label(group[0])
        for name, points in curves.items():
            table += [
                (group[0].fast, group[0].slow, group[0].simulated, name, x, y) for x, y in points
            ]
        panels.append(_rules_panel(material, label, curves, colours, dashes, first=not panels))
        rules = ", ".join(f"{spelled(p.rule)} {percent(p.log_auc)} %" for p in group)
        words.append(f"{label}: {rules}.")
    return Figure(
        "arbitration",
        "What arbitration does to a pair",
        "The same answers and latencies under three rules: may a slow answer replace a newer fast"
        " one? Replay of separate recordings on one nominal clock." + _simulated(chosen),
        "In-force accuracy of pairs against the interval, under three rules and for the fast component"
        f" alone. Integrated, {material.bounds.text()}: " + " ".join(words),
        beside(*panels, spacing=18),
        ("fast", "slow", "simulated", "rule", "interval_s", "in_force_percent"),
        table,
    )


def pair_curves(material: Material, pairs: Sequence[PairScore]) -> Figure | None:
    """The best pairs under the freshest rule, beside the best single component."""
    fresh = [p for p in pairs if p.rule == "freshest"]
    chosen = sorted(fresh, key=lambda p: (-p.log_auc, p.fast, p.slow))[:_CURVES]
    if not chosen:
        return None
    best = material.ranked[0]
    curves = [
        (short(_label(p), 40), PALETTE[i], list(DASHES[i]), _sampled(material, p))
        for i, p in enumerate(chosen)
    ]
    alone = _sampled(material, best.score)
    curves.append((short(f"{best.label} alone", 40), _GREY, [1, 0], alone))
    parts = [
        chart(
            [{"x": x, "y": y} for x, y in points],
            {"type": "line", "color": colour, "strokeDash": dash, "strokeWidth": 1.9},
            x=intervals(material.bounds),
            y=accuracy(),
        )
        for _, colour, dash, points in reversed(curves)
    ]
    table = [
        (p.fast, p.slow, p.simulated, x, y)
        for p, (_, _, _, points) in zip(chosen, curves, strict=False)
        for x, y in points
    ]
    more = (
        f" The best {_CURVES} of {len(fresh)} pairs are drawn." if len(fresh) > len(chosen) else ""
    )
    return Figure(
        "pair_curves",
        "Fast and slow together (freshest source wins)",
        "A slow answer corrects a fast one as long as its source is not older; grey: the best single"
        " component." + more + _simulated([chosen]),
        f"In-force accuracy of pairs against the interval. Integrated, {material.bounds.text()}: "
        + " ".join(f"{_label(p)}: {percent(p.log_auc)} %." for p in chosen)
        + f" Alone, {best.label}: {percent(best.score.log_auc)} %.",
        with_labels(
            layers(parts, 380, 290),
            [(label, colour, points[-1][1]) for label, colour, _, points in curves],
            290,
        ),
        ("fast", "slow", "simulated", "interval_s", "in_force_percent"),
        table + [(best.name, "", best.score.simulated, x, y) for x, y in alone],
    )


def _label(pair: PairScore) -> str:
    mark = " (sim.)" if pair.simulated else ""
    return f"{pair.fast} + {pair.slow}{mark}"


def _best_pairs(pairs: Sequence[PairScore], most: int) -> list[list[PairScore]]:
    """Pairs with all their rules, best freshest score first."""
    groups: dict[tuple[str, str], list[PairScore]] = {}
    for pair in pairs:
        groups.setdefault((pair.fast, pair.slow), []).append(pair)
    ordered = sorted(groups.values(), key=lambda g: (-g[0].log_auc, g[0].fast, g[0].slow))
    return ordered[:most]


def _sampled(material: Material, one: PairScore | Score) -> Points:
    xs = grid(material.bounds.low, material.bounds.high, _POINTS)
    values = one.curve(bounds=material.bounds)["in_force"](np.array(xs))
    return [(x, 100 * float(y)) for x, y in zip(xs, values, strict=True)]


def _rules_panel(
    material: Material,
    label: str,
    curves: dict[str, Points],
    colours: dict[str, str],
    dashes: dict[str, list[int]],
    *,
    first: bool,
) -> Drawing:
    """One pair. The first panel carries the legend, made of the lines themselves."""
    legend = {"title": None, "orient": "bottom", "columns": 4, "symbolSize": 400, "symbolStrokeWidth": 2}  # fmt: skip
    rules = list(colours)
    lines = chart(
        [{"x": x, "y": y, "rule": name} for name, points in curves.items() for x, y in points],
        {"type": "line", "strokeWidth": 1.9},
        x=intervals(material.bounds),
        y=accuracy(titled=first),
        color=names(
            "rule",
            scale={"domain": rules, "range": list(colours.values())},
            legend=legend if first else None,
        ),
        strokeDash=names(
            "rule",
            scale={"domain": rules, "range": list(dashes.values())},
            legend=legend if first else None,
        ),
    )
    title = panel_title(short(label, 42), offset=4, color=INK)
    return layers([lines], _WIDTH, _HEIGHT, title=title)


def _simulated(groups: Sequence[Sequence[PairScore]]) -> str:
    if any(pair.simulated for group in groups for pair in group):
        return " (sim.): simulation from a declared profile, not a measurement of the model."
    return ""
