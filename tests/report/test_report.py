"""`sdb report`: everything in one folder, twice the same, and never over somebody else's files."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.render.formats import (
    NUMERAL,
    escape_markdown,
)
from streamdecisionbench.render.output_folder import (
    MARKER,
    fill,
)
from streamdecisionbench.render.table import fixed
from streamdecisionbench.report.write_report import write_report
from streamdecisionbench.suite.suite_files import write_suite
from tests.cli.command import record_simulated, sdb
from tests.report import kit

pytestmark = pytest.mark.slow

Done = subprocess.CompletedProcess[str]


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two real recordings of a stored suite, made on the virtual clock."""
    home = tmp_path_factory.mktemp("recorded")
    write_suite(kit.suite(title="<script>alert(1)</script>"), home / "suite")
    for name in ("jev", "terra-none"):
        record_simulated(name, home / name, "--data", home / "suite")
    return home


@pytest.fixture(scope="module")
def whole(recorded: Path) -> tuple[Path, Done]:
    """A report with everything in it, and what the command said."""
    out = recorded / "report"
    done = sdb("report", recorded / "jev", recorded / "terra-none", "--out", out)
    assert done.returncode == 0, done.stderr
    return out, done


def _answers(page: Path) -> dict[float, list[str]]:
    """What the page recommends at every interval it has an answer for."""
    data = r'<script type="application/json" id="data">(.*?)</script>'
    found = re.search(data, page.read_text(), re.S)
    assert found is not None
    return {answer["d"]: answer["lines"] for answer in json.loads(found.group(1))["answers"]}


def _unaccounted(folder: Path, without: str = "") -> set[str]:
    """Numbers of report.md that numbers.json neither holds nor states, names and digests aside."""
    document = json.loads((folder / "numbers.json").read_text())
    known = {n["printed"] for n in document["numbers"] if not without or without not in n["name"]}
    for lines in document["stated"].values():
        known |= {numeral for line in lines for numeral in NUMERAL.findall(line)}
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", (folder / "report.md").read_text())
    for name in (document["sdb"], *(escape_markdown(r["name"]) for r in document["recordings"])):
        text = text.replace(name, " ")
    return {
        f"{numeral} in {line[:200]}"
        for line in text.splitlines()
        for numeral in NUMERAL.findall(line)
        if numeral not in known
    }


def test_every_number_of_the_text_is_in_numbers_json(whole: tuple[Path, Done]) -> None:
    out, _ = whole
    assert _unaccounted(out) == set()
    assert _unaccounted(out, without="main."), "a number that is left out must be missed"
    document = json.loads((out / "numbers.json").read_text())
    assert document["schema"] == "sdb-numbers/1"
    names = [n["name"] for n in document["numbers"]]
    assert len(set(names)) == len(names) > 300
    for one in document["numbers"]:
        assert one["command"].startswith("sdb ")
        assert one["formula"]
        assert set(one["recordings"]) <= {"jev", "terra-none"}
        assert one["printed"] == fixed(one["value"], one["digits"]), one["name"]
    scores = json.loads((out / "scores.json").read_text())["recordings"]
    by_name = {n["name"]: n for n in document["numbers"]}
    for score in scores:
        found = by_name[f"main.{score['name'].replace('-', '_')}_sim.macro"]
        assert found["value"] == pytest.approx(100 * score["overall"]["log_auc"], abs=1e-9)
        assert (found["unit"], found["recordings"]) == ("%", [score["name"]])


def test_every_number_is_a_latex_command(whole: tuple[Path, Done]) -> None:
    out, _ = whole
    lines = (out / "numbers.tex").read_text().splitlines()
    made = [re.fullmatch(r"\\newcommand\{\\(Sdb[A-Za-z]+)\}\{(-?[\d.]+)\} % .+", x) for x in lines]
    assert all(made)
    commands = [found[1] for found in made if found]
    assert len(set(commands)) == len(commands)
    assert len(lines) == len(json.loads((out / "numbers.json").read_text())["numbers"])


@pytest.mark.parametrize("count", [1, 10])
def test_every_number_of_the_text_is_there_for_one_and_for_many(count: int, tmp_path: Path) -> None:
    material = kit.material(count)
    with pytest.MonkeyPatch.context() as patch:
        kit.in_haste(patch)
        write_report([(e.recording, e.suite) for e in material.entries], tmp_path, formats=())
    assert _unaccounted(tmp_path) == set()


