"""Behind `sdb audit`."""

from __future__ import annotations

import json
from pathlib import Path

from streamdecisionbench.audit.agreement import check, read_answers
from streamdecisionbench.audit.audit_record import read_record, summarise, violations
from streamdecisionbench.audit.blind_export import export
from streamdecisionbench.audit.shortcuts import SHORTCUTS, shortcuts
from streamdecisionbench.cli.suites import decision_text, find_scenario, load_suite
from streamdecisionbench.errors import InputError
from streamdecisionbench.report.numbers import percent
from streamdecisionbench.suite.suite_files import builtin_suite_path

__all__ = ["builtin_record_path", "check_", "export_", "record_", "shortcuts_"]


def builtin_record_path() -> Path:
    """The audit of the built-in suite: the record, with the answer sheets beside it."""
    return builtin_suite_path().parent / "audit" / "record.json"


def export_(name: str, out: Path, data: Path | None) -> None:
    scenario = find_scenario(load_suite(data), name)
    export(scenario, out)
    print(f"{out}: {scenario.n} steps; read README.md there first")


def check_(name: str, answers: Path, data: Path | None, as_json: bool) -> bool:
    """Prints the comparison; true when every composed decision agrees."""
    scenario = find_scenario(load_suite(data), name)
    result = check(scenario, read_answers(answers, scenario))
    if as_json:
        print(json.dumps(result.to_json(), indent=2, ensure_ascii=False))
    else:
        print(f"{name}: {result.consumed} of {result.states} composed decisions agree")
        for question, count in result.per_question.items():
            print(f"  {question:<20}{count:>3} of {result.states}")
        for d in result.disagreements:
            kind = "decision" if d.consumed else "ignored answer"
            print(f"\nt={d.t}  {kind} differs in {', '.join(d.questions)}")
            print(f"  reference {decision_text(d.reference)}")
            print(f"  answered  {decision_text(d.answered)}")
            for note in d.evidence:
                print(f"  evidence  {note}")
    return result.consumed == result.states


def record_(path: Path | None, data: Path | None, as_json: bool) -> None:
    path = path or builtin_record_path()
    suite = load_suite(data)
    record = read_record(path)
    problems = violations(record, suite)
    if problems:
        raise InputError(
            "\n  ".join([f"{len(problems)} problem(s)", *problems]),
            where=path,
            fix="complete the record",
        )
    figures = summarise(record)
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    print(
        f"Audit of {record.suite} ({record.current_hash[:12]}; read as {record.audited_hash[:12]})\n"
    )
    for name, value in figures.items():
        print(f"  {name.replace('_', ' '):<33}{value:>5}")
    print()
    from streamdecisionbench.report.terminal.scores import console

    out = console()
    for finding in record.findings:
        out.print(f"{finding.id}  [{finding.status}] {finding.title}")


def shortcuts_(data: Path | None, as_json: bool) -> None:
    suite = load_suite(data)
    table: dict[str, dict[str, float]] = {s.episode_id: shortcuts(s) for s in suite}
    if as_json:
        print(json.dumps({"schema": "sdb-audit-shortcuts/1", "scenarios": table}, indent=2))
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
