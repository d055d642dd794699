"""`sdb audit`: whether the references can be trusted."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.cli.loading import find_scenario, load_suite
from streamdecisionbench.cli.options import PlainJson, SuiteData
from streamdecisionbench.cli.printing import decision_text, dump, print_grid
from streamdecisionbench.errors import InputError
from streamdecisionbench.text import plural

if TYPE_CHECKING:
    from streamdecisionbench.audit.probe import ProbeResult
    from streamdecisionbench.audit.readings import Compared
    from streamdecisionbench.suite.scenario import Suite


def bank(
    family: Annotated[str, typer.Argument(help="A family that has a bank of sentences.")],
    out: Annotated[Path, typer.Option(help="A fresh folder.")],
) -> None:
    """Write a family's sentences without their intents, in no order, with the definitions."""
    from streamdecisionbench.audit.readings import export_bank
    from streamdecisionbench.families.registry import bank_of

    found, intents = bank_of(family)
    export_bank(found, intents, out)
    print(f"{out}: {len(found.sentences)} sentences; read README.md there first")


def check(
    scenario: Annotated[str, typer.Argument(help="A scenario id.")],
    answers: Annotated[Path, typer.Argument(help="A filled answer sheet.")],
    data: SuiteData = None,
    as_json: PlainJson = False,
) -> None:
    """Compare a reader's answers with the references; exit code 1 when a decision differs."""
    from streamdecisionbench.analysis.agreement import check as compare
    from streamdecisionbench.analysis.agreement import read_answers

    found = find_scenario(load_suite(data), scenario)
    result = compare(found, read_answers(answers, found))
    if as_json:
        dump(result.to_json())
    else:
        print(f"{scenario}: {result.consumed} of {result.states} composed decisions agree")
        for question, count in result.per_question.items():
            print(f"  {question:<20}{count:>3} of {result.states}")
        for d in result.disagreements:
            kind = "decision" if d.consumed else "ignored answer"
            print(f"\nt={d.t}  {kind} differs in {', '.join(d.questions)}")
            print(f"  reference {decision_text(d.reference)}")
            print(f"  answered  {decision_text(d.answered)}")
            for note in d.evidence:
                print(f"  evidence  {note}")
    if result.consumed != result.states:
        raise typer.Exit(1)


def export(
    scenario: Annotated[str, typer.Argument(help="A scenario id.")],
    out: Annotated[Path, typer.Option(help="A fresh folder.")],
    data: SuiteData = None,
) -> None:
    """Write what a blind reader may see: states and questions, nothing else."""
    from streamdecisionbench.audit.blind_export import export as write

    found = find_scenario(load_suite(data), scenario)
    write(found, out)
    print(f"{out}: {plural(found.n, 'step')}; read README.md there first")


_FEWEST = 3
"""Fewer scenarios teach nothing: no value would answer often enough to be learned."""


def probe(
    families: Annotated[
        str | None, typer.Option(help="Only these families (`support` is enough), comma-separated.")
    ] = None,
    train: Annotated[
        int, typer.Option(help="Generated scenarios per family to learn from (train split).")
    ] = 100,
    test: Annotated[
        int, typer.Option(help="Generated scenarios per family to try it on (eval split).")
    ] = 20,
    seed: Annotated[int, typer.Option(help="Names the suites it learns from and is tried on.")] = 1,
    data: Annotated[
        Path | None, typer.Option(help="Try it on this suite instead of generated scenarios.")
    ] = None,
    as_json: PlainJson = False,
) -> None:
    """Learn hashed words on generated scenarios, try them on others and on SDB v1; exit code 1 when
    40 % of composed decisions in a family can be had that way."""
    from streamdecisionbench.audit import probe as audit
    from streamdecisionbench.families.registry import FAMILY_MODULES, full_names
    from streamdecisionbench.features import require_hook

    audit.require_learner()
    generate = require_hook("generate_suite", "the probe")
    if train < _FEWEST or test < 1:
        raise InputError(
            f"--train {train} --test {test} measures nothing",
            fix=f"choose at least {_FEWEST} to learn from and 1 to try",
        )
    able = tuple(FAMILY_MODULES)
    named = full_names((f.strip() for f in (families or "").split(",") if f.strip()), able) or able
    tried = {"SDB v1": _suite(None), **({} if data is None else {data.name: _suite(data)})}
    table: dict[str, dict[str, ProbeResult]] = {}
    for family in named:
        print(f"{family}: learning from {plural(train, 'scenario')}", file=sys.stderr)
        drawn = generate(seed=seed, families=(family,), per_family=train, split="train")
        learned = audit.train(list(drawn))
        on = {name: suite.families().get(family, []) for name, suite in tried.items()}
        if data is None:
            on["generated"] = list(generate(seed=seed, families=(family,), per_family=test))
        table[family] = {
            name: audit.measure(learned, scenarios) for name, scenarios in on.items() if scenarios
        }
    if as_json:
        measured = {
            family: {name: {**asdict(r), "leaks": r.leaks} for name, r in results.items()}
            for family, results in table.items()
        }
        schema = {"schema": "sdb-audit-probe/1", "train": train, "seed": seed}
        dump({**schema, "limit": audit.LIMIT, "families": measured})
    else:
        _show(table)
    if any(result.leaks for found in table.values() for result in found.values()):
        raise typer.Exit(1)


