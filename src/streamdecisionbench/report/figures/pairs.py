"""Pairs over the pace of events: what arbitration changes, and which pairs are worth having."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from streamdecisionbench.analysis.table import percent
from streamdecisionbench.in_force import RULES, spelled
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    Drawing,
    data,
    finish,
    grid,
    interval_scale,
    label_panel,
    label_width,
    short,
)
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.palette import DASHES, INK, PALETTE
from streamdecisionbench.scoring.pairs import PairScore
from streamdecisionbench.scoring.score import score_timelines

if TYPE_CHECKING:
    pass

_RULES = tuple(spelled(rule) for rule in RULES)
"""In the order tables list them."""

_POINTS = 385
"""Arbitration makes jumps; twice the points of single curves show them as what they are."""

_PANELS, _CURVES = 3, 6
_WIDTH, _HEIGHT = 250, 230
_ALONE = "fast alone"

Points = list[tuple[float, float]]


def pair_label(pair: PairScore) -> str:
    mark = " (sim.)" if pair.simulated else ""
    return f"{pair.fast} + {pair.slow}{mark}"


def arbitration(material: Material, pairs: Sequence[PairScore]) -> Figure | None:
    """Up to three pairs, each under the three rules, with the fast component alone in grey."""
    import altair as alt

    chosen = _best_pairs(pairs, _PANELS)
    if not chosen:
        return None
    colours = dict(zip((*_RULES, _ALONE), (*PALETTE[:3], "#8A8A8A"), strict=True))
    dashes = dict(zip(colours, (*DASHES[:3], DASHES[0]), strict=True))
    panels, table, words = [], [], []
    for index, group in enumerate(chosen):
        # The grey line first: it lies under the others.
        curves = {_ALONE: _alone(material, group[0])}
        curves |= {spelled(p.rule): _sampled(material, p) for p in group}
        label = pair_label(group[0])
        for name, points in curves.items():
            table += [
                (group[0].fast, group[0].slow, group[0].simulated, name, x, y) for x, y in points
            ]
        panels.append(_rules_panel(material, label, curves, colours, dashes, first=index == 0))
        words.append(
            f"{label}: "
            + ", ".join(f"{spelled(p.rule)} {percent(p.log_auc)} %" for p in group)
            + "."
        )
    chart = alt.hconcat(*panels, spacing=18)
    title = "What arbitration does to a pair"
    caption = (
        "The same answers and latencies under three rules: may a slow answer replace a newer fast"
        " one? Replay of separate recordings on one nominal clock." + _simulated(chosen)
    )
    alt_text = (
        f"In-force accuracy of pairs against the interval, under three rules and for the fast component"
        f" alone. Integrated, {material.bounds.text()}: " + " ".join(words)
    )
    return Figure(
        "arbitration", title, caption, alt_text, finish(chart, title, alt_text),
        ("fast", "slow", "simulated", "rule", "interval_s", "in_force_percent"), table,
    )  # fmt: skip


def pair_curves(material: Material, pairs: Sequence[PairScore]) -> Figure | None:
    """The best pairs under the freshest rule, beside the best single component."""
    import altair as alt

    fresh = [p for p in pairs if p.rule == "freshest"]
    chosen = sorted(fresh, key=lambda p: (-p.log_auc, p.fast, p.slow))[:_CURVES]
    if not chosen:
        return None
    best = material.ranked[0]
    xs = grid(material.bounds.low, material.bounds.high, _POINTS)
    single = best.score.curve()["in_force"](np.array(xs))
    curves: list[tuple[str, str, list[int], Points]] = [
        (short(pair_label(p), 40), PALETTE[i], list(DASHES[i]), _sampled(material, p))
        for i, p in enumerate(chosen)
    ]
    alone = [(x, 100 * float(y)) for x, y in zip(xs, single, strict=True)]
    curves.append((short(f"{best.label} alone", 40), "#8A8A8A", [1, 0], alone))
    width, height = 380, 290
    layers = [
        _line(material, points, colour, dash, True) for _, colour, dash, points in reversed(curves)
    ]
    plot = alt.layer(*layers).properties(width=width, height=height)
    items = [(label, colour, points[-1][1]) for label, colour, _, points in curves]
    names = label_panel(
        items, height=height, domain=(0, 100), width=label_width([i[0] for i in items])
    )
    chart = alt.hconcat(plot, names, spacing=0)
    title = "Fast and slow together (freshest source wins)"
    rest = len(fresh) - len(chosen)
    caption = (
        "A slow answer corrects a fast one as long as its source is not older; grey: the best single"
        " component."
        + (f" The best {_CURVES} of {len(fresh)} pairs are drawn." if rest > 0 else "")
        + _simulated([chosen])
    )
    table = [
        (p.fast, p.slow, p.simulated, x, y)
        for p, (_, _, _, points) in zip(chosen, curves, strict=False)
        for x, y in points
    ]
    table += [(best.name, "", best.score.simulated, x, y) for x, y in alone]
    alt_text = (
        f"In-force accuracy of pairs against the interval. Integrated, {material.bounds.text()}: "
        + " ".join(f"{pair_label(p)}: {percent(p.log_auc)} %." for p in chosen)
        + f" Alone, {best.label}: {percent(best.score.log_auc)} %."
    )
    return Figure(
        "pair_curves", title, caption, alt_text, finish(chart, title, alt_text),
        ("fast", "slow", "simulated", "interval_s", "in_force_percent"), table,
    )  # fmt: skip


def _best_pairs(pairs: Sequence[PairScore], most: int) -> list[list[PairScore]]:
    """Pairs with all their rules, best freshest score first."""
    groups: dict[tuple[str, str], list[PairScore]] = {}
    for pair in pairs:
        groups.setdefault((pair.fast, pair.slow), []).append(pair)
    ordered = sorted(groups.values(), key=lambda g: (-g[0].log_auc, g[0].fast, g[0].slow))
    return ordered[:most]


def _sampled(material: Material, pair: PairScore) -> Points:
    xs = grid(material.bounds.low, material.bounds.high, _POINTS)
    values = pair.curve(bounds=material.bounds)["in_force"](np.array(xs))
    return [(x, 100 * float(y)) for x, y in zip(xs, values, strict=True)]


def _alone(material: Material, pair: PairScore) -> Points:
    """The fast component by itself, on the pair's clock."""
    xs = grid(material.bounds.low, material.bounds.high, _POINTS)
    score = score_timelines(pair.fast_parts, interval=material.interval, bounds=material.bounds)
    values = score.curve()["in_force"](np.array(xs))
    return [(x, 100 * float(y)) for x, y in zip(xs, values, strict=True)]


