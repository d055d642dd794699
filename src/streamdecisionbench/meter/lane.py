"""One component on one stream: which class its seconds are, once what was right is known.

Publishing and applying cut time into stretches on which the current step k and the source in force s
stay the same. A stretch's class follows from three decisions: what is in force d_s, what was right
for its own step y_s, what is right now y_k (`in_force.class_of`).

Unknown may become known. So a stretch waits with its current step until that is judged, then with
its source until that is, there summed by reference; each moves at most twice. Steps wait within a window; the oldest is given up when
it is full, and its seconds are `unjudged` or `unattributed` for good.

Whether a stretch is wrong, and what it costs, needs y_k alone: in-force accuracy, spells and costs do not
wait for the source.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from streamdecisionbench.kernel.classes import (
    JUDGMENT,
    NO_DECISION,
    UNJUDGED,
    class_of,
)
from streamdecisionbench.kernel.rule import (
    Arbiter,
    Newest,
)
from streamdecisionbench.meter.counts import OLDER_JUDGMENT, PENDING, RATE, UNSETTLED, Counts
from streamdecisionbench.meter.episode_timer import (
    CALM,
    OPEN,
    WRONG,
    LaneSpells,
    Part,
    Run,
)
from streamdecisionbench.meter.episode_timer import PENDING as NOT_KNOWN

if TYPE_CHECKING:
    from streamdecisionbench.policies.cost_rules import (
        AgePenalty,
        Section,
    )

STRAGGLERS = 64
"""Steps that are let go of, kept while their answers may come: behind the source in force for their
latencies, outside the window to know which state such an answer is for."""
_REMEMBERED = 10_000


class Rates:
    """What a second costs under one section of a cost file."""

    __slots__ = ("_found", "_section", "age")

    def __init__(self, section: Section) -> None:
        self._section = section
        self.age: AgePenalty | None = section.age
        self._found: dict[tuple[str, str | None], int] = {}

    def of(self, reference: str, decision: str | None) -> int:
        """C(y, d) in units; both in canonical text.

        >>> from streamdecisionbench.policies.cost_rules import Section
        >>> Rates(Section(wrong=2.5)).of("pause", "record") / RATE
        2.5
        """
        rate = self._found.get((reference, decision))
        if rate is None:
            from streamdecisionbench.policies.cost_rules import fields_of

            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            shown = None if decision is None else fields_of(decision)
            rate = int(self._section.cost(fields_of(reference), shown) * RATE)
            self._found[reference, decision] = rate
        return rate


class LaneStep:
    """What is known of one step, as this component's lane needs it."""

    __slots__ = (
        "answered", "at", "cost", "decision", "effects", "given_up", "member_latency", "number", "owed",
        "published", "reference", "run", "waiting",
    )  # fmt: skip

    def __init__(self, number: int, at: float, published: int) -> None:
        self.number = number
        self.at = at
        self.published = published
        self.reference: str | None = None
        self.decision: str | None = None
        self.answered = 0
        """A bit for each component that has answered."""
        self.given_up = False
        self.waiting: list[tuple[HeldDecision | None, int]] | None = None
        """Stretches during which this step was current, with what was in force."""
        self.owed: dict[tuple[str, str], int] | None = None
        """Time its decisions were in force, by decision and the reference that held."""
        self.run: Run | None = None
        """Its entry among the lane's spells while it is pending there."""
        self.effects: list[dict[str, Any]] = []
        """What of its answers took effect under a policy, as the log has it."""
        self.member_latency: dict[str, float] = {}
        """Of a cascade: seconds until the answer of each member, as the log has it."""
        self.cost = 0.0


class HeldDecision(NamedTuple):
    """What is in force: a decision made for a step, or what it yielded to."""

    step: LaneStep
    decision: str


