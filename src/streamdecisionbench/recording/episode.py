"""The events of one episode, the same on every clock: what happened is written, then acted on.

Whoever runs the episode says when things happened; the log checks and decodes answers, writes the
events, asks the arbiter, and keeps the tally that progress is drawn from. Nothing here waits. An answer
is written with plain types, finite numbers and text that is text: what a score needs is refused by name
when it is odd, what is only told beside it (model, tokens, confidence) is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import msgspec

from streamdecisionbench.components.contract import (
    Answer,
    Component,
    Fatal,
    Request,
    Retryable,
    Usage,
    check_answer,
)
from streamdecisionbench.components.redaction import cut
from streamdecisionbench.kernel.rule import (
    Arbiter,
    Newest,
    PairRule,
)
from streamdecisionbench.policies.policy_events import (
    Dispatcher,
    Order,
)
from streamdecisionbench.policies.policy_file import Policy
from streamdecisionbench.recording.clock import seconds
from streamdecisionbench.recording.event_log import (
    AFTER_HORIZON,
    Attempt,
    Cancelled,
    Event,
    Expired,
    Release,
    Response,
    Skipped,
)
from streamdecisionbench.recording.live_policy import LivePolicy
from streamdecisionbench.suite.digest import request_hashes
from streamdecisionbench.suite.scenario import Scenario, Step
from streamdecisionbench.text import printable

_LONGEST_SERVICE_S = 86_400.0
_LONGEST_MODEL_NAME = 200
_ASK = "correct the component or the server, then go on with --resume"


def normalise(
    answer: Any, questions: Mapping[str, Any], clean: Callable[[str], str] = str
) -> Answer:
    """The same answer, safe to write and without secrets. Raises `Fatal` where that cannot be.

    >>> odd = Answer({"q": "K01"}, model="a\\x1bb", confidence={"q": float("nan")})
    >>> plain = normalise(odd, {"q": {}})
    >>> plain.model, plain.confidence
    ('a\ufffdb', None)
    """
    if not isinstance(answer, Answer):
        raise Fatal(
            "bad_answer",
            f"the component returned a value of type {type(answer).__name__}",
            fix=_ASK,
        )
    model = answer.model
    if isinstance(model, str):
        model = printable(cut(model, _LONGEST_MODEL_NAME, clean))
    return replace(
        answer,
        labels=_labels(answer.labels),
        model=(model or None) if isinstance(model, str) else None,
        usage=_usage(answer.usage),
        probabilities=_probabilities(answer.probabilities, questions),
        confidence=_confidence(answer.confidence, questions),
        received_at=_number(answer.received_at),
        service_s=_service(answer.service_s, clean),
    )


def _labels(labels: Any) -> dict[str, str]:
    if isinstance(labels, Mapping) and all(
        type(part) is str for pair in labels.items() for part in pair
    ):
        return dict(labels)
    raise Fatal("bad_answer", "the answer's labels are not {question: label}", fix=_ASK)


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Usage):
        return None
    counts = {name: getattr(usage, name) for name in usage.__struct_fields__}
    return Usage(**{k: v for k, v in counts.items() if type(v) is int and 0 <= v < 2**63})


def _probabilities(
    distributions: Any, questions: Mapping[str, Any]
) -> dict[str, dict[str, float]] | None:
    if not distributions:
        return None
    found: dict[str, dict[str, float]] = {}
    for question in questions:
        values = distributions.get(question) if isinstance(distributions, Mapping) else None
        if values is None:
            continue
        numbers = {k: _number(v) for k, v in values.items()} if isinstance(values, Mapping) else {}
        plain = {k: v for k, v in numbers.items() if isinstance(k, str) and v is not None}
        if len(plain) < len(numbers) or not plain:
            raise Fatal(
                "bad_distribution",
                f"the distribution of {question} is not {{label: finite number}}",
                fix=_ASK,
            )
        found[question] = plain
    return found or None


def _confidence(values: Any, questions: Mapping[str, Any]) -> dict[str, float] | None:
    if not isinstance(values, Mapping):
        return None
    numbers = {q: _number(values.get(q)) for q in questions}
    return {q: v for q, v in numbers.items() if v is not None} or None


def _service(value: Any, clean: Callable[[str], str]) -> float | None:
    if value is None:
        return None
    seconds = _number(value)
    if seconds is None or not 0 <= seconds <= _LONGEST_SERVICE_S:
        raise Fatal(
            "bad_service_time",
            f"the component declares a service time of {cut(repr(value), 40, clean)}",
            fix=f"declare seconds between 0 and {_LONGEST_SERVICE_S:g}",
        )
    return seconds


def _number(value: Any) -> float | None:
    """A finite number of Python's or numpy's own; None for anything else."""
    if isinstance(value, bool) or value is None or isinstance(value, str | bytes):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Member:
    """A component and its part in the run: None alone, its role in a pair, its name in a cascade."""

    component: Component
    name: str | None = None


Held = Sequence[tuple[float, Mapping[str, str] | None]]


class LiveSession(Protocol):
    """A session that answers back, one tick after another; a `World` is one."""

    @property
    def right(self) -> Scenario:
        """What becomes of it if every decision is right at once."""
        ...

    def step(self) -> Step:
        """What is public now."""
        ...

    def advance(self, until_s: float, held: Held) -> None:
        """Time passes to `until_s`, with these decisions in force from their instants on."""
        ...

    def outcomes(self) -> dict[str, float]:
        """What its owner counts, so far."""
        ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """A scenario with everything computed that can be before its clock starts; of a session that
    answers back, everything up to now."""

    scenario: Scenario
    requests: list[Request]
    reference: list[dict[str, str]]
    interval_s: float
    planned_s: tuple[float, ...]
    """When each step is to be published."""
    live: LiveSession | None = None
    steps: list[Step] = field(default_factory=list)
    """What a live session has published."""

    @property
    def n(self) -> int:
        return len(self.planned_s)

    @property
    def horizon_s(self) -> float:
        """H = n · Δ."""
        return self.n * self.interval_s

    def go_on(self, now_s: float, held: Held) -> Step | None:
        """The live session's next step, after what was in force; None once all steps have passed."""
        if self.live is None:
            raise AssertionError("a scenario does not answer back")
        if self.steps:
            self.live.advance(now_s, held)
        if len(self.steps) == self.n:
            return None
        step = self.live.step()
        questions = self.scenario.wire_questions()
        (name,) = request_hashes([step.state], questions)
        self.steps.append(step)
        self.requests.append(Request(step.state, questions, name))
        self.reference.append(self.scenario.decision_spec.compose(step.gold))
        return step

    def lived(self) -> Scenario:
        """What became of the live session."""
        return msgspec.structs.replace(self.scenario, steps=tuple(self.steps))


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """A valid answer, decoded and composed."""

    answer: Answer
    pred: dict[str, str]
    decision: dict[str, str]
    confidence: float | None = None
    """Composed as the policy says; None without a policy, or where the answer does not say."""


