"""Generated scenarios: everything that is promised of them, for every family that has a generator."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.coverage import coverage
from streamdecisionbench.families.registry import FAMILY_MODULES
from streamdecisionbench.families.sdb_v1 import recheck
from streamdecisionbench.suite.constant_baselines import (
    best_constant,
    first_option,
    lexical_overlap,
    states_right,
)
from streamdecisionbench.suite.scenario import Suite, estimate_tokens
from streamdecisionbench.suite.suite_check import validate_suite
from streamdecisionbench.suite.suite_files import read_suite, write_suite
from streamdecisionbench.worlds.generate import (
    generate,
    generated_families,
    generator_digests,
    regenerate,
)
from streamdecisionbench.worlds.generation.draws import (
    SPLITS,
    Pool,
)
from streamdecisionbench.worlds.generation.parameters import (
    CHANGES_TOLERANCE,
    Parameters,
    change_range,
)
from streamdecisionbench.worlds.generation.world import Kind

pytestmark = pytest.mark.slow

FAMILIES = generated_families()
EVERY = pytest.mark.parametrize("family", FAMILIES)
Generated = Callable[[str], Suite]


def part(family: str, name: str) -> Any:
    return importlib.import_module(f"streamdecisionbench.families.{FAMILY_MODULES[family]}.{name}")


def generator(family: str) -> Any:
    return importlib.import_module(f"streamdecisionbench.worlds.{FAMILY_MODULES[family]}")


def kinds(family: str) -> tuple[Kind[Any], ...]:
    found: tuple[Kind[Any], ...] = generator(family).KINDS
    return found


@EVERY
def test_the_validator_has_nothing_to_say(
    family: str, generated: Generated, tmp_path: Path
) -> None:
    write_suite(generated(family), tmp_path / "suite")
    assert validate_suite(tmp_path / "suite") == []
    assert recheck(read_suite(tmp_path / "suite")) == []


@EVERY
def test_changes_sizes_and_baselines_keep_their_bounds(family: str, generated: Generated) -> None:
    suite = generated(family)
    states = first = lexical = 0
    for scenario in suite:
        assert scenario.n == 60
        assert abs(len(scenario.changes()) - 22) <= CHANGES_TOLERANCE
        sizes = [estimate_tokens(scenario.request(t)) for t in range(scenario.n)]
        assert min(sizes) >= 2000
        assert max(sizes) <= 4000
        assert best_constant(scenario) <= 0.30 * scenario.n
        states += scenario.n
        first += states_right(scenario, first_option)
        lexical += states_right(scenario, lexical_overlap)
    assert first <= 0.01 * states
    assert lexical <= 0.02 * states


@EVERY
def test_both_kinds_take_turns(family: str, generated: Generated) -> None:
    names = [scenario.episode_id for scenario in generated(family)]
    module = FAMILY_MODULES[family]
    both = [kind.name for kind in kinds(family)]
    assert names == [f"{module}_{both[i % 2]}_eval1_{i:03d}" for i in range(10)]
    assert len({scenario.title for scenario in generated(family)}) > 5


@EVERY
def test_ten_scenarios_show_every_rule_option_and_misreading(
    family: str, generated: Generated
) -> None:
    (found,) = coverage(generated(family)).values()
    assert found.undecided() == []
    assert found.unanswered() == []
    assert [(m.rule, m.what) for m in found.unnoticed()] == []


@EVERY
def test_boundaries_are_held_for_one_two_and_three_ticks(family: str, generated: Generated) -> None:
    lengths = set()
    for scenario in generated(family):
        edges = [0, *scenario.changes(), scenario.n]
        lengths |= {b - a for a, b in pairwise(edges)}
    assert {1, 2, 3} <= lengths


@EVERY
def test_events_come_at_irregular_times_and_several_in_a_tick(
    family: str, generated: Generated
) -> None:
    for scenario in generated(family):
        notes = [len(step.evidence) for step in scenario.steps]
        assert 0 in notes
        assert max(notes) >= 2


@EVERY
def test_situations_name_the_rules_they_exercise(family: str) -> None:
    package = f"streamdecisionbench.families.{FAMILY_MODULES[family]}"
    rules: dict[str, str] = importlib.import_module(package).RULES
    named = {rule for kind in kinds(family) for s in kind.situations for rule in s.rules}
    assert named <= set(rules)
    inert = {m.rule for m in part(family, "misreadings").MISREADINGS if m.answers_only}
    assert set(rules) - named <= inert
    for kind in kinds(family):
        names = [s.name for s in kind.situations]
        assert len(set(names)) == len(names)


def pools(family: str) -> Iterator[Pool[Any]]:
    for value in vars(importlib.import_module(f"{generator(family).__name__}.phrases")).values():
        if isinstance(value, Pool):
            yield value


@EVERY
def test_train_and_eval_share_no_name_and_no_state(family: str, generated: Generated) -> None:
    for pool in pools(family):
        a, b = (pool.of(split) for split in SPLITS)
        assert a
        assert b
        assert not set(a) & set(b)
    train = generate(Parameters(seed=1, families=(family,), per_family=2, split="train"))
    seen = {msgspec.json.encode(step.state) for s in generated(family) for step in s.steps}
    assert not seen & {msgspec.json.encode(step.state) for s in train for step in s.steps}
    assert not {s.episode_id for s in train} & {s.episode_id for s in generated(family)}


@EVERY
def test_a_seed_names_a_suite(family: str) -> None:
    wanted = Parameters(seed=16, families=(family,), per_family=2)
    one, again = generate(wanted), generate(wanted)
    other = generate(msgspec.structs.replace(wanted, seed=17))
    assert one.dataset_hash == again.dataset_hash
    assert not set(one.manifest.hashes.values()) & set(other.manifest.hashes.values())


@EVERY
def test_the_manifest_alone_makes_it_again(family: str, tmp_path: Path) -> None:
    wanted = Parameters(seed=17, families=(family,), per_family=1, steps=48, changes=15, noise=0.3)
    write_suite(generate(wanted), tmp_path / "suite")
    suite = read_suite(tmp_path / "suite")
    assert msgspec.convert(suite.manifest.generation, Parameters) == wanted
    assert suite.manifest.generator == generator_digests((family,))
    assert regenerate(suite) == []
    (scenario,) = suite
    assert scenario.n == 48
    assert abs(len(scenario.changes()) - 15) <= CHANGES_TOLERANCE
    stated = {**suite.manifest.generation, "seed": 18}
    elsewhere = msgspec.structs.replace(
        suite, manifest=msgspec.structs.replace(suite.manifest, generation=stated)
    )
    assert regenerate(elsewhere)
    other_source = {**suite.manifest.generator, "suite/authoring.py": "0" * 64}
    moved, older = (
        msgspec.structs.replace(
            s, manifest=msgspec.structs.replace(s.manifest, generator=other_source)
        )
        for s in (suite, elsewhere)
    )
    assert regenerate(moved) == []  # other sources, the same scenarios
    assert any("suite/authoring.py" in problem for problem in regenerate(older))


SCRIPT = """
from streamdecisionbench.worlds.generate import generate, generated_families
from streamdecisionbench.worlds.generation.parameters import Parameters
print(generate(Parameters(seed=5, families=tuple(generated_families()), per_family=1)).dataset_hash)
"""


def test_no_environment_changes_a_byte() -> None:
    found = set()
    for extra in (
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "271", "LC_ALL": "tr_TR.UTF-8", "TZ": "Pacific/Chatham"},
    ):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, **extra},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout)
    assert len(found) == 1


@EVERY
@pytest.mark.parametrize("end", [0, 1])
def test_the_ends_of_the_range_can_be_generated(family: str, end: int) -> None:
    changes = change_range(60)[end]
    wanted = Parameters(seed=2, families=(family,), per_family=2, changes=changes)
    suite = generate(wanted, tell=lambda _: None)  # two sessions need not show everything
    for scenario in suite:
        assert abs(len(scenario.changes()) - changes) <= CHANGES_TOLERANCE


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"per_family": 0}, "choose 1 to 1000"),
        ({"changes": 61}, "choose 12 to 24 with --steps 60"),
        ({"steps": 10}, "choose 30 to 72"),
        ({"noise": 1.5}, "choose 0.0 to 0.8"),
        ({"seed": -1}, "choose 0 to"),
        ({"split": "test"}, "choose eval or train"),
        ({"wording": "loose"}, "choose listed or free"),
        ({"families": ("poetry",)}, "choose from live_debugging"),
        ({"families": ()}, "choose from live_debugging"),
        ({"families": ("live_debugging", "live_debugging")}, "choose from live_debugging"),
    ],
)
def test_what_cannot_be_met_is_refused_with_what_can(wrong: dict[str, Any], message: str) -> None:
    asked = {"seed": 1, "families": ("live_debugging",), **wrong}
    with pytest.raises(InputError, match=message):
        generate(Parameters(**asked))


def test_sdb_v1_can_be_measured_too(sdb_v1: Suite) -> None:
    found = coverage(sdb_v1)
    assert list(found) == list(FAMILY_MODULES)
    for measured in found.values():
        assert measured.states == 120
        assert sum(measured.rules.values()) > 100
    every = [m for measured in found.values() for m in measured.misreadings]
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "generate-suites.md").read_text()
    assert f"notices {sum(m.shown for m in every)} of {len(every)} misreadings" in page


@EVERY
def test_no_time_that_should_pass_is_dropped(family: str) -> None:
    """What takes time is a generator: called without `yield from`, it would do nothing at all."""
    folder = Path(generator(family).__file__).parent
    trees = {path.name: ast.parse(path.read_text("utf-8")) for path in folder.glob("*.py")}
    timed = {"script.wait", "script.hold", "script.until"}
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef) and ast.unparse(node.returns or node)[:5] == "Ticks":
            own = [a.arg for a in node.args.args][:1] == ["self"]
            timed.add(f".{node.name}" if own else node.name)
    dropped = [
        f"{name}:{node.lineno}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and (called := ast.unparse(node.value.func))
        and {called, ".".join(called.split(".")[-2:]), "." + called.rpartition(".")[2]} & timed
    ]
    assert len(timed) > 20
    assert dropped == []
