"""One pass of a component, a live pair or a cascade over a suite: from a folder to a closed recording.

The components are opened before anything is written, every event is on disk before it has consequences,
and however it ends the run record says so. The first Ctrl-C or SIGTERM ends a recording in order, the
second at once.

S streams play at once. With E scenarios that is E/S rounds where S divides E. Where it does not, or S is
larger than E, the suite is recorded several times over at once, in *replicas*: as many as it takes to
fill every round, S / gcd(S, E). So the load never drops because scenarios ran out. Within a round stream
k begins k·Δ/S after the first: releases are spread evenly over an interval and no two coincide. The next
round starts when every answer of this one is in.

A scenario in which the machine slept or the process stood still measures nothing, and neither does what
ran beside it: the round is recorded anew. A round of which a stop left only some scenarios is recorded
anew as well, because what is left of it alone would meet another load.
"""

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
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from streamdecisionbench.components.contract import (
    ComponentInfo,
    Fatal,
    Request,
    Size,
    check_answer,
)
from streamdecisionbench.components.providers.address_and_key import is_own_network
from streamdecisionbench.components.redaction import Redactor
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.kernel.rule import pair_rule
from streamdecisionbench.policies.policy_file import Policy
from streamdecisionbench.recording.clock import (
    LEAD_S,
    SPIN_S,
    TOO_LATE,
    Clock,
    Heartbeat,
    Paused,
    PauseDetector,
    steady,
)
from streamdecisionbench.recording.episode import (
    Diagnostics,
    EpisodeLog,
    LiveSession,
    Member,
    Prepared,
    Tally,
    normalise,
    prepare,
    prepare_live,
)
from streamdecisionbench.recording.network_probe import Probes
from streamdecisionbench.recording.progress import Progress, drawing
from streamdecisionbench.recording.realtime import call, run_episode
from streamdecisionbench.recording.recording_folder import (
    RecordingFolder,
    RunEnd,
    utc,
)
from streamdecisionbench.recording.retry import classify
from streamdecisionbench.recording.run_file import (
    INCOMPLETE,
    RUNNING,
    ClientUsage,
    RunRecord,
    describe_environment,
    place_of_suite,
    recorded_manifest,
)
from streamdecisionbench.recording.run_options import DispatchOptions, RunOptions
from streamdecisionbench.recording.virtual import (
    StatedLatency,
    VirtualStream,
    run_virtual_streams,
)
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.text import plural

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One recording: the options of the run, and where its recordings differ."""

    options: RunOptions
    scenarios: tuple[str, ...]
    """Chosen from the suite, which is already cut to `limit` steps."""
    interval_s: float | None = None
    """None: every scenario at its own tick."""
    streams: int = 1
    """Number of scenarios that play at once."""
    seed: int = 0
    replica: int | None = None
    """The number of this recording, where more streams play than there are scenarios."""
    latency: StatedLatency | None = None
    """Declared instead of measured, on the virtual clock."""

    @property
    def clock(self) -> str:
        return self.options.pace.clock

    @property
    def dispatch(self) -> DispatchOptions:
        return self.options.dispatch

    @property
    def policy(self) -> Policy | None:
        return self.options.components.policy

    @property
    def rule(self) -> str | None:
        asked = self.options.components
        return pair_rule(asked.rule or "freshest") if asked.is_pair else None

    def warmups_of(self, info: ComponentInfo) -> int:
        """Three where a model is loaded by whoever measures it; a hosted service is warm, or it shows.

        >>> config = RunConfig(RunOptions.of({}), ())
        >>> config.warmups_of(ComponentInfo("gguf", "m", in_process=True))
        3
        """
        asked = self.options.components.warmup
        if asked is not None:
            return asked
        nothing_to_warm = info.simulated or info.provider == "baseline"
        own = info.in_process or is_own_network(info.base_url_host)
        return _WARMUPS if own and not nothing_to_warm else 0

    def interval_of(self, scenario: Scenario) -> float:
        """Seconds per step: these, or the scenario's own tick."""
        return scenario.tick_seconds if self.interval_s is None else self.interval_s

    def workers_of(self, members: Sequence[Member]) -> int:
        """Unless declared: one, or no queue at all behind a drawn or declared latency, which includes
        its own."""
        if self.options.pace.workers is not None:
            return self.options.pace.workers
        drawn = self.latency or all(member.component.info.simulated for member in members)
        return self.dispatch.max_in_flight * self.streams if drawn else 1

    def to_json(self, suite: Suite, members: Sequence[Member]) -> dict[str, Any]:
        """As the run record states it: all that must be equal to be continued or joined."""
        scenarios = [suite.scenarios[e] for e in self.scenarios]
        ticks = {self.interval_of(s) for s in scenarios}
        tick = ticks.pop() if len(ticks) == 1 else None
        irregular = any(s.published_s is not None for s in scenarios)
        asked, world = self.options.components, self.options.world
        parts = {
            str(m.name): _describe(asked.components[m.name], m, self.warmups_of(m.component.info))
            for m in members
        }
        config: dict[str, Any] = {
            "interval_s": tick,
            "tick_seconds": tick,
            "max_in_flight": self.dispatch.max_in_flight,
            "timeout_s": self.dispatch.timeout_s,
            "retry": self.dispatch.retry.to_json(),
            "sdk_retries": 0,
            "clock": self.clock,
            "simulated": any(m.component.info.simulated for m in members),
            "scenarios": list(self.scenarios),
            "seed": self.seed,
            "effort": asked.efforts.get(None),
        }
        rarely = {
            "streams": self.streams if self.streams > 1 else None,
            "replica": self.replica,
            "max_in_flight_in_all": self.dispatch.in_all,
            "irregular": irregular or None,
            "workers": self.workers_of(members) if self.clock == "virtual" else None,
            "latency": self.latency.text if self.latency else None,
            "world": None if world is None else world.config,
            "limit": self.options.suite.limit,
            "policy": self.policy.to_json() if self.policy else None,
            "policy_name": self.policy.name if self.policy else None,
            "stated": self.options.server.to_json() or None,
        }
        config |= {name: value for name, value in rarely.items() if value is not None}
        if members[0].name is None:
            return config | parts["None"]
        config["component"] = " + ".join(part["component"] for part in parts.values())
        return config | ({"members": parts} if self.policy else {**parts, "rule": self.rule})

    def require_clock(self, members: Sequence[Member]) -> None:
        """The virtual clock measures what runs in this process, and only that."""
        known = ("real", "virtual", "paused") if self.options.world else ("real", "virtual")
        if self.clock not in known:
            raise InputError(
                "only a world can wait: a suite's scenarios go on by themselves"
                if self.clock == "paused"
                else f"there is no clock {self.clock!r}",
                fix=f"choose --clock {' or --clock '.join(known)}",
            )
        if self.clock != "virtual" and self.options.pace.workers is not None:
            raise InputError(
                "--workers belongs to the virtual clock",
                fix="add --clock virtual, or leave --workers out",
            )
        infos = [member.component.info for member in members]
        if self.latency is not None:
            self._require_unmeasured(infos)
        remote = [info.name for info in infos if not info.in_process]
        if self.clock == "virtual" and remote:
            raise InputError(
                f"the virtual clock measures components in this process; {', '.join(remote)} answers"
                " from elsewhere",
                fix="leave out --clock virtual, or use simulated:, baseline:, gguf: or python:",
            )

    def _require_unmeasured(self, infos: Sequence[ComponentInfo]) -> None:
        """A latency can be declared of one component in this process that has none of its own."""
        for wrong, what, fix in (
            (self.clock != "virtual", "a real clock measures latencies", "add --clock virtual"),
            (len(infos) > 1, "--latency is of one component", "record the components one by one"),
            (
                infos[0].simulated,
                f"{infos[0].name} declares its own latency",
                "leave --latency out",
            ),
        ):
            if wrong:
                raise InputError(what, fix=fix)