@dataclass(slots=True)
class Exchange:
    """One step's request to one component, from publication to its answer."""

    member: Member
    t: int
    release_s: float
    request: Request
    attempts: list[dict[str, Any]] = field(default_factory=list)
    begun_s: float | None = None
    """When the attempt that is running began."""

    @property
    def started_s(self) -> float:
        """Start of the first attempt: from publication to here is dispatch wait."""
        return float(self.attempts[0]["started_s"])


@dataclass(slots=True)
class Tally:
    """Counts that progress shows; written by the event loop, read by whoever draws."""

    scenario: str = ""
    scenario_index: int = 0
    scenarios: int = 0
    step: int = 0
    steps: int = 0
    interval_s: float = 0.0
    """Seconds per step of this scenario; 0 where steps take no time of their own."""
    later_s: float = 0.0
    """Seconds that the scenarios after this one will take."""
    in_flight: int = 0
    responses: int = 0
    expected: int = 0
    accepted: int = 0
    discarded: int = 0
    failed_attempts: int = 0
    notices: list[str] = field(default_factory=list)
    """What a person should hear at once: the first failure of each kind, in its own words."""
    told: set[str] = field(default_factory=set)
    observed_s: float = 0.0
    correct_s: float = 0.0

    def copy(self) -> Tally:
        """As it is now, to go back to when a scenario is recorded anew."""
        return replace(self)

    def restore(self, earlier: Tally) -> None:
        """Back to what a copy held; whoever draws keeps looking at this one."""
        for name in self.__slots__:
            setattr(self, name, getattr(earlier, name))

    @property
    def left_s(self) -> float | None:
        """Seconds until the last state is published; None on a clock that nobody waits for."""
        if not self.interval_s:
            return None
        return self.later_s + (self.steps - self.step) * self.interval_s

    @property
    def in_force(self) -> float | None:
        """Share of the time so far in which the decision in force was the reference."""
        return self.correct_s / self.observed_s if self.observed_s > 0 else None


