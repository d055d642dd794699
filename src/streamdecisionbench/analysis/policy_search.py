"""Everything a search tries at a pace, around the one answer: what choosing among it is worth.

Hundreds of thresholds tried on eight scenarios find one that looks good by chance. So scenarios are
split into two halves; the best policy of one half is reported on the other, and the other way round.
Three sets are compared so: components by themselves, components asked together, all policies. Gains
are paired by state and come with an interval. What to use is for `analysis.choose` to say: the search
shows the same choice from the side of money and numbers, with all that was tried beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from streamdecisionbench.analysis.bootstrap import Estimate, bootstrap
from streamdecisionbench.analysis.candidates import (
    EQUAL,
    CandidatePool,
    Halves,
    Trial,
    best_of,
)
from streamdecisionbench.analysis.choose import Candidate, Choice, Terms, decide
from streamdecisionbench.errors import InputError
from streamdecisionbench.render.table import (
    Cell,
    Table,
    number,
    percentage,
    text,
)

_EXTENDED = 10
"""How many of a half's best pairs are tried with a third component."""
_NOTABLE = 0.002
"""Points of a frontier closer in accuracy than this are not told apart in a table for people."""


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The most accurate policy for its money or less.

    `seen` is its accuracy on all scenarios, which flatters whatever was chosen by looking at them;
    `held_out` is what choosing with this budget on one half got on the other, both ways: it is about
    the budget, and the policies that the halves chose may be others.
    """

    candidate: Trial
    seen: float
    held_out: float


@dataclass(frozen=True, slots=True)
class SearchStep:
    """The best of some policies: over all scenarios, by half, and what choosing so is worth."""

    candidate: Trial
    by_half: tuple[Trial, Trial]
    """Chosen on the first and on the second half."""
    held_out: Estimate
    """In-force accuracy on each half of what was chosen on the other."""


@dataclass(frozen=True, slots=True)
class PolicySearch:
    """The choice, and what was tried beside it."""

    choice: Choice
    tried: int
    within_budget: int
    halves: tuple[tuple[str, ...], tuple[str, ...]]
    steps: Mapping[str, SearchStep]
    """`plain`: the best single component that simply takes the newest answer. `together`: the best of
    these and of components that are all asked at every state. `best`: of everything that was tried."""
    gains: Mapping[str, Estimate]
    """`together_gain`: of together over plain. `gain`: of best over plain. `policy_gain`: of best over
    together, what looking at confidence, time and load adds."""
    frontier: tuple[FrontierPoint, ...]
    without_confidence: tuple[str, ...]

    @property
    def winner(self) -> Candidate | None:
        """The choice; None where it is one component that simply takes the newest answer."""
        best = self.choice.best
        return None if best.size() == (1, False) else best


def search(
    field: CandidatePool,
    interval: float,
    terms: Terms | None = None,
    rules: Sequence[str] = ("freshest",),
) -> PolicySearch:
    """The choice, and singles, pairs and cascades of up to three in every way, under `rules`."""
    terms = terms or Terms()
    if not field.trials.answers:
        _ = field.halves  # one scenario: it says so
        raise InputError("there are no answers to search")
    field.trials.look_ahead([interval])  # what both need is tried once
    choice = decide(field, interval, terms, listed=True)
    halves = field.halves
    found = list(_everything(field, interval, rules))

    def affordable(one: Trial) -> bool:
        per_1000 = None if one.per_hour is None else one.per_hour * interval / 3.6
        return terms.budget.allows(one.per_hour, per_1000)

    allowed = [one for one in found if affordable(one)]
    plains = [one for one in found if one.plain]
    sets = (
        [one for one in plains if affordable(one)] or plains,
        [one for one in allowed if one.together] or plains,
        allowed or plains,
    )
    best = [best_of(own, halves.whole, *halves.weights) for own in sets]
    crossed = [
        halves.crossed_steps(*(field.trials.by_step(one, interval) for one in pair))
        for _, *pair in best
    ]
    columns = np.stack(crossed, axis=1)
    held = bootstrap(field.parts, columns, terms.sampling)
    gaps = columns[:, [1, 2, 2]] - columns[:, [0, 0, 1]]
    gains = bootstrap(field.parts, gaps, terms.sampling, share=False)
    steps = (
        SearchStep(whole, (one, two), estimate)
        for (whole, one, two), estimate in zip(best, held, strict=True)
    )
    names = [part.episode_id for part in field.parts]
    first = [name for name, mine in zip(names, halves.first, strict=True) if mine]
    return PolicySearch(
        choice=choice,
        tried=len(found),
        within_budget=len(allowed),
        halves=(tuple(first), tuple(name for name in names if name not in first)),
        steps=dict(zip(("plain", "together", "best"), steps, strict=True)),
        gains=dict(zip(("together_gain", "gain", "policy_gain"), gains, strict=True)),
        frontier=_frontier(allowed, halves),
        without_confidence=tuple(
            name for name, one in field.trials.answers.items() if one.confidence is None
        ),
    )


def _everything(field: CandidatePool, interval: float, rules: Sequence[str]) -> Iterator[Trial]:
    """Singles; every two of different speed, the faster first; the best pairs with every third.

    Each half names its own best pairs: what the other half would have said plays no part in it.
    """
    trials = field.trials

    def ways(members: tuple[str, ...], under: Sequence[str]) -> list[Trial]:
        kinds = [trials.kinds(members, interval, rule) for rule in under]
        return [one for own in kinds for tried in own.values() for one in tried]

    for name in trials.by_speed:
        yield from ways((name,), ("freshest",))
    best: list[dict[tuple[str, ...], float]] = [{}, {}]
    for pair in combinations(trials.by_speed, 2):
        found = ways(pair, rules)
        yield from found
        values = np.stack([one.in_force for one in found])
        for own, half in zip(best, field.halves.weights, strict=True):
            own[pair] = float((values @ half).max())
    triples: dict[tuple[str, ...], None] = {}
    for own in best:
        for two in sorted(own, key=lambda m: -own[m])[:_EXTENDED]:
            for third in trials.by_speed:
                if third not in two:
                    triples[tuple(n for n in trials.by_speed if n in (*two, third))] = None
    for members in triples:
        yield from ways(members, rules)


def _frontier(allowed: Sequence[Trial], halves: Halves) -> tuple[FrontierPoint, ...]:
    """From the cheapest on, every policy that is more accurate than all that cost as much or less."""
    priced = [one for one in allowed if one.per_hour is not None]
    if not priced:
        return ()
    scores = np.stack([one.in_force for one in priced]) @ halves.whole
    order = sorted(
        range(len(priced)), key=lambda k: (priced[k].per_hour or 0.0, -scores[k], priced[k].parts)
    )
    out: list[FrontierPoint] = []
    top = -1.0
    for k in order:
        if scores[k] <= top + EQUAL:
            continue
        top = float(scores[k])
        limit = priced[k].per_hour or 0.0
        cheap = [one for one in priced if (one.per_hour or 0.0) <= limit]
        one, two = best_of(cheap, *halves.weights)
        held_out = float(halves.crossed(one.in_force, two.in_force) @ halves.whole)
        out.append(FrontierPoint(priced[k], top, held_out))
    return tuple(out)


def tried_lines(found: PolicySearch) -> list[str]:
    """What was tried beside what the choice says, and how."""
    limit, budget = "", found.choice.terms.budget
    if budget.per_hour is not None or budget.per_1000 is not None:
        limit = f", {found.within_budget} of them within the budget"
    lines = [
        f"{found.tried} policies were tried{limit}; chosen on {', '.join(found.halves[0])} for the"
        " others, and the other way round."
    ]
    if found.without_confidence:
        lines.append(
            f"No confidences: {', '.join(found.without_confidence)}; no gate was tried on them."
        )
    return lines


def steps_table(found: PolicySearch, *, every: bool = False) -> Table:
    """Single, together, policy: what choosing among each is worth where it was not chosen."""
    gains = (None, found.gains["together_gain"], found.gains["gain"])
    rows: list[tuple[Cell, ...]] = []
    for label, step, gain in zip(
        ("single", "together", "policy"), found.steps.values(), gains, strict=True
    ):
        held = step.held_out
        gained = (None, None, None) if gain is None else (gain.value, gain.low, gain.high)
        best = (step.candidate.name,) if every else ()
        rows.append((label, *best, held.value, held.low, held.high, *gained))
    return Table(
        f"What choosing among all of them is worth, at {found.choice.interval:g} s (%, points)",
        (
            text("", "step"), *([text("best over all scenarios", "policy")] if every else []),
            percentage("held out", "held_out"), percentage("low", "held_out_low"),
            percentage("high", "held_out_high"), percentage("gain"), percentage("low", "gain_low"),
            percentage("high", "gain_high"),
        ),
        tuple(rows),
        (
            "held out: on each half of the scenarios, what was best of all of them on the other."
            " gain: over the singles, paired by state.",
        ),
    )  # fmt: skip


def frontier_table(found: PolicySearch, *, every: bool = False) -> Table:
    """Accuracy against money, from the cheapest on."""
    points = list(found.frontier)
    listed = points if every else _notable(points)
    notes = [
        "all: over the scenarios it was chosen on, which flatters it. budget: held out, what choosing"
        " among all with that much money is worth."
    ]
    if len(listed) < len(points):
        notes.append(f"{len(points) - len(listed)} in between not shown; --csv and --json have all")
    return Table(
        f"The most accurate for its money ({found.choice.terms.currency} an hour)",
        (
            text("", "policy"), number("/hour", 2, "cost_per_hour"), percentage("all", "seen"),
            percentage("budget", "held_out"),
        ),
        tuple((p.candidate.name, p.candidate.per_hour, p.seen, p.held_out) for p in listed),
        tuple(notes),
    )  # fmt: skip


def _notable(points: list[FrontierPoint]) -> list[FrontierPoint]:
    """From the most accurate down: whatever is cheaper by a visible step in accuracy."""
    kept: list[FrontierPoint] = []
    for point in reversed(points):
        if not kept or kept[-1].seen - point.seen >= _NOTABLE * (1 + len(kept) // 4):
            kept.append(point)
    return kept[::-1]