def _describe(name: str, member: Member, warmups: int) -> dict[str, Any]:
    info = member.component.info
    return {
        **({"warmup": warmups} if warmups else {}),
        "component": name,
        "provider": info.provider,
        "model": info.model,
        "settings": msgspec.to_builtins(dict(info.settings)),
        "simulated": info.simulated,
        "in_process": info.in_process,
        "base_url_host": info.base_url_host,
    }


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


_WARMUPS = 3

_WARMUP_QUESTIONS: dict[str, Any] = {
    "vent": {
        "type": "choice",
        "instructions": "Open the roof vent while the newest temperature is above 24 degrees.",
        "criteria": {"K02": "open: The vent is open", "K01": "shut: The vent is shut"},
    },
    "water": {
        "type": "choice",
        "instructions": "Water the bed with the driest newest reading, or none above 30 percent.",
        "criteria": {
            "K03": "none: No bed",
            "K01": "left: The left bed",
            "K02": "right: The right bed",
        },
    },
}


def warmup_request(k: int) -> Request:
    """A state of a greenhouse that no suite knows, another for every `k`, in the form of all requests."""
    readings = [
        {
            "minute": m,
            "degrees": 18 + (7 * m + k) % 11,
            "left": (13 * m + k) % 60,
            "right": 20 + m % 40,
        }
        for m in range(24)
    ]
    return Request({"greenhouse": f"house {k}", "readings": readings}, _WARMUP_QUESTIONS)


