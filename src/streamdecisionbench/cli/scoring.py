"""Behind `sdb score`: load, score, print."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.model import Recording
from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
from streamdecisionbench.scoring.answers import mistakes as find_mistakes
from streamdecisionbench.scoring.score import score
from streamdecisionbench.scoring.serialise import CSV_COLUMNS, csv_rows, scores_to_json
from streamdecisionbench.suite.locate import find_suite
from streamdecisionbench.suite.model import Suite

__all__ = ["load", "run"]


def load(runs: list[Path], data: Path | None) -> list[tuple[Recording, Suite]]:
    """Recordings with the suites they belong to; each suite is read once. Names are made distinct."""
    suites: dict[str, Suite] = {}
    loaded = []
    for folder in runs:
        key = recorded_suite_hash(folder)
        if key not in suites:
            suites[key] = find_suite(key, data=data, near=folder)
        loaded.append((read_recording(folder, suites[key]), suites[key]))
    names = [recording.name for recording, _ in loaded]
    if len(set(names)) < len(names):
        from dataclasses import replace

        loaded = [
            (replace(rec, name=str(folder)) if names.count(rec.name) > 1 else rec, suite)
            for folder, (rec, suite) in zip(runs, loaded, strict=True)
        ]
    return loaded


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
    loaded = load(runs, data)
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
    from streamdecisionbench.report.terminal import console, ranking, screen

    out = console()
    if len(scores) == 1 or by == "scenario":
        for one in scores:
            out.print(screen(one, by_scenario=by == "scenario", width=min(out.width, 80)))
    if len(scores) > 1:
        out.print(ranking(scores))
    if mistakes:
        for recording, suite in loaded:
            for mistake in find_mistakes(recording, suite):
                out.print(f"\n{recording.name}  {mistake.episode_id} t={mistake.t}")
                out.print(f"  expected {decision_text(mistake.expected)}")
                out.print(f"  answered {decision_text(mistake.answered)}")
                for note in mistake.evidence:
                    out.print(f"  evidence {note}")


def _mistake(mistake: object) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(mistake)  # type: ignore[call-overload, no-any-return]
