"""In-force trajectories: the reference and what each setting had in force, second by second."""

from __future__ import annotations

import textwrap
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from streamdecisionbench.analysis.table import percent
from streamdecisionbench.in_force import ALL_CLASSES
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.figures.style import (
    Drawing,
    bars,
    beside,
    chart,
    class_colours,
    lanes,
    layers,
    names,
    panel_title,
    quantity,
    short,
    simulated_note,
    text_mark,
)
from streamdecisionbench.report.findings import Entry, Material, scenario_name
from streamdecisionbench.report.palette import CLASS_STYLE
from streamdecisionbench.scoring.classes import path_stretches
from streamdecisionbench.scoring.sweep import trajectory_at
from streamdecisionbench.scoring.timeline import Flat, Timeline
from streamdecisionbench.suite.scenario import Scenario

LANES = 8
"""Settings drawn; the best ones if there are more."""

_WIDTH = 560
_QUOTED = 8
"""Changes quoted below the picture."""


@dataclass(frozen=True, slots=True)
class DrawnSpan:
    """Seconds at the interval scored; `source` is the step the decision in force answers."""

    begin: float
    end: float
    kind: str
    source: int | None


def spans(part: Timeline, interval: float) -> list[DrawnSpan]:
    """What a setting had in force in one scenario, cut where its class may change."""
    flat = Flat([part])
    path = trajectory_at(flat, interval)
    stretches = path_stretches(flat, path)
    sources = np.append(path.source, -1)[stretches.piece]
    seconds = interval / part.tick
    found: list[DrawnSpan] = []
    columns = (stretches.begin * seconds, stretches.end * seconds, stretches.column, sources)
    for begin, end, column, source in zip(*(c.tolist() for c in columns), strict=True):
        if begin >= end:
            continue
        span = DrawnSpan(begin, end, ALL_CLASSES[column], None if source < 0 else source)
        if found and (found[-1].kind, found[-1].source) == (span.kind, span.source):
            span = replace(span, begin=found.pop().begin)
        found.append(span)
    return found


def trajectory(
    material: Material, episode_id: str, begin: float, end: float, entries: Sequence[Entry]
) -> Figure:
    """One window of one scenario; times in seconds at the interval scored."""
    scenario = material.suite.scenarios[episode_id]
    entries = entries[:LANES]
    window = (begin, end)
    rows, shares, table = [], [], []
    for entry in entries:
        part = next(p for p in entry.score.parts if p.episode_id == episode_id)
        right = 0.0
        for span in spans(part, material.interval):
            a, b = max(span.begin, begin), min(span.end, end)
            if a >= b:
                continue
            label = CLASS_STYLE[span.kind][0]
            rows.append({"lane": short(entry.label), "class": label, "begin": a, "end": b})
            source = "" if span.source is None else span.source
            table.append((entry.name, entry.score.simulated, a, b, span.kind, source))
            right += (b - a) if span.kind in ("current_correct", "outdated_correct") else 0.0
        share = right / (end - begin)
        shares.append({"lane": short(entry.label), "share": f"{percent(share)} %"})
    reference, fields = _reference(scenario, material.interval, begin, end)
    table += [
        ("reference", False, r["begin"], r["end"], f"{r['field']}={r['value']}", "")
        for r in reference
    ]
    changes = _changes(scenario, material.interval, begin, end)
    parts = [
        _reference_panel(reference, fields, window, changes),
        _lanes_panel(rows, [short(e.label) for e in entries], shares, window),
    ]
    quotes = [
        f"{number} · {seconds:g} s · {textwrap.shorten(why, 96, placeholder=' …')}"
        for number, (seconds, why) in enumerate(changes, start=1)
        if why
    ]
    if quotes:
        parts.append(_quotes_panel(quotes[:_QUOTED]))
    name = scenario_name(material.suite, scenario)
    return Figure(
        "trajectory",
        f"{name}, {begin:g}–{end:g} s at {material.interval:g} s per step: the decision in force",
        "Above, the fields of the reference decision that change in the window; below, what each"
        " setting had in force. Right: share of the window with a correct decision in force. The"
        " window is the one in which these shares are closest to the settings' overall in-force"
        " accuracy." + simulated_note(e.score for e in entries),
        f"Lanes over time for {name}, {begin:g} to {end:g} seconds, with"
        f" {len(changes)} changes of the reference decision. Correct in this window: "
        + ", ".join(f"{s['lane']} {s['share']}" for s in shares)
        + ".",
        {"vconcat": parts, "spacing": 8, "resolve": {"scale": {"color": "independent"}}},
        ("lane", "simulated", "begin_s", "end_s", "class_or_decision", "source_step"),
        table,
    )


