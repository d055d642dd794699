"""Where two recordings differ: the states they decide differently, and what the time right was lost to.

States: every one with what each answered and the evidence; latency is ignored for what differs, and
shown beside it.

Time: with w_k the share of time lost to cause k (`in_force.CAUSES`), in force is 1 − Σ w_k. So a drop is
made of what was lost to each cause more than before, cause by cause, scenario by scenario and step by
step, and every such sum is the drop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CAUSES,
    CORRECT,
)
from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import classes_by_step
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.result import Level
from streamdecisionbench.scoring.score import Score
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.text import plural

KINDS = {
    "lost": "right before, wrong now",
    "won": "wrong before, right now",
    "changed": "wrong in both, differently",
}


@dataclass(frozen=True, slots=True)
class Flip:
    """One state decided differently. `first` is the baseline, `second` the new one."""

    scenario: str
    step: int
    kind: str
    reference: Mapping[str, str]
    first: Mapping[str, str]
    second: Mapping[str, str]
    first_latency_s: float
    second_latency_s: float
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flips:
    """All of them in suite order, and how many states were compared."""

    first: str
    second: str
    states: int
    found: tuple[Flip, ...]

    def count(self, kind: str) -> int:
        return sum(flip.kind == kind for flip in self.found)

    def by_scenario(self) -> dict[str, list[Flip]]:
        groups: dict[str, list[Flip]] = {}
        for flip in self.found:
            groups.setdefault(flip.scenario, []).append(flip)
        return groups


def flipped_states(
    first: Recording, second: Recording, suite: Suite, names: Sequence[str] | None = None
) -> Flips:
    """Compares the composed decisions of two recordings of one suite, state by state."""
    if set(first.episodes) != set(second.episodes):
        odd = sorted(set(first.episodes) ^ set(second.episodes))
        raise InputError(
            f"only one of the two holds {', '.join(odd[:4])}",
            where=second.name,
            fix="compare recordings of the same scenarios",
        )
    found = []
    states = 0
    for scenario in suite.scenarios.values():
        if scenario.episode_id not in first.episodes:
            continue
        spec = scenario.decision_spec
        answers = (r.episodes[scenario.episode_id].responses for r in (first, second))
        for step, a, b in zip(scenario.steps, *answers, strict=True):
            states += 1
            reference = spec.compose(step.gold)
            before, now = spec.compose(a.pred), spec.compose(b.pred)
            if before == now:
                continue
            kind = "lost" if before == reference else "won" if now == reference else "changed"
            found.append(
                Flip(
                    scenario.episode_id, step.t, kind, reference, before, now,
                    a.service_s, b.service_s, scenario.evidence(step.t),
                )
            )  # fmt: skip
    labels = tuple(names or (first.name, second.name))
    return Flips(labels[0], labels[1], states, tuple(found))


def decision_words(decision: Mapping[str, str]) -> str:
    """A composed decision in one line.

    >>> decision_words({"route": "rerun", "scope": "module"})
    'route=rerun, scope=module'
    """
    return ", ".join(f"{question}={value}" for question, value in decision.items())


def flip_summary(flips: Flips) -> str:
    """One line: how many states are decided differently, and how."""
    counts = ", ".join(f"{flips.count(kind)} {words}" for kind, words in KINDS.items())
    return f"{len(flips.found)} of {plural(flips.states, 'state')} decided differently: {counts}"


# What a drop is made of.


@dataclass(frozen=True, slots=True)
class Loss:
    """What a scenario, a stream of a log, or a change of a reference has to do with a drop; fractions.

    `causes` and `drop` are parts of the whole score's: causes add up to −drop, and so do places.
    """

    scenario: str
    step: int | None
    """Where the reference changed; None stands for the whole scenario."""
    what: str
    before: float
    """How much of its own time was right."""
    now: float
    drop: float
    causes: Mapping[str, float]

    @property
    def name(self) -> str:
        at = self.scenario if self.step is None else f"{self.scenario} step {self.step}"
        return f"{at} ({self.what})" if self.what else at


@dataclass(frozen=True, slots=True)
class Causes:
    """What a drop is made of. `causes` add up to −drop; losses are sorted, the largest first."""

    drop: float
    causes: Mapping[str, float]
    p50: tuple[float | None, float | None] = (None, None)
    """Median latency in seconds, before and now."""
    scenarios: tuple[Loss, ...] = ()
    changes: tuple[Loss, ...] = ()
    """From a change of the reference, or the beginning, to the next one."""


_FIELDS = 2
"""Of a reference that changed: as many are spelled out."""
_OF_CAUSE = [[ALL_CLASSES.index(name) for name in names] for names in CAUSES.values()]


def causes_by_scenario(
    names: Sequence[str], families: Sequence[str], before: Floats, now: Floats
) -> Causes:
    """From shares by scenario (row) and class; scenarios weigh as in the score."""
    weights = family_weights(families)
    rows = zip(names, weights.tolist(), before, now, strict=True)
    scenarios = [loss_of(name, None, "", weight, old, new) for name, weight, old, new in rows]
    whole = loss_of("", None, "", 1.0, weights @ before, weights @ now)
    return Causes(whole.drop, whole.causes, scenarios=largest_first(scenarios))


def causes_by_step(parts: Sequence[Timeline], before: Floats, now: Floats) -> Causes:
    """From shares by step (row) and class, as `scoring.classes.classes_by_step` has them."""
    flat = JoinedTimelines(parts)
    families = [part.family for part in parts]
    weights = family_weights(families).tolist()
    firsts = np.cumsum(flat.n) - flat.n
    sums = (np.add.reduceat(side, firsts) for side in (before, now))
    found = causes_by_scenario([part.episode_id for part in parts], families, *sums)
    starts = flat.segments[0]
    sums = (np.add.reduceat(side, starts) for side in (before, now))
    changes = []
    for at, old, new in zip(starts.tolist(), *sums, strict=True):
        k = int(flat.scenario[at])
        step = at - int(firsts[k])
        words = _change_words(parts[k], step)
        changes.append(loss_of(parts[k].episode_id, step, words, weights[k], old, new))
    return replace(found, changes=largest_first(changes))


def causes_between(
    before: Score, now: Score, bounds: Bounds | None = None, interval: float | None = None
) -> Causes:
    """What the drop from one score to another is made of, integrated or at an interval."""
    tables = (
        classes_by_step(JoinedTimelines(side.parts), bounds or Bounds(), interval)
        for side in (before, now)
    )
    first, second = (side.latency.p50 if side.latency else None for side in (before, now))
    return replace(causes_by_step(before.parts, *tables), p50=(first, second))


def loss_of(
    scenario: str, step: int | None, what: str, weight: float, before: Floats, now: Floats
) -> Loss:
    """From shares of the score's time by class, times `weight` in it."""
    right = [float(x[list(CORRECT)].sum()) for x in (before, now)]
    causes = {cause: weight * value for cause, value in _gained(before, now).items()}
    return Loss(
        scenario, step, what, right[0] / float(before.sum()), right[1] / float(now.sum()),
        weight * (right[0] - right[1]), causes,
    )  # fmt: skip


