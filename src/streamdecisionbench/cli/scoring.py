"""Behind `sdb score`: load, score, print."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.answers import mistakes as find_mistakes
from streamdecisionbench.scoring.score import score
from streamdecisionbench.scoring.score_json import CSV_COLUMNS, csv_rows, scores_to_json
from streamdecisionbench.suite.find_suite import find_suite
from streamdecisionbench.suite.scenario import Suite

__all__ = ["load", "parts_of", "run"]


def load(
    runs: list[Path], data: Path | None, *, distinct: bool = True
) -> list[tuple[Recording, Suite]]:
    """Recordings with the suites they belong to; each suite is read once. Names are made distinct.

    The same recording twice would count twice where names are keys, so it is refused; `distinct` is
    false where two roles may be played by one.
    """
    if distinct:
        _require_distinct(runs)
    suites: dict[str, Suite] = {}
    loaded = []
    for folder in runs:
        key = recorded_suite_hash(folder)
        if key not in suites:
            suites[key] = find_suite(key, data=data, near=folder)
        loaded.append((read_recording(folder, suites[key]), suites[key]))
    names = [recording.name for recording, _ in loaded]
    if len(set(names)) < len(names):
        loaded = [
            (_renamed(rec, str(folder)) if names.count(rec.name) > 1 else rec, suite)
            for folder, (rec, suite) in zip(runs, loaded, strict=True)
        ]
    return loaded


def parts_of(recording: Recording) -> list[Recording]:
    """The recording itself, or of a live pair the two components' own."""
    halves = recording.halves or {"": recording}
    return [_own_config(half, role) for role, half in halves.items()]


def _require_distinct(runs: list[Path]) -> None:
    seen: set[Path] = set()
    for folder in runs:
        place = folder.resolve()
        if place in seen:
            raise InputError("is given twice", where=folder, fix="name every recording once")
        seen.add(place)


def _renamed(recording: Recording, name: str) -> Recording:
    halves = {role: replace(half, name=f"{name} {role}") for role, half in recording.halves.items()}
    return replace(recording, name=name, halves=halves)


def run(
    runs: list[Path],
    data: Path | None,
    *,
    interval: float,
    bounds: tuple[float, float],
    weighting: str,
    clock: str,
    by: str,
    mistakes: bool,
    curves: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    if by not in ("family", "scenario"):
        raise InputError(f"--by {by} is not known", fix="use family or scenario")
    if as_json and as_csv:
        raise InputError("--json and --csv exclude each other", fix="choose one")
    if curves and not as_json:
        raise InputError("--curves are coefficients for programs", fix="add --json")
    if mistakes and as_csv:
        raise InputError("--mistakes are not part of --csv", fix="use --json, or neither")
    # A live pair is scored component by component here; what they were worth together is `compose`'s.
    opened = load(runs, data, distinct=False)
    loaded = [(part, suite) for recording, suite in opened for part in parts_of(recording)]
    scores = [
        score(recording, suite, interval=interval, bounds=bounds, weighting=weighting, clock=clock)
        for recording, suite in loaded
    ]
    if as_json:
        document = scores_to_json(scores, with_curves=curves)
        if mistakes:
            for entry, (recording, suite) in zip(document["recordings"], loaded, strict=True):
                entry["mistakes"] = [_mistake(m) for m in find_mistakes(recording, suite)]
        json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
        print()
        return
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        writer.writerows(csv_rows(scores))
        return
    from streamdecisionbench.cli.suites import decision_text
    from streamdecisionbench.report.terminal.scores import console, ranking, screen

    out = console()
    if len(scores) == 1 or by == "scenario":
        for one in scores:
            out.print(screen(one, by_scenario=by == "scenario", width=min(out.width, 80)))
    if len(scores) > 1:
        out.print(ranking(scores))
        for line in _cautions(opened):
            out.print(f"! {line}", style="bold yellow")
    if mistakes:
        for recording, suite in loaded:
            for mistake in find_mistakes(recording, suite):
                out.print(f"\n{recording.name}  {mistake.episode_id} t={mistake.t}")
                out.print(f"  expected {decision_text(mistake.expected)}")
                out.print(f"  answered {decision_text(mistake.answered)}")
                for note in mistake.evidence:
                    out.print(f"  evidence {note}")


def _own_config(recording: Recording, role: str) -> Recording:
    """The config of one half of a live pair: what the run record says of that component."""
    own = recording.config.get(role) if role else None
    if not isinstance(own, Mapping):
        return recording
    shared = {k: v for k, v in recording.config.items() if k not in ("fast", "slow")}
    # A server that simulates says so in the names of its models, not in what was asked for.
    simulated = bool(own.get("simulated")) or any(
        model.startswith("simulated:") for model in recording.served_models
    )
    config = {**shared, **own, "simulated": simulated}
    return replace(recording, run={**recording.run, "config": config})


def _cautions(loaded: list[tuple[Recording, Suite]]) -> list[str]:
    """What a reader of one ranking must know: not everything in it need be comparable."""
    found = []
    if len({suite.dataset_hash for _, suite in loaded}) > 1:
        found.append("recorded on different suites: these scores are not interchangeable")
    elif len({frozenset(recording.episodes) for recording, _ in loaded}) > 1:
        found.append(
            "recorded over different scenarios: these scores are means of different things"
        )
    found += [
        f"{recording.name} is a live pair: here its components, one by one; `sdb compose` says what"
        " they are worth together"
        for recording, _ in loaded
        if recording.halves
    ]
    return found


def _mistake(mistake: object) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(mistake)  # type: ignore[call-overload, no-any-return]
