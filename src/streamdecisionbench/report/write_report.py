"""From scored recordings to a folder: page, text, tables, figures and machine-readable scores.

A pure function of its inputs: a second run leaves the same bytes, but for the order of objects in PDF.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from streamdecisionbench._version import __version__
from streamdecisionbench.analysis.bootstrap import sure_scores_to_json
from streamdecisionbench.analysis.choose import METHOD, choice_lines
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.paces import (
    DEFAULT_BOUNDS,
)
from streamdecisionbench.kernel.rule import spelled
from streamdecisionbench.recording.prices import read_prices
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.formats import (
    Number,
    escape_markdown,
    numbers_of,
    numbers_tex,
    to_csv,
    to_latex,
    to_markdown,
)
from streamdecisionbench.render.output_folder import (
    fill,
    require_usable,
)
from streamdecisionbench.render.table import (
    Table,
    percent,
)
from streamdecisionbench.report.figures.figure import FORMATS, Figure, can_draw, render
from streamdecisionbench.report.figures.figure import to_csv as figure_csv
from streamdecisionbench.report.page import (
    PageInputs,
    render_page,
)
from streamdecisionbench.report.report_data import (
    Entry,
    ReportInput,
    ReportResults,
    Say,
    find,
    numbered,
    pair_cost,
)
from streamdecisionbench.report.report_tables import (
    make_tables,
    provenance,
    quoted,
)
from streamdecisionbench.scoring.pair_live import live_pair
from streamdecisionbench.scoring.score import score
from streamdecisionbench.scoring.score_json import pairs_to_json
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import other_suite_error
from streamdecisionbench.text import plural

_PAGE_PAIRS = 8
"""So many pairs keep the page's table short, besides those that are recommended."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was written: the scored recordings, and what the analyses found."""

    material: ReportInput
    findings: ReportResults


def write_report(
    loaded: Sequence[tuple[Recording, Suite]],
    out: Path,
    *,
    interval: float | None = None,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
    pairs: bool = True,
    corrector: str | None = None,
    best_pairs: bool = False,
    window: str | None = None,
    formats: Sequence[str] = FORMATS,
    prices: Path | None = None,
    allowed: Collection[str] = (),
    say: Say = lambda _: None,
) -> Report:
    """Everything `sdb report` makes, in `out`. `prices` names a price table of one's own.

    Drawn are the pairs with one `corrector`, the slowest recording unless named; `best_pairs` asks for
    those that score best instead. `window` is the scenario of the trajectory. `interval` is 2 s unless
    said otherwise, or the pace of the world that was lived through. `allowed` names the code that such a
    world may import (`--allow-import`).
    """
    require_usable(out)
    drawn = can_draw()
    if not drawn:
        say("no figures: pip install 'streamdecisionbench[report]' adds them")
    price_list = read_prices(prices)
    say(f"scoring {len(loaded)} recording(s)")
    material = make_material(loaded, interval=interval, bounds=bounds)
    findings = find(
        material, say, pairs=pairs, corrector=corrector, best_pairs=best_pairs, window=window,
        prices=price_list, remarks=_live(loaded, material.interval, bounds), allowed=allowed,
    )  # fmt: skip
    say("tables")
    tables = make_tables(material, findings)
    say("figures")
    figures = make_figures(material, findings) if drawn else []
    files: dict[str, bytes] = {}
    for table in tables:
        files[f"tables/{table.name}.tex"] = to_latex(table).encode()
        files[f"tables/{table.name}.csv"] = to_csv(table).encode()
        files[f"tables/{table.name}.md"] = f"# {table.title}\n\n{to_markdown(table)}".encode()
    files["tables/all.tex"] = "\n".join(map(to_latex, tables)).encode()
    for figure in figures:
        say(f"figure {figure.name}")
        for name, content in render(figure, formats).items():
            files[f"figures/{figure.name}.{name}"] = content
        files[f"figures/{figure.name}.csv"] = figure_csv(figure).encode()
    files["scores.json"] = _json(sure_scores_to_json(material.scores, list(findings.sure.values())))
    if findings.pairs:
        files["compose.json"] = _json(pairs_to_json(findings.pairs))
    numbers = make_numbers(material, findings, tables)
    files["numbers.json"] = _json(_numbers_json(material, tables, numbers))
    files["numbers.tex"] = numbers_tex(numbers).encode()
    files["report.md"] = _markdown(material, findings, tables, figures, formats).encode()
    say("page")
    files["index.html"] = _page(material, findings).encode()
    fill(out, files)
    return Report(material, findings)


