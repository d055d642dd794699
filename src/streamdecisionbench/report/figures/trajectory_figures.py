"""In-force trajectories: the reference and what each setting had in force, second by second."""

from __future__ import annotations

import textwrap
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from streamdecisionbench.analysis.paper_analyses import Window
from streamdecisionbench.kernel.arrays import (
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.classes import ALL_CLASSES
from streamdecisionbench.kernel.shares import classify_trajectory
from streamdecisionbench.kernel.trajectory import trajectory_at
from streamdecisionbench.render.palette import (
    CLASS_STYLE,
    INK,
)
from streamdecisionbench.render.table import percent
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
from streamdecisionbench.report.report_data import Entry, ReportInput, scenario_name
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.text import plural

LANES = 8
"""Settings drawn; the best ones if there are more."""

_WIDTH = 560
_TIME = {"title": "time (s)", "tickCount": 10, "grid": False}
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
    flat = JoinedTimelines([part])
    path = trajectory_at(flat, interval)
    stretches = classify_trajectory(flat, path)
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


@dataclass(frozen=True, slots=True)
class Said:
    """An utterance that is new at a step, or that changed there: a hypothesis, or its final text."""

    step: int
    speaker: str
    text: str
    final: bool

    @property
    def quote(self) -> str:
        """In the words that were said; what is not final goes on.

        >>> print(Said(3, "host", "thank you", False).quote)
        host “thank you …”
        >>> print(Said(3, "host", "", False).quote)
        host begins, no words yet
        """
        if not self.text:
            return f"{self.speaker} begins, no words yet"
        return f"{self.speaker} “{self.text}{'' if self.final else ' …'}”"


def transcript(scenario: Scenario) -> list[Said]:
    """Every change of what was said, at the step that publishes it.

    An utterance is an entry of a list in the state that has an id, a text and `final` or `final_at`.
    """
    found: list[Said] = []
    before: dict[tuple[str, Any], tuple[Any, bool]] = {}
    for step in scenario.steps:
        now: dict[tuple[str, Any], tuple[Any, bool]] = {}
        for key, entries in step.state.items():
            for entry in entries if isinstance(entries, list) else ():
                if not isinstance(entry, dict) or not {"id", "text"} <= entry.keys():
                    continue
                if not entry.keys() & {"final", "final_at"}:
                    continue
                final = bool(entry.get("final", entry.get("final_at") is not None))
                here = now[key, entry["id"]] = (entry["text"], final)
                if before.get((key, entry["id"])) != here:
                    speaker = str(entry.get("speaker") or entry.get("channel") or key)
                    found.append(Said(step.t, speaker, str(entry["text"]), final))
        before = now
    return found


_RIGHT = ("current_correct", "outdated_correct")


def trajectory(material: ReportInput, window: Window, entries: Sequence[Entry]) -> Figure:
    """The window, in seconds at the interval scored. Refuses to draw what the scorer did not say."""
    scenario = material.suite.scenarios[window.episode_id]
    entries = entries[:LANES]
    begin, end = limits = (window.start_s, window.end_s)
    rows, shares, table = [], [], []
    for entry in entries:
        part = next(p for p in entry.score.parts if p.episode_id == scenario.episode_id)
        whole = spans(part, material.interval)
        inside = [
            replace(span, begin=max(span.begin, begin), end=min(span.end, end))
            for span in whole
            if max(span.begin, begin) < min(span.end, end)
        ]
        for span in inside:
            label = CLASS_STYLE[span.kind][0]
            bar = {"class": label, "begin": span.begin, "end": span.end}
            rows.append({"lane": short(entry.label), **bar})
            source = "" if span.source is None else span.source
            drawn = (span.begin, span.end, span.kind, source)
            table.append((entry.name, entry.score.simulated, *drawn))
        share = _right(inside) / (end - begin)
        observed = (part.horizon - float(part.release[0])) * material.interval / part.tick
        scored = entry.score.by_scenario[scenario.episode_id].in_force
        _agree(entry.name, "in the window", share, window.shares[entry.name])
        _agree(entry.name, "in the scenario", _right(whole) / observed, scored)
        shares.append({"lane": short(entry.label), "share": f"{percent(share)} %"})
    reference, fields = _reference(scenario, material.interval, begin, end)
    table += [
        ("reference", False, r["begin"], r["end"], f"{r['field']}={r['value']}", "")
        for r in reference
    ]
    plan = scenario.planned(material.interval)
    said = [one for one in transcript(scenario) if begin <= plan[one.step] < end]
    table += [
        (one.speaker, False, plan[one.step], plan[one.step],
         f"{'final' if one.final else 'partial'}: {one.text}", one.step)
        for one in said
    ]  # fmt: skip
    changes = [step for step in scenario.changes() if begin <= plan[step] < end]
    order = [short(e.label) for e in entries]
    parts = [
        _reference_panel(reference, fields, limits, [plan[step] for step in changes]),
        _lanes_panel(rows, order, shares, limits, axis=not said),
    ]
    if said:
        parts.append(_said_panel([(plan[one.step], one.final) for one in said], limits))
    quotes = [
        line
        for number, step in enumerate(changes[:_QUOTED], start=1)
        if (why := _cause(scenario, step, said))
        for line in textwrap.wrap(
            f"{number} · {plan[step]:g} s · {why}",
            104,
            subsequent_indent=" " * 8,
            max_lines=3,
            placeholder=" …",
        )
    ]
    if quotes:
        parts.append(_quotes_panel(quotes))
    name = scenario_name(material.suite, scenario)
    return Figure(
        "trajectory",
        f"{name}, {begin:g}–{end:g} s at {material.interval:g} s per step: the decision in force",
        "Above, the fields of the reference decision that change in the window; below, what each"
        " setting had in force. Right: share of the window with a correct decision in force. The"
        " window is the one in which these shares are closest to the settings' overall in-force"
        " accuracy."
        + (" Circles: every change of what was said, open partial, filled final." if said else "")
        + simulated_note(e.score for e in entries),
        f"Lanes over time for {name}, {begin:g} to {end:g} seconds, with"
        f" {plural(len(changes), 'change')} of the reference decision and {len(said)} of what was said."
        " Correct in this window: " + ", ".join(f"{s['lane']} {s['share']}" for s in shares) + ".",
        {"vconcat": parts, "spacing": 8, "resolve": {"scale": {"color": "independent"}}},
        ("lane", "simulated", "begin_s", "end_s", "class_or_decision", "source_step"),
        table,
    )


def _right(spans: Sequence[DrawnSpan]) -> float:
    return sum(span.end - span.begin for span in spans if span.kind in _RIGHT)


def _agree(name: str, where: str, drawn: float, scored: float) -> None:
    if abs(drawn - scored) > 1e-9:
        raise RuntimeError(f"{name}: {drawn!r} is drawn as right {where}, {scored!r} was scored")


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


def _cause(scenario: Scenario, step: int, said: Sequence[Said]) -> str:
    """What was said when the reference changed; where nothing was, the author's note without its tag."""
    quotes = [one.quote for one in said if one.step == step]
    if quotes:
        return "; ".join(quotes)
    evidence = scenario.steps[step].evidence
    for note in evidence:
        kind, _, text = note.partition(":")
        if kind == "change" and text:
            return text.strip()
    return evidence[0] if evidence else ""


def _reference_panel(
    rows: Sequence[dict[str, Any]],
    fields: Sequence[str],
    window: tuple[float, float],
    changes: Sequence[float],
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
    marks = [{"x": at, "t": str(number)} for number, at in enumerate(changes, start=1)]
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
    *,
    axis: bool,
) -> Drawing:
    seen = {row["class"] for row in rows}
    used = [name for name, (label, _, _) in CLASS_STYLE.items() if label in seen]
    drawn = bars(
        rows,
        gap=0.5,
        x=quantity("begin", window, _TIME if axis else None),
        y=lanes("lane", order),
        color=class_colours(used, "bottom" if axis else "top"),
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


def _said_panel(said: Sequence[tuple[float, bool]], window: tuple[float, float]) -> Drawing:
    """A circle for every change of what was said, on the axis of time; those of one step stand below each other."""
    at_step: dict[float, int] = {}
    rows = []
    for at, final in said:
        at_step[at] = at_step.get(at, 0) + 1
        rows.append({"x": at, "row": at_step[at], "speech": "", "fill": INK if final else "white"})
    circle = {"type": "point", "shape": "circle", "size": 34, "stroke": INK, "opacity": 1, "strokeWidth": 1.1}  # fmt: skip
    marks = chart(
        rows,
        circle,
        x=quantity("x", window, _TIME),
        y={"field": "row", "type": "ordinal", "axis": None},
        fill=names("fill", scale=None, legend=None),
    )
    title = panel_title("what was said: ○ partial, ● final", offset=4)
    return {**marks, "width": _WIDTH, "height": {"step": 11}, "title": title}


def _quotes_panel(lines: Sequence[str]) -> Drawing:
    rows = [{"line": place, "text": text} for place, text in enumerate(lines)]
    y = {"field": "line", "type": "ordinal", "axis": None}
    quotes = chart(rows, text_mark(align="left"), x={"value": 0}, y=y, text=names("text"))
    title = panel_title("why the reference changed", offset=4)
    return {**quotes, "width": _WIDTH, "height": {"step": 16}, "title": title}