def prepare(scenario: Scenario, interval_s: float) -> Prepared:
    """Requests with their hashes, and the reference: none of it is computed while time runs."""
    questions = scenario.wire_questions()
    states = [step.state for step in scenario.steps]
    hashes = request_hashes(states, questions)
    return Prepared(
        scenario=scenario,
        requests=[
            Request(state, questions, name) for state, name in zip(states, hashes, strict=True)
        ],
        reference=scenario.reference(),
        interval_s=interval_s,
        planned_s=tuple(scenario.planned(interval_s)),
    )


class Diagnostics:
    """What components say about their own answers, summed up: numbers by their range, words by count.

    >>> found = Diagnostics()
    >>> found.add(None, {"prompt_tokens": [3, 5], "kernel": "fused"})
    >>> found.to_json()
    {'component': {'prompt_tokens': {'count': 2, 'least': 3, 'mean': 4.0, 'most': 5}, 'kernel': {'fused': 1}}}
    """

    def __init__(self, clean: Callable[[str], str] = str) -> None:
        self._clean = clean
        self._found: dict[str, dict[str, dict[str, Any]]] = {}

    def add(self, member: str | None, said: Mapping[str, Any] | None) -> None:
        for key, value in (said or {}).items():
            name = printable(cut(str(key), _LONGEST_NAME, self._clean))
            known = self._found.setdefault(member or "component", {})
            if name not in known and len(known) >= _MOST_DIAGNOSTICS:
                continue
            for item in value if isinstance(value, list | tuple) else (value,):
                number = _number(item)
                if number is not None:
                    _widen(known.setdefault(name, {"count": 0}), item, number)
                elif isinstance(item, str | bool):
                    counts = known.setdefault(name, {})
                    text = str(item).lower() if isinstance(item, bool) else item
                    word = printable(cut(text, _LONGEST_NAME, self._clean))
                    if word in counts or len(counts) < _MOST_WORDS:
                        counts[word] = counts.get(word, 0) + 1

    def to_json(self) -> dict[str, Any]:
        return {
            member: {
                name: {**of, "mean": round(of["mean"] / of["count"], 6)} if "mean" in of else of
                for name, of in known.items()
            }
            for member, known in self._found.items()
        }


_LONGEST_NAME, _MOST_DIAGNOSTICS, _MOST_WORDS = 60, 60, 20


def _widen(of: dict[str, Any], item: Any, number: float) -> None:
    """`mean` is the sum until it is told."""
    plain = item if type(item) is int else number
    least, most = of.get("least", plain), of.get("most", plain)
    of.update(
        count=of.get("count", 0) + 1, least=min(least, plain),
        mean=of.get("mean", 0.0) + number, most=max(most, plain),
    )  # fmt: skip


def prepare_live(session: LiveSession, interval_s: float) -> Prepared:
    """A session that answers back, at its start."""
    planned_s = tuple(session.right.planned(interval_s))
    return Prepared(session.right, [], [], interval_s, planned_s, session)


