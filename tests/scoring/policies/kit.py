"""Small made-up components and policies: with ties on a grid of dyadic numbers, and without any."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.policies.policy_file import (
    MODES,
    Cascade,
    ConfidenceGate,
    Debounce,
    Dispatch,
    Expire,
    Policy,
)
from streamdecisionbench.scoring.policy_answers import Answers, Setting
from tests.scoring.drawn import any_of, whole
from tests.scoring.policies.plain_policy import Voice

NAMES = ("one", "two", "three")


class Case:
    """A policy, its components on one scenario, and what the suite would say about it."""

    def __init__(
        self,
        policy: Policy,
        voices: list[Voice],
        interval: float,
        changed: list[bool],
        fallback: int | None,
    ) -> None:
        self.policy, self.voices, self.interval = policy, voices, interval
        self.changed, self.fallback = changed, fallback

    def __repr__(self) -> str:
        parts = [
            (v.part.release, v.part.latency, v.part.predicted, v.confidence) for v in self.voices
        ]
        return f"Case({self.policy}, {self.interval}, {self.changed}, {self.fallback}, {parts})"

    @property
    def setting(self) -> Setting:
        name = self.voices[0].part.episode_id
        fallback = {} if self.fallback is None else {name: self.fallback}
        return Setting({name: np.array(self.changed)}, fallback)

    @property
    def answers(self) -> list[Answers]:
        return [answers(voice, name) for voice, name in zip(self.voices, NAMES, strict=False)]


def answers(voice: Voice, name: str) -> Answers:
    sure = np.array(voice.confidence, dtype=np.float64)
    return Answers(name, [voice.part], {"min": [sure], "product": [sure]})


def timeline(
    latency: list[float],
    reference: list[int],
    predicted: list[int],
    release: list[float] | None = None,
    tick: float = 2.0,
    name: str = "x",
    family: str = "f",
) -> Timeline:
    n = len(latency)
    return Timeline(
        name,
        family,
        tick,
        np.array([i * tick for i in range(n)] if release is None else release),
        np.array(latency, dtype=np.float64),
        np.array(reference, dtype=np.int64),
        np.array(predicted, dtype=np.int64),
    )


@st.composite
def policies(draw: DrawFn, count: int | None = None) -> Policy:
    """Any parts together."""
    count = count or draw(st.integers(1, 3))
    threshold = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, math.inf])
    mode = draw(st.sampled_from(MODES))
    return Policy(
        gate=ConfidenceGate(draw(st.one_of(st.just(0.0), threshold))),
        expire=Expire(draw(st.sampled_from([math.inf, 0.5, 1.0, 2.5, 6.0]))),
        debounce=Debounce(draw(st.sampled_from([1, 1, 2, 3]))),
        dispatch=Dispatch(mode, draw(st.integers(1, 3)) if mode == "latest" else None),
        cascade=Cascade(
            NAMES[:count],
            draw(st.sampled_from(["always", "when-unsure"])),
            draw(threshold),
            draw(st.sampled_from(["freshest", "lag_one", "late_override"])),
        ),
    )


@st.composite
def tied(draw: DrawFn, most: int = 10) -> Case:
    """Everything on a grid: many times coincide, and sums of them stay exact.

    Answers without any delay only where all components are asked at once: a request that is caused,
    sent and answered within one instant has no order among the others.
    """
    policy = draw(policies())
    n = draw(st.integers(1, most))
    delays = [0.5, 1.0, 2.0, 2.5, 4.0, 6.0, 64.0]
    grid = delays if policy.when_unsure else [0.0, *delays]
    reference = whole(draw, n, 2)
    voices = []
    for _ in range(policy.count):
        latency = any_of(draw, n, grid)
        said = whole(draw, n, 3)
        sure = any_of(draw, n, [0.25, 0.5, 0.75])
        voices.append(Voice(timeline(latency, reference, said), sure))
    changed = [True, *any_of(draw, n - 1, (False, True))]
    fallback = draw(st.sampled_from([None, None, 0, 1, 7]))
    return Case(policy, voices, draw(st.sampled_from([0.5, 1.0, 2.0, 4.0])), changed, fallback)


@st.composite
def loose(draw: DrawFn, most: int = 16) -> Case:
    """No two times coincide: drawn from a continuous distribution, releases off the grid too."""
    policy = draw(policies())
    n = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    reference = rng.integers(0, 3, n).tolist()
    release = np.arange(n) * 2.0
    if policy.count == 1:
        release = release + rng.uniform(0, 0.3, n)
    voices = []
    for typical in rng.choice([0.2, 1.0, 2.5, 6.0], policy.count):
        latency = typical * np.exp(0.6 * rng.standard_normal(n))
        said = np.where(rng.random(n) < 0.6, reference, rng.integers(0, 5, n))
        part = timeline(latency.tolist(), reference, said.tolist(), release.tolist())
        voices.append(Voice(part, rng.random(n).round(2).tolist()))
    changed = [True, *(rng.random(n - 1) < 0.6).tolist()]
    fallback = draw(st.sampled_from([None, None, 0, 1, 7]))
    interval = draw(st.floats(0.2, 10).map(lambda x: round(x, 4)))
    return Case(policy, voices, interval, changed, fallback)