def _reference(
    scenario: Scenario, interval: float, begin: float, end: float
) -> tuple[list[dict[str, Any]], list[str]]:
    """Segments of every field that changes in the window, and the fields in composed order."""
    edges = [*scenario.planned(interval), scenario.n * interval]
    first = bisect_right(edges, begin, hi=scenario.n) - 1
    last = bisect_left(edges, end, hi=scenario.n)
    decisions = scenario.reference()[first:last]
    order = list(dict.fromkeys(q for decision in decisions for q in decision))
    moving = [q for q in order if len({d.get(q) for d in decisions}) > 1] or order[:1]
    found: list[dict[str, Any]] = []
    for field in moving:
        for step, decision in enumerate(decisions, start=first):
            value = decision.get(field)
            a, b = max(edges[step], begin), min(edges[step + 1], end)
            if value is None:
                continue
            before = found[-1] if found else {}
            if [before.get(key) for key in ("field", "value", "end")] == [field, value, a]:
                before["end"] = b
            else:
                found.append({"field": field, "value": value, "begin": a, "end": b})
    for place, row in enumerate(found):
        same = place > 0 and found[place - 1]["field"] == row["field"]
        row["shade"] = 1 - found[place - 1]["shade"] if same else 0
        room = int((row["end"] - row["begin"]) / (end - begin) * _WIDTH / 6.3)
        text = str(row["value"]).replace("_", " ")
        row["text"] = text if len(text) <= room else (short(text, room) if room >= 4 else "")
        row["middle"] = (row["begin"] + row["end"]) / 2
    return found, moving


def _changes(
    scenario: Scenario, interval: float, begin: float, end: float
) -> list[tuple[float, str]]:
    """When the reference changes in the window, and why."""
    plan = scenario.planned(interval)
    return [
        (plan[step], _cause(scenario.steps[step].evidence))
        for step in scenario.changes()
        if begin <= plan[step] < end
    ]


def _cause(evidence: Sequence[str]) -> str:
    """The note that says what changed, without its tag."""
    for note in evidence:
        kind, _, text = note.partition(":")
        if kind == "change" and text:
            return text.strip()
    return evidence[0] if evidence else ""


def _reference_panel(
    rows: Sequence[dict[str, Any]],
    fields: Sequence[str],
    window: tuple[float, float],
    changes: Sequence[tuple[float, str]],
) -> Drawing:
    shown = [{**row, "field": row["field"].replace("_", " ")} for row in rows]
    y = lanes("field", [f.replace("_", " ") for f in fields], labelFontStyle="italic")
    shade = {
        "field": "shade",
        "type": "ordinal",
        "scale": {"domain": [0, 1], "range": ["#DDE3EA", "#C3CDD8"]},
        "legend": None,
    }
    bar = {"type": "bar", "height": {"band": 0.84}, "stroke": "white", "strokeWidth": 1}
    begin, middle, at = (quantity(field, window, None) for field in ("begin", "middle", "x"))
    bold = text_mark(fontSize=10, fontWeight="bold", baseline="bottom", align="left")
    marks = [{"x": at, "t": str(number)} for number, (at, _) in enumerate(changes, start=1)]
    return layers(
        [
            chart(shown, bar, x=begin, x2={"field": "end"}, y=y, color=shade),
            chart(shown, text_mark(), x=middle, y=y, text=names("text")),
            chart(marks, bold, x=at, y={"value": -2}, text=names("t")),
        ],
        _WIDTH,
        {"step": 22},
        title=panel_title("reference", offset=16, dy=8),
    )


def _lanes_panel(
    rows: Sequence[dict[str, Any]],
    order: Sequence[str],
    shares: Sequence[dict[str, Any]],
    window: tuple[float, float],
) -> Drawing:
    seen = {row["class"] for row in rows}
    used = [name for name, (label, _, _) in CLASS_STYLE.items() if label in seen]
    axis = {"title": "time (s)", "tickCount": 10, "grid": False}
    drawn = bars(
        rows,
        gap=0.5,
        x=quantity("begin", window, axis),
        y=lanes("lane", order),
        color=class_colours(used, "bottom"),
    )
    right = chart(
        shares,
        text_mark(align="left"),
        x={"value": 4},
        y=names("lane", sort=list(order), axis=None),
        text=names("share"),
    )
    height = {"step": 24}
    return beside(
        {**drawn, "width": _WIDTH, "height": height}, {**right, "width": 46, "height": height}
    )


def _quotes_panel(lines: Sequence[str]) -> Drawing:
    rows = [{"line": place, "text": text} for place, text in enumerate(lines)]
    y = {"field": "line", "type": "ordinal", "axis": None}
    quotes = chart(rows, text_mark(align="left"), x={"value": 0}, y=y, text=names("text"))
    title = panel_title("why the reference changed", offset=4)
    return {**quotes, "width": _WIDTH, "height": {"step": 16}, "title": title}
