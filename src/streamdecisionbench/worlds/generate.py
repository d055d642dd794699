"""New suites from a seed: the same parameters give the same bytes, on any machine."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any
from warnings import warn

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.registry import FAMILY_MODULES
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import make_suite
from streamdecisionbench.worlds.generation.compose import (
    Solver,
    Tell,
    compose,
)
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Seat,
)
from streamdecisionbench.worlds.generation.parameters import Parameters
from streamdecisionbench.worlds.generation.world import (
    Kind,
    World,
    deal,
)

_CHANGES_PER_SITUATION = 4
_TICKS_PER_SITUATION = 12
"""A session is dealt one situation for this many changes and ticks; the others are free."""
_CHANGES = 22 / 60
"""A step, in the session of a world."""
_SUITE_SOURCES = ("scenario.py", "sentence_bank.py", "constant_baselines.py")


def generated_families(wording: str = "listed") -> list[str]:
    """Families that have a generator for this wording, in reported order."""
    return [family for family in FAMILY_MODULES if wording in _generator(family).WORDINGS]


def generate(
    parameters: Parameters,
    second: Mapping[str, Solver] | None = None,
    tell: Tell = warn,
) -> Suite:
    """The suite these parameters name. `second` has an independent solver for some families.

    Scenarios of a family take turns between its kinds. Raises where a scenario cannot be made, and
    where a second solver differs from the reference. `tell` hears which scenario does not show what
    was its turn to show, if that happens: a warning, unless somebody else listens.
    """
    _check(parameters)
    scenarios = [
        open_world(family, parameters, (second or {}).get(family), tell, number=number).right
        for family in parameters.families
        for number in range(parameters.per_family)
    ]
    return make_suite(
        scenarios,
        name=f"SDB {parameters.split} {parameters.seed}",
        generator=generator_digests(parameters.families),
        generation=msgspec.to_builtins(parameters),
    )


def open_seeds(
    name: str, seeds: Sequence[int], wording: str = "listed", steps: int = 60
) -> list[World[Any]]:
    """Worlds of a family by its short name, one for every seed.

    The world of a seed is scenario seed mod 10 of the suite of that seed, so that consecutive seeds
    take turns between kinds.
    """
    families = {module: family for family, module in FAMILY_MODULES.items()}
    if name not in families:
        raise InputError(f"there is no world {name!r}", fix=f"choose from {', '.join(families)}")
    found = []
    for seed in seeds:
        parameters = Parameters(
            seed=seed,
            families=(families[name],),
            steps=steps,
            changes=round(steps * _CHANGES),
            wording=wording,
        )
        _check(parameters)
        number = seed % parameters.per_family
        found.append(open_world(families[name], parameters, tell=lambda _: None, number=number))
    return found


def regenerate(suite: Suite) -> list[str]:
    """Everything in which a generated suite differs from what its manifest says it is."""
    stated = suite.manifest.generation
    try:
        parameters = msgspec.convert(stated, Parameters)
    except msgspec.ValidationError as error:
        return [f"manifest.json: generation: {error}"]
    fresh = generate(parameters, tell=lambda _: None)
    names = list(dict.fromkeys([*suite.manifest.hashes, *fresh.manifest.hashes]))
    problems = [
        f"{name}: is not what seed {parameters.seed} generates"
        for name in names
        if suite.manifest.hashes.get(name) != fresh.manifest.hashes.get(name)
    ]
    if problems:
        # Only now do the sources matter: the same scenarios from a moved file are the same suite.
        now, then = fresh.manifest.generator, suite.manifest.generator
        problems += [
            f"{name}: is not the source that generated the suite; use the version it was made with"
            for name in sorted({*now, *then})
            if now.get(name) != then.get(name)
        ]
    return problems


def generator_digests(families: tuple[str, ...]) -> dict[str, str]:
    """SHA-256 of every source file that generated scenarios of these families depend on."""
    root = Path(str(resources.files("streamdecisionbench")))
    files = [root / "worlds" / "generate.py", root / "suite" / "authoring.py"]
    files += (root / "worlds" / "generation").glob("*.py")
    files += (root / "suite" / name for name in _SUITE_SOURCES)
    for family in families:
        home = root / "families" / FAMILY_MODULES[family]
        files += (p for p in home.glob("*.py") if p.name != "misreadings.py")
        files += (
            p
            for p in (root / "worlds" / FAMILY_MODULES[family]).iterdir()
            if p.suffix in (".py", ".toml")
        )
        files += (
            p for p in (home / "bank").glob("*") if p.name in ("__init__.py", "sentences.json")
        )
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
    }


def _check(parameters: Parameters) -> None:
    parameters.check()
    able = generated_families(parameters.wording)
    for family in parameters.families:
        if family not in able:
            what = (
                "is no family"
                if family not in FAMILY_MODULES
                else (f"has no {parameters.wording} wording")
            )
            raise InputError(f"--families: {family} {what}", fix=f"choose from {', '.join(able)}")
    if not parameters.families or len(set(parameters.families)) < len(parameters.families):
        raise InputError(
            "--families names nothing, or one family twice", fix=f"choose from {', '.join(able)}"
        )


def open_world(
    family: str,
    parameters: Parameters,
    second: Solver | None = None,
    tell: Tell = warn,
    *,
    number: int,
) -> World[Any]:
    """The session of this number, opened at tick 0; its `right` is the scenario of the suite."""
    kinds: tuple[Kind[Any], ...] = _generator(family).KINDS
    draws = Draws(parameters.seed, parameters.split, family)
    kind, index = kinds[number % len(kinds)], number // len(kinds)
    sessions = len(range(number % len(kinds), parameters.per_family, len(kinds)))
    most = min(
        parameters.changes // _CHANGES_PER_SITUATION, parameters.steps // _TICKS_PER_SITUATION
    )
    hands = deal(kind.situations, sessions, most, draws.fork(kind.name, "agenda"))
    seat = Seat(
        split=parameters.split,
        wording=parameters.wording,
        number=number,
        suite=draws.fork("suite"),
        agenda=tuple(hands[index]),
    )
    name = scenario_id(parameters, family, kind.name, number)
    return compose(kind, name, parameters, seat, draws.fork(kind.name, index), second, tell)


def scenario_id(parameters: Parameters, family: str, kind: str, number: int) -> str:
    """Unlike the id of any other seed or split, so that recordings of two suites never mix."""
    module = FAMILY_MODULES[family]
    return f"{module}_{kind}_{parameters.split}{parameters.seed}_{number:03d}"


def _generator(family: str) -> Any:
    return importlib.import_module(f"streamdecisionbench.worlds.{FAMILY_MODULES[family]}")
