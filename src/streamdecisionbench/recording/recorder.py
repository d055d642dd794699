"""One pass of a component (or a live pair) over a suite, from an empty folder to a closed recording.

The component is opened before anything is written, every event is on disk before it has consequences,
and a scenario in which the machine slept or the process stood still is recorded anew.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from streamdecisionbench.components.contract import Fatal
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.in_force import Arbiter, Newest, PairRule
from streamdecisionbench.recording.clock import Clock, steady
from streamdecisionbench.recording.environment import describe_environment
from streamdecisionbench.recording.ledger import Lane, Ledger, Prepared, Tally, prepare
from streamdecisionbench.recording.live_policy import LivePolicy
from streamdecisionbench.recording.progress import Progress, Quiet, drawing
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.realtime import run_episode
from streamdecisionbench.recording.redaction import Redactor
from streamdecisionbench.recording.retry import classify
from streamdecisionbench.recording.run_config import (
    Settings,
    config_of,
    interval_of,
    require_clock,
    workers_of,
)
from streamdecisionbench.recording.run_record import (
    COMPLETE,
    INCOMPLETE,
    RUNNING,
    RunRecord,
    recorded_manifest,
)
from streamdecisionbench.recording.session import (
    AlreadyComplete,
    Outcome,
    Session,
    check_folder,
    utc,
)
from streamdecisionbench.recording.standstill import TOO_LATE, StoodStill, Watch
from streamdecisionbench.recording.stopping import run_until_signal
from streamdecisionbench.recording.virtual import run_virtual_episode
from streamdecisionbench.suite.scenario import Suite

__all__ = ["INTERRUPTED", "Outcome", "Settings", "record"]

INTERRUPTED = "interrupted"

_TRIES, _TRYING_S = 3, 10.0
"""How often a scenario is begun when the machine sleeps or the process is stopped in it; a short one
as often as fits into that many seconds."""


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
    folder = folder.absolute()  # a component may change the current folder
    progress = progress or Quiet()
    clean = Redactor(secrets, sent=[s for lane in lanes for s in _sent(lane)])
    infos = [lane.component.info for lane in lanes]
    require_clock(settings, infos)
    loop_name, loop_factory = _event_loop()
    run = RunRecord(
        status=RUNNING,
        schema_version=suite.manifest.schema_version,
        config=clean.tree(config_of(suite, settings, lanes)),
        dataset_manifest=recorded_manifest(suite.manifest),
        started_at=utc(),
        environment=clean.tree(describe_environment(infos, loop_name)),
    )
    before = check_folder(folder, suite, run, resume=resume, overwrite=overwrite)
    if before is not None and before.status == COMPLETE:
        return _already_complete(folder, suite, before)
    session = Session(folder, suite, run, resume=resume, overwrite=overwrite)
    tally = Tally(scenarios=len(settings.scenarios))
    reason: str | None = None
    error: Exception | None = None
    try:
        try:
            with asyncio.Runner(loop_factory=loop_factory) as runner, drawing(progress, tally):
                work = _pass(suite, lanes, settings, session, tally, clean, progress)
                if not run_until_signal(runner, work):
                    reason = INTERRUPTED
        except AlreadyComplete as found:
            return _already_complete(folder, suite, found.record)
        except OSError as failure:
            error = InputError(
                f"the recording cannot be written ({failure.strerror or type(failure).__name__})",
                where=folder,
                fix="make room or choose another folder, then go on with --resume",
            )
            reason = "write_failed"
        except Exception as failure:
            error = failure
            reason = clean(getattr(failure, "error_type", type(failure).__name__))
        outcome = Outcome(folder, INCOMPLETE, reason)
        if session.begun:
            message = clean(str(error)) if isinstance(error, SdbError) else None
            session.observed(clean.tree(_observed(lanes)))
            try:
                outcome = session.finish(reason, message)
            except (OSError, InputError):
                if error is None:
                    raise
                # A disk that took no event takes no record either, and a folder that is not ours
                # any more gets none; `running` is as good as incomplete.
        if error is not None:
            raise _cleaned(error, clean) from None
        return outcome
    finally:
        session.close()


async def _pass(
    suite: Suite,
    lanes: Sequence[Lane],
    settings: Settings,
    session: Session,
    tally: Tally,
    clean: Redactor,
    progress: Progress,
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        for lane in lanes:
            await _open(lane)
            stack.push_async_callback(_shut, lane)
        kept = session.begin()
        todo = [e for e in settings.scenarios if e not in kept.complete]
        tally.expected = sum(suite.scenarios[e].n for e in todo) * len(lanes)
        later = _later(suite, settings, todo)
        skipped = len(settings.scenarios) - len(todo)
        for index, episode_id in enumerate(todo, start=skipped + 1):
            scenario = suite.scenarios[episode_id]
            tally.scenario, tally.scenario_index = episode_id, index
            tally.step, tally.steps = 0, scenario.n
            prepared = prepare(scenario, interval_of(scenario, settings))
            if settings.clock == "real":
                tally.interval_s, tally.later_s = prepared.interval_s, later[episode_id]
            before = tally.copy()
            tries = max(_TRIES, round(_TRYING_S / prepared.horizon_s))
            for left in reversed(range(tries)):
                try:
                    await _episode(prepared, lanes, settings, session, tally, clean, left)
                    break
                except StoodStill as pause:
                    if not left:
                        raise _given_up(pause, tries, prepared) from None
                    tally.restore(before.copy())
                    await asyncio.to_thread(session.record_anew, pause, episode_id)
                    progress.say("again", name=f"{episode_id}: {pause.words}; recorded anew")
            await asyncio.to_thread(session.scenario_done)
            progress.say(
                "scenario",
                name=episode_id,
                responses=tally.responses - before.responses,
                accepted=tally.accepted - before.accepted,
                errors=tally.failed_attempts - before.failed_attempts,
                left_s=tally.left_s,
            )


def _later(suite: Suite, settings: Settings, todo: Sequence[str]) -> dict[str, float]:
    """How long the scenarios after each one take."""
    found, after = {}, 0.0
    for episode_id in reversed(todo):
        scenario = suite.scenarios[episode_id]
        found[episode_id] = after
        after += scenario.n * interval_of(scenario, settings)
    return found


async def _episode(
    prepared: Prepared,
    lanes: Sequence[Lane],
    settings: Settings,
    session: Session,
    tally: Tally,
    clean: Redactor,
    left: int,
) -> None:
    policy: LivePolicy | None = None
    arbiter: Arbiter = PairRule(settings.rule) if settings.rule else Newest()
    if settings.policy is not None:
        policy = LivePolicy(settings.policy, prepared.scenario, [lane.name for lane in lanes])
        arbiter = policy.arbiter
    ledger = Ledger(prepared, session.log, arbiter, tally, clean, policy)
    with steady():
        if settings.clock == "virtual":
            workers = workers_of(settings, lanes)
            await run_virtual_episode(ledger, lanes, settings.dispatch, workers)
            return
        # What stops again and again is no accident; it is recorded, and said in every score.
        watch = Watch(prepared.interval_s, prepared.horizon_s, stops=left > 0)
        await run_episode(ledger, lanes, settings.dispatch, Clock(), watch)


def _given_up(pause: StoodStill, tries: int, prepared: Prepared) -> Fatal:
    fix = "keep the machine awake, then go on with --resume"
    if pause.kind == TOO_LATE:
        fix = (
            f"this machine cannot publish every {prepared.interval_s:g} s: take a longer --interval,"
            " run less beside it, or use --clock virtual"
        )
    name = prepared.scenario.episode_id
    return Fatal(pause.kind, f"{name} was begun {tries} times: {pause.words}", fix=fix)


async def _open(lane: Lane) -> None:
    try:
        await lane.component.open()
    except Exception as error:
        kind = classify(error)
        if isinstance(kind, Fatal):
            raise kind from None
        raise Fatal(
            kind.error_type,
            f"{lane.component.info.name} cannot be opened ({kind.error_type})",
            fix="check the address and the network",
        ) from None


async def _shut(lane: Lane) -> None:
    # What is recorded is recorded: a client that fails to say goodbye changes nothing about it.
    with contextlib.suppress(Exception):
        await lane.component.close()


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


def _already_complete(folder: Path, suite: Suite, before: RunRecord) -> Outcome:
    """Nothing to do, if the recording still is what was recorded."""
    read_recording(folder, suite)
    return Outcome(folder, COMPLETE, "already complete", before.summary)


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
