"""What can be watched: something that grows, read again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from streamdecisionbench.errors import InputError
from streamdecisionbench.report.watch.lanes import Stream

__all__ = ["Source", "open_source"]


class Source(Protocol):
    """A recording or a meter's log."""

    kind: str
    """`recording` or `log`."""
    pooled: bool
    """Whether every second counts alike, or scenarios and families do."""

    def poll(self) -> list[Stream]:
        """Streams about which something is new since the last call."""
        ...

    def forgotten(self) -> bool:
        """Whether what was read before no longer holds, since the last call."""
        ...

    def facts(self) -> dict[str, object]:
        """`status` (waiting, running, complete, incomplete), `text`, `name`, `simulated`, `virtual`."""
        ...


def open_source(path: Path, data: Path | None = None) -> Source:
    """A recording's folder, a meter's log, or a folder that is going to be a recording."""
    from streamdecisionbench.report.watch.meter_log import MeterLog
    from streamdecisionbench.report.watch.recording import WatchedRecording

    if path.is_file() and path.suffix in (".jsonl", ".parquet"):
        return MeterLog(path)
    if path.exists() and not path.is_dir():
        raise InputError(
            "is no folder and no decision log",
            where=path,
            fix="give the folder of a recording or of a meter's log",
        )
    if path.is_dir() and not (path / "run.json").exists():
        if any(path.glob("*.jsonl")) or any(path.glob("*.parquet")):
            return MeterLog(path)
        if any(path.iterdir()):
            raise InputError(
                "holds neither a recording nor a decision log",
                where=path,
                fix="give the folder of a recording or of a meter's log",
            )
    if not path.parent.is_dir():
        raise InputError(
            "no such folder", where=path, fix="give the folder of a recording or of a meter's log"
        )
    return WatchedRecording(path, data)
