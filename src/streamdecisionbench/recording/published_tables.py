"""Importing recordings published as tables: one CSV row per response, the decision as key=value pairs.

Such a table holds no questions and no answers outside the composed decision. From the decisions of
one table that serves as reference (and those of the others) an importer can still infer the decision
spec and write a suite and recordings in the usual format, marked `answers: consumed_only`, so
that everything downstream reads them like any other.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from streamdecisionbench.components.contract import Usage
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.rule import OLDER_THAN_ACTIVE
from streamdecisionbench.recording.event_log import (
    AFTER_HORIZON,
    NO_TIME,
    Attempt,
    Event,
    EventLog,
    Release,
    Response,
    file_sha256,
    finite,
)
from streamdecisionbench.recording.reader import assemble, find_problems, require_no_problems
from streamdecisionbench.recording.run_file import (
    COMPLETE,
    RecordedEpisode,
    RecordedManifest,
    RunRecord,
    write_run,
)
from streamdecisionbench.suite.digest import request_hash
from streamdecisionbench.suite.file_io import (
    read_text,
    require_empty,
)
from streamdecisionbench.suite.scenario import (
    INACTIVE,
    SCHEMA_VERSION,
    DecisionSpec,
    Question,
    Scenario,
    Step,
    Suite,
    require_id,
)
from streamdecisionbench.suite.suite_check import OVERALL
from streamdecisionbench.suite.suite_files import make_suite, write_suite

_TIMES = ("release_s", "started_s", "received_s", "completed_s", "recorded_s")
_TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One response of a table; `times` by the names of its columns."""

    t: int
    times: Mapping[str, float]
    usage: Usage | None
    """None: not known."""
    decision: dict[str, str]


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A recording as a table: rows by scenario, in step order."""

    name: str
    rows: Mapping[str, Sequence[PublishedRow]]


def read_table(path: str | Path) -> PublishedTable:
    """Reads one CSV; every complaint names the file, the line and the column."""
    path = Path(path)
    name = require_id(path.stem, str(path), "name of a recording")
    rows: dict[str, list[PublishedRow]] = {}
    text = read_text(path, fix="save it as CSV in UTF-8")
    with io.StringIO(text, newline="") as file:
        reader = csv.DictReader(file)
        try:
            columns = set(reader.fieldnames or ())
            key = "episode" if "episode" in columns else "scenario"
            missing = [c for c in (key, "t", *_TIMES, "decision") if c not in columns]
            if missing:
                raise InputError(f"has no column {', '.join(missing)}", where=path)
            for number, raw in enumerate(reader, start=2):
                where = f"{path}, line {number}"
                _require_whole(raw, where)
                episode = rows.setdefault(require_id(raw[key], where, "id of a scenario"), [])
                row = _row(raw, where)
                if row.t != len(episode):
                    raise InputError(f"t is {row.t}, expected {len(episode)}", where=where)
                episode.append(row)
        except csv.Error as error:
            raise InputError(
                f"is not CSV: {error}", where=f"{path}, line {reader.line_num}", fix="restore it"
            ) from None
    if not rows:
        raise InputError("holds no rows", where=path)
    return PublishedTable(name, rows)


def _require_whole(raw: Mapping[str | None, Any], where: str) -> None:
    if None in raw:
        raise InputError("has more cells than the first line has columns", where=where)
    short = [str(name) for name, cell in raw.items() if cell is None]
    if short:
        raise InputError(f"is cut off: no {', '.join(short)}", where=where, fix="restore the row")


def _row(raw: Mapping[str, str], where: str) -> PublishedRow:
    try:
        times = {name: float(raw[name]) for name in _TIMES}
        tokens = {name: int(raw.get(name) or 0) for name in _TOKENS}
        t = int(raw["t"])
    except (TypeError, ValueError) as error:
        raise InputError(f"a number cannot be read: {error}", where=where) from None
    for name, value in times.items():
        if not finite(value):
            raise InputError(f"{name} {NO_TIME}", where=where)
    for name, count in tokens.items():
        if not 0 <= count < 2**63:
            raise InputError(f"{name} is {count}, which is no count", where=where)
    pairs = [pair.partition("=") for pair in raw["decision"].split("|")]
    if not all(name and sign for name, sign, _ in pairs):
        raise InputError("decision is not key=value pairs joined by |", where=where)
    decision = {name: value for name, _, value in pairs}
    return PublishedRow(t, times, Usage(**tokens), decision)


TICK_SECONDS = 2.0

_FAMILY_OF_PREFIX = {
    "debugging": "live_debugging",
    "assembly": "procedural_coaching",
    "support": "support_call_assist",
    "presenter": "presenter_voice_control",
}


@dataclass(frozen=True, slots=True)
class Correction:
    """Where the reference table is not the reference: step `t` takes the decision of step `like`.

    >>> Correction.parse("assembly_a:32=31")
    Correction(episode_id='assembly_a', t=32, like=31)
    """

    episode_id: str
    t: int
    like: int

    @classmethod
    def parse(cls, text: str) -> Correction:
        try:
            episode_id, _, steps = text.rpartition(":")
            t, _, like = steps.partition("=")
            if not episode_id:
                raise ValueError(text)
            return cls(episode_id, int(t), int(like))
        except ValueError:
            raise InputError(
                f"correction {text!r} is not understood",
                fix="write scenario:step=step, e.g. assembly_a:32=31",
            ) from None


def import_tables(
    reference: str | Path,
    tables: Iterable[str | Path],
    out: str | Path,
    *,
    corrections: Iterable[Correction] = (),
    tick_seconds: float = TICK_SECONDS,
) -> tuple[Suite, list[Path]]:
    """Writes `out/suite` and one recording folder per table; returns the suite and the folders."""
    out = Path(out)
    require_empty(out)
    gold = read_table(reference)
    runs = [read_table(path) for path in tables]
    _require_folders(runs)
    corrections = tuple(corrections)
    _require_steps(gold, corrections)
    suite = _suite(gold, runs, corrections, tick_seconds)
    made = []
    for run in runs:
        config = {"imported_from": f"{run.name}.csv", "tick_seconds": tick_seconds}
        made.append(ImportedRecording.of(run, suite, out / run.name, config))
    write_suite(suite, out / "suite")
    for one in made:
        one.write()
    return suite, [one.folder for one in made]


@dataclass(frozen=True, slots=True)
class ImportedRecording:
    """Events and run record of a table, as a recorder would have written them: checked, not yet on disk."""

    folder: Path
    events: Sequence[Event]
    record: RunRecord

    @classmethod
    def of(
        cls, run: PublishedTable, suite: Suite, folder: Path, config: Mapping[str, Any]
    ) -> ImportedRecording:
        """`config` says where it comes from, and what else is known of it."""
        events, record = _events(run, suite), _run_record(run, suite, config)
        found = find_problems(assemble(folder, record, events), suite)
        require_no_problems(found, Path(str(config["imported_from"])))
        return cls(folder, events, record)

    def write(self) -> None:
        with EventLog(self.folder) as log:
            for event in self.events:
                log.append(event)
        write_run(self.folder, replace(self.record, events_sha256=file_sha256(log.path)))


def _require_folders(runs: Sequence[PublishedTable]) -> None:
    """Every recording gets a folder named after its table, beside `suite`."""
    seen = {"suite"}
    for run in runs:
        if run.name in seen:
            raise InputError(
                "the folder of that name is taken by another table or by the suite",
                where=f"{run.name}.csv",
                fix="give every table a name of its own, and none the name suite.csv",
            )
        seen.add(run.name)


def _require_steps(gold: PublishedTable, corrections: Sequence[Correction]) -> None:
    for fix in corrections:
        steps = len(gold.rows.get(fix.episode_id, ()))
        if not (0 <= fix.t < steps and 0 <= fix.like < steps):
            what = f"has steps 0–{steps - 1}" if steps else "is not in the reference table"
            raise InputError(
                f"correction {fix.episode_id}:{fix.t}={fix.like}: {fix.episode_id} {what}",
                fix=f"scenarios there: {', '.join(gold.rows)}",
            )


def _suite(
    gold: PublishedTable,
    runs: Sequence[PublishedTable],
    corrections: Sequence[Correction],
    tick_seconds: float,
) -> Suite:
    scenarios = []
    for run in runs:
        extra = [e for e in run.rows if e not in gold.rows]
        if extra:
            raise InputError(
                f"holds {extra[0]}, which the reference table {gold.name} does not",
                where=run.name,
                fix="leave it out, or give a reference that covers it",
            )
    for episode_id, rows in gold.rows.items():
        decisions = [row.decision for row in rows]
        for fix in corrections:
            if fix.episode_id == episode_id:
                decisions[fix.t] = decisions[fix.like]
        seen = list(decisions)
        for run in runs:
            theirs = run.rows.get(episode_id)
            if theirs is None or len(theirs) != len(rows):
                raise InputError(
                    f"does not hold the {len(rows)} steps of {episode_id}", where=run.name
                )
            seen += [row.decision for row in theirs]
        scenarios.append(_scenario(episode_id, decisions, seen, tick_seconds, set(gold.rows)))
    return make_suite(scenarios, name=f"imported, references from {gold.name}")


def _scenario(
    episode_id: str,
    decisions: Sequence[dict[str, str]],
    seen: Sequence[dict[str, str]],
    tick_seconds: float,
    scenarios: Collection[str],
) -> Scenario:
    """The decision spec is what the decisions show: keys in all of them, and keys per route."""
    route = next(iter(decisions[0]))
    names = list(dict.fromkeys(q for d in seen for q in d))
    always = tuple(q for q in names if q != route and all(q in d for d in seen))
    branches: dict[str, tuple[str, ...]] = {}
    for decision in seen:
        if route not in decision:
            raise InputError(
                f"a decision has no {route!r:.60}, which routes the first one",
                where=episode_id,
                fix="give every decision its route, first",
            )
        branch = tuple(q for q in decision if q != route and q not in always)
        if branches.setdefault(decision[route], branch) != branch:
            raise InputError(
                f"route {decision[route]!r} is used with different fields", where=episode_id
            )
    if len(branches) == 1:
        branches[_another(*branches)] = ()
    semantics, questions = {}, {}
    for q in names:
        values = sorted(branches if q == route else {d[q] for d in seen if q in d} | {INACTIVE})
        if len(values) == 1:
            values.append(_another(*values))
        labels = {f"K{i:02d}": value for i, value in enumerate(values, start=1)}
        semantics[q] = labels
        questions[q] = Question(
            type="choice",
            instructions="Imported from a table that does not carry the question.",
            criteria={label: f"{value}: as published" for label, value in labels.items()},
        )
    return Scenario(
        schema_version=SCHEMA_VERSION,
        episode_id=episode_id,
        task_family=_family(episode_id, scenarios),
        scenario_id=episode_id,
        title=f"{episode_id} (imported)",
        tick_seconds=tick_seconds,
        questions=questions,
        option_semantics=semantics,
        decision_spec=DecisionSpec(route, always, branches),
        steps=tuple(
            Step(t=t, state={"clock": {"now": t}}, gold={q: d.get(q, INACTIVE) for q in names})
            for t, d in enumerate(decisions)
        ),
    )


def _another(only: str) -> str:
    """A question has at least two options, also where the table shows one."""
    return INACTIVE if only != INACTIVE else f"not {INACTIVE}"


def _family(episode_id: str, scenarios: Collection[str]) -> str:
    """What stands before the last underscore, unless that names something else."""
    prefix = episode_id.rpartition("_")[0] or episode_id
    family = _FAMILY_OF_PREFIX.get(prefix, prefix)
    return f"{family} family" if family in scenarios or family == OVERALL else family


def _events(run: PublishedTable, suite: Suite) -> list[Event]:
    """What a recorder would have written."""
    events: list[Event] = []
    for episode_id, rows in run.rows.items():
        scenario = suite.scenarios[episode_id]
        plan = scenario.planned(scenario.tick_seconds)
        events += [Release(episode_id, row.t, plan[row.t], row.times["release_s"]) for row in rows]
        active = -1
        for row in sorted(rows, key=lambda row: (row.times["recorded_s"], -row.t)):
            late = row.times["recorded_s"] >= scenario.horizon_s
            reason = AFTER_HORIZON if late else None if row.t > active else OLDER_THAN_ACTIVE
            active = row.t if reason is None else active
            events += _answer(scenario, row, reason)
    return events


def _run_record(run: PublishedTable, suite: Suite, config: Mapping[str, Any]) -> RunRecord:
    return RunRecord(
        status=COMPLETE,
        name=run.name,
        config={
            "component": run.name,
            "answers": "consumed_only",
            "scenarios": list(run.rows),
            **config,
        },
        dataset_manifest=RecordedManifest(
            dataset_hash=suite.dataset_hash,
            episodes=[RecordedEpisode(s.episode_id, s.n) for s in suite],
        ),
    )


def _answer(scenario: Scenario, row: PublishedRow, reason: str | None) -> tuple[Attempt, Response]:
    """The attempt and its response, discarded for this reason or accepted."""
    release_s, started_s, received_s, completed_s, recorded_s = (row.times[n] for n in _TIMES)
    request = request_hash(scenario.steps[row.t].state, scenario.wire_questions())
    asked = (scenario.episode_id, row.t, request, 1)
    return Attempt(*asked, started_s, received_s, completed_s, ok=True), Response(
        episode_id=scenario.episode_id,
        t=row.t,
        release_s=release_s,
        request_hash=request,
        ok=True,
        accepted=reason is None,
        discard_reason=reason,
        started_s=started_s,
        attempts=[{"attempt": 1, "ok": True, "started_s": started_s}],
        received_s=received_s,
        pred=row.decision,
        decision=row.decision,
        usage=row.usage,
        completed_s=completed_s,
        actual_recorded_s=recorded_s,
        accepted_s=recorded_s if reason is None else None,
    )
