"""Files are regular and whole, or there is one message."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.digest import digest
from streamdecisionbench.suite.file_io import (
    DEEPEST,
    make_folder,
    read_bytes,
    read_json,
    read_text,
    write_bytes,
    write_text,
)
from tests.cli.command import sdb


def test_a_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_text(path, '{"a": "é"}')
    assert read_json(path) == {"a": "é"}
    write_bytes(path, b"\xef\xbb\xbftext")
    assert read_text(path) == "text"
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match="pipe or a device"):
            read_bytes(path)


@pytest.mark.parametrize("name", ["events.jsonl", "run.json"])
def test_a_recording_of_pipes_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "run.json").write_text('{"status": "complete", "dataset_manifest": {}}')
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    done = sdb("score", tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read_bytes(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_bytes(tmp_path / "nothing")
    with pytest.raises(InputError, match="cannot be read"):
        read_bytes("a\0b")
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match="not UTF-8"):
        read_text(tmp_path / "latin")


@pytest.mark.parametrize(
    "data",
    [b"\x1f\x8b\x08\x00gzip", b'{"a\xff": 1}', b'"\\ud800"', b"1e999", b"NaN", b"[", b""],
    ids=["gzip", "utf-8 in a key", "lone surrogate", "too large", "NaN", "torn", "empty"],
)
def test_what_is_no_json_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(InputError, match="not valid JSON"):
        read_json(tmp_path / "x.json")


@pytest.mark.parametrize("levels", [DEEPEST + 1, 975, 100_000])
@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}")])
def test_deep_json_is_refused(tmp_path: Path, levels: int, opens: str, closes: str) -> None:
    inner = "[" + "1" + "]" if opens == "[" else "1"
    (tmp_path / "x.json").write_text(opens * levels + inner + closes * levels)
    with pytest.raises(InputError, match="100 levels"):
        read_json(tmp_path / "x.json")


def test_the_deepest_json_that_is_read_has_a_digest(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[" * DEEPEST + "]" * DEEPEST)
    assert len(digest(read_json(tmp_path / "x.json"))) == 64


def test_writing_does_not_go_through_a_planted_link(tmp_path: Path) -> None:
    """Neither the file's own name nor the temporary one leads anywhere else."""
    treasure = tmp_path / "treasure"
    treasure.write_text("precious")
    for name in ("out.json", "out.json.tmp"):
        (tmp_path / name).symlink_to(treasure)
    write_text(tmp_path / "out.json", "new")
    assert treasure.read_text() == "precious"
    assert not (tmp_path / "out.json").is_symlink()
    assert (tmp_path / "out.json").read_text() == "new"


def test_a_full_disk_names_the_file_and_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old content stays, nothing half-written is left behind."""
    path = tmp_path / "x.json"
    write_text(path, "old")

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"x\.json: cannot be written \(No space.*\n.*make room"):
        write_text(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]
    assert path.read_text() == "old"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    for path in (tmp_path / "x", tmp_path / "x" / "y"):
        with pytest.raises(InputError, match="is a file"):
            make_folder(path)
