"""`sdb policy`: what it prints, in JSON and for people, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamdecisionbench.kernel.classes import CLASSES
from tests.cli.command import record_simulated, sdb

pytestmark = pytest.mark.slow

BEYOND = """
[gate]                      # an answer takes effect only if it is sure enough
confidence = 0.8
compose = "min"             # or "product", over the answers the decision consumes
[expire]                    # a decision in force for longer than this since its own release yields
after_s = 6.0
fallback = "none"           # no decision, or a composed decision written out as a table
[debounce]                  # only a decision that this many consecutive sources gave takes effect
agree = 2
[dispatch]                  # which states are sent
mode = "every"              # "one-at-a-time" (newest waiting next) | "latest" (oldest cancelled) | "changed"
limit = 4                   # with "latest"
fields = ["transcript"]     # with "changed"
[cascade]                   # components in order
components = ["fast", "slow"]
ask = "always"              # or "when-unsure": asked once the one before has answered below
below = 0.8
rule = "freshest"
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for profile in ("jev", "kev-4b", "astra-low"):
        record_simulated(profile, folder / profile, "--families", "support_call_assist")
    return folder


def policy(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text)
    return path


def test_the_whole_file_is_read_shown_and_scored(runs: Path, tmp_path: Path) -> None:
    path = policy(tmp_path, BEYOND)
    shown = sdb("policy", "show", path)
    assert "Components in order: fast, slow" in shown.stdout
    assert "Needs confidences of fast, slow" in shown.stdout
    done = sdb("policy", "score", path, runs / "jev", runs / "kev-4b", "--json")
    document = json.loads(done.stdout)
    assert document["schema"] == "sdb-policy/1"
    (score,) = document["scores"]
    assert score["components"] == ["jev", "kev-4b"]
    assert set(score["by_scenario"]) == {"support_a", "support_b"}
    for level in (score["overall"], *score["by_scenario"].values()):
        assert {"in_force", "log_auc", "classes"} <= set(level)
        assert list(level["classes"]) == list(CLASSES)
        assert sum(level["classes"].values()) == pytest.approx(1, abs=1e-12)


def test_the_plain_policy_is_the_plain_score(runs: Path, tmp_path: Path) -> None:
    path = policy(tmp_path, "[gate]\nconfidence = 0\n[debounce]\nagree = 1\n")
    found = sdb("policy", "score", path, runs / "astra-low", runs / "jev", "--json")
    plain = sdb("score", runs / "astra-low", runs / "jev", "--json")
    for mine, theirs in zip(
        json.loads(found.stdout)["scores"], json.loads(plain.stdout)["recordings"], strict=True
    ):
        for name in ("in_force", "log_auc"):
            assert mine["overall"][name] == theirs["overall"][name]
            for scenario, level in mine["by_scenario"].items():
                assert level[name] == theirs["by_scenario"][scenario][name]


