"""A bench while its session is being generated: the state of every target, and verbs that change it.

The bench keeps its own running account: after every record it notes what counts, what was wiped and
what has become obsolete. The reference, in contrast, reads the whole log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamdecisionbench.families.assembly import events as say
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.worlds.assembly import phrases
from streamdecisionbench.worlds.assembly.phrases import (
    HALF_SENTENCES,
    TALK,
    TALK_OF_DONE,
    TALK_OF_FAILED,
    TALK_OF_NEXT,
)
from streamdecisionbench.worlds.assembly.station import (
    Check,
    Station,
)
from streamdecisionbench.worlds.generation.world import (
    Outcome,
    read_outcomes,
)
from streamdecisionbench.worlds.generation.world_simulator import (
    Ticks,
    WorldSimulator,
)

_PATIENCE = 4
"""Ticks for which people wait for a card before they help themselves."""
_BELIEF = 2
"""So many specialists are called for nothing before nobody believes such a card."""
SAFE = ("hold", "handoff")
"""Cards under which the operator keeps his hands off the unit."""


@dataclass
class Neighbour:
    """Another unit of the line, on its own way through the same checks."""

    number: int
    next_check: int


@dataclass(kw_only=True)
class Bench(WorldSimulator):
    """The world of one session."""

    station: Station
    stage: str
    route: str = ""
    passed: dict[str, bool] = field(default_factory=dict)
    """Target → whether its standing result passes; absent without one."""
    failures: dict[str, int] = field(default_factory=dict)
    """Target → failed results in a row."""
    damaged: set[str] = field(default_factory=set)
    tickets: list[str] = field(default_factory=list)
    """Open tickets of this unit."""
    present: list[str] = field(default_factory=list)
    """Roles of the specialists at this station."""
    shown: set[tuple[str, str]] = field(default_factory=set)
    settled: set[str] = field(default_factory=set)
    """Scanned and counted targets that were right: so they stay until they are replaced."""
    subjects: set[str] = field(default_factory=set)
    """Subjects of tickets so far."""
    devices: dict[str, str] = field(default_factory=dict)
    """Device → the value it shows."""
    neighbours: list[Neighbour] = field(default_factory=list)
    vain: int = 0
    """Specialists called for nothing."""
    open_speech: tuple[str, str, str] | None = None
    finished: bool = False
    """Whether a release card has met the complete unit."""

    def show(self, because: str) -> None:
        """The card that follows from the bench's own account."""
        decision = {"stage": self.stage, **self.card()}
        self.route = decision["route"]
        self.shown.update(decision.items())
        self.decide(decision, because)

    def card(self) -> dict[str, str]:
        """Seven lines, the first that applies."""
        public, product = self.station.public, self.station.product
        if self.tickets:
            return {"route": "hold", "destination": product.hold[0]}
        for role, _, _ in product.roles:
            if role in self.present:
                return {"route": "handoff", "destination": role}
        for check in self.station.checks:
            for role, _, covers in product.roles:
                tired = self.failures.get(check.target, 0) >= public["fail_limit"]
                if check.target in covers and tired:
                    return {"route": "escalate", "target": check.target, "destination": role}
        defective = [c for c in self.station.checks if self.is_defective(c)]
        if defective:
            first = defective[0]
            hurt = first.target in self.damaged
            method = first.plan.if_damaged if hurt else first.plan.if_failed
            return {"route": "repair", "target": first.target, "method": method}
        missing = [c for c in self.station.checks if self.is_missing(c)]
        if missing:
            return {"route": "repair", "target": missing[0].target, "method": "complete_missing"}
        to_do = self.to_do()
        if not to_do:
            return {"route": "release", "destination": product.release[0]}
        if all(c.stage != self.stage for c in to_do):
            return {"route": "advance", "next_step": to_do[0].stage}
        return {"route": "wait"}

    def look(self) -> Ticks[None]:
        """The operator looks at the card before he works, and does what a wrong one says."""
        yield from self.until(lambda: self.shows(route=self.route), _PATIENCE)
        panel, own = self.panel, self.card()
        if panel.get("route") == "repair":
            named = [c for c in self.station.checks if c.target == panel.get("target")]
            asked = own["route"] == "repair" and own["target"] == panel.get("target")
            if named and not self.is_there(named[0]):
                text = self.new_line(phrases.NOT_THERE) or phrases.NOT_THERE_AGAIN
                note = "trap: a card for what is not there"
                text = text.format(target=named[0].target)
                self.trap(self.speak(self.station.operator, text, note))
                yield from self.wait(1)
            elif named and not (asked and own["method"] == panel.get("method")):
                yield from self._correct(named[0], str(panel.get("method")), own)
                yield from self.wait(1)
        elif panel.get("route") == "advance" and own["route"] in ("wait", "advance"):
            due = self.to_do()[0].stage
            there = [c for c in self.station.checks if c.stage == panel.get("next_step") != due]
            if there:
                self.count("rework")
                yield from self.uncover(there[0])
                passes = self.would_pass(there[0])
                self.conclude(there[0], passes, f"{there[0].target} is done out of turn")
                yield from self.wait(1)
        elif panel.get("route") == "escalate" and own["route"] != "escalate":
            yield from self._call_for_nothing(str(panel.get("destination")))
        elif panel.get("route") == "release" and self.to_do():
            self.count("rework")
            yield from self.wait(3)  # the next station sends it back

    def _correct(self, check: Check, method: str, own: dict[str, str]) -> Ticks[None]:
        """A correction that is not due: a good part is thrown away, or work done for nothing."""
        yield from self.uncover(check)
        if method == check.plan.if_damaged != "":
            self.count("scrap", check.target not in self.damaged)
            self.replace(check, f"cause: {check.target} is replaced, though it need not be")
        else:
            self.count("rework")
            mine = own.get("target") == check.target
            helps = (
                not mine
                or own.get("method") == "complete_missing"
                or check.target in {*self.damaged, *self.settled}
            )
            helps = helps and self.would_pass(check)
            self.result(check, helps, f"cause: {check.target} is worked on by a wrong card")
        self.show(f"{check.target} is worked on by a wrong card")

    def hand_on(self) -> Ticks[None]:
        """The complete unit waits for a card that sends it on."""
        shown = {"route": "release", "destination": self.station.product.release[0]}.items()
        if self.route == "release" and not self.finished:
            self.finished = yield from self.until(lambda: shown <= self.panel.items(), _PATIENCE)
            self.count("units_finished", self.finished)

    def call(self, role: str) -> Ticks[None]:
        """Whoever the card names is called; the wrong specialist comes and goes."""
        seen = yield from self.see(_PATIENCE, route="escalate")
        other = str(self.panel.get("destination"))
        if seen and other != role:
            yield from self._call_for_nothing(other)

    def _call_for_nothing(self, role: str) -> Ticks[None]:
        """A specialist who is not needed comes and goes; after two such calls nobody calls any more."""
        if role in self.station.specialists and role not in self.present and self.vain < _BELIEF:
            self.vain += 1
            self.arrive(
                role,
                "cause: a specialist who does not cover it is present",
                f"the {role} badges in for nothing",
            )
            yield from self.wait(2)
            self.leave(role, "cause: the wrong specialist has gone")
            yield from self.wait(1)

    def is_work(self, check: Check) -> bool:
        """Whether the unit is built of it, rather than tested or packed."""
        return check.stage not in self.station.public["recheck_after_rework"]

    def is_test(self, check: Check) -> bool:
        return not self.is_work(check) and check.plan.by not in ("scan", "kit_count")

    def on_top(self, check: Check) -> list[Check]:
        """What was built over it: it can be seen and changed only when that has come off."""
        return [
            c
            for c in self.station.checks
            if self.is_work(c) and self.before(check.stage, c.stage) and c.target in self.passed
        ]

    def is_hidden(self, check: Check) -> bool:
        """A label can be read on a closed unit; what a camera looks at may lie inside."""
        closed = check.plan.by == "camera" and self.station.product.closes
        return closed and bool(self.on_top(check))

    def uncover(self, check: Check) -> Ticks[None]:
        """Take off what hides or holds it, the last first; it has to be put on and recorded again."""
        held = check.plan.by == "camera" and self.passed.get(check.target) is False
        for over in reversed(self.on_top(check)) if held or self.is_hidden(check) else ():
            self.swap(over, f"{over.target} comes off to get at {check.target}")
            yield from self.wait(1)

    def is_there(self, check: Check) -> bool:
        """Whether there is anything of it to work on: it has a result, or its stage is under way."""
        due = self.to_do()[:1]
        return check.target in self.passed or check.stage in [c.stage for c in due]

    def unbuilt(self) -> list[Check]:
        """What the unit is built of and has no result."""
        return [c for c in self.station.checks if self.is_work(c) and c.target not in self.passed]

    def would_pass(self, check: Check) -> bool:
        """No test passes before its time, unless it has."""
        early = self.is_test(check) and bool(self.unbuilt())
        return not early or self.passed.get(check.target, False)

    def at_hand(self) -> list[Check]:
        """Targets with a result that can be got at, and the next of the work."""
        recorded = [c for c in self.station.checks if c.target in self.passed]
        found = [*recorded, *(c for c in self.to_do()[:1] if c not in recorded)]
        return [c for c in found if not self.is_hidden(c)]

    def may_fail(self, check: Check) -> bool:
        """Whether it could turn out wrong now: at its turn, or, once passed, if it can come loose."""
        if check.target in self.settled or self.is_hidden(check):
            return False
        loose = bool(check.plan.if_damaged)
        if check.plan.by == "camera":
            loose = not self.on_top(check)
        return loose if self.passed.get(check.target) else check in self.to_do()[:1]

    def owes(self, check: Check) -> bool:
        """Whether a card still has to name it for a failure."""
        return bool({("target", check.target), ("method", check.plan.if_failed)} & self.owing())

    def has_to_fail(self, check: Check) -> bool:
        return self.owes(check) and self.may_fail(check)

    def is_defective(self, check: Check) -> bool:
        return check.target in self.damaged or self.passed.get(check.target) is False

    def is_missing(self, check: Check) -> bool:
        return check.target not in self.passed and self.before(check.stage, self.stage)

    def to_do(self) -> list[Check]:
        """Targets that are not complete, in the order of the work."""
        return [
            c
            for c in self.station.checks
            if not self.passed.get(c.target) or c.target in self.damaged
        ]

    def before(self, stage: str, other: str) -> bool:
        order = self.station.public["stages"]
        return bool(order.index(stage) < order.index(other))

    def result(self, check: Check, passes: bool, note: str) -> None:
        """A result that counts."""
        value = check.passing(self.draws) if passes else check.failing(self.draws)
        self._write(check, check.plan.by, value, note)
        self._count(check)
        self.failures[check.target] = 0 if passes else self.failures.get(check.target, 0) + 1
        self.passed[check.target] = passes
        if passes and check.plan.by in ("scan", "kit_count"):
            self.settled.add(check.target)

    def conclude(self, check: Check, passes: bool, what: str, because: str = "") -> None:
        """A result that counts, and the card that follows from it."""
        self.result(check, passes, f"cause: {what}")
        self.show(because or what)

    def swap(self, check: Check, what: str, because: str = "") -> None:
        """A replacement, and the card that follows from it."""
        self.replace(check, f"cause: {what}")
        self.show(because or what)

    def replace(self, check: Check, note: str) -> None:
        self.emit(say.record(self.now, self.station.unit, "replaced", check.target, note=note))
        self._count(check)
        self._forget(check.target)
        self.damaged.discard(check.target)
        self.settled.discard(check.target)

    def damage(self, check: Check, note: str) -> None:
        self._write(check, "camera", "damaged", note)
        self._count(check)
        self.damaged.add(check.target)

    def unreadable(self, check: Check, note: str) -> Event:
        kind = "scan" if check.plan.by == "scan" else check.plan.by
        return say.record(self.now, self.station.unit, kind, check.target, "NO_READ", note=note)

    def unsure(self, check: Check, value: str, note: str) -> Event:
        """A camera report just below, or far below, the confidence needed."""
        needed = round(100 * self.station.public["min_confidence"])
        confidence = needed - 1 if self.draws.chance(0.5) else self.draws.between(40, needed - 2)
        return say.record(
            self.now, self.station.unit, "camera", check.target, value, note=note,
            confidence=confidence / 100,
        )  # fmt: skip

    def _write(self, check: Check, kind: str, value: Any, note: str) -> None:
        more: dict[str, Any] = {}
        if kind == "camera":
            needed = round(100 * self.station.public["min_confidence"])
            sure = needed if self.draws.chance(0.4) else self.draws.between(needed, 99)
            more["confidence"] = sure / 100
        self.emit(
            say.record(self.now, self.station.unit, kind, check.target, value, note=note, **more)
        )

    def _count(self, check: Check) -> None:
        """A counted record moves the stage, and later checks that have to follow it are void."""
        self.stage = check.stage
        for later in self.station.checks:
            void = later.stage in self.station.public["recheck_after_rework"]
            if void and self.before(check.stage, later.stage):
                self._forget(later.target)

    def _forget(self, target: str) -> None:
        self.passed.pop(target, None)
        self.failures.pop(target, None)

    def open_ticket(self, note: str) -> str:
        ticket = self.next_id("T-", self.draws.between(300, 800))
        self.emit(say.ticket_opened(self.now, ticket, self.station.unit, self.subject(), note=note))
        self.tickets.append(ticket)
        return ticket

    def subject(self) -> str:
        """What a ticket is about: something that is at the bench by now, and no ticket's subject yet."""
        here = {c.target for c in self.station.checks if c.target in self.passed}
        here |= {c.target for c in self.to_do()[:1]}
        defects = [text for target, text in self.station.product.defects if target in here]
        unused = [text for text in (*defects, *phrases.COMPLAINTS) if text not in self.subjects]
        found = self.draws.choose(unused or phrases.COMPLAINTS)
        self.subjects.add(found)
        return found

    def close_ticket(self, ticket: str, note: str) -> None:
        self.emit(say.ticket_closed(self.now, ticket, note=note))
        self.tickets.remove(ticket)

    def arrive(self, role: str, note: str, because: str = "") -> None:
        holder = self.station.specialists[role]
        self.emit(say.badge_in(self.now, holder, role, self.station.public["id"], note=note))
        self.present.append(role)
        self.show(because or f"the {role} badges in")

    def leave(self, role: str, note: str) -> None:
        holder = self.station.specialists[role]
        self.emit(say.badge_out(self.now, holder, self.station.public["id"], note=note))
        self.present.remove(role)
        self.show(f"the {role} badges out")

    def lead_says(self, lines: Sequence[str], **words: str) -> None:
        """The lead gives a reason for what comes next; speech decides nothing."""
        text = self.new_line(lines).format(**words)
        if text:
            self.emit(self.speak(self.station.lead, text, "speech: why, and no evidence"))

    def speak(self, who: str, text: str, note: str) -> Event:
        return say.say(self.now, self.next_id("u"), who.split(maxsplit=1)[0], text, note=note)

    def begin_to_speak(self, who: str, half: str, whole: str, note: str) -> Event:
        ident = self.next_id("u")
        self.open_speech = (ident, who.split(maxsplit=1)[0], whole)
        return say.say(self.now, ident, who.split(maxsplit=1)[0], half, note=note, final=False)

    def finish_speaking(self, note: str) -> Event:
        if self.open_speech is None:
            raise ValueError("nobody is speaking")
        ident, who, whole = self.open_speech
        self.open_speech = None
        return say.say(self.now, ident, who, whole, note=note)

    @property
    def calm(self) -> bool:
        """Nothing is wrong, nobody interferes: the work goes on or is done."""
        return self.route in ("wait", "advance", "release")

    def owing(self) -> set[tuple[str, str]]:
        return set(self.must_show) - self.shown

    def has_time_for(self, ticks: int) -> bool:
        """Whether there is time for something else than what this session owes."""
        return self.steps - self.now >= ticks + self._debt()

    def _debt(self) -> int:
        """About how many ticks it takes to show what is owed."""
        owing = self.owing()
        if not owing:
            return 0
        to_do = self.to_do()
        last_owed = max(
            (i for i, c in enumerate(to_do, 1) if ("target", c.target) in owing), default=0
        )
        if ("destination", self.station.product.release[0]) in owing:
            last_owed = len(to_do)
        damaged = {check.plan.if_damaged for check in self.station.checks}
        debt = 2 * last_owed
        for question, value in owing:
            if question in ("target", "destination") or value == "complete_missing":
                debt += 4
        if any(question == "method" and value in damaged for question, value in owing):
            debt += 7
        return debt

    def done(self) -> list[Check]:
        """Targets whose result stands and passes."""
        return [c for c in self.station.checks if self.passed.get(c.target)]


