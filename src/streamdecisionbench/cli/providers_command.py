"""`sdb providers`: what can answer here, and what is missing."""

from __future__ import annotations

from typing import Annotated

import typer


def providers(
    prompt: Annotated[
        bool,
        typer.Option("--prompt", help="Print the instruction text models get, and its digest."),
    ] = False,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print JSON for other programs.")
    ] = False,
) -> None:
    """List providers: installed or not, which variables are set (never their values)."""
    from dataclasses import asdict

    from streamdecisionbench.components.providers.address_and_key import load
    from streamdecisionbench.components.registry import survey

    if prompt:
        from streamdecisionbench.components.providers.prompt import Wording

        found = Wording().settings
        print(found["instruction"])
        print(f"sha256 {found['instruction_sha256']}")
        return
    load()
    statuses = survey()
    if json_output:
        from streamdecisionbench.cli.printing import dump

        dump([{**asdict(s), "ready": s.ready} for s in statuses])
        return
    import textwrap

    indent = " " * 4
    for status in statuses:
        mark = "ready" if status.ready else "no key" if status.installed else "missing"
        if mark == "no key":
            mark += f": set {' or '.join(status.needs)}"
        print(f"{status.provider}: {mark}")
        details = [f"{package} {version}" for package, version in status.versions.items()]
        details += [
            f"{variable} {'set' if is_set else 'not set'}"
            for variable, is_set in status.environment.items()
        ]
        if status.source != "built in":
            details.append(f"from {status.source}")
        if status.install:
            details.append(status.install)
        for text in (status.what, ", ".join(details)):
            if text:
                print(textwrap.fill(text, 80, initial_indent=indent, subsequent_indent=indent))


COMMANDS = {
    "providers": providers,
}
