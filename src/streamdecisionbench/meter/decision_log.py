"""The meter's decision log: rows of `sdb-decisions/1` in files that survive the process.

Something is written of a state when it is published, when its answer comes and when it is judged: rows
are `partial`, and those of the same stream and `published_at` complete each other. What happens
between two flushes is one row. Lines are handed to the operating system whole, so a killed process
loses what happened since its last flush, and nothing before.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import threading
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.meter.stream import Notice, text_of

if TYPE_CHECKING:
    from streamdecisionbench.meter.meter import Meter


Row = dict[str, Any]

_MOST_PENDING = 200_000
_NUMBERS = ("published_at", "answered_at", "applied_at", "ended_at", "confidence", "cost")


class DecisionLog:
    """Writes what a meter sees into a folder, every `flush_s` seconds.

    A file is closed and a new one begun after `max_bytes` or `max_age_s`. With `parquet` a closed
    file becomes a Parquet file of the same name (extra `logs`). `states` writes the states, too.
    `fsync` waits for the disk at every flush, so that a power cut loses no more than a kill.
    """

    def __init__(
        self,
        meter: Meter,
        folder: str | os.PathLike[str],
        *,
        flush_s: float = 1.0,
        max_bytes: int = 64 * 1024 * 1024,
        max_age_s: float = 3600.0,
        states: bool = False,
        parquet: bool = False,
        fsync: bool = False,
    ) -> None:
        self.folder = os.fspath(folder)
        self.flush_s = flush_s
        self._meter = meter
        self._max_bytes = max_bytes
        self._max_age_s = max_age_s
        self._states = states
        self._fsync = fsync
        self._parquet = parquet
        if parquet:
            _require_arrow()
        for option, given in (
            ("flush_s", flush_s), ("max_bytes", max_bytes), ("max_age_s", max_age_s)
        ):  # fmt: skip
            endless = given == math.inf and option != "flush_s"
            if not endless and not (isinstance(given, int | float) and 0 < given < math.inf):
                raise InputError(f"{option}={given!r} cannot be", fix="give a number above 0")
        self._wall = math.nan
        with meter.lock, meter.guards["log"]:
            self._wall = time.time() - meter.read_clock()
        self._file: int | None = None
        self.begin_run()
        self._closed = False
        try:
            os.makedirs(self.folder, exist_ok=True)  # noqa: PTH103
        except OSError as error:
            raise InputError(
                f"the folder cannot be made ({error.strerror})",
                where=self.folder,
                fix="name a folder this process may write to",
            ) from None
        meter.add_sink(self)
        atexit.register(self.close)

    def begin_run(self) -> None:
        """Nothing happened yet in this process; a file that its parent writes to stays its parent's."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                os.close(file)
        self._happened: deque[Notice] = deque()
        self._unwritten: list[bytes] = []
        self._writing = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._path = ""
        self._size = self._files = 0
        self._began = 0.0

    def __call__(self, event: Notice) -> None:
        """Told while it happens: from here on nothing is kept that may still change."""
        if self._closed or len(self._happened) >= _MOST_PENDING:
            self._lose(1)
            return
        if event.kind == "published":
            state = None
            if self._states and event.value is not None:
                with self._meter.guards["state"]:
                    state = text_of(event.value)
            event = event._replace(value=state)
        self._happened.append(event)
        if self._thread is None:
            self._start()

    def flush(self) -> None:
        """Writes what has happened. Failures are counted; what could not be written waits."""
        with self._writing, self._meter.guards["log"]:
            events = [self._happened.popleft() for _ in range(len(self._happened))]
            self._unwritten += map(_line, rows_of(events, wall=self._wall))
            if self._unwritten:
                self._write()
            age_s = time.monotonic() - self._began
            if self._size >= self._max_bytes or age_s >= self._max_age_s:
                self._rotate()

    def close(self) -> None:
        """The last flush; nothing is written afterwards."""
        if self._closed:
            return
        self.flush()
        self._closed = True
        self._wake.set()
        with self._writing, self._meter.guards["log"]:
            self._rotate()
        self._lose(len(self._unwritten))
        atexit.unregister(self.close)

    def _lose(self, rows: int) -> None:
        with self._meter.lock:
            self._meter.lost_rows += rows

    def _start(self) -> None:
        """With the first event of a process."""
        with self._writing:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._keep_flushing, name="sdb-decision-log", daemon=True
                )
                self._thread.start()

    def _keep_flushing(self) -> None:
        """A flush begins `flush_s` after the last one began, however long that one took."""
        due = time.monotonic() + self.flush_s
        while not self._wake.wait(max(0.0, due - time.monotonic())):
            due = time.monotonic() + self.flush_s
            self.flush()

    def _write(self) -> None:
        try:
            file = self._open() if self._file is None else self._file
            data = b"".join(self._unwritten)
            written = 0
            while written < len(data):
                written += os.write(file, data[written:])
            if self._fsync:
                os.fsync(file)
        except OSError:
            self._abandon()
            raise
        self._size += len(data)
        self._unwritten.clear()

    def _abandon(self) -> None:
        """A write failed half-way: the file ends before it, and the rows go into the next one.

        Rows complete each other, so one that is written twice says nothing new. A file without any is
        none.
        """
        excess = max(0, len(self._unwritten) - _MOST_PENDING)
        del self._unwritten[:excess]
        self._lose(excess)
        file, self._file = self._file, None
        if file is not None:
            try:
                os.ftruncate(file, self._size)
                if not self._size:
                    os.unlink(self._path)  # noqa: PTH108
            finally:
                os.close(file)

    def _open(self) -> int:
        while self._file is None:
            self._files += 1
            name = f"decisions-{self._meter.run}-{self._files:05}.jsonl"
            path = os.path.join(self.folder, name)  # noqa: PTH118
            try:
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            except FileExistsError:
                continue
            self._path, self._size, self._began = path, 0, time.monotonic()
        if self._fsync:
            _sync(self.folder)
        return self._file

    def _rotate(self) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        os.close(file)
        if self._parquet and self._size:
            to_parquet(self._path, fsync=self._fsync)


