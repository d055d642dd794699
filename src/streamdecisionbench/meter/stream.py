"""One session: the holder of its decision in force, and what exports are told about it.

Whatever happens inside the measurement, the application gets its step numbers, and the newest source
stays in force: that part is two comparisons and comes first. With a policy its own event form says what
takes effect (`rules.policy_events`), and what yields does so at its time, whoever looks when.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self

from streamdecisionbench.kernel.rule import (
    NOT_AGREED,
    WITHHELD,
)
from streamdecisionbench.meter.counts import OUTCOMES
from streamdecisionbench.meter.lane import HeldDecision, Lane, LaneStep
from streamdecisionbench.text import (
    decision_text,
    harmless,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from streamdecisionbench.meter.stream_policy import StreamPolicy


class Notice(NamedTuple):
    """Something that happened to one step of one component on one stream.

    `value` is the state as it was published, the decision or the reference as canonical text, or None
    at the end, where `step` is the last. `at` is when it happened on the meter's clock.
    """

    kind: Literal["published", "answered", "judged", "ended"]
    stream: Stream
    component: str
    step: int
    published_at: float
    at: float
    value: Any
    outcome: str = ""
    """Of an answer: applied, superseded, late or withheld."""
    correct: bool | None = None
    """Of an answer or a judgment, whichever came second: the decision was right for its own state."""
    confidence: float | None = None
    cost: float | None = None
    """Of an answer, where the application says; under a policy, of the state's answers so far."""
    effects: str | None = None
    """Of a state or answer under a policy: what of the state's answers took effect, as the log has it."""
    first: bool = True
    """Of an answer: none came before it for this state."""
    member: str | None = None
    """Of an answer in a cascade: whose it is."""
    member_latency: str | None = None
    """Of an answer in a cascade: seconds until each member's answer to this state, as the log has it."""


Sink = Callable[[Notice], None]
"""Told after the fact, outside the meter's lock; whatever it raises is counted and goes no further."""

APPLIED = "applied"
"""What the component whose decisions take effect is called beside its shadows."""

_APPLIED, _SUPERSEDED, _LATE, _FAILED, _WITHHELD = range(len(OUTCOMES))
_NOT_APPLIED = {WITHHELD: _WITHHELD, NOT_AGREED: _WITHHELD}


class StreamMeter(Protocol):
    """What a stream uses of its meter, which makes and keeps it: see `Meter`."""

    name: str
    run: str
    sinks: tuple[Sink, ...]
    shadows: dict[str, None]
    reference: Callable[[str], Any] | None

    @property
    def lock(self) -> AbstractContextManager[Any]: ...
    @property
    def guards(self) -> Mapping[str, AbstractContextManager[None, bool]]: ...
    def begins(self, stream: Stream) -> int: ...
    def new_policy(self, labels: dict[str, str], name: str) -> StreamPolicy | None: ...
    def new_lane(self, component: str, labels: dict[str, str], first: int = 0) -> Lane: ...
    def add_shadow(self, name: str) -> None: ...
    def read_clock(self) -> float: ...
    def advance_to(self, at: float) -> int: ...
    def pass_time(self) -> None: ...
    def expects(self, stream: Stream, due: int | None) -> None: ...
    def changed(self, stream: Stream, decision: Any) -> None: ...
    def count_error(self, where: str) -> None: ...
    def tell_all(self, events: Sequence[Notice]) -> None: ...
    def keep_ended(self, stream: Stream) -> None: ...
    def when_done(self, found: Awaitable[Any], then: Callable[[Any], object]) -> None: ...


