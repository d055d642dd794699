"""What became of sessions in a world, and who is to blame: latency, judgment, or both together.

Twins are the same sessions, played otherwise, at the same pace:

    oracle       every decision right, in force as soon as its state is public
    late oracle  what was in force in this run, from the same instants on and for the same states, but right
    unhurried    the same component in a world that waits for every answer (`--clock paused`)

For every outcome, loss = run − oracle = latency + judgment + interaction, with

    latency = late oracle − oracle    judgment = unhurried − oracle
    interaction = run − late oracle − unhurried + oracle

The first two twins need no component. Sessions are sums over the seeds of a recording.

Propagation asks the same of every wrong spell, a stretch in which what was in force was not what was
right. Its twins are as the run until the spell begins, or until it ends, and the oracle from there on. The
second of a spell is the first of the next one; so what all spells of a session did adds up to the difference
between the run and the oracle, for every outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CAUSES,
    class_of,
)
from streamdecisionbench.recording.episode import LiveSession
from streamdecisionbench.recording.event_log import (
    EVENTS_FILE,
    Event,
    Expired,
    Release,
    Response,
    scan,
)
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.table import (
    Table,
    count,
    number,
    percentage,
    text,
)
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.worlds.live_sessions import reopened


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


def outcomes(
    recording: Recording, unhurried: Recording | None = None, *, allowed: Collection[str] = ()
) -> dict[str, Twins]:
    """Of a recording in a world, with the same component unhurried where that was recorded.

    `allowed` names the code that the recording's world may import: see `reopened`.
    """
    sessions = _histories(recording, allowed)
    slow: Mapping[str, float] = {}
    if unhurried is not None:
        _require_twin(recording, unhurried)
        slow = _sum(
            _played(course, course.whole) for course in _histories(unhurried, allowed).values()
        )
    units = {k: v for course in sessions.values() for k, v in _units(course.open()).items()}
    run = _sum(_played(course, course.whole) for course in sessions.values())
    oracle = _sum(_played(course, 0) for course in sessions.values())
    late = _sum(_played(course, 0, late_from=0) for course in sessions.values())
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
    missing = any(one.unhurried is None for one in found.values())
    columns = ["run", "oracle", "late_oracle", "latency"]
    if not missing:
        columns = [*columns[:3], "unhurried", "latency", "judgment", "interaction"]
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


@dataclass(frozen=True, slots=True)
class Spell:
    """One wrong spell of a session, and what became of it."""

    session: str
    from_s: float
    length_s: float
    cause: str
    """Latency, judgment or both: what most of its time is lost to, the first of equals."""
    departed_s: float
    """How long states are public that would have been others without the spell."""
    far: float
    """How much of them is other, on average over that time: see `_far`."""
    lasting: bool
    """Whether the last state of the session still is another."""
    later_s: float
    """Wrong time after it that it caused, for somebody who judges right with this run's latencies."""
    outcomes: Mapping[str, float]
    """What it added to every outcome, if all is right after it."""


@dataclass(frozen=True, slots=True)
class Propagation:
    """Every wrong spell of a recording; and how the run went beside the oracle twin as a whole."""

    spells: tuple[Spell, ...]
    pace_s: float
    observed_s: float
    departed_s: float
    """Time in which the public state is another than the oracle twin's."""
    wrong_s: float
    wrong_departed_s: float
    """Wrong time while the public state was another."""

    def by(self) -> dict[tuple[str, str], list[Spell]]:
        """Spells by cause and by length in ticks."""
        found: dict[tuple[str, str], list[Spell]] = {}
        for cause in CAUSES:
            for name, above, limit in _LENGTHS:
                low, high = above * self.pace_s, limit * self.pace_s
                some = [s for s in self.spells if s.cause == cause and low < s.length_s <= high]
                if some:
                    found[cause, name] = some
        return found

    def to_json(self) -> dict[str, Any]:
        whole = ("observed_s", "departed_s", "wrong_s", "wrong_departed_s")
        return {
            **{name: getattr(self, name) for name in whole},
            "groups": [
                {"cause": cause, "length": length, **_means(some)}
                for (cause, length), some in self.by().items()
            ],
            "spells": [asdict(spell) for spell in self.spells],
        }


