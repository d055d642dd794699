"""Which group of a log to use: the leader where its lead is shown, "cannot tell" otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamdecisionbench import score_log
from streamdecisionbench.analysis.log_choice import (
    CANNOT_TELL,
    USE,
    LogChoice,
    choose_group,
    log_choice_lines,
    log_choice_table,
)
from streamdecisionbench.errors import InputError
from tests.cli.command import sdb


def _log(
    errors: dict[str, float], *, kept: float = 1.0, streams: int = 30, seed: int = 0
) -> pa.Table:
    """Releases with shares of wrong answers; references are kept at random."""
    rng = np.random.default_rng(seed)
    rows = []
    for release, error in errors.items():
        for k in range(streams):
            right = np.cumsum(rng.random(8) < 0.4) % 3
            for i, y in enumerate(right.tolist()):
                rows.append(
                    {
                        "stream": f"{release}-{k}",
                        "published_at": 2.0 * i,
                        "answered_at": 2.0 * i + 0.3,
                        "decision": f"d{y if rng.random() > error else (y + 1) % 3}",
                        "reference": f"d{y}" if rng.random() < kept else None,
                        "ended_at": 16.0,
                        "release": release,
                    }
                )
    return pa.Table.from_pylist(rows)


def _chosen(table: pa.Table, **options: int) -> LogChoice:
    return choose_group(score_log(table, by="release", **options))


@pytest.mark.parametrize("kept", [1.0, 0.3])
def test_a_clear_lead_is_recommended_also_with_partial_labels(kept: float) -> None:
    found = _chosen(_log({"a": 0.3, "b": 0.05, "c": 0.5}, kept=kept))
    assert (found.verdict, found.leader.name) == (USE, "b")
    assert [one.against.name for one in found.leads] == ["a", "c"]
    score = found.score
    for one in found.leads:
        own, other = found.leader.in_force, one.against.in_force
        assert own is not None
        assert other is not None
        assert one.in_force[0] == pytest.approx(own - other, abs=1e-12)
    assert score.groups[1] is found.leader
    assert log_choice_lines(found)[0].startswith("Use release b: it is right for ")
    table = log_choice_table(found)
    assert [row[0] for row in table.rows] == ["b", "a", "c"]


def test_equal_versions_are_rarely_told_apart() -> None:
    """95 % intervals: about one in twenty pairs of equal releases is told apart by chance."""
    alarms = sum(
        _chosen(_log({"a": 0.2, "b": 0.2}, kept=0.4, seed=seed), resamples=200).verdict == USE
        for seed in range(100)
    )
    assert alarms <= 12


def test_what_is_not_told_apart_is_named_and_the_rest_is_not() -> None:
    found = _chosen(_log({"a": 0.1, "b": 0.1, "c": 0.6}, seed=3))
    assert found.verdict == CANNOT_TELL
    (near,) = found.undecided
    assert {found.leader.name, near.against.name} == {"a", "b"}
    line = log_choice_lines(found)[0]
    assert line.startswith("Cannot tell: ")
    assert line.endswith(f"tell it apart from {near.against.name}.")
    assert found.detectable is not None
    assert found.detectable > 0


def test_too_few_streams_cannot_tell() -> None:
    found = _chosen(_log({"a": 0.0, "b": 0.9}, streams=4))
    assert found.leads[0].in_force[1] is None
    assert found.verdict == CANNOT_TELL


def test_unequal_labels_are_warned_about() -> None:
    first = _log({"a": 0.1}, kept=0.9)
    second = _log({"b": 0.1}, kept=0.2, seed=1)
    lines = log_choice_lines(_chosen(pa.concat_tables([first, second])))
    assert "missing at random" in lines[-1]


def test_one_group_is_refused() -> None:
    with pytest.raises(InputError, match="has one group with known references by release"):
        _chosen(_log({"a": 0.1}))


def test_the_command_answers_for_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    pq.write_table(_log({"a": 0.4, "b": 0.05}, kept=0.5), log)
    done = sdb("choose", log, "--by", "release")
    assert done.returncode == 0, done.stderr
    assert "Use release b: it is right for" in done.stdout
    document = json.loads(sdb("choose", log, "--by", "release", "--json").stdout)
    assert (document["verdict"], document["use"]) == ("use", {"release": "b"})
    assert document["words"][0] in " ".join(done.stdout.split())
    assert sdb("choose", log, "--by", "release", "--csv").stdout.startswith("group,in_force,")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--by COLUMN"),
        (("--interval", "2"), "--by COLUMN"),
        (("--by", "release", "--budget", "3"), "leave --budget out"),
        (("--by", "colour"), "has no column 'colour'"),
        (("--interval", "2", "--reference", "python:a:b"), "add --by COLUMN"),
        (("--allow-unusable", "3"), "add --by COLUMN"),
    ],
)
def test_wrong_use_names_the_fix(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    log = tmp_path / "log.parquet"
    pq.write_table(_log({"a": 0.4, "b": 0.05}), log)
    done = sdb("choose", log, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
