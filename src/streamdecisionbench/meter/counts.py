"""Monotonic counters of one component, exact at any moment in constant time.

Seconds are integers of 2⁻⁴⁰ s inside: sums of integers round nothing, so neither the order of events
nor the number of threads changes a digit. A stretch that still runs is not added up when somebody
looks; its class knows how many stretches run, and starts less ends of all there were, so that at any `now`

    seconds(class) = running·now − (Σ starts − Σ ends).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    JUDGMENT,
    UNJUDGED,
    UNKNOWN,
    split_unattributed,
)
from streamdecisionbench.meter.episode_timer import (
    Excess,
    SpellSums,
)

if TYPE_CHECKING:
    from streamdecisionbench.policies.cost_rules import AgePenalty

PENDING, UNSETTLED, OLDER_JUDGMENT = (len(ALL_CLASSES) + k for k in range(3))
"""No classes: seconds of which it may still become known what was right; those that are known to be
right or wrong, while it may become known what was right for their source; and the part of judgment whose
decision was made for an older state, which a reading counts as judgment too."""

OUTCOMES = ("applied", "superseded", "late", "failed", "withheld")
"""Of an answer: took effect; a newer source was in force; the stream had ended; none came; a policy's
gate or debounce kept it back."""

WRONG_CLASSES = ("judgment", "stale", "compound", "no_decision")
"""The classes of a decision in force that is wrong for a known cause."""

GRAINS = 1 << 40
"""Units of time in a second."""

RATE = 1 << 64
"""Units of a cost rate of one: sums of whole units round nothing."""

THETA_S = 4.0
"""A wrong spell counts as long beyond this, where nobody says otherwise."""

LATENCY_BUCKETS_S = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75,
    1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 20.0, 30.0, 60.0,
)  # fmt: skip
"""Upper ends of the latency histogram's buckets; one more takes the rest."""


class Counter(NamedTuple):
    """One counter of a reading, as monitoring systems call it."""

    field: str
    prometheus: str
    opentelemetry: str
    unit: str
    meaning: str
    label: str = ""
    """What its keys are called, where it is one number for each."""


COUNTERS = tuple(
    Counter(*row)
    for row in (
        ("seconds", "sdb_decision_seconds", "sdb.decision.seconds", "s",
         "Observed seconds by class, counted once all that decides it is known.", "class"),
        ("judged", "sdb_judged_seconds", "sdb.judged", "s",
         "Observed seconds by verdict, as soon as it is known what was right.", "verdict"),
        ("older_judgment_s", "sdb_older_judgment_seconds", "sdb.decision.older_judgment", "s",
         "Of the judgment seconds, those whose decision was made for an older state."),
        ("answers", "sdb_answers", "sdb.answers", "{answer}",
         "Answers by what became of them.", "outcome"),
        ("in_force_s", "sdb_in_force_seconds", "sdb.decision.in_force", "s",
         "Seconds during which some decision was in force."),
        ("age_integral_s2", "sdb_decision_age_integral", "sdb.decision.age_integral", "s2",
         "Age of the decision in force, integrated over time, in seconds squared."),
        ("streams", "sdb_streams", "sdb.streams", "{stream}", "Streams begun."),
        ("states", "sdb_states", "sdb.states", "{state}", "States published."),
        ("judgments", "sdb_judgments", "sdb.judgments", "{step}",
         "Steps of which it became known what was right."),
        ("changes", "sdb_decision_changes", "sdb.decision.changes", "{change}",
         "Times another decision came into force."),
        ("spells", "sdb_wrong_spells", "sdb.wrong.spells", "{spell}",
         "Stretches of time begun in which the decision is wrong."),
        ("wrong_age_integral_s2", "sdb_wrong_age_integral", "sdb.wrong.age_integral", "s2",
         "How long it had been wrong, integrated over time, in seconds squared."),
        ("beyond_s", "sdb_wrong_beyond_seconds", "sdb.wrong.beyond", "s",
         "Seconds wrong for longer than theta."),
        ("given_up", "sdb_given_up_steps", "sdb.given_up", "{step}",
         "Steps that were never judged within the window."),
        ("cost_s", "sdb_error_cost_seconds", "sdb.error.cost", "s",
         "What being wrong and staying wrong cost, in seconds of an ordinary wrong decision.", "kind"),
    )
)  # fmt: skip


class LatencyCounts(NamedTuple):
    """A latency histogram: answers by bucket, and the sum of their seconds."""

    buckets: tuple[int, ...]
    sum_s: float