_LENGTHS = (
    ("to 1 tick", -1.0, 1.0), ("1 to 2", 1.0, 2.0), ("2 to 4", 2.0, 4.0),
    ("longer", 4.0, float("inf")),
)  # fmt: skip


def propagation(recording: Recording, *, allowed: Collection[str] = ()) -> Propagation:
    """Of a recording in a world; `allowed` as for `outcomes`."""
    found: list[Spell] = []
    observed = departed = wrong = wrong_departed = 0.0
    for name, course in _histories(recording, allowed).items():
        found += wrong_spells(name, course)
        oracle, run = (_played(course, until) for until in (0, course.whole))
        other = [a != b for a, b in zip(oracle.states, run.states, strict=True)]
        observed += course.ends[-1] - course.pieces[0].from_s
        departed += sum(course.public_s(t) for t, is_other in enumerate(other) if is_other)
        for place in run.wrong:
            seconds = course.seconds(place)
            wrong += seconds
            wrong_departed += seconds * other[course.pieces[place].t]
    return Propagation(
        tuple(found),
        recording.closed_loop_interval_s or 0.0,
        observed,
        departed,
        wrong,
        wrong_departed,
    )


def propagation_table(name: str, found: Propagation) -> Table:
    """One row per cause and length of spells."""
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (cause, length, *_means(some).values()) for (cause, length), some in found.by().items()
    )
    beside = found.observed_s - found.departed_s
    alike = (found.wrong_s - found.wrong_departed_s) / beside if beside > 0 else None
    other = found.wrong_departed_s / found.departed_s if found.departed_s > 0 else None
    said = [f"{100 * found.departed_s / found.observed_s:.1f} % of the time the public state was another"
            " than the oracle twin's."]  # fmt: skip
    if alike is not None and other is not None:
        said.append(f"Wrong {100 * other:.1f} % of that time, and {100 * alike:.1f} % of the rest.")
    return Table(
        f"Propagation of wrong spells in {name}",
        (text("cause"), text("length"), count("spells"), number("mean s", 2, "length_s"),
         percentage("departs %", "departing", title="departs (%)"),
         number("for s", 2, "departed_s"), number("far", 3),
         percentage("lasting %", "lasting"), number("later s", 2, "later_s")),
        rows,
        (
            "departs: share of spells after which states differ from those without the spell; for, far:"
            " how long on average over all, and how much; lasting: to the end; later: wrong time it"
            " caused afterwards, at this run's latencies without a wrong judgment.",
            " ".join(said),
        ),
        name="propagation",
    )  # fmt: skip


def _means(spells: Sequence[Spell]) -> dict[str, float]:
    n, departed = len(spells), sum(s.departed_s for s in spells)
    return {
        "spells": n,
        "length_s": sum(s.length_s for s in spells) / n,
        "departing": sum(s.departed_s > 0 for s in spells) / n,
        "departed_s": departed / n,
        "far": sum(s.far * s.departed_s for s in spells) / departed if departed > 0 else 0.0,
        "lasting": sum(s.lasting for s in spells) / n,
        "later_s": sum(s.later_s for s in spells) / n,
    }


@dataclass(frozen=True, slots=True)
class _Piece:
    """From when on what was in force in tick `t`, and for which state it was given."""

    t: int
    from_s: float
    decision: Mapping[str, str] | None
    source: int | None


