"""What `sdb run` says at the end of a pass: how it went, what it is worth, what to type next."""

from __future__ import annotations

import shlex
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from streamdecisionbench.recording.recorder import Outcome
    from streamdecisionbench.scoring.score import Score

__all__ = ["tell"]

_LATE_MS = 20.0
"""Release lag (p99) above which a pass is worth a remark; 2 ms is what the recorder aims at."""

_APART = 0.02
"""Between the pace it ran at and the mean over paces: a difference that makes people ask why."""


def tell(outcome: Outcome, data: Path | None, *, quiet: bool, jsonl: bool) -> None:
    """For a program one JSON object, for a person a few lines, for neither nothing."""
    if jsonl:
        _as_json(outcome, data)
    elif outcome.status != "complete":
        typer.echo(
            f"{outcome.folder}: {outcome.reason}; everything recorded so far is kept\n"
            "  fix: go on with the same command and --resume",
            err=True,
        )
    elif not quiet:
        _in_words(outcome, data)


def _as_json(outcome: Outcome, data: Path | None) -> None:
    import msgspec

    facts: dict[str, Any] = {
        "event": "finished",
        "out": str(outcome.folder),
        "status": outcome.status,
        "reason": outcome.reason,
        **outcome.summary,
    }
    found = _score(outcome, data) if outcome.status == "complete" else None
    if found is not None:
        facts["score"] = {
            "log_auc": found.log_auc,
            "in_force_as_it_ran": _as_it_ran(found),
            "notes": list(found.notes),
            "signature": found.signature,
        }
    typer.echo(msgspec.json.encode(facts).decode())


def _in_words(outcome: Outcome, data: Path | None) -> None:
    summary = outcome.summary
    lag = summary.get("release_lag_ms") or {}
    _print(
        f"{outcome.folder}: complete, {summary.get('responses', 0)} responses,"
        f" {summary.get('accepted', 0)} accepted, {summary.get('failed_attempts', 0)} failed attempts;"
        f" release lag p99 {lag.get('p99', 0):g} ms,"
        f" dispatch wait {summary.get('dispatch_wait_total_s', 0):.2f} s in all"
    )
    suite = f" --data {shlex.quote(str(data))}" if data is not None else ""
    found = _score(outcome, data)
    if found is None:
        typer.echo(f"next: {_for_several(outcome.folder)}{suite}")
    else:
        for line in score_lines(found):
            _print(line)
        typer.echo(f"next: sdb score {shlex.quote(str(outcome.folder))}{suite}")
    if lag.get("p99", 0) > _LATE_MS:
        typer.echo(
            "note: states were published late. A busy machine delays the clock, and so does a component"
            " that computes in this process; --clock virtual measures the latter without waiting",
            err=True,
        )


def _print(line: str) -> None:
    """Wrapped between words, where a terminal would cut through them."""
    width = shutil.get_terminal_size().columns
    typer.echo(
        "\n".join(
            textwrap.wrap(
                line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
            )
        )
    )


def score_lines(found: Score) -> list[str]:
    """The two numbers a pass ends with, and why they differ where they do."""
    from streamdecisionbench.analysis.numbers import percent

    live, paces = _as_it_ran(found), found.bounds.text()
    first = f"score: AUC {percent(found.log_auc)} % ({paces})"
    lines = [f"! {note}" for note in found.notes]
    if live is None:
        return [*lines, first]
    lines.append(f"{first}; in force as it ran {percent(live)} %")
    if abs(live - found.log_auc) > _APART:
        lines.append(
            f"The second is this pace alone; the AUC is the mean over paces of {paces}, to which"
            " the same latencies are carried over."
        )
    return lines


def _as_it_ran(found: Score) -> float | None:
    return found.overall.physical.in_force if found.overall.physical else None


def _score(outcome: Outcome, data: Path | None) -> Score | None:
    """Of one component; several together are worth what `compose` or `policy score` says."""
    from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
    from streamdecisionbench.scoring.score import score
    from streamdecisionbench.suite.find_suite import find_suite

    folder = outcome.folder
    suite = find_suite(recorded_suite_hash(folder), data=data, near=folder)
    recording = read_recording(folder, suite)
    if recording.halves or recording.policy is not None:
        return None
    return score(recording, suite)


def _for_several(folder: Path) -> str:
    from streamdecisionbench.recording.run_record import read_run

    name = shlex.quote(str(folder))
    return f"sdb policy score POLICY {name}" if read_run(folder).policy else f"sdb compose {name}"
