"""`sdb policy show`: a policy file in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import PlainJson


def register(app: typer.Typer) -> None:
    app.command("show")(show)


def show(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="A policy file (TOML).")],
    as_json: PlainJson = False,
) -> None:
    """Check a policy file and say in plain words what it does."""
    from streamdecisionbench.analysis.policy_words import policy_lines
    from streamdecisionbench.cli.printing import dump, print_tables
    from streamdecisionbench.policy_file import read_policy

    found = read_policy(policy)
    if as_json:
        dump({"name": found.name, "policy": found.to_json(), "words": policy_lines(found)})
        return
    lines = policy_lines(found)
    needs = [
        name
        for name, needed in zip(
            found.cascade.components if found.cascade else ("the component",),
            found.confident(),
            strict=True,
        )
        if needed
    ]
    if needs:
        lines.append(f"Needs confidences of {', '.join(needs)}.")
    print_tables([], lines=lines)
