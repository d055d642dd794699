"""No file makes a command import a module: only the command line names code.

A canary module is in the current folder and on the module path. Its name is put wherever a recording, a
bundle, a suite, a policy, a cost file, a price table, a score or an audit could name code. All commands
that read such files then run in one process, which notes every import.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.cli.main import MODULES, _read, functions_of
from streamdecisionbench.examples import example_suite
from streamdecisionbench.suite.suite_files import write_suite
from tests.cli.command import record_simulated, sdb
from tests.labels.test_labels import make_audit

CANARY = """
import pathlib
import gymnasium

pathlib.Path({ran!r}).write_text("the canary was imported")


def right(observation):
    x, v, angle, spin = observation
    return int(angle + 0.5 * spin + 0.05 * v + 0.01 * x > 0)


class Decider:
    def answer(self, request):
        return {{name: next(iter(q["criteria"])) for name, q in request.questions.items()}}


gymnasium.register(id="Canary-v0", entry_point="gymnasium.envs.classic_control.cartpole:CartPoleEnv")
"""
SPELLINGS = (
    "canary", "canary:right", "python:canary:right", "python:canary:Decider", "gym:canary:Canary-v0",
    "canary:Canary-v0",
)  # fmt: skip

IN_ONE_PROCESS = """
import json, subprocess, sys
from pathlib import Path

sys.path[:0] = [{modules!r}]
seen = []
sys.addaudithook(lambda event, words: seen.append(words[0]) if event == "import" else None)

from streamdecisionbench.watch.live_sources import WatchedRecording
from tests.cli.command import sdb

def watched(folder):
    # What `sdb watch` reads for its page, which it would serve until it is stopped.
    source = WatchedRecording(Path(folder))
    source.poll()
    return subprocess.CompletedProcess("", 0, json.dumps(source.facts(), default=str), "")

for words in json.loads(Path({commands!r}).read_text()):
    seen.clear()
    done = watched(*words[1:]) if words[0] == "watch" else sdb(*words)
    named = sorted(name for name in map(str, seen) if name.split(".")[0] == "canary")
    print(json.dumps([words, done.returncode, done.stdout[-300:] + done.stderr[-1000:], named]), flush=True)
"""


def run_all(commands: list[list[str]], cwd: Path) -> list[tuple[list[str], int, str, list[str]]]:
    """Every command in one process, in a folder that holds the canary: how it ended, what it imported."""
    listed = cwd / "commands.json"
    listed.write_text(json.dumps(commands))
    home = str(Path(__file__).resolve().parents[1])
    script = IN_ONE_PROCESS.format(modules=str(cwd / "modules"), commands=str(listed))
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(1, {home!r})\n{script}"],
        cwd=cwd, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Honest files of every kind; a recording in an environment that the canary module registers."""
    home = tmp_path_factory.mktemp("canary")
    for place in (home, home / "modules"):
        place.mkdir(exist_ok=True)
        (place / "canary.py").write_text(CANARY.format(ran=str(home / "ran")))
    suite = example_suite()
    write_suite(suite, home / "suite")
    lived = ("world", "run")
    how = ("baseline:constant", "--steps", "30", "--quiet", "--out")
    canary = ("gym:canary:Canary-v0", "--reference", "python:canary:right")
    plain = ("gym:CartPole-v1", "--reference", "python:canary:right")
    for words in (
        (*lived, *canary, *how, home / "gym"),
        (*lived, *plain, *how, home / "cart"),
        (*lived, "debugging", *how, home / "family"),
        (*lived, "debugging", *how, home / "unhurried"),
    ):
        clock = "paused" if words[-1] == home / "unhurried" else "virtual"
        done = sdb(*words, "--clock", clock, cwd=home)
        assert done.returncode == 0, done.stderr
    on = ("--data", home / "suite")
    record_simulated("jev", home / "jev", *on)
    record_simulated("luna-low", home / "luna", *on)
    make_audit(home / "audit")
    (home / "answers.csv").write_text("item,answer,by\ni0001,hold,canary\n")
    (home / "score.json").write_text(sdb("score", home / "jev", *on, "--json").stdout)
    (home / "policy.toml").write_text(
        '[cascade]\ncomponents = ["python:canary:Decider", "simulated:jev"]\n'
    )
    (home / "alone.toml").write_text("[expire]\nafter_s = 3.0\n# python:canary:right\n")
    (home / "costs.toml").write_text('title = "python:canary:right"\n')
    (home / "prices.json").write_text('{"currency": "python:canary:right"}')
    _plant(home)
    (home / "ran").unlink()
    return home


