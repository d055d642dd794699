"""Where the time goes: six classes per setting, integrated over the bounds."""

from __future__ import annotations

from streamdecisionbench.analysis.table import percent
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import data, finish, short, simulated_note
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.palette import CLASS_STYLE, INK

_LIGHT = {"outdated_correct", "stale", "no_decision", "compound"}
"""Classes whose colour needs dark lettering."""

_LABELLED = 0.045
"""Shares from here on carry their number."""


def error_time(material: Material) -> Figure:
    """Stacked bars, best integrated score at the top."""
    import altair as alt

    rows, texts, table = [], [], []
    for entry in material.ranked:
        over = entry.score.overall.integrated
        begin = 0.0
        for place, (name, (label, _, colour)) in enumerate(CLASS_STYLE.items()):
            share = getattr(over, name)
            table.append((entry.name, entry.score.simulated, name, 100 * share))
            end = begin + share
            row = {
                "setting": short(entry.label), "class": label, "order": place, "begin": 100 * begin,
                "end": 100 * end, "middle": 50 * (begin + end), "text": percent(share),
                "colour": colour, "ink": INK if name in _LIGHT else "white",
            }  # fmt: skip
            rows.append(row)
            if share >= _LABELLED:
                texts.append(row)
            begin = end
    settings = [short(e.label) for e in material.ranked]
    labels = [label for label, _, _ in CLASS_STYLE.values()]
    colours = [colour for _, _, colour in CLASS_STYLE.values()]
    y = alt.Y("setting:N", sort=settings, title=None, axis=alt.Axis(ticks=False, domain=False))
    x_axis = alt.Axis(title="share of time (%)", tickCount=6)
    bars = (
        alt.Chart(data(rows))
        .mark_bar(stroke="white", strokeWidth=0.6, height={"band": 0.78})
        .encode(
            y=y,
            x=alt.X("begin:Q", scale=alt.Scale(domain=[0, 100], nice=False), axis=x_axis),
            x2=alt.X2("end:Q"),
            color=alt.Color(
                "class:N",
                scale=alt.Scale(domain=labels, range=colours),
                legend=alt.Legend(orient="top", title=None, symbolType="square", columns=6),
            ),
        )
    )
    numbers = (
        alt.Chart(data(texts))
        .mark_text(fontSize=11, baseline="middle")
        .encode(
            y=y, x=alt.X("middle:Q"), text=alt.Text("text:N"), color=alt.Color("ink:N", scale=None)
        )
    )
    chart = alt.layer(bars, numbers).properties(
        width=520, height={"step": 26 if len(settings) <= 12 else 20}
    )
    bounds = material.bounds.text()
    title = f"Where the time goes ({bounds})"
    alt_text = f"Stacked bars of time shares, {bounds}. " + " ".join(
        _sentence(entry.label, entry.score.overall.integrated.classes())
        for entry in material.ranked[:12]
    )
    caption = (
        f"Time shares over {bounds}, equal-family means, best first; right and lucky count as"
        " correct." + simulated_note(material.entries)
    )
    return Figure(
        "error_time", title, caption, alt_text, finish(chart, title, alt_text),
        ("setting", "simulated", "class", "share_percent"), table,
    )  # fmt: skip


def _sentence(label: str, shares: dict[str, float]) -> str:
    parts = ", ".join(
        f"{CLASS_STYLE[name][0]} {percent(value)} %"
        for name, value in sorted(shares.items(), key=lambda item: -item[1])
        if value >= 0.0005
    )
    return f"{label}: {parts}."
