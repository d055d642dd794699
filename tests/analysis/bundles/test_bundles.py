"""Bundles: the same bytes twice, verified from the events, and every kind of lie named."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.analysis.bundles import find_faults, open_bundle, write_bundle
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.cli.command import sdb

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("bundle")
    for seed in (1, 2):
        done = sdb(
            "run", "simulated:jev", "--clock", "virtual", "--quiet", "--scenarios", "support_a,presenter_b",
            "--seed", str(seed), "--out", home / f"pass-{seed}",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    runs = [home / "pass-1", home / "pass-2"]
    done = sdb("bundle", *runs, "--out", home / "jev.zip", "--place", "a desk", "--terms", "none")
    assert done.returncode == 0, done.stderr
    return home / "jev.zip"


def unpacked(bundle: Path) -> Files:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: Files, path: Path, *, digests: bool = True) -> Path:
    """Packs again, as a forger would: with the digests of what is in it now."""
    contents = json.loads(files["bundle.json"])
    if digests:
        contents["files"] = {
            name: hashlib.sha256(data).hexdigest()
            for name, data in files.items()
            if name != "bundle.json"
        }
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**files, "bundle.json": json.dumps(contents).encode()}.items():
            archive.writestr(name, data)
    return path


def with_events(files: Files, change: Callable[[list[dict[str, Any]]], None]) -> Files:
    """The first recording's log changed, and the digest in its run record made to fit."""
    log = "recordings/001/events.jsonl"
    events = [json.loads(line) for line in files[log].splitlines()]
    change(events)
    data = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    run = json.loads(files["recordings/001/run.json"])
    run["events_sha256"] = hashlib.sha256(data).hexdigest()
    return {**files, log: data, "recordings/001/run.json": json.dumps(run).encode()}


def first_wrong(events: list[dict[str, Any]]) -> dict[str, Any]:
    return next(e for e in events if e["kind"] == "response")


def test_an_honest_bundle_verifies(bundle: Path) -> None:
    assert find_faults(bundle) == []
    found = open_bundle(bundle)
    assert [r.name for r in found.recordings] == ["pass-1", "pass-2"]
    assert found.contents.recordings[0].conditions["place"] == "a desk"
    assert "as_of" in found.contents.prices
    done = sdb("verify", bundle)
    assert done.returncode == 0
    assert "verified, 2 recording(s)" in done.stdout
    assert "simulation, virtual clock" in done.stdout


def test_the_same_recordings_give_the_same_bytes(bundle: Path, tmp_path: Path) -> None:
    suite = read_suite(builtin_suite_path())
    runs = [read_recording(bundle.parent / f"pass-{k}", suite) for k in (1, 2)]
    for name in ("one.zip", "two.zip"):
        write_bundle(runs, suite, tmp_path / name, told={"place": "a desk", "terms": "none"})
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert (tmp_path / "one.zip").read_bytes() == bundle.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        write_bundle(runs, suite, tmp_path / "one.zip")


def lie_in_time(events: list[dict[str, Any]]) -> None:
    """A better answer that was there before it was asked for."""
    response = first_wrong(events)
    response["completed_s"] = response["started_s"] - 0.5
    response["received_s"] = response["started_s"] - 0.5


def lie_by_silence(events: list[dict[str, Any]]) -> None:
    events.remove(first_wrong(events))


def lie_about_the_model(events: list[dict[str, Any]]) -> None:
    for event in events:
        if event["kind"] == "response":
            event["model"] = "better-model"


@pytest.mark.parametrize(
    ("lie", "named"),
    [
        (lie_in_time, "pass-1: .*(completed|received|started|time)"),
        (lie_by_silence, "pass-1: .*(response|missing|incomplete)"),
        (lie_about_the_model, "pass-1: .*(served model|simulat)"),
    ],
)
def test_forged_events_are_named(
    bundle: Path, tmp_path: Path, lie: Callable[[list[dict[str, Any]]], None], named: str
) -> None:
    forged = packed(with_events(unpacked(bundle), lie), tmp_path / "forged.zip")
    with pytest.raises(InputError, match=named):
        open_bundle(forged)
    assert sdb("verify", forged).returncode == 2


def test_an_altered_file_and_an_added_one_are_named(bundle: Path, tmp_path: Path) -> None:
    files = unpacked(bundle)
    files["recordings/001/events.jsonl"] += b"\n"
    files["recordings/001/notes.txt"] = b"hello"
    faults = find_faults(packed(files, tmp_path / "x.zip", digests=False))
    assert any("events.jsonl was altered" in f for f in faults)
    assert any("notes.txt is there and not listed" in f for f in faults)


def test_another_suite_is_named(bundle: Path, tmp_path: Path) -> None:
    files = unpacked(bundle)
    contents = json.loads(files["bundle.json"])
    contents["suite"] = "0" * 64
    files["bundle.json"] = json.dumps(contents).encode()
    assert any("another suite" in f for f in find_faults(packed(files, tmp_path / "x.zip")))
    run = json.loads(files["recordings/001/run.json"])
    run["dataset_manifest"]["dataset_hash"] = "1" * 64
    files["recordings/001/run.json"] = json.dumps(run).encode()
    faults = find_faults(packed(files, tmp_path / "y.zip"))
    assert any("pass-1: was recorded on another suite" in f for f in faults)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda e: e["score"]["overall"].update(log_auc=0.99), "score.overall.log_auc is stated"),
        (
            lambda e: e["score"]["by_scenario"]["support_a"]["classes"].update(stale=0.0),
            "by_scenario.support_a.classes.stale",
        ),
        (lambda e: e.update(served_models=["better-model"]), "served models stated as"),
        (lambda e: e.update(simulated=False), "simulated stated as false"),
        (lambda e: e.update(component="openai:gpt-6-astra"), "component stated as"),
    ],
)
def test_edited_statements_are_named(
    bundle: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], named: str
) -> None:
    files = unpacked(bundle)
    contents = json.loads(files["bundle.json"])
    change(contents["recordings"][0])
    files["bundle.json"] = json.dumps(contents).encode()
    faults = find_faults(packed(files, tmp_path / "x.zip"))
    assert any(named in fault for fault in faults), faults


@pytest.mark.parametrize("name", ["../out.txt", "/etc/x", "a\\b", "c:x", "recordings/"])
def test_no_way_out_of_the_folder(bundle: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for known, data in unpacked(bundle).items():
            archive.writestr(known, data)
        archive.writestr(zipfile.ZipInfo(name), b"x")
    with pytest.raises(InputError, match="file it may not"):
        open_bundle(path)


def test_what_is_no_bundle(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04 not really")
    for path in (tmp_path / "no.zip", tmp_path / "missing.zip", tmp_path):
        done = sdb("verify", path)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    link = zipfile.ZipInfo("recordings/001/run.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, b"/etc/passwd")
    assert "file it may not" in sdb("verify", tmp_path / "link.zip").stderr
    buffer = io.BytesIO(bundle.read_bytes())
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("bundle.json", b"{}")
    (tmp_path / "twice.zip").write_bytes(buffer.getvalue())
    assert "one name twice" in sdb("verify", tmp_path / "twice.zip").stderr
