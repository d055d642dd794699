"""In-force accuracy as a function of the interval: of settings, overall and by family, and of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streamdecisionbench.kernel.rule import (
    RULES,
    spelled,
)
from streamdecisionbench.render.palette import (
    DASHES,
    GREY,
    INK,
    PALETTE,
    SHOWN,
)
from streamdecisionbench.render.sentences import NOMINAL_REPLAY, marked
from streamdecisionbench.render.table import percent
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    OWN_COLOUR,
    Drawing,
    Look,
    accuracy,
    beside,
    chart,
    grid,
    intervals,
    keyed,
    layers,
    looks,
    names,
    notes,
    panel_title,
    short,
    simulated_note,
    with_labels,
)
from streamdecisionbench.report.report_data import ReportInput, family_name
from streamdecisionbench.scoring.score import Score, score_timelines

POINTS = 193
"""Exact values are taken at so many intervals, evenly on the logarithmic axis."""

_HEIGHT, _WIDTH = 290, 330
_SMALL_HEIGHT, _SMALL_WIDTH = 118, 150

Points = list[tuple[float, float]]


def pace_curves(material: ReportInput) -> Figure:
    """The whole on the left with names, families as small multiples on the right."""
    style = looks(material)
    levels = ["overall", *material.families]
    samples = {
        level: {
            e.name: _sampled(material, e.score, POINTS, level)
            for e in material.entries
            if level == "overall" or level in e.score.by_family
        }
        for level in levels
    }
    whole = _panel(material, style, samples["overall"], "All families (equal mean)", large=True)
    labels = [
        (style[e.name].label, style[e.name].colour, samples["overall"][e.name][-1][1])
        for e in material.entries
        if style[e.name].named
    ]
    drawing = with_labels(whole, labels, _HEIGHT)
    small = [
        _panel(material, style, samples[family], family_name(family), large=False)
        for family in material.families
    ]
    if len(small) > 1:
        columns = 2 if len(small) <= 4 else 3
        drawing = beside(drawing, {"concat": small, "columns": columns, "spacing": 14}, spacing=24)
    return Figure(
        "pace_curves",
        "In-force accuracy at every pace of events",
        "In-force accuracy (%) of each recorded pass at every interval, with its recorded answers and"
        " latencies. The area under a curve on this axis, normalised, is the integrated score."
        + notes(material),
        _alternative(material, samples["overall"]),
        drawing,
        ("level", "setting", "simulated", "interval_s", "in_force_percent"),
        [
            (level, e.name, e.score.simulated, x, y)
            for level in levels
            for e in material.entries
            for x, y in samples[level].get(e.name, [])
        ],
    )


def _panel(
    material: ReportInput,
    style: dict[str, Look],
    samples: dict[str, Points],
    title: str,
    *,
    large: bool,
) -> Drawing:
    dashes = {name: style[name].dash for name in samples if style[name].named}
    parts = []
    # Grey first, so that named curves lie on top.
    for named in (False, True):
        rows = [
            {"x": a, "y": b, "setting": name, "colour": style[name].colour}
            for name, points in samples.items()
            if style[name].named == named
            for a, b in points
        ]
        if not rows:
            continue
        width = (2 if large else 1.6) if named else 0.8
        dash = {"strokeDash": keyed("setting", dashes, None)} if named else {}
        parts.append(
            chart(
                rows,
                {"type": "line", "strokeWidth": width},
                x=intervals(material.bounds, titled=large),
                y=accuracy(titled=large),
                color=OWN_COLOUR,
                detail=names("setting"),
                **dash,
            )
        )
    sides = (_WIDTH, _HEIGHT) if large else (_SMALL_WIDTH, _SMALL_HEIGHT)
    return layers(parts, *sides, title=panel_title(title, offset=4))


def _alternative(material: ReportInput, samples: dict[str, Points]) -> str:
    low, high = material.bounds.low, material.bounds.high
    parts = []
    for entry in material.ranked[:12]:
        points = samples[entry.name]
        parts.append(
            f"{entry.label}: {percent(points[0][1] / 100)} % at {low:g} s,"
            f" {percent(entry.score.in_force)} % at {material.interval:g} s,"
            f" {percent(points[-1][1] / 100)} % at {high:g} s."
        )
    return "Curves of in-force accuracy against the time-step interval. " + " ".join(parts)


_RULES = tuple(spelled(rule) for rule in RULES)
"""In the order tables list them."""

_PAIR_POINTS = 385
"""Arbitration makes jumps; twice the points of single curves show them as what they are."""

PANELS = 6
_PAIR_WIDTH, _PAIR_HEIGHT = 250, 230
_ALONE = "fast alone"
_GREY = "#8A8A8A"


def arbitration(
    material: ReportInput, pairs: Sequence[Score], corrector: str = ""
) -> Figure | None:
    """Pairs with the corrector, each under the three rules, with the fast component alone in grey."""
    groups = _drawn(pairs, corrector)
    if not groups:
        return None
    colours = dict(zip((*_RULES, _ALONE), (*PALETTE[:3], _GREY), strict=True))
    dashes = dict(zip(colours, (*DASHES[:3], DASHES[0]), strict=True))
    panels: list[Drawing] = []
    table, words = [], []
    for group in groups:
        fast = score_timelines(group[0].parts, interval=material.interval, bounds=material.bounds)
        # The grey line first: it lies under the others.
        curves = {_ALONE: _sampled(material, fast, _PAIR_POINTS)}
        curves |= {spelled(p.rule): _sampled(material, p, _PAIR_POINTS) for p in group}
        label = _label(group[0])
        for name, points in curves.items():
            table += [
                (group[0].fast, group[0].slow, group[0].simulated, name, x, y) for x, y in points
            ]
        if len(panels) < PANELS:
            panels.append(_rules_panel(material, label, curves, colours, dashes, first=not panels))
        rules = ", ".join(f"{spelled(p.rule)} {percent(p.log_auc)} %" for p in group)
        words.append(f"{label}: {rules}.")
    return Figure(
        "arbitration",
        "What arbitration does to a pair",
        "The same answers and latencies under three rules: may a slow answer replace a newer fast"
        f" one? {NOMINAL_REPLAY.capitalize()}."
        + _which(len(groups), PANELS, corrector)
        + simulated_note(group[0] for group in groups),
        "In-force accuracy of pairs against the interval, under three rules and for the fast component"
        f" alone. Integrated, {material.bounds.text()}: " + " ".join(words),
        {"concat": panels, "columns": 3, "spacing": 18},
        ("fast", "slow", "simulated", "rule", "interval_s", "in_force_percent"),
        table,
    )


def pair_curves(
    material: ReportInput, pairs: Sequence[Score], corrector: str = ""
) -> Figure | None:
    """Pairs under the freshest rule: everybody with the corrector beside the corrector alone; without
    one, the best beside the best single component."""
    fresh = [group[0] for group in _drawn(pairs, corrector)]
    if not fresh:
        return None
    curves = [(p, _sampled(material, p, _PAIR_POINTS)) for p in fresh]
    single = next((e for e in material.entries if e.name == corrector), material.ranked[0])
    alone = _sampled(material, single.score, _PAIR_POINTS)
    lines: list[tuple[Points, Drawing]] = [
        (points, {"color": PALETTE[i], "strokeDash": list(DASHES[i]), "strokeWidth": 1.9})
        for i, (_, points) in enumerate(curves[:SHOWN])
    ]
    lines.append((alone, {"color": _GREY, "strokeWidth": 1.9}))
    lines += [(points, {"color": GREY, "strokeWidth": 0.8}) for _, points in curves[SHOWN:]]
    parts = [
        chart(
            [{"x": x, "y": y} for x, y in points],
            {"type": "line", **how},
            x=intervals(material.bounds),
            y=accuracy(),
        )
        for points, how in reversed(lines)
    ]
    labels = [short(_label(p), 40) for p in fresh[:SHOWN]] + [short(f"{single.label} alone", 40)]
    who = "the corrector" if corrector else "the best single component"
    return Figure(
        "pair_curves",
        "Fast and slow together (freshest source wins)",
        f"A slow answer corrects a fast one as long as its source is not older; grey: {who} alone."
        + _which(len(fresh), SHOWN, corrector)
        + simulated_note(fresh),
        f"In-force accuracy of pairs against the interval. Integrated, {material.bounds.text()}: "
        + " ".join(f"{_label(p)}: {percent(p.log_auc)} %." for p in fresh[:12])
        + f" Alone, {single.label}: {percent(single.score.log_auc)} %.",
        with_labels(
            layers(parts, 380, 290),
            [(label, how["color"], points[-1][1]) for label, (points, how) in zip(labels, lines, strict=False)],
            290,
        ),
        ("fast", "slow", "simulated", "interval_s", "in_force_percent"),
        [(p.fast, p.slow, p.simulated, x, y) for p, points in curves for x, y in points]
        + [(single.name, "", single.score.simulated, x, y) for x, y in alone],
    )  # fmt: skip


def _label(pair: Score) -> str:
    return marked(f"{pair.fast} + {pair.slow}", simulated=pair.simulated)


def _drawn(pairs: Sequence[Score], corrector: str) -> list[list[Score]]:
    """Pairs with all their rules: everybody with the corrector, in the order given; without one, the best first."""
    groups: dict[tuple[str, str], list[Score]] = {}
    for pair in pairs:
        if not corrector or pair.slow == corrector:
            groups.setdefault((pair.fast, pair.slow), []).append(pair)
    if corrector:
        return list(groups.values())
    return sorted(groups.values(), key=lambda g: (-g[0].log_auc, g[0].fast, g[0].slow))


def _which(pairs: int, shown: int, corrector: str) -> str:
    """What a caption says about the pairs it shows."""
    which = f" Every pair with {corrector}" if corrector else " The best pairs, as asked for"
    more = f"; {shown} of {pairs} are named, the CSV has all" if pairs > shown else ""
    return f"{which}{more}."


def _sampled(material: ReportInput, one: Score, points: int, level: str = "overall") -> Points:
    xs = grid(material.bounds.low, material.bounds.high, points)
    values = one.curve(level, bounds=material.bounds)["in_force"](np.array(xs))
    return [(x, 100 * float(y)) for x, y in zip(xs, values, strict=True)]


def _rules_panel(
    material: ReportInput,
    label: str,
    curves: dict[str, Points],
    colours: dict[str, str],
    dashes: dict[str, list[int]],
    *,
    first: bool,
) -> Drawing:
    """One pair. The first panel carries the legend, made of the lines themselves."""
    legend = {"title": None, "orient": "bottom", "columns": 4, "symbolSize": 400, "symbolStrokeWidth": 2}  # fmt: skip
    lines = chart(
        [{"x": x, "y": y, "rule": name} for name, points in curves.items() for x, y in points],
        {"type": "line", "strokeWidth": 1.9},
        x=intervals(material.bounds),
        y=accuracy(titled=first),
        color=keyed("rule", colours, legend if first else None),
        strokeDash=keyed("rule", dashes, legend if first else None),
    )
    title = panel_title(short(label, 42), offset=4, color=INK)
    return layers([lines], _PAIR_WIDTH, _PAIR_HEIGHT, title=title)
