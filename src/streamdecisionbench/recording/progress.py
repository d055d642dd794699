"""What a person or a machine sees while a recording runs.

Drawing happens in a thread of its own, four times a second, from counters the event loop keeps
anyway: the recorder never waits for a terminal.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import msgspec

from streamdecisionbench.recording.episode import Tally

if TYPE_CHECKING:
    from rich.table import Table

_PERIOD_S = 0.25
_COUNTERS = (
    "scenario", "scenario_index", "scenarios", "step", "steps", "in_flight", "responses", "expected",
    "accepted", "discarded", "failed_attempts",
)  # fmt: skip


class Progress:
    """A way to show progress; this one shows nothing at all."""

    def show(self, tally: Tally) -> None:
        """Where it stands now."""

    def say(self, event: str, **facts: Any) -> None:
        """That something happened."""

    def close(self) -> None:
        """Nothing follows."""


class JsonLines(Progress):
    """One JSON object a line on standard output, each with an `event`."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stdout
        self._lock = threading.Lock()
        self._last: dict[str, Any] | None = None

    def show(self, tally: Tally) -> None:
        facts = snapshot(tally)
        if facts != self._last:
            self._last = facts
            self.say("progress", **facts)

    def say(self, event: str, **facts: Any) -> None:
        line = msgspec.json.encode({"event": event, **facts}).decode()
        # Whoever was reading may have gone; the recording goes on.
        with self._lock, contextlib.suppress(BrokenPipeError, ValueError):
            self._stream.write(line + "\n")
            self._stream.flush()


class Terminal(Progress):
    """A live table on a terminal; one line per event where there is none."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._running = False

    def show(self, tally: Tally) -> None:
        if not self._console.is_terminal:
            return
        if not self._running:
            self._live.start()
            self._running = True
        self._live.update(_table(tally), refresh=True)

    def say(self, event: str, **facts: Any) -> None:
        if event == "notice":
            self._console.print(f"note: {facts.get('text', '')}", markup=False, highlight=False)
            return
        title, left = facts.pop("name", event), facts.pop("left_s", None)
        text = ", ".join(f"{_plain(value)} {key}" for key, value in facts.items())
        if left:
            text += f"; {_duration(left)} left"
        self._console.print(f"{title}: {text}" if text else title, markup=False, highlight=False)

    def close(self) -> None:
        if self._running:
            self._live.stop()
            self._running = False


def choose_progress(*, quiet: bool = False, jsonl: bool = False) -> Progress:
    """The one way to show progress that the command line asked for."""
    if jsonl:
        return JsonLines()
    return Progress() if quiet else Terminal()


def snapshot(tally: Tally) -> dict[str, Any]:
    """The counters as plain data.

    >>> snapshot(Tally(scenario="a", step=3, steps=60))["step"]
    3
    """
    return {name: getattr(tally, name) for name in _COUNTERS} | {
        "in_force": None if tally.in_force is None else round(tally.in_force, 4),
        "left_s": None if tally.left_s is None else round(tally.left_s, 3),
    }


@contextmanager
def drawing(progress: Progress, tally: Tally) -> Iterator[None]:
    """Draws until the block ends."""
    done = threading.Event()

    def draw() -> None:
        while not done.wait(_PERIOD_S):
            tell()
            progress.show(tally)

    def tell() -> None:
        while tally.notices:
            progress.say("notice", text=tally.notices.pop(0))

    thread = threading.Thread(target=draw, name="progress", daemon=True)
    if type(progress) is not Progress:
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.is_alive():
            thread.join()
        tell()
        progress.close()


def _table(tally: Tally) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    pace = f" at {tally.interval_s:g} s" if tally.interval_s else ""
    for name in (
        "scenario", "step", "in flight", "answered", "accepted", "errors", f"in force{pace}", "left",
    ):  # fmt: skip
        table.add_column(name, justify="left" if name == "scenario" else "right")
    in_force, left = tally.in_force, tally.left_s
    table.add_row(
        f"{tally.scenario} ({tally.scenario_index}/{tally.scenarios})",
        f"{tally.step}/{tally.steps}",
        str(tally.in_flight),
        f"{tally.responses}/{tally.expected}",
        str(tally.accepted),
        str(tally.failed_attempts),
        "–" if in_force is None else f"{100 * in_force:.1f} %",
        "–" if left is None else _duration(left),
    )
    return table


def _duration(seconds: float) -> str:
    """As a person says it.

    >>> [_duration(s) for s in (9.6, 125, 960, 7260)]
    ['10 s', '2:05 min', '16:00 min', '2:01 h']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
