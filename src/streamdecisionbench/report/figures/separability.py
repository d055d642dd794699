"""Is in-force accuracy the product of judgment and timing? One point per setting and scenario."""

from __future__ import annotations

from streamdecisionbench.analysis.table import fixed
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    data,
    finish,
    looks,
    others_note,
    simulated_note,
)
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.palette import GREY, INK

_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")  # fmt: skip


def separability(material: Material) -> Figure:
    """U·O against A at the interval, with the line of equality."""
    import altair as alt

    style = looks(material)
    rows, table = [], []
    worst = (0.0, "", "")
    for place, entry in enumerate(material.ranked):
        look = style[entry.name]
        for name, level in entry.score.by_scenario.items():
            at = level.at_interval
            product, accuracy = 100 * at.product, 100 * at.in_force
            table.append((entry.name, entry.score.simulated, name, product, accuracy))
            worst = max(worst, (abs(accuracy - product), entry.label, name))
            rows.append(
                {
                    "x": product, "y": accuracy, "setting": look.label if look.named else "others",
                    "order": -place,
                }
            )  # fmt: skip
    named = [style[e.name] for e in material.ranked if style[e.name].named]
    domain, colours = [look.label for look in named], [look.colour for look in named]
    shapes = list(_SHAPES[: len(domain)])
    if any(not style[e.name].named for e in material.ranked):
        domain, colours, shapes = [*domain, "others"], [*colours, GREY], [*shapes, "circle"]
    scale = alt.Scale(domain=[0, 100], nice=False)
    x = alt.X(
        "x:Q", scale=scale, axis=alt.Axis(title="untimed accuracy × oracle, U·O (%)", tickCount=5)
    )
    y = alt.Y("y:Q", scale=scale, axis=alt.Axis(title="in-force accuracy A (%)", tickCount=5))
    diagonal = (
        alt.Chart(data([{"x": 0, "y": 0}, {"x": 100, "y": 100}]))
        .mark_line(strokeDash=[5, 4], color=INK, strokeWidth=1)
        .encode(x=x, y=y)
    )
    legend = alt.Legend(title=None, orient="right", symbolSize=70)
    points = (
        alt.Chart(data(rows))
        .mark_point(filled=True, size=48, opacity=0.85)
        .encode(
            x=x,
            y=y,
            order=alt.Order("order:Q"),
            color=alt.Color(
                "setting:N", scale=alt.Scale(domain=domain, range=colours), legend=legend
            ),
            shape=alt.Shape(
                "setting:N", scale=alt.Scale(domain=domain, range=shapes), legend=legend
            ),
        )
    )
    chart = alt.layer(diagonal, points).properties(width=330, height=330)
    title = f"Judgment times timing, at {material.interval:g} s"
    caption = (
        "One point per setting and scenario; dashed: equality. The largest distance is"
        f" {fixed(worst[0])} points." + others_note(material) + simulated_note(material.entries)
    )
    alt_text = (
        f"Scatter of U·O against in-force accuracy A, {len(rows)} points. They lie near the diagonal:"
        f" the largest distance is {fixed(worst[0])} points, {worst[1]} in {worst[2]}."
    )
    return Figure(
        "separability", title, caption, alt_text, finish(chart, title, alt_text),
        ("setting", "simulated", "scenario", "product_percent", "in_force_percent"), table,
    )  # fmt: skip
