"""The suite inside Inspect AI: a real run with its mock provider, its log read by its own reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

pytestmark = pytest.mark.slow

SCENARIO = "presenter_a"


def test_a_run_with_the_mock_provider(tmp_path: Path) -> None:
    """Right in the first half, not even JSON in three states, the alphabet's first label elsewhere."""
    pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed")
    # Seconds to import, and every worker imports every file of tests.
    from inspect_ai import eval as inspect_eval
    from inspect_ai.log import list_eval_logs, read_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from streamdecisionbench.inspect_task import TIMING, sdb_suite

    scenario = read_suite(builtin_suite_path()).scenarios[SCENARIO]
    at = {json.dumps(scenario.steps[t].state, sort_keys=True): t for t in range(scenario.n)}

    def answer(messages: list[Any], *_: object) -> ModelOutput:
        asked = json.loads(messages[-1].text)
        t = at[json.dumps(asked["state"], sort_keys=True)]
        labels = {name: min(q["criteria"]) for name, q in asked["questions"].items()}
        if t < scenario.n // 2:
            labels = scenario.encode(scenario.steps[t].gold)
        text = "not JSON" if t in (1, 2, 3) else json.dumps(labels)
        output = ModelOutput.from_content("mockllm/model", text)
        # Without a usage the mock would count tokens with an encoding it fetches from a host.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    (log,) = inspect_eval(
        sdb_suite(scenarios=SCENARIO, interval=1.0),
        model=get_model("mockllm/model", custom_outputs=answer),
        log_dir=str(tmp_path), display="none",
    )  # fmt: skip
    assert log.status == "success", log.error
    again = read_eval_log(list_eval_logs(str(tmp_path))[0])
    assert again.results is not None
    metrics = {name: m.value for name, m in again.results.scores[0].metrics.items()}
    assert set(metrics) == {"log_auc", "in_force", "untimed"}
    right = scenario.n // 2 - 3
    assert metrics["untimed"] == pytest.approx(right / scenario.n)
    # The mock answers at once, so nearly nothing is lost to latency; three states keep the answer
    # of the one before them, which may still be right.
    assert right / scenario.n - 0.02 <= metrics["in_force"] <= 0.5
    assert again.eval.metadata is not None
    assert again.eval.metadata["timing"] == TIMING
    assert again.samples is not None
    assert len(again.samples) == scenario.n
    notes = [s.scores["decision"].explanation for s in again.samples if s.scores]
    assert sum("not a JSON object" in str(note) for note in notes) == 3
