"""Policy scores as tables: what is in force and what it costs, and what became of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.analysis.bootstrap import Estimate, Sampling, bootstrap
from streamdecisionbench.analysis.candidates import (
    EQUAL,
    HalfTable,
    Halves,
    PolicyCandidate,
    PolicyField,
    policy_name,
)
from streamdecisionbench.analysis.choose import Choice
from streamdecisionbench.analysis.table import (
    Cell,
    Table,
    count,
    fixed,
    number,
    percentage,
    readable,
    text,
)
from streamdecisionbench.analysis.table import percent as shown
from streamdecisionbench.analysis.wrong_time import cost_tables, spell_tables
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import check_interval
from streamdecisionbench.scoring.measure import family_weights
from streamdecisionbench.scoring.pairs import chosen_rules
from streamdecisionbench.scoring.policy_answers import Answers
from streamdecisionbench.scoring.policy_score import LivePolicyScore, PolicyScore
from streamdecisionbench.scoring.timeline import Floats, Timeline


def scores_table(scores: Sequence[PolicyScore], currency: str) -> Table:
    """One row per policy and set of components."""
    first = scores[0]
    rows: list[tuple[Cell, ...]] = []
    for score in scores:
        now = score.overall.at_interval
        rows.append(
            (
                row_name(score),
                score.in_force, score.log_auc, score.overall.oracle, score.overall.current,
                now.judgment + now.compound, now.stale, now.no_decision, score.cost_per_hour,
            )
        )  # fmt: skip
    return Table(
        f"In force under a policy at {first.interval:g} s, AUC {first.bounds.text()} (%)",
        (
            text("", "policy"), percentage("in force", "in_force"), percentage("AUC", "log_auc"),
            percentage("O", "oracle"), percentage("C", "current"), percentage("wrong", "wrong_answer"),
            percentage("stale"), percentage("none", "no_decision"), number("/hour", 2, "cost_per_hour"),
        ),
        tuple(rows),
        (
            "O: what reference answers would get under the policy. C: time with a current source."
            " wrong: judgment and compound. none: no decision."
            f" /hour: {currency} for every request sent, at list prices.",
        ),
    )  # fmt: skip


def row_name(score: PolicyScore) -> str:
    """The components and what is done with their answers."""
    return f"{' + '.join(score.components)}: {policy_name(score.policy)}"


def wrong_time_tables(scores: Sequence[PolicyScore]) -> list[Table]:
    """What being wrong costs and how long it lasts, policy by policy, where that is known."""
    charged = {row_name(one): (one, one.wrong_time) for one in scores if one.wrong_time is not None}
    if not charged:
        return []
    first, found = next(iter(charged.values()))
    right = {
        name: {
            level.name: level.in_force
            for level in (one.overall, *one.by_family.values(), *one.by_scenario.values())
        }
        for name, (one, _) in charged.items()
    }
    costs, *_ = cost_tables(
        {name: wrong.cost for name, (_, wrong) in charged.items()},
        right,
        first.interval,
        first.bounds,
    )
    spells = spell_tables(
        {name: wrong.spells for name, (_, wrong) in charged.items()},
        found.theta,
        first.interval,
        first.bounds,
    )
    return [costs, *spells]


def levels_table(score: PolicyScore, plain: PolicyScore | None = None) -> Table:
    """By family and scenario, against the plain policy of the same components."""
    levels = {"overall": score.overall, **score.by_family, **score.by_scenario}
    before = dict.fromkeys(levels, None) if plain is None else {
        "overall": plain.overall, **plain.by_family, **plain.by_scenario,
    }  # fmt: skip
    names = readable(levels)
    rows: list[tuple[Cell, ...]] = [
        (
            names[key],
            level.in_force,
            _gain(level.in_force, None if (plain_ := before[key]) is None else plain_.in_force),
            level.log_auc,
            _gain(level.log_auc, None if plain_ is None else plain_.log_auc),
            level.at_interval.no_decision,
        )
        for key, level in levels.items()
    ]
    return Table(
        policy_name(score.policy)
        + ("" if plain is None else f", against {policy_name(plain.policy)}")
        + " (%, points)",
        (
            text("", "level"), percentage(f"at {score.interval:g} s", "in_force"),
            percentage("gain", "gain"), percentage("AUC", "log_auc"), percentage("gain", "gain_log_auc"),
            percentage("none", "no_decision"),
        ),
        tuple(rows),
    )  # fmt: skip


def counts_table(score: PolicyScore) -> Table:
    """What became of states and answers, component by component."""
    counts = score.counts
    rows: list[tuple[Cell, ...]] = [
        (
            name, counts.requests[k], counts.cancelled[k], counts.answers[k], counts.withheld[k],
            counts.taken[k],
        )
        for k, name in enumerate(score.components)
    ]  # fmt: skip
    did = [f"{counts.states} states", f"{counts.expiries} decisions lapsed"]
    did.append(f"{counts.held_back} answers waited for agreement in vain")
    if score.policy.when_unsure:
        did.append(f"{counts.escalations} requests because of an unsure answer")
    return Table(
        f"What happened at {score.interval:g} s",
        (
            text("", "component"), count("requests"), count("cancelled"),
            count("in time", "answers"), count("withheld"), count("taken"),
        ),
        tuple(rows),
        ("; ".join(did) + ". in time: before the horizon. withheld: by the gate.",),
    )  # fmt: skip


def live_lines(live: LivePolicyScore) -> list[str]:
    """A live recording in words: what happened, and how near its replay comes."""
    lines = [
        f"{live.name} was recorded under {policy_name(live.policy)} at {live.interval:g} s and kept"
        f" the right decision in force {shown(live.recorded.in_force)} % of the time."
    ]
    if live.gap is not None:
        lines.append(
            f"Its own answers replayed under that policy: {shown(live.replayed)} %"
            f" ({100 * live.gap:+.2f} points live)."
        )
    else:
        lines.append(f"That policy cannot be replayed on its own answers: {live.why_not}.")
    return lines


def _gain(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


# Which policy to use at a pace, chosen on some scenarios and judged on others.
#
# Hundreds of thresholds tried on eight scenarios find one that looks good by chance. So scenarios are
# split into two halves; the best policy of one half is reported on the other, and the other way round.
# Three steps are compared, each chosen that way: the best component by itself, the best components
# asked together, and the best policy of all. A gain is paired by state and comes with an interval; a
# step that does not beat the one before beyond its interval is not taken.


_EXTENDED = 10
"""How many of a half's best pairs are tried with a third component."""


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The most accurate policy for its money or less.

    `seen` is its accuracy on all scenarios, which flatters whatever was chosen by looking at them;
    `held_out` is what choosing with this budget on one half got on the other, both ways.
    """

    candidate: PolicyCandidate
    seen: float
    held_out: float | None


@dataclass(frozen=True, slots=True)
class SearchStep:
    """The best of some candidates: over all scenarios, by half, and what that choice is worth."""

    candidate: PolicyCandidate
    by_half: tuple[PolicyCandidate, PolicyCandidate]
    """Chosen on the first and on the second half."""
    held_out: Estimate
    """In-force accuracy on each half of what was chosen on the other."""

    @property
    def agreed(self) -> bool:
        """Whether both halves chose the same, thresholds included."""
        one, two = self.by_half
        return (one.members, one.policy) == (two.members, two.policy)


@dataclass(frozen=True, slots=True)
class PolicySearch:
    """What was tried, what was chosen, and whether that is any better than the plain policy."""

    interval: float
    budget: float | None
    currency: str
    tried: int
    within_budget: int
    halves: tuple[tuple[str, ...], tuple[str, ...]]
    plain: SearchStep
    """The best single component that simply takes the newest answer."""
    together: SearchStep
    """The best of these and of components that are all asked at every state."""
    best: SearchStep
    """The best of everything that was tried."""
    together_gain: Estimate
    """Of `together` over `plain`."""
    gain: Estimate
    """Of `best` over `plain`."""
    policy_gain: Estimate
    """Of `best` over `together`: what looking at confidence, time and load adds."""
    frontier: tuple[FrontierPoint, ...]
    without_confidence: tuple[str, ...]
    sampling: Sampling

    @property
    def winner(self) -> PolicyCandidate | None:
        """What to use instead of the plain policy; None where nothing beats it beyond its interval."""
        if self.policy_gain.low > 0 and self.gain.low > 0:
            return self.best.candidate
        return self.together.candidate if self.together_gain.low > 0 else None


def search(
    components: Sequence[Answers],
    interval: float,
    *,
    budget: float | None = None,
    rule: str = "freshest",
    thresholds: int = 20,
    currency: str = "USD",
    sampling: Sampling | None = None,
) -> PolicySearch:
    """Tries singles, pairs and cascades of up to three, with gates and expiries."""
    check_interval(interval)
    sampling = sampling or Sampling()
    if not components:
        raise InputError("there is no recording to search")
    field = PolicyField(components, interval, thresholds=thresholds, rules=chosen_rules(rule))
    parts = field.parts
    halves = Halves(parts)
    first, weights = halves.first, halves.weights
    found = [*field.singles(), *field.pairs()]
    found += field.triples(_best_pairs(found, weights))
    allowed = [c for c in found if _affordable(c, budget)]
    plains = [c for c in allowed if c.plain]
    if not plains:
        raise InputError(
            "no component by itself is within the budget, or no cost is known",
            fix="raise --budget, or give prices with --prices",
        )
    whole = family_weights([p.family for p in parts])
    tables = [HalfTable(plains), HalfTable([c for c in allowed if c.together]), HalfTable(allowed)]
    by_half = [(table.best(weights[0]), table.best(weights[1])) for table in tables]
    columns = np.stack(
        [halves.crossed_steps(field.by_step(a), field.by_step(b)) for a, b in by_half], axis=1
    )
    held = bootstrap(parts, columns, sampling)
    gaps = columns[:, [1, 2, 2]] - columns[:, [0, 0, 1]]
    gains = bootstrap(parts, gaps, sampling, share=False)
    steps = [
        SearchStep(table.best(whole), pair, estimate)
        for table, pair, estimate in zip(tables, by_half, held, strict=True)
    ]
    return PolicySearch(
        interval=interval,
        budget=budget,
        currency=currency,
        tried=len(found),
        within_budget=len(allowed),
        halves=(_names(parts, first), _names(parts, ~first)),
        plain=steps[0],
        together=steps[1],
        best=steps[2],
        together_gain=gains[0],
        gain=gains[1],
        policy_gain=gains[2],
        frontier=_frontier(field, allowed, whole, weights, first),
        without_confidence=tuple(
            name for name, one in field.answers.items() if one.confidence is None
        ),
        sampling=sampling,
    )


def _affordable(candidate: PolicyCandidate, budget: float | None) -> bool:
    return budget is None or (candidate.per_hour is not None and candidate.per_hour <= budget)


def _best_pairs(
    found: Sequence[PolicyCandidate], weights: Sequence[Floats]
) -> list[tuple[str, ...]]:
    """Each half names its own: what the other half would have said plays no part in it."""
    pairs = [c for c in found if len(c.members) == 2]
    out: dict[tuple[str, ...], None] = {}
    for half in weights:
        best: dict[tuple[str, ...], float] = {}
        for c in pairs:
            best[c.members] = max(best.get(c.members, 0.0), float(c.in_force @ half))
        for members in sorted(best, key=lambda m: -best[m])[:_EXTENDED]:
            out[members] = None
    return list(out)


def _frontier(
    field: PolicyField,
    allowed: Sequence[PolicyCandidate],
    whole: Floats,
    weights: Sequence[Floats],
    first: NDArray[np.bool_],
) -> tuple[FrontierPoint, ...]:
    """From the cheapest on, every candidate that is more accurate than all that cost as much or less."""
    priced = [c for c in allowed if c.per_hour is not None]
    if not priced:
        return ()
    scores = np.stack([c.in_force for c in priced]) @ whole
    order = sorted(
        range(len(priced)), key=lambda k: (priced[k].per_hour or 0.0, -scores[k], priced[k].parts)
    )
    out: list[FrontierPoint] = []
    top = -1.0
    for k in order:
        if scores[k] <= top + EQUAL:
            continue
        top = float(scores[k])
        cheap = HalfTable([c for c in priced if (c.per_hour or 0.0) <= (priced[k].per_hour or 0.0)])
        one, two = cheap.best(weights[0]), cheap.best(weights[1])
        held_out = float(np.where(first, two.in_force, one.in_force) @ whole)
        out.append(FrontierPoint(priced[k], top, held_out))
    return tuple(out)


def _names(parts: Sequence[Timeline], half: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(p.episode_id for p, mine in zip(parts, half, strict=True) if mine)


# What a policy search found, in words and as a table.


_NOTABLE = 0.002
"""Points of a frontier closer in accuracy than this are not told apart in a table for people."""


def search_lines(found: PolicySearch, *, simulated: bool = False) -> list[str]:
    """The finding in plain words: what beats the plain policy, or that nothing does."""
    plain, winner = found.plain.candidate, found.winner
    use = "the best of these simulations is" if simulated else "use"
    lines = []
    if winner is None:
        lines.append(
            f"At {found.interval:g} s between states nothing beats the plain policy beyond its"
            f" interval. Use {plain.members[0]} and take its newest answer."
        )
    else:
        step = found.best if winner is found.best.candidate else found.together
        gain = found.gain if step is found.best else found.together_gain
        lines.append(
            f"At {found.interval:g} s between states {use} {winner.name}. Chosen on half of the"
            f" scenarios and judged on the other, it keeps the right decision in force"
            f" {shown(step.held_out.value)} % of the time: {_points(gain)} more than"
            f" {plain.name}."
        )
        if not step.agreed:
            one, two = step.by_half
            lines.append(f"The halves did not choose alike: {one.name}, and {two.name}.")
    if winner is not None and winner is not found.best.candidate:
        lines.append(
            f"No gate, expiry or queue adds to that beyond its interval: the best,"
            f" {found.best.candidate.name}, {_points(found.policy_gain)}."
        )
    elif winner is not None and not found.together.candidate.plain:
        lines.append(
            f"Of that, {_points(found.policy_gain)} over asking components together,"
            f" {found.together.candidate.name}."
        )
    elif winner is None:
        lines.append(
            f"The best by looks, {found.best.candidate.name}, gains {_points(found.gain)} where it"
            " was not chosen."
        )
    limit = ""
    if found.budget is not None:
        limit = f", {found.within_budget} within {found.budget:g} {found.currency} an hour"
    lines.append(
        f"{found.tried} policies were tried{limit}; chosen on {', '.join(found.halves[0])} for the"
        " others, and the other way round."
    )
    if found.without_confidence:
        lines.append(
            f"No confidences: {', '.join(found.without_confidence)}; no gate was tried on them."
        )
    return lines


def chosen_line(choice: Choice) -> str:
    """What `sdb choose` and the report say at the same pace, by the function all three share."""
    best = choice.best
    words = "" if best.policy is None else f" ({best.policy_words})"
    least = fixed(100 * choice.terms.min_gain).removesuffix(".0")
    unproven = ", and pairs and policies of simulations prove nothing"
    return (
        f"Weighed with price and simplicity, where less than {least} point"
        f"{'' if least == '1' else 's'} counts for nothing"
        f"{unproven if choice.simulated_policies else ''}: use {best.name}{words}, as `sdb choose`"
        " says."
    )


def steps_table(found: PolicySearch) -> Table:
    """Single, together, policy: each with what it is worth where it was not chosen."""
    columns = (
        text("", "step"), text("best over all scenarios", "policy"),
        percentage("held out", "held_out"), percentage("low", "held_out_low"),
        percentage("high", "held_out_high"), percentage("gain"), percentage("low", "gain_low"),
        percentage("high", "gain_high"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        _row("single", found.plain, None),
        _row("together", found.together, found.together_gain),
        _row("policy", found.best, found.gain),
    ]
    level = f"{100 * found.sampling.level:g} %"
    return Table(
        f"Held out, at {found.interval:g} s (%, gains in points, {level})",
        columns,
        tuple(rows),
        ("gain: over the best single component, paired by state.",),
    )


def frontier_table(found: PolicySearch, *, every: bool = False) -> Table:
    """Accuracy against money, from the cheapest on."""
    points = list(found.frontier)
    listed = points if every else _notable(points)
    rows: list[tuple[Cell, ...]] = [
        (p.candidate.name, p.candidate.per_hour, p.seen, p.held_out) for p in listed
    ]
    notes = ["all: over the scenarios it was chosen on, which flatters it. held out: as above."]
    if len(listed) < len(points):
        notes.append(f"{len(points) - len(listed)} in between not shown; --csv and --json have all")
    return Table(
        f"The most accurate for its money ({found.currency} an hour)",
        (
            text("", "policy"), number("/hour", 2, "cost_per_hour"), percentage("all", "seen"),
            percentage("held out", "held_out"),
        ),
        tuple(rows),
        tuple(notes),
    )  # fmt: skip


def _row(label: str, step: SearchStep, gain: Estimate | None) -> tuple[Cell, ...]:
    held = step.held_out
    gained = (None, None, None) if gain is None else (gain.value, gain.low, gain.high)
    return (label, step.candidate.name, held.value, held.low, held.high, *gained)


def _notable(points: list[FrontierPoint]) -> list[FrontierPoint]:
    """From the most accurate down: whatever is cheaper by a visible step in accuracy."""
    kept: list[FrontierPoint] = []
    for point in reversed(points):
        if not kept or kept[-1].seen - point.seen >= _NOTABLE * (1 + len(kept) // 4):
            kept.append(point)
    return kept[::-1]


def _points(gain: Estimate) -> str:
    return (
        f"{fixed(100 * gain.value)} points (95 %: {100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
    )
