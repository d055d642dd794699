"""The folder a pass is recorded into: which may be used, by one process alone, and going on after a stop.

Complete scenarios stay byte for byte, the others are recorded anew; nothing recorded is lost: the log as
it was is kept beside the new one as `events.partial-N.jsonl`. Order matters: the folder is held before
its run record is read and compared, the record says `running` before the first event, and only a log
that is still ours and holds every response gets the status `complete` and its digest.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from streamdecisionbench.components.providers.address_and_key import same_place
from streamdecisionbench.components.providers.prompt import SIMULATED
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.recording.clock import Paused
from streamdecisionbench.recording.episode import (
    Diagnostics,
    EpisodeLog,
    LiveSession,
    Member,
    Prepared,
    Tally,
    prepare_live,
)
from streamdecisionbench.recording.event_log import (
    EDITED,
    EVENTS_FILE,
    Attempt,
    Event,
    EventLog,
    LogLine,
    Release,
    Response,
    Skipped,
    log_lines,
    scan,
)
from streamdecisionbench.recording.reader import (
    assemble,
    episodes_of,
    expectations,
    find_problems,
    read_recording,
    require_no_problems,
)
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.recording_check import (
    Expected,
    check_episode,
)
from streamdecisionbench.recording.run_file import (
    COMPLETE,
    INCOMPLETE,
    RUN_FILE,
    RunRecord,
    read_run,
    recorded_manifest,
    write_run,
)
from streamdecisionbench.suite.file_io import (
    cannot_write,
    read_bytes,
    sync_folder,
    write_synced,
)
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import (
    SUITE_FOLDER,
    make_suite,
    other_suite_error,
    read_suite,
    write_suite,
)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Holds the folder, made where it is missing. The system lets go when the process dies.

    Where there are no such locks (Windows, some network file systems) nothing is held.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    import fcntl

    held = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                "another process is recording into it",
                where=folder,
                fix="wait until it has ended, or choose another --out",
            ) from None
        except OSError:
            pass  # there are no locks here
        yield
    finally:
        os.close(held)


_PARTIAL = "events.partial-*.jsonl"


def require_fresh(folder: Path, *, overwrite: bool = False) -> None:
    """A recording starts in a folder of its own.

    A run that stopped before anything was answered (a wrong model name, no key) leaves a folder that
    the corrected command may use. `overwrite` also gives up answers, but never a complete recording.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError("is a file, not a folder", where=folder, fix="choose another --out")
    if not any(folder.iterdir()):
        return
    ours = _is_ours(folder)
    if ours and (overwrite or nothing_answered(folder)):
        return
    fix = "choose another --out"
    if ours:
        fix += ", add --resume to go on with the recording in it, or --overwrite to give it up"
    elif (folder / RUN_FILE).exists():
        fix += ", or add --resume to go on with the recording in it"
    raise InputError("is not a fresh folder", where=folder, fix=fix)


def nothing_answered(folder: Path) -> bool:
    """Whether no answer is in any log of the folder."""
    return not any(_has_response(log) for log in (folder / EVENTS_FILE, *folder.glob(_PARTIAL)))


def clear(folder: Path) -> None:
    """Removes what a recorder left: our files only, and links to nowhere else."""
    for path in _our_files(folder):
        path.unlink()


def _is_ours(folder: Path) -> bool:
    """Nothing but an unfinished recording of ours."""
    ours = {*_our_files(folder), folder / SUITE_FOLDER}
    if any(p not in ours for p in (*folder.iterdir(), *(folder / SUITE_FOLDER).glob("*"))):
        return False
    if not (folder / RUN_FILE).exists():
        return nothing_answered(folder)
    try:
        return read_run(folder).status != COMPLETE
    except InputError:
        return False


