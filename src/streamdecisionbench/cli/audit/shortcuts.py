"""`sdb audit shortcuts`: how far guessing gets without the rules."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import PlainJson, SuiteData


def register(app: typer.Typer) -> None:
    app.command("shortcuts")(shortcuts)


def shortcuts(data: SuiteData = None, as_json: PlainJson = False) -> None:
    """How far guessing gets without reading the rules, per scenario."""
    from streamdecisionbench.analysis.numbers import percent
    from streamdecisionbench.audit.shortcuts import SHORTCUTS
    from streamdecisionbench.audit.shortcuts import shortcuts as guess
    from streamdecisionbench.cli.loading import load_suite
    from streamdecisionbench.cli.printing import dump

    suite = load_suite(data)
    table: dict[str, dict[str, float]] = {s.episode_id: guess(s) for s in suite}
    if as_json:
        dump({"schema": "sdb-audit-shortcuts/1", "scenarios": table})
        return
    from rich.table import Table

    from streamdecisionbench.report.terminal.scores import console

    names = list(table)
    out = Table(
        title="Untimed accuracy without the rules (%)",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    out.add_column("shortcut", no_wrap=True)
    for name in names:
        out.add_column(_short(name), justify="right", no_wrap=True)
    out.add_column("mean", justify="right")
    for shortcut in SHORTCUTS:
        values = [table[name][shortcut] for name in names]
        out.add_row(shortcut, *(percent(v) for v in values), percent(sum(values) / len(values)))
    screen = console()
    screen.print(out)
    for shortcut, (_, text) in SHORTCUTS.items():
        screen.print(f"{shortcut}: {text}", style="dim")


def _short(name: str) -> str:
    """debugging_a → deb A: eight columns fit into 80."""
    stem, _, part = name.rpartition("_")
    return f"{stem[:3]} {part.upper()}" if stem else name