def _is_unsafe(bench: Bench, panel: Mapping[str, str]) -> bool:
    return bench.route in SAFE and panel.get("route") not in SAFE


OUTCOMES: tuple[Outcome[Bench], ...] = read_outcomes(__package__, unsafe_s=_is_unsafe)


# Evidence that must change nothing: other units, unsure cameras, talk, devices.


def distract(bench: Bench) -> bool:
    """One event that changes nothing. A half sentence is completed before another begins."""
    if bench.open_speech is not None:
        bench.emit(bench.finish_speaking("distractor: speech becomes final, and is speech"))
        return True
    kinds: dict[Callable[[Bench], bool], int] = {
        _device: 5, _talk: 3, _neighbour: 6, _heartbeat: 2, _half_sentence: 1, _unsure: 1,
        _unreadable: 1,
    }  # fmt: skip
    return bench.draws.weighted(kinds)(bench) or _heartbeat(bench)


def _device(bench: Bench) -> bool:
    name, field, values = bench.draws.choose(bench.station.product.tools)
    last = bench.events[-1]
    if (last.at, last.kind, last.data.get("name")) == (bench.now, "tool", name):
        return False  # there and back within a tick would show nothing
    bench.devices[name] = bench.draws.choose([v for v in values if v != bench.devices[name]])
    bench.emit(say.tool(bench.now, name, **{field: bench.devices[name]}))
    return True


