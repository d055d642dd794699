"""Every figure the paper prints for its two transcribed recordings, at the printed precision."""

from __future__ import annotations

from typing import Any

import pytest

from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.table import fixed
from streamdecisionbench.scoring.answer_accuracy import mistakes
from streamdecisionbench.scoring.result import Level
from streamdecisionbench.scoring.score import Score, score
from streamdecisionbench.suite.scenario import Suite

Published = tuple[Suite, dict[str, Recording]]

SETTINGS = {"Astra": "astra-low", "Jev": "jev"}
FAMILIES = {
    "Debug": "live_debugging",
    "Assembly": "procedural_coaching",
    "Support": "support_call_assist",
    "Presenter": "presenter_voice_control",
}
SCENARIOS = {
    f"{prefix}{part}": f"{name}_{part.lower()}"
    for prefix, name in (
        ("Debug", "debugging"), ("Assembly", "assembly"), ("Support", "support"), ("Presenter", "presenter"),
    )
    for part in ("A", "B")
}  # fmt: skip


class Check:
    """Compares at the precision of the expected value and counts, so that no key is missed in silence."""

    def __init__(self, figures: dict[str, Any]) -> None:
        self.figures = figures
        self.wrong: list[str] = []
        self.checked: set[str] = set()

    def __call__(self, key: str, value: float, digits: int = 1) -> None:
        if key not in self.figures:
            return
        self.checked.add(key)
        expected = float(self.figures[key])
        if fixed(value, digits) != fixed(expected, digits):
            self.wrong.append(f"{key}: published {expected}, ours {value!r}")


def _scores(published: Published, **options: Any) -> dict[str, Score]:
    suite, recordings = published
    return {key: score(recordings[name], suite, **options) for key, name in SETTINGS.items()}


def test_every_published_figure(published: Published, figures: dict[str, Any]) -> None:
    check = Check(figures)
    for key, s in _scores(published).items():
        _overall(check, key, s)
        for part, family in FAMILIES.items():
            level = s.by_family[family]
            check(f"{key}{part}Auc", 100 * level.log_auc)
            check(f"{key}{part}Untimed", 100 * level.untimed)
            check(f"{key}{part}InForce", 100 * level.in_force)
        for part, name in SCENARIOS.items():
            _scenario(check, f"{key}{part}", s.by_scenario[name])
            assert s.latency_by_scenario
            check(f"{key}{part}LatencyMedian", s.latency_by_scenario[name].p50, 2)
    assert not check.wrong, "\n".join(check.wrong)
    assert len(check.checked) == 237


def test_figures_of_the_text(published: Published, figures: dict[str, Any]) -> None:
    """Differences the paper states in sentences; those between settings are of printed values."""
    scores = _scores(published)
    gaps = {
        key: [100 * (level.untimed - level.in_force) for level in s.by_scenario.values()]
        for key, s in scores.items()
    }
    assert fixed(min(gaps["Astra"])) == fixed(figures["AstraMinScenarioGap"])
    assert fixed(max(gaps["Jev"])) == fixed(figures["JevMaxScenarioGap"])
    assert round(480 * scores["Astra"].untimed) == int(figures["AstraUntimedStates"])

    def printed(key: str, name: str) -> float:
        return float(fixed(100 * float(getattr(scores[key], name))))

    auc = printed("Jev", "log_auc") - printed("Astra", "log_auc")
    assert fixed(auc) == fixed(figures["JevMinusAstraAuc"])
    untimed = printed("Astra", "untimed") - printed("Jev", "untimed")
    assert fixed(untimed) == fixed(figures["AstraMinusJevUntimed"])


def test_the_one_mistake_of_astra(published: Published, figures: dict[str, Any]) -> None:
    suite, recordings = published
    (mistake,) = mistakes(recordings["astra-low"], suite)
    assert mistake.episode_id == "assembly_a"
    assert mistake.t == int(figures["AstraMissStep"])


