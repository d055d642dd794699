"""A log's score as one self-contained page: groups side by side, where the time went, day by day."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from streamdecisionbench.analysis.table import Table, count, number, percentage, text
from streamdecisionbench.analysis.wrong_time import log_cost_tables
from streamdecisionbench.in_force import ALL_CLASSES
from streamdecisionbench.logs.score import LogGroup, LogScore
from streamdecisionbench.report.palette import CLASS_STYLE, UNKNOWN_STYLE
from streamdecisionbench.report.render import to_html
from streamdecisionbench.report.screens import difference_lines

_SHOWN = {**CLASS_STYLE, **UNKNOWN_STYLE}
_WORDS = {name: shown[0] for name, shown in _SHOWN.items()}
_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--dim:#5b6470;--line:#d5dae0;--paper:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--dim:#a0a8b3;--line:#3a4048;--paper:#16191d}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;
margin:2rem auto;padding:0 1rem}h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}
table{border-collapse:collapse;width:100%;display:block;overflow-x:auto}th,td{padding:.3rem .6rem;
text-align:right;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left}.note{border-left:4px solid #c98500;padding-left:.6rem}
.dim{color:var(--dim);font-size:.85rem;overflow-wrap:anywhere}.key span{display:inline-block;
margin-right:1rem}.key i{display:inline-block;width:.8rem;height:.8rem;margin-right:.3rem;
vertical-align:-.1rem}svg{width:100%;height:auto}svg text{fill:currentColor;font:12px system-ui,sans-serif}
"""


def log_page(score: LogScore) -> str:
    """The page as HTML. Text from the log is data: all of it is escaped."""
    title = f"Decisions in force: {score.source}"
    parts = [f"<h1>{escape(title)}</h1>"]
    parts += [f'<p class="note">{escape(note)}</p>' for note in score.notes]
    parts += [f"<p>{escape(line)}</p>" for line in difference_lines(score)]
    parts.append("<h2>Groups side by side</h2>")
    parts.append(_table(score))
    parts.append("<h2>Where the time went, % of observed time</h2>")
    parts.append(_bars(score.groups))
    for table in log_cost_tables(score):
        parts.append(f"<h2>{escape(table.title)}</h2>")
        parts.append(to_html(table))
        parts += [f'<p class="dim">{escape(note)}</p>' for note in table.notes]
    if len(score.days) > 1:
        parts.append("<h2>Day by day: in-force accuracy, %</h2>")
        parts.append(_days(score.days))
    parts.append(f'<p class="dim">{escape(score.signature)}</p>')
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        + "\n".join(parts)
        + "</body></html>\n"
    )


def _table(score: LogScore) -> str:
    columns = (text("group"), count("streams"), count("judged streams"), count("states"),
               count("judged states"), percentage("in force"), text("95 %"),
               percentage("untimed"), percentage("judged"), number("p50 s"), number("p95 s"))  # fmt: skip
    rows = []
    for group in score.groups:
        interval = group.interval_95
        rows.append(
            (group.name, group.streams, group.judged_streams, group.decisions,
             group.judged_decisions, group.in_force,
             f"{_share(interval[0])}–{_share(interval[1])}" if interval else "–",
             group.untimed, group.judged_share, group.latency.get("p50"), group.latency.get("p95"))
        )  # fmt: skip
    return to_html(Table("", columns, tuple(rows)))


def _bars(groups: Sequence[LogGroup]) -> str:
    """One bar per group, its classes end to end, with the same in words."""
    key = "".join(
        f'<span><i style="background:{_colour(name)}"></i>{_WORDS[name]}</span>'
        for name in ALL_CLASSES
    )
    height = 34 * len(groups)
    drawn = []
    for k, group in enumerate(groups):
        x, y = 180.0, 34 * k
        drawn.append(f'<text x="0" y="{y + 19}">{escape(group.name[:26])}</text>')
        for name, share in group.classes.items():
            width = share * 700
            if width <= 0:
                continue
            said = f"{group.name}: {_WORDS[name]} {share * 100:.1f} %"
            drawn.append(
                f'<rect x="{x:.2f}" y="{y + 4}" width="{width:.2f}" height="22"'
                f' fill="{_colour(name)}"><title>{escape(said)}</title></rect>'
            )
            x += width
    said = "; ".join(
        f"{g.name}: "
        + ", ".join(f"{_WORDS[n]} {v * 100:.1f} %" for n, v in g.classes.items() if v > 0)
        for g in groups
    )
    return (
        f'<p class="key">{key}</p><svg viewBox="0 0 890 {height}" role="img"'
        f' aria-label="{escape(said, quote=True)}">{"".join(drawn)}</svg>'
    )


def _days(groups: Sequence[LogGroup]) -> str:
    """In-force accuracy of every day with its interval."""
    known = [g for g in groups if g.in_force is not None]
    step = 840 / max(len(known), 1)
    drawn = [
        f'<line x1="40" x2="890" y1="{_y(v)}" y2="{_y(v)}" stroke="currentColor" stroke-opacity=".2"/>'
        f'<text x="0" y="{_y(v) + 4}">{v * 100:.0f}</text>'
        for v in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    for k, group in enumerate(known):
        x = 40 + step * (k + 0.5)
        value = group.in_force or 0.0
        low, high = group.interval_95 or (value, value)
        said = f"{group.name}: {value * 100:.1f} % ({low * 100:.1f} to {high * 100:.1f})"
        drawn.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_y(low):.1f}" y2="{_y(high):.1f}" stroke="#0072b2"'
            f' stroke-width="2"/><circle cx="{x:.1f}" cy="{_y(value):.1f}" r="4" fill="#0072b2">'
            f"<title>{escape(said)}</title></circle>"
        )
        if k % max(1, len(known) // 8) == 0:
            drawn.append(f'<text x="{x - 30:.1f}" y="236">{escape(group.name[:10])}</text>')
    said = "; ".join(f"{g.name} {_share(g.in_force)}" for g in known)
    return (
        f'<svg viewBox="0 0 890 240" role="img" aria-label="{escape(said, quote=True)}">'
        + "".join(drawn)
        + "</svg>"
    )


def _y(share: float) -> float:
    return 210 - 200 * share


def _colour(name: str) -> str:
    return _SHOWN[name][2]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.1f}"
