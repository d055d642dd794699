"""Behind `sdb analyze`: load, analyse, print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from streamdecisionbench.analysis.result_table import Table
from streamdecisionbench.cli.printing import (
    Heading,
    print_csv,
    print_json,
    print_tables,
    require_one_form,
)
from streamdecisionbench.cli.scoring import load, parts_of
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.bounds import Bounds, check_interval
from streamdecisionbench.scoring.score import Score, score
from streamdecisionbench.scoring.timeline import Timeline, timelines
from streamdecisionbench.suite.scenario import Suite

__all__ = ["Form", "Subject", "open_runs", "require_one_suite"]


@dataclass(frozen=True, slots=True)
class Form:
    """How the result is wanted."""

    as_json: bool = False
    as_csv: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """A recording with its suite. A live pair's recording is two subjects, one per component."""

    recording: Recording
    suite: Suite

    @property
    def name(self) -> str:
        return self.recording.name

    @property
    def parts(self) -> list[Timeline]:
        return timelines(self.recording, self.suite)

    def score(self, **options: Any) -> Score:
        return score(self.recording, self.suite, **options)

    def heading(self, **options: Any) -> Heading:
        scored = self.score(**options)
        return Heading(self.name, scored.signature, scored.notes)


def open_runs(runs: list[Path], data: Path | None) -> list[Subject]:
    return [
        Subject(part, suite)
        for recording, suite in load(runs, data)
        for part in parts_of(recording)
    ]


def require_one_suite(subjects: Sequence[Subject]) -> None:
    """Step by step comparisons mean something only where the steps are the same states."""
    first = subjects[0].suite
    for subject in subjects:
        if subject.suite.dataset_hash != first.dataset_hash:
            raise InputError(
                f"was recorded on suite {subject.suite.dataset_hash[:12]},"
                f" not on {first.dataset_hash[:12]}",
                where=subject.name,
                fix="compare recordings of one suite",
            )


def network(runs: list[Path], data: Path | None, form: Form, **options: Any) -> None:
    from streamdecisionbench.analysis.network import network_estimate, network_tables

    subjects = open_runs(runs, data)
    found = {s.name: network_estimate(s.recording, s.suite, **options) for s in subjects}
    _show("network", found, network_tables(found), subjects, form, options)


def transitions(runs: list[Path], data: Path | None, form: Form) -> None:
    from streamdecisionbench.analysis.transitions import transition_errors, transition_tables

    subjects = open_runs(runs, data)
    found = {s.name: transition_errors(s.parts) for s in subjects}
    _show("transitions", found, transition_tables(found), subjects, form)


def paired(runs: list[Path], data: Path | None, form: Form) -> None:
    from streamdecisionbench.analysis.state_by_state import paired_counts, paired_table

    subjects = open_runs(runs, data)
    if len(subjects) < 2:
        raise InputError("paired counts need two recordings", fix="give two or more")
    require_one_suite(subjects)
    found = [
        paired_counts(a.parts, b.parts, (a.name, b.name))
        for k, a in enumerate(subjects)
        for b in subjects[k + 1 :]
    ]
    _show("paired", found, [paired_table(p) for p in found], subjects, form)


def pace(runs: list[Path], data: Path | None, form: Form, *, at: list[float] | None) -> None:
    from streamdecisionbench.analysis.pace import SCALES, pace_table
    from streamdecisionbench.analysis.pace import pace as analyse

    subjects = open_runs(runs, data)
    found = {}
    for s in subjects:
        parts = s.parts
        for x in at or ():
            check_interval(x)
        scales = (
            SCALES if not at else [(f"×{parts[0].tick / x:.3g}", parts[0].tick / x) for x in at]
        )
        found[s.name] = analyse(parts, scales=scales)
    _show("pace", found, [pace_table(found)], subjects, form)


def sensitivity(runs: list[Path], data: Path | None, form: Form, *, interval: float) -> None:
    from streamdecisionbench.analysis.pace import sensitivity as analyse
    from streamdecisionbench.analysis.pace import sensitivity_table

    subjects = open_runs(runs, data)
    found = {s.name: analyse(s.parts, interval=interval) for s in subjects}
    options = {"interval": interval}
    _show("sensitivity", found, [sensitivity_table(found)], subjects, form, options)