def rows_of(events: Iterable[Notice], *, wall: float = 0.0) -> list[Row]:
    """Events as rows of `sdb-decisions/1`, one for each state about which something happened.

    All of their values are text and numbers by now, which cannot fail to be written.
    """
    rows: dict[tuple[str, str, float], Row] = {}
    for event in events:
        key = (event.stream.id, event.component, event.published_at)
        row = rows.get(key)
        if row is None:
            applied = event.component == "applied"
            stream = event.stream.id if applied else f"{event.stream.id}~{event.component}"
            row = rows[key] = {
                "stream": stream,
                "published_at": event.published_at,
                "component": event.component,
                "partial": True,
            }
        if event.kind == "published":
            row |= {
                **event.stream.labels,
                **row,
                "session": event.stream.name,
                "meter": event.stream.meter_name,
                "step": event.step,
                "wall_time": _iso(wall + event.published_at),
            }
            if event.value is not None:
                row["state"] = event.value
            if event.effects is not None:
                row.setdefault("effects", event.effects)
        elif event.kind == "answered":
            if event.first:
                row |= {"answered_at": event.at, "decision": event.value}
                if event.confidence is not None:
                    row["confidence"] = event.confidence
            if event.member_latency is not None:
                row["member_latency_s"] = event.member_latency
            if event.effects is not None:
                row["effects"] = event.effects
            elif event.outcome == "applied":
                row["applied_at"] = event.at
            if event.cost is not None:
                row["cost"] = event.cost
        elif event.kind == "judged":
            row["reference"] = event.value
        else:
            row["ended_at"] = event.at
    return list(rows.values())


def _line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _iso(seconds: float) -> str | None:
    """For people; None where no calendar has such a time."""
    try:
        whole = math.floor(seconds)
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
    except (OverflowError, ValueError, OSError):
        return None
    return f"{moment}.{int((seconds - whole) * 1e6):06}Z"


def _require_arrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401 - to say at the start what would be missing at the end
    except ModuleNotFoundError as error:
        raise InputError(
            f"a Parquet log needs {error.name}, which is not installed",
            fix="pip install 'streamdecisionbench[logs]', or leave parquet out",
        ) from None


def to_parquet(path: str, *, fsync: bool = False) -> None:
    """Writes `path` as Parquet beside it, and removes it once that is complete, and on disk with `fsync`.

    Rows of one state that stand in the same file become one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = Path(path)
    merged: dict[tuple[str, float], dict[str, object]] = {}
    with source.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            merged.setdefault((row["stream"], row["published_at"]), {}).update(row)
    names: dict[str, None] = {}
    for row in merged.values():
        names |= dict.fromkeys(row)
    columns = {
        name: pa.array([row.get(name) for row in merged.values()], _arrow_type(name))
        for name in names
    }
    partial, target = source.with_suffix(".parquet.part"), source.with_suffix(".parquet")
    try:
        pq.write_table(pa.table(columns), partial, compression="zstd")
        if fsync:
            _sync(str(partial))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    if fsync:
        _sync(str(source.parent))
    source.unlink()


def _sync(path: str) -> None:
    """Waits until a file, or a folder's list of files, is on disk."""
    found = os.open(path, os.O_RDONLY)
    try:
        os.fsync(found)
    finally:
        os.close(found)


def _arrow_type(name: str) -> Any:
    import pyarrow as pa

    if name in _NUMBERS:
        return pa.float64()
    if name == "partial":
        return pa.bool_()
    return pa.int64() if name == "step" else pa.string()