class EpisodeLog:
    """The events of one episode. Every method returns with its event handed to `append`."""

    def __init__(
        self,
        prepared: Prepared,
        members: Sequence[Member],
        append: Callable[[Event], None],
        tally: Tally,
        clean: Callable[[str], str] = str,
        *,
        rule: str | None = None,
        policy: Policy | None = None,
        diagnostics: Diagnostics | None = None,
    ) -> None:
        """`rule` is a live pair's; without it, and without a policy, the newest takes effect."""
        self.prepared, self.members, self.tally = prepared, members, tally
        self.ranks = {member.name: k for k, member in enumerate(members)}
        self.releases: list[float] = []
        """When the states so far became public."""
        self.policy: LivePolicy | None = None
        self._arbiter: Arbiter = PairRule(rule) if rule else Newest()
        dispatcher = Dispatcher(Policy(), [True] * prepared.n, len(members))
        if policy is not None:
            live = prepared.live is not None
            self.policy = LivePolicy(policy, prepared.scenario, list(self.ranks), live=live)
            self._arbiter, dispatcher = self.policy.arbiter, self.policy.dispatcher
        self._dispatcher = dispatcher
        self._diagnostics = diagnostics
        self._append, self._clean = append, clean
        self._broken = False
        self._episode_id = prepared.scenario.episode_id
        self._decision: Mapping[str, str] | None = None
        self._lapses: tuple[float, int, str | None] | None = None
        """When the decision in force expires, and whose it is."""
        self._seen_s: float | None = None
        self._held: list[tuple[float, Mapping[str, str] | None]] = []
        """What came into force since a live session last went on."""

    def relive(self, events: Sequence[Event]) -> int:
        """Goes through what was written before, and a live session with it; nothing is written again.

        Says how many of the events lead up to the last release before which everybody who was asked
        had answered: from there a session that was broken off can be taken up.
        """
        append, self._append = self._append, lambda _: None
        pending: set[tuple[int, int]] = set()
        whole = 0
        for place, event in enumerate(events):
            orders: Sequence[Order] = ()
            if isinstance(event, Release):
                whole = whole if pending else place
                orders = self.release(event.release_s)
            elif isinstance(event, Response):
                rank = self.ranks[event.component]
                member, request = self.members[rank], self.prepared.requests[event.t]
                exchange = Exchange(member, event.t, event.release_s, request, event.attempts)
                said = Answer(
                    event.wire_answers,
                    probabilities=event.probabilities,
                    confidence=event.confidence,
                )
                pending.discard((rank, event.t))
                orders = self.commit(exchange, self.read(said, member), event.actual_recorded_s)
            elif isinstance(event, Expired):
                self._lapse()
            elif isinstance(event, Cancelled):
                self.tally.expected -= 1
            for order in orders:
                (pending.discard if order.cancel else pending.add)((order.rank, order.t))
        self._append = append
        return whole

    def release(self, now_s: float, stalled_s: float = 0.0) -> list[Order]:
        """The next step is public from now on, a live session's after what was in force; what is to be
        sent and given up then. `stalled_s` of its delay the client stood still."""
        t, now_s = len(self.releases), seconds(now_s)
        self._go_on(now_s)
        planned_s = seconds(self.prepared.planned_s[t])
        self._write(Release(self._episode_id, t, planned_s, now_s, stalled_s or None))
        self._observe(now_s)
        self.releases.append(now_s)
        self.tally.step = t + 1
        return self._dispatcher.published(t)

    def _go_on(self, now_s: float) -> None:
        """A live session goes on to its next step, which is about to be released; others are known."""
        if self.prepared.live is None:
            return
        self._observe(now_s)
        step = self.prepared.go_on(now_s, self._held)
        self._held = []
        if step is None:
            return
        if self.policy is not None:
            self.policy.saw(step.state)
        for member in self.members:
            learn = getattr(member.component, "learn", None)
            if learn is not None:  # a simulation knows the references
                learn(self.prepared.scenario, step)

    def received(self, answer: Any) -> Answer:
        """What came, safe to write down; `Fatal` when it is no answer."""
        return normalise(answer, self.prepared.requests[0].questions, self._clean)

    def read(self, answer: Answer, member: Member) -> ReadAnswer:
        """Checks, decodes and composes; `Fatal` when the answer breaks the contract."""
        scenario = self.prepared.scenario
        check_answer(answer, self.prepared.requests[0].questions, self._clean)
        pred = scenario.decode(answer.labels)
        sure = self.policy.confidence(member.name, answer, pred) if self.policy else None
        return ReadAnswer(answer, pred, scenario.decision_spec.compose(pred), sure)

    def attempted(
        self,
        exchange: Exchange,
        started_s: float,
        received_s: float | None,
        ended_s: float,
        error: Retryable | Fatal | None = None,
    ) -> None:
        """One call that brought a valid answer, right or wrong, or this error."""
        self.tally.failed_attempts += error is not None
        if isinstance(error, Retryable) and error.error_type not in self.tally.told:
            self.tally.told.add(error.error_type)
            what = self._clean(error.detail or error.error_type)
            advice = f"; {self._clean(error.fix)}" if error.fix else ""
            self.tally.notices.append(f"{what} (tried again){advice}")
        attempt = Attempt(
            episode_id=self._episode_id,
            t=exchange.t,
            request_hash=exchange.request.request_hash,
            attempt=len(exchange.attempts) + 1,
            started_s=seconds(started_s),
            received_s=None if received_s is None else seconds(received_s),
            completed_s=seconds(ended_s),
            ok=error is None,
            retryable=isinstance(error, Retryable),
            error_type=self._clean(error.error_type) if error else None,
            http_status=error.http_status if error else None,
            component=exchange.member.name,
        )
        self._write(attempt)
        names = ["attempt", "started_s", "received_s", "completed_s", "ok", "retryable"]
        names += ["error_type"] if error is not None else []
        exchange.attempts.append({name: getattr(attempt, name) for name in names})

    def commit(
        self, exchange: Exchange, reading: ReadAnswer, recorded_s: float, stalled_s: float = 0.0
    ) -> list[Order]:
        """The acceptance check at `recorded_s`, after the attempt that brought the answer.

        `stalled_s` of the time since its state was published the client stood still. The decision takes effect once it is written; what is to be sent and given up then.
        """
        recorded_s = seconds(recorded_s)
        successful = exchange.attempts[-1]
        self._observe(recorded_s)
        reason: str | None = AFTER_HORIZON
        if recorded_s < self.prepared.horizon_s:
            reason = self._arbiter.refusal(
                exchange.member.name, exchange.t, reading.decision, reading.confidence
            )
        answer = reading.answer
        response = Response(
            episode_id=self._episode_id,
            t=exchange.t,
            release_s=seconds(exchange.release_s),
            request_hash=exchange.request.request_hash,
            ok=True,
            accepted=reason is None,
            started_s=exchange.started_s,
            received_s=successful["received_s"],
            pred=reading.pred,
            completed_s=successful["completed_s"],
            actual_recorded_s=recorded_s,
            discard_reason=reason,
            attempts=exchange.attempts,
            wire_answers=dict(answer.labels),
            decision=reading.decision,
            model=answer.model,
            usage=answer.usage,
            accepted_s=recorded_s if reason is None else None,
            component=exchange.member.name,
            probabilities={q: dict(p) for q, p in (answer.probabilities or {}).items()} or None,
            confidence=dict(answer.confidence or {}) or None,
            stalled_s=stalled_s or None,
        )
        self._write(response)
        if self._diagnostics is not None and isinstance(answer.diagnostics, Mapping):
            self._diagnostics.add(exchange.member.name, answer.diagnostics)
        self.tally.responses += 1
        if reason is None:
            self._arbiter.activate(exchange.member.name, exchange.t)
            self._decision = reading.decision
            self._held.append((recorded_s, reading.decision))
            if self.policy is not None and math.isfinite(self.policy.after_s):
                due_s = max(exchange.release_s + self.policy.after_s, recorded_s)
                self._lapses = seconds(due_s), exchange.t, exchange.member.name
            self.tally.accepted += 1
        else:
            self.tally.discarded += 1
        return self._dispatcher.answered(
            self.ranks[exchange.member.name],
            exchange.t,
            unsure=self.policy is not None and self.policy.unsure(reading.confidence),
            in_time=recorded_s < self.prepared.horizon_s,
        )

    def gave_up(self, exchange: Exchange, now_s: float) -> None:
        """A policy has no more use for the answer; whatever comes of it is not waited for."""
        started_s = now_s if exchange.begun_s is None else exchange.begun_s
        if exchange.attempts:
            started_s = exchange.started_s
        self._write(
            Cancelled(
                self._episode_id,
                exchange.t,
                exchange.request.request_hash,
                seconds(started_s),
                seconds(now_s),
                exchange.member.name,
            )
        )
        self.tally.expected -= 1

    def finished(self) -> None:
        """The last answer is in: what is in force now stays so until it lapses, or the horizon."""
        for rank, t, reason in self._dispatcher.skipped():  # what a policy never sent
            self._write(Skipped(self._episode_id, t, reason, self.members[rank].name))
            self.tally.expected -= 1
        self._observe(self.prepared.horizon_s)
        self._go_on(self.prepared.horizon_s)

    def _observe(self, now_s: float) -> None:
        """In-force time up to `now_s`, observed from the first release to the horizon."""
        now_s = min(now_s, self.prepared.horizon_s)
        if self._lapses is not None and self._lapses[0] < now_s:
            self._lapse()
        self._count(now_s)

    def _lapse(self) -> None:
        """The decision in force expires."""
        if self._lapses is None:
            raise ValueError("nothing is in force that could expire")
        (due_s, t, member), self._lapses = self._lapses, None
        self._count(due_s)
        self._write(Expired(self._episode_id, t, due_s, member))
        self._decision = self.policy.fallback if self.policy else None
        self._held.append((due_s, self._decision))

    def _count(self, now_s: float) -> None:
        if self._seen_s is not None and now_s > self._seen_s:
            self.tally.observed_s += now_s - self._seen_s
            if self._decision == self.prepared.reference[len(self.releases) - 1]:
                self.tally.correct_s += now_s - self._seen_s
        if self._seen_s is None or now_s > self._seen_s:
            self._seen_s = now_s

    def _write(self, event: Event) -> None:
        # After a write that failed half-way, another line would hide that the log is torn.
        if self._broken:
            raise OSError("the event log cannot be written any more")
        try:
            self._append(event)
        except OSError:
            self._broken = True
            raise
