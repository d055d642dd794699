"""The settings of a pass, as a run record describes them."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.components.contract import ComponentInfo, Fatal
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.in_force import Arbiter, Newest, PairRule
from streamdecisionbench.recording.clock import (
    LEAD_S,
    SPIN_S,
    TOO_LATE,
    Clock,
    StoodStill,
    Watch,
    steady,
)
from streamdecisionbench.recording.episode_log import Ledger, Player, Prepared, Tally, prepare
from streamdecisionbench.recording.folder import Outcome, RecordingFolder, check_folder, utc
from streamdecisionbench.recording.live_policy import LivePolicy
from streamdecisionbench.recording.network_probe import Probes
from streamdecisionbench.recording.progress import Progress, Quiet, drawing
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.realtime import Sending, run_episode
from streamdecisionbench.recording.redaction import Redactor
from streamdecisionbench.recording.retry import classify
from streamdecisionbench.recording.run_file import (
    COMPLETE,
    INCOMPLETE,
    RUNNING,
    ClientUsage,
    RunRecord,
    describe_environment,
    recorded_manifest,
)
from streamdecisionbench.recording.virtual import VirtualStream, run_virtual_streams
from streamdecisionbench.rules.policy_file import Policy
from streamdecisionbench.suite.scenario import Scenario, Suite


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Everything that must be equal for two recordings to be one setting."""

    names: Mapping[str | None, str]
    """Lane → `provider:model` as it was asked for."""

    scenarios: tuple[str, ...]
    interval_s: float | None = None
    """None: every scenario at its own tick."""

    clock: str = "real"
    workers: int | None = None
    dispatch: Sending = field(default_factory=Sending)
    seed: int = 0
    effort: str | None = None
    rule: str | None = None
    limit: int | None = None
    """A smoke run: only so many steps of every scenario; the suite is cut already."""
    policy: Policy | None = None
    """What is sent and what may take effect; None: everything, and the newest."""
    streams: int = 1
    """How many scenarios play at once."""
    replica: int | None = None
    """Of several recordings made at once, since there are more streams than scenarios: which."""


def config_of(suite: Suite, settings: RunSettings, lanes: Sequence[Player]) -> dict[str, Any]:
    """All that must be equal for a recording to be continued or joined."""
    ticks = {interval_of(suite.scenarios[e], settings) for e in settings.scenarios}
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
    if settings.streams > 1:
        config["streams"] = settings.streams
    if settings.replica is not None:
        config["replica"] = settings.replica
    if settings.dispatch.in_all is not None:
        config["max_in_flight_in_all"] = settings.dispatch.in_all
    if any(suite.scenarios[e].published_s is not None for e in settings.scenarios):
        config["irregular"] = True
    if settings.clock == "virtual":
        config["workers"] = workers_of(settings, lanes)
    if settings.limit is not None:
        config["limit"] = settings.limit
    if settings.policy is not None:
        config |= {"policy": settings.policy.to_json(), "policy_name": settings.policy.name}
    if None in parts:
        config |= parts[None]
    elif settings.policy is not None:
        config["members"] = {str(name): part for name, part in parts.items()}
        config["component"] = " + ".join(part["component"] for part in parts.values())
    else:
        config |= {str(name): part for name, part in parts.items()}
        config["rule"] = settings.rule
        config["component"] = " + ".join(part["component"] for part in parts.values())
    return config


def interval_of(scenario: Scenario, settings: RunSettings) -> float:
    """Seconds per step: the settings', or the scenario's own tick."""
    return scenario.tick_seconds if settings.interval_s is None else settings.interval_s


def workers_of(settings: RunSettings, lanes: Sequence[Player]) -> int:
    """Unless declared: one, or no queue at all behind a drawn latency, which includes its own."""
    if settings.workers is not None:
        return settings.workers
    simulated = all(lane.component.info.simulated for lane in lanes)
    return settings.dispatch.max_in_flight * settings.streams if simulated else 1


def require_clock(settings: RunSettings, infos: Sequence[ComponentInfo]) -> None:
    """The virtual clock measures what runs in this process, and only that."""
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


def _describe(name: str, lane: Player) -> dict[str, Any]:
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


# Which scenario plays in which stream: rounds of equally many streams, begun one after another.
#
# S streams play at once. With E scenarios that is E/S rounds where S divides E. Where it does not, or
# S is larger than E, the suite is recorded several times over at once, in *replicas*: as many as it
# takes to fill every round, S / gcd(S, E). So the load never drops because scenarios ran out.
#
# Within a round stream k begins k·Δ/S after the first: releases are spread evenly over an interval and
# no two coincide. The next round starts when every answer of this one is in.


