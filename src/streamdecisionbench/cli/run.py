"""`sdb run`: a component answers a suite as it happens, everything is written down, and at the end
stands how it went, what it is worth and what to type next."""

from __future__ import annotations

import shlex
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from streamdecisionbench.errors import InputError, SdbError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamdecisionbench.recording.folder import RunEnd
    from streamdecisionbench.recording.prices import CostEstimate
    from streamdecisionbench.scoring.score import Score

Number = TypeVar("Number", int, float)

_LATE_MS = 20.0
"""Release lag (p99) above which a pass is worth a remark; 2 ms is what the recorder aims at."""

_APART = 0.02
"""Between the pace it ran at and the mean over paces: a difference that makes people ask why."""

_MOST_SEEDS = 1000
_LONGEST_PROMPT = 100_000
"""Characters of instructions: far beyond any that help, far below what a request may hold."""


def tell(outcome: RunEnd, data: Path | None, *, quiet: bool, jsonl: bool) -> None:
    """For a program one JSON object, for a person a few lines, for neither nothing."""
    if jsonl:
        _as_json(outcome)
    elif outcome.status != "complete":
        typer.echo(
            f"{outcome.folder}: {outcome.reason}; everything recorded so far is kept\n"
            "  fix: go on with the same command and --resume",
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
        f"{outcome.folder}: complete, {summary.get('responses', 0)} responses,"
        f" {summary.get('accepted', 0)} accepted, {summary.get('failed_attempts', 0)} failed attempts;"
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
    """The two numbers a pass ends with, and why they differ where they do."""
    from streamdecisionbench.analysis.table import percent

    live, paces = _as_it_ran(found), found.bounds.text()
    first = f"score: AUC {percent(found.log_auc)} % ({paces})"
    lines = [f"! {note}" for note in found.notes]
    if found.alone:
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
    """Of one component; several together are worth what `compose` or `policy score` says."""
    from streamdecisionbench.scoring.score import score

    recording, suite = outcome.recording, outcome.suite
    if recording is None or suite is None or recording.halves or recording.policy is not None:
        return None
    return score(recording, suite, interval=recording.lived_at_s or 2.0)


def run(
    component: Annotated[
        str | None, typer.Argument(help="provider:model; `sdb providers` lists them.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Fresh folder for the recording.")] = None,
    data: Annotated[Path | None, typer.Option(help="Suite folder (default: SDB v1).")] = None,
    world: Annotated[
        str | None,
        typer.Option(
            help="Sessions that answer back instead of a suite: support, presenter, debugging,"
            " assembly, or gym:ID."
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="World: one session per seed, e.g. 1-8 (default: 1).")
    ] = None,
    wording: Annotated[
        str, typer.Option(help="World: listed phrases or free wording, as in `suite generate`.")
    ] = "listed",
    steps: Annotated[int | None, typer.Option(help="World: steps a session (default: 60).")] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="python:MODULE:FUNCTION", help="gym: the right action for an observation."
        ),
    ] = None,
    frames: Annotated[int, typer.Option(help="gym: steps of the environment in a tick.")] = 1,
    families: Annotated[
        list[str] | None,
        typer.Option(help="Only these families (`support` is enough), comma-separated."),
    ] = None,
    scenarios: Annotated[
        list[str] | None, typer.Option(help="Only these scenarios, comma-separated; repeatable.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", help="Smoke run: N steps of each scenario, labelled as such."),
    ] = None,
    interval: Annotated[
        float | None, typer.Option(help="Seconds per step (default: the suite's tick).")
    ] = None,
    intervals: Annotated[
        str | None,
        typer.Option(help="A sweep: one recording per interval, e.g. 0.5,1,2,4, in OUT/interval-…"),
    ] = None,
    streams: Annotated[
        str | None,
        typer.Option(
            help="Scenarios at once, evenly staggered; several numbers: a sweep, e.g. 1,4,16."
        ),
    ] = None,
    passes: Annotated[int, typer.Option(help="Record N passes into OUT/pass-1 … pass-N.")] = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the recording in OUT.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Give up an unfinished recording in OUT.")
    ] = False,
    effort: Annotated[str | None, typer.Option(help="Reasoning effort.")] = None,
    prompt: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your instructions for text models; recorded."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(help="Text models: questions-first (default) or state-first; recorded."),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Server to call instead.")] = None,
    timeout: Annotated[float, typer.Option(help="Network timeout of an attempt, seconds.")] = 20.0,
    hardware: Annotated[
        str | None, typer.Option(help="What the server runs on, as you state it; recorded.")
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="The served model's revision, as you state it.")
    ] = None,
    weights_sha256: Annotated[
        str | None, typer.Option(help="The served weights' SHA-256, as you state it.")
    ] = None,
    hourly_usd: Annotated[
        float | None, typer.Option(help="What an hour of your own hardware costs, in USD.")
    ] = None,
    warmup: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Unrelated requests first, not scored (default: 3 in process and on own servers).",
        ),
    ] = None,
    max_in_flight: Annotated[
        int, typer.Option(help="Requests at once, per component and stream.")
    ] = 32,
    max_in_flight_in_all: Annotated[
        int | None, typer.Option(help="Requests at once, per component over all streams.")
    ] = None,
    clock: Annotated[
        str,
        typer.Option(
            help="Real; virtual for components in this process; paused: a world waits for answers."
        ),
    ] = "real",
    latency: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Virtual clock: latencies declared, not measured: seconds, lognormal:MEDIAN,SIGMA or"
            " recorded:FOLDER; recorded as such.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Virtual clock: how many workers serve requests.")
    ] = None,
    seed: Annotated[int, typer.Option(help="For components that draw; pass k uses SEED+k-1.")] = 0,
    option: Annotated[
        list[str] | None, typer.Option(help="KEY=VALUE for the provider; repeatable.")
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE sent with every request, never recorded; repeatable."),
    ] = None,
    plain_http: Annotated[
        bool,
        typer.Option("--plain-http", help="Send keys and headers over http to a public host, too."),
    ] = False,
    retry: Annotated[
        str,
        typer.Option(
            help="default, or paper: connection errors and timeouts only, no rate limits."
        ),
    ] = "default",
    max_attempts: Annotated[int, typer.Option(help="Attempts per request, retries included.")] = 5,
    retry_delay: Annotated[
        float,
        typer.Option(help="Seconds before the second retry, twice as long before each later one."),
    ] = 0.5,
    retry_gateway: Annotated[
        bool, typer.Option("--retry-gateway", help="Retry 502, 503 and 504 as well; recorded.")
    ] = False,
    fast: Annotated[str | None, typer.Option(help="Live pair: the fast component.")] = None,
    slow: Annotated[str | None, typer.Option(help="Live pair: the slow component.")] = None,
    rule: Annotated[
        str | None,
        typer.Option(help="Live pair: freshest (default), lag-one or late-override."),
    ] = None,
    fast_effort: Annotated[str | None, typer.Option(help="Live pair.")] = None,
    slow_effort: Annotated[str | None, typer.Option(help="Live pair.")] = None,
    fast_base_url: Annotated[str | None, typer.Option(help="Live pair.")] = None,
    slow_base_url: Annotated[str | None, typer.Option(help="Live pair.")] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Run under this policy; see `sdb policy`.")
    ] = None,
    member: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COMPONENT", help="Policy: who plays a component; repeatable."),
    ] = None,
    member_base_url: Annotated[
        list[str] | None, typer.Option(metavar="NAME=URL", help="Policy; repeatable.")
    ] = None,
    member_effort: Annotated[
        list[str] | None, typer.Option(metavar="NAME=EFFORT", help="Policy; repeatable.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a paid pass.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Progress as JSON lines on standard output.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it on a local page, also after its end.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of a component that raises.")
    ] = False,
) -> None:
    """Record a component over a suite: publish states in real time, write down what happens."""
    import sys
    from contextlib import nullcontext, redirect_stdout

    from streamdecisionbench.cli.watch import watching
    from streamdecisionbench.components.providers.address_and_key import load
    from streamdecisionbench.recording.progress import choose_progress
    from streamdecisionbench.recording.request import (
        RunRequest,
        launch,
        parse_headers,
        parse_pairs,
        under_policy,
    )
    from streamdecisionbench.safe_text import visible

    if out is None:
        raise InputError("a recording needs a folder", fix="add --out FOLDER")
    named = [parse_pairs(x or []) for x in (member, member_effort, member_base_url)]
    if policy is None and any(named):
        raise InputError("--member… is for a policy", fix="add --policy FILE")
    pair = component is None and policy is None
    if pair and (effort or base_url):
        raise InputError(
            "--effort and --base-url are for one component",
            fix="a pair has --fast-effort, --slow-effort, --fast-base-url and --slow-base-url",
        )
    if (
        not pair
        and policy is None
        and any((rule, fast_effort, slow_effort, fast_base_url, slow_base_url))
    ):
        raise InputError(
            "--rule, --fast-… and --slow-… are for a live pair",
            fix="leave them out, or name two components with --fast and --slow",
        )
    load()
    roles = {None: component, "fast": fast, "slow": slow}
    request = RunRequest(
        components={role: name for role, name in roles.items() if name},
        out=out,
        data=data,
        families=_names(families, "--families"),
        scenarios=_names(scenarios, "--scenarios"),
        interval_s=interval,
        intervals=_numbers(intervals, "--intervals", float, "0.5,1,2,4"),
        streams=_numbers(streams, "--streams", int, "1,4,16"),
        passes=passes,
        resume=resume,
        overwrite=overwrite,
        rule=rule,
        efforts={None: effort, "fast": fast_effort, "slow": slow_effort},
        base_urls={None: base_url, "fast": fast_base_url, "slow": slow_base_url},
        timeout_s=timeout,
        max_in_flight=max_in_flight,
        max_in_flight_in_all=max_in_flight_in_all,
        clock=clock,
        latency=latency,
        workers=workers,
        seed=seed,
        extra=parse_pairs(option or []),
        headers=parse_headers(header or []),
        plain_http=plain_http,
        warmup=warmup,
        stated={
            "hardware": hardware,
            "revision": revision,
            "weights_sha256": weights_sha256 and weights_sha256.strip().lower(),
            "hourly_usd": hourly_usd,
        },
        retry_gateway=retry_gateway,
        retry=retry,
        max_attempts=max_attempts,
        retry_delay_s=retry_delay,
        limit=limit,
        prompt=None if prompt is None else read_instructions(prompt),
        order=order,
        world=world,
        seeds=_numbers_between(seeds),
        wording=wording,
        steps=steps,
        reference=reference,
        frames=frames,
    )
    if policy is not None:
        request = under_policy(request, policy, named)
    if watch and (intervals is not None or streams is not None):
        raise InputError(
            "--watch shows one recording, played one scenario after another",
            fix="leave it out with --intervals and --streams; `sdb watch FOLDER` shows one of theirs",
        )
    if watch and world is not None:
        raise InputError(
            "--watch shows a suite's references ahead, and a world has none before it is lived through",
            fix="leave it out; `sdb watch FOLDER` shows it afterwards",
        )
    progress = choose_progress(quiet=quiet, jsonl=jsonl)
    # A component that prints must not break up the lines a program reads.
    shown = out if passes == 1 else out / "pass-1"
    with watching(shown, data) if watch else nullcontext(None) as page:
        try:
            with redirect_stdout(sys.stderr) if jsonl else nullcontext():
                outcomes = launch(request, lambda estimates: confirm(estimates, yes=yes), progress)
        except SdbError as error:
            if debug and error.trace:
                typer.echo(visible(error.trace, lines=True), err=True)
            raise
        for outcome in outcomes:
            tell(outcome, data, quiet=quiet, jsonl=jsonl)
        swept = len(request.intervals) > 1 or len(request.streams) > 1
        if swept and not (quiet or jsonl) and outcomes[-1].status == "complete":
            typer.echo(f"then: sdb analyze repacing {shlex.quote(str(out))}")
        if page is not None and outcomes[-1].status == "complete":
            page.stay()
    if outcomes[-1].status != "complete":
        raise typer.Exit(130)


