"""A leaderboard from verified bundles: rows, the page they stand on, entries for a model hub.

A row is one setting on the same scenarios of one suite, several passes of it taken together. A suite is
known by its hash: what it is called anybody may write. The page is one self-contained file, every text in it inert, with a report beside every row. An entry of `.eval_results/*.yaml` names the
benchmark's data set on the hub, a task in it and the value, with date and notes; JSON strings are YAML
strings, so texts from recordings stay inert there, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from streamdecisionbench.analysis.bootstrap import (
    Sampling,
    bootstrap,
    over_scenarios,
    same_states,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.features import hook
from streamdecisionbench.kernel.arrays import JoinedTimelines
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import shares_by_step_over
from streamdecisionbench.kernel.trajectory import trajectory_at
from streamdecisionbench.policies.cost_file import default_costs
from streamdecisionbench.recording.provenance_notes import PROFILE, SERVICE_TIMES
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.html_page import (
    asset,
    one_file,
)
from streamdecisionbench.render.output_folder import (
    fill,
    require_usable,
)
from streamdecisionbench.scoring.error_costs import cost_at
from streamdecisionbench.scoring.error_tables import disagreement
from streamdecisionbench.scoring.score import Score, score
from streamdecisionbench.sharing.bundles import (
    BundleEntry,
    Verified,
    events_digest,
    open_bundle,
)
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from streamdecisionbench.text import (
    plural,
    visible,
)

DEFAULT_DATASET = "streamdecisionbench/sdb-v1"
"""Where the suite in the package lies on a model hub; no other suite's results belong there."""
_COLUMNS = (
    ("setting", "text", "what answered; ▸ its report"),
    ("score", "num", "in-force accuracy integrated over 0.5–8 s, log-weighted, in %"),
    ("95 %", "num", "interval over passes and scenarios"),
    ("passes", "num", "how many, and the range of their scores"),
    ("at 2 s", "num", "in-force accuracy at one state in two seconds"),
    ("untimed", "num", "accuracy if latency did not matter"),
    ("stale", "num", "share of time lost to latency"),
    ("judgment", "num", "share of time lost to judgment"),
    ("p50 s", "num", "median latency in seconds"),
    ("errors cost", "num", "what being wrong costs at 2 s: seconds of an ordinary wrong decision a second"),
    ("# cost", "num", "place by that cost"),
    ("recorded", "text", "day and host as recorded, place and terms as stated"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pass:
    """One verified recording and where its report will lie."""

    bundle: str
    entry: BundleEntry
    recording: Recording
    score: Score


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One setting. Shares are fractions; `lowest` and `highest` are over its passes."""

    name: str
    component: str
    models: tuple[str, ...]
    settings: str
    passes: tuple[Pass, ...]
    auc: float
    lowest: float
    highest: float
    interval: tuple[float, float]
    """95 %, over passes taken together and over scenarios or stretches of them."""
    at_interval: float
    untimed: float
    stale: float
    judgment: float
    p50_s: float
    cost: float
    """What being wrong costs a second at the interval, under the shipped costs."""
    simulated: bool
    virtual: bool
    imported: bool
    days: str
    places: str
    hosts: str
    terms: str


@dataclass(frozen=True, slots=True)
class SuiteRows:
    """All rows of the same scenarios of one suite, best first: no others share their table."""

    suite: Suite
    scenarios: tuple[str, ...]
    rows: tuple[BoardRow, ...]
    resampled: str
    builtin: bool
    """Whether it is the suite in the package, by its hash."""

    @property
    def whole(self) -> bool:
        return len(self.scenarios) == len(self.suite.scenarios)

    @property
    def title(self) -> str:
        name = visible(self.suite.name)
        if not self.builtin:
            name = f"Suite {self.suite.dataset_hash[:12]}, called “{name}”"
        every = len(self.suite.scenarios)
        return (
            name if self.whole else f"{name}: {len(self.scenarios)} of {plural(every, 'scenario')}"
        )

    @property
    def by_cost(self) -> tuple[BoardRow, ...]:
        """Cheapest first."""
        return tuple(sorted(self.rows, key=lambda row: (row.cost, row.name)))

    @property
    def words(self) -> tuple[str, ...]:
        """Where ranking by cost differs from ranking by time, both at the interval.

        Of several rows of one name, the best stands for them.
        """
        found: dict[str, tuple[float, float]] = {}
        for row in self.rows:
            found.setdefault(row.name, (row.at_interval, row.cost))
        return disagreement(found)


def suite_rows(
    passes: Mapping[str, Sequence[Pass]], suites: Mapping[str, Suite]
) -> list[SuiteRows]:
    """Rows by suite and scenarios, whole suites first; passes and suites are given by a suite's hash."""
    builtin = read_suite(builtin_suite_path()).dataset_hash
    made = []
    for key, every in passes.items():
        tables: dict[tuple[str, ...], dict[str, list[Pass]]] = {}
        for one in every:
            settings = tables.setdefault(tuple(sorted(one.recording.episodes)), {})
            settings.setdefault(_setting(one), []).append(one)
        for scenarios, groups in tables.items():
            rows = sorted(map(_row, groups.values()), key=lambda row: (-row.auc, row.name))
            parts = rows[0].passes[0].score.parts
            drawn = (
                "scenarios, then blocks of steps" if over_scenarios(parts) else "blocks of steps"
            )
            made.append(SuiteRows(suites[key], scenarios, tuple(rows), drawn, key == builtin))
    made.sort(
        key=lambda one: (
            not one.builtin,
            one.suite.dataset_hash,
            -len(one.scenarios),
            one.scenarios,
        )
    )
    return made


def _setting(found: Pass) -> str:
    """What makes two recordings of the same scenarios passes of one setting. Models are part of it."""
    config = found.recording.config
    settings = config.get("settings")
    chosen = (
        {k: v for k, v in settings.items() if k != "seed"} if isinstance(settings, dict) else {}
    )
    return json.dumps(
        [
            str(config.get("component", found.entry.component)), chosen,
            config.get("interval_s"), list(found.recording.served_models),
            found.recording.simulated, found.recording.virtual_clock,
            found.recording.name if found.recording.halves else "",
        ],
        sort_keys=True, default=str,
    )  # fmt: skip


def _row(passes: list[Pass]) -> BoardRow:
    first = passes[0]
    scores = [p.score for p in passes]
    aucs = [s.log_auc for s in scores]

    def mean(value: Callable[[Score], float]) -> float:
        return float(np.mean([value(s) for s in scores]))

    same_states({str(k): s.parts for k, s in enumerate(scores)})
    together = np.mean(
        [shares_by_step_over(JoinedTimelines(s.parts), Bounds()) for s in scores], axis=0
    )
    (estimate,) = bootstrap(first.score.parts, together[:, None], Sampling(resamples=2000))
    told = [p.entry.conditions for p in passes]
    config = first.recording.config
    chosen = config.get("settings")
    settings = ", ".join(
        f"{key}={value}"
        for key, value in (chosen.items() if isinstance(chosen, dict) else ())
        if value is not None and (key != "seed" or len(passes) == 1)
    )
    return BoardRow(
        name=first.entry.name
        if len(passes) == 1
        else str(config.get("component", first.entry.name)),
        component=str(config.get("component", "")),
        models=first.recording.served_models,
        settings=settings,
        passes=tuple(passes),
        auc=mean(lambda s: s.log_auc),
        lowest=min(aucs),
        highest=max(aucs),
        interval=(estimate.low, estimate.high),
        at_interval=mean(lambda s: s.in_force),
        untimed=mean(lambda s: s.untimed),
        stale=mean(lambda s: s.overall.integrated.stale),
        judgment=mean(lambda s: s.overall.integrated.judgment),
        p50_s=float(np.mean([s.latency.p50 for s in scores if s.latency is not None])),
        cost=mean(_cost),
        simulated=any(s.simulated for s in scores),
        virtual=any(s.virtual_clock for s in scores),
        imported=any(p.entry.imported for p in passes),
        days=_joined(str(c.get("started_at") or "")[:10] for c in told),
        places=_joined(str(c.get("place") or "") for c in told),
        hosts=_joined(str(c.get("host") or "") for c in told),
        terms=_joined(str(c.get("terms") or "") for c in told),
    )


def _cost(found: Score) -> float:
    path = trajectory_at(JoinedTimelines(found.parts), found.interval)
    return cost_at(path, [part.family for part in found.parts], default_costs()).total


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(text for text in texts if text))


def eval_results(board: SuiteRows, dataset: str) -> dict[str, str]:
    """File name → text, of the whole suite. Simulations and imported tables are nobody's results here."""
    files: dict[str, str] = {}
    for place, row in enumerate(board.rows if board.whole else (), start=1):
        if row.simulated or row.imported:
            continue
        stem = _slug(row.name, 80) or "setting"
        name = f"{stem}.yaml" if f"{stem}.yaml" not in files else f"{stem}-{place}.yaml"
        files[name] = _entry(row, board, dataset)
    return files


def _entry(row: BoardRow, board: SuiteRows, dataset: str) -> str:
    low, high = row.interval
    notes = (
        f"in-force accuracy over log 0.5-8 s, 95 % interval {100 * low:.1f} to {100 * high:.1f},"
        f" {len(row.passes)} pass(es), suite {board.suite.dataset_hash[:12]}"
        f"{', virtual clock' if row.virtual else ''}; {row.passes[0].score.signature}"
    )
    lines = [
        "- dataset:",
        f"    id: {json.dumps(dataset)}",
        '    task_id: "log_auc"',
        f"  value: {100 * row.auc:.4f}",
    ]
    started = str(row.passes[0].entry.conditions.get("started_at") or "")
    if started:
        lines.append(f"  date: {json.dumps(started)}")
    lines.append(f"  notes: {json.dumps(notes)}")
    return "\n".join(lines) + "\n"


def render_board(boards: Sequence[SuiteRows], reports: Mapping[str, str], note: str) -> str:
    """`reports` maps a bundle's short name to the address of its report beside the page."""
    sections = "\n".join(_section(board, reports) for board in boards)
    body = f"""  <h1>How much of the time is the decision in force right?</h1>
  <p class="told">Every row was scored again from its recorded events when this page was made. {escape(note)}</p>
</header>
<main id="board">
{sections}
</main>"""
    return one_file(
        body,
        {},
        title="StreamDecisionBench: leaderboard",
        skip="board",
        styles=[asset("board.css", "sharing")],
        scripts=[asset("board.js", "sharing")],
    )


def _section(board: SuiteRows, reports: Mapping[str, str]) -> str:
    suite = board.suite
    heads = "".join(
        f'<th scope="col" class="{kind}" title="{escape(title)}">'
        f'<button type="button">{escape(name)}<span class="arrow"></span></button></th>'
        for name, kind, title in _COLUMNS
    )
    by_cost = {id(row): k for k, row in enumerate(board.by_cost, start=1)}
    rows = "\n".join(
        _html_row(k, row, reports, by_cost[id(row)]) for k, row in enumerate(board.rows, start=1)
    )
    told = (
        plural(len(suite.scenarios), "scenario")
        if board.whole
        else escape(", ".join(board.scenarios))
    )
    return f"""<section>
<h2>{escape(board.title)}</h2>
<p class="section-lead">{told}, suite {suite.dataset_hash[:12]}.
Intervals: 95 %, resampled {escape(board.resampled)}. {escape(_costs(board))}</p>
<p class="on-narrow">The table goes on to the right.</p>
<div class="scroll" tabindex="0" role="region" aria-label="{escape(board.title)}">
<table class="board">
<thead><tr><th scope="col" class="num"><button type="button">#<span class="arrow"></span></button></th>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>
</section>"""


def _costs(board: SuiteRows) -> str:
    costs = default_costs()
    return " ".join((f"Costs: {costs.name}, {costs.dated}.", *board.words))


def _html_row(place: int, row: BoardRow, reports: Mapping[str, str], by_cost: int) -> str:
    links = " ".join(
        f'<a href="{escape(reports[name])}">▸ {escape(name)}</a>'
        if name in reports
        else escape(name)
        for name in dict.fromkeys(p.bundle for p in row.passes)
    )
    badges = "".join(
        f'<span class="badge {kind}" title="{title}">{label}</span>'
        for holds, kind, label, title in (
            (
                row.simulated,
                "sim",
                "simulation",
                PROFILE,
            ),
            (
                row.virtual,
                "virt",
                "virtual clock",
                SERVICE_TIMES,
            ),
            (
                row.imported,
                "part",
                "imported",
                "read from a table: requests and clock are not known",
            ),
        )
        if holds
    )
    detail = " · ".join(escape(t) for t in (", ".join(row.models), row.settings) if t)
    passes = str(len(row.passes))
    if len(row.passes) > 1:
        passes += f" <small>{_pct(row.lowest)}–{_pct(row.highest)}</small>"
    where = " · ".join(escape(t) for t in (row.days, row.places, row.hosts, row.terms) if t)
    low, high = row.interval
    cells = (
        f'<td class="num" data-v="{place}">{place}</td>',
        f'<th scope="row" class="text" data-v="{escape(row.name)}"><strong>{escape(row.name)}</strong> {badges}'
        f"<small>{detail}</small><small>{links}</small></th>",
        _number(row.auc, f"<b>{_pct(row.auc)}</b>{_bar(row.auc, low, high)}"),
        _number(low, f"{_pct(low)}–{_pct(high)}"),
        f'<td class="num" data-v="{len(row.passes)}">{passes}</td>',
        *(_number(v, _pct(v)) for v in (row.at_interval, row.untimed, row.stale, row.judgment)),
        _number(row.p50_s, f"{row.p50_s:.2f}"),
        _number(row.cost, f"{row.cost:.3f}"),
        f'<td class="num" data-v="{by_cost}">{by_cost}</td>',
        f'<td class="text" data-v="{escape(row.days)}"><small>{where}</small></td>',
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


def write_board(
    paths: Sequence[Path],
    out: Path,
    *,
    dataset: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[SuiteRows]:
    """Verifies every bundle, then writes the page, the reports and the hub's entries.

    `dataset` names the data set on the hub; without it only the suite in the package has one.
    """
    if not paths:
        raise InputError(
            "there is no bundle to show", fix="name bundles made by `sdb share bundle`"
        )
    require_usable(out)
    bundles: dict[str, Verified] = {}
    for path in paths:
        say(f"verifying {path.name}")
        bundles[_short_name(path, bundles)] = open_bundle(path)
    say("scoring")
    passes, again = _passes(bundles, say)
    boards = suite_rows(passes, {b.suite.dataset_hash: b.suite for b in bundles.values()})
    ids = {board.suite.dataset_hash: _dataset(board, dataset, len(passes)) for board in boards}
    shown = [p for own in passes.values() for p in own]
    page = hook("recordings_page")
    reports: dict[str, str] = {}
    files: dict[str, bytes] = {}
    for name in dict.fromkeys(p.bundle for p in shown):
        if page is None:
            break
        say(f"report of {name}")
        reports[name] = f"reports/{name}/index.html"
        scored = [(p.recording, p.score) for p in shown if p.bundle == name]
        source = f"Made from the verified bundle {name}."
        files[reports[name]] = page(bundles[name].suite, scored, [source]).encode()
    note = f"{len(bundles)} bundle(s), each verified."
    if again:
        note += f" {plural(again, 'recording given more than once counts', 'recordings given more than once count')} once."
    files["index.html"] = render_board(boards, reports, note).encode()
    for board in boards:
        key = board.suite.dataset_hash
        if (found := ids[key]) is None:
            say(f"no .eval_results for suite {key[:12]}: name its data set with --dataset")
            continue
        for file, text in eval_results(board, found).items():
            files[f".eval_results/{key[:12]}/{file}"] = text.encode()
    fill(out, files)
    return boards


def _passes(
    bundles: Mapping[str, Verified], say: Callable[[str], None]
) -> tuple[dict[str, list[Pass]], int]:
    """Recordings scored, by their suite's hash, and how many were there more than once."""
    found: dict[str, list[Pass]] = {}
    seen: dict[str, str] = {}
    again = 0
    for name, bundle in bundles.items():
        for entry, recording in zip(bundle.contents.recordings, bundle.recordings, strict=True):
            events = events_digest(recording)
            if events in seen:
                say(f"{name}: {entry.name} counts once, it is {seen[events]}")
                again += 1
                continue
            seen[events] = f"{entry.name} of {name}"
            for one in recording.parts:
                scored = Pass(name, entry, one, score(one, bundle.suite))
                found.setdefault(bundle.suite.dataset_hash, []).append(scored)
    return found, again


def _dataset(board: SuiteRows, dataset: str | None, suites: int) -> str | None:
    """Under which id of a model hub a suite's results belong."""
    if dataset is None:
        return DEFAULT_DATASET if board.builtin else None
    if suites > 1:
        raise InputError(
            f"--dataset names one data set, and these bundles are of {suites} suites",
            fix="make one board per suite",
        )
    if dataset == DEFAULT_DATASET and not board.builtin:
        raise InputError(
            f"{dataset} is the data set of SDB v1, and these bundles are of another suite",
            fix="name the data set of this suite with --dataset",
        )
    return dataset


def _short_name(path: Path, taken: Mapping[str, object]) -> str:
    stem = _slug(path.stem, 60) or "bundle"
    name, k = stem, 2
    while name in taken:
        name, k = f"{stem}-{k}", k + 1
    return name


def _slug(text: str, longest: int) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:longest]