def test_everything_is_there_and_a_second_run_changes_no_byte(
    recorded: Path, whole: tuple[Path, Done]
) -> None:
    out, done = whole
    assert "figure pace_curves" in done.stderr
    assert "Simulation" in done.stdout
    first = _contents(out)
    for name in (
        "index.html", "report.md", "scores.json", "compose.json", "numbers.json", "numbers.tex", "tables/main.tex",
        "tables/main.csv", "tables/main.md", "tables/differences.csv", "tables/all.tex", "figures/trajectory.svg",
        "figures/pace_curves.pdf", "figures/pace_curves.png", "figures/pace_curves.csv",
    ):  # fmt: skip
        assert first[name], name
    assert json.loads(first["scores.json"])["schema"] == "sdb-score/1"
    assert json.loads(first["compose.json"])["schema"] == "sdb-compose/1"
    assert b"<script>alert" not in first["index.html"]
    text = first["report.md"].decode()
    assert "(sim.)" in text
    for figure in ("trajectory", "error_time", "pace_curves", "latency_map", "separability"):
        assert f"](figures/{figure}.svg)" in text
    again = sdb("report", recorded / "jev", recorded / "terra-none", "--out", out)
    assert again.returncode == 0, again.stderr
    assert _contents(out).keys() == first.keys()
    # A PDF's objects come in an order of their own every time, and the marker has their digests.
    for name in first.keys() - {MARKER}:
        assert name.endswith(".pdf") or (out / name).read_bytes() == first[name], name


def test_options(recorded: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    done = sdb(
        "report", recorded / "jev", recorded / "terra-none", "--out", out, "--no-pairs",
        "--formats", "svg", "--interval", "1", "--bounds", "1", "4", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    names = set(_contents(out))
    assert "compose.json" not in names
    assert not any(name.endswith((".png", ".pdf")) for name in names)
    scores = json.loads((out / "scores.json").read_text())["recordings"]
    assert (scores[0]["interval"], scores[0]["bounds"]) == (1.0, [1.0, 4.0])
    _require_words_of(_answers(out / "index.html")[1.0], out / "report.md")


def test_a_folder_of_somebody_else_is_left_alone(recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    done = sdb("report", recorded / "jev", "--out", tmp_path)
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(_contents(tmp_path)) == ["thesis.tex"]


def test_an_earlier_report_is_replaced_and_files_beside_it_stay(tmp_path: Path) -> None:
    fill(tmp_path, {"a.txt": b"1", "figures/b.svg": b"2"})
    (tmp_path / "mine.txt").write_text("keep")
    fill(tmp_path, {"a.txt": b"3"})
    assert _contents(tmp_path).keys() == {"a.txt", "mine.txt", MARKER}
    assert (tmp_path / "a.txt").read_bytes() == b"3"


def test_a_marker_cannot_name_files_elsewhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("keep")
    out = tmp_path / "report"
    fill(out, {"a.txt": b"1"})
    (out / "notes.txt").write_text("mine")
    marker = json.loads((out / MARKER).read_text())
    marker["files"] |= dict.fromkeys(("../outside.txt", str(outside), "notes.txt"), "0" * 64)
    (out / MARKER).write_text(json.dumps(marker))
    fill(out, {"b.txt": b"2"})
    assert outside.read_text() == "keep"
    assert (out / "notes.txt").read_text() == "mine", "listed, but not what a report wrote"
    assert not (out / "a.txt").exists()


def test_what_others_put_there_stays_and_links_are_not_written_through(tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text("keep")
    out = tmp_path / "report"
    fill(out, {"index.html": b"1", "tables/a.csv": b"1"})
    (out / "index.html").unlink()
    (out / "index.html").symlink_to(target)
    (out / "tables" / "mine.txt").write_text("mine")
    (out / "own").mkdir()
    (out / "own" / "deep.txt").write_text("deep")
    (out / "own" / "link").symlink_to(target)
    fill(out, {"index.html": b"2"})
    assert target.read_text() == "keep"
    assert (out / "index.html").read_bytes() == b"2"
    assert not (out / "index.html").is_symlink()
    assert not (out / "tables" / "a.csv").exists()
    assert (out / "tables" / "mine.txt").read_text() == "mine"
    assert (out / "own" / "deep.txt").read_text() == "deep"
    assert (out / "own" / "link").readlink() == target
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


_KILLED = """
import os, sys
from pathlib import Path
from streamdecisionbench.render import output_folder as folder
real = folder.{name}
def dies(*given):
    {before}
    os._exit(9)
folder.{name} = dies
folder.fill(Path(sys.argv[1]), {{"index.html": b"new", "more.txt": b"new"}})
"""


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("_write", "real(*given)", b"old"),
        ("_keep_others", "pass", b"old"),
        ("_put", "pass", b"old"),
        ("_put", "real(*given)", b"new"),
    ],
)
def test_a_killed_report_leaves_the_earlier_one_or_the_new_one(
    tmp_path: Path, name: str, before: str, after: bytes
) -> None:
    out = tmp_path / "report"
    fill(out, {"index.html": b"old", "gone.txt": b"old"})
    (out / "mine.txt").write_text("mine")
    script = _KILLED.format(name=name, before=before)
    done = subprocess.run([sys.executable, "-c", script, str(out)], check=False)
    assert done.returncode == 9
    found = {key: value for key, value in _contents(out).items() if key != MARKER}
    old = {"index.html": b"old", "gone.txt": b"old", "mine.txt": b"mine"}
    new = {"index.html": b"new", "more.txt": b"new", "mine.txt": b"mine"}
    assert found == (old if after == b"old" else new)
    fill(out, {"index.html": b"again"})
    assert sorted(_contents(out)) == [MARKER, "index.html", "mine.txt"]
    assert [p.name for p in tmp_path.iterdir()] == ["report"], "nothing is left beside it"


def test_a_folder_somebody_stands_in_stays_that_folder(tmp_path: Path) -> None:
    out = tmp_path / "report"
    fill(out, {"index.html": b"old", "gone.txt": b"old"})
    place = out.stat().st_ino
    with contextlib.chdir(out):
        fill(Path(), {"index.html": b"new"})
    assert out.stat().st_ino == place
    assert sorted(_contents(out)) == [MARKER, "index.html"]
    assert (out / "index.html").read_bytes() == b"new"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--formats", "gif"], "gif"),
        (["--bounds", "4", "1"], "bounds"),
        (["--interval", "0"], "interval"),
    ],
)
def test_bad_input_is_one_message(
    recorded: Path, tmp_path: Path, arguments: list[str], word: str
) -> None:
    done = sdb("report", recorded / "jev", "--out", tmp_path / "report", *arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "report").exists()


