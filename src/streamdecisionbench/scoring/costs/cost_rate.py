"""The cost of being wrong: what the wrong seconds cost, by what they show and by their age.

    being wrong   (1/T) ∫ C(y(t), d(t)) dt
    age           (1/T) Σ Φ(ℓ_k),   Φ(ℓ) = ∫ from 0 to ℓ of the age penalty

with y(t) what is right, d(t) what is in force, ℓ_k the wrong spells and T the observed time. Both
are rates: seconds of an ordinary wrong decision, per second. The penalty's integral is

    linear     per_s · ℓ²/2
    threshold  add · max(0, ℓ − after_s)
    capped     per_s · (ℓ² − max(0, ℓ − cap/per_s)²)/2
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streamdecisionbench.cost_file.rules import AgePenalty, Section
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.costs.moving_spells import MovingSpells
from streamdecisionbench.scoring.costs.powers import mean_by_scenario, powers
from streamdecisionbench.scoring.costs.spells import Spells
from streamdecisionbench.scoring.costs.stretches import MovingStretches, Stretches
from streamdecisionbench.scoring.timeline import Floats, Ints
from streamdecisionbench.scoring.trajectory import NOTHING, References, Sweep, Trajectory

__all__ = [
    "NO_DECISION",
    "age_rate",
    "contributions",
    "mean_age_rate",
    "mean_wrong_rate",
    "wrong_rate",
]

NO_DECISION = "no decision"


def wrong_rate(
    path: Trajectory, cut: Stretches, judged: Floats, sections: Sequence[Section]
) -> Floats:
    """(1/T) ∫ C dt per scenario; `judged` is T on the recording clock, sections are by scenario."""
    wrong = np.flatnonzero(cut.wrong)
    scenario = cut.scenario[wrong]
    cost = _costs(path.references, cut.segment[wrong], path.decision[cut.piece[wrong]], sections)
    amount = np.bincount(
        scenario, weights=cost * cut.length[wrong], minlength=path.references.count
    )
    return _per(amount.astype(np.float64), judged)


def contributions(
    path: Trajectory, cut: Stretches, judged: Floats, sections: Sequence[Section], weights: Floats
) -> dict[str, float]:
    """What the cost per second is made of, largest first: which field showed what instead of what.

    `weights` are those of the scenarios in the level asked for.
    """
    refs = path.references
    wrong = np.flatnonzero(cut.wrong)
    scenario, segment = cut.scenario[wrong], cut.segment[wrong]
    share = _per(np.ones(len(judged)), judged)[scenario] * weights[scenario] * cut.length[wrong]
    found: dict[str, float] = {}
    rows = zip(
        scenario.tolist(),
        refs.decision[segment].tolist(),
        path.decision[cut.piece[wrong]].tolist(),
        share.tolist(),
        strict=True,
    )
    for owner, y, d, amount in rows:
        label, cost = NO_DECISION, sections[owner].no_decision
        if d != NOTHING:
            right, shown = refs.values[y], refs.values[d]
            cost, field = sections[owner].blame(right, shown)
            label = f"{field}: {right[field]} → {shown[field]}" if field else "another decision"
        found[label] = found.get(label, 0.0) + amount * cost
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def mean_wrong_rate(
    sweep: Sweep, cut: MovingStretches, judged: Floats, sections: Sequence[Section], bounds: Bounds
) -> Floats:
    """The same over the bounds: every wrong stretch's length is a + b·c."""
    refs = sweep.references
    wrong = cut.where(cut.wrong)
    cost = _costs(refs, wrong.segment, sweep.decision[wrong.piece], sections)
    on = powers(wrong.low, wrong.high, bounds)
    amount = (wrong.end_at - wrong.begin_at) * on.one
    amount += (wrong.end_delay - wrong.begin_delay) * on.scale
    return _per(mean_by_scenario(cost * amount, wrong.scenario, refs.tick, bounds), judged)


def age_rate(found: Spells, sections: Sequence[Section]) -> Floats:
    """(1/T) Σ Φ(ℓ) per scenario, in seconds at the interval."""
    amount = np.zeros(len(found.length))
    penalties = [s.age for s in sections]
    for penalty in dict.fromkeys(p for p in penalties if p is not None):
        mine = np.array([p == penalty for p in penalties])[found.scenario]
        amount[mine] = _penalty(penalty, found.length[mine])
    total = np.bincount(found.scenario, weights=amount, minlength=len(found.observed))
    return _per(total.astype(np.float64), found.observed)


def mean_age_rate(found: MovingSpells, sections: Sequence[Section], bounds: Bounds) -> Floats:
    """The same over the bounds."""
    out = np.zeros(len(sections))
    for penalty in {s.age for s in sections if s.age is not None}:
        mine = np.array([s.age == penalty for s in sections])
        if penalty.kind == "linear":
            rate = penalty.per_s * found.mean_age(bounds)
        elif penalty.kind == "threshold":
            rate = penalty.add * found.beyond_share(penalty.after_s, bounds)
        else:
            full = penalty.cap / penalty.per_s
            rate = penalty.per_s * (found.mean_age(bounds) - found.mean_age(bounds, beyond=full))
        out = np.where(mine, rate, out)
    return out


def _penalty(penalty: AgePenalty, length: Floats) -> Floats:
    """Φ(ℓ)."""
    if penalty.kind == "threshold":
        return penalty.add * np.maximum(0.0, length - penalty.after_s)
    full = np.inf if penalty.kind == "linear" else penalty.cap / penalty.per_s
    beyond: Floats = np.maximum(0.0, length - full)
    return penalty.per_s * (length**2 - beyond**2) / 2


def _costs(refs: References, segment: Ints, decision: Ints, sections: Sequence[Section]) -> Floats:
    """C(y, d) of each wrong stretch. Every pair of decisions that occurs is looked up once."""
    flat = all(not s.fields and not s.pairs for s in sections)
    scenario = refs.scenario[segment]
    none = np.array([s.no_decision for s in sections])[scenario]
    if flat:
        return np.where(decision == NOTHING, none, np.array([s.wrong for s in sections])[scenario])
    if not refs.values:
        raise InputError(
            "costs of fields and values need decisions that say their fields",
            fix="give recordings of a suite, or a cost file without fields and pairs",
        )
    # Streams of one log share their decisions, so a pair is looked up once per section.
    place: dict[int, int] = {}
    number = np.array([place.setdefault(id(s), len(place)) for s in sections])[scenario]
    width = len(refs.values) + 1
    pair = refs.decision[segment] * width + decision + 1
    _, first, where = np.unique(
        number * width * width + pair, return_index=True, return_inverse=True
    )
    found = [
        sections[s].cost(refs.values[p // width], refs.values[p % width - 1] if p % width else None)
        for s, p in zip(scenario[first].tolist(), pair[first].tolist(), strict=True)
    ]
    return np.array(found, dtype=np.float64)[where]


def _per(amount: Floats, observed: Floats) -> Floats:
    return np.divide(amount, observed, out=np.zeros(len(observed)), where=observed > 0)