class Reading(NamedTuple):
    """All counters of one component at one moment."""

    component: str
    labels: tuple[tuple[str, str], ...]
    seconds: dict[str, float]
    judged: dict[str, float]
    """Seconds during which the decision in force was `right` and `wrong`, none in force being wrong."""
    waiting: dict[str, float]
    """Seconds that are in no class yet: `unjudged` and `unattributed` so far."""
    older_judgment_s: float
    """Of the judgment seconds, those whose decision was made for an older state."""
    in_force_s: float
    age_integral_s2: float
    streams: int
    states: int
    judgments: int
    changes: int
    answers: dict[str, int]
    latency_buckets: tuple[int, ...]
    latency_sum_s: float
    member_latency: dict[str, LatencyCounts]
    """Of a cascade: the same latencies by the member that answered."""
    given_up: int
    spells: int
    """Wrong spells begun."""
    wrong_age_integral_s2: float
    """Σ ℓ²/2 over them: how long it had been wrong, integrated over time."""
    beyond_s: float
    """Seconds wrong for longer than θ."""
    cost_s: dict[str, float]
    """What being wrong and staying wrong cost, in seconds of an ordinary wrong decision."""

    @property
    def pending_s(self) -> float:
        """Seconds that are in no class yet."""
        return sum(self.waiting.values())

    @property
    def judged_s(self) -> float:
        """Seconds of which it is known what was right."""
        return sum(self.judged.values())

    @property
    def in_force(self) -> float | None:
        """In-force accuracy so far: correct time over judged time; None before any was judged."""
        return accuracy(self.judged["right"], self.judged["wrong"])

    @property
    def causes(self) -> dict[str, float] | None:
        """Shares of judged time lost to each cause; None before any was judged.

        Wrong seconds whose own state is not judged are divided as `in_force.split_unattributed` says.
        """
        if not self.judged_s:
            return None
        known = {name: self.seconds[name] for name in WRONG_CLASSES}
        rest = max(self.judged["wrong"] - sum(known.values()), 0.0)
        judgment, stale, compound, unknown = split_unattributed(
            rest, self.older_judgment_s, known["stale"], known["compound"]
        )
        lost = {
            "latency": known["stale"] + known["no_decision"] + stale,
            "judgment": known["judgment"] + judgment,
            "both": known["compound"] + compound,
            UNKNOWN: unknown,
        }
        return {cause: seconds / self.judged_s for cause, seconds in lost.items()}

    @property
    def mean_wrong_age_s(self) -> float | None:
        """The mean over judged time of how long it had been wrong: `mean_age_s` of docs/reference/costs.md."""
        judged = self.judged_s
        return self.wrong_age_integral_s2 / judged if judged else None

    @property
    def mean_age_s(self) -> float | None:
        """How old the decision in force was on average, since its own state was published."""
        return self.age_integral_s2 / self.in_force_s if self.in_force_s else None


def accuracy(right_s: float, wrong_s: float) -> float | None:
    """Correct time over judged time; None before any was judged."""
    judged = right_s + wrong_s
    return right_s / judged if judged else None


