"""Suites survive a round trip, byte for byte, and digests are those docs/reference/formats.md defines."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.errors import InputError
from streamdecisionbench.examples import example_suite
from streamdecisionbench.suite.digest import canonical, digest, public_hash
from streamdecisionbench.suite.suite_files import (
    make_suite,
    read_suite,
    scenario_to_json,
    write_suite,
)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_digest_is_sha256_of_sorted_compact_json(value: object) -> None:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        return
    assert canonical(value) == encoded
    assert digest(value) == hashlib.sha256(encoded).hexdigest()


def test_round_trip(tmp_path: Path) -> None:
    suite = example_suite()
    write_suite(suite, tmp_path / "one")
    again = read_suite(tmp_path / "one")
    assert again == suite
    write_suite(again, tmp_path / "two")
    for path in (tmp_path / "one").iterdir():
        assert (tmp_path / "two" / path.name).read_bytes() == path.read_bytes()


def test_manifest_says_what_the_scenarios_are() -> None:
    suite = example_suite()
    (summary,) = suite.manifest.episodes
    scenario = suite.scenarios["tiny"]
    assert suite.manifest.hashes == {"tiny": digest(scenario_to_json(scenario))}
    assert suite.dataset_hash == digest(suite.manifest.hashes)
    assert (summary.questions, summary.steps, summary.duration_s) == (1, 4, 8.0)
    assert summary.decision_transitions == 2
    assert (summary.routes_seen, summary.routes_unseen) == (["pause", "record"], [])
    requests = [{"state": s.state, "questions": scenario.wire_questions()} for s in scenario.steps]
    assert summary.public_hash == digest(requests) == public_hash(requests)


def test_unknown_keys_are_read_over(tmp_path: Path) -> None:
    suite = example_suite()
    write_suite(suite, tmp_path)
    episode = json.loads((tmp_path / "tiny.json").read_text())
    episode["comment"] = {"by": "somebody"}
    episode["steps"][0]["extra"] = 1
    (tmp_path / "tiny.json").write_text(json.dumps(episode))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["hashes"]["tiny"] = digest(episode)
    manifest["dataset_hash"] = digest(manifest["hashes"])
    manifest["generated_by"] = "another tool"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert read_suite(tmp_path).scenarios["tiny"] == suite.scenarios["tiny"]


def test_two_scenarios_of_one_name_are_refused() -> None:
    tiny = example_suite().scenarios["tiny"]
    with pytest.raises(InputError, match="two scenarios are called tiny"):
        make_suite([tiny, tiny])


def test_only_state_and_questions_cross() -> None:
    scenario = example_suite().scenarios["tiny"]
    assert set(scenario.request(0)) == {"state", "questions"}
    assert scenario.decode(scenario.encode({"recorder": "pause"})) == {"recorder": "pause"}