def test_two_suites_do_not_mix(tmp_path: Path) -> None:
    one, two = kit.suite(), kit.suite(title="another")
    with pytest.raises(InputError, match="one report per suite"):
        write_report(
            [(kit.recording(one, "a", 1), one), (kit.recording(two, "b", 2), two)], tmp_path / "r"
        )


def test_recordings_of_different_scenarios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit.in_haste(monkeypatch)
    source = kit.suite()
    whole, part = kit.recording(source, "whole", 1), kit.recording(source, "part", 2)
    half = type(part)(
        part.name, part.run, {k: v for k, v in part.episodes.items() if k.startswith("support")}
    )
    write_report([(whole, source), (half, source)], tmp_path / "r", formats=())
    text = (tmp_path / "r" / "report.md").read_text()
    assert "cover other scenarios: part" in text
    main = (tmp_path / "r" / "tables" / "main.md").read_text()
    assert "| part | – |" in main


def test_page_text_and_command_say_the_same(recorded: Path, whole: tuple[Path, Done]) -> None:
    out, _ = whole
    answers = _answers(out / "index.html")
    for interval in ("0.64", "2", "6"):
        said = sdb(
            "choose", recorded / "jev", recorded / "terra-none", "--interval", interval, "--json"
        )
        words = json.loads(said.stdout)["result"]["words"]
        assert words[:-1] == answers[float(interval)]
        assert words[-1].startswith("It stays the choice")
    _require_words_of(answers[2.0], out / "report.md")


def _require_words_of(answer: list[str], text: Path) -> None:
    written = text.read_text()
    for line in answer:
        assert escape_markdown(line) in written
    assert any("prove nothing" in line for line in answer)


def test_without_the_drawing_libraries_everything_but_figures_is_there(
    recorded: Path, tmp_path: Path
) -> None:
    """In a process of its own: what is imported already could not be missed here."""
    program = (
        "import sys\n"
        "sys.modules['vl_convert'] = None\n"
        "from streamdecisionbench.cli.main import main\n"
        "main()\n"
    )
    out = tmp_path / "plain"
    done = subprocess.run(
        [sys.executable, "-c", program, "report", recorded / "jev", "--out", out],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "pip install 'streamdecisionbench[report]'" in done.stderr
    names = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}
    assert {"index.html", "report.md", "scores.json", "tables/main.csv"} <= names
    assert not any(name.startswith("figures/") for name in names)
    page = (out / "index.html").read_text()
    assert "What to choose" in page
    assert "](figures/" not in (out / "report.md").read_text()
