"""Plays the rounds of a pass: what runs together starts together, and is kept or recorded anew together.

A scenario in which the machine slept or the process stood still measures nothing, and neither does
what ran beside it: the round is recorded anew. A round of which a stop left only some scenarios is
recorded anew as well, because what is left of it alone would meet another load.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamdecisionbench.components.contract import Fatal
from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import Arbiter, Newest, PairRule
from streamdecisionbench.recording.clock import LEAD_S, SPIN_S, Clock, steady
from streamdecisionbench.recording.ledger import Lane, Ledger, Prepared, Tally, prepare
from streamdecisionbench.recording.live_policy import LivePolicy
from streamdecisionbench.recording.network_probe import Probes
from streamdecisionbench.recording.progress import Progress
from streamdecisionbench.recording.realtime import run_episode
from streamdecisionbench.recording.redaction import Redactor
from streamdecisionbench.recording.retry import classify
from streamdecisionbench.recording.run_config import Settings, interval_of, workers_of
from streamdecisionbench.recording.session import Session
from streamdecisionbench.recording.standstill import TOO_LATE, StoodStill, Watch
from streamdecisionbench.recording.streams import Play, rounds_of
from streamdecisionbench.recording.virtual import VirtualStream, run_virtual_streams
from streamdecisionbench.suite.scenario import Suite

__all__ = ["Replica", "play_rounds"]

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

    lanes: Sequence[Lane]
    session: Session


async def play_rounds(
    suite: Suite,
    replicas: Sequence[Replica],
    settings: Settings,
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
        settings: Settings,
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
