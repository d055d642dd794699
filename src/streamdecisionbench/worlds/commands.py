"""The commands of generated suites and worlds, in the groups `suite` and `analyze`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamdecisionbench.cli.analyze_command import analysis_command
from streamdecisionbench.cli.options import AllowImport
from streamdecisionbench.cli.progress_bar import working
from streamdecisionbench.cli.record_options import OPTIONS, Row, argument, names, takes
from streamdecisionbench.cli.run_command import COMPONENT, carry_out, options_of
from streamdecisionbench.errors import InputError
from streamdecisionbench.text import plural
from streamdecisionbench.worlds.world_options import FRAMES, SEEDS, STEPS, WORDING

if TYPE_CHECKING:
    from streamdecisionbench.worlds.generation.compose import Solver


def generate(
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes, anywhere.")],
    out: Annotated[Path, typer.Option(help="A fresh folder for the suite.")],
    families: Annotated[
        str | None, typer.Option(help="Only these families (`support` is enough), comma-separated.")
    ] = None,
    per_family: Annotated[
        int, typer.Option(help="Scenarios per family, taking turns between its kinds.")
    ] = 10,
    steps: Annotated[int, typer.Option(help="Steps per scenario.")] = 60,
    changes: Annotated[
        int, typer.Option(help="Changes of the reference per scenario, met within 2.")
    ] = 22,
    noise: Annotated[
        float,
        typer.Option(help="Share of ticks with evidence that changes nothing, met within 0.1."),
    ] = 0.5,
    wording: Annotated[
        str,
        typer.Option(
            help="listed: rules list the phrases that count; free: they define intents, and people use"
            " their own words (support and presenter)."
        ),
    ] = "listed",
    split: Annotated[
        str, typer.Option(help="eval or train: they share no seed, no state and no name.")
    ] = "eval",
    second_solver: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAMILY=python:MODULE:FUNCTION",
            help="Answers a state independently; where it differs nothing is generated.",
        ),
    ] = None,
) -> None:
    """Generate a suite of new scenarios: new names, limits, phrases and events for every seed."""
    from streamdecisionbench.families.registry import FAMILY_MODULES, full_names
    from streamdecisionbench.suite.file_io import require_empty
    from streamdecisionbench.suite.suite_files import write_suite
    from streamdecisionbench.worlds.generate import generate as generate_suite
    from streamdecisionbench.worlds.generate import generated_families
    from streamdecisionbench.worlds.generation.parameters import Parameters

    require_empty(out)
    named = [name.strip() for name in families.split(",")] if families is not None else None
    parameters = Parameters(
        seed=seed,
        families=tuple(generated_families(wording))
        if named is None
        else full_names(filter(None, named), FAMILY_MODULES),
        per_family=per_family,
        steps=steps,
        changes=changes,
        noise=noise,
        wording=wording,
        split=split,
    )
    parameters.check()
    solvers = dict(_solver(text, parameters.families) for text in second_solver or ())
    notes: list[str] = []
    with working(f"making {plural(per_family * len(parameters.families), 'scenario')}"):
        suite = generate_suite(parameters, solvers, notes.append)
    write_suite(suite, out)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    print(
        f"{out}: {suite.name}, {plural(len(suite.scenarios), 'scenario')}, dataset hash {suite.dataset_hash}"
    )
    print(f"`sdb suite check --data {out}` makes it again from its manifest alone")


def _solver(text: str, families: tuple[str, ...]) -> tuple[str, Solver]:
    import importlib

    from streamdecisionbench.families.registry import full_names

    family, _, place = text.partition("=")
    (family,) = full_names([family], families)
    kind, _, rest = place.partition(":")
    module, _, name = rest.partition(":")
    if kind != "python" or not module or not name or family not in families:
        raise InputError(
            f"--second-solver {text!r} is not FAMILY=python:MODULE:FUNCTION",
            fix=f"FAMILY is one of {', '.join(families)}",
        )
    try:
        found: Solver = getattr(importlib.import_module(module), name)
        problem = "" if callable(found) else "it is no function"
    except (Exception, SystemExit) as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        raise InputError(
            f"--second-solver {text!r} cannot be loaded ({problem})",
            fix="check the names, and run from the folder that holds the module",
        )
    return family, found


# `sdb world run`: sessions that react to decisions.

_MOST_SEEDS = 1000
_SESSIONS = "Sessions"
_WORLD = {
    "seeds": Row(
        str | None, f"One session per seed, e.g. 1-8 (default: {SEEDS[0]}).", _SESSIONS, common=True,
    ),
    "steps": Row(int, "Steps of a session.", _SESSIONS, default=STEPS, common=True),
    "wording": Row(
        str, "Listed phrases or free wording, as in `suite generate`.", _SESSIONS, default=WORDING,
        common=True,
    ),
    "reference": Row(
        str | None, "gym: the right action for an observation.", _SESSIONS,
        metavar="python:MODULE:FUNCTION", common=True,
    ),
    "frames": Row(
        int, "gym: steps of the environment in one tick.", _SESSIONS, default=FRAMES, common=True,
    ),
}  # fmt: skip
_NOT_IN_A_WORLD = ("data", "families", "scenarios", "limit", "watch")
_WORLD |= {name: row for name, row in OPTIONS.items() if name not in _NOT_IN_A_WORLD}
_WORLD["clock"] = replace(
    OPTIONS["clock"],
    help="Real; virtual for components in this process; paused: the world waits for answers.",
)


@takes(
    [argument("world", "support, presenter, debugging, assembly, or gym:ID."), COMPONENT], _WORLD
)
def run_world(world: str, component: str | None = None, **given: Any) -> None:
    """Record a component in a closed loop: sessions that react to its decisions.

    `sdb analyze outcomes` shows what the decisions led to.
    """
    from streamdecisionbench.worlds.live_sessions import open_world

    options = options_of(component, given)
    opened = open_world(
        world,
        seeds=SEEDS if given["seeds"] is None else seeds_of(given["seeds"]),
        **{name: given[name] for name in ("steps", "wording", "reference", "frames")},
    )
    carry_out(options.changed(world=opened), given)


def seeds_of(text: str) -> tuple[int, ...]:
    """Whole numbers and ranges of them, with commas between.

    >>> seeds_of("1-3,7")
    (1, 2, 3, 7)
    """
    found: list[int] = []
    for part in names([text], "--seeds"):
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal() or len(part) > 40:
            raise InputError(f"--seeds {part!r:.40} is not a seed", fix="for example --seeds 1-8")
        if not 0 <= int(last or first) - int(first) < _MOST_SEEDS:
            raise InputError(
                f"--seeds {part} are not 1 to {_MOST_SEEDS} seeds", fix="for example --seeds 1-8"
            )
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


_UNHURRIED = Annotated[
    Path | None,
    typer.Option(metavar="RUN", help="The same component and sessions with --clock paused."),
]
GROUPS = {
    "suite": {"generate": generate},
    "analyze": {
        "outcomes": analysis_command(
            "outcomes",
            "Count what became of sessions in a world, and part the loss into latency and judgment.",
            {"unhurried": (_UNHURRIED, None), "allow_import": (AllowImport, None)},
        ),
        "propagation": analysis_command(
            "propagation",
            "Follow wrong spells in a world: how far and how long they change what comes after.",
            {"allow_import": (AllowImport, None)},
        ),
    },
}

HELP = "Worlds: closed loops, in which decisions change what happens next."
COMMANDS = {
    "run": run_world,
}