def _suite(data: Path | None) -> Suite:

    suite = load_suite(data)
    if suite.manifest.generation and suite.manifest.generation.get("split") == "train":
        raise InputError(
            "is of the train split, which the probe learns from",
            where=data,
            fix="try it on a suite of the eval split",
        )
    return suite


def _show(table: dict[str, dict[str, ProbeResult]]) -> None:
    from streamdecisionbench.audit.probe import LIMIT
    from streamdecisionbench.render.table import percent

    tried = [(f, name, found) for f, results in table.items() for name, found in results.items()]
    screen = print_grid(
        "Untimed accuracy of a learned shallow probe (%)",
        ("family", "tried on", "states", "composed", "commonest"),
        [(f, on, str(r.states), percent(r.composed), percent(r.commonest)) for f, on, r in tried],
        left=2,
    )
    screen.print("commonest: every question's commonest answer in training", style="dim")
    for family, name, found in tried:
        parts = ", ".join(f"{q} {percent(v)}" for q, v in found.questions.items())
        screen.print(f"{family} on {name}, by question: {parts}", style="dim")
        if found.leaks:
            screen.print(f"{family} on {name} leaks: {percent(LIMIT)} % or more without any rule")


def readings(
    family: Annotated[str, typer.Argument(help="A family that has a bank of sentences.")],
    sheets: Annotated[list[Path], typer.Argument(help="Filled answer sheets, one per reader.")],
    record: Annotated[
        Path | None, typer.Option(help="Write the readings into this file, as they are.")
    ] = None,
) -> None:
    """Compare readings with the bank and each other; exit code 1 where a sentence is in dispute."""
    from streamdecisionbench.audit.readings import compare, read_reading, write_record
    from streamdecisionbench.families.registry import bank_of

    bank, intents = bank_of(family)
    found = [read_reading(sheet, bank, intents) for sheet in sheets]
    result = compare(bank, intents, found)
    _print(result)
    if record is not None:
        write_record(record, family, found)
        print(f"\n{record}: {len(found)} readings")
    if result.disputes or result.unread:
        raise typer.Exit(1)


def _print(result: Compared) -> None:
    print(f"{result.agreed} of {result.sentences} sentences: all readings agree with the bank")
    for reader, right in result.by_reader.items():
        print(f"  {reader:<20}{right:>5} of {result.sentences}")
    print("\nsession   speaker   intent               sentences  agreed")
    for (setting, speaker, intent), (n, agreed) in result.groups.items():
        print(f"{setting:<10}{speaker:<10}{intent:<20}{n:>10}{agreed:>8}")
    for sentence, meant, answers in result.disputes:
        print(f"\n{sentence.id}  {sentence.setting}, {sentence.speaker}: {sentence.text}")
        print(f"  bank {meant}")
        for reader, answer in answers.items():
            print(f"  {reader} {answer}")
    if result.unread:
        print(f"\n{len(result.unread)} sentences lack an answer: {', '.join(result.unread[:6])} …")