@dataclass(frozen=True, slots=True)
class Play:
    """A scenario of a replica (counted from 0) in a stream."""

    replica: int
    episode_id: str
    stream: int

    def offset_s(self, interval_s: float, streams: int) -> float:
        """How long after the first stream this one begins."""
        return interval_s * self.stream / streams


def replicas_for(streams: int, scenarios: int) -> int:
    """How many recordings of the suite fill all rounds.

    >>> [replicas_for(streams, 8) for streams in (1, 4, 8, 16, 3)]
    [1, 1, 1, 2, 3]
    """
    return streams // math.gcd(streams, scenarios)


def rounds_of(scenarios: Sequence[str], streams: int) -> list[list[Play]]:
    """What plays together, round by round.

    >>> [[p.episode_id for p in plays] for plays in rounds_of(["a", "b", "c", "d"], 2)]
    [['a', 'b'], ['c', 'd']]
    >>> [(p.replica, p.episode_id) for p in rounds_of(["a"], 2)[0]]
    [(0, 'a'), (1, 'a')]
    """
    replicas = replicas_for(streams, len(scenarios))
    everything = [(replica, name) for replica in range(replicas) for name in scenarios]
    return [
        [Play(*each, k) for k, each in enumerate(everything[begin : begin + streams])]
        for begin in range(0, len(everything), streams)
    ]


# Ctrl-C and SIGTERM: the first one ends a recording in order, the second at once.


_EXIT_CODE = 130


def run_until_signal(runner: asyncio.Runner, work: Awaitable[None]) -> bool:
    """Whether the work came to its end. The first Ctrl-C ends it in order, the second at once."""
    stopping = threading.Event()
    tasks: list[asyncio.Task[Any]] = []
    loop = runner.get_loop()

    async def main() -> None:
        task = asyncio.current_task()
        if task is not None:
            tasks.append(task)
        if not stopping.is_set():
            await work

    def stop(number: int, frame: object) -> None:
        if stopping.is_set():
            os._exit(_EXIT_CODE)
        stopping.set()
        for task in tasks:
            loop.call_soon_threadsafe(task.cancel)

    with _handling(stop):
        try:
            runner.run(main())
        except asyncio.CancelledError:
            if not stopping.is_set():
                raise
    return not stopping.is_set()


