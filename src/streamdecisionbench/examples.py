"""A suite of one tiny scenario and a recording of it, small enough to check by hand."""

from __future__ import annotations

from streamdecisionbench.recording.event_log import Release, Response
from streamdecisionbench.recording.recording import Episode, Recording
from streamdecisionbench.suite.scenario import (
    SCHEMA_VERSION,
    DecisionSpec,
    Question,
    Scenario,
    Step,
    Suite,
)
from streamdecisionbench.suite.suite_files import make_suite

_LABELS = {"K01": "record", "K02": "pause"}
_GOLD = ("record", "record", "pause", "record")
_ANSWERS = ("record", "record", "pause", "pause")
_LATENCY_S = (0.4, 0.4, 0.8, 0.8)


def example_suite() -> Suite:
    """A recorder that must pause while card digits are read out: four steps of two seconds."""
    question = Question(
        type="choice",
        instructions="Pause the recorder while card digits are being read out.",
        criteria={"K01": "record: keep recording", "K02": "pause: pause the recorder"},
    )
    scenario = Scenario(
        schema_version=SCHEMA_VERSION,
        episode_id="tiny",
        task_family="support_call_assist",
        scenario_id="tiny",
        title="Four steps of a payment call",
        tick_seconds=2.0,
        questions={"recorder": question},
        option_semantics={"recorder": dict(_LABELS)},
        decision_spec=DecisionSpec("recorder", (), {"record": (), "pause": ()}),
        steps=tuple(
            Step(
                t=t,
                state={"clock": {"now": t}, "digits_read_out": value == "pause"},
                gold={"recorder": value},
            )
            for t, value in enumerate(_GOLD)
        ),
    )
    return make_suite([scenario], name="example")


def example_recording() -> Recording:
    """One pass over it: three of four answers right, each 0.4 or 0.8 s late."""
    suite = example_suite()
    responses = []
    for t, (value, latency) in enumerate(zip(_ANSWERS, _LATENCY_S, strict=True)):
        start, end = 2.0 * t, 2.0 * t + latency
        responses.append(
            Response(
                episode_id="tiny",
                t=t,
                release_s=start,
                request_hash="",
                ok=True,
                accepted=True,
                started_s=start,
                received_s=end,
                pred={"recorder": value},
                completed_s=end,
                actual_recorded_s=end,
                accepted_s=end,
                decision={"recorder": value},
            )
        )
    releases = tuple(Release("tiny", t, 2.0 * t, 2.0 * t) for t in range(len(_GOLD)))
    episode = Episode("tiny", releases, (), tuple(responses))
    return Recording(
        "example", {"dataset_manifest": {"dataset_hash": suite.dataset_hash}}, {"tiny": episode}
    )