class Counts:
    """The counters themselves. Whoever changes them holds the meter's lock."""

    __slots__ = (
        "_age", "_beyond", "_cost", "_cost_rate", "_held", "_holders", "_penalties", "_published",
        "_running", "_since", "_wrong", "answers", "changes", "component", "given_up", "judgments",
        "labels", "latency_buckets", "latency_sum", "member_latency", "spells", "states", "streams",
    )  # fmt: skip

    def __init__(
        self, component: str, labels: tuple[tuple[str, str], ...] = (), theta_s: float = THETA_S
    ) -> None:
        self.component = component
        self.labels = labels
        self.spells = SpellSums()
        self._wrong = self.spells.excess(None, 0)
        self._beyond = self.spells.excess(None, int(theta_s * GRAINS))
        self._penalties: set[AgePenalty] = set()
        self._cost = self._cost_rate = 0
        self._running = [0] * (OLDER_JUDGMENT + 1)
        self._since = [0] * (OLDER_JUDGMENT + 1)
        self._holders = self._held = self._age = self._published = 0
        self.streams = self.states = self.judgments = self.changes = self.given_up = 0
        self.answers = [0] * len(OUTCOMES)
        self.latency_buckets = [0] * (len(LATENCY_BUCKETS_S) + 1)
        self.latency_sum = 0
        self.member_latency: dict[str, tuple[list[int], int]] = {}

    def starts(self, kind: int, start: int) -> None:
        """A stretch of this class begins."""
        self._running[kind] += 1
        self._since[kind] += start

    def stops(self, kind: int, end: int) -> None:
        """One that ran ends; at the moment it began: it was of another class all along."""
        self._running[kind] -= 1
        self._since[kind] -= end

    def moves(self, span: int, kind: int, to: int) -> None:
        """A stretch that has ended and counted as `kind` turns out to be something else."""
        self._since[kind] += span
        self._since[to] -= span

    def holds(self, published: int, at: int, holders: int = 1) -> None:
        """From `at` on one more decision for a state published then is in force; with −1, one less.

        Twice the integral of its age over [start, end) is (end − published)² − (start − published)²,
        so three sums over starts and ends give it at any now.
        """
        self._holders += holders
        self._held += holders * at
        self._published += holders * published
        self._age += holders * at * (at - 2 * published)

    def excesses(self, penalty: AgePenalty | None) -> tuple[Excess, ...]:
        """What the spells of a stream count for, which is penalised like this."""
        found = [self._wrong, self._beyond]
        if penalty is not None:
            self._penalties.add(penalty)
            found += [self.spells.excess(penalty, knee) for knee in _knees(penalty)]
        return tuple(dict.fromkeys(found))

    def costs(self, rate: int, at: int) -> None:
        """From `at` on a second costs this much more."""
        self._cost_rate += rate
        self._cost += rate * at

    def cost_already(self, rate: int, span: int) -> None:
        """A stretch that has ended cost this much a second."""
        self._cost -= rate * span

    def took(self, latency: int, member: str | None = None) -> None:
        """An answer's latency, into the histogram, and into that of the member of a cascade."""
        bucket = bisect_left(LATENCY_BUCKETS_S, latency / GRAINS)
        self.latency_buckets[bucket] += 1
        self.latency_sum += latency
        if member is not None:
            none = [0] * len(self.latency_buckets), 0
            buckets, total = self.member_latency.get(member, none)
            buckets[bucket] += 1
            self.member_latency[member] = buckets, total + latency

    def read(self, now: int) -> Reading:
        spans = [
            running * now - since for running, since in zip(self._running, self._since, strict=True)
        ]
        seconds = [span / GRAINS for span in spans]
        age = self._holders * now * now - 2 * now * self._published - self._age
        wrong, wrong_age = self._wrong.read(now)
        right = sum(spans) - spans[UNJUDGED] - spans[PENDING] - wrong
        seconds[JUDGMENT] = (spans[JUDGMENT] + spans[OLDER_JUDGMENT]) / GRAINS
        beyond, _ = self._beyond.read(now)
        return Reading(
            component=self.component,
            labels=self.labels,
            seconds=dict(zip(ALL_CLASSES, seconds, strict=False)),
            judged={"right": right / GRAINS, "wrong": wrong / GRAINS},
            waiting={"unjudged": seconds[PENDING], "unattributed": seconds[UNSETTLED]},
            older_judgment_s=seconds[OLDER_JUDGMENT],
            in_force_s=(self._holders * now - self._held) / GRAINS,
            age_integral_s2=age / (2 * GRAINS * GRAINS),
            streams=self.streams,
            states=self.states,
            judgments=self.judgments,
            changes=self.changes,
            answers=dict(zip(OUTCOMES, self.answers, strict=True)),
            latency_buckets=tuple(self.latency_buckets),
            latency_sum_s=self.latency_sum / GRAINS,
            member_latency={
                name: LatencyCounts(tuple(buckets), total / GRAINS)
                for name, (buckets, total) in self.member_latency.items()
            },
            given_up=self.given_up,
            spells=self.spells.spells(now),
            wrong_age_integral_s2=wrong_age / (2 * GRAINS * GRAINS),
            beyond_s=beyond / GRAINS,
            cost_s={
                "wrong": (self._cost_rate * now - self._cost) / (RATE * GRAINS),
                "age": sum(self._penalty(penalty, now) for penalty in self._penalties),
            },
        )

    def _penalty(self, penalty: AgePenalty, now: int) -> float:
        """Σ Φ(ℓ), as docs/reference/costs.md defines it."""
        found = [self.spells.excess(penalty, knee).read(now) for knee in _knees(penalty)]
        if penalty.kind == "threshold":
            return penalty.add * found[0][0] / GRAINS
        squares = found[0][1] - (found[1][1] if penalty.kind == "capped" else 0)
        return penalty.per_s * squares / (2 * GRAINS * GRAINS)


def _knees(penalty: AgePenalty) -> tuple[int, ...]:
    """The κ at which the penalty's integral is made of E₁ and E₂."""
    if penalty.kind == "linear":
        return (0,)
    if penalty.kind == "threshold":
        return (int(penalty.after_s * GRAINS),)
    return (0, int(penalty.cap / penalty.per_s * GRAINS))