def schedules(
    runs: list[Path], data: Path | None, form: Form, *, interval: float, draws: int, seed: int
) -> None:
    from streamdecisionbench.analysis.schedules import project, schedules_table

    subjects = open_runs(runs, data)
    found = {s.name: project(s.parts, interval=interval, draws=draws, seed=seed) for s in subjects}
    options = {"interval": interval, "draws": draws, "seed": seed}
    _show("schedules", found, [schedules_table(found, draws)], subjects, form, options)


def separability(
    runs: list[Path],
    data: Path | None,
    form: Form,
    *,
    interval: float,
    bounds: tuple[float, float],
    weighting: str,
) -> None:
    from streamdecisionbench.analysis.separability import separability as analyse
    from streamdecisionbench.analysis.separability import separability_table

    subjects = open_runs(runs, data)
    limits = Bounds(*bounds, weighting)
    found = {s.name: analyse(s.parts, interval=interval, bounds=limits) for s in subjects}
    tables = [separability_table(name, result) for name, result in found.items()]
    options = {"interval": interval, "bounds": bounds, "weighting": weighting}
    _show("separability", found, tables, subjects, form, options)


def baselines(data: Path | None, form: Form) -> None:
    from streamdecisionbench.analysis.baselines import baselines as analyse
    from streamdecisionbench.analysis.baselines import baselines_table
    from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

    suite = read_suite(data or builtin_suite_path())
    found = analyse(suite)
    options = {"suite": suite.name, "dataset_hash": suite.dataset_hash}
    _show("baselines", found, [baselines_table(found, suite.name)], [], form, options)


def cost(runs: list[Path], data: Path | None, form: Form, *, prices: Path | None) -> None:
    from streamdecisionbench.analysis.token_cost import cost as analyse
    from streamdecisionbench.analysis.token_cost import cost_tables
    from streamdecisionbench.recording.prices import read_prices

    table = read_prices(prices)
    subjects = open_runs(runs, data)
    found = {s.name: analyse(s.recording, table) for s in subjects}
    _show("cost", found, cost_tables(found), subjects, form)


def repeats(runs: list[Path], data: Path | None, form: Form, **options: Any) -> None:
    from streamdecisionbench.analysis.repeats import repeats as analyse
    from streamdecisionbench.analysis.repeats import repeats_table

    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    found = analyse([s.score(**options) for s in subjects])
    notes = _other_settings(subjects)
    _show("repeats", found, [repeats_table(found)], subjects, form, options, notes)


def intervals(
    runs: list[Path],
    data: Path | None,
    form: Form,
    *,
    interval: float,
    bounds: tuple[float, float],
    weighting: str,
    block: int,
    resamples: int,
    seed: int,
    level: float,
) -> None:
    from streamdecisionbench.analysis.bootstrap import Sampling, intervals_table
    from streamdecisionbench.analysis.bootstrap import intervals as analyse

    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    found = analyse(
        {s.name: s.parts for s in subjects},
        interval=interval,
        bounds=Bounds(*bounds, weighting),
        sampling=Sampling(block, resamples, seed, level),
    )
    options = {"interval": interval, "bounds": bounds, "weighting": weighting}
    _show("intervals", found, [intervals_table(found)], subjects, form, options)


def window(runs: list[Path], data: Path | None, form: Form, **options: Any) -> None:
    from streamdecisionbench.analysis.window import choose_window, window_table

    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    found = choose_window({s.name: s.parts for s in subjects}, **options)
    _show("window", found, [window_table(found)], subjects, form, options)


def _show(
    analysis: str,
    result: Any,
    tables: Sequence[Table],
    subjects: Sequence[Subject],
    form: Form,
    options: Mapping[str, Any] | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    require_one_form(form.as_json, form.as_csv)
    if form.as_csv:
        print_csv(tables)
        return
    scoring = {k: v for k, v in (options or {}).items() if k in ("interval", "bounds", "weighting")}
    headings = [s.heading(**scoring) for s in subjects]
    if notes:
        headings = [
            replace(h, notes=(*h.notes, notes[h.name])) if h.name in notes else h for h in headings
        ]
    if form.as_json:
        print_json(analysis, result, headings, options or {})
    else:
        print_tables(tables, headings)


def _other_settings(subjects: Sequence[Subject]) -> dict[str, str]:
    """Passes repeat one setting; a note for each that does not. Imported ones do not say theirs."""
    asked = {
        s.name: f"{s.recording.config['provider']}:{s.recording.config.get('model')}"
        for s in subjects
        if s.recording.config.get("provider")
    }
    first = next(iter(asked.values()), None)
    return {
        name: f"not a pass of {first} but of {setting}: the range is not one setting's"
        for name, setting in asked.items()
        if setting != first
    }
