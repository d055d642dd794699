"""One pass of a component (or a live pair) over a suite, from an empty folder to a closed recording.

Order matters: the component is opened before anything is written, the run record says `running`
before the first event, every event is on disk before it has consequences, and only a log with every
response gets the status `complete` and its digest.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.components.contract import ComponentInfo, Fatal
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.in_force import Arbiter, Newest, PairRule
from streamdecisionbench.recording.clock import Clock, steady
from streamdecisionbench.recording.environment import describe_environment
from streamdecisionbench.recording.ledger import Lane, Ledger, Tally, prepare
from streamdecisionbench.recording.lock import alone_in
from streamdecisionbench.recording.progress import Progress, Quiet, drawing
from streamdecisionbench.recording.realtime import Dispatch, run_episode
from streamdecisionbench.recording.redaction import Redactor
from streamdecisionbench.recording.resume import Kept, keep_complete, read_run_record, require_same
from streamdecisionbench.recording.retry import classify
from streamdecisionbench.recording.stopping import run_until_signal
from streamdecisionbench.recording.summary import summarise_log
from streamdecisionbench.recording.virtual import run_virtual_episode
from streamdecisionbench.recording.writer import (
    EVENTS_FILE,
    EventLog,
    file_sha256,
    write_run_record,
)
from streamdecisionbench.suite.scenario import Scenario, Suite

__all__ = ["INTERRUPTED", "Outcome", "Settings", "record", "require_fresh"]

INTERRUPTED = "interrupted"
SIMULATED = "simulated:"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that must be equal for two recordings to be one setting."""

    names: Mapping[str | None, str]
    """Lane → `provider:model` as it was asked for."""

    scenarios: tuple[str, ...]
    interval_s: float | None = None
    """None: every scenario at its own tick."""

    clock: str = "real"
    workers: int | None = None
    dispatch: Dispatch = field(default_factory=Dispatch)
    seed: int = 0
    effort: str | None = None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a pass ended."""

    folder: Path
    status: str
    reason: str | None
    summary: Mapping[str, Any]


def record(
    suite: Suite,
    lanes: Sequence[Lane],
    settings: Settings,
    folder: Path,
    *,
    resume: bool = False,
    secrets: Sequence[str] = (),
    progress: Progress | None = None,
) -> Outcome:
    """Records one pass. Raises what stopped it, once the run record says so."""
    progress = progress or Quiet()
    clean = Redactor(secrets, sent=[s for lane in lanes for s in _sent(lane)])
    infos = [lane.component.info for lane in lanes]
    _require_clock(settings, infos)
    config = clean.tree(_config(suite, settings, lanes))
    before = read_run_record(folder) if resume else None
    if not resume:
        require_fresh(folder)
    if before is not None:
        # Whether a server simulates is known from its answers, not from the settings.
        require_same(folder, before, config, suite.dataset_hash, ignore=("simulated",))
        if before.get("status") == "complete":
            return Outcome(folder, "complete", "already complete", before.get("summary") or {})
    loop_name, loop_factory = _event_loop()
    started_at = _utc()
    run: dict[str, Any] = {
        "schema_version": suite.manifest.schema_version,
        "status": "running",
        "config": config,
        "dataset_manifest": msgspec.to_builtins(suite.manifest),
        "started_at": (before or {}).get("started_at", started_at),
        "ended_at": None,
        "served_models": [],
        "environment": clean.tree(describe_environment(infos, loop_name)),
        "interruptions": list((before or {}).get("interruptions", [])),
    }
    tally = Tally(scenarios=len(settings.scenarios))

    begun = False

    def begin() -> tuple[EventLog, Kept]:
        nonlocal begun
        held.enter_context(alone_in(folder))
        if not resume:
            require_fresh(folder)  # again: another process may have been faster
        begun = True
        kept = Kept((), (), torn=False, partial_file=None)
        if before is not None:
            kept = keep_complete(
                folder,
                {s.episode_id: s.n for s in suite},
                [lane.name for lane in lanes],
            )
            run["interruptions"].append(_interruption(before, kept, started_at))
        write_run_record(folder, run)
        return EventLog(folder, resume=before is not None), kept

    reason: str | None = None
    error: Exception | None = None
    with contextlib.ExitStack() as held:
        try:
            with asyncio.Runner(loop_factory=loop_factory) as runner, drawing(progress, tally):
                work = _pass(suite, lanes, settings, begin, tally, clean, progress)
                if not run_until_signal(runner, work):
                    reason = INTERRUPTED
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
        outcome = Outcome(folder, "incomplete", reason, {})
        if begun:
            message = clean(str(error)) if isinstance(error, SdbError) else None
            run["observed"] = clean.tree(_observed(lanes))
            try:
                outcome = _close(folder, run, reason, message)
            except OSError:
                if error is None:
                    raise
                # A disk that took no event takes no record either; `running` is as good as incomplete.
        if error is not None:
            raise _cleaned(error, clean) from None
        return outcome


def require_fresh(folder: Path) -> None:
    """A recording starts in a folder of its own."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            "is not a fresh folder",
            where=folder,
            fix="choose another --out, or add --resume to go on with the recording in it",
        )


