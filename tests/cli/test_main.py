"""The command itself: how it starts, what it prints where, and how it ends when something is in the way."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamdecisionbench.cli.main import COMMON, JOBS, MODULES, MOVED
from streamdecisionbench.cli.printing import dump
from streamdecisionbench.cli.record_options import OPTIONS
from streamdecisionbench.cli.usage import MOVED_OPTIONS
from streamdecisionbench.gate.pytest_plugin import Bench
from streamdecisionbench.suite.suite_files import read_suite
from tests.cli.command import sdb

pytestmark = pytest.mark.slow

START = [sys.executable, "-m", "streamdecisionbench"]
GROUPS = ("suite", "audit", "policy", "logs", "analyze")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    done = sdb(
        "run", "simulated:jev", "--clock", "virtual", "--scenarios", "support_a,presenter_a",
        "--out", folder / "jev", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("group", ["", *GROUPS])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_short_to_ask_for_and_not_cut(group: str, flag: str) -> None:
    done = sdb(*([group] if group else []), flag)
    assert done.returncode == 0, done.stderr
    text = done.stdout.replace("[ARGS]...", "")
    assert "..." not in text
    assert max(map(len, text.splitlines())) <= 80
    if not group:
        for name in MODULES:
            assert (f"\n  {name} " in text) is (name in COMMON)


def test_help_is_by_job() -> None:
    short = sdb("--help").stdout
    text = sdb("--help", "--all").stdout
    assert all(f"\n  {name} " in text for name in MODULES)
    assert "`sdb --help --all` lists all commands." in short
    titles = [line[:-1] for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles == [
        "Options", "My model", "My logs", "My CI", "My service", "Suites and authors",
        "The paper's analyses",
    ]  # fmt: skip
    assert list(JOBS) == titles[1:]
    assert text.index("My CI:") < text.index("\n  gate ") < text.index("My service:")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("logs label", "`sdb label`"),
        ("suite describe", "`sdb suite stats` or `sdb suite show`"),
        ("scroe x", "`sdb score`"),
        ("logs scores x", "`sdb logs score`"),
        ("estimate", "`sdb logs estimate`"),
        ("leaderboard", "`sdb share board`"),
        ("analyse", "`sdb analyze`"),
        ("policy scroe", "`sdb policy score`"),
    ],
)
def test_a_near_miss_is_told_what_was_meant(typed: str, meant: str) -> None:
    done = sdb(*typed.split())
    assert done.returncode == 2
    assert f"did you mean {meant}?" in done.stderr
    assert " has no command " in done.stderr


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_a_command_that_moved_names_its_new_place(old: str, new: str) -> None:
    done = sdb(*old.split(), "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: `sdb {old}` is now `sdb {new}`\n  fix: type `sdb {new}`\n"
    assert sdb(*new.split(), "--help").returncode == 0


def test_what_is_near_nothing_is_told_where_to_look() -> None:
    done = sdb("analyze", "\x1b[31mxyzzy")
    assert (done.returncode, "did you mean" in done.stderr) == (2, False)
    assert "`sdb analyze --help` lists what there is" in done.stderr
    assert "\x1b" not in done.stderr


def test_families_have_short_names_wherever_they_are_taken(tmp_path: Path) -> None:
    """In runs, generated suites, the probe's options, banks, and a component's own tests."""
    run = ("run", "baseline:first-option", "--clock", "virtual", "--quiet", "--limit", "2")
    done = sdb(*run, "--families", "support,debugging", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    named = json.loads((tmp_path / "run" / "run.json").read_text())["config"]["scenarios"]
    assert named == ["debugging_a", "debugging_b", "support_a", "support_b"]
    made = ("suite", "generate", "--seed", "3", "--per-family", "1", "--families")
    for name, family in (("short", "assembly"), ("long", "procedural_coaching")):
        done = sdb(*made, family, "--out", tmp_path / name)
        assert done.returncode == 0, done.stderr
    both = [read_suite(tmp_path / name).dataset_hash for name in ("short", "long")]
    assert both[0] == both[1]
    assert sdb("audit", "bank", "presenter", "--out", tmp_path / "bank").returncode == 0
    assert list(Bench(tmp_path, {"families": ["support"]})("simulated:jev").by_scenario) == [
        "support_a", "support_b",
    ]  # fmt: skip
    unknown = sdb(*run, "--families", "suport", "--out", tmp_path / "no")
    assert (unknown.returncode, "the suite has no family suport" in unknown.stderr) == (2, True)


def test_the_package_is_the_command() -> None:
    done = subprocess.run([*START, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sdb ")


def test_shells_can_complete_it() -> None:
    done = subprocess.run(
        START, capture_output=True, text=True, check=False,
        env={**os.environ, "_SDB_COMPLETE": "complete_bash", "COMP_WORDS": "sdb cho", "COMP_CWORD": "1"},
    )  # fmt: skip
    named = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'sdb'; from streamdecisionbench.cli.main import main; main()"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "_SDB_COMPLETE": "complete_bash", "COMP_WORDS": "sdb cho", "COMP_CWORD": "1"},
    )  # fmt: skip
    assert "choose" in named.stdout, (done.stdout, named.stderr)
    assert "score" not in named.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_any_output_encoding_will_do(runs: Path, encoding: str) -> None:
    for words in (
        ["score", str(runs / "jev")],
        ["choose", str(runs / "jev"), "--interval", "2", "--resamples", "50"],
        ["suite", "show", "support_a"],
        ["score", str(runs / "jev"), "--json"],
    ):
        done = sdb(*words, encoding=encoding)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        if words[-1] == "--json":
            assert json.loads(done.stdout)["schema"] == "sdb-score/1"


def test_the_encoding_of_a_process_will_do(runs: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    words = ["suite", "show", "support_a"]
    done = subprocess.run([*START, *words], capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert b"Traceback" not in done.stderr


def test_programs_get_every_sign_whatever_the_encoding(tmp_path: Path) -> None:
    folder = tmp_path / "ünïcode"
    done = sdb(
        "run", "simulated:jev", "--clock", "virtual", "--scenarios", "support_a", "--out", folder,
        "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    said = subprocess.run(
        [*START, "score", str(folder), "--json"], capture_output=True, check=True, env=environment
    )
    assert json.loads(said.stdout)["recordings"][0]["name"] == "ünïcode"
    table = subprocess.run(
        [*START, "analyze", "pace", str(folder), "--csv"], capture_output=True, check=True,
        env=environment,
    )  # fmt: skip
    assert "ünïcode" in table.stdout.decode("utf-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]])
def test_a_full_disk_behind_the_output_is_said(runs: Path, form: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*START, "score", str(runs / "jev"), *form],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "error: standard output: No space left on device" in done.stderr
    assert "fix: make room" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["suite", "export", "--out", "OUT"],
        ["suite", "build", "--out", "OUT"],
        ["audit", "export", "support_a", "--out", "OUT"],
        ["merge", "RUN/jev", "RUN/other", "--out", "OUT"],
        ["report", "RUN/jev", "--formats", "", "--quiet", "--out", "OUT"],
        ["share", "bundle", "RUN/jev", "--out", "OUT.zip"],
        ["run", "simulated:jev", "--clock", "virtual", "--quiet", "--out", "OUT"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_disk_that_takes_no_more_names_the_file(
    runs: Path, tmp_path: Path, words: list[str]
) -> None:
    """A limit on file sizes stands for a full disk: writing fails in the middle of a file.

    Of bytecode too, and Python would go on to read the half it kept; so these write none.
    """
    if not (runs / "other").exists():
        sdb(
            "run", "simulated:jev", "--clock", "virtual", "--scenarios", "support_b",
            "--out", runs / "other", "--quiet",
        )  # fmt: skip
    out = tmp_path / "out"
    command = [w.replace("OUT", str(out)).replace("RUN", str(runs)) for w in words]
    done = subprocess.run(
        [sys.executable, "-B", *START[1:], *command], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if words[0] != "share":  # which packs a suite it first writes to a temporary folder
        assert str(out) in done.stderr.replace(".out.merging", "out")
    assert "cannot be written" in done.stderr
    assert "fix:" in done.stderr
    assert "File too large" in done.stderr


@pytest.mark.parametrize("both", [False, True])
def test_a_pipe_nobody_reads_changes_no_verdict(tmp_path: Path, both: bool) -> None:
    """What a command has to say ends with its own exit code, whether somebody listens or not."""
    assert sdb("audit", "export", "support_a", "--out", tmp_path / "blind").returncode == 0
    sheet = json.loads((tmp_path / "blind" / "answers.template.json").read_text())
    for entry in sheet["steps"]:
        entry["answers"] = dict.fromkeys(entry["answers"], "K01")
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps(sheet))
    for words, code in (
        (["suite", "show", "support_a"], 0),
        (["suite", "stats", "--json"], 0),
        (["audit", "check", "support_a", str(answers)], 1),
        (["suite", "show", "no_such"], 2),
    ):
        unheard, pipe = os.pipe()
        os.close(unheard)
        done = subprocess.run(
            [*START, *words], stdout=pipe, stderr=pipe if both else subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        os.close(pipe)
        assert done.returncode == code, (words, done.stderr)
        assert both or "Traceback" not in done.stderr


def test_what_is_no_number_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    dump({"a": [float("nan"), float("inf"), 1.5], 2: {"b": -float("inf")}, "c": True})
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {
        "a": [None, None, 1.5], "2": {"b": None}, "c": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("option", "value"),
    [("--seed", 2**63), ("--seed", -1), ("--resamples", -1), ("--resamples", 1)],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, option: str, value: int) -> None:
    log = tmp_path / "log.csv"
    log.write_text("stream,published_at,answered_at,decision,reference\ns,0,1,x,x\ns,2,3,y,x\n")
    for words in (["logs", "score", log], ["gate", log, "--baseline", log]):
        done = sdb(*words, option, str(value))
        assert done.returncode == 2
        assert option in done.stderr


@pytest.mark.realtime
def test_ctrl_c_is_quiet_from_the_first_line_of_ours_on(runs: Path) -> None:
    """Python's own start prints what it likes; a traceback through our code is ours."""
    codes = set()
    for k in range(16):
        process = subprocess.Popen(
            [*START, "score", str(runs / "jev")],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        time.sleep(0.025 * k)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert "streamdecisionbench/cli" not in said, said
        if "Traceback" not in said:
            codes.add(process.returncode)
    assert codes <= {-signal.SIGINT, 130, 0}
    assert codes & {-signal.SIGINT, 130}


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", ["", "run", "sweep", "world run", "choose", "logs score"])
def test_help_follows_the_width_of_the_terminal(command: str, columns: int) -> None:
    lines = sdb(*command.split(), "--help", "--all", COLUMNS=str(columns)).stdout.splitlines()
    assert columns - 20 < max(map(len, lines)) <= columns


def test_help_of_run_shows_common_options_in_groups_and_all_on_request() -> None:
    short, full = sdb("run", "--help").stdout, sdb("run", "--help", "--all").stdout
    titles = [line[:-1] for line in short.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles[1:7] == [
        "What to record", "Pace and clock", "Component", "Live pair or policy", "Output", "Other",
    ]  # fmt: skip
    assert 12 <= short.count("\n  --") <= 18
    assert full.count("\n  --") == len(OPTIONS) - 1  # all but --intervals, which is of `sdb sweep`
    assert f"lists {len(OPTIONS) - 1 - short.count(chr(10) + '  --')} more options" in short
    assert "more options" not in full


@pytest.mark.parametrize(
    ("typed", "what", "fix"),
    [
        ("score", "sdb score needs RUN", "add RUN"),
        ("gate x", "sdb gate needs --baseline", "add --baseline"),
        ("run --out x", "COMPONENT is missing", "name provider:model"),
        ("run a:b --limt 3", "sdb run has no option --limt", "did you mean --limit?"),
        ("run a:b --limit x", "sdb run: --limit: ", "`sdb run --help` lists"),
        ("run a:b --limit", "sdb run: ", "`sdb run --help` lists"),
        ("run a:b c:d", "sdb run: got unexpected extra argument", "`sdb run --help` lists"),
        ("--nothing", "sdb has no option --nothing", "`sdb --help` lists"),
        ("policy search x", "`sdb policy search` is now `sdb choose --frontier`", "type"),
        *(
            (f"{command} x {option} y", f"{command} {option} is now ", "use ")
            for command, options in [("sdb run", MOVED_OPTIONS["sdb run"])]
            for option in options
            if "--server" not in options[option][1]
        ),
        ("run x --hourly-usd 2", "is now the key hourly_usd of --server", "--server FILE"),
        ("run x:y --streams 1,2 --out x", "--streams takes one number here", "`sdb sweep"),
        ("sweep baseline:random --out x", "a sweep needs several", "--intervals 0.5,1,2,4"),
    ],
)
def test_errors_in_use_have_a_fix(typed: str, what: str, fix: str) -> None:
    done = sdb(*typed.removeprefix("sdb ").split())
    assert done.returncode == 2
    error, _, advice = done.stderr.partition("\n  fix: ")
    assert error.startswith("error: ")
    assert what in error
    assert fix in advice
    assert "Usage:" not in done.stderr


def test_no_option_that_moved_is_still_there() -> None:
    shown = sdb("run", "--help", "--all").stdout
    assert not [name for name in MOVED_OPTIONS["sdb run"] if f"{name} " in shown]
