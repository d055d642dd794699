"""From scored recordings to a folder: page, text, tables, figures and machine-readable scores.

A pure function of its inputs: a second run leaves the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from streamdecisionbench.analysis.bootstrap import sure_scores_to_json
from streamdecisionbench.analysis.table import percent
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import spelled
from streamdecisionbench.recording.prices import read_prices
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.report.figures.figure import FORMATS, Figure, can_draw, render
from streamdecisionbench.report.figures.figure import to_csv as figure_csv
from streamdecisionbench.report.folder import fill, require_usable
from streamdecisionbench.report.material import DRAWS, Entry, Findings, Material, Say, find
from streamdecisionbench.report.page.payload import PairView
from streamdecisionbench.report.render import Table, joined, markdown, to_csv, to_latex, to_markdown
from streamdecisionbench.report.tables import differences, flips_of
from streamdecisionbench.scoring.bounds import DEFAULT_BOUNDS, Bounds
from streamdecisionbench.scoring.json import pairs_to_json
from streamdecisionbench.scoring.pairs import PairScore
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.scenario import Suite

T = TypeVar("T")

_PAGE_PAIRS = 8
"""So many pairs keep the page's table short, besides those that are recommended."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was written: the scored recordings, and what the analyses found."""

    material: Material
    findings: Findings


def write_report(
    loaded: Sequence[tuple[Recording, Suite]],
    out: Path,
    *,
    interval: float = 2.0,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
    pairs: bool = True,
    formats: Sequence[str] = FORMATS,
    prices: Path | None = None,
    say: Say = lambda _: None,
) -> Report:
    """Everything `sdb report` makes, in `out`. `prices` names a price table of one's own."""
    require_usable(out)
    drawn = can_draw()
    if not drawn:
        say("no figures: pip install 'streamdecisionbench[report]' adds them")
    price_list = read_prices(prices)
    say(f"scoring {len(loaded)} recording(s)")
    material = make_material(loaded, interval=interval, bounds=bounds)
    findings = find(
        material, say, pairs=pairs, prices=price_list, remarks=_live(loaded, interval, bounds)
    )
    say("tables")
    tables = make_tables(material, findings)
    say("figures")
    figures = make_figures(material, findings) if drawn else []
    files: dict[str, bytes] = {}
    for table in tables:
        files[f"tables/{table.name}.tex"] = to_latex(table).encode()
        files[f"tables/{table.name}.csv"] = to_csv(table).encode()
        files[f"tables/{table.name}.md"] = f"# {table.title}\n\n{to_markdown(table)}".encode()
    files["tables/all.tex"] = joined(tables).encode()
    for figure in figures:
        say(f"figure {figure.name}")
        for name, content in render(figure, formats).items():
            files[f"figures/{figure.name}.{name}"] = content
        files[f"figures/{figure.name}.csv"] = figure_csv(figure).encode()
    files["scores.json"] = _json(sure_scores_to_json(material.scores))
    if findings.pairs:
        files["compose.json"] = _json(pairs_to_json(findings.pairs))
    files["report.md"] = markdown(material, findings, tables, figures, formats).encode()
    say("page")
    files["index.html"] = _page(material, findings).encode()
    fill(out, files)
    return Report(material, findings)


def make_material(
    loaded: Sequence[tuple[Recording, Suite]],
    *,
    interval: float = 2.0,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
) -> Material:
    """Scores the recordings; a joint recording of a pair gives its two components."""
    if not loaded:
        raise InputError("there is nothing to report", fix="give at least one recording")
    suite = loaded[0][1]
    entries = []
    for recording, own in loaded:
        if own.dataset_hash != suite.dataset_hash:
            raise InputError(
                f"was recorded on suite {own.dataset_hash[:12]}, not on {suite.dataset_hash[:12]}",
                where=recording.path or recording.name,
                fix="make one report per suite",
            )
        for one in recording.halves.values() or (recording,):
            scored = score(one, suite, interval=interval, bounds=bounds)
            entries.append(Entry(one, scored))
    return Material(suite, tuple(entries), interval, Bounds(bounds[0], bounds[1]))


def make_tables(material: Material, findings: Findings) -> list[Table]:
    """All tables the recordings allow, in the order the report shows them."""
    from streamdecisionbench.report import tables as analyses
    from streamdecisionbench.report import tables as calibration
    from streamdecisionbench.report import tables as costs
    from streamdecisionbench.report import tables as pairs
    from streamdecisionbench.report import tables as runs
    from streamdecisionbench.report import tables as scores
    from streamdecisionbench.report import tables as suite
    from streamdecisionbench.report.tables import repacing_table

    tables = [
        scores.main(material, dict(findings.ranges)),
        scores.integrated_decomposition(material),
        scores.decomposition(material),
        analyses.sensitivity(material, findings.sensitivities),
        analyses.pace_table(material, findings.paces),
        scores.scenario(material),
        costs.costs_of_error(material, findings.errors),
        runs.family(material, findings.networks),
        runs.latency(material, findings.networks),
        runs.served_latency(material),
        runs.tokens(material, findings.costs),
        runs.reliability(material),
        analyses.transitions(material, findings.transitions),
        analyses.regime(material, findings.schedules, DRAWS),
    ]
    tables += [
        replace(repacing_table(material, found), name=name)
        for name, found in _numbered("repacing", findings.repacings.values())
    ]
    if findings.calibrations:
        tables.append(calibration.calibration_table(material, findings.calibrations))
    if findings.paired:
        tables.append(analyses.paired(material, findings.paired))
    flips = flips_of(material)
    if flips is not None:
        tables.append(differences(material, flips))
    if findings.pairs:
        tables.append(pairs.composition(material, findings.pairs, findings.pairs_note))
        tables.append(pairs.composition_details(material, findings.pairs))
    if findings.baselines:
        tables.append(analyses.baseline_table(material, findings.baselines))
    return [*tables, suite.benchmark(material.suite), suite.specifications(material.suite)]


