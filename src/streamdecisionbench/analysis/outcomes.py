"""What became of sessions in a world, and who is to blame: latency, judgment, or both together.

Twins are the same sessions, played otherwise, at the same pace:

    oracle       every decision right, in force as soon as its state is public
    late oracle  what was in force in this run, from the same instants on and for the same states, but right
    unhurried    the same component in a world that waits for every answer (`--clock paused`)

For every outcome, loss = run − oracle = latency + judgment + interaction, with

    latency = late oracle − oracle    judgment = unhurried − oracle
    interaction = run − late oracle − unhurried + oracle

The first two twins need no component. Sessions are sums over the seeds of a recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamdecisionbench.analysis.table import Table, number, text
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.episode_log import Held, LiveSession, prepare_live, relive
from streamdecisionbench.recording.events import (
    EVENTS_FILE,
    Event,
    Expired,
    Release,
    Response,
    scan,
)
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.request import reopened


@dataclass(frozen=True, slots=True)
class Twins:
    """One outcome of all sessions: of the run and of its twins."""

    unit: str
    run: float
    oracle: float
    late_oracle: float
    unhurried: float | None

    @property
    def latency(self) -> float:
        return self.late_oracle - self.oracle

    @property
    def judgment(self) -> float | None:
        return None if self.unhurried is None else self.unhurried - self.oracle

    @property
    def interaction(self) -> float | None:
        if self.unhurried is None:
            return None
        return self.run - self.late_oracle - self.unhurried + self.oracle

    def to_json(self) -> dict[str, float | str | None]:
        names = ("unit", "run", "oracle", "late_oracle", "unhurried", "latency", "judgment")
        return {name: getattr(self, name) for name in (*names, "interaction")}


def outcomes(recording: Recording, unhurried: Recording | None = None) -> dict[str, Twins]:
    """Of a recording in a world, with the same component unhurried where that was recorded."""
    sessions, pace_s = reopened(recording), _pace(recording)
    slow: Mapping[str, float] = {}
    if unhurried is not None:
        _require_twin(recording, unhurried)
        again = reopened(unhurried)
        slow = _sum(
            _lived(again[name](), _pace(unhurried), events, _fallback(unhurried, again[name]()))
            for name, events in _events(unhurried).items()
        )
    logs = _events(recording)
    units = {k: v for session in sessions.values() for k, v in _units(session()).items()}
    run = _sum(
        _lived(sessions[name](), pace_s, events, _fallback(recording, sessions[name]()))
        for name, events in logs.items()
    )
    oracle = _sum(_oracle(session(), pace_s) for session in sessions.values())
    late = _sum(
        _late(sessions[name](), pace_s, events, _fallback(recording, sessions[name]()))
        for name, events in logs.items()
    )
    return {
        name: Twins(
            units.get(name, ""),
            run[name],
            oracle[name],
            late[name],
            slow.get(name, 0.0) if unhurried is not None else None,
        )
        for name in oracle
    }


def outcomes_table(name: str, found: Mapping[str, Twins]) -> Table:
    """One row per outcome."""
    columns = ("run", "oracle", "late_oracle", "unhurried", "latency", "judgment", "interaction")
    missing = any(one.unhurried is None for one in found.values())
    return Table(
        f"Outcomes of {name}",
        (text("outcome"), text("unit"), *(number(c.replace("_", " "), 2, key=c) for c in columns)),
        tuple(
            (what, one.unit, *(getattr(one, column) for column in columns))
            for what, one in found.items()
        ),
        (
            "oracle: right at once; late oracle: right, with this run's latencies; run − oracle ="
            " latency + judgment + interaction.",
            *(("judgment needs --unhurried, a run with --clock paused.",) if missing else ()),
        ),
        name="outcomes",
    )


def _pace(recording: Recording) -> float:
    if recording.lived_at_s is None:
        raise InputError(
            "was recorded on a suite, whose states do not answer back",
            where=recording.path or recording.name,
            fix="give a recording of `sdb run … --world`",
        )
    return recording.lived_at_s


def _require_twin(recording: Recording, unhurried: Recording) -> None:
    """The same sessions at the same pace, in a world that waited."""
    own, other = (one.config.get("world") for one in (recording, unhurried))
    where = unhurried.path or unhurried.name
    if unhurried.config.get("clock") != "paused":
        raise InputError("was not recorded unhurried", where=where, fix="record --clock paused")
    if own != other or _pace(recording) != _pace(unhurried):
        raise InputError(
            "is of other sessions, or of another pace",
            where=where,
            fix="repeat --world, --seeds and --interval of the run",
        )


def _events(recording: Recording) -> dict[str, list[Event]]:
    """By session, in the order they were written."""
    if recording.path is None:
        raise InputError("the log of the recording is needed", where=recording.name)
    found: dict[str, list[Event]] = {}
    for event in scan(recording.path / EVENTS_FILE).events:
        found.setdefault(event.episode_id, []).append(event)
    return found


def _fallback(recording: Recording, session: LiveSession) -> Mapping[str, str] | None:
    policy, right = recording.policy, session.right
    return policy.expire.fallback_for(right.task_family, right.episode_id) if policy else None


def _lived(
    session: LiveSession,
    pace_s: float,
    events: Sequence[Event],
    fallback: Mapping[str, str] | None,
) -> dict[str, float]:
    relive(prepare_live(session, pace_s), events, fallback)
    return session.outcomes()


def _oracle(session: LiveSession, pace_s: float) -> dict[str, float]:
    for t in range(session.right.n):
        session.advance((t + 1) * pace_s, [(t * pace_s, _right(session))])
    return session.outcomes()


def _late(
    session: LiveSession,
    pace_s: float,
    events: Sequence[Event],
    fallback: Mapping[str, str] | None,
) -> dict[str, float]:
    """What took effect in the run, when it did, but right for the state it was given for."""
    known: list[dict[str, str]] = []
    held: list[tuple[float, Mapping[str, str] | None]] = []

    def go_on(until_s: float, since: Held) -> None:
        if known:
            session.advance(until_s, since)
        known.append(_right(session))

    for event in events:
        if isinstance(event, Release):
            go_on(event.release_s, held)
            held = []
        elif isinstance(event, Response) and event.accepted:
            held.append((event.actual_recorded_s, known[event.t]))
        elif isinstance(event, Expired):
            held.append((event.expired_s, fallback))
    session.advance(session.right.n * pace_s, held)
    return session.outcomes()


def _right(session: LiveSession) -> dict[str, str]:
    return session.right.decision_spec.compose(session.step().gold)


def _units(session: LiveSession) -> dict[str, str]:
    kind = getattr(session, "kind", None)
    return {outcome.name: outcome.unit for outcome in kind.outcomes} if kind else {}


def _sum(sessions: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for counted in sessions:
        for name, value in counted.items():
            total[name] = total.get(name, 0.0) + value
    return total
