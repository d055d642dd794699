"""`sdb choose` and `sdb choose --frontier` give one answer, and what they write is what they say."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.policies.policy_file import read_policy
from streamdecisionbench.recording.recording import Recording
from tests.cli.command import record_simulated, sdb

pytestmark = pytest.mark.slow

FEW = ("--resamples", "100")
OPTIONS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "no pairs": ("--no-pairs",),
    "budget": ("--budget", "6"),
    "budget per decision": ("--budget-per-1000", "2", "--no-pairs"),
    "costs": ("--costs", "default"),
    "rule": ("--rule", "lag-one", "--min-gain", "3"),
    "thresholds": ("--thresholds", "4", "--min-gain", "0", "--seed", "3"),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    for profile, seed in (("jev", 0), ("terra-none", 0), ("kev-4b", 1), ("astra-low", 2)):
        record_simulated(
            profile, folder / profile, "--seed", str(seed), "--families", "support_call_assist"
        )
    return folder


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if these had been measured: then pairs and policies of them may be recommended."""
    monkeypatch.setattr(Recording, "simulated", property(lambda _: False))


def said(*arguments: object) -> Any:
    done = sdb(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if "--json" in arguments else done.stdout


SETS = [("jev", "astra-low"), ("jev", "terra-none", "kev-4b"), ("terra-none", "astra-low", "jev")]


@pytest.mark.parametrize("names", SETS, ids=" ".join)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.usefixtures("measured")
def test_both_commands_name_the_same_with_the_same_figures(
    recorded: Path, names: tuple[str, ...], options: str
) -> None:
    """The law: same recordings, same pace, same terms, one answer."""
    runs = [recorded / name for name in names]
    interval = (1.2, 2, 6)[(SETS.index(names) + list(OPTIONS).index(options)) % 3]
    given = (*runs, "--interval", interval, *OPTIONS[options], *FEW, "--json")
    chosen = said("choose", *given)["result"]
    found = said("choose", "--frontier", *given)["search"]
    best = chosen["best"]
    assert found["choice"] == {
        "name": best["name"], "components": best["members"], "policy": best["policy"],
        "cost_per_hour": best["per_hour"], "in_force": best["in_force"],
    }  # fmt: skip
    plain = len(best["members"]) == 1 and best["policy"] is None
    assert found["winner"] == (None if plain else found["choice"])
    words, more = found["words"][: len(chosen["words"])], found["words"][len(chosen["words"]) :]
    assert words == chosen["words"]
    assert not any(" use " in line for line in more)


@pytest.mark.parametrize("simulated", [True, False])
def test_every_form_says_the_same(
    recorded: Path, simulated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not simulated:
        monkeypatch.setattr(Recording, "simulated", property(lambda _: False))
    given = (recorded / "jev", recorded / "terra-none", "--interval", 2, *FEW)
    best = said("choose", *given, "--json")["result"]["best"]
    rows = list(csv.DictReader(io.StringIO(said("choose", *given, "--csv"))))
    (row,) = [row for row in rows if row["recommended"] == "yes"]
    assert row["candidate"] == best["name"]
    assert float(row["in_force"]) == best["in_force"]["value"]
    for command in (("choose",), ("choose", "--frontier")):
        for options in ((), ("--all",), ("--top", 1)):
            screen = said(*command, *given, *options)
            words, _, tables = screen.partition("\n\n")
            assert f"use {best['name']}: it keeps" in " ".join(words.split())
            assert " use " not in tables
            assert [line[:1] for line in tables.splitlines()].count(">") == 2  # its row, the legend
            assert max(map(len, screen.splitlines())) <= 80
            assert "costs least" not in screen, "nobody gave costs"
            assert ("~ a pair or policy" in screen) is (simulated and options == ("--all",))


@pytest.mark.usefixtures("measured")
def test_a_held_out_figure_has_one_meaning(recorded: Path) -> None:
    """In what is shown by default no candidate has a second figure; costs are a table of their own."""
    given = (recorded / "jev", recorded / "terra-none", "--interval", 2, *FEW)
    screen = said("choose", "--frontier", *given)
    assert "held out" not in screen
    assert "held out" in said("choose", "--frontier", *given, "--all")
    priced = said("choose", *given, "--costs", "default")
    assert "By what being wrong costs (SDB v1 defaults" in priced
    assert said("choose", *given, "--json")["result"]["costs"]["given"] is False


@pytest.mark.parametrize("kind", ["single", "pair", "policy"])
@pytest.mark.parametrize("command", [("choose",), ("choose", "--frontier")], ids=" ".join)
def test_what_is_written_is_what_was_chosen(
    recorded: Path, tmp_path: Path, kind: str, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """Replayed on the same recordings the file gives the figure printed, and it can be run."""
    if kind != "single":
        monkeypatch.setattr(Recording, "simulated", property(lambda _: False))
    slow, interval = {"pair": ("astra-low", 6), "policy": ("terra-none", 2)}.get(
        kind, ("kev-4b", 2)
    )
    runs = (recorded / "jev", recorded / slow)
    file = tmp_path / "use.toml"
    given = (*runs, "--interval", interval, *FEW, "--write", file)
    chosen = said(*command, *given, "--json")
    result = chosen["result"] if command == ("choose",) else chosen["search"]
    best = result["best"] if command == ("choose",) else result["choice"]
    policy = read_policy(file)
    assert policy.cascade is not None
    assert list(policy.cascade.components) == best.get("members", best.get("components"))
    if kind == "policy":
        assert best["policy"] is not None
        assert policy.to_json() == {"cascade": policy.to_json()["cascade"], **best["policy"]}
    else:
        assert best["policy"] is None
        assert policy.count == (1 if kind == "single" else 2)
    (score,) = said("policy", "score", file, *runs, "--interval", interval, "--json")["scores"]
    assert score["overall"]["in_force"] == pytest.approx(result["written"]["in_force"], abs=1e-12)
    if best["policy"] is None:  # nothing was chosen on some scenarios and judged on others
        assert score["overall"]["in_force"] == pytest.approx(best["in_force"]["value"], abs=1e-12)
    assert any(f"gives {100 * score['overall']['in_force']:.1f} %" in w for w in result["words"])
    refused = sdb(*command, *given)
    assert refused.returncode == 2
    assert "exists already" in refused.stderr
    assert "fix:" in refused.stderr
    played = [("--member", f"{name}=simulated:{name}") for name in policy.cascade.components]
    who = ("simulated:jev",) if kind == "single" else [x for one in played for x in one]
    made = sdb(
        "run", *who, "--policy", file, "--clock", "virtual", "--quiet", "--scenarios", "support_a",
        "--out", tmp_path / "run",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr


def test_a_file_that_cannot_be_written_is_refused(recorded: Path, tmp_path: Path) -> None:
    done = sdb("choose", recorded / "jev", "--interval", 2, *FEW, "--write", tmp_path / "no" / "x")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "fix:" in done.stderr