async def _pass(
    suite: Suite,
    lanes: Sequence[Lane],
    settings: Settings,
    begin: Callable[[], tuple[EventLog, Kept]],
    tally: Tally,
    clean: Redactor,
    progress: Progress,
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        for lane in lanes:
            await _open(lane)
            stack.push_async_callback(_shut, lane)
        log, kept = begin()
        stack.callback(log.close)
        todo = [e for e in settings.scenarios if e not in kept.complete]
        tally.expected = sum(suite.scenarios[e].n for e in todo) * len(lanes)
        skipped = len(settings.scenarios) - len(todo)
        for index, episode_id in enumerate(todo, start=skipped + 1):
            scenario = suite.scenarios[episode_id]
            tally.scenario, tally.scenario_index = episode_id, index
            tally.step, tally.steps = 0, scenario.n
            arbiter: Arbiter = PairRule(settings.rule) if settings.rule else Newest()
            prepared = prepare(scenario, _interval(scenario, settings))
            ledger = Ledger(prepared, log, arbiter, tally, clean)
            before = tally.responses, tally.accepted, tally.failed_attempts
            with steady():
                if settings.clock == "virtual":
                    workers = _workers(settings, lanes)
                    await run_virtual_episode(ledger, lanes, settings.dispatch, workers)
                else:
                    await run_episode(ledger, lanes, settings.dispatch, Clock())
            await asyncio.to_thread(log.sync)
            progress.say(
                "scenario",
                name=episode_id,
                responses=tally.responses - before[0],
                accepted=tally.accepted - before[1],
                errors=tally.failed_attempts - before[2],
            )


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


def _close(folder: Path, run: dict[str, Any], reason: str | None, message: str | None) -> Outcome:
    """Writes how it ended. A complete recording gets the digest of its log."""
    summary = summarise_log(folder / EVENTS_FILE)
    run["status"] = "complete" if reason is None else "incomplete"
    run["ended_at"] = _utc()
    run["served_models"] = summary.pop("served_models")
    if any(model.startswith(SIMULATED) for model in run["served_models"]):
        # A server that simulates says so in the model's name; what it answered stays labelled.
        run["config"] = {**run["config"], "simulated": True}
    run["summary"] = summary
    if reason is None:
        run["events_sha256"] = file_sha256(folder / EVENTS_FILE)
    else:
        run["error_type"] = reason
        if message:
            run["error"] = message
    write_run_record(folder, run)
    return Outcome(folder, run["status"], reason, summary)


def _cleaned(error: Exception, clean: Redactor) -> Exception:
    text = str(error)
    return error if clean(text) == text else SdbError(clean(text))


def _config(suite: Suite, settings: Settings, lanes: Sequence[Lane]) -> dict[str, Any]:
    ticks = {_interval(suite.scenarios[e], settings) for e in settings.scenarios}
    tick = ticks.pop() if len(ticks) == 1 else None
    parts = {lane.name: _describe(settings.names[lane.name], lane) for lane in lanes}
    config: dict[str, Any] = {
        "interval_s": tick,
        "tick_seconds": tick,
        "max_in_flight": settings.dispatch.max_in_flight,
        "timeout_s": settings.dispatch.timeout_s,
        "retry": settings.dispatch.retry.to_json(),
        "clock": settings.clock,
        "simulated": any(lane.component.info.simulated for lane in lanes),
        "scenarios": list(settings.scenarios),
        "seed": settings.seed,
        "effort": settings.effort,
    }
    if settings.clock == "virtual":
        config["workers"] = _workers(settings, lanes)
    if settings.rule is None:
        config |= parts[None]
    else:
        config |= {str(name): part for name, part in parts.items()}
        config["rule"] = settings.rule
        config["component"] = " + ".join(part["component"] for part in parts.values())
    return config


def _describe(name: str, lane: Lane) -> dict[str, Any]:
    info = lane.component.info
    return {
        "component": name,
        "provider": info.provider,
        "model": info.model,
        "settings": msgspec.to_builtins(dict(info.settings)),
        "simulated": info.simulated,
        "in_process": info.in_process,
        "base_url_host": info.base_url_host,
    }


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


def _interval(scenario: Scenario, settings: Settings) -> float:
    return scenario.tick_seconds if settings.interval_s is None else settings.interval_s


def _workers(settings: Settings, lanes: Sequence[Lane]) -> int:
    """Unless declared: one, or no queue at all behind a drawn latency, which includes its own."""
    if settings.workers is not None:
        return settings.workers
    simulated = all(lane.component.info.simulated for lane in lanes)
    return settings.dispatch.max_in_flight if simulated else 1


def _require_clock(settings: Settings, infos: Sequence[ComponentInfo]) -> None:
    if settings.clock not in ("real", "virtual"):
        raise InputError(
            f"there is no clock {settings.clock!r}", fix="choose --clock real or --clock virtual"
        )
    if settings.clock == "real":
        if settings.workers is not None:
            raise InputError(
                "--workers belongs to the virtual clock",
                fix="add --clock virtual, or leave --workers out",
            )
        return
    remote = [info.name for info in infos if not info.in_process]
    if remote:
        raise InputError(
            f"the virtual clock measures components in this process; {', '.join(remote)} answers"
            " from elsewhere",
            fix="leave out --clock virtual, or use simulated:, baseline:, gguf: or python:",
        )


def _interruption(before: Mapping[str, Any], kept: Kept, resumed_at: str) -> dict[str, Any]:
    return {
        "status": before.get("status"),
        "error_type": before.get("error_type"),
        "ended_at": before.get("ended_at"),
        "resumed_at": resumed_at,
        "kept": list(kept.complete),
        "recorded_anew": list(kept.dropped),
        "torn_last_line": kept.torn,
        "partial_file": kept.partial_file,
        "environment": before.get("environment"),
        "observed": before.get("observed"),
    }


def _event_loop() -> tuple[str, Callable[[], asyncio.AbstractEventLoop] | None]:
    """uvloop where it is installed, and its name for the run record."""
    try:
        # The installed package, asked for by name: a file uvloop.py in some folder is not it.
        version = metadata.version("uvloop")
        import uvloop
    except (ImportError, metadata.PackageNotFoundError):
        return "asyncio", None
    return f"uvloop {version}", uvloop.new_event_loop


def _utc() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
