"""Calibration in force against an event-by-event walk: Brier, reliability, risk and coverage."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.analysis.calibration import BINS, calibration
from streamdecisionbench.errors import InputError
from streamdecisionbench.policies.policy_file import Policy
from streamdecisionbench.scoring.policy_answers import Answers
from streamdecisionbench.scoring.score import score_timelines
from tests.scoring.policies import kit, plain_policy
from tests.scoring.policies.kit import Case

Moments = list[tuple[float, float, bool]]
"""Share of all time, confidence of the decision in force, whether it is right."""


def walked(voices: list[plain_policy.Voice], interval: float) -> Moments:
    """Every stretch between two events with a decision in force; families count alike."""
    families = [v.part.family for v in voices]
    out: Moments = []
    for voice in voices:
        part = voice.part
        held = plain_policy.walk(Policy(), [voice], interval).held
        releases = [float(r) for r in part.release]
        whole = (part.horizon - releases[0]) * families.count(part.family) * len(set(families))
        cuts = sorted({*releases, *(h.begin for h in held), part.horizon})
        for begin, end in pairwise(cuts):
            taken = [h for h in held if h.begin <= begin]
            if taken:
                now = max(i for i, r in enumerate(releases) if r <= begin)
                right = taken[-1].decision == int(part.reference[now])
                out.append(((end - begin) / whole, voice.confidence[taken[-1].source], right))
    return out


@settings(max_examples=80, deadline=None)
@given(st.lists(st.one_of(kit.loose(), kit.tied()), min_size=1, max_size=3))
def test_calibration_is_what_the_walk_adds_up_to(cases: list[Case]) -> None:
    interval = cases[0].interval
    voices = [
        plain_policy.Voice(
            replace(c.voices[0].part, episode_id=f"s{k}", family="ab"[k % 2]),
            c.voices[0].confidence,
        )
        for k, c in enumerate(cases)
    ]
    sure = [np.array(v.confidence, dtype=np.float64) for v in voices]
    answers = Answers("one", [v.part for v in voices], {"min": sure, "product": sure})
    moments = walked(voices, interval)
    total = sum(time for time, _, _ in moments)
    if total == 0:
        with pytest.raises(InputError, match="no decision is ever in force"):
            calibration(answers, interval)
        return
    found = calibration(answers, interval)
    assert found.decided == pytest.approx(total, abs=1e-12)
    brier = sum(time * (q - e) ** 2 for time, q, e in moments) / total
    assert found.brier == pytest.approx(brier, abs=1e-12)
    assert found.confidence == pytest.approx(sum(t * q for t, q, _ in moments) / total, abs=1e-12)
    assert found.right == pytest.approx(sum(t * e for t, _, e in moments) / total, abs=1e-12)
    for b in range(BINS):
        mine = [(t, q, e) for t, q, e in moments if min(int(q * BINS), BINS - 1) == b]
        time = sum(t for t, _, _ in mine)
        bins = [x for x in found.bins if x.low == b / BINS]
        assert len(bins) == (time > 0)
        for one in bins:
            assert one.time == pytest.approx(time / total, abs=1e-12)
            assert one.confidence == pytest.approx(sum(t * q for t, q, _ in mine) / time)
            assert one.right == pytest.approx(sum(t * e for t, _, e in mine) / time, abs=1e-12)
    for point in found.coverage:
        kept = [(t, e) for t, q, e in moments if q >= point.confidence]
        time = sum(t for t, _ in kept)
        assert point.coverage == pytest.approx(time / total, abs=1e-12)
        assert point.risk == pytest.approx(sum(t for t, e in kept if not e) / time, abs=1e-12)
    # The same time as the score's: right and decided make its accuracy.
    score = score_timelines(answers.parts, interval=interval)
    assert found.right * found.decided == pytest.approx(score.in_force, abs=1e-12)
    for share in (0.0, 0.5, 0.8, 1.0):
        reached = [p for p in found.coverage if p.coverage >= share - 1e-12]
        assert found.risk_at(share) == reached[-1].risk


def test_dense_sampling_comes_to_the_same() -> None:
    """A clock that looks every millisecond."""
    rng = np.random.default_rng(7)
    n, tick = 12, 2.0
    reference = rng.integers(0, 3, n).tolist()
    said = np.where(rng.random(n) < 0.6, reference, 3).tolist()
    latency = rng.uniform(0.2, 3.5, n).tolist()
    sure = rng.random(n)
    part = kit.timeline(latency, reference, said, tick=tick)
    found = calibration(Answers("one", [part], {"min": [sure], "product": [sure]}), 2.0)
    at = (np.arange(24_000) + 0.5) * n * tick / 24_000
    arrival = np.arange(n) * tick + np.array(latency)
    # Newest arrived source; an older one never replaces a newer one.
    source = np.array([max((i for i in range(n) if arrival[i] <= t), default=-1) for t in at])
    e = np.array(said)[source] == np.array(reference)[(at // tick).astype(int)]
    some = source >= 0
    q = sure[source]
    assert found.decided == pytest.approx(some.mean(), abs=1e-3)
    assert found.brier == pytest.approx(((q - e) ** 2)[some].mean(), abs=1e-3)
    assert found.right == pytest.approx(e[some].mean(), abs=1e-3)
    for b in found.bins:
        mine = some & (q >= b.low) & (q < b.high)
        assert b.time == pytest.approx(mine.sum() / some.sum(), abs=1e-3)
        assert b.right == pytest.approx(e[mine].mean(), abs=5e-3)


def test_perfect_confidence_has_no_brier_score() -> None:
    part = kit.timeline([0.0] * 4, [0, 1, 1, 0], [0, 2, 1, 0])
    sure = np.array([1.0, 0.0, 1.0, 1.0])
    found = calibration(Answers("one", [part], {"min": [sure], "product": [sure]}), 2.0)
    assert found.brier == 0
    assert (found.confidence, found.right) == (0.75, 0.75)
    assert found.coverage[-1].risk == 0
    assert found.risk_at(1.0) == 0.25
