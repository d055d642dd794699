"""`sdb demo`: from a server to a report in two minutes, without a key and without a network.

A real server process, real recordings over loopback HTTP, a real report: only the answers and
latencies of the served components are simulated, from published figures. Beside them answers
`sparrow-decider`, a real, trained decision model of 3 MB that needs neither key nor network and is
served on this machine by its own package. It is not ours and not a dependency: where it is missing,
everything goes on without.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from streamdecisionbench.cli.loading import load
from streamdecisionbench.components.serving.child_process import ending_with_us
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.text import plural

MARKER = ".sdb-demo"
_OURS = ("recordings", "report")

COMPONENTS = (
    ("jev", "systemone:jev", True),
    ("terra-none", "openai:terra-none", True),
    ("astra-low", "openai:astra-low", True),
    ("lexical-overlap", "baseline:lexical-overlap", False),
)
"""Folder, component, and whether it is served by `sdb serve`."""

REAL = "sparrow"
"""Folder of the real model: recorded one request at a time, since it has one processor to itself."""

_PATIENCE_S = 300.0
"""How long the real model may take after the others are done."""

_START_S = 60.0
_INSTALL = "pip install sparrow-decider"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""For the real model's arithmetic: it must not take the processors the clock runs on."""
_KEYS = ("_API_KEY", "_BASE_URL", "_PROXY", "_proxy")


@dataclass(slots=True)
class RecordingProcess:
    """One recording process and the last thing it said."""

    name: str
    process: subprocess.Popen[str]
    errors: Path
    facts: dict[str, Any] = field(default_factory=dict)
    done: bool = False
    optional: bool = False

    @property
    def failed(self) -> bool:
        return self.process.poll() not in (None, 0)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for recordings and report.")] = Path("demo"),
    interval: Annotated[
        float, typer.Option(help="Seconds per tick while recording; any pace can be scored.")
    ] = 0.25,
    data: Annotated[Path | None, typer.Option(help="Suite folder (default: SDB v1).")] = None,
    formats: Annotated[str, typer.Option(help="Figure formats: svg, png, pdf.")] = "svg,png",
) -> None:
    """Record simulated components, a baseline and a small real model in real time; write the report."""
    from streamdecisionbench.report.figures.figure import parse_formats
    from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

    chosen = parse_formats(formats)
    if not 0 < interval < float("inf"):
        raise InputError(f"--interval is {interval:g}", fix="give seconds above 0")
    suite = read_suite(data or builtin_suite_path())
    scenarios = [group[0].episode_id for group in suite.families().values()]
    prepare(out)
    began = time.monotonic()
    _say(f"1/3  serving simulated components ({suite.name}, {plural(len(scenarios), 'scenario')})")
    with _server(out, data) as address, _real_model(out) as real:
        seconds = sum(suite.scenarios[s].n for s in scenarios) * interval
        _say(f"     {address}")
        _say(
            f"2/3  recording {plural(len(COMPONENTS) + bool(real), 'component')} at once, in real time: {seconds:.0f} s and the last answers"
        )
        folders = _record(out, address, real, scenarios, interval, data)
    _say("3/3  scoring, pairing, drawing")
    _report(folders, out / "report", data, chosen)
    _say(f"done in {time.monotonic() - began:.0f} s")


def prepare(out: Path) -> None:
    """A fresh folder, or the one an earlier demonstration made: only its own parts are removed."""
    if out.exists() and not out.is_dir():
        raise InputError("is a file", where=out, fix="give a folder with --out")
    if out.is_dir() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise InputError(
            "the folder is not empty and no earlier demonstration made it",
            where=out,
            fix="give a fresh folder with --out",
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in _OURS:
            part = out / name
            if part.is_symlink():
                part.unlink()
            elif part.exists():
                shutil.rmtree(part)
        (out / MARKER).write_text("made by sdb demo\n", encoding="utf-8")
        (out / "recordings").mkdir()
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or type(error).__name__})", where=out,
            fix="give another folder with --out",
        ) from None  # fmt: skip


def recorder_line(recorder: RecordingProcess) -> str:
    """One component in one line: where it is and how much of its decisions is right so far."""
    facts = recorder.facts
    if recorder.done:
        return f"{recorder.name:<16} done: {plural(facts.get('responses', 0), 'answer')}, {facts.get('accepted', 0)} accepted"
    if not facts:
        return f"{recorder.name:<16} starting"
    right = facts.get("in_force")
    share = f"in force {100 * right:.0f} %" if isinstance(right, int | float) else ""
    return (
        f"{recorder.name:<16} {facts.get('scenario', '')!s:<14} step {facts.get('step', 0)}/{facts.get('steps', 0)}"
        f"  answers {facts.get('responses', 0)}/{facts.get('expected', 0)}"
        f"  in flight {facts.get('in_flight', 0)}  {share}"
    )


