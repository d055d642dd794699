"""What in-force accuracy is made of: six classes of time, and whether judgment times timing explains it."""

from __future__ import annotations

from streamdecisionbench.render.palette import (
    CLASS_STYLE,
    GREY,
    INK,
)
from streamdecisionbench.render.table import (
    fixed,
    percent,
)
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    bars,
    chart,
    class_colours,
    keyed,
    lanes,
    layers,
    looks,
    names,
    notes,
    quantity,
    short,
    simulated_note,
)
from streamdecisionbench.report.report_data import ReportInput

_LIGHT = {"outdated_correct", "stale", "no_decision", "compound"}
"""Classes whose colour needs dark lettering."""

_LABELLED = 0.045
"""Shares from here on carry their number."""


def error_time(material: ReportInput) -> Figure:
    """Stacked bars, best integrated score at the top."""
    rows, table = [], []
    for entry in material.ranked:
        over = entry.score.overall.integrated
        begin = 0.0
        for name, (label, _, _) in CLASS_STYLE.items():
            share = getattr(over, name)
            table.append((entry.name, entry.score.simulated, name, 100 * share))
            end = begin + share
            rows.append(
                {
                    "setting": short(entry.label), "class": label, "begin": 100 * begin,
                    "end": 100 * end, "middle": 50 * (begin + end), "text": percent(share),
                    "ink": INK if name in _LIGHT else "white", "large": share >= _LABELLED,
                }
            )  # fmt: skip
            begin = end
    settings = [short(e.label) for e in material.ranked]
    y = lanes("setting", settings)
    x = quantity("begin", (0, 100), {"title": "share of time (%)", "tickCount": 6})
    classes = bars(rows, y=y, x=x, color=class_colours(CLASS_STYLE, "top"))
    numbers = chart(
        [row for row in rows if row["large"]],
        {"type": "text", "fontSize": 11, "baseline": "middle"},
        y=y,
        x=quantity("middle"),
        text=names("text"),
        color=names("ink", scale=None),
    )
    bounds = material.bounds.text()
    return Figure(
        "error_time",
        f"Where the time goes ({bounds})",
        f"Time shares over {bounds}, equal-family means, best first; right and lucky count as"
        " correct." + simulated_note(material.scores),
        f"Stacked bars of time shares, {bounds}. "
        + " ".join(
            _sentence(entry.label, entry.score.overall.integrated.classes())
            for entry in material.ranked[:12]
        ),
        layers([classes, numbers], 520, {"step": 26 if len(settings) <= 12 else 20}),
        ("setting", "simulated", "class", "share_percent"),
        table,
    )


def _sentence(label: str, shares: dict[str, float]) -> str:
    parts = ", ".join(
        f"{CLASS_STYLE[name][0]} {percent(value)} %"
        for name, value in sorted(shares.items(), key=lambda item: -item[1])
        if value >= 0.0005
    )
    return f"{label}: {parts}."


_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")  # fmt: skip


def separability(material: ReportInput) -> Figure:
    """U·O against A at the interval, with the line of equality."""
    style = looks(material)
    rows, table = [], []
    worst = (0.0, "", "")
    for place, entry in enumerate(material.ranked):
        look = style[entry.name]
        for name, level in entry.score.by_scenario.items():
            at = level.at_interval
            product, right = 100 * at.product, 100 * at.in_force
            table.append((entry.name, entry.score.simulated, name, product, right))
            worst = max(worst, (abs(right - product), entry.label, name))
            setting = look.label if look.named else "others"
            rows.append({"x": product, "y": right, "setting": setting, "order": -place})
    named = [look for look in style.values() if look.named]
    colours = {look.label: look.colour for look in named}
    shapes = dict(zip(colours, _SHAPES, strict=False))
    if len(named) < len(style):
        colours["others"], shapes["others"] = GREY, "circle"
    where = {
        "x": quantity(
            "x", (0, 100), {"title": "untimed accuracy × oracle, U·O (%)", "tickCount": 5}
        ),
        "y": quantity("y", (0, 100), {"title": "in-force accuracy A (%)", "tickCount": 5}),
    }
    diagonal = chart(
        [{"x": 0, "y": 0}, {"x": 100, "y": 100}],
        {"type": "line", "strokeDash": [5, 4], "color": INK, "strokeWidth": 1},
        **where,
    )
    legend = {"title": None, "orient": "right", "symbolSize": 70}
    points = chart(
        rows,
        {"type": "point", "filled": True, "size": 48, "opacity": 0.85},
        **where,
        order=quantity("order"),
        color=keyed("setting", colours, legend),
        shape=keyed("setting", shapes, legend),
    )
    return Figure(
        "separability",
        f"Judgment times timing, at {material.interval:g} s",
        "One point per setting and scenario; dashed: equality. The largest distance is"
        f" {fixed(worst[0])} points." + notes(material),
        f"Scatter of U·O against in-force accuracy A, {len(rows)} points. They lie near the diagonal:"
        f" the largest distance is {fixed(worst[0])} points, {worst[1]} in {worst[2]}.",
        layers([diagonal, points], 330, 330),
        ("setting", "simulated", "scenario", "product_percent", "in_force_percent"),
        table,
    )
