"""What `sdb gate` is given, opened: recordings, decision logs or saved scores, two of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.analysis.flips import flipped_states
from streamdecisionbench.analysis.gate import (
    Comparison,
    Limits,
    gate_by_scenario,
    gate_estimates,
    gate_timelines,
    resampled_estimate,
)
from streamdecisionbench.cli.loading import open_runs, require_one_suite
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.scoring.json import SCHEMA
from streamdecisionbench.scoring.pooled import in_force_of
from streamdecisionbench.suite.disk import read_json


def compare(
    new: Path,
    baseline: Path,
    data: Path | None,
    *,
    interval: float | None,
    limits: Limits,
    sampling: Sampling,
) -> Comparison:
    """By what the two are: both must be of one kind."""
    kinds = {path: _kind(path) for path in (new, baseline)}
    if len(set(kinds.values())) > 1:
        raise InputError(
            f"is {kinds[new]}, but {baseline} is {kinds[baseline]}",
            where=new,
            fix="compare two recordings, two decision logs or two saved scores",
        )
    if kinds[new] == "a recording":
        return _recordings(new, baseline, data, interval, limits, sampling)
    if kinds[new] == "a saved score":
        return _scores(new, baseline, interval, limits)
    return _logs(new, baseline, interval, limits, sampling)


def _kind(path: Path) -> str:
    if not path.exists():
        raise InputError(
            "does not exist", where=path, fix="name a recording, a decision log or a saved score"
        )
    if path.is_dir() and (path / RUN_FILE).exists():
        return "a recording"
    if path.is_file() and path.suffix == ".json":
        return "a saved score"
    return "a decision log"


def _recordings(
    new: Path,
    baseline: Path,
    data: Path | None,
    interval: float | None,
    limits: Limits,
    sampling: Sampling,
) -> Comparison:
    subjects = [open_runs([path], data) for path in (new, baseline)]
    for path, found in zip((new, baseline), subjects, strict=True):
        if len(found) != 1:
            raise InputError(
                "is a live pair, which holds two components",
                where=path,
                fix="gate single components",
            )
    now, before = subjects[0][0], subjects[1][0]
    require_one_suite([now, before])
    gate = gate_timelines(
        now.parts,
        before.parts,
        limits=limits,
        interval=interval,
        sampling=sampling,
        models={
            "new": now.recording.served_models, "baseline": before.recording.served_models,
        },
    )  # fmt: skip
    names = (now.name, before.name)
    if names[0] == names[1]:
        names = (str(new), str(baseline))
    headings = {role: s.heading() for role, s in (("new", now), ("baseline", before))}
    notes = dict.fromkeys(note for heading in headings.values() for note in heading.notes)
    flips = flipped_states(before.recording, now.recording, now.suite, (names[1], names[0]))
    signatures = {role: heading.signature for role, heading in headings.items()}
    return Comparison(gate, *names, signatures, tuple(notes), flips)


def _scores(new: Path, baseline: Path, interval: float | None, limits: Limits) -> Comparison:
    now, before = _saved(new, interval), _saved(baseline, interval)
    suites = [_suite_of(entry) for entry in (now, before)]
    if suites[0] != suites[1]:
        raise InputError(
            f"was scored on suite {suites[0]}, the baseline on {suites[1]}",
            where=new,
            fix="compare scores of one suite",
        )
    if interval is None:
        keys = ("bounds", "weighting")
        if any(now[key] != before[key] for key in keys):
            raise InputError(
                "the two scores are integrated differently", where=new, fix="score both alike"
            )
        measure = f"in force over {now['weighting']} {now['bounds'][0]:g}–{now['bounds'][1]:g} s"
    else:
        measure = f"in force at {interval:g} s"
    figure = "log_auc" if interval is None else "in_force"
    values = [
        {name: float(level[figure]) for name, level in entry["by_scenario"].items()}
        for entry in (now, before)
    ]
    gate = gate_by_scenario(
        values[0],
        values[1],
        {name: str(level["family"]) for name, level in now["by_scenario"].items()},
        limits=limits,
        measure=measure,
        models={
            "new": now.get("served_models") or (), "baseline": before.get("served_models") or (),
        },
    )  # fmt: skip
    notes = dict.fromkeys([*now.get("notes", ()), *before.get("notes", ())])
    signatures = {"new": now["signature"], "baseline": before["signature"]}
    names = (now["name"], before["name"]) if now["name"] != before["name"] else (new, baseline)
    return Comparison(gate, str(names[0]), str(names[1]), signatures, tuple(notes))


def _logs(
    new: Path, baseline: Path, interval: float | None, limits: Limits, sampling: Sampling
) -> Comparison:
    """Streams are resampled by Poisson weights hashed from their ids, so those in both are paired."""
    from streamdecisionbench.logs.score import LogScore, score_log

    def scored(path: Path) -> LogScore:
        return score_log(path, interval=interval, seed=sampling.seed, resamples=1000)

    scores = [scored(path) for path in (new, baseline)]
    values, replicates = [], []
    for path, found in zip((new, baseline), scores, strict=True):
        value, drawn = found.groups[0].at_pace.in_force, found.groups[0].at_pace.replicates
        if value is None or drawn is None or found.groups[0].streams < 2:
            raise InputError(
                "holds too little to say how sure its score is",
                where=path,
                fix="gate logs of at least two streams with known references",
            )
        values.append(value)
        replicates.append(in_force_of(drawn))
    gate = gate_estimates(
        resampled_estimate(values[0], replicates[0]),
        resampled_estimate(values[1], replicates[1]),
        resampled_estimate(values[1] - values[0], replicates[1] - replicates[0]),
        limits=limits,
        measure="in force at the recorded pace"
        if interval is None
        else f"in force at {interval:g} s",
        paired_by="stream",
        drawn="streams",
    )
    notes = dict.fromkeys(note for found in scores for note in found.notes)
    signatures = {"new": scores[0].signature, "baseline": scores[1].signature}
    return Comparison(gate, str(new), str(baseline), signatures, tuple(notes))


def _saved(path: Path, interval: float | None) -> dict[str, Any]:
    document = read_json(path)
    entries = document.get("recordings") if isinstance(document, dict) else None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or not entries:
        raise InputError(f"is no saved score ({SCHEMA})", where=path, fix="save `sdb score --json`")
    if len(entries) != 1:
        raise InputError(
            f"holds {len(entries)} scores", where=path, fix="save one recording's score per file"
        )
    entry = entries[0]
    try:
        complete = all(
            {"family", "log_auc", "in_force"} <= set(level)
            for level in entry["by_scenario"].values()
        )
        complete = complete and {"name", "signature", "interval", "bounds", "weighting"} <= set(
            entry
        )
    except (KeyError, TypeError, AttributeError):
        complete = False
    if not complete:
        raise InputError(
            "misses scores by scenario", where=path, fix="save `sdb score --json` anew"
        )
    if interval is not None and entry["interval"] != interval:
        raise InputError(
            f"was scored at {entry['interval']:g} s, not at {interval:g} s",
            where=path,
            fix=f"`sdb score --interval {interval:g} --json`, or gate the recordings",
        )
    return dict(entry)


def _suite_of(entry: Mapping[str, Any]) -> str:
    parts = dict(p.split(":", 1) for p in str(entry["signature"]).split() if ":" in p)
    return parts.get("suite", "unknown")