async def warm_up(member: Member, count: int, timeout_s: float) -> list[dict[str, Any]]:
    """How each request went that is neither scored nor priced; the first that fails is the last.

    A failure stops nothing: what is wrong will show, and be told, at the first state.
    """
    found: list[dict[str, Any]] = []
    for k in range(1, count + 1):
        request, begun = warmup_request(k), time.perf_counter()
        entry: dict[str, Any] = {"ok": True}
        try:
            async with asyncio.timeout(None if member.component.info.in_process else timeout_s):
                answer = normalise(await call(member.component, request), request.questions)
            check_answer(answer, request.questions)
            entry["usage"] = msgspec.to_builtins(answer.usage)
        except Exception as error:
            entry = {"ok": False, "error_type": classify(error).error_type}
        found.append({**entry, "seconds": round(time.perf_counter() - begun, 6)})
        if not entry["ok"]:
            break
    return found


async def audit(member: Member, scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """The size of every request, for the run record; `InputError` names the first that does not fit."""
    component, name = member.component, member.component.info.name
    limits = getattr(component, "limits", None)
    stated = {"api_limits": asdict(limits)} if limits is not None else {}
    measure = getattr(component, "size", None)
    sizes: list[tuple[int, str]] = []
    size: Size | None = None
    for scenario in scenarios if measure else ():
        questions = scenario.wire_questions()
        for t, step in enumerate(scenario.steps):
            where = f"{scenario.episode_id} step {t}"
            size = await measure(Request(step.state, questions)) if measure else None
            if size is None and sizes:
                raise Fatal(
                    "input_audit", f"{name} no longer says how long requests are ({where})",
                    fix="check the server, then run again",
                )  # fmt: skip
            if size is None:
                return {"counted_by": None, **stated}
            cut = size.problem
            if size.tokens > size.context:
                least = "" if size.exact else "at least "
                cut = f"{least}{size.tokens:,} tokens are needed, and the context holds {size.context:,}"
            if cut:
                raise InputError(
                    f"the request does not fit {name}: {cut}",
                    where=where,
                    fix="give the model a longer context (gguf: --option context=N), or leave the"
                    " scenario out with --scenarios; requests are never cut",
                )
            sizes.append((size.tokens, where))
    if size is None:
        return {"counted_by": None, **stated}
    most = max(sizes)
    return {
        "counted_by": size.counted_by,
        "exact": size.exact,
        "requests": len(sizes),
        "tokens": {"least": min(sizes)[0], "most": most[0], "at": most[1]},
        "context": size.context,
        **stated,
    }


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


_TRIES, _TRYING_S = 3, 10.0
"""How often a round is begun when the machine sleeps or the process is stopped in it; a short one
as often as fits into that many seconds."""

_START_S = 0.0005
"""What setting up a stream takes: many of them start that much later."""

_SPINNING = 0.25
"""Of the time, clocks may watch their instants so long; with more streams timers have to do."""


class _Rounds:
    """The rounds of one pass; `targets` are its replicas' folders, with components of their own."""

    def __init__(
        self,
        suite: Suite,
        targets: Sequence[RecordingFolder],
        config: RunConfig,
        clean: Redactor,
        progress: Progress,
        sessions: Sessions | None = None,
    ) -> None:
        self.suite, self.targets, self.config = suite, targets, config
        self.sessions = sessions
        self.clean, self.progress = clean, progress
        self.tally = Tally(scenarios=len(config.scenarios) * len(targets))
        members = targets[0].members
        # Nothing on the virtual clock is far away; replicas ask the same servers.
        self.probes = Probes(members if config.clock == "real" else ())
        in_all = config.dispatch.in_all
        self.gates = {
            member.name: asyncio.Semaphore(in_all) for member in members if in_all is not None
        }
        self.kept: list[set[str]] = [set() for _ in targets]
        """What each replica has already."""

    async def play_all(self) -> None:
        """Opens the components, takes hold of the folders and plays what is not complete there."""
        tally, targets = self.tally, self.targets
        async with contextlib.AsyncExitStack() as stack:
            for member in (member for target in targets for member in target.members):
                await _open(member)
                stack.push_async_callback(_shut, member)
            await self._prepare()
            rounds = rounds_of(self.config.scenarios, self.config.streams)
            complete = [set(target.hold()) for target in targets]
            done = [r for r in rounds if all(p.episode_id in complete[p.replica] for p in r)]
            todo = [r for r in rounds if r not in done]
            for play in (play for plays in todo for play in plays):
                target = targets[play.replica]
                if target.closed:
                    raise InputError(
                        "is complete, but what was recorded at the same time is not",
                        where=target.folder,
                        fix="restore the folders beside it, or record all of them into a fresh --out",
                    )
                tally.expected += self.suite.scenarios[play.episode_id].n * len(target.members)
            self._keep(done)
            for target, keep in zip(targets, self.kept, strict=True):
                target.begin(keep)
            tally.scenario_index = 1 + sum(len(plays) for plays in done)
            for index, plays in enumerate(todo):
                if self.config.clock == "real":
                    tally.later_s = sum(self._lasts_s(later) for later in todo[index + 1 :])
                await self._play(plays)
                self._keep([plays])
                tally.scenario_index += len(plays)

    async def _prepare(self) -> None:
        """Audits the input, then warms up, before a folder is held; replicas get the same requests."""
        scenarios = [self.suite.scenarios[e] for e in self.config.scenarios]
        audits = [await _told(audit(m, scenarios)) for m in self.targets[0].members]
        for target in self.targets:
            target.prepared = self.clean.tree(
                {
                    member.name or "component": {
                        "audit": found,
                        "warmups": await warm_up(
                            member,
                            self.config.warmups_of(member.component.info),
                            self.config.dispatch.timeout_s,
                        ),
                    }
                    for member, found in zip(target.members, audits, strict=True)
                }
            )

    def _keep(self, rounds: Sequence[Sequence[Play]]) -> None:
        for play in (play for plays in rounds for play in plays):
            self.kept[play.replica].add(play.episode_id)

    def _scenarios(self, plays: Sequence[Play]) -> list[Scenario]:
        """Each once, however many streams play it."""
        return [self.suite.scenarios[e] for e in dict.fromkeys(p.episode_id for p in plays)]

    def _lasts_s(self, plays: Sequence[Play]) -> float:
        """How long a round publishes states."""
        return max(s.n * self.config.interval_of(s) for s in self._scenarios(plays))

    async def _play(self, plays: Sequence[Play]) -> None:
        """One round, until it is recorded without a pause."""
        tally = self.tally
        prepared = {
            s.episode_id: prepare(s, self.config.interval_of(s)) for s in self._scenarios(plays)
        }
        tally.scenario = _title(plays)
        tally.step, tally.steps = 0, max(p.n for p in prepared.values())
        if self.config.clock == "real":
            tally.interval_s = max(p.interval_s for p in prepared.values())
        before = tally.copy()
        tries = max(_TRIES, round(_TRYING_S / min(p.horizon_s for p in prepared.values())))
        playing = list(dict.fromkeys(p.replica for p in plays))
        for left in reversed(range(tries)):
            near = await self.probes.all()
            try:
                await self._once(plays, prepared, left)
                break
            except Paused as pause:
                if not left:
                    raise _given_up(pause, tries, prepared[pause.episode_id]) from None
                tally.restore(before.copy())
                for k in playing:
                    await asyncio.to_thread(self.targets[k].record_anew, pause, self.kept[k])
                again = f"{pause.episode_id}: {pause.words}; recorded anew"
                self.progress.say("again", name=again)
        far = await self.probes.all()
        for play in plays:
            probed = self.probes.entries(play.episode_id, near, far)
            self.targets[play.replica].probed(self.clean.tree(probed))
        for k in playing:
            await asyncio.to_thread(self.targets[k].round_done)
        self.progress.say(
            "scenario" if len(plays) == 1 else "round",
            name=tally.scenario,
            responses=tally.responses - before.responses,
            accepted=tally.accepted - before.accepted,
            errors=tally.failed_attempts - before.failed_attempts,
            left_s=tally.left_s,
        )

    async def _once(
        self, plays: Sequence[Play], prepared: Mapping[str, Prepared], left: int
    ) -> None:
        config = self.config
        logs = [(play, self._log_of(play, prepared[play.episode_id])) for play in plays]
        if config.clock != "real":
            streams = [
                VirtualStream(log, play.offset_s(log.prepared.interval_s, config.streams))
                for play, log in logs
            ]
            workers = config.workers_of(self.targets[0].members)
            paused = config.clock == "paused"
            await run_virtual_streams(
                streams, config.dispatch, workers, config.latency, config.seed, paused=paused
            )
        else:
            with steady():
                origin = time.monotonic() + LEAD_S + _START_S * (len(plays) - 1)
                own = [m.component.info.in_process for m in self.targets[0].members]
                heart = Heartbeat(in_process=any(own), only_stops=all(own), stops=left > 0)
                streams_of = [self._stream(*each, origin, left, heart) for each in logs]
                await heart.over(_together(streams_of))
        if self.sessions is not None:
            for play, log in logs:
                self.targets[play.replica].lived[play.episode_id] = log.prepared

    async def _stream(
        self, play: Play, log: EpisodeLog, origin: float, left: int, heart: Heartbeat
    ) -> None:
        prepared, streams = log.prepared, self.config.streams
        interval_s = prepared.interval_s
        spinning = streams * SPIN_S <= _SPINNING * interval_s
        clock = Clock(spin_s=SPIN_S if spinning else 0.0)
        clock.origin = origin + play.offset_s(interval_s, streams)
        begun = len(log.releases)  # of a session that is taken up where it was broken off
        clock.origin -= prepared.planned_s[begun] if begun else 0.0
        # What stops again and again is no accident; it is recorded, and said in every score.
        pauses = PauseDetector(interval_s, prepared.horizon_s, play.episode_id, stops=left > 0)
        await run_episode(log, self.config.dispatch, clock, pauses, self.gates, heart)

    def _log_of(self, play: Play, prepared: Prepared) -> EpisodeLog:
        """The log of an episode; one that was broken off has been relived so far."""
        config, target = self.config, self.targets[play.replica]
        if self.sessions is not None:
            prepared = prepare_live(self.sessions[play.episode_id](), prepared.interval_s)
        log = EpisodeLog(
            prepared,
            target.members,
            target.log.append,
            self.tally,
            self.clean,
            rule=config.rule,
            policy=config.policy,
            diagnostics=target.diagnostics,
        )
        log.relive(target.broken_off.pop(play.episode_id, ()))
        return log


async def _together(streams: Sequence[Coroutine[Any, Any, None]]) -> None:
    """All of them at once. The first failure ends all; a pause explains whatever came with it."""
    if len(streams) == 1:
        await streams[0]
        return
    try:
        async with asyncio.TaskGroup() as group:
            for stream in streams:
                group.create_task(stream)
    except BaseExceptionGroup as failures:
        first = next((f for f in failures.exceptions if isinstance(f, Paused)), None)
        raise (first or failures.exceptions[0]) from None


def _title(plays: Sequence[Play]) -> str:
    names = list(dict.fromkeys(play.episode_id for play in plays))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return names[0] + more + (f", {plural(len(plays), 'stream')}" if len(plays) > 1 else "")


def _given_up(pause: Paused, tries: int, prepared: Prepared) -> Fatal:
    fix = "keep the machine awake, then go on with --resume"
    if pause.kind == TOO_LATE:
        fix = (
            f"this machine cannot publish every {prepared.interval_s:g} s: take a longer --interval"
            " or fewer --streams, run less beside it, or use --clock virtual"
        )
    name = prepared.scenario.episode_id
    return Fatal(pause.kind, f"{name} was begun {tries} times: {pause.words}", fix=fix)


async def _told(work: Awaitable[T]) -> T:
    """What a component of somebody's own raises becomes one message."""
    try:
        return await work
    except SdbError:
        raise
    except Exception as error:
        kind = classify(error)
        raise (kind if isinstance(kind, Fatal) else Fatal(kind.error_type, str(kind))) from None


async def _open(member: Member) -> None:
    try:
        await member.component.open()
    except Exception as error:
        kind = classify(error)
        if isinstance(kind, Fatal):
            raise kind from None
        raise Fatal(
            kind.error_type,
            f"{member.component.info.name} cannot be opened ({kind.error_type})",
            fix="check the address and the network",
        ) from None


async def _shut(member: Member) -> None:
    # What is recorded is recorded: a client that fails to say goodbye changes nothing about it.
    with contextlib.suppress(Exception):
        await member.component.close()


INTERRUPTED = "interrupted"

Sessions = Mapping[str, Callable[[], LiveSession]]
"""By id: opens a session that answers back, at its start; the same one every time."""


@dataclass(frozen=True, slots=True)
class Part:
    """One recording of several that are made at once, with components of its own."""

    members: Sequence[Member]
    config: RunConfig
    folder: Path
    data: Path | None = None
    """Where the suite lies; None: it is the built-in one."""


def record(
    suite: Suite, members: Sequence[Member], config: RunConfig, folder: Path, **options: Any
) -> RunEnd:
    """Records one pass, with the options of `record_together`."""
    return record_together(suite, [Part(members, config, folder)], **options)[0]


def record_together(
    suite: Suite,
    parts: Sequence[Part],
    *,
    resume: bool = False,
    overwrite: bool = False,
    secrets: Sequence[str] = (),
    progress: Progress | None = None,
    sessions: Sessions | None = None,
) -> list[RunEnd]:
    """Records the replicas of one pass, whose configs differ in seed and number alone, at once.

    With `sessions`, states come from them, and `suite` holds what becomes of them if all is right; what
    was lived through is the suite of the recording, and lies in it. Raises what stopped it, once the run
    record says so.
    """
    progress = progress or Progress()
    members = [member for part in parts for member in part.members]
    # Keys and headers a component sends: a server may echo them as its model's name.
    clean = Redactor(secrets, [s for m in members for s in getattr(m.component, "secrets", ())])
    loop_name, loop_factory = _event_loop()
    targets = [
        _target(suite, part, clean, loop_name, resume, overwrite, sessions) for part in parts
    ]
    if all(target.closed for target in targets):
        return [target.already_complete() for target in targets]
    reason: str | None = None
    error: Exception | None = None
    usage = ClientUsage()
    try:
        try:
            rounds = _Rounds(suite, targets, parts[0].config, clean, progress, sessions)
            with (
                asyncio.Runner(loop_factory=loop_factory) as runner,
                drawing(progress, rounds.tally),
            ):
                if not run_until_signal(runner, rounds.play_all()):
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
        client = usage.so_far() if parts[0].config.clock == "real" else {}
        message = clean(str(error)) if isinstance(error, SdbError) else None
        for target in targets:
            try:
                if target.closed:
                    outcomes.append(target.already_complete())
                elif not target.begun:
                    outcomes.append(RunEnd(target.folder, INCOMPLETE, reason))
                else:
                    observed = clean.tree(_observed(target.members))
                    said = clean.tree(target.diagnostics.to_json())
                    outcomes.append(target.finish(reason, message, client, observed, said))
            except (OSError, InputError) as failure:
                # A disk that took no event takes no record either, and a folder that is not ours
                # any more gets none; `running` is as good as incomplete.
                error = error or failure
        if error is not None:
            raise _cleaned(error, clean) from None
        return outcomes
    finally:
        for target in targets:
            target.close()


def _target(
    suite: Suite,
    part: Part,
    clean: Redactor,
    loop_name: str,
    resume: bool,
    overwrite: bool,
    sessions: Sessions | None,
) -> RecordingFolder:
    """The folder, looked at but not yet held: what can be refused is, before anything is opened."""
    part.config.require_clock(part.members)
    infos = [member.component.info for member in part.members]
    run = RunRecord(
        status=RUNNING,
        schema_version=suite.manifest.schema_version,
        config=clean.tree(part.config.to_json(suite, part.members)),
        dataset_manifest=recorded_manifest(suite.manifest),
        started_at=utc(),
        environment=clean.tree(describe_environment(infos, loop_name)),
        suite_at=place_of_suite(part.data, part.folder),
    )
    folder = part.folder.absolute()  # a component may change the current folder
    target = RecordingFolder(
        folder, suite, run, part.members, resume=resume, overwrite=overwrite, sessions=sessions
    )
    target.diagnostics = Diagnostics(clean)
    return target


def _observed(members: Sequence[Member]) -> dict[str, Any]:
    """What components saw on the wire: connections, HTTP versions, tiers that really served."""
    return {
        member.name or "component": member.component.observed.to_json()
        for member in members
        if hasattr(member.component, "observed")
    }


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
