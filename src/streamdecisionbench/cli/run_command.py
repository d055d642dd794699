"""`sdb run` and `sdb sweep`: a component answers a suite in real time and every event is recorded.

The output ends with how the run went, its score and the next command to type.
"""

from __future__ import annotations

import shlex
import shutil
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from streamdecisionbench.cli.record_options import OPTIONS, argument, build_options, takes
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.features import require_hook
from streamdecisionbench.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamdecisionbench.recording.prices import CostEstimate
    from streamdecisionbench.recording.recording_folder import RunEnd
    from streamdecisionbench.recording.run_options import RunOptions
    from streamdecisionbench.scoring.score import Score

_LATE_MS = 20.0
"""Release lag (p99) above which a note is printed; the recorder aims at 2 ms."""

_APART = 0.02
"""A difference between the recorded pace and the mean over paces that needs an explanation."""


def tell(outcome: RunEnd, data: Path | None, *, quiet: bool, jsonl: bool) -> None:
    """For a program one JSON object, for a person a few lines, for neither nothing."""
    if jsonl:
        _as_json(outcome)
    elif outcome.status != "complete":
        typer.echo(
            f"{outcome.folder}: {outcome.reason}; everything recorded so far is kept\n"
            "  fix: continue with the same command and --resume",
            err=True,
        )
    elif not quiet:
        _in_words(outcome, data)


def _as_json(outcome: RunEnd) -> None:
    import msgspec

    facts: dict[str, Any] = {
        "event": "finished",
        "out": str(outcome.folder),
        "status": outcome.status,
        "reason": outcome.reason,
        **outcome.summary,
    }
    found = _score(outcome)
    if found is not None:
        facts["score"] = {
            "log_auc": found.log_auc,
            "in_force_as_it_ran": _as_it_ran(found),
            "notes": list(found.notes),
            "signature": found.signature,
        }
    typer.echo(msgspec.json.encode(facts).decode())


def _in_words(outcome: RunEnd, data: Path | None) -> None:
    summary = outcome.summary
    lag = summary.get("release_lag_ms") or {}
    _print(
        f"{outcome.folder}: complete, {plural(summary.get('responses', 0), 'response')},"
        f" {summary.get('accepted', 0)} accepted, {plural(summary.get('failed_attempts', 0), 'failed attempt')};"
        f" release lag p99 {lag.get('p99', 0):g} ms,"
        f" dispatch wait {summary.get('dispatch_wait_total_s', 0):.2f} s in all"
    )
    suite = f" --data {shlex.quote(str(data))}" if data is not None else ""
    found, folder = _score(outcome), shlex.quote(str(outcome.folder))
    for line in score_lines(found) if found else ():
        _print(line)
    for name, counted in summary.get("outcomes", {}).items():
        told = ", ".join(f"{what} {value:g}" for what, value in counted.items())
        _print(f"{name}: {told or 'nothing counted'}")
    policy = outcome.recording.policy if outcome.recording else None
    several = "policy score POLICY" if policy else "compose"
    typer.echo(f"next: sdb {'score' if found else several} {folder}{suite}")
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
    """The two numbers at the end of a pass, and why they differ."""
    from streamdecisionbench.render.table import percent

    live, paces = _as_it_ran(found), found.bounds.text()
    first = f"score: AUC {percent(found.log_auc)} % ({paces})"
    lines = [f"! {note}" for note in found.notes]
    if found.fixed_pace:
        return [
            *lines,
            f"score: in force {percent(found.in_force)} % at {found.interval:g} s a step",
        ]
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


def _score(outcome: RunEnd) -> Score | None:
    """The score of one component; `compose` and `policy score` rate several together."""
    from streamdecisionbench.scoring.score import score

    recording, suite = outcome.recording, outcome.suite
    if recording is None or suite is None or recording.halves or recording.policy is not None:
        return None
    return score(recording, suite, interval=recording.closed_loop_interval_s or 2.0)


