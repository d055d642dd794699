"""A suite as an Inspect AI task: `inspect eval streamdecisionbench/sdb_suite --model …`.

Every state is a sample, asked with the prompt and schema every text model gets here. The score of a
sample is whether its composed decision is right. Metrics put the samples of a scenario back in order and
score them as `sdb score` does, on nominal releases r_i = i · tick.

Latencies are what Inspect measures around its call of the model: its own queueing for connections and
its retries are not part of them, and requests go out as fast as its limits allow, not at the pace of a
stream. So the timed figures are a projection; `sdb run` measures. Needs the extra `inspect`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ResponseSchema,
    get_model,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema

from streamdecisionbench.components.contract import Answer, Fatal, Request, check_answer
from streamdecisionbench.components.providers.prompt import (
    INSTRUCTION,
    SCHEMA_NAME,
    answer_schema,
    as_json,
    read_labels,
    read_object,
)
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.recording.run_request import choose_scenarios
from streamdecisionbench.scoring.score import Score as StreamScore
from streamdecisionbench.scoring.score import score_timelines
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

TIMING = "latencies as Inspect measures them; not a recording at the stream's pace"
_NEVER = 1e6
"""Seconds an answer that cannot be used takes: it never arrives within any scenario."""


@task
def sdb_suite(
    data: str | None = None,
    scenarios: str | None = None,
    families: str | None = None,
    interval: float = 2.0,
) -> Task:
    """Every state of a suite; `scenarios` and `families` narrow it, names with commas between."""
    suite = read_suite(data or builtin_suite_path())
    chosen = choose_scenarios(suite, _names(families), _names(scenarios))
    samples = [s for name in chosen for s in _samples(suite.scenarios[name])]
    return Task(
        dataset=MemoryDataset(samples, name=suite.name),
        solver=ask(),
        scorer=decision(data),
        metrics=[log_auc(), in_force(interval), untimed()],
        metadata={
            "suite": suite.dataset_hash, "scenarios": list(chosen), "interval": interval,
            "timing": TIMING,
        },
        version="1",
    )  # fmt: skip


@solver
def ask() -> Solver:
    """One call of the model per state, bound by the schema of its questions."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        schema = ResponseSchema(
            name=SCHEMA_NAME,
            json_schema=JSONSchema.model_validate(answer_schema(state.metadata["questions"])),
            strict=True,
        )
        config = GenerateConfig(response_schema=schema, max_retries=0)
        state.output = await get_model().generate(state.messages, config=config)
        return state

    return solve


@metric
def in_force(interval: float = 2.0) -> Metric:
    """In-force accuracy at the interval."""

    def computed(scores: list[SampleScore]) -> float:
        return _stream_score(scores, interval).in_force

    return computed


@metric
def log_auc() -> Metric:
    """In-force accuracy integrated over 0.5–8 s."""

    def computed(scores: list[SampleScore]) -> float:
        return _stream_score(scores).log_auc

    return computed


@metric
def untimed() -> Metric:
    """Accuracy if latency did not matter."""

    def computed(scores: list[SampleScore]) -> float:
        return _stream_score(scores).untimed

    return computed


@scorer(metrics=[log_auc(), in_force(), untimed()])
def decision(data: str | None = None) -> Scorer:
    """Composes the answers; the metrics read reference, answer and latency from the metadata."""
    suite = read_suite(data or builtin_suite_path())

    async def judge(state: TaskState, target: Target) -> Score:
        scenario = suite.scenarios[state.metadata["scenario"]]
        step = scenario.steps[state.metadata["step"]]
        expected = scenario.decision_spec.compose(step.gold)
        answered, why = _answered(scenario, state)
        return Score(
            value=int(answered == expected),
            answer=state.output.completion,
            explanation=why or f"answered {json.dumps(answered)}; {TIMING}",
            metadata={
                "scenario": scenario.episode_id,
                "family": scenario.task_family,
                "step": state.metadata["step"],
                "tick": scenario.tick_seconds,
                **_own_time(scenario, state.metadata["step"]),
                "expected": json.dumps(expected, sort_keys=True),
                "answered": json.dumps(answered, sort_keys=True) if answered else None,
                "latency_s": state.output.time if answered else None,
            },
        )

    return judge


def _samples(scenario: Scenario) -> list[Sample]:
    made = []
    for t, step in enumerate(scenario.steps):
        request = scenario.request(t)
        asked = Request(request["state"], request["questions"])
        made.append(
            Sample(
                id=f"{scenario.episode_id}-{t:03}",
                input=[ChatMessageSystem(content=INSTRUCTION), ChatMessageUser(content=as_json(asked))],
                target=json.dumps(scenario.decision_spec.compose(step.gold), sort_keys=True),
                metadata={
                    "scenario": scenario.episode_id, "step": t, "questions": request["questions"],
                },
            )
        )  # fmt: skip
    return made


def _answered(scenario: Scenario, state: TaskState) -> tuple[dict[str, str] | None, str]:
    """The composed decision, or why the reply holds none."""
    questions = state.metadata["questions"]
    try:
        labels = read_labels(read_object(state.output.completion, what="the model's reply"))
        check_answer(Answer(labels=labels), questions)
    except Fatal as error:
        return None, str(error)
    return scenario.decision_spec.compose(scenario.decode(labels)), ""


def _stream_score(scores: Sequence[SampleScore], interval: float = 2.0) -> StreamScore:
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for sample in scores:
        facts = sample.score.metadata or {}
        found.setdefault(facts["scenario"], {})[facts["step"]] = facts
    return score_timelines(
        [_timeline(name, steps) for name, steps in found.items()], interval=interval
    )


def _timeline(name: str, steps: dict[int, dict[str, Any]]) -> Timeline:
    """Samples in step order. Steps that were left out, by a limit, shorten the scenario."""
    rows = [steps[t] for t in sorted(steps)]
    ids: dict[str, int] = {}
    reference = [ids.setdefault(row["expected"], len(ids)) for row in rows]
    answered = [
        -1 if row["answered"] is None else ids.setdefault(row["answered"], len(ids)) for row in rows
    ]
    latency = [_NEVER if row["latency_s"] is None else float(row["latency_s"]) for row in rows]
    tick = float(rows[0]["tick"])
    release, end = np.arange(len(rows), dtype=np.float64) * tick, None
    if "published_s" in rows[0]:
        release, end = np.array([row["published_s"] for row in rows]), rows[-1]["until_s"]
    return Timeline(
        name, str(rows[0]["family"]), tick, release,
        np.array(latency), np.array(reference), np.array(answered), end=end,
    )  # fmt: skip


def _own_time(scenario: Scenario, step: int) -> dict[str, float]:
    """Of a scenario with times of its own: when a step is published, and until when it holds."""
    if scenario.published_s is None:
        return {}
    edges = [*scenario.planned(), scenario.horizon_s]
    return {"published_s": edges[step], "until_s": edges[step + 1]}


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