def make_figures(material: Material, findings: Findings) -> list[Figure]:
    """The paper's eight figures, as far as the recordings allow them, two of wrong time, calibration."""
    from streamdecisionbench.report.figures import (
        calibration,
        costs,
        errortime,
        latency,
        pace,
        pairs,
        separability,
    )
    from streamdecisionbench.report.figures.repacing import repacing_figure
    from streamdecisionbench.report.figures.trajectory import trajectory

    parts = latency.latency_parts(material, findings.networks)
    window = findings.window
    figures: list[Figure | None] = [
        trajectory(material, window.episode_id, window.start_s, window.end_s, findings.shown)
        if window
        else None,
        errortime.error_time(material),
        costs.wrong_spells(material, findings.errors),
        costs.delays_after_changes(material, findings.errors),
        pace.pace_curves(material),
        latency.latency_map(material, parts),
        latency.latency_decomposition(material, parts),
        separability.separability(material),
        pairs.arbitration(material, findings.pairs),
        pairs.pair_curves(material, findings.pairs),
        calibration.calibration_in_force(material, findings.calibrations),
    ]
    for name, (setting, found) in _numbered("repacing", findings.repacings.items()):
        simulated = any(e.score.simulated for e in material.entries)
        figures.append(replace(repacing_figure(setting, found, simulated), name=name))
    return [figure for figure in figures if figure is not None]


def _numbered(name: str, items: Iterable[T]) -> list[tuple[str, T]]:
    """The first under the name itself, the others numbered.

    >>> _numbered("repacing", ["a", "b"])
    [('repacing', 'a'), ('repacing_2', 'b')]
    """
    return [(name if k == 1 else f"{name}_{k}", item) for k, item in enumerate(items, start=1)]


def view_of(pair: PairScore) -> PairView:
    """A composed pair as the page shows it."""
    return PairView(
        fast=pair.fast,
        slow=pair.slow,
        rule=pair.rule,
        overall=pair.overall,
        by_family=pair.by_family,
        by_scenario=pair.by_scenario,
        facts={
            "slow share (%)": percent(pair.slow_share),
            "corrections": str(pair.counts.corrections),
            "regressions": str(pair.counts.regressions),
        },
        simulated=pair.simulated,
        virtual_clock=pair.virtual_clock,
    )


def _live(
    loaded: Sequence[tuple[Recording, Suite]], interval: float, bounds: tuple[float, float]
) -> list[str]:
    """What joint recordings of a pair were worth as they ran; their halves are scored like others."""
    from streamdecisionbench.scoring.pair_live import live_pair

    found = []
    for recording, suite in loaded:
        if recording.halves:
            live = live_pair(recording, suite, interval=interval, bounds=bounds)
            replayed = live.replayed[live.rule]
            found.append(
                f"{live.name} was recorded live as a pair, {live.fast} and {live.slow}, rule"
                f" {spelled(live.rule)}: in force {percent(live.recorded.in_force)} % as it"
                f" ran, {percent(replayed.in_force)} % in replay at the same pace."
            )
    return found


def _page(material: Material, findings: Findings) -> str:
    from streamdecisionbench.report.material import pair_cost
    from streamdecisionbench.report.page import CostView, PageInputs, render_page

    best = sorted(
        {(p.fast, p.slow): p.log_auc for p in findings.pairs if p.rule == "freshest"}.items(),
        key=lambda item: (-item[1], item[0]),
    )[:_PAGE_PAIRS]
    drawn = {names for names, _ in best}
    drawn |= {
        (c.best.members[0], c.best.members[1]) for c in findings.choices if len(c.best.members) > 1
    }
    views = [view_of(pair) for pair in findings.pairs if (pair.fast, pair.slow) in drawn]
    costs = {
        name: CostView(
            requests=known.tokens.requests,
            input_tokens=known.tokens.input_total,
            cached_tokens=known.tokens.cached_total,
            output_tokens=known.tokens.output_total,
            amount=known.total,
            currency=known.currency,
            as_of=known.as_of,
        )
        for name, known in findings.costs.items()
    }
    notes = [*findings.remarks, *([findings.pairs_note] if findings.pairs_note else [])]
    if len(drawn) < len({(p.fast, p.slow) for p in findings.pairs}):
        notes.append(f"{len(drawn)} pairs are shown; tables/composition.csv has all.")
    return render_page(
        PageInputs(
            suite=material.suite,
            scores=material.scores,
            recordings={e.name: e.recording for e in material.entries},
            ranges=findings.ranges,
            ranges_method=findings.ranges_method,
            costs=costs,
            pairs=views,
            choices=findings.choices,
            error_costs=findings.errors.scores,
            pair_costs={
                (v.fast, v.slow, v.rule): pair_cost(material, v.fast, v.slow, v.rule) for v in views
            },
            error_words=findings.errors.words,
            flips=flips_of(material),
            notes=notes,
        )
    )


def _json(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
