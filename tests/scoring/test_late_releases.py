"""A client that published late does not lend its lateness to another pace, and never in silence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.examples import example_recording, example_suite
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.scoring.score import Score, score, score_timelines
from streamdecisionbench.scoring.timelines import timelines
from tests.cli.command import sdb
from tests.recording.made import edit_lines, write

TICK = 2.0


def lagging(lags: list[float]) -> Recording:
    """The example with releases late by these seconds, latencies as they were."""
    recording = example_recording()
    episode = recording.episodes["tiny"]
    releases = tuple(
        msgspec.structs.replace(r, release_s=r.planned_s + lag)
        for r, lag in zip(episode.releases, lags, strict=True)
    )
    responses = tuple(
        msgspec.structs.replace(
            r,
            release_s=r.release_s + lag,
            started_s=r.started_s + lag,
            received_s=r.received_s + lag,
            completed_s=r.completed_s + lag,
            actual_recorded_s=r.actual_recorded_s + lag,
            accepted_s=None if r.accepted_s is None else r.accepted_s + lag,
        )
        for r, lag in zip(episode.responses, lags, strict=True)
    )
    return replace(recording, episodes={"tiny": Episode("tiny", releases, (), responses)})


def scored(lags: list[float], **more: float) -> Score:
    return score(lagging(lags), example_suite(), **more)  # type: ignore[arg-type]


@given(st.lists(st.floats(0, TICK / 100), min_size=4, max_size=4), st.floats(0.3, 10))
def test_punctual_recordings_keep_exactly_their_number(lags: list[float], interval: float) -> None:
    """u_i(c) = r_i + c·L_i on the recorded releases, to the last bit."""
    recording = lagging(lags)
    (part,) = timelines(recording, example_suite())
    recorded = [r.release_s for r in recording.episodes["tiny"].releases]
    assert part.release.tolist() == recorded
    found = score(recording, example_suite(), interval=interval)
    assert found.in_force == score_timelines([part], interval=interval).in_force
    assert found.clock == "recorded"
    assert "lag:" not in found.signature
    assert found.notes == ()


@given(
    st.lists(st.floats(0, 1.5), min_size=4, max_size=4).filter(lambda x: max(x) > 0.021),
    st.floats(0.3, 10),
)
def test_a_late_recording_is_repaced_from_its_plan(lags: list[float], interval: float) -> None:
    """u_i(Δ) = i·Δ + L_i: what the client did late is in the trace as it ran, and nowhere else."""
    late, punctual = scored(lags, interval=interval), scored([0.0] * 4, interval=interval)
    assert late.in_force == pytest.approx(punctual.in_force, abs=1e-12)
    assert late.log_auc == pytest.approx(punctual.log_auc, abs=1e-12)
    assert late.clock == "nominal"
    assert f"clock:nominal time:real simulated:no lag:{max(lags) / TICK:.3g}ticks" in late.signature
    (note,) = late.notes
    assert note.startswith(f"published late: {sum(x > 0.02 for x in lags)} of 4 states")


def test_the_wall_clock_trace_is_what_happened() -> None:
    lags = [0.0, 0.0, 1.0, 0.5]
    recording = lagging(lags)
    found = score(recording, example_suite(), interval=TICK)
    (as_ran,) = timelines(recording, example_suite(), clock="published")
    assert np.allclose(as_ran.release, [0, 2, 5, 6.5])
    assert found.overall.physical is not None
    expected = score_timelines([as_ran], interval=TICK).overall.physical
    assert expected is not None
    assert found.overall.physical.in_force == pytest.approx(expected.in_force, abs=1e-12)


def test_it_is_said_in_score_and_json(tmp_path: Path) -> None:
    folder = write(tmp_path / "run")

    def late(line: dict[str, object]) -> dict[str, object]:
        if line["t"] == 3:
            for name, value in line.items():
                if name.endswith("_s") and name != "planned_s" and isinstance(value, float):
                    line[name] = value + 0.3
        return line

    edit_lines(folder, late)
    shown = " ".join(sdb("score", folder).stdout.split())
    assert "published late: 1 of 4 states by more than 1 % of the tick, at worst by 0.3 s" in shown
    assert "lag:0.15ticks" in shown
    (entry,) = json.loads(sdb("score", folder, "--json").stdout)["recordings"]
    assert entry["clock"] == "nominal"
    assert entry["release_lag"]["late_steps"] == 1
    assert entry["release_lag"]["worst_s"] == pytest.approx(0.3)