def make_material(
    loaded: Sequence[tuple[Recording, Suite]],
    *,
    interval: float | None = None,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
) -> ReportInput:
    """Scores the recordings; a joint recording of a pair gives its two components, but in a world."""
    if not loaded:
        raise InputError("there is nothing to report", fix="give at least one recording")
    suite, closed_loop_interval_s = loaded[0][1], loaded[0][0].closed_loop_interval_s
    interval = interval if interval is not None else closed_loop_interval_s or 2.0
    entries = []
    for recording, own in loaded:
        if own.dataset_hash != suite.dataset_hash:
            raise other_suite_error(
                own.dataset_hash,
                suite.dataset_hash,
                where=recording.path or recording.name,
                fix="make one report per suite",
            )
        if recording.closed_loop_interval_s != closed_loop_interval_s:
            raise InputError(
                "was recorded at another pace, in a world or on a suite",
                where=recording.path or recording.name,
                fix="make one report for each",
            )
        for one in recording.parts:
            scored = score(one, suite, interval=interval, bounds=bounds)
            entries.append(Entry(one, suite, scored))
    limits = entries[0].score.bounds
    return ReportInput(suite, tuple(entries), interval, limits)


def make_figures(material: ReportInput, findings: ReportResults) -> list[Figure]:
    """The paper's eight drawn figures, as far as the recordings allow them, two of wrong time, calibration."""
    from streamdecisionbench.report.figures import (
        calibration_figures as calibration,
    )
    from streamdecisionbench.report.figures import (
        costs_figures as costs,
    )
    from streamdecisionbench.report.figures import (
        decomposition_figures as decomposition,
    )
    from streamdecisionbench.report.figures import (
        latency_figures as latency,
    )
    from streamdecisionbench.report.figures import (
        pace_figures as pace,
    )
    from streamdecisionbench.report.figures.repacing_figures import repacing_figure
    from streamdecisionbench.report.figures.trajectory_figures import trajectory

    figures: list[Figure | None] = [
        trajectory(material, findings.window, findings.shown) if findings.window else None,
        None if material.fixed_pace else decomposition.error_time(material),
        costs.wrong_spells(material, findings.errors),
        costs.delays_after_changes(material, findings.errors),
    ]
    confident = calibration.calibration_in_force(material, findings.calibrations)
    if material.fixed_pace:
        return [figure for figure in (*figures, confident) if figure is not None]
    parts = latency.latency_parts(material, findings.networks)
    figures += [
        pace.pace_curves(material),
        latency.latency_map(material, parts),
        latency.latency_decomposition(material, parts, findings.networks),
        decomposition.separability(material),
        pace.arbitration(material, findings.pairs, findings.corrector),
        pace.pair_curves(material, findings.pairs, findings.corrector),
        confident,
    ]
    for name, (setting, found) in numbered("repacing", findings.repacings.items()):
        simulated = any(e.score.simulated for e in material.entries)
        figures.append(replace(repacing_figure(setting, found, simulated), name=name))
    return [figure for figure in figures if figure is not None]


def make_numbers(
    material: ReportInput, findings: ReportResults, tables: Sequence[Table]
) -> list[Number]:
    """Every number of the tables and of what the report's sentences quote beside them, by unique names."""
    names = {e.label: (e.name,) for e in material.entries} | {
        e.name: (e.name,) for e in material.entries
    }
    found: list[Number] = []
    for table in (*tables, *quoted(material, findings)):
        command, formula = provenance(table.name, [e.name for e in material.entries], material)
        found += numbers_of(table, names, command, formula)
    times: dict[str, int] = {}
    unique = []
    for one in found:
        times[one.name] = n = times.get(one.name, 0) + 1
        unique.append(one if n == 1 else replace(one, name=f"{one.name}.{n}"))
    return unique


def _numbers_json(
    material: ReportInput, tables: Sequence[Table], numbers: Sequence[Number]
) -> dict[str, Any]:
    """Schema sdb-numbers/1. `stated` are texts that define: no number in them was measured."""
    stated = {
        t.name: [t.title, *(c.heading for c in t.columns), *t.sections.values(), *t.notes]
        for t in tables
    }
    return {
        "schema": "sdb-numbers/1",
        "sdb": __version__,
        "suite": {"name": material.suite.name, "dataset_hash": material.suite.dataset_hash},
        "recordings": [{"name": e.name, "signature": e.score.signature} for e in material.entries],
        "rounding": "half up on the decimal value, to the digits of each number",
        "numbers": [asdict(one) for one in numbers],
        "stated": stated,
    }


def _live(
    loaded: Sequence[tuple[Recording, Suite]], interval: float, bounds: tuple[float, float]
) -> list[str]:
    """What joint recordings of a pair were worth as they ran; their halves are scored like others."""
    found = []
    for recording, suite in loaded:
        if recording.halves and not recording.policy_applied:
            live = live_pair(recording, suite, interval=interval, bounds=bounds)
            replayed = live.replayed[live.rule]
            found.append(
                f"{live.name} was recorded live as a pair, {live.fast} and {live.slow}, rule"
                f" {spelled(live.rule)}: in force {percent(live.recorded.in_force)} % as it"
                f" ran, {percent(replayed.in_force)} % in replay at the same pace."
            )
    return found


