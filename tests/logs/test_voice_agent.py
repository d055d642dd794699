"""The walk of docs/how-to/label-a-sample.md: a log without references, a judge, a sample, a person, a number, the truth."""

from __future__ import annotations

import importlib.util
import json
import random
import re
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamdecisionbench as sdb_api
from streamdecisionbench.labels.label_files import (
    AuditFolder,
    import_labels,
)
from tests.cli.command import sdb

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "labels" / "voice_agent.py"


def voice_agent() -> ModuleType:
    found = importlib.util.spec_from_file_location("voice_agent", EXAMPLE)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything up to the answers, by the commands of the page."""
    folder = tmp_path_factory.mktemp("voice")
    (folder / "voice_agent.py").write_text(EXAMPLE.read_text())
    voice_agent().make(folder)
    assert "reference" not in pq.read_schema(folder / "voice.parquet").names
    for command in (
        "logs judge voice.parquet --with python:voice_agent:judge --out silver.parquet --quiet",
        "logs sample voice.parquet --silver silver.parquet --moments 300 --out audit --quiet",
        "logs sample voice.parquet --moments 300 --out plain --quiet",
    ):
        done = sdb(*command.split(), cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "accura" not in done.stdout
    for audit in ("audit", "plain"):
        voice_agent().answers(folder / audit, folder / f"{audit}.csv")
        import_labels(AuditFolder.open(folder / audit), folder / f"{audit}.csv")
    return folder


def truth(folder: Path) -> float:
    found = sdb_api.score_log(
        folder / "voice.parquet", references=str(folder / "truth.parquet"), resamples=0
    )
    assert found.groups[0].in_force is not None
    return found.groups[0].in_force


def estimated(folder: Path, audit: str) -> dict[str, object]:
    done = sdb("logs", "estimate", audit, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    group = json.loads(done.stdout)["groups"][0]
    assert isinstance(group, dict)
    return group


def test_the_estimate_is_near_the_truth_and_silver_is_worth_hundreds_of_answers(
    walked: Path,
) -> None:
    right = truth(walked)
    helped, plain = (estimated(walked, name) for name in ("audit", "plain"))
    widths = []
    for group in (helped, plain):
        low, high = group["interval_95"]  # type: ignore[misc]
        assert low < right < high
        assert group["labels"] < 330  # type: ignore[operator]
        widths.append(high - low)
    assert widths[0] < 0.7 * widths[1]
    assert helped["silver"]["saved"] > 300  # type: ignore[index]
    assert helped["streams_drawn"] < helped["streams"] == 300  # type: ignore[operator]


def test_labels_where_a_second_model_disagrees_are_what_not_to_do(walked: Path) -> None:
    """Sixty of them: far below the truth, with an interval that does not know it."""
    at = ("stream", "published_at")
    decided, silver, right = (
        {(row[at[0]], row[at[1]]): row[column] for row in pq.read_table(walked / name).to_pylist()}
        for name, column in (
            ("voice.parquet", "decision"),
            ("silver.parquet", "decision"),
            ("truth.parquet", "reference"),
        )
    )
    picked = random.Random(1).sample([k for k in decided if decided[k] != silver[k]], 60)
    table = pa.table(
        {
            "stream": [stream for stream, _ in picked],
            "published_at": [published for _, published in picked],
            "reference": [right[key] for key in picked],
        }
    )
    group = sdb_api.score_log(walked / "voice.parquet", references=table).groups[0]
    assert group.in_force is not None
    assert group.in_force < truth(walked) - 0.4
    # Our own file of sampled references says that it is one.
    sdb("logs", "estimate", "audit", cwd=walked)
    done = sdb(
        "logs", "score", "voice.parquet", "--references", "audit/references.parquet", cwd=walked
    )
    assert "references of a sample" in done.stdout


def test_the_screen_fits_a_terminal_and_says_it_in_words(walked: Path) -> None:
    done = sdb("logs", "estimate", "audit", "--within", "3", cwd=walked)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for words in ("% in force (95 %:", "from 300 moments", "±3 points", "answers of 1 person",
                  "one person answered", "silver says what people say", "sessions like these"):  # fmt: skip
        assert words in done.stdout.replace("\n", " ")


@pytest.mark.parametrize("within", ["0", "-1", "60", "nan"])
def test_a_width_that_is_none_is_refused(walked: Path, within: str) -> None:
    done = sdb("logs", "estimate", "audit", "--within", within, cwd=walked)
    assert done.returncode == 2
    assert "--within" in done.stderr


@pytest.mark.parametrize("moments", ["0", "-3", "many", "1.5", ""])
def test_a_number_of_moments_that_is_none_is_refused(walked: Path, moments: str) -> None:
    done = sdb("logs", "sample", "voice.parquet", "--moments", moments, "--out", "new", cwd=walked)
    assert done.returncode == 2
    assert "--moments" in done.stderr
    assert not (walked / "new").exists()


def test_what_the_page_prints_is_what_is_printed(walked: Path) -> None:
    page = (EXAMPLE.parents[2] / "how-to" / "label-a-sample.md").read_text(encoding="utf-8")
    shown = sdb("logs", "estimate", "audit", cwd=walked).stdout
    for line in shown.splitlines():
        if line[:5] in ("77.3 ", "all  ", "curre", "judgm", "stale", "314 o"):
            assert line.rstrip() in page, line
    assert f"says {100 * truth(walked):.1f}." in page


def test_a_larger_sample_takes_over_what_was_answered(walked: Path) -> None:
    """Only what is new is left, and the interval is as narrow as was promised."""
    more = estimated(walked, "audit")["more_moments"]
    assert isinstance(more, int)
    command = (
        "logs sample voice.parquet --silver silver.parquet --out larger --answers audit --quiet"
    )
    done = sdb(*command.split(), "--moments", str(300 + more), cwd=walked)
    assert done.returncode == 0, done.stderr
    assert "314 answers of ana taken over" in done.stdout
    larger = AuditFolder.open(walked / "larger")
    answered = larger.said(larger.read_labels())
    agent = voice_agent()
    assert all(agent.right(larger.items[name].state) == c.decision for name, c in answered.items())
    assert len(larger.items) - len(answered) < 1.1 * more
    agent.answers(walked / "larger", walked / "larger.csv")
    import_labels(larger, walked / "larger.csv")
    low, high = estimated(walked, "larger")["interval_95"]  # type: ignore[misc]
    assert low < truth(walked) < high
    assert (high - low) / 2 == pytest.approx(0.02, rel=0.15)


def test_the_agents_own_table_from_csv_to_figures(tmp_path: Path) -> None:
    """docs/how-to/map-your-table.md: the draft, the mapping, the reviewers' words, and what they spell differently."""
    page = (EXAMPLE.parents[2] / "how-to" / "map-your-table.md").read_text(encoding="utf-8")
    for name, text in re.findall(
        r"```(?:sql|python)\n(?:--|#) (\w+\.(?:sql|py))\n(.*?)```", page, re.S
    ):
        (tmp_path / name).write_text(text)
    voice_agent().make_table(tmp_path)
    drafted = sdb("logs", "check", "calls.csv", "--write-mapping", "draft.sql", cwd=tmp_path)
    assert drafted.returncode == 0, drafted.stderr
    score = ["logs", "score", "calls.csv", "--json", "--by", "release", "--sql"]
    reviews = ["--references", "reviews.csv", "--references-sql", "reviews.sql"]
    rules = ["--reference", "python:agent_rules:reference"]
    found = {}
    for sql in ("draft.sql", "mapping.sql"):
        done = sdb(*score, sql, *reviews, *(rules if sql == "mapping.sql" else []), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found[sql] = json.loads(done.stdout)
    told = "`hand_off` is a reference in 45 rows and never a decision: spelled differently?"
    assert told in found["draft.sql"]["notes"]
    assert told in page.replace("\n", " ")
    assert not any("spelled" in note for note in found["mapping.sql"]["notes"])
    assert [o["states"] for o in found["mapping.sql"]["references"]["origins"]] == [0, 705, 1429]
    causes = found["mapping.sql"]["differences"][0]["causes"]
    assert causes["latency"]["value"] < -0.15 < -0.02 < causes["judgment"]["value"]
    # Which sessions, and the gate that fails and says latency, in the page's own words.
    worst = sdb(
        "logs", "show", "calls.csv", "--sql", "mapping.sql", *rules, "--worst", "3", cwd=tmp_path
    )
    assert len(re.findall(r"^call-\d+: wrong", worst.stdout, re.MULTILINE)) == 3, worst.stderr
    shown = re.search(r"```sh\nsdb (gate calls.csv .*?)\n```\n\n```\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    gate = sdb(*shown[1].split(), cwd=tmp_path)
    assert gate.returncode == 1, gate.stderr
    assert gate.stdout.startswith(shown[2])
