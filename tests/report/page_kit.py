"""Suites and recordings for the page's tests: seeded, small, and with texts that would break markup."""

from __future__ import annotations

import math
import random

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.analysis.choose import Terms
from streamdecisionbench.analysis.token_cost import Cost, Tokens
from streamdecisionbench.recording.event_log import Release, Response
from streamdecisionbench.recording.prices import read_prices
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.report.page import PageInputs
from streamdecisionbench.report.report_data import ReportResults, choices
from streamdecisionbench.report.write_report import make_material
from streamdecisionbench.scoring.pairs import all_pairs
from streamdecisionbench.suite.scenario import (
    SCHEMA_VERSION,
    DecisionSpec,
    Question,
    Scenario,
    Step,
    Suite,
)
from streamdecisionbench.suite.suite_files import make_suite

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=\"document.title='hacked'\">%DATA%\u2028&amp;"
)

_ROUTES = ("wait", "rerun", "inspect")
_DETAIL = ("left", "right", "middle")


def kit_suite(*, steps: int = 24, hostile: bool = False, seed: int = 0) -> Suite:
    """Two families, three scenarios: a route, and a detail that only some routes consume."""
    rng = random.Random(seed)
    plan = (
        ("one_a", "live_debugging"),
        ("one_b", "live_debugging"),
        ("two_a", "support_call_assist"),
    )
    return make_suite(
        [_scenario(name, family, steps, rng, hostile=hostile) for name, family in plan], name="kit"
    )


def kit_recording(
    suite: Suite,
    name: str,
    *,
    latency: float,
    wrong: float,
    seed: int,
    simulated: bool = False,
    virtual: bool = False,
    tied: bool = False,
) -> Recording:
    """One pass with log-normal latencies and a share of answers taken from other steps.

    Where it is `tied`, all times are halves of seconds: answers come together, and some as it ends.
    """
    rng = random.Random(seed)
    episodes = {}
    for scenario in suite:
        releases, responses = [], []
        for i, step in enumerate(scenario.steps):
            planned = i * scenario.tick_seconds
            release = planned + (0.0 if tied else rng.uniform(0, 0.004))
            answered = rng.choice(scenario.steps) if rng.random() < wrong else step
            wait = latency * rng.lognormvariate(0, 0.5)
            done = release + (math.ceil(2 * wait) / 2 if tied else wait)
            releases.append(Release(scenario.episode_id, i, planned, release))
            responses.append(
                Response(
                    episode_id=scenario.episode_id,
                    t=i,
                    release_s=release,
                    request_hash="",
                    ok=True,
                    accepted=True,
                    started_s=release,
                    received_s=done,
                    pred=dict(answered.gold),
                    completed_s=done,
                    actual_recorded_s=done + (0.0 if tied else rng.uniform(0, 0.001)),
                )
            )
        episodes[scenario.episode_id] = Episode(
            scenario.episode_id, tuple(releases), (), tuple(responses)
        )
    config = {"simulated": simulated, "clock": "virtual" if virtual else "real"}
    run = {"config": config, "dataset_manifest": {"dataset_hash": suite.dataset_hash}}
    return Recording(name, run, episodes)


def kit_recordings(suite: Suite, count: int = 3) -> list[Recording]:
    """From fast and careless to slow and careful; the second is a simulation, the third virtual."""
    return [
        kit_recording(
            suite,
            f"component-{i:02d}",
            latency=0.25 * 1.9 ** (i % 6),
            wrong=0.4 / (1 + i % 6),
            seed=i,
            simulated=i % 3 == 1,
            virtual=i % 3 == 2,
        )
        for i in range(count)
    ]


def kit_inputs(
    suite: Suite,
    recordings: list[Recording],
    *,
    extras: bool = True,
    costs: dict[str, Cost] | None = None,
) -> PageInputs:
    """The page's inputs, with pairs, ranges and costs unless they are to be left out."""
    material = make_material([(recording, suite) for recording in recordings])
    scores = material.scores
    alike = len({tuple(s.by_scenario) for s in scores}) == 1
    terms = Terms(pairs=extras, sampling=Sampling(resamples=200))
    chosen = (
        choices(material.entries, suite, costs or {}, read_prices(), (0.5, 8.0), 2.0, terms)
        if alike
        else []
    )
    if not extras:
        return PageInputs(material, ReportResults(choices=chosen))
    first = scores[0]
    tokens = Tokens(72, 0, 0, 0, 0, 1_234_567, 1000, 4321, 0, 0)
    partners = {n for c in chosen if len(c.best.members) > 1 for n in c.best.members}
    paired = [r for i, r in enumerate(recordings) if i < 3 or r.name in partners]
    findings = ReportResults(
        ranges={first.name: (first.log_auc - 0.02, first.log_auc + 0.02)},
        ranges_method="made up for a test",
        costs={first.name: Cost(tokens, None, "USD", "2026-01-01", 1.25, 0.0)},
        choices=chosen,
    )
    pairs = all_pairs(paired, suite) if len(paired) > 1 else ()
    return PageInputs(material, findings, pairs)


def _scenario(name: str, family: str, steps: int, rng: random.Random, *, hostile: bool) -> Scenario:
    def question(values: tuple[str, ...]) -> Question:
        criteria = {f"K{i:02d}": f"{v}: {v}" for i, v in enumerate(values, start=1)}
        return Question(type="choice", instructions="Choose.", criteria=criteria)

    detail = (*_DETAIL, HOSTILE) if hostile else _DETAIL
    route, side, found = "wait", detail[0], []
    for t in range(steps):
        notes: list[str] = []
        if t and rng.random() < 0.35:
            route, side = rng.choice(_ROUTES), rng.choice(detail)
            notes.append(f"cause: event at {t}" + (HOSTILE if hostile else ""))
        elif rng.random() < 0.3:
            notes.append("distractor: a heartbeat")
        found.append(
            Step(t=t, state={}, gold={"route": route, "side": side}, evidence=tuple(notes))
        )
    questions = {"route": question(_ROUTES), "side": question(detail)}
    return Scenario(
        schema_version=SCHEMA_VERSION,
        episode_id=name,
        task_family=family,
        scenario_id=name,
        title=f"Scenario {name}" + (f" {HOSTILE}" if hostile else ""),
        tick_seconds=2.0,
        questions=questions,
        option_semantics={
            q: {label: text.split(":")[0] for label, text in one.criteria.items()}
            for q, one in questions.items()
        },
        decision_spec=DecisionSpec(
            "route", (), {"wait": (), "rerun": ("side",), "inspect": ("side",)}
        ),
        steps=tuple(found),
    )