def _gained(before: Floats, now: Floats) -> dict[str, float]:
    """What less (or more) time lost to each cause brought."""
    return {
        cause: float(before[columns].sum() - now[columns].sum())
        for cause, columns in zip(CAUSES, _OF_CAUSE, strict=True)
    }


def largest_first(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    return tuple(sorted(losses, key=lambda loss: -loss.drop))


def _change_words(part: Timeline, step: int) -> str:
    """What of the reference changed at a step; nothing where only ids are known."""
    if not step:
        return "from the beginning"
    if not part.values:
        return ""
    was, became = (part.values[part.reference[k]] for k in (step - 1, step))
    fields = [name for name in {**was, **became} if was.get(name) != became.get(name)]
    said = [f"{name} {was.get(name, '–')} → {became.get(name, '–')}" for name in fields]
    more = [f"{len(said) - _FIELDS} more"] if len(said) > _FIELDS else []
    return ", ".join((*said[:_FIELDS], *more))


def cause_line(found: Causes) -> str:
    """One line: how much, because of what, and how long answers take; figures shown add up.

    >>> cause_line(Causes(0.104, {"latency": -0.1012, "judgment": -0.0028, "both": 0.0}, (0.05, 0.4)))
    'drop 10.4 points: latency −10.1, judgment −0.3; p50 0.05 → 0.40 s'
    """
    tenths = round(1000 * found.drop)
    because = cause_words(found, "latency", "judgment")
    said = f"{'gain' if tenths < 0 else 'drop'} {abs(tenths) / 10:.1f} points: {because}"
    known = [seconds for seconds in found.p50 if seconds is not None]
    if len(known) == 2:
        said += f"; p50 {_seconds(known[0])} → {_seconds(known[1])} s"
    return said


def score_lines(score: Score) -> list[str]:
    """One score in three lines: what, how much of it was lost to what, and where most."""

    def lost(level: Level) -> Causes:
        shares = level.at_interval.classes()
        causes = {c: -sum(shares.get(n, 0.0) for n in names) for c, names in CAUSES.items()}
        return Causes(-sum(causes.values()), causes)

    whole = lost(score.overall)
    p50 = f"; p50 {_seconds(score.latency.p50)} s" if score.latency else ""
    worst = sorted(score.by_scenario.items(), key=lambda x: x[1].in_force)[:_FIELDS]
    places = "; ".join(
        f"{name} {100 * level.in_force:.1f} % ({cause_words(lost(level)) or 'nothing lost'})"
        for name, level in worst
    )
    count, states = len(score.parts), sum(part.n for part in score.parts)
    return [
        f"{score.name}: {100 * score.in_force:.1f} % in force at {score.interval:g} s"
        f" ({plural(count, 'scenario')}, {plural(states, 'state')})",
        f"lost {100 * whole.drop:.1f} points: {cause_words(whole, 'latency', 'judgment')}{p50}",
        f"least in force: {places}",
    ]


def cause_words(found: Causes | Loss, *always: str) -> str:
    """Points by cause, rounded so that those shown add up to the drop as it is shown."""
    whole = -round(1000 * found.drop)
    exact = [1000 * value for value in found.causes.values()]
    tenths = [int(np.floor(value)) for value in exact]
    left = sorted(range(len(exact)), key=lambda k: tenths[k] - exact[k])
    for k in left[: max(0, whole - sum(tenths))]:
        tenths[k] += 1
    shown = {
        cause: value
        for cause, value in zip(found.causes, tenths, strict=True)
        if value or cause in always
    }
    return ", ".join(f"{cause} {signed_points(value)}" for cause, value in shown.items())


def signed_points(tenths: int) -> str:
    """Tenths of a point with their sign; nothing has none.

    >>> signed_points(-101), signed_points(3), signed_points(0)
    ('−10.1', '+0.3', '0.0')
    """
    sign = "−" if tenths < 0 else "+" if tenths else ""
    return f"{sign}{abs(tenths) / 10:.1f}"


def loss_line(loss: Loss) -> str:
    """A scenario or a change in one line."""
    of = " %" if loss.step is None else " % of its time"
    return (
        f"{loss.name}: right {100 * loss.before:.1f} → {100 * loss.now:.1f}{of},"
        f" {signed_points(-round(1000 * loss.drop))} points ({cause_words(loss)})"
    )


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 else f"{value:.4f}"


MOST_LOSSES = 3
"""Scenarios, and changes, that are named as those that lost most."""


def loss_lines(causes: Causes) -> Iterator[str]:
    """The scenarios or streams, and the changes, that lost most time."""
    for heading, losses in lost_most(causes):
        yield f"{heading}:"
        yield from (f"  {loss_line(loss)}" for loss in losses)


def lost_most(causes: Causes) -> Iterator[tuple[str, list[Loss]]]:
    """Losses of at least a twentieth of a point, the largest first, with a heading."""
    for heading, losses in (
        ("Lost most time", causes.scenarios),
        ("Changes after which most was lost", causes.changes),
    ):
        found = [loss for loss in losses[:MOST_LOSSES] if round(1000 * loss.drop) > 0]
        if found:
            yield heading, found