def _page(material: ReportInput, findings: ReportResults) -> str:
    fresh = [p for p in findings.pairs if p.rule == "freshest"]
    if findings.corrector:
        fresh.sort(key=lambda p: p.slow != findings.corrector)
    else:
        fresh.sort(key=lambda p: (-p.log_auc, p.fast, p.slow))
    drawn = {(p.fast, p.slow) for p in fresh[:_PAGE_PAIRS]}
    drawn |= {
        (c.best.members[0], c.best.members[1]) for c in findings.choices if len(c.best.members) > 1
    }
    pairs = [pair for pair in findings.pairs if (pair.fast, pair.slow) in drawn]
    notes = [*findings.remarks, *([findings.pairs_note] if findings.pairs_note else [])]
    if len(drawn) < len({(p.fast, p.slow) for p in findings.pairs}):
        notes.append(f"{len(drawn)} pairs are shown; tables/composition.csv has all.")
    costs = {(p.fast, p.slow, p.rule): pair_cost(material, p.fast, p.slow, p.rule) for p in pairs}
    return render_page(PageInputs(material, findings, pairs, costs, notes))


def _json(document: dict[str, Any]) -> bytes:
    """What is not a number is null: JSON has no NaN."""
    told = json.loads(json.dumps(document), parse_constant=lambda _: None)
    return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()


# `report.md`: the whole report as text that reads well in any viewer.


def _markdown(
    material: ReportInput,
    findings: ReportResults,
    tables: Sequence[Table],
    figures: Sequence[Figure],
    formats: Sequence[str],
) -> str:
    """Figures first, then tables, then how everything was made."""
    picture = next((name for name in ("svg", "png") if name in formats), None)
    lines = [
        f"# In-force accuracy: {escape_markdown(material.suite.name)}",
        "",
        f"{len(material.entries)} recording(s), "
        + (
            ""
            if material.fixed_pace
            else f"integrated over {material.bounds.text()}, fixed-interval figures "
        )
        + f"at {material.interval:g} s. `index.html` beside this file is the same, interactive.",
        "",
        *(f"> **{escape_markdown(note)}**" for note in material.notes()),
        "",
        *_chosen(findings),
        "## Figures",
        "",
    ]
    for figure in figures:
        lines += [f"### {escape_markdown(figure.title)}", ""]
        if picture:
            lines += [f"![{escape_markdown(figure.alt)}](figures/{figure.name}.{picture})", ""]
        else:
            lines += [escape_markdown(figure.alt), ""]
        lines += [f"{escape_markdown(figure.caption)} [Data](figures/{figure.name}.csv)", ""]
    lines += ["## Tables", ""]
    for table in tables:
        lines += [f"### {escape_markdown(table.title)}", "", to_markdown(table)]
        lines += [f"[CSV](tables/{table.name}.csv) · [LaTeX](tables/{table.name}.tex)", ""]
    lines += ["## How it was made", ""]
    lines += [f"- {remark}" for remark in _method(material, findings)]
    lines += ["", "Signatures:", ""]
    lines += [f"- {escape_markdown(e.label)}: `{e.score.signature}`" for e in material.entries]
    return "\n".join(lines) + "\n"


def _chosen(findings: ReportResults) -> list[str]:
    """The recommendation at the report's interval, and at which others it is another one."""
    if findings.choice is None:
        return []
    lines = ["## What to choose", ""]
    lines += [f"{escape_markdown(line)}\n" for line in choice_lines(findings.choice)]
    rows = [
        f"| {low:g} | {high:g} | {escape_markdown(name)} |"
        for low, high, name in findings.recommended
    ]
    if len(rows) > 1:
        lines += ["| from (s) | to (s) | recommended |", "|---:|---:|---|", *rows, ""]
    return [*lines, METHOD, ""]


def _method(material: ReportInput, findings: ReportResults) -> list[str]:
    suite = material.suite
    found = [
        f"Suite {escape_markdown(suite.name)}, digest `{suite.dataset_hash[:12]}`, {plural(len(suite.scenarios), 'scenario')}.",
        "Step-anchored replay: every response at its step's release plus its recorded latency; accuracy"
        " and all areas are exact, without quadrature.",
        f"sdb {__version__}.",
    ]
    if findings.ranges_method:
        found.append(escape_markdown(findings.ranges_method) + ".")
    found += [escape_markdown(remark) for remark in findings.remarks]
    return found
