"""A recording in a world whose run record is damaged: every reader works or refuses it in words."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import sdb
from tests.mutations import ODD

CART = """
def right(observation):
    return int(observation[2] > 0)
"""
VALUES = [
    *ODD, [1, 1], [True], [-1], [2**64], ["1"], [1, 2], [1.0], 30, 31, 10**9, "gym:", "gym:CartPole-v1",
    "gym:Nowhere-v0", "gym::", "support", "python:", "python::", "free", "inf", "\ud800",
]  # fmt: skip
COMMANDS: list[tuple[str, ...]] = [
    ("analyze", "outcomes"), ("analyze", "propagation"), ("score",), ("validate",), ("analyze", "spells"),
    ("logs", "export", "--out", "x.parquet"), ("choose", "--interval", "2"), ("analyze", "window"),
]  # fmt: skip


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("lived")
    (home / "damaged_cart.py").write_text(CART)
    run = ("baseline:constant", "--clock", "virtual", "--steps", "30", "--quiet")
    gym = ("gym:CartPole-v1", "--reference", "python:damaged_cart:right")
    for words in (
        ("world", "run", *gym, *run, "--out", home / "gym"),
        ("world", "run", "debugging", *run, "--out", home / "family"),
    ):
        done = sdb(*words, cwd=home)
        assert done.returncode == 0, done.stderr
    return home


def read(
    home: Path, base: str, record: dict[str, Any], folder: Path, words: tuple[str, ...]
) -> str:
    """What a command says of the recording with this run record; it ends with 0 or 2."""
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps(record))
    for name in ("events.jsonl", "suite"):
        if not (folder / name).exists():
            (folder / name).symlink_to(home / base / name)
    analyzed = words[-1] in ("outcomes", "propagation") and base == "gym"
    allow = ("--allow-import", "python:damaged_cart:right") if analyzed else ()
    for file in home.glob("x.parquet"):
        file.unlink()
    done = sdb(*words, folder, *allow, cwd=home)
    assert done.returncode in (0, 2), done.stderr
    return "" if done.returncode == 0 else done.stderr


@pytest.mark.parametrize(
    ("base", "field"),
    [
        *(
            ("gym", field)
            for field in ("name", "seeds", "steps", "right", "reference", "frames", "")
        ),
        *(
            ("family", field)
            for field in ("name", "seeds", "steps", "right", "wording", "interval_s")
        ),
    ],
)
def test_every_field_with_every_kind_of_value(
    base: str, field: str, lived: Path, tmp_path: Path
) -> None:
    honest = json.loads((lived / base / "run.json").read_text())
    for k, value in enumerate([*VALUES, "missing"]):
        record = copy.deepcopy(honest)
        at, key = record["config"]["world"], field
        if field in ("", "interval_s"):
            at, key = record["config"], field or "world"
        if value == at[key]:
            continue
        if value == "missing":
            del at[key]
        else:
            at[key] = value
        for words in (COMMANDS[0], COMMANDS[1 + k % (len(COMMANDS) - 1)]):
            said = read(lived, base, record, tmp_path / "run", words)
            assert not said or "fix: " in said, (value, said)


def test_the_message_names_the_field(lived: Path, tmp_path: Path) -> None:
    honest = json.loads((lived / "family" / "run.json").read_text())
    for field, value in (("seeds", "1"), ("steps", None), ("name", 7), ("wording", [])):
        record = copy.deepcopy(honest)
        record["config"]["world"][field] = value
        said = " ".join(read(lived, "family", record, tmp_path / "run", ("score",)).split())
        assert f"run.json: config.world.{field} is {value!r}" in said
        assert "fix: restore run.json" in said


def test_a_world_of_more_steps_than_were_recorded_is_not_played(
    lived: Path, tmp_path: Path
) -> None:
    record = json.loads((lived / "gym" / "run.json").read_text())
    record["config"]["world"]["steps"] = 10**12
    said = read(lived, "gym", record, tmp_path / "run", ("analyze", "outcomes"))
    assert "config.world.seeds and .steps are not those of the recorded sessions" in said
