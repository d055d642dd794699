"""The folder a pass is recorded into, from taking hold of it to closing the recording.

Order matters: the folder is held before its run record is read and compared, the record says
`running` before the first event, and only a log that is still ours and holds every response gets the
status `complete` and its digest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.consistency import Expected
from streamdecisionbench.recording.lock import alone_in
from streamdecisionbench.recording.own_folder import clear, nothing_answered, require_fresh
from streamdecisionbench.recording.reader import (
    assemble,
    expectations,
    find_problems,
    read_recording,
    require_no_problems,
    scan,
)
from streamdecisionbench.recording.recording import SIMULATED
from streamdecisionbench.recording.resume import (
    Kept,
    complete_in,
    keep_complete,
    record_to_go_on_from,
    require_same,
)
from streamdecisionbench.recording.run_record import (
    COMPLETE,
    INCOMPLETE,
    RunRecord,
    write_run,
)
from streamdecisionbench.recording.standstill import StoodStill
from streamdecisionbench.recording.summary import summarise_log
from streamdecisionbench.recording.writer import EVENTS_FILE, EventLog, file_sha256
from streamdecisionbench.suite.scenario import Suite

__all__ = ["Outcome", "Session", "check_folder", "utc"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a pass ended."""

    folder: Path
    status: str
    reason: str | None
    summary: Mapping[str, Any] = field(default_factory=dict)


def check_folder(
    folder: Path, suite: Suite, record: RunRecord, *, resume: bool, overwrite: bool = False
) -> RunRecord | None:
    """The record to go on from, None for a fresh start; refuses any other folder.

    Asked before anything is opened or paid for, and again once the folder is ours alone.
    """
    before = record_to_go_on_from(folder) if resume and folder.is_dir() else None
    if before is None:
        if not resume:
            require_fresh(folder, overwrite=overwrite)
        return None
    if before.status != COMPLETE and nothing_answered(folder):
        return None
    # Whether a server simulates is known from its answers, not from the settings.
    dataset_hash = suite.dataset_hash
    require_same(folder, before, record.config, dataset_hash, ignore=("simulated",))
    return before


class Session:
    """A recording folder that is ours, and its open log."""

    def __init__(
        self, folder: Path, suite: Suite, record: RunRecord, *, resume: bool, overwrite: bool
    ) -> None:
        self.folder = folder
        self.record = record
        self._suite = suite
        self._resume = resume
        self._overwrite = overwrite
        self._held = contextlib.ExitStack()
        self._log: EventLog | None = None
        self._before: RunRecord | None = None
        self.closed = False
        steps = {s.episode_id: s.n for s in suite}
        self._expected: Mapping[str, Expected] = expectations(record, suite, steps)

    @property
    def log(self) -> EventLog:
        if self._log is None:
            raise AssertionError("the session has not begun")
        return self._log

    @property
    def begun(self) -> bool:
        return self._log is not None

    def hold(self) -> tuple[str, ...]:
        """Takes hold of the folder; the scenarios that are complete in it.

        One whose recording was closed, by another process perhaps, is `closed` and stays as it is.
        """
        self._held.enter_context(alone_in(self.folder))
        before = check_folder(
            self.folder,
            self._suite,
            self.record,
            resume=self._resume,
            overwrite=self._overwrite,
        )
        self._before = before
        if before is None:
            return ()
        if before.status == COMPLETE:
            # What was recorded must still be what was recorded.
            read_recording(self.folder, self._suite)
            self.closed = True
            self.record = before
            return tuple(before.scenarios or self._expected)
        return complete_in(self.folder, self._expected)

    def begin(self, keep: Collection[str]) -> None:
        """Opens the log with these of its complete scenarios in it."""
        before = self._before
        if self.closed:
            return
        if before is None:
            clear(self.folder)
        else:
            kept = keep_complete(self.folder, self._expected, keep)
            self.record = replace(
                self.record,
                started_at=before.started_at or self.record.started_at,
                network=[x for x in before.network if _scenario(x) in kept.complete],
                interruptions=[*before.interruptions, _interruption(before, kept, self.record)],
            )
        write_run(self.folder, self.record)
        self._log = EventLog(self.folder, resume=before is not None)

    def probed(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """How far away the servers were before and after a scenario."""
        self.record = replace(self.record, network=[*self.record.network, *entries])

    def round_done(self) -> None:
        """Forces the log to the medium; what it holds must have come from us."""
        self.log.sync()
        self.log.require_ours()
        if self.record.network:
            write_run(self.folder, self.record)

    def record_anew(self, pause: StoodStill, episode_id: str, keep: Collection[str]) -> None:
        """Sets aside what a round left that cannot be used, and opens the log again."""
        self.log.require_ours()
        self.log.close()
        kept = keep_complete(self.folder, self._expected, keep)
        note = {
            "reason": pause.kind,
            "scenario": episode_id,
            "step": pause.t,
            "seconds": round(pause.seconds, 3),
            "at": utc(),
            "recorded_anew": list(kept.dropped),
            "partial_file": kept.partial_file,
        }
        self.record = replace(self.record, interruptions=[*self.record.interruptions, note])
        write_run(self.folder, self.record)
        self._log = EventLog(self.folder, resume=True)

    def observed(self, facts: Mapping[str, Any]) -> None:
        """What components saw on the wire, for the run record."""
        self.record = replace(self.record, observed=dict(facts))

    def finish(
        self,
        reason: str | None,
        message: str | None = None,
        client: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Closes the log and writes how it ended. Refuses to call complete what is not."""
        log = self.folder / EVENTS_FILE
        self.log.require_ours()
        self.log.close()
        summary = summarise_log(log)
        served = summary.pop("served_models")
        summary |= {"client": dict(client)} if client else {}
        record = replace(
            self.record, ended_at=utc(), served_models=served, summary=summary, status=INCOMPLETE
        )
        if any(model.startswith(SIMULATED) for model in served):
            # A server that simulates says so in the model's name; what it answered stays labelled.
            record = replace(record, config={**record.config, "simulated": True})
        problem: InputError | None = None
        if reason is None:
            try:
                found = assemble(self.folder, record, scan(log).events)
                require_no_problems(find_problems(found, self._suite), log)
            except InputError as error:
                problem, reason, message = error, "protocol", str(error)
        if reason is None:
            record = replace(record, status=COMPLETE, events_sha256=file_sha256(log))
        else:
            record = replace(record, error_type=reason, error=message)
        self.record = record
        write_run(self.folder, record)
        if problem is not None:
            raise problem
        return Outcome(self.folder, record.status, reason, summary)

    def close(self) -> None:
        """Lets go of the folder."""
        if self._log is not None:
            with contextlib.suppress(OSError):
                self._log.close()
        self._held.close()


def utc() -> str:
    """Now, as run records write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _scenario(entry: Any) -> Any:
    return entry.get("scenario") if isinstance(entry, Mapping) else None


def _interruption(before: RunRecord, kept: Kept, now: RunRecord) -> dict[str, Any]:
    return {
        "status": before.status,
        "error_type": before.error_type,
        "ended_at": before.ended_at,
        "resumed_at": now.started_at,
        "kept": list(kept.complete),
        "recorded_anew": list(kept.dropped),
        "torn_last_line": kept.torn,
        "partial_file": kept.partial_file,
        "environment": before.environment,
        "observed": before.observed,
    }