def test_people_see_it_in_80_columns(runs: Path, tmp_path: Path) -> None:
    text = '[cascade]\ncomponents = ["jev", "astra-low"]\nask = "when-unsure"\nbelow = 0.6\n'
    done = sdb("policy", "score", policy(tmp_path, text), runs / "astra-low", runs / "jev")
    assert done.returncode == 0, done.stderr
    assert "jev + astra-low: when" in done.stdout
    assert "requests because of an unsure answer" in " ".join(done.stdout.split())
    assert "simulation" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[gate]\nconfidence = 'high'", "gate.confidence = 'high' is not allowed"),
        ("[gate]\nsure = 1", "there is no key gate.sure"),
        ("[dispatch]\nmode = 'latest'", "dispatch.limit is missing"),
        ("[expire]\nfallback = 'none'", "expire.after_s is missing"),
        ("[cascade]\ncomponents = ['a', 'b']\nask = 'sometimes'", "\"always\", \"when-unsure\""),
        ("[gate", "is not TOML"),
        ("[debounce]\nagree = 0", "1 or more"),
        ("[dispatch]\nmode = 'changed'\nfields = ['nope']", "which no state of these scenarios has"),
        ("[expire]\nafter_s = 3\nfallback = { route = 'hold' }", "no composed decision"),
        ("[expire]\nafter_s = 3\nfallback.support_cal_assist = { route = 'hold' }", "no family or scenario"),
        ("[expire]\nafter_s = 3\nfallback.support_x = { route = 'hold' }", "write support_"),
        (f"[expire]\nafter_s = {10**400}", "expire.after_s = 1000"),
        (f"[gate]\nconfidence = {10**400}", "gate.confidence = 1000"),
        (f"[gate]\nconfidence = 1{'0' * 5000}", "is not TOML"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_with_key_and_values(
    runs: Path, tmp_path: Path, text: str, words: str
) -> None:
    done = sdb("policy", "score", policy(tmp_path, text), runs / "jev")
    assert done.returncode == 2
    assert words in done.stderr
    assert "fix:" in done.stderr
    assert not done.stdout


def test_confidences_are_never_invented(runs: Path, tmp_path: Path) -> None:
    done = sdb("policy", "score", policy(tmp_path, "[gate]\nconfidence = 0.5"), runs / "astra-low")
    assert done.returncode == 2
    assert "astra-low: its answers carry no confidences" in done.stderr


def test_recordings_and_components_must_fit(runs: Path, tmp_path: Path) -> None:
    path = policy(tmp_path, '[cascade]\ncomponents = ["jev", "slow"]\n')
    done = sdb("policy", "score", path, runs / "astra-low", runs / "jev")
    assert done.returncode == 2
    assert "the policy's components are jev, slow" in done.stderr
    assert sdb("policy", "score", path, runs / "jev", runs / "astra-low").returncode == 0


def test_a_fallback_decision_and_changed_fields(runs: Path, tmp_path: Path) -> None:
    text = (
        "[expire]\nafter_s = 3\nfallback.support_a = { route = 'wrap', recorder = 'record' }\n"
        "fallback.support_b = { route = 'closed', contact_channel = 'phone' }\n"
        "[dispatch]\nmode = 'changed'\nfields = ['transcript', 'telephony.status']\n"
    )
    done = sdb("policy", "score", policy(tmp_path, text), runs / "jev", "--json")
    assert done.returncode == 0, done.stderr
    (score,) = json.loads(done.stdout)["scores"]
    assert score["counts"]["requests"][0] < score["counts"]["states"]
    assert score["counts"]["expiries"] > 0


def test_costs_and_spells_of_a_policy(runs: Path, tmp_path: Path) -> None:
    """Under names that `sdb score --costs` and `sdb analyze spells` use; the plain policy agrees."""
    few = ("--interval", "3", "--costs", "default", "--json")
    plain = policy(tmp_path, "")
    (score,) = json.loads(sdb("policy", "score", plain, runs / "jev", *few).stdout)["scores"]
    (same,) = json.loads(sdb("score", runs / "jev", *few).stdout)["recordings"]
    asked = ("analyze", "spells", runs / "jev", "--interval", "3", "--theta", "4", "--json")
    spells = json.loads(sdb(*asked).stdout)["result"]["jev"]
    assert score["costs"] == same["costs"]
    for level in ("support_a", "support_b"):
        mine = score["by_scenario"][level]
        assert mine["cost"].pop("integrated") == pytest.approx(
            same["by_scenario"][level]["cost"].pop("integrated")
        )
        assert mine["cost"] == pytest.approx(same["by_scenario"][level]["cost"])
        for name in ("mean_age_s", "beyond_share", "longest_s", "count"):
            assert mine["spells"][name] == pytest.approx(spells["by_scenario"][level][name])
        assert {"changes", "never_right", "median_delay_s"} <= set(mine["changes"])
    assert score["overall"]["cost"]["integrated"]["per_second"] == pytest.approx(
        same["overall"]["cost"]["integrated"]["per_second"]
    )
    gated = policy(tmp_path, "[gate]\nconfidence = 0.7\n[expire]\nafter_s = 5\n")
    shown = sdb("policy", "score", gated, runs / "jev", "--costs", "default")
    assert "What being wrong costs at 2 s" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "costs:" not in sdb("policy", "score", gated, runs / "jev").stdout
    bad = tmp_path / "bad.toml"
    bad.write_text('schema = "sdb-costs/1"\n[default]\nwrong = -1\n')
    refused = sdb("policy", "score", gated, runs / "jev", "--costs", bad)
    assert refused.returncode == 2
    assert "bad.toml" in refused.stderr


def test_a_search_prints_words_tables_and_json(runs: Path) -> None:
    given = ("choose", "--frontier", runs / "jev", runs / "astra-low", "--interval", "4")
    few = ("--thresholds", "4", "--resamples", "200")
    shown = sdb(*given, *few)
    assert shown.returncode == 0, shown.stderr
    assert "policies were tried" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    document = json.loads(sdb(*given, *few, "--json").stdout)
    assert document["schema"] == "sdb-policy/1"
    assert document["search"]["steps"]["plain"]["policy"] == {}
    choose = json.loads(sdb("choose", *given[2:], "--resamples", "200", "--json").stdout)["result"]
    chosen = document["search"]["choice"]
    assert (chosen["name"], chosen["policy"]) == (choose["best"]["name"], choose["best"]["policy"])
    assert document["search"]["words"][: len(choose["words"])] == choose["words"]
    assert f"use {chosen['name']}:" in choose["words"][0]
    assert {"in_force", "log_auc", "classes"} <= set(document["scores"][0]["overall"])
    late = json.loads(sdb(*given, *few, "--rule", "late-override", "--json").stdout)["search"]
    rules = [p["policy"]["cascade"]["rule"] for p in late["frontier"] if "cascade" in p["policy"]]
    assert set(rules) <= {"late_override"}
    dear = max(p["cost_per_hour"] for p in late["frontier"])
    tight = json.loads(sdb(*given, *few, "--budget", f"{dear / 2}", "--json").stdout)["search"]
    assert tight["within_budget"] < tight["tried"] == document["search"]["tried"]
    assert all(p["cost_per_hour"] <= dear / 2 for p in tight["frontier"])
    assert sdb(*given, *few, "--csv").stdout == sdb(*given, *few, "--csv").stdout
    refused = sdb(*given, "--budget", "0")
    assert refused.returncode == 2
    assert "within the budget" in refused.stderr


def test_calibration_in_force(runs: Path) -> None:
    done = sdb("analyze", "calibration", runs / "jev", "--json")
    found = json.loads(done.stdout)["result"]["jev"]
    assert 0 < found["brier"] < 1
    assert sum(b["time"] for b in found["bins"]) == pytest.approx(1)
    plain = json.loads(sdb("score", runs / "jev", "--json").stdout)["recordings"][0]["overall"]
    assert found["right"] * found["decided"] == pytest.approx(plain["in_force"], abs=1e-12)
    assert found["coverage"][0]["coverage"] == pytest.approx(1)
    refused = sdb("analyze", "calibration", runs / "astra-low")
    assert refused.returncode == 2
    assert "astra-low: its answers carry no confidences" in refused.stderr
