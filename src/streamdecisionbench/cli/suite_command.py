"""`sdb suite`: look at scenarios, build them, export them, check them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamdecisionbench.cli.loading import find_scenario, load_suite
from streamdecisionbench.cli.options import PlainJson, SuiteData
from streamdecisionbench.cli.printing import decision_text, dump, print_grid
from streamdecisionbench.cli.progress_bar import working
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.features import require_hook
from streamdecisionbench.text import (
    plural,
    visible,
)

if TYPE_CHECKING:
    from streamdecisionbench.families.coverage import FamilyCoverage
    from streamdecisionbench.suite.scenario import Scenario, State, Suite


def build(
    out: Annotated[
        Path, typer.Option(help="Folder to write to. Building twice gives the same bytes.")
    ],
    drafts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[python:MODULE:DRAFT]...",
            help="Drafts of your own; the built-in suite otherwise.",
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="What your suite is called.")] = "",
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of your own code where it raises.")
    ] = False,
) -> None:
    """Build a suite from its sources: timelines, rules and references.

    A draft that does not keep its promises is refused with every one that it breaks.
    """
    from streamdecisionbench.families.sdb_v1 import build as build_suite
    from streamdecisionbench.suite.suite_files import write_suite

    if out.exists() and any(
        p.name != "manifest.json" and p.suffix != ".json" for p in out.iterdir()
    ):
        raise InputError(
            "holds files that are no suite", where=out, fix="choose another --out folder"
        )
    try:
        suite = _of_drafts(drafts, name) if drafts else build_suite()
    except SdbError as error:
        if debug and error.trace:
            typer.echo(visible(error.trace, lines=True), err=True)
        raise
    write_suite(suite, out)
    print(
        f"{out}: {suite.name}, {plural(len(suite.scenarios), 'scenario')}, dataset hash {suite.dataset_hash}"
    )


def _of_drafts(places: list[str], name: str) -> Suite:
    from streamdecisionbench.components.local.python_class import find_target
    from streamdecisionbench.suite.authoring import Draft, expand
    from streamdecisionbench.suite.suite_files import make_suite

    scenarios = []
    for place in places:
        if not place.startswith("python:"):
            raise InputError(f"{place!r} names no draft", fix="write python:module:draft")
        found = find_target(place.removeprefix("python:"))
        listed = found if isinstance(found, list | tuple) else [found]
        if not listed or not all(isinstance(draft, Draft) for draft in listed):
            raise InputError(
                f"{place} is no Draft and no list of them",
                fix="name a Draft of streamdecisionbench.suite.authoring",
            )
        scenarios += [expand(draft) for draft in listed]
    return make_suite(scenarios, name=name)


def check(
    data: SuiteData = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="python:MODULE:FUNCTION",
            help="Your own reference: a function of one state that gives every answer.",
        ),
    ] = None,
) -> None:
    """Re-run the references over every stored state and make the suite again to compare digests:
    the built-in one from its sources, a generated one from its manifest alone, one of your own by the
    reference you name."""
    from streamdecisionbench.families.sdb_v1 import NO_REFERENCE
    from streamdecisionbench.families.sdb_v1 import build as build_suite

    suite = load_suite(data)
    problems = _recheck(suite) if reference is None else _against(suite, reference)
    if data is None:
        fresh = build_suite()
        problems += [
            f"{key}: the frozen file is not what its sources build (run `sdb suite build`)"
            for key, value in fresh.manifest.hashes.items()
            if suite.manifest.hashes.get(key) != value
        ]
    elif suite.manifest.generation:
        problems += require_hook("regenerate_suite", "checking a generated suite")(suite)
    if problems:
        unknown = reference is None and any(NO_REFERENCE in problem for problem in problems)
        raise InputError(
            "\n  ".join([f"{len(problems)} problem(s)", *problems[:20]]),
            where=suite.name,
            fix="name your own with --reference python:module:function" if unknown else None,
        )
    states = sum(s.n for s in suite)
    print(f"{suite.name}: references reproduce all {states} stored states")


def _recheck(suite: Suite) -> list[str]:
    from streamdecisionbench.families.sdb_v1 import recheck

    try:
        return recheck(suite)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the references cannot read its states ({type(error).__name__}): it was not built"
            " from these families",
            where=suite.name,
            fix="name your own with --reference python:module:function;"
            " `sdb validate` checks any suite",
        ) from None


def _against(suite: Suite, name: str) -> list[str]:
    """What the user's own reference says otherwise, state by state."""
    import json

    from streamdecisionbench.components.local.python_class import find_target, raised_at

    target = find_target(name.removeprefix("python:")) if name.startswith("python:") else None
    if not callable(target):
        raise InputError(
            f"--reference {name} names no function", fix="write python:module:function"
        )
    problems = []
    for scenario in suite:
        for step in scenario.steps:
            where = f"{scenario.episode_id} tick {step.t}"
            try:
                answers = target(json.loads(json.dumps(step.state)))
            except Exception as error:
                raise InputError(
                    f"{where}: {name} raises {type(error).__name__}", where=raised_at(error)
                ) from None
            if not isinstance(answers, dict):
                raise InputError(
                    f"{where}: {name} returns {ascii(answers)[:80]}",
                    fix="return {question: value} for every question",
                )
            problems += [
                f"{where}: stored {question} = {value}, the reference says {answers.get(question)}"
                for question, value in step.gold.items()
                if answers.get(question) != value
            ]
    return problems


