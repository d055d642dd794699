"""Every kind of broken suite is named by file and field, and the command exits with code 2."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from streamdecisionbench.errors import InputError
from streamdecisionbench.examples import example_suite
from streamdecisionbench.suite.digest import digest
from streamdecisionbench.suite.suite_check import (
    validate_scenario,
    validate_suite,
)
from streamdecisionbench.suite.suite_files import (
    make_suite,
    read_scenario,
    read_suite,
    scenario_to_json,
    write_suite,
)
from tests.cli.command import sdb

Edit = Callable[[dict[str, Any]], object]


def _set(*path: Any, value: Any) -> Edit:
    def edit(episode: dict[str, Any]) -> None:
        for key in path[:-1]:
            episode = episode[key]
        episode[path[-1]] = value

    return edit


def _drop(*path: Any) -> Edit:
    def edit(episode: dict[str, Any]) -> None:
        for key in path[:-1]:
            episode = episode[key]
        del episode[path[-1]]

    return edit


BROKEN: dict[str, tuple[Edit, str, str]] = {
    "unknown label": (_set("option_semantics", "recorder", "K09", value="stop"), "option_semantics.recorder.K09", "unknown label"),
    "label without meaning": (_drop("option_semantics", "recorder", "K01"), "option_semantics.recorder.K01", "missing"),
    "missing gold": (_drop("steps", 1, "gold", "recorder"), "steps[1].gold.recorder", "missing"),
    "no gold at all": (_drop("steps", 2, "gold"), "steps[2].gold", "missing"),
    "gold that is no option": (_set("steps", 0, "gold", "recorder", value="off"), "steps[0].gold.recorder", "no option"),
    "gold for no question": (_set("steps", 0, "gold", "mood", value="x"), "steps[0].gold.mood", "no question"),
    "branch naming no question": (_set("decision_spec", "branches", "record", value=["volume"]), "decision_spec.branches.record", "no question"),
    "branch of no route value": (_set("decision_spec", "branches", "stop", value=[]), "decision_spec.branches.stop", "no value"),
    "route without a branch": (_drop("decision_spec", "branches", "pause"), "decision_spec.branches.pause", "missing"),
    "route question unknown": (_set("decision_spec", "route_question", value="mode"), "decision_spec.route_question", "no question"),
    "always names no question": (_set("decision_spec", "always", value=["volume"]), "decision_spec.always", "no question"),
    "question used by no branch": (
        lambda e: (
            e["questions"].update(extra=e["questions"]["recorder"]),
            e["option_semantics"].update(extra=e["option_semantics"]["recorder"]),
            [s["gold"].update(extra="record") for s in e["steps"]],
        ),
        "questions.extra",
        "used by no branch",
    ),
    "non-consecutive steps": (_set("steps", 2, "t", value=5), "steps[2].t", "consecutive"),
    "no steps": (_set("steps", value=[]), "steps", "at least one step"),
    "negative tick": (_set("tick_seconds", value=-2), "tick_seconds", "above 0"),
    "tick not a number": (_set("tick_seconds", value="2"), "tick_seconds", "above 0"),
    "NaN tick": (_set("tick_seconds", value=float("nan")), "tick_seconds", "NaN"),
    "two labels, one meaning": (_set("option_semantics", "recorder", "K02", value="record"), "option_semantics.recorder", "same value"),
    "criteria without value": (_set("questions", "recorder", "criteria", "K01", value="keep recording"), "questions.recorder.criteria.K01", "does not start"),
    "type": (_set("questions", "recorder", "type", value="number"), "questions.recorder.type", "only 'choice'"),
    "state is no object": (_set("steps", 0, "state", value=[]), "steps[0].state", "object"),
    "schema": (_set("schema_version", value="sdb-lite/9"), "schema_version", "not 'sdb-lite/0.1'"),
    "no title": (_set("title", value=""), "title", "non-empty"),
    "id that is a path": (_set("episode_id", value="../../x"), "episode_id", "no id"),
    "id that is the manifest": (_set("episode_id", value="manifest"), "episode_id", "no id"),
    "tick too short to tell": (_set("tick_seconds", value=1e-12), "tick_seconds", "between"),
    "evidence that is a number": (_set("steps", 0, "evidence", value=[7]), "$.steps[0].evidence[0]", "Expected `str`"),
}  # fmt: skip


def _episode() -> dict[str, Any]:
    episode = scenario_to_json(example_suite().scenarios["tiny"])
    return copy.deepcopy(json.loads(json.dumps(episode)))


def _write(folder: Path, episode: dict[str, Any]) -> None:
    """A suite whose digests fit, so that only the content is wrong."""
    write_suite(example_suite(), folder)
    (folder / "tiny.json").write_text(json.dumps(episode))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["hashes"] = {"tiny": digest(json.loads(json.dumps(episode)))}
    manifest["dataset_hash"] = digest(manifest["hashes"])
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_good_suite_has_no_violation(tmp_path: Path) -> None:
    write_suite(example_suite(), tmp_path)
    assert validate_suite(tmp_path) == []
    done = sdb("validate", tmp_path)
    assert done.returncode == 0
    assert "valid suite" in done.stdout


@pytest.mark.parametrize("name", BROKEN)
def test_every_violation_is_named(name: str) -> None:
    edit, field, words = BROKEN[name]
    episode = _episode()
    edit(episode)
    found = [v for v in validate_scenario(episode, "tiny.json") if v.field == field]
    assert found, [str(v) for v in validate_scenario(episode, "tiny.json")]
    assert any(words in v.what for v in found)


@pytest.mark.parametrize("name", BROKEN)
def test_read_suite_refuses_what_validate_refuses(name: str, tmp_path: Path) -> None:
    edit = BROKEN[name][0]
    episode = _episode()
    edit(episode)
    try:
        _write(tmp_path, episode)
    except ValueError:
        pytest.skip("cannot be written as JSON")
    assert validate_suite(tmp_path)
    with pytest.raises(InputError, match="fix:"):
        read_suite(tmp_path)
    with pytest.raises(InputError, match="fix:"):
        read_scenario(tmp_path / "tiny.json")


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in JSON data."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path] * bool(path) + [p for k, v in items for p in _places(v, (*path, k))]


def test_wrong_types_anywhere_are_violations_or_fine_but_no_tracebacks(tmp_path: Path) -> None:
    """One odd value in every place; a suite is readable exactly when it has no violation."""
    readable = 0
    for place in _places(_episode()):
        for odd in (None, True, 0, -1.5, "", "x", [], [[]], {}, {"a": []}):
            episode = _episode()
            _set(*place, value=odd)(episode)
            _write(tmp_path, episode)
            found = validate_suite(tmp_path)
            try:
                read_suite(tmp_path)
                readable += 1
                assert not found, (place, odd)
            except InputError:
                assert found, (place, odd)
    assert readable > 10


@pytest.mark.parametrize("family", ["overall", "tiny", "another"])
def test_a_family_is_not_called_like_something_else(family: str, tmp_path: Path) -> None:
    tiny = example_suite().scenarios["tiny"]
    suite = make_suite(
        [
            replace(tiny, task_family=family),
            replace(tiny, episode_id="another", scenario_id="another"),
        ]
    )
    with pytest.raises(InputError, match="task_family"):
        write_suite(suite, tmp_path / "suite")
    assert not (tmp_path / "suite").exists()
    episode = _episode()
    episode["task_family"] = "overall"
    _write(tmp_path, episode)
    with pytest.raises(InputError, match="task_family"):
        read_suite(tmp_path)


@pytest.mark.parametrize(
    "name", ["../../x", "/etc/x", "..", "a/b", "manifest", "a b", "é", "x" * 101]
)
def test_ids_are_plain(name: str, tmp_path: Path) -> None:
    tiny = example_suite().scenarios["tiny"]
    with pytest.raises(InputError, match="no id of a scenario"):
        make_suite([replace(tiny, episode_id=name)])
    inner = tmp_path / "deep" / "suite"
    write_suite(example_suite(), inner)
    manifest = json.loads((inner / "manifest.json").read_text())
    manifest["episodes"][0]["episode_id"] = name
    (inner / "manifest.json").write_text(json.dumps(manifest))
    done = sdb("suite", "export", "--data", inner, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "is no id" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_scenario_the_manifest_leaves_out_is_no_smaller_suite(tmp_path: Path) -> None:
    """`episodes` cut while `hashes` stay would score fewer scenarios under the same digest."""
    tiny = example_suite().scenarios["tiny"]
    write_suite(make_suite([tiny, replace(tiny, episode_id="two")]), tmp_path)
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "episodes": manifest["episodes"][:1]}))
    with pytest.raises(InputError, match=r"hashes\.two: names no episode"):
        read_suite(tmp_path)


def test_a_scenario_beside_the_manifest_is_not_left_out_in_silence(tmp_path: Path) -> None:
    tiny = example_suite().scenarios["tiny"]
    write_suite(make_suite([tiny]), tmp_path)
    (tmp_path / "notes.json").write_text('{"about": "no scenario"}')
    read_suite(tmp_path)
    two = scenario_to_json(replace(tiny, episode_id="two"))
    (tmp_path / "two.json").write_text(json.dumps(two))
    told = [str(v) for v in validate_suite(tmp_path)]
    assert told == ["two.json: (file): is not listed in the manifest"]
    with pytest.raises(InputError, match=r"two\.json: is not listed in the manifest"):
        read_suite(tmp_path)


def test_a_public_hash_that_is_not_of_its_requests_is_refused(tmp_path: Path) -> None:
    """It is in no digest of the suite: only counting again gives it away."""
    write_suite(example_suite(), tmp_path)
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text())
    right = manifest["episodes"][0]["public_hash"]
    for wrong in ("0" * 64, right[:-1] + ("0" if right[-1] != "0" else "1"), "x"):
        manifest["episodes"][0]["public_hash"] = wrong
        path.write_text(json.dumps(manifest))
        assert [str(v) for v in validate_suite(tmp_path)] == [
            "manifest.json: episodes.tiny.public_hash: is not the digest of the file's requests"
        ]


@pytest.mark.parametrize("name", ["unknown label", "non-consecutive steps", "missing gold"])
def test_the_command_exits_with_two_and_no_traceback(name: str, tmp_path: Path) -> None:
    edit, field, _ = BROKEN[name]
    episode = _episode()
    edit(episode)
    _write(tmp_path, episode)
    done = sdb("validate", tmp_path)
    assert done.returncode == 2
    assert f"tiny.json: {field}" in done.stderr
    assert "Traceback" not in done.stderr


def test_all_violations_at_once() -> None:
    episode = _episode()
    BROKEN["missing gold"][0](episode)
    BROKEN["negative tick"][0](episode)
    BROKEN["branch of no route value"][0](episode)
    assert len(validate_scenario(episode, "tiny.json")) == 3


def test_digest_mismatch_names_the_file(tmp_path: Path) -> None:
    write_suite(example_suite(), tmp_path)
    path = tmp_path / "tiny.json"
    path.write_text(path.read_text().replace("Four steps", "Five steps"))
    assert any(
        "digest mismatch" in v.what and v.file == "tiny.json" for v in validate_suite(tmp_path)
    )
    with pytest.raises(InputError, match=r"not what manifest\.json names"):
        read_suite(tmp_path)


def test_manifest_faults(tmp_path: Path) -> None:
    write_suite(example_suite(), tmp_path)
    path = tmp_path / "manifest.json"
    good = json.loads(path.read_text())

    def faults(**changed: Any) -> list[str]:
        path.write_text(json.dumps({**good, **changed}))
        return [str(v) for v in validate_suite(tmp_path)]

    assert any("listed twice" in f for f in faults(episodes=good["episodes"] * 2))
    assert any("dataset_hash" in f for f in faults(dataset_hash="0" * 64))
    assert any("hashes.tiny" in f for f in faults(hashes={}))
    assert any(
        "episodes.tiny.steps" in f for f in faults(episodes=[{**good["episodes"][0], "steps": 9}])
    )
    assert any("schema_version" in f for f in faults(schema_version="x"))
    path.write_text("[]")
    assert [str(v) for v in validate_suite(tmp_path)] == [
        "manifest.json: (file): is not a JSON object"
    ]


@pytest.mark.parametrize("text", ["", "{", "nonsense", '{"a": }', "[1, 2"])
def test_files_that_are_no_json(tmp_path: Path, text: str) -> None:
    write_suite(example_suite(), tmp_path)
    (tmp_path / "tiny.json").write_text(text)
    done = sdb("validate", tmp_path)
    assert done.returncode == 2
    assert "tiny.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_things(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        done = sdb("validate", path)
        assert done.returncode == 2
        assert "fix:" in done.stderr
