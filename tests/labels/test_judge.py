"""Silver from a component: every state asked once, as `sdb run` asks, and never called right."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamdecisionbench as sdb_api
from streamdecisionbench.labels.label_files import AuditFolder
from streamdecisionbench.labels.sample import (
    draw_sample,
    write_audit,
)
from tests.cli.command import sdb
from tests.labels.made_audits import answer, audited_rows, audited_table, label
from tests.labels.test_sample import MANY
from tests.logs.made_logs import table_of

STRONG = '''
import json
from pathlib import Path

from streamdecisionbench.components.contract import ComponentInfo

RIGHT = json.loads(Path("right.json").read_text())

def judge(request):
    """Knows what is right; refuses after as many answers as the file `stop` says."""
    asked = Path("asked.txt")
    done = asked.read_text().splitlines() if asked.exists() else []
    stop = Path("stop")
    if stop.exists() and len(done) >= int(stop.read_text()):
        raise RuntimeError("no credit left")
    key = json.dumps(request.state, sort_keys=True)
    with asked.open("a") as file:
        file.write(key + "\\n")
    found = {}
    for name, question in request.questions.items():
        wanted = RIGHT[key][name]
        found[name] = next(k for k, v in question["criteria"].items() if v.split(":")[0] == wanted)
    return found

class Elsewhere:
    info = ComponentInfo(provider="python", model="elsewhere", in_process=False, base_url_host="127.0.0.1")

    def answer(self, request):
        return judge(request)

class Paid(Elsewhere):
    info = ComponentInfo(provider="python", model="paid", in_process=False, base_url_host="api.example.com")
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log, and a component that knows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strong.py").write_text(STRONG)
    pq.write_table(audited_table(MANY).drop_columns(["reference"]), "log.parquet")
    right = {
        json.dumps({"stream": k, "step": i}, sort_keys=True): {"decision": y}
        for k, stream in enumerate(MANY)
        for i, y in enumerate(stream.references)
    }
    Path("right.json").write_text(json.dumps(right))
    return tmp_path


@pytest.mark.parametrize("who", ["python:strong:judge", "python:strong:Elsewhere"])
def test_every_state_is_asked_once_and_the_answers_are_a_log_of_the_same_streams(
    here: Path, who: str
) -> None:
    done = sdb(
        "logs",
        "judge",
        "log.parquet",
        "--with",
        who,
        "--out",
        "silver.parquet",
        "--quiet",
        cwd=here,
    )
    assert done.returncode == 0, done.stderr
    asked = Path("asked.txt").read_text().splitlines()
    assert len(asked) == len(set(asked)) == sum(len(s.times) for s in MANY)
    silver = pq.read_table("silver.parquet")
    log = pq.read_table("log.parquet")
    assert silver.num_rows == log.num_rows
    found = {(row["stream"], row["published_at"]): row["decision"] for row in silver.to_pylist()}
    assert found == {
        (f"s{k}", at): y
        for k, s in enumerate(MANY)
        for at, y in zip(s.times, s.references, strict=True)
    }
    score = sdb_api.score_log("log.parquet", references="silver.parquet", resamples=0)
    assert score.references.kind == "silver"
    truth = sdb_api.score_log(table_of(_judged_rows()), resamples=0)
    assert score.groups[0].in_force == pytest.approx(truth.groups[0].in_force, abs=1e-12)
    assert sdb("logs", "check", "silver.parquet", cwd=here).returncode == 0
    assert "accura" not in done.stdout.lower()
    assert "not what is right" in done.stdout
    # What was recorded stays as evidence; nobody can take its references for some.
    assert Path("silver.parquet.recording/events.jsonl").exists()
    assert not Path("silver.parquet.states").exists()
    assert sdb("score", "silver.parquet.recording", cwd=here).returncode == 2


def _judged_rows() -> list[dict[str, object]]:
    return [
        {
            **row,
            "reference": MANY[int(row["stream"][1:])].references[json.loads(row["state"])["step"]],
        }
        for row in audited_rows(MANY)
    ]


def test_what_was_begun_is_gone_on_with_and_nothing_is_asked_twice_that_is_whole(
    here: Path,
) -> None:
    Path("stop").write_text("70")
    command = (
        "logs",
        "judge",
        "log.parquet",
        "--with",
        "python:strong:judge",
        "--out",
        "s.jsonl",
        "--quiet",
    )
    first = sdb(*command, cwd=here)
    assert first.returncode == 2
    assert "no credit" not in first.stdout
    assert not Path("s.jsonl").exists()
    Path("stop").unlink()
    again = sdb(*command, cwd=here)
    assert again.returncode == 2  # what is there is not given up in silence
    done = sdb(*command, "--resume", cwd=here)
    assert done.returncode == 0, done.stderr
    asked = Path("asked.txt").read_text().splitlines()
    # The first fifty are one scenario and kept; the twenty after them are asked again.
    assert len(asked) == sum(len(s.times) for s in MANY) + 20
    assert len(set(asked[:50]) & set(asked[50:])) == 0
    assert len(Path("s.jsonl").read_text().splitlines()) == pq.read_table("log.parquet").num_rows


def test_only_what_people_are_asked_and_how_far_it_agrees_with_them(here: Path) -> None:
    sample, items = draw_sample("log.parquet", moments=30)
    write_audit(here / "audit", sample, items)
    truth = dict(answer(MANY, items))
    truth |= {name: "a" if truth[name] == "b" else "b" for name in list(truth)[:4]}
    label(here / "audit", truth)
    done = sdb(
        "logs", "judge", "log.parquet", "--with", "python:strong:judge", "--out", "silver.csv",
        "--audit", "audit", "--quiet", cwd=here,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(Path("asked.txt").read_text().splitlines()) == len(items)
    assert f"agrees with people on {len(items) - 4} of {len(items)} items" in done.stdout


def test_text_states_and_decisions_that_are_objects(here: Path) -> None:
    rows = [
        {
            **row,
            "state": f"said {k % 4}",
            "decision": row["decision"] and f'{{"do":"{row["decision"]}","n":{k % 2}}}',
        }
        for k, row in enumerate(audited_rows(MANY))
    ]
    pq.write_table(table_of(rows).drop_columns(["reference"]), "texts.parquet")
    right = {f'{{"state": "said {k}"}}': {"do": "ab"[k % 2], "n": str(k % 2)} for k in range(4)}
    Path("right.json").write_text(json.dumps(right))
    done = sdb(
        "logs",
        "judge",
        "texts.parquet",
        "--with",
        "python:strong:judge",
        "--out",
        "s.parquet",
        "--quiet",
        cwd=here,
    )
    assert done.returncode == 0, done.stderr
    assert len(Path("asked.txt").read_text().splitlines()) == 4
    assert set(pq.read_table("s.parquet")["decision"].to_pylist()) == {
        '{"do":"a","n":0}', '{"do":"b","n":1}'
    }  # fmt: skip
    sample, _ = draw_sample("texts.parquet", silver="s.parquet", moments=40)
    assert {one.says for one in sample.strata} >= {"right", "wrong"}


def test_timestamps_stay_timestamps(here: Path) -> None:
    table = pq.read_table("log.parquet")
    for name in ("published_at", "answered_at", "ended_at"):
        micro = [None if v is None else round(v * 1e6) for v in table[name].to_pylist()]
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, pa.array(micro, pa.timestamp("us", "UTC")))
    pq.write_table(table, "times.parquet")
    done = sdb(
        "logs",
        "judge",
        "times.parquet",
        "--with",
        "python:strong:judge",
        "--out",
        "s.parquet",
        "--quiet",
        cwd=here,
    )
    assert done.returncode == 0, done.stderr
    assert (
        sdb_api.score_log("times.parquet", references="s.parquet", resamples=0)
        .groups[0]
        .judged_share
        == 1
    )
    assert pq.read_schema("s.parquet").field("answered_at").type == pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["log.parquet", "--with", "simulated:jev", "--out", "s.parquet"], "draws its answers"),
        (["log.parquet", "--with", "python:strong:judge", "--out", "log.parquet"], "is there already"),
        (["log.parquet", "--with", "python:strong:judge", "--out", "silver"], "is no name for a log"),
        (["bare.parquet", "--with", "python:strong:judge", "--out", "s.parquet"], "no column 'state'"),
        (["log.parquet", "--with", "python:strong:judge", "--out", "s.parquet", "--audit", "."],
         "is no audit"),
        (["log.parquet", "--with", "nobody:x", "--out", "s.parquet"], "no provider is called"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused(here: Path, arguments: list[str], message: str) -> None:
    pq.write_table(pq.read_table("log.parquet").drop_columns(["state"]), "bare.parquet")
    done = sdb("logs", "judge", *arguments, cwd=here)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(here.glob("s.parquet*"))


def test_an_audit_of_another_log_is_said(here: Path) -> None:
    sample, items = draw_sample(
        table_of([{**r, "state": f"x{k}"} for k, r in enumerate(audited_rows(MANY))]), moments=20
    )
    write_audit(here / "audit", sample, items)
    assert AuditFolder.open(here / "audit").items
    done = sdb(
        "logs",
        "judge",
        "log.parquet",
        "--with",
        "python:strong:judge",
        "--out",
        "s.parquet",
        "--audit",
        "audit",
        cwd=here,
    )
    assert done.returncode == 2
    assert "holds no state of" in done.stderr


def test_what_is_paid_for_is_estimated_and_confirmed_first(here: Path) -> None:
    command = (
        "logs",
        "judge",
        "log.parquet",
        "--with",
        "python:strong:Paid",
        "--out",
        "s.parquet",
        "--quiet",
    )
    asked = sdb(*command, cwd=here)
    assert asked.returncode == 2
    assert "150 requests, about" in asked.stderr
    assert "costs money" in asked.stderr
    assert not Path("asked.txt").exists()
    assert not list(here.glob("s.parquet*"))
    done = sdb(*command, "--yes", cwd=here)
    assert done.returncode == 0, done.stderr
    assert len(Path("asked.txt").read_text().splitlines()) == 150