def _line(
    material: Material, points: Points, colour: str, dash: list[int], labelled: bool
) -> Drawing:
    import altair as alt

    return (
        alt.Chart(data([{"x": x, "y": y} for x, y in points]))
        .mark_line(color=colour, strokeDash=dash, strokeWidth=1.9)
        .encode(
            x=alt.X("x:Q", **interval_scale(material.bounds.low, material.bounds.high)),
            y=alt.Y(
                "y:Q",
                scale=alt.Scale(domain=[0, 100], nice=False),
                axis=alt.Axis(
                    title="in-force accuracy (%)" if labelled else None, values=[0, 25, 50, 75, 100]
                ),
            ),
        )
    )


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
    import altair as alt

    rows: list[dict[str, Any]] = [
        {"x": x, "y": y, "rule": name} for name, points in curves.items() for x, y in points
    ]
    legend = (
        alt.Legend(title=None, orient="bottom", columns=4, symbolSize=400, symbolStrokeWidth=2)
        if first
        else None
    )
    names = list(colours)
    scale = alt.Scale(domain=names, range=[colours[n] for n in names])
    dash = alt.Scale(domain=names, range=[dashes[n] for n in names])
    return alt.layer(
        alt.Chart(data(rows))
        .mark_line(strokeWidth=1.9)
        .encode(
            x=alt.X("x:Q", **interval_scale(material.bounds.low, material.bounds.high)),
            y=alt.Y(
                "y:Q",
                scale=alt.Scale(domain=[0, 100], nice=False),
                axis=alt.Axis(
                    title="in-force accuracy (%)" if first else None, values=[0, 25, 50, 75, 100]
                ),
            ),
            color=alt.Color("rule:N", scale=scale, legend=legend),
            strokeDash=alt.StrokeDash("rule:N", scale=dash, legend=legend),
        )
    ).properties(
        width=_WIDTH,
        height=_HEIGHT,
        title=alt.TitleParams(
            short(label, 42), fontSize=11, fontWeight="normal", anchor="start", offset=4, color=INK
        ),
    )


def _simulated(groups: Sequence[Sequence[PairScore]]) -> str:
    if any(pair.simulated for group in groups for pair in group):
        return " (sim.): simulation from a declared profile, not a measurement of the model."
    return ""