@dataclass(frozen=True, slots=True)
class History:
    """What was in force in a session: pieces of ticks, in order."""

    open: Callable[[], LiveSession]
    ends: Sequence[float]
    """Of every tick."""
    pieces: Sequence[_Piece]

    @property
    def whole(self) -> int:
        return len(self.pieces)

    def end_s(self, place: int) -> float:
        """When the next piece begins, or the tick ends."""
        follows = self.pieces[place + 1 : place + 2]
        t = self.pieces[place].t
        return follows[0].from_s if follows and follows[0].t == t else self.ends[t]

    def seconds(self, place: int) -> float:
        return self.end_s(place) - self.pieces[place].from_s

    def public_s(self, t: int) -> float:
        begins = self.ends[t - 1] if t else self.pieces[0].from_s
        return self.ends[t] - begins


@dataclass(frozen=True, slots=True)
class _Played:
    """What became of a session that was played by a course, or partly right."""

    states: list[Any]
    wrong: list[int]
    """Places of pieces in which something else than what was right was in force."""
    causes: list[str]
    """Of these."""
    outcomes: Mapping[str, float]


def history_of(
    opens: Callable[[], LiveSession],
    pace_s: float,
    events: Sequence[Event],
    fallback: Mapping[str, str] | None,
) -> History:
    """A piece that is over before time has passed in it is none, unless people saw it: the tick's last."""
    starts: list[float] = []
    pieces: list[_Piece] = []

    def hold(from_s: float, decision: Mapping[str, str] | None, source: int | None) -> None:
        t = len(starts) - 1
        if pieces and pieces[-1].t == t and pieces[-1].from_s == from_s:
            pieces.pop()
        pieces.append(_Piece(t, from_s, decision, source))

    for event in events:
        if isinstance(event, Release):
            starts.append(event.release_s)
            before = (pieces[-1].decision, pieces[-1].source) if pieces else (None, None)
            hold(event.release_s, *before)
        elif isinstance(event, Response) and event.accepted:
            hold(event.actual_recorded_s, event.decision, event.t)
        elif isinstance(event, Expired):
            hold(event.expired_s, fallback, None)
    return History(opens, [*starts[1:], len(starts) * pace_s], pieces)


def _played(course: History, until: int, late_from: int | None = None) -> _Played:
    """The course up to the piece `until`, then right at once; from the piece `late_from` on right for the
    states that were answered in the run, since when they were."""
    session, known = course.open(), list[dict[str, str]]()
    states: list[Any] = []
    wrong: list[int] = []
    causes: list[str] = []
    place = 0
    for t, end_s in enumerate(course.ends):
        step, right = session.step(), _right(session)
        states.append(step.state)
        known.append(right)
        held: list[tuple[float, Mapping[str, str] | None]] = []
        while place < len(course.pieces) and course.pieces[place].t == t:
            piece = course.pieces[place]
            own = None if piece.source is None else known[piece.source]
            decision: Mapping[str, str] | None = right
            if late_from is not None and place >= late_from:
                decision = piece.decision if own is None else own
            elif place < until:
                decision = piece.decision
            if decision != right:
                wrong.append(place)
                causes.append(_CAUSE[ALL_CLASSES[class_of(decision, own, right)]])
            held.append((piece.from_s, decision))
            place += 1
        session.advance(end_s, held)
    return _Played(states, wrong, causes, session.outcomes())


_CAUSE = {name: cause for cause, names in CAUSES.items() for name in names}