@contextlib.contextmanager
def _server(out: Path, data: Path | None) -> Iterator[str]:
    """`sdb serve` as a process of its own on a free port; ended when we are done."""
    command = [*_sdb(), "serve", "--port", "0", *(["--data", str(data)] if data else [])]
    errors = out / "recordings" / "serve.err"
    process = _begun(command, errors)
    try:
        yield _address(process, errors)
    finally:
        _end(process)


def _address(process: subprocess.Popen[str], errors: Path) -> str:
    """The first line of the server names its address."""
    found: list[str] = []

    def read(stream: IO[str]) -> None:
        found.append(stream.readline())
        for _ in stream:  # keep the pipe empty
            pass

    if process.stdout is None:
        raise AssertionError("the server's output was asked for")
    threading.Thread(target=read, args=(process.stdout,), daemon=True).start()
    end = time.monotonic() + _START_S
    while not found and time.monotonic() < end and process.poll() is None:
        time.sleep(0.05)
    words = found[0].split() if found else []
    address = next((word for word in words if word.startswith("http://")), None)
    if address is None:
        raise SdbError(f"the server did not start: {_tail(errors)}")
    return address


def is_installed() -> bool:
    """Whether the real model's package is here, without importing it."""
    return importlib.util.find_spec("sparrow_decider") is not None


@contextlib.contextmanager
def _real_model(out: Path) -> Iterator[str | None]:
    """The address of `sparrow-decider`; None, and why, where it is not to be had."""
    if not is_installed():
        _say(f"     without a real model: sparrow-decider is not installed ({_INSTALL})")
        yield None
        return
    errors = out / "recordings" / "sparrow-decider.err"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-P", "-m", "sparrow_decider.cli", "serve", "--port", str(port)]
    process = _begun(command, errors, _ONE_THREAD, stdout=None)
    try:
        started = _answers(process, port)
        if not started:
            _say("     without a real model: sparrow-decider did not start")
        yield f"http://127.0.0.1:{port}" if started else None
    finally:
        _end(process)
    errors.unlink(missing_ok=True)


def _answers(process: subprocess.Popen[str], port: int) -> bool:
    end = time.monotonic() + _START_S / 2
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        time.sleep(0.05)
    return False


def _record(
    out: Path,
    address: str,
    real: str | None,
    scenarios: Sequence[str],
    interval: float,
    data: Path | None,
) -> list[Path]:
    """All components at once, each in its own process; the real model may fail or be too slow."""
    common = ["--jsonl", "--yes", "--scenarios", ",".join(scenarios)]
    common += ["--interval", f"{interval:g}", *(["--data", str(data)] if data else [])]
    recorders: list[RecordingProcess] = []
    try:
        for name, component, served in COMPONENTS:
            place = ["--base-url", address] if served else []
            recorders.append(_start(out, name, [component, *common, *place]))
        if real is not None:
            patient = ["--base-url", real, "--max-in-flight", "1", "--timeout", "60"]
            recorders.append(_start(out, REAL, ["systemone:sparrow-nano", *common, *patient]))
            recorders[-1].optional = True
        _watch(recorders)
    finally:
        for recorder in recorders:
            _end(recorder.process)
    kept = []
    for recorder in recorders:
        folder = out / "recordings" / recorder.name
        if recorder.process.returncode == 0:
            kept.append(folder)
        elif recorder.optional:
            _say(f"     without a real model: {_tail(recorder.errors)}")
            shutil.rmtree(folder, ignore_errors=True)
        else:
            raise SdbError(f"recording {recorder.name} failed: {_tail(recorder.errors)}")
        recorder.errors.unlink(missing_ok=True)
    (out / "recordings" / "serve.err").unlink(missing_ok=True)
    return kept


def _begun(
    command: list[str],
    errors: Path,
    environment: Mapping[str, str] | None = None,
    stdout: int | None = subprocess.PIPE,
) -> subprocess.Popen[str]:
    """A process that ends with us, even if we are killed; what it complains of goes into a file."""
    with errors.open("w", encoding="utf-8") as log:
        return subprocess.Popen(  # noqa: S603
            ending_with_us(command),
            stdin=subprocess.PIPE,
            stdout=log if stdout is None else stdout,
            stderr=log,
            text=True,
            env={**_environment(), **(environment or {})},
        )