@contextmanager
def _handling(handler: Callable[[int, object], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals; whoever runs us elsewhere stops us itself
        return
    numbers = [signal.SIGINT, signal.SIGTERM]
    previous = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in previous.items():
            signal.signal(number, old)


# Plays the rounds of a pass: what runs together starts together, and is kept or recorded anew together.
#
# A scenario in which the machine slept or the process stood still measures nothing, and neither does
# what ran beside it: the round is recorded anew. A round of which a stop left only some scenarios is
# recorded anew as well, because what is left of it alone would meet another load.


_TRIES, _TRYING_S = 3, 10.0
"""How often a round is begun when the machine sleeps or the process is stopped in it; a short one
as often as fits into that many seconds."""

_START_S = 0.0005
"""What setting up a stream takes: many of them start that much later."""

_SPINNING = 0.25
"""Of the time, clocks may watch their instants so long; with more streams timers have to do."""


@dataclass(frozen=True, slots=True)
class Replica:
    """One recording in the making: its components and its folder."""

    lanes: Sequence[Player]
    session: RecordingFolder


async def play_rounds(
    suite: Suite,
    replicas: Sequence[Replica],
    settings: RunSettings,
    tally: Tally,
    clean: Redactor,
    progress: Progress,
) -> None:
    """Opens the components, takes hold of the folders and plays what is not complete there."""
    async with contextlib.AsyncExitStack() as stack:
        for lane in (lane for replica in replicas for lane in replica.lanes):
            await _open(lane)
            stack.push_async_callback(_shut, lane)
        rounds = rounds_of(settings.scenarios, settings.streams)
        complete = [set(replica.session.hold()) for replica in replicas]
        done = [r for r in rounds if all(p.episode_id in complete[p.replica] for p in r)]
        todo = [r for r in rounds if r not in done]
        _require_open(replicas, todo)
        kept: list[set[str]] = [set() for _ in replicas]
        _keep(kept, done)
        for replica, keep in zip(replicas, kept, strict=True):
            replica.session.begin(keep)
        work = _Work(suite, replicas, settings, tally, clean, progress)
        tally.expected = sum(
            suite.scenarios[p.episode_id].n * len(replicas[p.replica].lanes)
            for plays in todo
            for p in plays
        )
        tally.scenario_index = 1 + sum(len(plays) for plays in done)
        for index, plays in enumerate(todo):
            if settings.clock == "real":
                tally.later_s = sum(work.lasts_s(later) for later in todo[index + 1 :])
            await work.play(plays, kept)
            _keep(kept, [plays])
            tally.scenario_index += len(plays)


class _Work:
    """The rounds of one pass."""

    def __init__(
        self,
        suite: Suite,
        replicas: Sequence[Replica],
        settings: RunSettings,
        tally: Tally,
        clean: Redactor,
        progress: Progress,
    ) -> None:
        self.suite, self.replicas, self.settings = suite, replicas, settings
        self.tally, self.clean, self.progress = tally, clean, progress
        # Nothing on the virtual clock is far away; replicas ask the same servers.
        self.probes = Probes(replicas[0].lanes if settings.clock == "real" else ())
        in_all = settings.dispatch.in_all
        names = [lane.name for lane in replicas[0].lanes] if in_all is not None else []
        self.gates = {name: asyncio.Semaphore(in_all or 1) for name in names}

    def lasts_s(self, plays: Sequence[Play]) -> float:
        """How long a round publishes states."""
        scenarios = [self.suite.scenarios[e] for e in dict.fromkeys(p.episode_id for p in plays)]
        return max(s.n * interval_of(s, self.settings) for s in scenarios)

    async def play(self, plays: Sequence[Play], kept: Sequence[set[str]]) -> None:
        """Until it is recorded without a standstill; `kept` is what each replica has already."""
        tally = self.tally
        prepared = self._prepare(plays)
        tally.scenario = _title(plays)
        tally.step, tally.steps = 0, max(len(p.requests) for p in prepared.values())
        if self.settings.clock == "real":
            tally.interval_s = max(p.interval_s for p in prepared.values())
        before = tally.copy()
        shortest = min(prepared.values(), key=lambda p: p.horizon_s)
        tries = max(_TRIES, round(_TRYING_S / shortest.horizon_s))
        sessions = [self.replicas[k].session for k in dict.fromkeys(p.replica for p in plays)]
        for left in reversed(range(tries)):
            near = await self.probes.all()
            try:
                await self._once(plays, prepared, left)
                break
            except _Still as stopped:
                pause, episode_id = stopped.pause, stopped.episode_id
                if not left:
                    raise _given_up(pause, tries, prepared[episode_id]) from None
                tally.restore(before.copy())
                for session, keep in zip(
                    (replica.session for replica in self.replicas), kept, strict=True
                ):
                    if session in sessions:
                        await asyncio.to_thread(session.record_anew, pause, episode_id, keep)
                self.progress.say("again", name=f"{episode_id}: {pause.words}; recorded anew")
        far = await self.probes.all()
        for play in plays:
            probed = self.probes.entries(play.episode_id, near, far)
            self.replicas[play.replica].session.probed(self.clean.tree(probed))
        for session in sessions:
            await asyncio.to_thread(session.round_done)
        self.progress.say(
            "scenario" if len(plays) == 1 else "round",
            name=tally.scenario,
            responses=tally.responses - before.responses,
            accepted=tally.accepted - before.accepted,
            errors=tally.failed_attempts - before.failed_attempts,
            left_s=tally.left_s,
        )

    def _prepare(self, plays: Sequence[Play]) -> dict[str, Prepared]:
        """Each scenario once, however many streams play it."""
        scenarios = [self.suite.scenarios[e] for e in dict.fromkeys(p.episode_id for p in plays)]
        return {s.episode_id: prepare(s, interval_of(s, self.settings)) for s in scenarios}

    async def _once(
        self, plays: Sequence[Play], prepared: Mapping[str, Prepared], left: int
    ) -> None:
        ledgers = [self._ledger(play, prepared[play.episode_id]) for play in plays]
        if self.settings.clock == "virtual":
            await self._virtually(plays, ledgers)
            return
        with steady():
            origin = time.monotonic() + LEAD_S + _START_S * (len(plays) - 1)
            await _together([
                self._stream(play, ledger, origin, left)
                for play, ledger in zip(plays, ledgers, strict=True)
            ])  # fmt: skip

    async def _stream(self, play: Play, ledger: Ledger, origin: float, left: int) -> None:
        prepared, settings = ledger.prepared, self.settings
        interval_s, streams = prepared.interval_s, settings.streams
        spinning = streams * SPIN_S <= _SPINNING * interval_s
        clock = Clock(spin_s=SPIN_S if spinning else 0.0)
        clock.origin = origin + play.offset_s(interval_s, streams)
        # What stops again and again is no accident; it is recorded, and said in every score.
        watch = Watch(interval_s, prepared.horizon_s, stops=left > 0)
        lanes = self.replicas[play.replica].lanes
        try:
            await run_episode(ledger, lanes, settings.dispatch, clock, watch, self.gates)
        except StoodStill as pause:
            raise _Still(pause, play.episode_id) from None

    async def _virtually(self, plays: Sequence[Play], ledgers: Sequence[Ledger]) -> None:
        streams = [
            VirtualStream(
                ledger,
                self.replicas[play.replica].lanes,
                play.offset_s(ledger.prepared.interval_s, self.settings.streams),
            )
            for play, ledger in zip(plays, ledgers, strict=True)
        ]
        workers = workers_of(self.settings, self.replicas[0].lanes)
        await run_virtual_streams(streams, self.settings.dispatch, workers)

    def _ledger(self, play: Play, prepared: Prepared) -> Ledger:
        settings, replica = self.settings, self.replicas[play.replica]
        policy: LivePolicy | None = None
        arbiter: Arbiter = PairRule(settings.rule) if settings.rule else Newest()
        if settings.policy is not None:
            names = [lane.name for lane in replica.lanes]
            policy = LivePolicy(settings.policy, prepared.scenario, names)
            arbiter = policy.arbiter
        return Ledger(prepared, replica.session.log, arbiter, self.tally, self.clean, policy)


class _Still(Exception):  # noqa: N818 - named by what happened
    """Time passed a scenario by."""

    def __init__(self, pause: StoodStill, episode_id: str) -> None:
        super().__init__()
        self.pause, self.episode_id = pause, episode_id


async def _together(streams: Sequence[Coroutine[Any, Any, None]]) -> None:
    """All of them at once. The first failure ends all; a standstill explains whatever came with it."""
    if len(streams) == 1:
        await streams[0]
        return
    try:
        async with asyncio.TaskGroup() as group:
            for stream in streams:
                group.create_task(stream)
    except BaseExceptionGroup as failures:
        first = next((f for f in failures.exceptions if isinstance(f, _Still)), None)
        raise (first or failures.exceptions[0]) from None


def _keep(kept: Sequence[set[str]], rounds: Sequence[Sequence[Play]]) -> None:
    for play in (play for plays in rounds for play in plays):
        kept[play.replica].add(play.episode_id)


def _title(plays: Sequence[Play]) -> str:
    names = list(dict.fromkeys(play.episode_id for play in plays))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return names[0] + more + (f", {len(plays)} streams" if len(plays) > 1 else "")


def _require_open(replicas: Sequence[Replica], todo: Sequence[Sequence[Play]]) -> None:
    for play in (play for plays in todo for play in plays):
        session = replicas[play.replica].session
        if session.closed:
            raise InputError(
                "is complete, but what was recorded at the same time is not",
                where=session.folder,
                fix="restore the folders beside it, or record all of them into a fresh --out",
            )


def _given_up(pause: StoodStill, tries: int, prepared: Prepared) -> Fatal:
    fix = "keep the machine awake, then go on with --resume"
    if pause.kind == TOO_LATE:
        fix = (
            f"this machine cannot publish every {prepared.interval_s:g} s: take a longer --interval"
            " or fewer --streams, run less beside it, or use --clock virtual"
        )
    name = prepared.scenario.episode_id
    return Fatal(pause.kind, f"{name} was begun {tries} times: {pause.words}", fix=fix)


async def _open(lane: Player) -> None:
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


async def _shut(lane: Player) -> None:
    # What is recorded is recorded: a client that fails to say goodbye changes nothing about it.
    with contextlib.suppress(Exception):
        await lane.component.close()


# One pass of a component (or a live pair) over a suite, from an empty folder to a closed recording.
#
# The component is opened before anything is written, every event is on disk before it has consequences,
# and however it ends the run record says so.


INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Part:
    """One recording of several that are made at once, with components of its own."""

    lanes: Sequence[Player]
    settings: RunSettings
    folder: Path


def record(
    suite: Suite,
    lanes: Sequence[Player],
    settings: RunSettings,
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
) -> RecordingFolder:
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
    session = RecordingFolder(folder, suite, run, resume=resume, overwrite=overwrite)
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


def _sent(lane: Player) -> Sequence[str]:
    """Keys and headers a component sends: a server may echo them as its model's name."""
    found: Sequence[str] = getattr(lane.component, "secrets", ())
    return found


def _observed(lanes: Sequence[Player]) -> dict[str, Any]:
    """What components saw on the wire: connections, HTTP versions, tiers that really served."""
    return {
        lane.name or "component": lane.component.observed.to_json()
        for lane in lanes
        if hasattr(lane.component, "observed")
    }


def _already_complete(session: RecordingFolder, suite: Suite) -> Outcome:
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
