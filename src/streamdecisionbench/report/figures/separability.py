"""Is in-force accuracy the product of judgment and timing? One point per setting and scenario."""

from __future__ import annotations

from streamdecisionbench.analysis.table import fixed
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    chart,
    layers,
    looks,
    names,
    others_note,
    quantity,
    simulated_note,
)
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.palette import GREY, INK

_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")  # fmt: skip


def separability(material: Material) -> Figure:
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
    domain, colours = [look.label for look in named], [look.colour for look in named]
    shapes = list(_SHAPES[: len(domain)])
    if len(named) < len(style):
        domain, colours, shapes = [*domain, "others"], [*colours, GREY], [*shapes, "circle"]
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
        color=names("setting", scale={"domain": domain, "range": colours}, legend=legend),
        shape=names("setting", scale={"domain": domain, "range": shapes}, legend=legend),
    )
    return Figure(
        "separability",
        f"Judgment times timing, at {material.interval:g} s",
        "One point per setting and scenario; dashed: equality. The largest distance is"
        f" {fixed(worst[0])} points." + others_note(material) + simulated_note(material.entries),
        f"Scatter of U·O against in-force accuracy A, {len(rows)} points. They lie near the diagonal:"
        f" the largest distance is {fixed(worst[0])} points, {worst[1]} in {worst[2]}.",
        layers([diagonal, points], 330, 330),
        ("setting", "simulated", "scenario", "product_percent", "in_force_percent"),
        table,
    )