def coverage(data: SuiteData = None, as_json: PlainJson = False) -> None:
    """Per rule the states it decides, per option the states it answers, per misreading of one rule
    the decisions it changes."""
    from streamdecisionbench.families.coverage import coverage as measure

    suite = load_suite(data)
    with working(f"misreading every rule over {plural(sum(s.n for s in suite), 'state')}"):
        found = measure(suite)
    if as_json:
        dump(
            {
                "schema": "sdb-coverage/1",
                "suite": suite.name,
                "dataset_hash": suite.dataset_hash,
                "families": {family: _plain(part) for family, part in found.items()},
            }
        )
        return
    from streamdecisionbench.cli.suite_tables import print_coverage

    print_coverage(suite, found)


def _plain(part: FamilyCoverage) -> dict[str, Any]:
    return {
        "scenarios": part.scenarios,
        "states": part.states,
        "rules_known": bool(part.rules),
        "rules": part.rules,
        "options": part.options,
        "misreadings": [asdict(m) for m in part.misreadings],
        "undecided_rules": part.undecided(),
        "unanswered_options": [list(pair) for pair in part.unanswered()],
        "unnoticed_misreadings": [[m.rule, m.what] for m in part.unnoticed()],
    }


_FILES = "files"


def export(
    out: Annotated[
        Path, typer.Option(help="A fresh folder for the copy; a new file for rows (.jsonl).")
    ],
    data: SuiteData = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="files: as it ships; chat, systemone or laya: rows to fine-tune on, train split only.",
        ),
    ] = _FILES,
) -> None:
    """Write a suite to a folder, file by file as it ships, or a train split as rows to learn from."""
    from streamdecisionbench.components.training_rows import FORMATS
    from streamdecisionbench.suite.file_io import require_empty
    from streamdecisionbench.suite.suite_files import write_suite

    if form != _FILES and form not in FORMATS:
        known = ", ".join((_FILES, *FORMATS))
        raise InputError(f"--format {form!r} is not known", fix=f"choose from {known}")
    if form != _FILES:
        _write_rows(load_suite(data), form, out)
        return
    require_empty(out)
    suite = load_suite(data)
    write_suite(suite, out)
    print(f"{out}: {suite.name}, dataset hash {suite.dataset_hash}")


def _write_rows(suite: Suite, form: str, out: Path) -> None:
    import json

    from streamdecisionbench.components.training_rows import training_rows
    from streamdecisionbench.suite.file_io import write_text

    rows = [json.dumps(row, ensure_ascii=False) for row in training_rows(suite, form)]
    if out.exists():
        raise InputError("exists already", where=out, fix="choose a new --out file")
    write_text(out, "".join(f"{row}\n" for row in rows))
    print(f"{out}: {plural(len(rows), 'row')} for {form}, from {suite.name}")


def list_(data: SuiteData = None) -> None:
    """List the scenarios of a suite."""
    from streamdecisionbench.suite.scenario import FAMILIES

    suite = load_suite(data)
    print(f"{suite.name}  {suite.dataset_hash[:12]}")
    for family, scenarios in suite.families().items():
        print(f"\n{FAMILIES.get(family, family)} ({family})")
        for s in scenarios:
            print(
                f"  {s.episode_id:<13}{plural(len(s.questions), 'question')}, {plural(len(s.changes()), 'change')}"
            )
            print(f"    {s.title}")