def _plant(home: Path) -> None:
    """The canary's name where only people read it, in all recordings and in the suite's manifest."""
    for name in ("jev", "luna", "family", "gym", "cart"):
        file = home / name / "run.json"
        record = json.loads(file.read_text())
        for key in ("model", "provider", "effort", "imported_from", "policy_name"):
            record["config"][key] = "python:canary:Decider"
        record["config"]["settings"] = {"target": "python:canary:right", "module": "canary"}
        record["environment"]["versions"]["canary"] = "python:canary:right"
        file.write_text(json.dumps(record))
    for file in home.rglob("manifest.json"):
        manifest = json.loads(file.read_text())
        manifest["generator"] = {"log": "canary", "reference": "python:canary:right"}
        manifest["generation"] = {"families": ["canary"], "wording": "canary"}
        file.write_text(json.dumps(manifest))


EXEMPT = {
    "demo": "reads nothing", "providers": "reads nothing", "serve": "reads nothing",
    "suite build": "reads the code it is told to", "suite generate": "reads nothing",
    "audit bank": "reads nothing", "audit readings": "needs filled sheets", "audit probe": "reads nothing",
    "audit check": "needs a filled sheet", "logs estimate": "needs answers",
    "logs judge": "asks the component it is told to",
}  # fmt: skip


def commands_in(home: Path) -> list[list[str]]:
    gym, cart, family, jev, luna = (str(home / n) for n in ("gym", "cart", "family", "jev", "luna"))
    data = ["--data", str(home / "suite")]
    found = [["validate", data[1]], ["validate", gym]]
    for name, one, more in (
        ("gym", gym, []), ("cart", cart, []), ("family", family, []), ("jev", jev, data),
    ):  # fmt: skip
        found += [
            ["score", one, *more],
            ["watch", one],
            ["report", one, *more, "--out", f"report-{name}", "--formats", "", "--quiet"],
            ["share", "bundle", one, *more, "--out", f"{name}.zip"],
            ["share", "verify", f"{name}.zip"],
            ["share", "board", f"{name}.zip", "--out", f"board-{name}"],
            ["choose", one, *more, "--interval", "2"],
            ["diff", one, luna if one == jev else str(home / "unhurried"), *more],
            ["gate", one, "--baseline", one, *more],
            ["logs", "export", one, *more, "--out", f"log-{name}.parquet"],
            *(["logs", job, f"log-{name}.parquet"] for job in ("score", "check", "pace")),
            ["logs", "show", f"log-{name}.parquet"],
            ["policy", "score", "policy.toml", one, *more],
            ["policy", "score", "alone.toml", one, *more],
            ["choose", one, *more, "--interval", "2", "--frontier"],
            ["merge", one, one, "--out", f"merged-{name}"],
            ["compose", one, *more],
            ["analyze", "outcomes", one, *more, "--unhurried", str(home / "unhurried")],
            ["analyze", "cost-of-error", one, *more, "--costs", "costs.toml"],
            ["analyze", "cost", one, *more, "--prices", "prices.json"],
        ]  # fmt: skip
        analyses = functions_of("analyze")
        found += [["analyze", job, one, *more] for job in analyses if job != "baselines"]
    found += [["suite", job, *data] for job in ("list", "check", "coverage", "stats")]
    found += [
        ["suite", "show", "tiny", *data], ["suite", "export", *data, "--out", "exported"],
        ["analyze", "baselines", *data], ["compose", "--fast", jev, "--slow", luna, *data],
        ["gate", "score.json", "--baseline", "score.json"], ["policy", "show", "policy.toml"],
        ["audit", "export", "tiny", *data, "--out", "blind"], ["audit", "shortcuts", *data],
        ["audit", "record", "score.json"], ["label", "audit", "--import", "answers.csv"],
        ["label", "audit", "--csv", "sheet.csv"], ["import", "score.json", "--reference", "score.json", "--out", "imported"],
        ["logs", "convert", "log-jev.parquet", "--from", "canary", "--out", "again.parquet"],
        ["logs", "suite", "log-jev.parquet", "--out", "suite-of-log"],
        ["logs", "import", "log-jev.parquet", "--out", "run-of-log"],
        ["logs", "sample", "log-jev.parquet", "--out", "sampled"],
        ["run", "--policy", "policy.toml", *data, "--clock", "virtual", "--out", "by-policy"],
        ["run", "--policy", "policy.toml", *data, "--resume", "--out", jev],
        ["world", "run", "debugging", "baseline:constant", "--resume", "--out", gym],
        ["sweep", "--policy", "policy.toml", *data, "--streams", "1,2", "--clock", "virtual", "--out", "swept"],
    ]  # fmt: skip
    return found


