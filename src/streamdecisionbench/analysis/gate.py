"""The release gate: has the score dropped by more than allowed, as far as these data can show?

With D = baseline − new, in points, and [low, high] its interval:

    pass         high ≤ allowed      the drop is shown to be smaller than allowed
    fail         low > allowed       it is shown to be larger
    cannot tell  otherwise           with the drop that would have been shown in 80 of 100 trials

D is paired by state and resampled as in `bootstrap`; where only scores by scenario are at hand, it is
paired by scenario, with Student's t over the scenarios. Two-sided intervals of 95 % keep false alarms
below 2.5 %. A floor for the new score is judged in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from streamdecisionbench.analysis.bootstrap import (
    POWER,
    Estimate,
    Sampling,
    bootstrap,
    over_scenarios,
    same_states,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.classes import shares_by_step_at, shares_by_step_over
from streamdecisionbench.scoring.pooled import student_quantile
from streamdecisionbench.scoring.timeline import Flat, Floats, Timeline

PASS, FAIL, CANNOT_TELL = "pass", "fail", "cannot tell"
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Limits:
    """What is allowed, in points (hundredths)."""

    max_drop: float = 1.0
    minimum: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.max_drop <= 100:
            raise InputError(
                f"--max-drop {self.max_drop:g} is not a number of points", fix="give 0 to 100"
            )
        if self.minimum is not None and not 0 <= self.minimum <= 100:
            raise InputError(
                f"--min {self.minimum:g} is not a score in points", fix="give 0 to 100"
            )


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict and what it rests on. Shares are fractions; `drop` is baseline minus new."""

    verdict: str
    reasons: tuple[str, ...]
    measure: str
    new: Estimate
    baseline: Estimate
    drop: Estimate
    limits: Limits
    paired_by: str
    drawn: str
    models: Mapping[str, tuple[str, ...]]

    @property
    def detectable(self) -> float:
        """The smallest true drop that would fail the gate in 80 of 100 trials, as a fraction."""
        return self.limits.max_drop / 100 + self.drop.detectable(LEVEL)

    def promised(self, true_drop: float) -> float:
        """How often a true drop of this size would fail the gate."""
        beyond = true_drop - self.limits.max_drop / 100
        normal = NormalDist()
        if self.drop.error == 0:
            return float(beyond > 0)
        return normal.cdf(beyond / self.drop.error - normal.inv_cdf((1 + LEVEL) / 2))


def gate_timelines(
    new: Sequence[Timeline],
    baseline: Sequence[Timeline],
    *,
    limits: Limits,
    interval: float | None = None,
    bounds: Bounds | None = None,
    sampling: Sampling | None = None,
    models: Mapping[str, Sequence[str]] | None = None,
    allow_model_change: bool = False,
) -> Gate:
    """Of two recordings of the same states: at an interval, or integrated over the bounds."""
    sampling = sampling or Sampling()
    parts = same_states({"baseline": baseline, "new": new})
    of_new, of_old = (_contributions(Flat(p), interval, bounds) for p in (new, baseline))
    score_new, score_old = bootstrap(parts, np.stack((of_new, of_old), axis=1), sampling)
    (drop,) = bootstrap(parts, (of_old - of_new)[:, None], sampling, share=False)
    return gate_estimates(
        score_new,
        score_old,
        drop,
        limits=limits,
        measure=_measure(interval, bounds),
        paired_by="state",
        drawn="scenarios, then blocks" if over_scenarios(parts) else "blocks of steps",
        models=models,
        allow_model_change=allow_model_change,
    )


def gate_by_scenario(
    new: Mapping[str, float],
    baseline: Mapping[str, float],
    families: Mapping[str, str],
    *,
    limits: Limits,
    measure: str,
    models: Mapping[str, Sequence[str]] | None = None,
    allow_model_change: bool = False,
) -> Gate:
    """Of scores by scenario alone: paired by scenario, means of families' means."""
    if set(new) != set(baseline):
        odd = sorted(set(new) ^ set(baseline))
        raise InputError(
            f"the two scores are not of the same scenarios: {', '.join(odd[:5])}",
            fix="score the same scenarios twice",
        )
    if len(new) < 2:
        raise InputError(
            "one scenario says nothing about how scores differ",
            fix="gate the recordings themselves, or scores over several scenarios",
        )
    names = sorted(new)
    of_new, of_old = (np.array([s[name] for name in names]) for s in (new, baseline))
    weights = _weights([families[name] for name in names])
    return gate_estimates(
        _clustered(of_new, weights, 0.0),
        _clustered(of_old, weights, 0.0),
        _clustered(of_old - of_new, weights, -1.0),
        limits=limits,
        measure=measure,
        paired_by="scenario",
        drawn="scenarios (Student's t)",
        models=models,
        allow_model_change=allow_model_change,
    )