def show(
    scenario: Annotated[str, typer.Argument(help="A scenario id, for example support_a.")],
    step: Annotated[
        int | None, typer.Option(help="One step in full; all steps in short otherwise.")
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Print the public rules too.")] = False,
    data: SuiteData = None,
) -> None:
    """Show a scenario: what happens at every step, what changes in the reference, and why."""
    import json

    from streamdecisionbench.render.terminal import console

    found = find_scenario(load_suite(data), scenario)
    out = console()
    if step is None:
        out.print(f"{found.episode_id}: {found.title}\n")
        if rules:
            _print_rules(out, found.steps[0].state)
        for t in range(found.n):
            _print_step(out, found, t, brief=True)
        return
    if not 0 <= step < found.n:
        raise InputError(
            f"step {step} is outside 0–{found.n - 1}", fix="choose a step of the scenario"
        )
    state = {k: v for k, v in found.steps[step].state.items() if rules or k != "rules"}
    out.print(
        f"{found.episode_id} step {step}: the public state{'' if rules else ' (rules: --rules)'}\n"
    )
    out.print(json.dumps(state, indent=1, ensure_ascii=False))
    out.print()
    _print_step(out, found, step, brief=False)


def _print_rules(out: Any, state: State) -> None:
    rules = state.get("rules") or state.get("prepared", {}).get("rules") or {}
    items = rules.items() if isinstance(rules, dict) else enumerate(rules, start=1)
    for key, text in items:
        out.print(f"[{key}] {text}\n")


def _print_step(out: Any, scenario: Scenario, t: int, *, brief: bool) -> None:
    from streamdecisionbench.suite.state_changes import state_changes

    step = scenario.steps[t]
    spec = scenario.decision_spec
    decision = spec.compose(step.gold)
    before = spec.compose(scenario.steps[t - 1].gold) if t else {}
    changed = decision != before
    mark = "*" if changed and t else " "
    text = decision_text(decision)
    if not brief or changed:
        out.print(f"{mark} t={t:<3} {text}", style="bold" if changed else None)
    else:
        out.print(f"  t={t}")
    if t:
        for line in state_changes(scenario.steps[t - 1].state, step.state):
            if not brief:
                out.print(f"      changed  {line}")
            elif not line.startswith("clock.now:"):
                out.print(f"      {line}", overflow="ellipsis", no_wrap=True)
    for note in step.evidence:
        out.print(f"      ({note})", style="dim")
    if not brief:
        out.print("      inactive " + ", ".join(q for q in scenario.questions if q not in decision))


def stats(
    data: SuiteData = None,
    as_json: PlainJson = False,
) -> None:
    """The benchmark table: questions, routes, options, changes, baselines, segments, sizes."""
    from streamdecisionbench.analysis.paper_analyses import facts
    from streamdecisionbench.render.table import percent

    suite = load_suite(data)
    rows = [facts(s) for s in suite]
    if as_json:
        dump({"suite": suite.name, "dataset_hash": suite.dataset_hash, "scenarios": rows})
        return
    out = print_grid(
        f"{suite.name} ({suite.dataset_hash[:12]})",
        (
            "scenario", "qs", "routes", "opt.", "chg.", "near", "seg.", "const.", "first", "lex.", "tokens",
        ),
        [
            (
                row["scenario"],
                str(row["questions"]),
                str(row["routes"]),
                f"{row['options_min']}–{row['options_max']}",
                str(row["changes"]),
                str(row["near_states"]),
                f"{row['segment_min']}–{row['segment_max']}",
                percent(row["best_constant"]),
                str(row["first_option_states"]),
                str(row["lexical_overlap_states"]),
                f"{row['tokens_min']}–{row['tokens_max']}",
            )
            for row in rows
        ],
    )  # fmt: skip
    states = sum(r["steps"] for r in rows)
    out.print(
        f"\n{plural(states, 'state')}, {sum(r['steps'] * r['questions'] for r in rows)} state–question pairs,"
        f" {plural(sum(r['changes'] for r in rows), 'change')}\n{plural(sum(r['near_states'] for r in rows), 'state')} within one"
        f" tick of a change (near)\nbest constant {percent(sum(r['best_constant'] for r in rows) / len(rows))} % on"
        f" average; first option {sum(r['first_option_states'] for r in rows)} and lexical overlap"
        f" {sum(r['lexical_overlap_states'] for r in rows)} of {plural(states, 'state')}\nsegments in ticks; tokens"
        " estimated at four characters each"
    )


HELP = "List, show, build, generate, export, check and describe suites."
COMMANDS = {
    "list": list_,
    "show": show,
    "build": build,
    "export": export,
    "check": check,
    "coverage": coverage,
    "stats": stats,
}