def read_instructions(path: Path) -> str:
    """The user's own instructions for text models."""
    from streamdecisionbench.suite.disk import read_text

    text = read_text(path).strip()
    if not text or len(text) > _LONGEST_PROMPT or "\0" in text:
        raise InputError(
            "holds no instructions" if not text else "is no text of instructions",
            where=path,
            fix=f"write plain text of at most {_LONGEST_PROMPT} characters",
        )
    return text


def _numbers(
    text: str | None, option: str, kind: Callable[[str], Number], example: str
) -> tuple[Number, ...]:
    """Numbers with commas between them; one that is named twice is not overlooked."""
    if text is None:
        return ()
    _names([text], option)
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError:
        what = "seconds" if kind is float else "whole numbers"
        raise InputError(
            f"{option} {text!r:.60} are no {what}", fix=f"for example {option} {example}"
        ) from None


def _numbers_between(text: str | None) -> tuple[int, ...]:
    """Whole numbers and ranges of them, with commas between.

    >>> _numbers_between("1-3,7")
    (1, 2, 3, 7)
    """
    found: list[int] = []
    for part in _names([text], "--seeds") if text is not None else ():
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal() or len(part) > 40:
            raise InputError(f"--seeds {part!r:.40} is no seed", fix="for example --seeds 1-8")
        if not 0 <= int(last or first) - int(first) < _MOST_SEEDS:
            raise InputError(
                f"--seeds {part} are not 1 to {_MOST_SEEDS} seeds", fix="for example --seeds 1-8"
            )
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


def _names(texts: Sequence[str] | None, option: str) -> tuple[str, ...]:
    """A selection that selects nothing is a slip, not a wish for everything."""
    if texts is None:
        return ()
    names = tuple(
        dict.fromkeys(name.strip() for text in texts for name in text.split(",") if name.strip())
    )
    if not names:
        raise InputError(f"{option} names nothing", fix="name some, or leave it out for all")
    return names


def confirm(estimates: Sequence[CostEstimate], *, yes: bool) -> bool:
    import sys

    for line in estimates:
        typer.echo(str(line), err=True)
    if yes:
        return True
    if not sys.stdin.isatty():
        raise InputError("this pass is paid for and nobody is there to be asked", fix="add --yes")
    return typer.confirm("Record?", err=True)


COMMANDS = {
    "run": run,
}