def _our_files(folder: Path) -> list[Path]:
    names = [RUN_FILE, EVENTS_FILE]
    found = [folder / name for name in (*names, *(f"{name}.tmp" for name in names))]
    found += [*sorted(folder.glob(_PARTIAL)), *sorted((folder / SUITE_FOLDER).glob("*.json"))]
    return [p for p in found if p.is_file() and not p.is_symlink()]


def _has_response(log: Path) -> bool:
    if not log.exists():
        return False
    return any(isinstance(line.event, Response) for line in log_lines(read_bytes(log)))


def summarise_log(events: Iterable[Event]) -> dict[str, Any]:
    """What a log says about the run itself: counts with their denominators, lags in milliseconds.

    Release lag is actual − planned publication; dispatch wait is from publication to the start of
    the first attempt, which is also where waiting for one of the in-flight slots shows.
    """
    releases: list[float] = []
    waits: list[float] = []
    attempts = failed = accepted = 0
    discarded: dict[str, int] = {}
    policy: dict[str, int] = {}
    retried: set[tuple[str, int, str | None]] = set()
    kinds: dict[str, int] = {}
    models: set[str] = set()
    stalled: list[float] = []
    for event in events:
        if isinstance(event, Release):
            releases.append(event.release_s - event.planned_s)
        elif isinstance(event, Attempt):
            attempts += 1
            failed += not event.ok
            if not event.ok and event.error_type:
                kinds[event.error_type] = kinds.get(event.error_type, 0) + 1
            if event.attempt > 1:
                retried.add((event.episode_id, event.t, event.component))
        elif isinstance(event, Response):
            waits.append(event.started_s - event.release_s)
            stalled += [event.stalled_s] if event.stalled_s else []
            accepted += event.accepted
            if event.discard_reason:
                discarded[event.discard_reason] = discarded.get(event.discard_reason, 0) + 1
            if event.model:
                models.add(event.model)
        else:
            what = event.reason if isinstance(event, Skipped) else type(event).__name__.lower()
            policy[what] = policy.get(what, 0) + 1
    return {
        "releases": len(releases),
        "responses": len(waits),
        "attempts": attempts,
        "failed_attempts": failed,
        **({"failed_by_kind": kinds} if kinds else {}),
        "retried_requests": len(retried),
        "accepted": accepted,
        "discarded": discarded,
        **({"policy": policy} if policy else {}),
        **({"stalled": {"answers": len(stalled), "longest_s": max(stalled)}} if stalled else {}),
        "release_lag_ms": quantiles_ms(releases),
        "dispatch_wait_ms": quantiles_ms(waits),
        "dispatch_wait_total_s": round(sum(waits), 6),
        "served_models": sorted(models),
    }


def quantiles_ms(lags_s: Sequence[float]) -> dict[str, float]:
    """p50, p99 and the largest, by nearest rank.

    >>> quantiles_ms([0.001, 0.002, 0.004])
    {'p50': 2.0, 'p99': 4.0, 'max': 4.0}
    """
    if not lags_s:
        return {}
    ordered = sorted(lags_s)
    last = len(ordered) - 1
    return {
        name: round(1e3 * ordered[min(last, int(share * len(ordered)))], 3)
        for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }


@dataclass(frozen=True, slots=True)
class Kept:
    """What a resumed recording starts from."""

    complete: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    torn: bool = False
    partial_file: str | None = None


_Lines = list[tuple[str | None, LogLine]]
"""Lines of a log, each with the scenario it names."""


class _Place(msgspec.Struct):
    episode_id: str


