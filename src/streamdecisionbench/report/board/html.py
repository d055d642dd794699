"""The leaderboard's page: one self-contained file, every text in it inert."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources

from streamdecisionbench.cost_file.read import default_costs
from streamdecisionbench.report.board.rows import Row, SuiteRows

__all__ = ["render_board"]

_COLUMNS = (
    ("setting", "", "what answered; ▸ its report"),
    ("score", "num", "in-force accuracy integrated over 0.5–8 s, log-weighted, in %"),
    ("95 %", "num", "interval over passes and scenarios"),
    ("passes", "num", "how many, and the range of their scores"),
    ("at 2 s", "num", "in-force accuracy at one state in two seconds"),
    ("untimed", "num", "accuracy if latency did not matter"),
    ("stale", "num", "share of time lost to latency"),
    ("judgment", "num", "share of time lost to judgment"),
    ("p50 s", "num", "median latency in seconds"),
    (
        "errors cost",
        "num",
        "what being wrong costs at 2 s: seconds of an ordinary wrong decision a second",
    ),
    ("# cost", "num", "place by that cost"),
    ("recorded", "", "day, place, host"),
)


def render_board(boards: Sequence[SuiteRows], reports: Mapping[str, str], note: str) -> str:
    """`reports` maps a bundle's short name to the address of its report beside the page."""
    style, script = (_asset(name) for name in ("board.css", "board.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';"
        " base-uri 'none'; form-action 'none'"
    )
    sections = "\n".join(_section(board, reports) for board in boards)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>StreamDecisionBench: leaderboard</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>How much of the time is the decision in force right?</h1>
<p>Every row was scored again from its recorded events when this page was made. {escape(note)}</p>
</header>
<main>
{sections}
</main>
<script>{script}</script>
</body>
</html>
"""


def _section(board: SuiteRows, reports: Mapping[str, str]) -> str:
    suite = board.suite
    heads = "".join(
        f'<th scope="col" class="{kind}" title="{escape(title)}">'
        f'<button type="button">{escape(name)}</button></th>'
        for name, kind, title in _COLUMNS
    )
    by_cost = {id(row): k for k, row in enumerate(board.by_cost, start=1)}
    rows = "\n".join(
        _row(k, row, reports, len(suite.scenarios), by_cost[id(row)])
        for k, row in enumerate(board.rows, start=1)
    )
    return f"""<section>
<h2>{escape(suite.name)}</h2>
<p class="soft">{len(suite.scenarios)} scenarios, suite {suite.dataset_hash[:12]}.
Intervals: 95 %, resampled {escape(board.resampled)}. {escape(_costs(board))}</p>
<div class="wide" tabindex="0" role="region" aria-label="{escape(suite.name)}">
<table>
<thead><tr><th scope="col" class="num"><button type="button">#</button></th>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>
</section>"""


def _costs(board: SuiteRows) -> str:
    costs = default_costs()
    return " ".join((f"Costs: {costs.name}, {costs.dated}.", *board.words))


def _row(place: int, row: Row, reports: Mapping[str, str], scenarios: int, by_cost: int) -> str:
    links = " ".join(
        f'<a href="{escape(reports[name])}">▸ {escape(name)}</a>'
        for name in dict.fromkeys(p.bundle for p in row.passes)
    )
    badges = ""
    if row.simulated:
        badges += '<span class="badge" title="answers and latencies drawn from a declared profile">simulation</span>'
    if row.virtual:
        badges += '<span class="badge" title="service times measured one by one, queueing simulated">virtual clock</span>'
    if row.scenarios < scenarios:
        badges += f'<span class="badge">{row.scenarios} of {scenarios} scenarios</span>'
    models = ", ".join(row.models)
    detail = " · ".join(escape(t) for t in (models, row.settings) if t)
    passes = str(len(row.passes))
    if len(row.passes) > 1:
        passes += f" <small>{_pct(row.lowest)}–{_pct(row.highest)}</small>"
    where = " · ".join(escape(t) for t in (row.days, row.places, row.hosts, row.terms) if t)
    low, high = row.interval
    cells = (
        f'<td class="num" data-v="{place}">{place}</td>',
        f'<th scope="row" data-v="{escape(row.name)}"><strong>{escape(row.name)}</strong> {badges}'
        f"<small>{detail}</small><small>{links}</small></th>",
        _number(row.auc, f"<b>{_pct(row.auc)}</b>{_bar(row.auc, low, high)}"),
        _number(low, f"{_pct(low)}–{_pct(high)}"),
        f'<td class="num" data-v="{len(row.passes)}">{passes}</td>',
        *(_number(v, _pct(v)) for v in (row.at_interval, row.untimed, row.stale, row.judgment)),
        _number(row.p50_s, f"{row.p50_s:.2f}"),
        _number(row.cost, f"{row.cost:.3f}"),
        f'<td class="num" data-v="{by_cost}">{by_cost}</td>',
        f'<td data-v="{escape(row.days)}"><small>{where}</small></td>',
    )
    return "<tr>" + "".join(cells) + "</tr>"


def _number(value: float, text: str) -> str:
    return f'<td class="num" data-v="{value:.12g}">{text}</td>'


def _pct(share: float) -> str:
    return f"{100 * share:.1f}"


def _bar(value: float, low: float, high: float) -> str:
    """A thin scale from 0 to 100 with the interval and the value on it; decoration only."""
    return (
        '<svg class="scale" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="6"/>'
        f'<rect class="range" x="{100 * low:.2f}" width="{100 * (high - low):.2f}" height="6"/>'
        f'<rect class="value" x="{100 * value - 0.6:.2f}" width="1.2" height="6"/></svg>'
    )


def _asset(name: str) -> str:
    home = resources.files("streamdecisionbench.report.board") / "assets"
    return (home / name).read_text(encoding="utf-8")
