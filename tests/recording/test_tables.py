"""Imported tables become recordings like any other, and say what they cannot know."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.published_tables import Correction, import_tables, read_table
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.suite_files import read_suite
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


def test_spreadsheets_put_a_mark_in_front(tmp_path: Path) -> None:
    gold = _table(tmp_path / "gold.csv", GOLD)
    gold.write_bytes(b"\xef\xbb\xbf" + gold.read_bytes())
    assert list(read_table(gold).rows) == ["call_a"]


def test_a_table_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_table(path)


@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
def test_times_that_are_none(tmp_path: Path, value: str) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(HEAD + f"call_a,0,0,0,{value},1,1,100,10,0,route=talk\n")
    with pytest.raises(InputError, match="line 2: received_s is not a time"):
        read_table(path)


@pytest.mark.parametrize("correction", [("nobody", 1, 0), ("call_a", 4, 0), ("call_a", 0, -1)])
def test_a_correction_of_a_step_that_is_not_there(
    tmp_path: Path, correction: tuple[str, int, int]
) -> None:
    gold = _table(tmp_path / "gold.csv", GOLD)
    out = tmp_path / "out"
    with pytest.raises(InputError, match="correction"):
        import_tables(gold, [gold], out, corrections=[Correction(*correction)])
    assert not out.exists()


def test_every_table_needs_a_folder_of_its_own(tmp_path: Path) -> None:
    gold = _table(tmp_path / "gold.csv", GOLD)
    taken = _table(tmp_path / "suite.csv", GOLD)
    for tables in ([gold, gold], [taken]):
        with pytest.raises(InputError, match="taken"):
            import_tables(gold, tables, tmp_path / "out")
        assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="is a file"):
        import_tables(gold, [gold], gold)


def _refused(tmp_path: Path, text: str, *, name: str = "bad.csv") -> str:
    """What `sdb import` says of a table; nothing may be written."""
    gold = _table(tmp_path / "gold.csv", GOLD)
    bad = tmp_path / name
    bad.write_text(text)
    done = sdb("import", bad, "--reference", gold, "--out", tmp_path / "in" / "out")
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "in").exists()
    return " ".join(done.stderr.split())


def test_odd_tables_are_refused_by_line(tmp_path: Path) -> None:
    good = _table(tmp_path / "good.csv", GOLD).read_text()
    first, *rest = good.splitlines(keepends=True)[1:]
    assert "line 2: is cut off: no decision" in _refused(
        tmp_path, HEAD + "call_a,0,0,0,1,1,1,1,1,1\n"
    )
    assert "more cells" in _refused(tmp_path, HEAD + first.strip() + ",more\n")
    assert "field limit" in _refused(tmp_path, HEAD + first.replace("on", "o" * 140_000))
    assert "has no 'route'" in _refused(
        tmp_path, HEAD + "".join([first, *rest]).replace("route=hold|rec=on|act=back", "rec=on")
    )
    assert "holds more_b" in _refused(tmp_path, good + first.replace("call_a", "more_b"))
    assert "no id of a scenario" in _refused(tmp_path, good.replace("call_a", "../../x"))
    assert "no id of a scenario" in _refused(tmp_path, good.replace("call_a", "call\0a"))
    assert "which is no count" in _refused(tmp_path, good.replace(",100,", ",-100,"))
    assert "no name of a recording" in _refused(tmp_path, good, name="...csv")


def test_families_and_single_options_of_tables_are_readable(tmp_path: Path) -> None:
    """Whatever decisions a table shows, the suite made of it can be read again."""
    for number, decisions in enumerate((["a=b"] * 3, ["a=none"] * 3, ["a=x: y|b=z"] * 3)):
        gold = _table(tmp_path / f"gold{number}.csv", decisions)
        gold.write_text(gold.read_text().replace("call_a", "overall_x"))
        suite, _ = import_tables(gold, [gold], tmp_path / f"out{number}")
        assert read_suite(tmp_path / f"out{number}" / "suite") == suite
