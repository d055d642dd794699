"""Imported tables become recordings like any other, and say what they cannot know."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.tables import Correction, import_tables, read_table
from streamdecisionbench.scoring.score import score
from tests.cli.command import sdb

HEAD = "episode,t,release_s,started_s,received_s,completed_s,recorded_s,input_tokens,output_tokens,reasoning_tokens,decision\n"


def _table(path: Path, decisions: list[str], latency: float = 0.5) -> Path:
    rows = []
    for t, decision in enumerate(decisions):
        start, end = 2.0 * t, 2.0 * t + latency
        rows.append(f"call_a,{t},{start},{start},{end},{end},{end},100,10,0,{decision}\n")
    path.write_text(HEAD + "".join(rows))
    return path


GOLD = [
    "route=talk|rec=on",
    "route=hold|rec=on|act=wait",
    "route=hold|rec=on|act=back",
    "route=talk|rec=on",
]


def test_import_and_score(tmp_path: Path) -> None:
    gold = _table(tmp_path / "gold.csv", GOLD)
    other = _table(tmp_path / "other.csv", [GOLD[0], GOLD[1], GOLD[1], GOLD[3]])
    suite, folders = import_tables(gold, [gold, other], tmp_path / "out")
    scenario = suite.scenarios["call_a"]
    assert scenario.decision_spec.route_question == "route"
    assert scenario.decision_spec.always == ("rec",)
    assert scenario.decision_spec.branches == {"talk": (), "hold": ("act",)}
    found = [score(read_recording(folder, suite), suite) for folder in folders]
    assert [s.untimed for s in found] == [1.0, 0.75]
    assert found[0].in_force == pytest.approx(1 - 4 * 0.5 / 8)
    assert found[0].answers is not None
    assert found[0].answers["call_a"].exact_match is None


def test_correction(tmp_path: Path) -> None:
    gold = _table(tmp_path / "gold.csv", GOLD)
    suite, _ = import_tables(
        gold, [gold], tmp_path / "out", corrections=[Correction("call_a", 2, 1)]
    )
    assert suite.scenarios["call_a"].changes() == [1, 3]


def test_command(tmp_path: Path) -> None:
    gold = _table(tmp_path / "gold.csv", GOLD)
    out = tmp_path / "out"
    assert sdb("import", gold, "--reference", gold, "--out", out).returncode == 0
    assert sdb("validate", out / "suite").returncode == 0
    assert sdb("validate", out / "gold").returncode == 0
    assert sdb("score", out / "gold").returncode == 0
    again = sdb("import", gold, "--reference", gold, "--out", out)
    assert again.returncode == 2
    assert "fresh" in again.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "has no column"),
        (HEAD, "holds no rows"),
        (HEAD + "x,1,0,0,0,0,0,1,1,1,route=a\n", "t is 1, expected 0"),
        (HEAD + "x,0,zero,0,0,0,0,1,1,1,route=a\n", "number cannot be read"),
        (HEAD + "x,0,0,0,0,0,0,1,1,1,route\n", "key=value"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_table(path)


@pytest.mark.parametrize("text", ["x", "a:b=c", ":1=2", "a:1"])
def test_bad_corrections(text: str) -> None:
    with pytest.raises(InputError, match="not understood"):
        Correction.parse(text)
