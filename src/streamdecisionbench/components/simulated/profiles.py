"""The declaration of a simulation: how fast a setting answers, and how often and where it errs.

The table that ships (`data/profiles.json`) holds the thirteen published settings, read off the
published figures. A profile describes a simulation *of figures*; it is never the model itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from statistics import NormalDist
from typing import Literal

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.file_io import read_json
from streamdecisionbench.suite.scenario import Scenario

PASS_SIZE = 480
"""Requests of one published pass: its smallest latency sits near rank 1/960, its largest near 1 − 1/960."""

_NORMAL = NormalDist()
_EDGE = 1 / (2 * PASS_SIZE)


class DeclaredLatency(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds from the start of an attempt to its completion, by the quantiles people publish."""

    floor_s: float
    p50_s: float
    p95_s: float
    max_s: float


class ScenarioFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`right` of `of` states decided correctly with time ignored, and the scenario's own median."""

    right: int
    of: int
    latency_p50_s: float | None = None


class Errors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where errors fall and what they say.

    `near` and `far` are untimed error rates (%) within one tick of a reference change and farther
    away; only their odds matter, the number of errors comes from the accuracy. `persistence` is the
    correlation of two states of one segment. `anticipate` and `linger` are the chances that an error
    run that ends (starts) with its segment gives the next (previous) segment's decision.
    """

    near: float = 50.0
    far: float = 50.0
    anticipate: float = 0.15
    linger: float = 0.1
    persistence: float = 0.85


class DeclaredTokens(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Median tokens of an answer; with `decode_ms` a longer answer is also a slower one."""

    output: int = 0
    reasoning: int = 0
    output_min: int = 0
    decode_ms: float = 0.0


class ProfileCalibration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How sure an answer to one question is, given whether it is right.

    Sureness runs from 0, no better than picking any of the options, to 1, certain. `right` and
    `wrong` are its means, `spread` its standard deviation: drawn from a beta distribution.
    """

    right: float
    wrong: float
    spread: float = 0.15


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Scores of the published setting (%), for comparison; no draw reads these."""

    log_auc: float
    untimed: float
    oracle_log_auc: float | None = None
    current_judgment: float | None = None
    lucky: float | None = None
    in_force_2s: float | None = None
    latency_mean_s: float | None = None
    family_log_auc: dict[str, float] = {}


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One simulated setting. `assumed` names the parts that no published figure fixes."""

    name: str
    title: str
    latency: DeclaredLatency
    untimed: float
    hosting: Literal["hosted", "self-hosted"] = "hosted"
    interface: Literal["responses", "system_one"] = "system_one"
    families: dict[str, float] = {}
    scenarios: dict[str, ScenarioFigures] = {}
    errors: Errors = Errors()
    tokens: DeclaredTokens = DeclaredTokens()
    calibration: ProfileCalibration | None = None
    """None: confidences are drawn without looking at correctness, and tell nothing."""
    published: Published | None = None
    assumed: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """The name every answer carries, so that no log can pass for the model's own."""
        return f"simulated:{self.name}"

    @property
    def description(self) -> str:
        if self.published is None:
            return f"simulation of a declared profile: {self.title}"
        return f"simulation of the published figures of {self.title}"


class _Table(msgspec.Struct, frozen=True):
    date: str
    profiles: list[Profile]


@cache
def builtin_profiles() -> Mapping[str, Profile]:
    """The thirteen published settings, by name.

    >>> ", ".join(list(builtin_profiles())[:6])
    'luna-low, luna-none, terra-low, terra-none, astra-low, jev'
    """
    return read_profiles(Path(str(resources.files("streamdecisionbench") / "data/profiles.json")))


def find_profile(name: str) -> Profile:
    """A profile by its name, or from a JSON file when the name ends in `.json`."""
    if name.endswith(".json"):
        found = read_profiles(Path(name))
        if len(found) != 1:
            raise InputError(
                f"holds {len(found)} profiles, not one", where=name, fix="keep one per file"
            )
        return next(iter(found.values()))
    profiles = builtin_profiles()
    if name not in profiles:
        raise InputError(
            f"no simulated profile is called {name!r}",
            fix=f"choose one of: {', '.join(profiles)}; or name a profile file, simulated:my.json",
        )
    return profiles[name]


def read_profiles(path: Path) -> dict[str, Profile]:
    """Profiles of a JSON file: one profile, or `{"date": …, "profiles": […]}`."""
    raw = read_json(path)
    try:
        if isinstance(raw, dict) and "profiles" in raw:
            found = msgspec.convert(raw, _Table).profiles
        else:
            found = [msgspec.convert(raw, Profile)]
    except msgspec.ValidationError as error:
        raise InputError(
            f"is not a profile: {error}",
            where=path,
            fix="see docs/explanation/simulation.md for the fields",
        ) from None
    for profile in found:
        _check(profile, path)
    return {profile.name: profile for profile in found}


