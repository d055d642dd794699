"""One pass of a component (or a live pair) over a suite, from an empty folder to a closed recording.

The component is opened before anything is written, every event is on disk before it has consequences,
and however it ends the run record says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.recording.environment import ClientUsage, describe_environment
from streamdecisionbench.recording.ledger import Lane, Tally
from streamdecisionbench.recording.progress import Progress, Quiet, drawing
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.redaction import Redactor
from streamdecisionbench.recording.rounds import Replica, play_rounds
from streamdecisionbench.recording.run_config import Settings, config_of, require_clock
from streamdecisionbench.recording.run_record import (
    COMPLETE,
    INCOMPLETE,
    RUNNING,
    RunRecord,
    recorded_manifest,
)
from streamdecisionbench.recording.session import Outcome, Session, check_folder, utc
from streamdecisionbench.recording.stopping import run_until_signal
from streamdecisionbench.suite.scenario import Suite

__all__ = ["INTERRUPTED", "Outcome", "Part", "Settings", "record", "record_together"]

INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Part:
    """One recording of several that are made at once, with components of its own."""

    lanes: Sequence[Lane]
    settings: Settings
    folder: Path


def record(
    suite: Suite,
    lanes: Sequence[Lane],
    settings: Settings,
    folder: Path,
    *,
    resume: bool = False,
    overwrite: bool = False,
    secrets: Sequence[str] = (),
    progress: Progress | None = None,
) -> Outcome:
    """Records one pass. Raises what stopped it, once the run record says so."""
    return record_together(
        suite,
        [Part(lanes, settings, folder)],
        resume=resume,
        overwrite=overwrite,
        secrets=secrets,
        progress=progress,
    )[0]


def record_together(
    suite: Suite,
    parts: Sequence[Part],
    *,
    resume: bool = False,
    overwrite: bool = False,
    secrets: Sequence[str] = (),
    progress: Progress | None = None,
) -> list[Outcome]:
    """Records the replicas of one pass, whose settings differ in seed and number alone, at once."""
    progress = progress or Quiet()
    settings = parts[0].settings
    clean = Redactor(secrets, sent=[s for p in parts for lane in p.lanes for s in _sent(lane)])
    loop_name, loop_factory = _event_loop()
    sessions = [_session(suite, part, clean, loop_name, resume, overwrite) for part in parts]
    if all(session.closed for session in sessions):
        return [_already_complete(session, suite) for session in sessions]
    tally = Tally(scenarios=len(settings.scenarios) * len(parts))
    replicas = [Replica(p.lanes, s) for p, s in zip(parts, sessions, strict=True)]
    reason: str | None = None
    error: Exception | None = None
    usage = ClientUsage()
    try:
        try:
            with asyncio.Runner(loop_factory=loop_factory) as runner, drawing(progress, tally):
                work = play_rounds(suite, replicas, settings, tally, clean, progress)
                if not run_until_signal(runner, work):
                    reason = INTERRUPTED
        except OSError as failure:
            error = InputError(
                f"the recording cannot be written ({failure.strerror or type(failure).__name__})",
                where=parts[0].folder,
                fix="make room or choose another folder, then go on with --resume",
            )
            reason = "write_failed"
        except Exception as failure:
            error = failure
            reason = clean(getattr(failure, "error_type", type(failure).__name__))
        outcomes = []
        client = usage.so_far() if settings.clock == "real" else {}
        for replica in replicas:
            try:
                outcomes.append(_finish(replica, suite, reason, error, clean, client))
            except (OSError, InputError) as failure:
                # A disk that took no event takes no record either, and a folder that is not ours
                # any more gets none; `running` is as good as incomplete.
                error = error or failure
        if error is not None:
            raise _cleaned(error, clean) from None
        return outcomes
    finally:
        for session in sessions:
            session.close()


def _session(
    suite: Suite, part: Part, clean: Redactor, loop_name: str, resume: bool, overwrite: bool
) -> Session:
    """The folder, looked at but not yet held: what can be refused is, before anything is opened."""
    folder = part.folder.absolute()  # a component may change the current folder
    infos = [lane.component.info for lane in part.lanes]
    require_clock(part.settings, infos)
    run = RunRecord(
        status=RUNNING,
        schema_version=suite.manifest.schema_version,
        config=clean.tree(config_of(suite, part.settings, part.lanes)),
        dataset_manifest=recorded_manifest(suite.manifest),
        started_at=utc(),
        environment=clean.tree(describe_environment(infos, loop_name)),
    )
    before = check_folder(folder, suite, run, resume=resume, overwrite=overwrite)
    session = Session(folder, suite, run, resume=resume, overwrite=overwrite)
    if before is not None and before.status == COMPLETE:
        session.closed, session.record = True, before
    return session


def _finish(
    replica: Replica,
    suite: Suite,
    reason: str | None,
    error: Exception | None,
    clean: Redactor,
    client: Mapping[str, Any],
) -> Outcome:
    session = replica.session
    if session.closed:
        return _already_complete(session, suite)
    if not session.begun:
        return Outcome(session.folder, INCOMPLETE, reason)
    message = clean(str(error)) if isinstance(error, SdbError) else None
    session.observed(clean.tree(_observed(replica.lanes)))
    return session.finish(reason, message, client)


def _sent(lane: Lane) -> Sequence[str]:
    """Keys and headers a component sends: a server may echo them as its model's name."""
    found: Sequence[str] = getattr(lane.component, "secrets", ())
    return found


def _observed(lanes: Sequence[Lane]) -> dict[str, Any]:
    """What components saw on the wire: connections, HTTP versions, tiers that really served."""
    return {
        lane.name or "component": lane.component.observed.to_json()
        for lane in lanes
        if hasattr(lane.component, "observed")
    }


def _already_complete(session: Session, suite: Suite) -> Outcome:
    """Nothing to do, if the recording still is what was recorded."""
    read_recording(session.folder, suite)
    return Outcome(session.folder, COMPLETE, "already complete", session.record.summary)


def _cleaned(error: Exception, clean: Redactor) -> Exception:
    text, trace = str(error), getattr(error, "trace", "")
    if clean(text) == text and clean(trace) == trace:
        return error
    hidden = SdbError(clean(text))
    hidden.trace = clean(trace)
    return hidden


def _event_loop() -> tuple[str, Callable[[], asyncio.AbstractEventLoop] | None]:
    """uvloop where it is installed, and its name for the run record."""
    try:
        # The installed package, asked for by name: a file uvloop.py in some folder is not it.
        version = metadata.version("uvloop")
        import uvloop
    except (ImportError, metadata.PackageNotFoundError):
        return "asyncio", None
    return f"uvloop {version}", uvloop.new_event_loop
