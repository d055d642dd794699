"""Where the time goes: six classes per setting, integrated over the bounds."""

from __future__ import annotations

from streamdecisionbench.analysis.table import percent
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    chart,
    lanes,
    layers,
    names,
    quantity,
    short,
    simulated_note,
)
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.palette import CLASS_STYLE, INK

_LIGHT = {"outdated_correct", "stale", "no_decision", "compound"}
"""Classes whose colour needs dark lettering."""

_LABELLED = 0.045
"""Shares from here on carry their number."""


def error_time(material: Material) -> Figure:
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
    bars = chart(
        rows,
        {"type": "bar", "stroke": "white", "strokeWidth": 0.6, "height": {"band": 0.78}},
        y=y,
        x=x,
        x2={"field": "end"},
        color=class_colours(list(CLASS_STYLE), "top"),
    )
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
        " correct." + simulated_note(material.entries),
        f"Stacked bars of time shares, {bounds}. "
        + " ".join(
            _sentence(entry.label, entry.score.overall.integrated.classes())
            for entry in material.ranked[:12]
        ),
        layers([bars, numbers], 520, {"step": 26 if len(settings) <= 12 else 20}),
        ("setting", "simulated", "class", "share_percent"),
        table,
    )


def class_colours(classes: list[str], orient: str) -> dict[str, object]:
    """The channel that colours bars by class, with these in its legend."""
    shown = [CLASS_STYLE[name] for name in classes]
    return names(
        "class",
        scale={"domain": [label for label, _, _ in shown], "range": [c for _, _, c in shown]},
        legend={"orient": orient, "title": None, "symbolType": "square", "columns": 6},
    )


def _sentence(label: str, shares: dict[str, float]) -> str:
    parts = ", ".join(
        f"{CLASS_STYLE[name][0]} {percent(value)} %"
        for name, value in sorted(shares.items(), key=lambda item: -item[1])
        if value >= 0.0005
    )
    return f"{label}: {parts}."