class Stream:
    """A session under measurement. Made by `Meter.stream`; leaving its `with` block ends it.

    Every method may be called from any thread or task. None of them waits, and none of them raises.
    """

    __slots__ = (
        "_ended", "_lanes", "_meter", "_policy", "_published_at", "_run", "_steps", "id", "labels", "name",
        "ordinal",
    )  # fmt: skip

    def __init__(self, meter: StreamMeter, name: str, labels: dict[str, str]) -> None:
        self.name = name
        self.labels = labels
        self._meter = meter
        self._steps = 0
        self._published_at = -math.inf
        self._ended = False
        self._lanes: dict[str, Lane] = {}
        self._policy = meter.new_policy(labels, name)
        self._begin()

    def _begin(self) -> None:
        """In the meter's present run: when it is made, and again in a child process that uses it.

        There it goes on as a stream of its own from its next state on; what is in force stays so. Of one
        that has ended nothing more is expected there.
        """
        meter, before = self._meter, self._lanes
        self._run = meter.run
        if self._ended:
            for lane in before.values():
                lane.steps.clear()
            return
        self.ordinal = meter.begins(self)
        self.id = f"{self.name}@{meter.run}.{self.ordinal}"
        """Unlike its name never used twice; the decision log calls it `stream`."""
        self._lanes = {
            name: meter.new_lane(name, self.labels) for name in (APPLIED, *meter.shadows)
        }
        for name, lane in before.items():
            mine = self._lanes[name]
            mine.first, mine.rule, mine.decision = lane.first, lane.rule, lane.decision
        if self._policy is not None:
            self._policy.decides(self._lanes[APPLIED])
            meter.expects(self, self._policy.yields)

    @property
    def meter_name(self) -> str:
        return self._meter.name

    @property
    def decision(self) -> Any:
        """The decision in force, as it was given to `answer`; None before the first.

        Under a policy that lets decisions expire, what is in force now: the fallback, or None.
        """
        if self._policy is not None:
            self._meter.pass_time()
            self._meter.tell_all(())
        return self._lanes[APPLIED].decision

    @property
    def source(self) -> int | None:
        """The step the decision in force was made for."""
        if self._policy is not None:
            self._meter.pass_time()
            self._meter.tell_all(())
        lane = self._lanes[APPLIED]
        return None if lane.decision is None else lane.rule.active

    def publish(self, state: Any = None, *, reference: Any = None) -> int:
        """New evidence: its state is current from now on. Returns the step's number.

        `reference` is what is right for this state, where that is known at once. A meter with a
        reference function asks it here.
        """
        meter = self._meter
        told: list[Notice] = []
        with meter.lock:
            number = self._steps
            self._steps = number + 1
            with meter.guards["publish"]:
                if self._ended:
                    raise RuntimeError("published after the stream ended")
                if self._run is not meter.run:
                    self._begin()
                at = max(meter.read_clock(), math.nextafter(self._published_at, math.inf))
                now = meter.advance_to(at)
                self._published_at = at
                for lane in self._lanes.values():
                    lane.publish(number, at, now)
                    if meter.sinks:
                        told.append(Notice("published", self, lane.name, number, at, at, state))
                if self._policy is not None:
                    told[:1] = [one._replace(effects="[]") for one in told[:1]]
                    self._policy.published(number, state)
        meter.tell_all(told)
        if reference is not None:
            self.judge(number, reference)
        elif meter.reference is not None:
            with meter.guards["reference"]:
                found = meter.reference(state)
                if isinstance(found, Awaitable):
                    meter.when_done(found, lambda right: self.judge(number, right))
                else:
                    self.judge(number, found)
        return number

    def answer(
        self,
        step: int,
        decision: Any,
        *,
        component: str | None = None,
        confidence: float | None = None,
        cost: float | None = None,
    ) -> bool:
        """The component's decision for a step. Returns whether it is in force now.

        The newest source wins: an answer for an older step than the one in force is superseded; under a
        policy its gate, debounce and rule say so, and `component` names a member of its cascade. `None`
        says that the request failed and there is no answer. How sure the component was and what the
        answer cost go into the log.
        """
        return self._answer(APPLIED, step, decision, confidence, cost, component)

    def ask(self, component: str | None, step: int) -> bool:
        """Whether the policy wants this component asked about this step now; it is told so once.

        Without a policy every state is worth asking about.
        """
        meter = self._meter
        if self._policy is None:
            return True
        with meter.lock, meter.guards["ask"]:
            return self._policy.takes(component, operator.index(step))
        return False

    def due(self) -> list[tuple[str | None, int]]:
        """Every (component, step) that the policy wants asked now and nobody took up with `ask`."""
        meter = self._meter
        if self._policy is None:
            return []
        with meter.lock, meter.guards["ask"]:
            return self._policy.take_all()
        return []

    def shadow(
        self,
        component: str,
        step: int,
        decision: Any,
        *,
        confidence: float | None = None,
        cost: float | None = None,
    ) -> bool:
        """What another component decided for a step: measured, never applied.

        Returns whether it would be in force. A component named in `Meter(shadows=…)` is measured
        from every stream's first state on; any other on this stream from its current state on, and
        from the start of the streams that follow.
        """
        meter = self._meter
        name, told = "", list[Notice]()
        with meter.lock, meter.guards["shadow"]:
            if not isinstance(component, str) or component in ("", APPLIED):
                raise ValueError("no name for a shadow")
            if self._run is not meter.run:
                self._begin()
            name = harmless(component)
            if name not in self._lanes:
                told = self._new_shadow(name)
        meter.tell_all(told)
        return name in self._lanes and self._answer(name, step, decision, confidence, cost)

    def judge(self, step: int, reference: Any) -> bool:
        """What was right for a step, whenever that is known, also after the stream has ended.

        Returns whether it counts: the first judgment of a step does, while the step is in the window.
        """
        meter = self._meter
        told: list[Notice] = []
        counted = False
        with meter.guards["judge"]:
            if reference is None:
                return False
            text = text_of(reference)
            number = step if type(step) is int else operator.index(step)
            with meter.lock:
                if self._run is not meter.run:
                    self._begin()
                at = meter.read_clock()
                meter.advance_to(at)
                for lane in self._lanes.values():
                    found = lane.steps.get(number)
                    if found is None or found.reference is not None:
                        continue
                    lane.judge(found, text)
                    counted = True
                    if meter.sinks:
                        told.append(self._judgment(lane, found, at, text))
                if not counted:
                    meter.count_error("judged too late")
                elif self._ended:
                    meter.keep_ended(self)
        meter.tell_all(told)
        return counted

    def end(self) -> None:
        """The session is over. Judgments may still come."""
        meter = self._meter
        told: list[Notice] = []
        with meter.lock:
            if self._ended:
                return
            with meter.guards["end"]:
                if self._run is not meter.run:
                    self._begin()
            self._ended = True
            with meter.guards["end"]:
                # A log that ends with a state that lasted for nothing is no log.
                at = max(meter.read_clock(), math.nextafter(self._published_at, math.inf))
                now = meter.advance_to(at)
                for lane in self._lanes.values():
                    last = lane.current
                    lane.end(now)
                    if self._policy is not None:
                        self._policy.yields = None
                    if last is not None and meter.sinks:
                        told.append(
                            Notice("ended", self, lane.name, last.number, last.at, at, None)
                        )
            meter.keep_ended(self)
        meter.tell_all(told)

    def give_up(self) -> None:
        """No judgment is expected any more: what is not known stays so, and is counted so."""
        with self._meter.lock, self._meter.guards["give up"]:
            for lane in self._lanes.values():
                for step in list(lane.steps.values()):
                    if step is not lane.current:
                        lane.give_up(step)

    @property
    def unjudged_steps(self) -> int:
        """After the end: steps whose judgment may still come."""
        return max(len(lane.steps) for lane in self._lanes.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.end()

    def _answer(
        self,
        name: str,
        step: int,
        decision: Any,
        confidence: float | None,
        cost: float | None,
        component: str | None = None,
    ) -> bool:
        meter = self._meter
        told: Notice | None = None
        sure, price = self._amount(confidence, "confidence"), self._amount(cost, "cost")
        policy = self._policy if name == APPLIED else None
        with meter.lock:
            if self._run is not meter.run:
                with meter.guards["answer"]:
                    self._begin()
            lane, number = self._lanes[name], step
            if type(step) is not int:
                number = -1
                with meter.guards["answer"]:
                    number = int(operator.index(step))
            if policy is not None:
                outcome = _FAILED
                with meter.guards["answer"]:
                    meter.advance_to(meter.read_clock())
                    outcome = self._by_policy(policy, lane, number, decision, sure, component)
            else:
                outcome = self._outcome(lane, number, decision)
                if outcome == _APPLIED:
                    lane.rule.activate(None, number)
            if outcome == _APPLIED:
                lane.decision = decision
            with meter.guards["answer"]:
                told = self._account(lane, number, decision, outcome, policy, component, price)
        meter.tell_all([] if told is None else [told._replace(confidence=sure)])
        return outcome == _APPLIED

    def _outcome(self, lane: Lane, number: int, decision: Any) -> int:
        if decision is None:
            return _FAILED
        if self._ended:
            return _LATE
        known = lane.first <= number < self._steps
        admits = known and lane.rule.refusal(None, number, None, None) is None
        return _APPLIED if admits else _SUPERSEDED

    def _by_policy(
        self,
        policy: StreamPolicy,
        lane: Lane,
        number: int,
        decision: Any,
        confidence: float | None,
        component: str | None,
    ) -> int:
        """What the policy makes of an answer; it asks on where it says so."""
        member = policy.member(component)
        if decision is not None and self._ended:
            return _LATE
        if not lane.first <= number < self._steps or policy.gave_up(member, number):
            return _FAILED if decision is None else _SUPERSEDED
        outcome = _FAILED
        if decision is not None:
            if confidence is None and policy.needs[member]:
                self._meter.count_error("no confidence")
            text = self._text(decision, number)
            why = lane.rule.refusal(policy.names[member], number, text, confidence)
            outcome = _APPLIED if why is None else _NOT_APPLIED.get(why, _SUPERSEDED)
            if why is None and lane.find(number) is None:
                self._meter.count_error("answered too late")
                outcome = _SUPERSEDED
            elif why is None:
                lane.rule.activate(policy.names[member], number)
        if not self._ended:
            policy.answered(member, number, confidence, failed=decision is None)
        return outcome

    def lapse(self, due: int) -> None:
        """What was in force until then yields to the fallback. The lock is held."""
        policy = self._policy
        if policy is None or policy.yields != due:
            return
        lane, policy.yields = self._lanes[APPLIED], None
        held = lane.held
        lane.decision = policy.fallback
        if held is not None:
            text = policy.fallback_text
            lane.hold(None if text is None else HeldDecision(held.step, text), due)
        self._meter.changed(self, lane.decision)

    def _account(
        self,
        lane: Lane,
        number: int,
        decision: Any,
        outcome: int,
        policy: StreamPolicy | None,
        component: str | None,
        price: float | None,
    ) -> Notice | None:
        """An answer for a state that the meter does not know (any more) is in force, and not measured: a
        log could not say of which state it is."""
        meter = self._meter
        at = meter.read_clock()
        now = meter.advance_to(at)
        lane.counts.answers[outcome] += 1
        if outcome == _FAILED:
            return None
        step = lane.find(number)
        if step is None:
            if outcome == _APPLIED:
                meter.count_error("answered too late")
            return None
        member = 0 if policy is None else policy.member(component)
        if step.answered >> member & 1:
            return None
        text, first = self._text(decision, number), not step.answered
        name = policy.names[member] if policy is not None and len(policy.names) > 1 else None
        lane.answer(step, text, now, applies=outcome == _APPLIED, member=member, member_name=name)
        effects = members = None
        if name is not None:
            step.member_latency[name] = max(at - step.at, 0.0)
            members = json.dumps(step.member_latency, ensure_ascii=False, separators=(",", ":"))
        if policy is not None:
            step.cost += price or 0.0
            price = step.cost or None
            if outcome == _APPLIED:
                due = policy.takes_effect(step, text, at, now)
                meter.changed(self, lane.decision)
                meter.expects(self, due)
            effects = json.dumps(step.effects, ensure_ascii=False, separators=(",", ":"))
        if not meter.sinks:
            return None
        correct = None if step.reference is None else text == step.reference
        return Notice(
            "answered", self, lane.name, number, step.at, at, text, OUTCOMES[outcome], correct,
            cost=price, effects=effects, first=first, member=name, member_latency=members,
        )  # fmt: skip

    def _text(self, decision: Any, number: int) -> str:
        try:
            return text_of(decision)
        except Exception:
            self._meter.count_error("decision")
            return f"<a decision that is no JSON value, step {number}>"

    def _amount(self, value: Any, where: str) -> float | None:
        """A number that a log may hold; None where there is none, or none that it may."""
        if value is None:
            return None
        try:
            number = math.nan if isinstance(value, str | bytes) else float(value)
        except Exception:
            number = math.nan
        if math.isfinite(number) and (number >= 0 or where != "cost"):
            return number
        self._meter.count_error(where)
        return None

    def _judgment(self, lane: Lane, step: LaneStep, at: float, text: str) -> Notice:
        correct = None if step.decision is None else step.decision == text
        return Notice("judged", self, lane.name, step.number, step.at, at, text, correct=correct)

    def _new_shadow(self, name: str) -> list[Notice]:
        meter = self._meter
        current = self._lanes[APPLIED].current
        if self._ended or current is None:
            raise RuntimeError("a shadow has nothing to decide")
        meter.add_shadow(name)
        lane = self._lanes[name] = meter.new_lane(name, self.labels, current.number)
        at = current.at
        copy = lane.publish(current.number, at, current.published)
        told = [Notice("published", self, name, current.number, at, at, None)]
        if current.reference is not None:
            lane.judge(copy, current.reference)
            told.append(self._judgment(lane, copy, at, current.reference))
        return told


def text_of(decision: Any) -> str:
    """In canonical form. What begins like JSON and is none says so, lest a reader takes it for JSON."""
    text = decision_text(decision)
    if text is None:
        text = f"not JSON: {str(decision).strip()}"
    if not text.isascii() and (clean := harmless(text)) != text:
        return text_of(clean)
    return text