def require_same(
    folder: Path,
    record: RunRecord,
    config: Mapping[str, Any],
    dataset_hash: str,
    *,
    ignore: Iterable[str] = (),
) -> None:
    """Refuses to continue one recording as another: suite and every setting must be equal."""
    recorded_hash = record.dataset_manifest.dataset_hash
    if recorded_hash != dataset_hash:
        raise other_suite_error(
            recorded_hash,
            dataset_hash,
            where=folder,
            fix="give the same suite with --data, or record into a fresh --out folder",
        )
    before = record.config
    _require_same_world(folder, before.get("world"), config.get("world"))
    if before.get("effort") is None and isinstance(own := before.get("settings"), Mapping):
        # Older records state the effort in the component's settings alone.
        before = {**before, "effort": own.get("effort")}
    differing = [
        f"{key} was {_show(before.get(key))}, now {_show(config.get(key))}"
        for key in sorted({*before, *config} - set(ignore))
        if not _same(key, before.get(key), config.get(key))
    ]
    if differing:
        raise InputError(
            f"was recorded with other settings: {'; '.join(differing)}",
            where=folder,
            fix="repeat the settings it was started with, or record into a fresh --out folder",
        )


def _require_same_world(folder: Path, before: Any, now: Any) -> None:
    """Sessions are taken up by playing them again: the same seeds have to give the same states."""
    if not isinstance(before, Mapping) or not isinstance(now, Mapping) or before == now:
        return
    if {**before, "right": None} == {**now, "right": None}:
        raise InputError(
            f"cannot be continued: {_show(now.get('name'))} showed other states for the same seeds when it"
            " was opened again, so what was recorded cannot be played again",
            where=folder,
            fix="record into a fresh --out folder; an environment that can be resumed draws everything from"
            " the seed of reset() and uses no clock, and its version and the reference stay the same",
        )


_NEWER = ("sdk_retries", "instruction", "instruction_sha256")
"""What older records leave out and no setting changes."""


def _same(key: str, before: Any, now: Any) -> bool:
    """Equal settings; a server of this machine may come back at another port."""
    if key in _NEWER and None in (before, now):
        return True
    if key == "settings" and isinstance(before, Mapping) and isinstance(now, Mapping):
        return all(_same(k, before.get(k), now.get(k)) for k in {*before, *now})
    if key == "base_url_host":
        return same_place(before) == same_place(now)
    if isinstance(before, Mapping) and isinstance(now, Mapping) and "base_url_host" in before:
        return all(_same(k, before.get(k), now.get(k)) for k in {*before, *now})  # a pair's part
    return bool(before == now)


def complete_in(folder: Path, expected: Mapping[str, Expected]) -> tuple[str, ...]:
    """The scenarios that the log holds completely; nothing is changed."""
    log = folder / EVENTS_FILE
    if not log.exists():
        return ()
    return _complete(_lines(read_bytes(log), log)[0], expected)


def keep_complete(
    folder: Path,
    expected: Mapping[str, Expected],
    among: Collection[str] | None = None,
    broken_off: Mapping[str, int] | None = None,
) -> Kept:
    """Rewrites the log to its complete scenarios, in one step, with the old one kept aside.

    `among`: only these; others are given up although they are complete. Of those that are `broken_off`
    so many events stay. A scenario is complete when
    nothing about it violates the recording protocol. The steps are: write the new log, name the old one
    `events.partial-N.jsonl`, put the new one in its place, each on the medium before the next. A crash or
    a power cut between any two loses nothing.
    """
    log = folder / EVENTS_FILE
    if not log.exists():
        return Kept()
    data = read_bytes(log)
    lines, torn = _lines(data, log)
    complete = tuple(key for key in _complete(lines, expected) if among is None or key in among)
    seen = dict.fromkeys(place for place, _ in lines if place is not None)
    dropped = tuple(key for key in seen if key not in complete)
    # The recorder may have stopped between the last brace and the line's end.
    whole = [(place, line.raw.rstrip(b"\n") + b"\n") for place, line in lines]
    left = dict(broken_off or {})
    lines_kept = []
    for place, raw in whole:
        if place is None or place in complete:
            lines_kept.append(raw)
        elif left.get(place, 0) > 0:
            left[place] -= 1
            lines_kept.append(raw)
    kept = b"".join(lines_kept)
    if kept == data:
        return Kept(complete)
    number = 1
    while (partial := folder / f"events.partial-{number}.jsonl").exists():
        number += 1
    fresh = folder / f"{EVENTS_FILE}.tmp"
    try:
        write_synced(fresh, kept)
        try:
            os.link(log, partial)
        except OSError:  # a file system without hard links
            write_synced(partial, data)
        sync_folder(folder)
        fresh.replace(log)
        sync_folder(folder)
    except OSError as error:
        raise cannot_write(fresh, error) from None
    return Kept(complete, dropped, torn, partial.name)


