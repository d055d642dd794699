"""`sdb suite check`: is a suite still what its sources say?"""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import SuiteData


def register(app: typer.Typer) -> None:
    app.command("check")(check)


def check(data: SuiteData = None) -> None:
    """Re-run the references over every stored state and make the suite again to compare digests:
    the built-in one from its sources, a generated one from its manifest alone."""
    from streamdecisionbench.cli.loading import load_suite
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.families.generate import regenerate
    from streamdecisionbench.families.sdb_v1 import build as build_suite
    from streamdecisionbench.families.sdb_v1 import recheck

    suite = load_suite(data)
    try:
        problems = recheck(suite)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the references cannot read its states ({type(error).__name__}): it was not built"
            " from these families",
            where=suite.name,
            fix="`sdb validate` checks any suite",
        ) from None
    if data is None:
        fresh = build_suite()
        problems += [
            f"{key}: the frozen file is not what its sources build (run `sdb suite build`)"
            for key, value in fresh.manifest.hashes.items()
            if suite.manifest.hashes.get(key) != value
        ]
    elif suite.manifest.generation:
        problems += regenerate(suite)
    if problems:
        raise InputError(
            "\n  ".join([f"{len(problems)} problem(s)", *problems[:20]]), where=suite.name
        )
    states = sum(s.n for s in suite)
    print(f"{suite.name}: references reproduce all {states} stored states")