def wrong_spells(name: str, course: History) -> list[Spell]:
    run = _played(course, course.whole)
    cause_of = dict(zip(run.wrong, run.causes, strict=True))
    begins = [place for place in run.wrong if place - 1 not in cause_of]
    found = []
    before = _played(course, 0)
    for begin in begins:
        end = begin
        lost: dict[str, float] = {}
        while end in cause_of:
            lost[cause_of[end]] = lost.get(cause_of[end], 0.0) + course.seconds(end)
            end += 1
        after = _played(course, end)
        mended, left = (_played(course, until, end) for until in (begin, end))
        far = [_far(a, b) for a, b in zip(before.states, after.states, strict=True)]
        departed = sum(course.public_s(t) for t, share in enumerate(far) if share)
        apart = sum(course.public_s(t) * share for t, share in enumerate(far))
        later = [sum(course.seconds(p) for p in one.wrong if p >= end) for one in (mended, left)]
        found.append(
            Spell(
                name,
                course.pieces[begin].from_s,
                course.end_s(end - 1) - course.pieces[begin].from_s,
                max(lost, key=lost.__getitem__),
                departed,
                apart / departed if departed > 0 else 0.0,
                far[-1] > 0,
                later[1] - later[0],
                {what: n - before.outcomes[what] for what, n in after.outcomes.items()},
            )
        )
        before = after
    return found


def _far(one: Any, other: Any) -> float:
    """Of all that either state says, place by place, the share that not both say.

    >>> _far({"a": 1, "b": [2, 3]}, {"a": 1, "b": [2, 4, 5]})
    0.6
    """
    if one == other:
        return 0.0
    mine, theirs = set(_said(one, ())), set(_said(other, ()))
    return len(mine ^ theirs) / len(mine | theirs)


def _said(value: Any, place: tuple[str | int, ...]) -> Iterable[tuple[Any, ...]]:
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _said(part, (*place, key))
    elif isinstance(value, list) and value:
        for k, part in enumerate(value):
            yield from _said(part, (*place, k))
    else:
        yield (*place, repr(value))


def _require_twin(recording: Recording, unhurried: Recording) -> None:
    """The same sessions at the same pace, in a world that waited."""
    own, other = (one.config.get("world") for one in (recording, unhurried))
    where = unhurried.path or unhurried.name
    if unhurried.config.get("clock") != "paused":
        raise InputError("was not recorded unhurried", where=where, fix="record --clock paused")
    if own != other or recording.closed_loop_interval_s != unhurried.closed_loop_interval_s:
        raise InputError(
            "is of other sessions, or of another pace",
            where=where,
            fix="repeat the world, --seeds and --interval of the run",
        )


def _histories(recording: Recording, allowed: Collection[str]) -> dict[str, History]:
    """Of every session, in the order they were written."""
    sessions, pace_s = reopened(recording, allowed), recording.closed_loop_interval_s or 0.0
    policy = recording.policy
    if recording.path is None:
        raise InputError("the log of the recording is needed", where=recording.name)
    events: dict[str, list[Event]] = {}
    for event in scan(recording.path / EVENTS_FILE).events:
        events.setdefault(event.episode_id, []).append(event)
    found = {}
    for name, own in events.items():
        right = sessions[name]().right
        fallback = policy.expire.fallback_for(right.task_family, name) if policy else None
        found[name] = course = history_of(sessions[name], pace_s, own, fallback)
        for piece in course.pieces:
            decided = piece.decision or {}
            if piece.source is not None and not _is_decision(decided, right):
                raise InputError(
                    f"{name}: {dict(decided)!r:.80} is not a decision of its world",
                    where=recording.path / EVENTS_FILE,
                    fix="use the version it was recorded with, or record it again",
                )
    return found


def _is_decision(decision: Mapping[str, str], right: Scenario) -> bool:
    spec = right.decision_spec
    return set(decision) == set(spec.consumed(decision.get(spec.route_question, ""))) and all(
        value in right.option_semantics[question].values() for question, value in decision.items()
    )


def _right(session: LiveSession) -> dict[str, str]:
    return session.right.decision_spec.compose(session.step().gold)


def _units(session: LiveSession) -> dict[str, str]:
    kind = getattr(session, "kind", None)
    return {outcome.name: outcome.unit for outcome in kind.outcomes} if kind else {}


def _sum(sessions: Iterable[_Played]) -> dict[str, float]:
    total: dict[str, float] = {}
    for played in sessions:
        for name, value in played.outcomes.items():
            total[name] = total.get(name, 0.0) + value
    return total
