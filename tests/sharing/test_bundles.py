"""Bundles: the same bytes twice, verified from the events, and every kind of lie named."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.sharing.bundles import (
    open_bundle,
    write_bundle,
)
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
    done = sdb(
        "share", "bundle", *runs, "--out", home / "jev.zip", "--place", "a desk", "--terms", "none"
    )
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


def faults(path: Path) -> str:
    """Why a bundle is refused; empty where it verifies."""
    try:
        open_bundle(path)
    except InputError as error:
        return str(error)
    return ""


def with_contents(files: Files, change: Callable[[dict[str, Any]], object]) -> Files:
    contents = json.loads(files["bundle.json"])
    change(contents)
    return {**files, "bundle.json": json.dumps(contents).encode()}


def with_run(files: Files, change: Callable[[dict[str, Any]], object]) -> Files:
    run = json.loads(files["recordings/001/run.json"])
    change(run)
    return {**files, "recordings/001/run.json": json.dumps(run).encode()}


def test_an_honest_bundle_verifies(bundle: Path) -> None:
    assert faults(bundle) == ""
    found = open_bundle(bundle)
    assert [r.name for r in found.recordings] == ["pass-1", "pass-2"]
    assert found.contents.recordings[0].conditions["place"] == "a desk"
    assert "as_of" in found.contents.prices
    done = sdb("share", "verify", bundle)
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
    done = sdb("share", "verify", forged)
    assert done.returncode == 2
    assert re.search(named, done.stderr)


def test_an_altered_file_and_an_added_one_are_named(bundle: Path, tmp_path: Path) -> None:
    files = unpacked(bundle)
    files["recordings/001/events.jsonl"] += b"\n"
    files["recordings/001/notes.txt"] = b"hello"
    found = faults(packed(files, tmp_path / "x.zip", digests=False))
    assert "events.jsonl was altered" in found
    assert "notes.txt is there and not listed" in found


def test_another_suite_is_named(bundle: Path, tmp_path: Path) -> None:
    files = unpacked(bundle)
    stated = with_contents(files, lambda c: c.update(suite="0" * 64))
    assert "another suite" in faults(packed(stated, tmp_path / "x.zip"))
    named = with_contents(files, lambda c: c.update(suite_name="a better one"))
    assert "the suite is called" in faults(packed(named, tmp_path / "n.zip"))
    other = with_run(files, lambda r: r["dataset_manifest"].update(dataset_hash="1" * 64))
    assert "pass-1: was recorded on suite" in faults(packed(other, tmp_path / "y.zip"))


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
        (lambda e: e["conditions"].update(started_at="2026-01-01T00:00:00Z"), "started_at stated"),
        (lambda e: e["conditions"].update(host="api.example.org"), "host stated as"),
        (lambda e: e["conditions"].update(interval_s=0.5), "interval_s stated as"),
        (lambda e: e["conditions"].update(settings={"seed": 7}), "settings stated as"),
        (lambda e: e["conditions"].pop("client"), "client stated as"),
        (lambda e: e["conditions"].update(award="best"), "award is no condition"),
        (lambda e: e.update(score={}), "score states no overall.log_auc"),
        (lambda e: e.update(score={"overall": 7}), "score states no overall.log_auc"),
        (lambda e: e["score"].update(signature="suite:abc time:real sdb:0.1.0"), "score.signature"),
    ],
)
def test_edited_statements_are_named(
    bundle: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], named: str
) -> None:
    files = with_contents(unpacked(bundle), lambda c: change(c["recordings"][0]))
    found = faults(packed(files, tmp_path / "x.zip"))
    assert named in found
    done = sdb("share", "verify", tmp_path / "x.zip")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def without_clock(run: dict[str, Any]) -> None:
    del run["config"]["clock"]


def anonymous(run: dict[str, Any]) -> None:
    """Nothing in the record says any more that it is a simulation; the events still do."""
    run["config"].update(simulated=False, provider="openai", component="openai:gpt")


@pytest.mark.parametrize(
    "change",
    [
        without_clock,
        lambda run: run["config"].update(clock="Real"),
        lambda run: run["config"].update(clock="real"),
        lambda run: run["config"].update(clock="VIRTUAL "),
        anonymous,
    ],
)
def test_labels_follow_from_the_events(
    bundle: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    """Whatever is done to the record, a forger who states no label is contradicted by the events."""
    files = with_run(unpacked(bundle), change)

    def unlabelled(contents: dict[str, Any]) -> None:
        contents["recordings"][0].update(simulated=False, virtual_clock=False)

    found = faults(packed(with_contents(files, unlabelled), tmp_path / "x.zip"))
    assert "pass-1: simulated stated as false" in found
    assert "pass-1: virtual clock stated as false" in found


@pytest.mark.parametrize(
    "prefix", ["Simulated:", "simu\u200blated:", "ＳＩＭＵＬＡＴＥＤ：", " simulated :"]
)
def test_a_simulation_by_another_spelling_is_one(bundle: Path, tmp_path: Path, prefix: str) -> None:
    def renamed(events: list[dict[str, Any]]) -> None:
        for event in events:
            if event.get("model"):
                event["model"] = prefix + event["model"].partition(":")[2]

    files = with_run(with_events(unpacked(bundle), renamed), anonymous)
    found = faults(
        packed(
            with_contents(files, lambda c: c["recordings"][0].update(simulated=False)),
            tmp_path / "x.zip",
        )
    )
    assert "simulated stated as false" in found


def test_what_is_called_imported_is_shown_as_such(bundle: Path, tmp_path: Path) -> None:
    def imported(run: dict[str, Any]) -> None:
        del run["config"]["clock"], run["environment"]
        run["config"]["imported_from"] = "a table"

    files = with_run(unpacked(bundle), imported)
    path = packed(files, tmp_path / "x.zip")
    assert "imported stated as false, the events say true" in faults(path)

    def told(contents: dict[str, Any]) -> None:
        entry = contents["recordings"][0]
        entry.update(imported=True, virtual_clock=False)
        entry["conditions"] |= {"client": dict.fromkeys(entry["conditions"]["client"])}
        entry["score"]["virtual_clock"] = False
        entry["score"]["notes"] = [n for n in entry["score"]["notes"] if "virtual" not in n]
        entry["score"]["signature"] = "simulated:yes"

    done = sdb("share", "verify", packed(with_contents(files, told), tmp_path / "y.zip"))
    assert "pass-1 (simulation, imported)" in done.stdout, done.stderr


def test_without_environment_or_hashes_requests_cannot_be_checked(
    bundle: Path, tmp_path: Path
) -> None:
    files = with_run(unpacked(bundle), lambda run: run.pop("environment"))
    assert "pass-1: its run record does not name the sdb that recorded it" in faults(
        packed(files, tmp_path / "x.zip")
    )

    def blank(events: list[dict[str, Any]]) -> None:
        for event in events:
            if "request_hash" in event:
                event["request_hash"] = ""

    assert "without the hash of their request" in faults(
        packed(with_events(unpacked(bundle), blank), tmp_path / "y.zip")
    )


def test_one_recording_twice_is_no_second_pass(bundle: Path, tmp_path: Path) -> None:
    """Also where its bytes were changed and its events were not."""
    files = unpacked(bundle)
    log = files["recordings/001/events.jsonl"]
    spaced = b"".join(json.dumps(json.loads(x)).encode() + b"\n" for x in log.splitlines())
    run = json.loads(files["recordings/001/run.json"])
    for name, data in (("same", log), ("spaced", spaced)):
        run["events_sha256"] = hashlib.sha256(data).hexdigest()
        second = {
            **files,
            "recordings/002/events.jsonl": data,
            "recordings/002/run.json": json.dumps(run).encode(),
        }

        def copied(contents: dict[str, Any]) -> None:
            contents["recordings"][1] = {
                **contents["recordings"][0], "name": "pass-2", "folder": "recordings/002"
            }  # fmt: skip

        forged = packed(with_contents(second, copied), tmp_path / f"{name}.zip")
        assert "pass-2 holds the same events as pass-1" in faults(forged)
    suite = read_suite(builtin_suite_path())
    one = read_recording(bundle.parent / "pass-1", suite)
    with pytest.raises(InputError, match="the same events as"):
        write_bundle([one, replace(one, name="another")], suite, tmp_path / "new.zip")
    with pytest.raises(InputError, match="the same events as"):
        write_bundle([one, one], suite, tmp_path / "new.zip")


@pytest.mark.parametrize("name", ["./bundle.json", "suite//manifest.json", "SUITE/./x", "a/./b"])
def test_one_file_by_two_names(bundle: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for known, data in unpacked(bundle).items():
            archive.writestr(known, data)
        archive.writestr(name, b"{}")
    assert "file it may not" in faults(path)


def test_a_bomb_is_not_unpacked(bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for known, data in unpacked(bundle).items():
            archive.writestr(known, data)
        archive.writestr("recordings/003/events.jsonl", bytes(200_000_000))
    assert path.stat().st_size < 6_000_000
    assert "unpacks to more than" in faults(path)


@pytest.mark.parametrize(
    "name", ["a\n::error::boo", "::error::boo", "x ##[error]boo", "\x1b[2J", ""]
)
def test_a_name_gives_no_orders(bundle: Path, tmp_path: Path, name: str) -> None:
    def called(contents: dict[str, Any]) -> None:
        contents["recordings"][0]["name"] = contents["recordings"][0]["score"]["name"] = name

    files = with_contents(unpacked(bundle), called)
    done = sdb("share", "verify", packed(files, tmp_path / "x.zip"))
    assert done.returncode == 2
    lines = (done.stdout + done.stderr).splitlines()
    assert not [x for x in lines if x.lstrip().startswith("::") or "##[" in x or "\x1b" in x]


def test_no_listed_file_gives_orders(bundle: Path, tmp_path: Path) -> None:
    def listed(contents: dict[str, Any]) -> None:
        contents["files"]["::error::boo\n::error::hoo ##[error]"] = "0"

    path = packed(with_contents(unpacked(bundle), listed), tmp_path / "x.zip", digests=False)
    done = sdb("share", "verify", path)
    assert done.returncode == 2
    lines = (done.stdout + done.stderr).splitlines()
    assert not [x for x in lines if x.lstrip().startswith("::") or "##[" in x]


def leaves(found: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(found, dict | list) and found:
        inside = found.items() if isinstance(found, dict) else enumerate(found)
        for key, value in inside:
            yield from leaves(value, (*place, key))
    else:
        yield place


def test_whatever_is_derived_cannot_be_stated_otherwise(bundle: Path, tmp_path: Path) -> None:
    """The law of labels: one statement changed, anywhere but in what is called stated, is refused."""
    files = unpacked(bundle)
    contents = json.loads(files["bundle.json"])
    stated = {("conditions", "place"), ("conditions", "terms"), ("name",)}
    entry = contents["recordings"][0]
    places = [p for p in leaves(entry) if p not in stated]
    for nth, place in enumerate(random.Random(5).sample(places, 25)):

        def altered(contents: dict[str, Any], place: tuple[Any, ...] = place) -> None:
            inner = contents["recordings"][0]
            for key in place[:-1]:
                inner = inner[key]
            value = inner[place[-1]]
            lie = value + 0.001 if isinstance(value, float) else "another"
            inner[place[-1]] = not value if isinstance(value, bool) else lie

        path = packed(with_contents(files, altered), tmp_path / f"{nth}.zip")
        assert faults(path) != "", place


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
        done = sdb("share", "verify", path)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    link = zipfile.ZipInfo("recordings/001/run.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, b"/etc/passwd")
    assert "file it may not" in sdb("share", "verify", tmp_path / "link.zip").stderr
    buffer = io.BytesIO(bundle.read_bytes())
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("bundle.json", b"{}")
    (tmp_path / "twice.zip").write_bytes(buffer.getvalue())
    assert "one name twice" in sdb("share", "verify", tmp_path / "twice.zip").stderr