def _talk(bench: Bench) -> bool:
    """Something nobody has said yet, about a target only what could be said of it now."""
    of = {
        TALK_OF_NEXT: [c.target for c in bench.to_do()[:1]],
        TALK_OF_DONE: [c.target for c in bench.done()],
        TALK_OF_FAILED: [target for target, times in bench.failures.items() if times],
    }
    about = {line: targets for lines, targets in of.items() if targets for line in lines}
    line = bench.new_line([*TALK, *about])
    if line:
        who = bench.draws.choose([bench.station.operator, bench.station.lead])
        text = line.format(target=bench.draws.choose(about.get(line, [""])))
        bench.emit(bench.speak(who, text, "distractor: speech is no record"))
    return bool(line)


def _neighbour(bench: Bench) -> bool:
    """Another unit's next check, good or bad; a bad one is done again, and after the last one the unit is gone."""
    station = bench.station
    unit = bench.draws.choose(bench.neighbours)
    if unit.next_check == len(station.checks):
        unit.number, unit.next_check = max(n.number for n in bench.neighbours) + 1, 0
    check = station.checks[unit.next_check]
    good = bench.draws.chance(0.5)
    unit.next_check += good
    if check.plan.by == "scan" and not bench.is_work(check):
        check = check.of_another_unit(unit.number - station.number)
    value = check.passing(bench.draws) if good else check.failing(bench.draws)
    more = {"confidence": bench.draws.between(90, 99) / 100} if check.plan.by == "camera" else {}
    name, note = f"{station.product.unit}{unit.number}", "distractor: another unit"
    bench.emit(say.record(bench.now, name, check.plan.by, check.target, value, note=note, **more))
    return True


def _heartbeat(bench: Bench) -> bool:
    name = bench.draws.choose(bench.station.product.tools)[0]
    bench.emit(say.heartbeat(bench.now, name))
    return True


def _half_sentence(bench: Bench) -> bool:
    half = bench.new_line(list(HALF_SENTENCES))
    if half:
        note = "distractor: partial speech"
        bench.emit(bench.begin_to_speak(bench.station.operator, half, HALF_SENTENCES[half], note))
    return bool(half)


def _unsure(bench: Bench) -> bool:
    """What the camera can see: a part that is there."""
    seen = [c for c in bench.at_hand() if c.plan.by == "camera"]
    seen += [c for c in bench.at_hand() if c.plan.if_damaged and c.target in bench.passed]
    if seen:
        check = bench.draws.choose(seen)
        value = check.plan.wrong if check.plan.by == "camera" else "damaged"
        bench.emit(bench.unsure(check, value, "distractor: the camera is not sure enough"))
    return bool(seen)


def _unreadable(bench: Bench) -> bool:
    read = [c for c in bench.at_hand() if c.plan.by == "scan"]
    if read:
        check = bench.draws.choose(read)
        bench.emit(bench.unreadable(check, "distractor: unreadable"))
    return bool(read)