def _overall(check: Check, key: str, s: Score) -> None:
    whole, at, over = s.overall, s.overall.at_interval, s.overall.integrated
    assert s.latency
    assert s.reliability
    assert whole.physical
    for name, value in {
        "Auc": s.log_auc,
        "AucGap": s.untimed - s.log_auc,
        "Untimed": s.untimed,
        "InForce": s.in_force,
        "InForceRecorded": s.in_force,
        "InForcePhysical": whole.physical.in_force,
        "InForceSeg": whole.segment_in_force,
        "CommonTwo": s.in_force,
        "TimingCeiling": at.oracle,
        "UCurrent": at.u_current or 0.0,
        "LuckyPct": at.outdated_correct,
        "Product": at.product,
        "ErrJudgmentPct": at.judgment,
        "ErrStalePct": at.stale,
        "ErrCompoundPct": at.compound,
        "ErrNoDecisionPct": at.no_decision,
        "AucOracle": over.oracle,
        "AucUCurrent": over.u_current or 0.0,
        "AucLucky": over.outdated_correct,
        "AucProduct": over.product,
        "AucJudgment": over.judgment,
        "AucStale": over.stale,
    }.items():
        check(f"{key}{name}", 100 * value)
    check(f"{key}AcceptedUpdates", s.accepted, 0)
    check(f"{key}DiscardedAfterHorizon", s.discarded_after_horizon, 0)
    check(f"{key}DiscardedOlder", s.discarded_older, 0)
    check(f"{key}ValidResponses", s.reliability.valid_responses, 0)
    check(f"{key}Attempts", s.reliability.attempts, 0)
    check(f"{key}FailedAttempts", s.reliability.failed_attempts, 0)
    check(f"{key}RetriedRequests", s.reliability.retried_requests, 0)
    check(f"{key}ExcludedDispatchSec", s.reliability.dispatch_wait_s, 2)
    check(f"{key}LatencyMedian", s.latency.p50, 2)
    check(f"{key}LatencyPNinetyFive", s.latency.p95, 2)
    check(f"{key}LatencyMean", s.latency.mean, 2)
    check(f"{key}LatencyMax", s.latency.max, 2)


def _scenario(check: Check, key: str, level: Level) -> None:
    at = level.at_interval
    check(f"{key}Auc", 100 * level.log_auc)
    check(f"{key}Untimed", 100 * level.untimed)
    check(f"{key}InForce", 100 * level.in_force)
    check(f"{key}InForceSeg", 100 * level.segment_in_force)
    # Seconds of the 120 s a scenario lasts at 2 s.
    check(f"{key}ErrNoDecisionSec", 120 * at.no_decision)
    check(f"{key}ErrStaleSec", 120 * at.stale)
    check(f"{key}ErrJudgmentSec", 120 * at.judgment)
    check(f"{key}ErrCompoundSec", 120 * at.compound)
    check(f"{key}ErrIncorrectSec", 120 * (at.judgment + at.compound))


@pytest.mark.parametrize(
    ("key", "low", "high", "weighting"),
    [
        ("AucLinear", 0.5, 8.0, "linear"),
        ("AucNarrow", 1.0, 4.0, "log"),
        ("AucHalfFour", 0.5, 4.0, "log"),
        ("AucOneEight", 1.0, 8.0, "log"),
        ("AucTenthFour", 0.1, 4.0, "log"),
        ("AucTenthEight", 0.1, 8.0, "log"),
    ],
)
def test_sensitivity(
    published: Published, figures: dict[str, Any], key: str, low: float, high: float, weighting: str
) -> None:
    for setting, s in _scores(published, bounds=(low, high), weighting=weighting).items():
        assert fixed(100 * s.log_auc) == fixed(figures[setting + key])


@pytest.mark.parametrize(
    ("key", "interval"),
    [
        ("InForceDelayHalf", 4.0),
        ("InForceDelayTwoThirds", 3.0),
        ("InForceDelayThreeHalves", 4 / 3),
        ("InForceDelayDouble", 1.0),
        ("CommonEight", 8.0),
    ],
)
def test_time_step_interval(
    published: Published, figures: dict[str, Any], key: str, interval: float
) -> None:
    for setting, s in _scores(published, interval=interval).items():
        assert fixed(100 * s.in_force) == fixed(figures[setting + key])
