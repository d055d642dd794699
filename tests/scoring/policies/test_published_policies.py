"""The table of policies on published recordings in docs/reference/policies.md is what the scorer prints."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.policies.cost_file import default_costs
from streamdecisionbench.policies.policy_file import (
    Cascade,
    ConfidenceGate,
    Debounce,
    Dispatch,
    Expire,
    Policy,
)
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.error_costs import (
    path_measures_along,
    wrong_time,
)
from streamdecisionbench.scoring.policy_answers import answers_of
from streamdecisionbench.scoring.policy_replay import PolicyReplay
from streamdecisionbench.scoring.policy_score import score_policy_recordings
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import read_suite
from tests.cli.command import sdb

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PARTS = {
    "plain": Policy(),
    "TTL 3 s": Policy(expire=Expire(3.0)),
    "TTL 6 s": Policy(expire=Expire(6.0)),
    "debounce 2": Policy(debounce=Debounce(2)),
    "one at a time": Policy(dispatch=Dispatch("one-at-a-time")),
    "latest, limit 1": Policy(dispatch=Dispatch("latest", 1)),
    "latest, limit 2": Policy(dispatch=Dispatch("latest", 2)),
}


Published = tuple[Suite, dict[str, Recording]]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = os.environ.get("SDB_PUBLISHED")
    if not folder:
        pytest.skip("SDB_PUBLISHED is not set: published recordings are not at hand")
    tables = Path(folder) / "recordings"
    out = tmp_path_factory.mktemp("published") / "out"
    done = sdb(
        "import", tables / "astra-low.csv", tables / "jev.csv", "--reference",
        tables / "astra-low.csv", "--correct", "assembly_a:32=31", "--out", out,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    suite = read_suite(out / "suite")
    return suite, {name: read_recording(out / name, suite) for name in ("astra-low", "jev")}


@pytest.mark.parametrize("name", PARTS)
def test_the_table_in_the_docs(name: str, published: Published) -> None:
    from dataclasses import replace

    suite, runs = published
    astra, jev = runs["astra-low"], runs["jev"]
    pair = replace(PARTS[name], cascade=Cascade(("jev", "astra-low")))
    cells: list[str] = []
    for policy, who in ((PARTS[name], [astra]), (PARTS[name], [jev]), (pair, [jev, astra])):
        found = score_policy_recordings(policy, who, suite, interval=2.0)
        assert found.log_auc is not None
        cells += [f"{100 * found.in_force:.1f}", f"{100 * found.log_auc:.1f}"]
        cells.append(str(sum(found.counts.requests)))
    text = (ROOT / "docs" / "reference" / "policies.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {re.escape(name)} \| (.*) \|$", text, re.MULTILINE)
    assert row.split(" | ") == cells


@pytest.mark.parametrize("name", PARTS)
def test_the_table_of_costs_in_the_docs(name: str, published: Published) -> None:
    from dataclasses import replace

    suite, runs = published
    astra, jev = (answers_of(runs[n], suite) for n in ("astra-low", "jev"))
    pair = replace(PARTS[name], cascade=Cascade(("jev", "astra-low")))
    cells: list[str] = []
    for policy, who in ((PARTS[name], [astra]), (PARTS[name], [jev]), (pair, [jev, astra])):
        bounds = Bounds(1.99, 2.01)
        played = PolicyReplay(policy, who)
        path, sweep = played.trajectory(2.0), played.sweep(bounds)
        found = wrong_time(path_measures_along(path, sweep, who[0].parts, bounds), default_costs())
        spells = found.spells.overall
        cells += [f"{found.cost.overall.at_interval.total:.2f}", f"{spells.mean_age_s:.2f}"]
        cells.append(str(spells.count))
    text = (ROOT / "docs" / "reference" / "policies.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {re.escape(name)}, cost \| (.*) \|$", text, re.MULTILINE)
    assert row.split(" | ") == cells


def test_no_confidence_is_invented_for_them(published: Published) -> None:
    suite, runs = published
    with pytest.raises(InputError, match="jev: its answers carry no confidences"):
        score_policy_recordings(Policy(gate=ConfidenceGate(0.5)), [runs["jev"]], suite)