def _start(out: Path, name: str, words: Sequence[str]) -> RecordingProcess:
    errors = out / "recordings" / f"{name}.err"
    command = [*_sdb(), "run", *words, "--out", str(out / "recordings" / name)]
    process = _begun(command, errors)
    recorder = RecordingProcess(name, process, errors)
    threading.Thread(target=_listen, args=(recorder,), daemon=True).start()
    return recorder


def _listen(recorder: RecordingProcess) -> None:
    for line in recorder.process.stdout or ():
        try:
            facts = json.loads(line)
        except ValueError:
            continue
        if isinstance(facts, dict):
            recorder.done = facts.get("event") == "finished"
            recorder.facts = (
                facts if recorder.done or facts.get("event") == "progress" else recorder.facts
            )


def _watch(recorders: Sequence[RecordingProcess]) -> None:
    """A live line per component on a terminal; elsewhere a line of each every ten seconds."""
    from rich.live import Live
    from rich.text import Text

    from streamdecisionbench.render.terminal import console

    screen = console(stderr=True)
    done_at: list[float] = []

    def lines() -> Text:
        return Text("\n".join(f"     {recorder_line(recorder)}" for recorder in recorders))

    if screen.is_terminal:
        with Live(get_renderable=lines, console=screen, refresh_per_second=4):
            while _busy(recorders, done_at):
                time.sleep(0.25)
        return
    spoken = time.monotonic()
    while _busy(recorders, done_at):
        if time.monotonic() - spoken >= 10:
            spoken = time.monotonic()
            _say(lines().plain)
        time.sleep(0.1)
    _say(lines().plain)


def _busy(recorders: Sequence[RecordingProcess], since: list[float] | None = None) -> bool:
    """Until all are done. A needed one that failed ends the waiting, an optional one its patience."""
    busy = [r for r in recorders if not r.failed and (r.process.poll() is None or not r.done)]
    if any(r.failed for r in recorders if not r.optional):
        return False
    if busy and all(r.optional for r in busy) and since is not None:
        since[:] = since[:1] or [time.monotonic()]
        return time.monotonic() - since[0] < _PATIENCE_S
    return bool(busy)


def _report(folders: Sequence[Path], out: Path, data: Path | None, formats: Sequence[str]) -> None:
    from streamdecisionbench.analysis.choose import choice_lines
    from streamdecisionbench.render.terminal import console
    from streamdecisionbench.report.write_report import write_report
    from streamdecisionbench.scoring.score_tables import ranking

    loaded = load(list(folders), data)
    written = write_report(loaded, out, formats=formats, say=lambda text: _say(f"     {text}"))
    screen = console()
    sure = list(written.findings.sure.values())
    screen.print(
        ranking(
            written.material.scores,
            [own.interval_95 for own in sure],
            sure[0].drawn,
            screen.width,
        )
    )
    if written.findings.choice is not None:
        typer.echo()
        for line in choice_lines(written.findings.choice):
            typer.echo(textwrap.fill(line, 80))
    served = ", ".join(name for name, _, is_served in COMPONENTS if is_served)
    typer.echo(f"""
Open {out / "index.html"} in a browser (it needs no network). Look at
  the interval: drag it, and every number and the order follow
  the lanes: what was in force, second by second, and why it was wrong
  the pairs: what a slow component adds to a fast one, and when it harms
Tables and figures: {out / "report.md"}; recordings: {folders[0].parent}
Simulated: answers and latencies of {served},
  drawn from published figures.
Real: the suite, the server, the HTTP requests, the clock, the recordings, every
  score, and lexical-overlap, a trivial baseline.""")
    if any(folder.name == REAL for folder in folders):
        typer.echo(f"Real too: {REAL}, a trained decision model of 3 MB (sparrow-decider) on this")
        typer.echo("  machine. It was not made for this task, and its row says so.")


def _sdb() -> list[str]:
    return [sys.executable, "-P", "-m", "streamdecisionbench.cli.main"]


def _environment() -> dict[str, str]:
    """The user's environment without keys, addresses and proxies: nothing may leave this machine."""
    kept = {k: v for k, v in os.environ.items() if not k.endswith(_KEYS)}
    return {**kept, "NO_PROXY": "*", "PYTHONUNBUFFERED": "1"}


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _tail(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return "\n  ".join(lines[-6:]) or "it said nothing"


def _say(text: str) -> None:
    typer.echo(text, err=True)


COMMANDS = {
    "demo": demo,
}