def options_of(component: str | None, given: Mapping[str, Any]) -> RunOptions:
    """The options of a run, once the names of components are known."""
    from streamdecisionbench.components.providers.address_and_key import load

    load()
    if component is None and not given["member"] and given["policy"] is None:
        raise InputError(
            "COMPONENT is missing",
            fix="name provider:model (`sdb providers` lists them), or a live pair with --member",
        )
    return build_options(component, given)


def carry_out(options: RunOptions, given: Mapping[str, Any]) -> None:
    """Records what the options ask for, and prints how it went."""
    import sys
    from contextlib import nullcontext, redirect_stdout

    from streamdecisionbench.recording.progress import choose_progress
    from streamdecisionbench.recording.run_request import launch
    from streamdecisionbench.text import visible

    out, data, pace = options.output.out, options.suite.data, options.pace
    quiet, jsonl, watch = given["quiet"], given["jsonl"], given.get("watch", False)
    if watch and pace.streams:
        raise InputError(
            "--watch shows one recording, played one scenario after another",
            fix="leave it out with --streams; `sdb watch FOLDER` shows the recording afterwards",
        )
    progress = choose_progress(quiet=quiet, jsonl=jsonl)
    shown = out if pace.passes == 1 else out / "pass-1"
    watching = require_hook("watching", "--watch") if watch else None
    with watching(shown, data) if watching else nullcontext(None) as page:
        try:
            # A component that prints must not break up the lines that a program reads.
            with redirect_stdout(sys.stderr) if jsonl else nullcontext():
                outcomes = launch(
                    options, lambda estimates: confirm(estimates, yes=given["yes"]), progress
                )
        except SdbError as error:
            if given["debug"] and error.trace:
                typer.echo(visible(error.trace, lines=True), err=True)
            raise
        for outcome in outcomes:
            tell(outcome, data, quiet=quiet, jsonl=jsonl)
        complete = outcomes[-1].status == "complete"
        swept = len(pace.intervals) > 1 or len(pace.streams) > 1
        if swept and not (quiet or jsonl) and complete:
            typer.echo(f"then: sdb analyze repacing {shlex.quote(str(out))}")
        if page is not None and complete:
            page.stay()
    if not complete:
        raise typer.Exit(130)


COMPONENT = argument("component", "provider:model; `sdb providers` lists them.", optional=True)
_RUN = {name: row for name, row in OPTIONS.items() if name != "intervals"}
_SWEEP = {name: row for name, row in OPTIONS.items() if name not in ("interval", "passes", "watch")}
_SWEEP["streams"] = replace(
    OPTIONS["streams"],
    help="Scenarios at once, evenly staggered: one number or several, e.g. 1,4,16.",
    common=True,
)


@takes([COMPONENT], _RUN)
def run(component: str | None = None, **given: Any) -> None:
    """Record a component over a suite: publish states in real time, write down what happens.

    A live pair is recorded with --member fast=… --member slow=… instead of COMPONENT. `sdb sweep`
    records several paces, `sdb world run` closed loops.
    """
    options = options_of(component, given)
    if len(options.pace.streams) > 1:
        raise InputError(
            "--streams takes one number here", fix="`sdb sweep COMPONENT --streams …` takes several"
        )
    carry_out(options, given)


@takes([COMPONENT], _SWEEP)
def sweep(component: str | None = None, **given: Any) -> None:
    """Record a component at several paces or loads, each in its own folder below OUT.

    `sdb analyze repacing OUT` compares them.
    """
    options = options_of(component, given)
    if not options.pace.intervals and not options.pace.streams:
        raise InputError(
            "a sweep needs several paces or loads",
            fix="add --intervals 0.5,1,2,4 or --streams 1,4,16; `sdb run` records one",
        )
    carry_out(options, given)


def confirm(estimates: Sequence[CostEstimate], *, yes: bool) -> bool:
    import sys

    for line in estimates:
        typer.echo(str(line), err=True)
    if yes:
        return True
    if not sys.stdin.isatty():
        raise InputError("this pass costs money and needs a confirmation", fix="add --yes")
    return typer.confirm("Record?", err=True)


COMMANDS = {
    "run": run,
    "sweep": sweep,
}