def record(
    path: Annotated[
        Path | None, typer.Argument(help="A record; the built-in suite's otherwise.")
    ] = None,
    data: SuiteData = None,
    as_json: PlainJson = False,
) -> None:
    """Validate an audit record and print it: figures, every check, every finding with its votes."""
    from streamdecisionbench.audit.audit_record import (
        LAWS,
        builtin_record_path,
        law_digest,
        read_record,
        summarise,
        violations,
    )

    path = path or builtin_record_path()
    suite = load_suite(data)
    audited = read_record(path)
    problems = violations(audited, suite)
    if problems:
        raise InputError(
            "\n  ".join([f"{len(problems)} problem(s)", *problems]),
            where=path,
            fix="complete the record",
        )
    figures = summarise(audited)
    if as_json:
        dump(figures)
        return
    print(
        f"Audit of {audited.suite} ({audited.current_hash[:12]}; read as {audited.audited_hash[:12]})\n"
    )
    for name, value in figures.items():
        print(f"  {name.replace('_', ' '):<36}{value:>5}")
    from streamdecisionbench.render.terminal import console

    out = console()
    print("\nReadings: composed decisions that agree")
    for check in audited.checks:
        told = f"  {check.scenario:<14}{check.role:<9}{check.consumed:>3} of {check.states}  {check.note}"
        out.print(told)
    print("\nRule text against reference code")
    for audit in audited.code_text:
        known = audit.family in LAWS
        since = (
            "" if not known or audit.read_digest == law_digest(audit.family) else "; changed since"
        )
        out.print(
            f"  {audit.family}, {audit.lens}: {audit.rules} rules read, found:"
            f" {', '.join(audit.findings) or 'nothing'}{since}"
        )
    print("\nThe suite as a whole")
    for whole in audited.structure:
        out.print(
            f"  {whole.name}: {whole.agreeing} of {whole.checked} ({whole.command}). {whole.note}"
        )
    print("\nFindings")
    for finding in audited.findings:
        out.print(f"{finding.id}  [{finding.status}] {finding.title}")
        for lens, vote in finding.votes.items():
            out.print(f"  {lens.replace('_', '-')}: {vote}. {finding.vote_reasons[lens]}")
        out.print(f"  {finding.resolution}")
    if audited.scope:
        out.print(f"\n{audited.scope}")


def shortcuts(data: SuiteData = None, as_json: PlainJson = False) -> None:
    """How far guessing gets without reading the rules, per scenario."""
    from streamdecisionbench.audit.probe import SHORTCUTS
    from streamdecisionbench.audit.probe import shortcuts as guess
    from streamdecisionbench.render.table import percent
    from streamdecisionbench.suite.scenario import FAMILIES

    suite = load_suite(data)
    table: dict[str, dict[str, float]] = {s.episode_id: guess(s) for s in suite}
    if as_json:
        dump({"schema": "sdb-audit-shortcuts/1", "scenarios": table})
        return
    shown = {_short(name): [name] for name in table}
    if len(table) > _COLUMNS:
        shown = {}
        for scenario in suite:
            family = FAMILIES.get(scenario.task_family, scenario.task_family)
            shown.setdefault(family, []).append(scenario.episode_id)

    def mean(shortcut: str, names: Collection[str]) -> str:
        return percent(sum(table[name][shortcut] for name in names) / len(names))

    by = (
        "by scenario"
        if len(table) <= _COLUMNS
        else f"means of {plural(len(table), 'scenario')} by family"
    )
    screen = print_grid(
        f"Untimed accuracy without the rules (%), {by}",
        ("shortcut", *shown, "mean"),
        [
            (name, *(mean(name, names) for names in shown.values()), mean(name, table))
            for name in SHORTCUTS
        ],
    )
    for name, (_, text) in SHORTCUTS.items():
        screen.print(f"{name}: {text}", style="dim")


_COLUMNS = 8
"""Scenarios that fit into 80 columns side by side."""


def _short(name: str) -> str:
    """debugging_a → deb A; a name without a letter or number at its end stays as it is."""
    stem, _, part = name.rpartition("_")
    return f"{stem[:3]} {part.upper()}" if stem and len(part) <= 2 else name


HELP = "Audit references: blind export, comparison, record, shortcuts, learned probe."
COMMANDS = {
    "export": export,
    "check": check,
    "record": record,
    "shortcuts": shortcuts,
    "probe": probe,
    "bank": bank,
    "readings": readings,
}