def right_states(profile: Profile, scenario: Scenario) -> int:
    """How many of the scenario's states the simulation decides correctly.

    The scenario's own figure, else its family's accuracy, else the overall one.
    """
    figures = profile.scenarios.get(scenario.scenario_id)
    if figures is not None:
        share = figures.right / figures.of
    else:
        share = profile.families.get(scenario.task_family, profile.untimed) / 100
    return min(scenario.n, math.floor(share * scenario.n + 0.5))


def quantile(latency: DeclaredLatency, u: float) -> float:
    """Seconds at rank `u`: log-latency in straight pieces through floor, p50, p95 and maximum.

    Below the median the abscissa is the normal quantile z(u), above it −ln(2(1 − u)), so that the
    upper half is longer-tailed than a log-normal, as measured service times are. The floor and the
    maximum sit at the ranks of the smallest and largest of 480 requests.

    >>> jev = builtin_profiles()["jev"].latency
    >>> [round(quantile(jev, u), 3) for u in (0, 0.5, 0.95, 1)]
    [0.18, 0.25, 0.37, 0.74]
    """
    u = min(max(u, _EDGE), 1 - _EDGE)
    xs, ys = _knots(latency)
    return math.exp(_interpolate(_abscissa(u), xs, ys))


def rank(latency: DeclaredLatency, seconds: float) -> float:
    """The inverse of `quantile`: the share of requests that take at most `seconds`."""
    xs, ys = _knots(latency)
    if seconds <= latency.floor_s:
        return 0.0
    if seconds >= latency.max_s:
        return 1.0
    x = _interpolate(math.log(seconds), ys, xs)
    return _NORMAL.cdf(x) if x < 0 else 1 - math.exp(-x) / 2


def spread(profile: Profile) -> float:
    """γ: how much of the pooled spread is left within a scenario, once scenarios differ in median.

    A scenario with median m draws m·(Q(u)/p50)^γ; γ is chosen so that the pool of all scenarios
    keeps the declared p95. Without scenario medians γ = 1.
    """
    medians = tuple(s.latency_p50_s for s in profile.scenarios.values() if s.latency_p50_s)
    latency = profile.latency
    return _spread(latency, medians) if medians and latency.p95_s > latency.p50_s else 1.0


@cache
def _spread(latency: DeclaredLatency, medians: tuple[float, ...]) -> float:
    def below_p95(gamma: float) -> float:
        shares = [
            rank(latency, latency.p50_s * math.exp(math.log(latency.p95_s / m) / gamma))
            for m in medians
        ]
        return sum(shares) / len(shares)

    low, high = 0.05, 1.5
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if below_p95(middle) < 0.95 else (middle, high)
    return (low + high) / 2


def _abscissa(u: float) -> float:
    return _NORMAL.inv_cdf(u) if u < 0.5 else -math.log(2 * (1 - u))


def _knots(latency: DeclaredLatency) -> tuple[list[float], list[float]]:
    xs = [_abscissa(_EDGE), 0.0, _abscissa(0.95), _abscissa(1 - _EDGE)]
    seconds = (latency.floor_s, latency.p50_s, latency.p95_s, latency.max_s)
    return xs, [math.log(s) for s in seconds]


def _interpolate(x: float, xs: list[float], ys: list[float]) -> float:
    for i in range(1, len(xs)):
        if x <= xs[i] or i == len(xs) - 1:
            width = xs[i] - xs[i - 1]
            part = (x - xs[i - 1]) / width if width > 0 else 1.0
            return ys[i - 1] + part * (ys[i] - ys[i - 1])
    return ys[-1]


def _check(profile: Profile, path: Path) -> None:
    latency, errors = profile.latency, profile.errors
    times = (0.0, latency.floor_s, latency.p50_s, latency.p95_s, latency.max_s)
    problem = ""
    if not all(map(math.isfinite, times)) or list(times) != sorted(times) or latency.floor_s <= 0:
        problem = "latency needs 0 < floor_s ≤ p50_s ≤ p95_s ≤ max_s"
    elif any(not 0 <= s.right <= s.of or s.of < 1 for s in profile.scenarios.values()):
        problem = "every scenario needs 0 ≤ right ≤ of"
    elif any((s.latency_p50_s or 1.0) <= 0 for s in profile.scenarios.values()):
        problem = "latency_p50_s must be above 0"
    elif not all(0 <= x <= 100 for x in (profile.untimed, *profile.families.values())):
        problem = "untimed and families are percentages, 0–100"
    elif not (0 <= errors.near <= 100 and 0 <= errors.far <= 100):
        problem = "errors.near and errors.far are percentages, 0–100"
    elif not all(0 <= x <= 1 for x in (errors.anticipate, errors.linger, errors.persistence)):
        problem = "errors.anticipate, linger and persistence lie in 0–1"
    elif profile.calibration is not None and not _drawable(profile.calibration):
        problem = "calibration needs right and wrong in 0–1, and a spread below √(mean·(1 − mean))"
    if problem:
        raise InputError(f"profile {profile.name!r}: {problem}", where=path, fix="correct the file")


def _drawable(calibration: ProfileCalibration) -> bool:
    """Whether a beta distribution with these means and this spread exists."""
    return all(
        0 < mean < 1 and 0 < calibration.spread**2 < mean * (1 - mean)
        for mean in (calibration.right, calibration.wrong)
    )