class Lane:
    """One component on one stream: what it has in force, and the account of it.

    Times are grains, never decreasing.
    """

    __slots__ = (
        "_class", "_ended", "_members", "_passed", "_rate", "_rates", "_reach", "_spells", "_start",
        "_stragglers", "counts", "current", "decision", "first", "held", "name", "rule", "steps", "window",
    )  # fmt: skip

    def __init__(
        self, name: str, counts: Counts, window: int, rates: Rates | None = None, first: int = 0
    ) -> None:
        self.name = name
        self.first = first
        """The first step it is asked about."""
        self.rule: Arbiter = Newest()
        self._members, self._reach = 1, 0
        self._passed = 0
        self.decision: Any = None
        """What is in force, as the application gave it."""
        self.counts = counts
        self._rates = rates
        self._rate = 0
        self._spells = LaneSpells(counts.spells, counts.excesses(rates.age if rates else None))
        self.window = window
        self.steps: OrderedDict[int, LaneStep] = OrderedDict()
        """Steps of which something that counts may still come, the current one and the source."""
        self._stragglers: OrderedDict[int, LaneStep] = OrderedDict()
        self.current: LaneStep | None = None
        self.held: HeldDecision | None = None
        self._start = 0
        self._class = PENDING
        self._ended = False
        counts.streams += 1

    def decided_by(self, rule: Arbiter, members: int, reach: int | None) -> None:
        """A policy says what takes effect: of so many components, for a source so far behind."""
        self.rule, self._members, self._reach = (
            rule,
            members,
            self.window if reach is None else reach,
        )

    def publish(self, number: int, at: float, now: int) -> LaneStep:
        """A new state is current."""
        before = self.current
        if before is not None:
            self._close(now)
        step = LaneStep(number, at, now)
        self.current = self.steps[number] = step
        self.counts.states += 1
        if before is not None:
            self._forget(before)
        self._open(now)
        if len(self.steps) > self.window:
            self.give_up(next(iter(self.steps.values())))
        return step

    def find(self, number: int) -> LaneStep | None:
        """The step, if its answer is still of use."""
        return self.steps.get(number) or self._stragglers.get(number)

    def answer(
        self,
        step: LaneStep,
        decision: str,
        now: int,
        *,
        applies: bool,
        member: int = 0,
        member_name: str | None = None,
    ) -> None:
        """An answer for `step` is there; `applies` is what the in-force rule says."""
        step.answered |= 1 << member
        step.decision = decision
        self._stragglers.pop(step.number, None)
        self.counts.took(now - step.published, member_name)
        if not applies:
            self._forget(step)
            return
        self.hold(HeldDecision(step, decision), now)
        # Every step is passed by once, so this loop takes constant time per step.
        before, self._passed = self._passed, max(self._passed, step.number - self._reach)
        for number in range(before, self._passed):
            passed = self.steps.get(number)
            if passed is not None:
                self._forget(passed)

    def hold(self, held: HeldDecision | None, now: int) -> None:
        """From now on this is in force."""
        before = self.held
        self._close(now)
        if before is not None:
            self.counts.holds(before.step.published, now, -1)
            if held is None or before.decision != held.decision:
                self.counts.changes += 1
        self.held = held
        if held is not None:
            self.counts.holds(held.step.published, now)
        if before is not None and (held is None or held.step is not before.step):
            self._forget(before.step)
        self._open(now)

    def judge(self, step: LaneStep, reference: str) -> None:
        """What was right for `step`, which was not known before."""
        step.reference = reference
        counts = self.counts
        counts.judgments += 1
        self._measure(step, reference)
        for held, span in step.waiting or ():
            if held is None:
                counts.moves(span, PENDING, NO_DECISION)
            else:
                counts.moves(span, PENDING, self._charged(held, step, span))
        step.waiting = None
        self._settle_owed(step)
        if step is self.current or step is self._source:
            self._reconsider()
        self._forget(step)

    def give_up(self, step: LaneStep) -> None:
        """Nothing more is expected for `step`; what is not known of it stays unknown."""
        self.steps.pop(step.number, None)
        if not step.answered and not self._ended:
            self._keep_straggler(step)
        if step.reference is not None:
            return
        step.given_up = True
        self.counts.given_up += 1
        span = sum(span for _, span in step.waiting or ())
        self.counts.moves(span, PENDING, UNJUDGED)
        step.waiting = None
        if step.run is not None:
            self._spells.turns_out(step, [(CALM, step.run.begin, step.run.begin + span)])
        self._settle_owed(step)
        if step is self._source:
            self._reconsider()

    def end(self, now: int) -> None:
        """The stream is over; judgments may still come."""
        if self.current is not None:
            self._close(now)
            self._spells.ends(now)
        if self.held is not None:
            self.counts.holds(self.held.step.published, now, -1)
        self.current = self.held = None
        self._ended = True
        self._stragglers.clear()
        for step in [step for step in self.steps.values() if step.reference is not None]:
            del self.steps[step.number]

    @property
    def _source(self) -> LaneStep | None:
        return None if self.held is None else self.held.step

    def _open(self, now: int) -> None:
        self._start = now
        self._class = self._now_class()
        self.counts.starts(self._class, now)
        current = self.current
        if current is None:
            return
        if current.reference is None:
            self._spells.goes_on(NOT_KNOWN, current, now)
        else:
            wrong = self._charges(current.reference, self.held)
            self._spells.goes_on(WRONG if wrong else CALM, current, now)

    def _close(self, now: int) -> None:
        self.counts.stops(self._class, now)
        if self._rate:
            self.counts.costs(-self._rate, now)
            self._rate = 0
        span = now - self._start
        current, held = self.current, self.held
        if span == 0 or current is None:
            return
        if self._class == PENDING:
            if current.waiting is None:
                current.waiting = []
            current.waiting.append((held, span))
        elif self._class == UNSETTLED and held is not None and current.reference is not None:
            self._charged(held, current, span)

    def _reconsider(self) -> None:
        """The running stretch may have a class now."""
        found = self._now_class()
        if found != self._class:
            self.counts.stops(self._class, self._start)
            self.counts.starts(found, self._start)
            self._class = found

    def _measure(self, step: LaneStep, reference: str) -> None:
        """Spells and costs of a step that is known now: all of the time it was current."""
        if step.run is None:
            return
        at = step.run.begin
        parts: list[Part] = []
        for held, span in step.waiting or ():
            wrong = held is None or held.decision != reference
            if wrong and self._rates is not None:
                rate = self._rates.of(reference, None if held is None else held.decision)
                self.counts.cost_already(rate, span)
            parts.append((WRONG if wrong else CALM, at, at + span))
            at += span
        if step is self.current:
            wrong = self._charges(reference, self.held)
            parts.append((WRONG if wrong else CALM, self._start, OPEN))
        self._spells.turns_out(step, parts)

    def _charges(self, reference: str, held: HeldDecision | None) -> bool:
        """Whether the running stretch is wrong; from its start on it costs what that costs."""
        decision = None if held is None else held.decision
        if decision == reference:
            return False
        if self._rates is not None:
            self._rate = self._rates.of(reference, decision)
            self.counts.costs(self._rate, self._start)
        return True

    def _now_class(self) -> int:
        current, held = self.current, self.held
        if current is None or current.reference is None:
            return PENDING
        if held is None:
            return NO_DECISION
        if held.step.reference is None and not held.step.given_up:
            return UNSETTLED
        return _kind(held, current)

    def _charged(self, held: HeldDecision, current: LaneStep, span: int) -> int:
        """What a stretch with a known reference counts as: its class, or it is left with its source."""
        source, reference = held.step, current.reference
        if reference is None or source.reference is not None or source.given_up:
            return _kind(held, current)
        if source.owed is None:
            source.owed = {}
        key = held.decision, reference
        source.owed[key] = source.owed.get(key, 0) + span
        return UNSETTLED

    def _settle_owed(self, source: LaneStep) -> None:
        """Its own reference is known or given up: its decision's time gets its classes."""
        for (decision, reference), span in (source.owed or {}).items():
            kind = class_of(decision, source.reference, reference)
            # What waits for its source was in force while a newer step was current.
            self.counts.moves(span, UNSETTLED, OLDER_JUDGMENT if kind == JUDGMENT else kind)
        source.owed = None

    def _forget(self, step: LaneStep) -> None:
        """Lets go of a judged step whose answer is there or could not take effect any more."""
        if step.reference is None or step is self.current or step is self._source:
            return
        if step.answered == (1 << self._members) - 1 or self._ended:
            self.steps.pop(step.number, None)
            self._stragglers.pop(step.number, None)
        elif step.number < self._passed:
            self.steps.pop(step.number, None)
            if not step.answered:
                self._keep_straggler(step)

    def _keep_straggler(self, step: LaneStep) -> None:
        self._stragglers[step.number] = step
        if len(self._stragglers) > STRAGGLERS:
            self._stragglers.popitem(last=False)


def _kind(held: HeldDecision, current: LaneStep) -> int:
    """The class of an instant, with judgment told apart by whether its source is older."""
    kind = class_of(held.decision, held.step.reference, current.reference)
    return OLDER_JUDGMENT if kind == JUDGMENT and held.step is not current else kind
