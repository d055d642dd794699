"""A small suite of two families and seeded recordings of it, as many as a test wants."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest

from streamdecisionbench.analysis import network
from streamdecisionbench.components.contract import Usage
from streamdecisionbench.recording.event_log import Release, Response
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.report import report_data as analyses
from streamdecisionbench.report.report_data import ReportInput
from streamdecisionbench.report.write_report import make_material
from streamdecisionbench.suite.scenario import (
    SCHEMA_VERSION,
    DecisionSpec,
    Question,
    Scenario,
    Step,
    Suite,
)
from streamdecisionbench.suite.suite_files import make_suite, write_suite

STEPS = 24
_VALUES = ("record", "pause", "stop")


def suite(*, title: str = "A call", values: tuple[str, ...] = _VALUES) -> Suite:
    """Two families, two scenarios each; the reference changes every second or third step."""
    found = []
    for number, (name, family) in enumerate(
        (
            ("debugging_a", "live_debugging"), ("debugging_b", "live_debugging"),
            ("support_a", "support_call_assist"), ("support_b", "support_call_assist"),
        )
    ):  # fmt: skip
        draw = random.Random(number)
        value, steps = values[0], []
        for t in range(STEPS):
            changed = t > 0 and draw.random() < 0.4
            if changed:
                value = draw.choice([v for v in values if v != value])
            notes = (f"change: the caller said {value}",) if changed else ("distractor: speech",)
            steps.append(Step(t, {"clock": {"now": t}, "name": name}, {"recorder": value}, notes))
        found.append(
            Scenario(
                schema_version=SCHEMA_VERSION,
                episode_id=name,
                task_family=family,
                scenario_id=name,
                title=title,
                tick_seconds=2.0,
                questions={
                    "recorder": Question(
                        "choice",
                        "What now?",
                        {f"K0{i}": f"{v}: {v}" for i, v in enumerate(values)},
                    )
                },
                option_semantics={"recorder": {f"K0{i}": v for i, v in enumerate(values)}},
                decision_spec=DecisionSpec("recorder", (), dict.fromkeys(values, ())),
                steps=tuple(steps),
            )
        )
    return make_suite(found, name="kit")


def recording(
    source: Suite,
    name: str,
    seed: int,
    *,
    simulated: bool = False,
    tokens: bool = True,
    sure: bool = False,
) -> Recording:
    """One pass with drawn answers and latencies; `sure`: and confidences."""
    draw, doubt = random.Random(1000 + seed), random.Random(2000 + seed)
    right, typical = draw.uniform(0.3, 0.99), draw.uniform(0.2, 3.0)
    episodes = {}
    for scenario in source:
        responses, releases = [], []
        for step in scenario.steps:
            start = 2.0 * step.t
            latency = typical * draw.uniform(0.7, 1.6)
            value = step.gold["recorder"] if draw.random() < right else draw.choice(_VALUES)
            end = start + latency
            releases.append(Release(scenario.episode_id, step.t, start, start))
            responses.append(
                Response(
                    episode_id=scenario.episode_id, t=step.t, release_s=start, request_hash="",
                    ok=True, accepted=True, started_s=start, received_s=end, pred={"recorder": value},
                    completed_s=end, actual_recorded_s=end, accepted_s=end,
                    decision={"recorder": value},
                    confidence={"recorder": round(doubt.uniform(0.3, 1), 2)} if sure else None,
                    usage=Usage(2000 + 10 * step.t, 0, 40 + draw.randrange(30), 0) if tokens else None,
                )
            )  # fmt: skip
        episodes[scenario.episode_id] = Episode(
            scenario.episode_id, tuple(releases), (), tuple(responses)
        )
    run = {
        "config": {"simulated": simulated, "component": f"chat:{name}"},
        "dataset_manifest": {"dataset_hash": source.dataset_hash},
    }
    return Recording(name, run, episodes)


def material(count: int, *, simulated: bool = False, tokens: bool = True) -> ReportInput:
    source = suite()
    return make_material(
        [
            (
                recording(source, f"setting-{k + 1:02d}", k, simulated=simulated, tokens=tokens),
                source,
            )
            for k in range(count)
        ]
    )


def in_haste(patch: pytest.MonkeyPatch, *, paces: int = 9) -> None:
    """Ranges of few draws and a choice at few paces, for tests of what is made of them.

    Reports as they are made, with all draws and paces, are in test_report and test_tables_published.
    """
    patch.setattr(network, "network_estimate", partial(network.network_estimate, resamples=40))
    patch.setattr(analyses, "DRAWS", 10)
    patch.setattr(analyses, "_MOST", paces)


def stored_suite(folder: Path) -> Suite:
    """The suite on disk, for commands that read it."""
    source = suite()
    write_suite(source, folder)
    return source