def gate_estimates(
    new: Estimate,
    baseline: Estimate,
    drop: Estimate,
    *,
    limits: Limits,
    measure: str,
    paired_by: str,
    drawn: str,
    models: Mapping[str, Sequence[str]] | None = None,
    allow_model_change: bool = False,
) -> Gate:
    """The verdict on estimates, however they were made."""
    verdicts, reasons = [], []
    allowed = limits.max_drop / 100
    if drop.high <= allowed:
        verdicts.append(PASS)
        reasons.append(f"the drop is at most {_points(drop.high)}, {limits.max_drop:g} is allowed")
    elif drop.low > allowed:
        verdicts.append(FAIL)
        reasons.append(f"the drop is at least {_points(drop.low)}, {limits.max_drop:g} is allowed")
    else:
        verdicts.append(CANNOT_TELL)
        shown = allowed + drop.detectable(LEVEL)
        reasons.append(
            f"the drop lies between {_points(drop.low)} and {_points(drop.high)}; these data would"
            f" show one of {_points(shown)} in {100 * POWER:g} of 100 trials"
        )
    if limits.minimum is not None:
        floor = limits.minimum / 100
        if new.low >= floor:
            verdicts.append(PASS)
            reasons.append(f"the score is at least {_points(new.low)}, {limits.minimum:g} is asked")
        elif new.high < floor:
            verdicts.append(FAIL)
            reasons.append(f"the score is at most {_points(new.high)}, {limits.minimum:g} is asked")
        else:
            verdicts.append(CANNOT_TELL)
            reasons.append(
                f"the score lies between {_points(new.low)} and {_points(new.high)},"
                f" {limits.minimum:g} is asked"
            )
    served = {name: tuple(sorted(found)) for name, found in (models or {}).items()}
    changed = served.get("new") != served.get("baseline")
    if changed and not allow_model_change:
        verdicts.append(FAIL)
        reasons.append(
            f"another model was served: {_named(served.get('baseline'))} before,"
            f" {_named(served.get('new'))} now"
        )
    verdict = next((v for v in (FAIL, CANNOT_TELL) if v in verdicts), PASS)
    return Gate(
        verdict, tuple(reasons), measure, new, baseline, drop, limits, paired_by, drawn, served
    )


def resampled_estimate(value: float, replicates: Floats) -> Estimate:
    """An estimate from its value under resampling; replicates in which nothing was judged are left out."""
    known = replicates[np.isfinite(replicates)]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return Estimate(value, float(low), float(high), float(known.std()))


def _contributions(flat: Flat, interval: float | None, bounds: Bounds | None) -> Floats:
    if interval is None:
        return shares_by_step_over(flat, bounds or Bounds())
    return shares_by_step_at(flat, interval)


def _measure(interval: float | None, bounds: Bounds | None) -> str:
    if interval is None:
        return f"in force over {(bounds or Bounds()).text()}"
    return f"in force at {interval:g} s"


def _weights(families: Sequence[str]) -> Floats:
    sizes = {family: families.count(family) for family in set(families)}
    return np.array([1.0 / (len(sizes) * sizes[family]) for family in families])


def _clustered(values: Floats, weights: Floats, bottom: float) -> Estimate:
    """A weighted mean of clusters: variance Σ w²·(x − x̄)² · K/(K − 1), Student's t with K − 1."""
    mean = float(weights @ values)
    k = len(values)
    error = float(np.sqrt(np.sum((weights * (values - mean)) ** 2) * k / (k - 1)))
    half = student_quantile((1 + LEVEL) / 2, k - 1) * error
    return Estimate(mean, max(mean - half, bottom), min(mean + half, 1.0), error)


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"


def _named(models: Sequence[str] | None) -> str:
    return ", ".join(models) if models else "no model named"