def test_every_command_that_reads_files_is_tried(folder: Path) -> None:
    tried = {" ".join(words[:2]) for words in commands_in(folder)}
    tried |= {words[0] for words in commands_in(folder)}
    for command in MODULES:
        jobs = functions_of(command)
        is_group = _read(command)[1] is not None
        names = [f"{command} {job}" for job in jobs] if is_group else [command]
        assert not [name for name in names if name not in tried and name not in EXEMPT]


def test_no_file_makes_a_command_import_what_it_names(folder: Path) -> None:
    allowed = [
        word
        for name in ("gym:canary:Canary-v0", "python:canary:right")
        for word in ("--allow-import", name)
    ]
    half = ["analyze", "outcomes", str(folder / "gym"), *allowed[2:]]
    named = [
        ["analyze", "outcomes", str(folder / "cart"), *allowed[2:]],
        ["analyze", "propagation", str(folder / "gym"), *allowed],
        ["report", str(folder / "gym"), "--out", "named", "--formats", "", "--quiet", *allowed],
    ]
    ended = run_all([*commands_in(folder), half], folder)
    for words, code, said, imported in ended:
        assert imported == [], words
        assert code in (0, 1, 2), (words, said)
        assert "Usage:" not in said, (words, said)
    assert not (folder / "ran").exists()
    done = {" ".join(words[:2]) for words, code, *_ in ended if code == 0}
    assert {"analyze cost", "suite coverage", "policy show"} <= done, "some of it works"
    for job in ("outcomes", "propagation"):
        ((_, code, said, _),) = [e for e in ended if e[0] == ["analyze", job, str(folder / "gym")]]
        assert code == 2
        plain = " ".join(said.split())
        assert "gym/run.json: config.world names code" in plain
        assert "--allow-import gym:canary:Canary-v0 --allow-import python:canary:right" in plain
    report = (folder / "report-gym" / "report.md").read_text()
    assert "--allow-import" in report
    for words, code, said, imported in run_all(named, folder):
        assert code == 0, said
        assert "canary" in imported or words is not named[0]
    assert (folder / "ran").exists(), "the canary sings when the command line names it"
    assert "--allow-import" not in (folder / "named" / "report.md").read_text()
    (folder / "ran").unlink()


def _leaves(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        return [place, *(leaf for key, part in parts for leaf in _leaves(part, (*place, key)))]
    return [place]


def test_no_place_in_a_run_record_names_code(folder: Path) -> None:
    """The canary's name in every place of `run.json`, whatever stands there, one at a time."""
    commands = []
    for base in ("gym", "family"):
        record = json.loads((folder / base / "run.json").read_text())
        places = [p for p in _leaves(record) if p and p[:2] != ("dataset_manifest", "episodes")]
        for k, place in enumerate(places):
            changed = json.loads(json.dumps(record))
            at = changed
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = SPELLINGS[k % len(SPELLINGS)]
            copy = folder / f"{base}-{k}"
            copy.mkdir()
            (copy / "run.json").write_text(json.dumps(changed))
            for name in ("events.jsonl", "suite"):
                (copy / name).symlink_to(folder / base / name)
            again = base == "gym" or place[:2] == ("config", "world")
            commands.append([*(["analyze", "outcomes"] if again else ["score"]), str(copy)])
    for words, code, said, imported in run_all(commands, folder):
        assert imported == [], words
        assert code in (0, 2), (words, said)
    assert not (folder / "ran").exists()


def test_a_policy_names_a_class_only_if_the_command_line_does(folder: Path) -> None:
    run = ("run", "--policy", "policy.toml", "--data", "suite", "--clock", "virtual", "--quiet")
    done = sdb(*run, "--out", "refused", cwd=folder)
    assert done.returncode == 2
    assert "policy.toml: cascade.components names python:canary:Decider" in done.stderr
    name = "python:canary:Decider"
    done = sdb(*run, "--member", f"{name}={name}", "--out", "named-member", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "ran").unlink()