def _complete(lines: _Lines, expected: Mapping[str, Expected]) -> tuple[str, ...]:
    spoiled = {place for place, line in lines if line.broken}
    events = [line.event for _, line in lines if line.event is not None]
    return tuple(
        key
        for key, episode in episodes_of(events).items()
        if key in expected and key not in spoiled and not check_episode(episode, expected[key])
    )


def _lines(data: bytes, log: Path) -> tuple[_Lines, bool]:
    """The log's lines, and whether the last one is torn; a torn one is left out."""
    found: _Lines = []
    for line in log_lines(data):
        if line.torn:
            return found, True
        place = _place(line.raw) if line.event is None else line.event.episode_id
        if line.broken and place is None:
            raise InputError(f"line {line.number} is not an event", where=log, fix=EDITED)
        found.append((place, line))
    return found, False


def _place(raw: bytes) -> str | None:
    try:
        return msgspec.json.decode(raw, type=_Place).episode_id
    except (ValueError, RecursionError):
        return None


def _show(value: Any) -> str:
    text = msgspec.json.encode(value).decode() if value is not None else "absent"
    return text if len(text) <= 60 else text[:57] + "…"


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a pass ended."""

    folder: Path
    status: str
    reason: str | None
    summary: Mapping[str, Any] = field(default_factory=dict)
    recording: Recording | None = None
    """What was recorded, as it was read for the check at the end; None where it is not complete."""
    suite: Suite | None = None


class RecordingFolder:
    """A recording folder, looked at when it is made, then held, with the log of its components."""

    def __init__(
        self,
        folder: Path,
        suite: Suite,
        record: RunRecord,
        members: Sequence[Member],
        *,
        resume: bool,
        overwrite: bool,
        sessions: Mapping[str, Callable[[], LiveSession]] | None = None,
    ) -> None:
        self.folder, self.record, self.members = folder, record, members
        self._suite, self._resume, self._overwrite = suite, resume, overwrite
        self.prepared: Mapping[str, Any] = {}
        """What was done before the first state: the audit of the input, warm-ups."""
        self.diagnostics = Diagnostics()
        self._held = contextlib.ExitStack()
        self._log: EventLog | None = None
        self._sessions = sessions
        self.lived: dict[str, Prepared] = {}
        """Sessions that answered back, as far as they were lived through."""
        self.broken_off: dict[str, Sequence[Event]] = {}
        """Those that are taken up where they were broken off: what stays of them."""
        self._before = self._look()
        self._complete: RunEnd | None = None

    @property
    def log(self) -> EventLog:
        if self._log is None:
            raise AssertionError("the recording has not begun")
        return self._log

    @property
    def begun(self) -> bool:
        return self._log is not None

    @property
    def closed(self) -> bool:
        """Whether what it holds is complete, by another process perhaps: it stays as it is."""
        return self._before is not None and self._before.status == COMPLETE

    def _look(self) -> RunRecord | None:
        """The record to go on from, None for a fresh start; refuses any other folder.

        Asked before anything is opened or paid for, and again once the folder is ours alone.
        """
        folder = self.folder
        if not self._resume:
            require_fresh(folder, overwrite=self._overwrite)
            return None
        if not (folder / RUN_FILE).exists():
            if (folder / EVENTS_FILE).exists():
                raise InputError(
                    f"has events but no {RUN_FILE}: it is not known what was being recorded",
                    where=folder,
                    fix="restore run.json, or record into a fresh --out folder",
                )
            return None
        before = read_run(folder)
        if before.status != COMPLETE and nothing_answered(folder):
            return None
        suite_hash = self._suite.dataset_hash
        if self._sessions is not None:  # which sessions they are stands in the settings
            suite_hash = before.dataset_manifest.dataset_hash
        # Whether a server simulates is known from its answers, not from the settings.
        require_same(folder, before, self.record.config, suite_hash, ignore=("simulated",))
        return before

    @property
    def _expected(self) -> Mapping[str, Expected]:
        suite = self._lived_suite() if self._sessions is not None else self._suite
        return expectations(self.record, suite, {s.episode_id: s.n for s in suite})

    def _lived_suite(self) -> Suite:
        """What was lived through, by the log; where nothing was, what would be if all were right."""
        log, found = self.folder / EVENTS_FILE, dict(self.lived)
        if log.exists() and self._sessions is not None:
            events = scan(log).events
            for name in dict.fromkeys(e.episode_id for e in events):
                if name in self._sessions and name not in found:
                    found[name], _ = self._relived(
                        name, [e for e in events if e.episode_id == name]
                    )
        whole = {name: p.lived() for name, p in found.items() if len(p.steps) == p.n}
        self.lived |= {name: found[name] for name in whole}
        scenarios = [whole.get(s.episode_id, s) for s in self._suite]
        return make_suite(scenarios, name=f"{self._suite.name}, as it was lived through")

    def _relived(self, name: str, events: Sequence[Event]) -> tuple[Prepared, int]:
        """A session once more, and how many events there are up to its last whole tick."""
        if self._sessions is None:
            raise AssertionError("a suite's scenarios are known")
        session = self._sessions[name]()
        pace_s = self.record.interval_s or session.right.tick_seconds
        log = EpisodeLog(
            prepare_live(session, pace_s),
            self.members,
            lambda _: None,
            Tally(),
            rule=self.record.config.get("rule"),
            policy=self.record.policy,
        )
        whole = 0
        # A log that could not have been is recorded anew.
        with contextlib.suppress(LookupError, ValueError, SdbError):
            whole = log.relive(events)
            if len(log.releases) == log.prepared.n:
                log.finished()
        return log.prepared, whole

    def hold(self) -> tuple[str, ...]:
        """Takes hold of the folder; the scenarios that are complete in it."""
        self._held.enter_context(alone_in(self.folder))
        self._before = self._look()
        if self._before is None:
            return ()
        if self.closed:
            self.already_complete()
            return tuple(self._before.scenarios or (s.episode_id for s in self._suite))
        return complete_in(self.folder, self._expected)

    def already_complete(self) -> RunEnd:
        """Nothing to do, if what was recorded still is what was recorded."""
        if self._complete is None:
            lived = self._sessions is not None
            suite = read_suite(self.folder / SUITE_FOLDER) if lived else self._suite
            found = read_recording(self.folder, suite)
            summary = found.run.get("summary") or {}
            why = "already complete"
            self._complete = RunEnd(self.folder, COMPLETE, why, summary, found, suite)
        return self._complete

    def begin(self, keep: Collection[str]) -> None:
        """Opens the log with these of its complete scenarios in it."""
        before = self._before
        if self.closed:
            return
        if before is None:
            clear(self.folder)
        else:
            self._find_broken_off(keep)
            stay = {name: len(events) for name, events in self.broken_off.items()}
            kept = keep_complete(self.folder, self._expected, keep, stay)
            self.record = replace(
                self.record,
                started_at=before.started_at or self.record.started_at,
                network=[
                    x
                    for x in before.network
                    if isinstance(x, Mapping) and x.get("scenario") in kept.complete
                ],
                interruptions=[
                    *before.interruptions,
                    _interruption(before, kept, self.record)
                    | ({"taken_up_after": stay} if stay else {}),
                ],
            )
        self.record = replace(self.record, preparation=dict(self.prepared))
        write_run(self.folder, self.record)
        self._log = EventLog(self.folder, resume=before is not None)

    def _find_broken_off(self, keep: Collection[str]) -> None:
        """Sessions of which whole ticks are on disk."""
        if self._sessions is None:
            return
        events = scan(self.folder / EVENTS_FILE).events
        for name in dict.fromkeys(e.episode_id for e in events):
            if name in self._sessions and name not in keep:
                own = [e for e in events if e.episode_id == name]
                _, whole = self._relived(name, own)
                if whole:
                    self.broken_off[name] = own[:whole]

    def probed(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """How far away the servers were before and after a scenario."""
        self.record = replace(self.record, network=[*self.record.network, *entries])

    def round_done(self) -> None:
        """Forces the log to the medium; what it holds must have come from us."""
        self.log.sync()
        self.log.require_ours()
        if self.record.network:
            write_run(self.folder, self.record)

    def record_anew(self, pause: Paused, keep: Collection[str]) -> None:
        """Sets aside what a round left that cannot be used, and opens the log again."""
        self.log.require_ours()
        self.log.close()
        kept = keep_complete(self.folder, self._expected, keep)
        note = {
            "reason": pause.kind,
            "scenario": pause.episode_id,
            "step": pause.t,
            "seconds": round(pause.seconds, 3),
            "at": utc(),
            "recorded_anew": list(kept.dropped),
            "partial_file": kept.partial_file,
        }
        self.record = replace(self.record, interruptions=[*self.record.interruptions, note])
        write_run(self.folder, self.record)
        self._log = EventLog(self.folder, resume=True)

    def finish(
        self,
        reason: str | None,
        message: str | None,
        client: Mapping[str, Any],
        observed: Mapping[str, Any],
        diagnostics: Mapping[str, Any],
    ) -> RunEnd:
        """Closes the log and writes how it ended. Refuses to call complete what is not.

        `client` is what this process needed of the machine, `observed` what components saw on the wire,
        `diagnostics` what they said of their answers.
        """
        self.log.require_ours()
        self.log.close()
        found = scan(self.log.path)
        summary = summarise_log(found.events)
        served = summary.pop("served_models")
        summary |= {"client": dict(client)} if client else {}
        config = self.record.config
        if any(model.startswith(SIMULATED) for model in served):
            # A server that simulates says so in the model's name; what it answered stays labelled.
            config = {**config, "simulated": True}
        record = replace(
            self.record,
            ended_at=utc(),
            served_models=served,
            summary=summary,
            observed=dict(observed),
            diagnostics=dict(diagnostics),
            config=config,
        )
        recording: Recording | None = None
        problem: InputError | None = None
        suite = self._suite
        if reason is None:
            closed = replace(record, status=COMPLETE, events_sha256=found.sha256)
            if self._sessions is not None:
                suite = self._lived_suite()
                counted = {n: p.live.outcomes() for n, p in self.lived.items() if p.live}
                closed = replace(
                    closed,
                    dataset_manifest=recorded_manifest(suite.manifest),
                    summary=summary | {"outcomes": counted},
                )
            try:
                recording = assemble(self.folder, closed, found.events, found.sha256)
                require_no_problems(find_problems(recording, suite), self.log.path)
                if self._sessions is not None:
                    write_suite(suite, self.folder / SUITE_FOLDER)
                record = closed
            except InputError as error:
                problem, reason, message = error, "protocol", str(error)
        if reason is not None:
            record = replace(record, status=INCOMPLETE, error_type=reason, error=message)
        self.record = record
        write_run(self.folder, record)
        if problem is not None:
            raise problem
        return RunEnd(self.folder, record.status, reason, record.summary, recording, suite)

    def close(self) -> None:
        """Lets go of the folder."""
        if self._log is not None:
            with contextlib.suppress(OSError):
                self._log.close()
        self._held.close()


def utc() -> str:
    """Now, as run records write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
        "preparation": before.preparation,
        "observed": before.observed,
        "diagnostics": before.diagnostics,
    }
