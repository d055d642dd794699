"""Behind `sdb suite`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from streamdecisionbench.audit.blind_export import diff
from streamdecisionbench.components.baselines.untimed import POLICIES, best_constant, states_right
from streamdecisionbench.errors import InputError
from streamdecisionbench.report.numbers import percent
from streamdecisionbench.suite.scenario import FAMILIES, Scenario, State, Suite
from streamdecisionbench.suite.sizes import estimate_tokens
from streamdecisionbench.suite.suite_files import (
    builtin_suite_path,
    read_suite,
    write_suite,
)

__all__ = [
    "build",
    "check",
    "decision_text",
    "export",
    "facts",
    "find_scenario",
    "list_",
    "load_suite",
    "show",
    "stats",
]


def list_(data: Path | None) -> None:
    suite = load_suite(data)
    print(f"{suite.name}  {suite.dataset_hash[:12]}")
    for family, scenarios in suite.families().items():
        print(f"\n{FAMILIES.get(family, family)} ({family})")
        for s in scenarios:
            print(f"  {s.episode_id:<13}{len(s.questions)} questions, {len(s.changes())} changes")
            print(f"    {s.title}")


def show(name: str, step: int | None, rules: bool, data: Path | None) -> None:
    from streamdecisionbench.report.terminal.scores import console

    scenario = find_scenario(load_suite(data), name)
    out = console()
    if step is None:
        out.print(f"{scenario.episode_id}: {scenario.title}\n")
        if rules:
            _print_rules(out, scenario.steps[0].state)
        for t in range(scenario.n):
            _print_step(out, scenario, t, brief=True)
        return
    if not 0 <= step < scenario.n:
        raise InputError(
            f"step {step} is outside 0–{scenario.n - 1}", fix="choose a step of the scenario"
        )
    state = {k: v for k, v in scenario.steps[step].state.items() if rules or k != "rules"}
    out.print(
        f"{scenario.episode_id} step {step}: the public state{'' if rules else ' (rules: --rules)'}\n"
    )
    out.print(json.dumps(state, indent=1, ensure_ascii=False))
    out.print()
    _print_step(out, scenario, step, brief=False)


def build(out: Path) -> None:
    from streamdecisionbench.families.sdb_v1 import build as build_suite

    if out.exists() and any(
        p.name != "manifest.json" and p.suffix != ".json" for p in out.iterdir()
    ):
        raise InputError(
            "holds files that are no suite", where=out, fix="choose another --out folder"
        )
    suite = build_suite()
    write_suite(suite, out)
    print(
        f"{out}: {suite.name}, {len(suite.scenarios)} scenarios, dataset hash {suite.dataset_hash}"
    )


def export(out: Path, data: Path | None) -> None:
    if out.exists() and any(out.iterdir()):
        raise InputError("is not empty", where=out, fix="choose a fresh --out folder")
    suite = load_suite(data)
    write_suite(suite, out)
    print(f"{out}: {suite.name}, dataset hash {suite.dataset_hash}")


def check(data: Path | None) -> None:
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
    if problems:
        raise InputError(
            "\n  ".join([f"{len(problems)} problem(s)", *problems[:20]]), where=suite.name
        )
    states = sum(s.n for s in suite)
    print(f"{suite.name}: references reproduce all {states} stored states")


def stats(data: Path | None, as_json: bool) -> None:
    suite = load_suite(data)
    rows = [facts(s) for s in suite]
    if as_json:
        json.dump(
            {"suite": suite.name, "dataset_hash": suite.dataset_hash, "scenarios": rows},
            sys.stdout,
            indent=2,
        )
        print()
        return
    from rich.table import Table

    from streamdecisionbench.report.terminal.scores import console

    title = f"{suite.name} ({suite.dataset_hash[:12]})"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    heads = (
        "scenario", "qs", "routes", "opt.", "chg.", "near", "seg.", "const.", "first", "lex.", "tokens",
    )  # fmt: skip
    for head in heads:
        table.add_column(head, justify="left" if head == "scenario" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
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
    out = console()
    out.print(table)
    states = sum(r["steps"] for r in rows)
    out.print(
        f"\n{states} states, {sum(r['steps'] * r['questions'] for r in rows)} state–question pairs,"
        f" {sum(r['changes'] for r in rows)} changes\n{sum(r['near_states'] for r in rows)} states within one"
        f" tick of a change (near)\nbest constant {percent(sum(r['best_constant'] for r in rows) / len(rows))} % on"
        f" average; first option {sum(r['first_option_states'] for r in rows)} and lexical overlap"
        f" {sum(r['lexical_overlap_states'] for r in rows)} of {states} states\nsegments in ticks; tokens"
        " estimated at four characters each"
    )


def facts(scenario: Scenario) -> dict[str, Any]:
    """One row of the benchmark table."""
    options = [len(q.criteria) for q in scenario.questions.values()]
    changes = scenario.changes()
    edges = [0, *changes, scenario.n]
    lengths = [b - a for a, b in pairwise(edges)]
    sizes = [estimate_tokens(scenario.request(t)) for t in range(scenario.n)]
    consumed = [len(decision) for decision in scenario.reference()]
    near = sum(any(abs(t - c) <= 1 for c in changes) for t in range(scenario.n))
    return {
        "scenario": scenario.episode_id,
        "family": scenario.task_family,
        "title": scenario.title,
        "steps": scenario.n,
        "questions": len(options),
        "routes": len(scenario.decision_spec.branches),
        "options_min": min(options),
        "options_max": max(options),
        "consumed_min": min(consumed),
        "consumed_max": max(consumed),
        "changes": len(changes),
        "near_states": near,
        "segment_min": min(lengths),
        "segment_max": max(lengths),
        "best_constant": best_constant(scenario) / scenario.n,
        **{f"{name}_states": states_right(scenario, policy) for name, policy in POLICIES.items()},
        "tokens_min": min(sizes),
        "tokens_max": max(sizes),
    }


def decision_text(decision: Mapping[str, str]) -> str:
    """A composed decision on one line.

    >>> decision_text({"route": "hold", "hold_action": "wait"})
    'route=hold, hold_action=wait'
    """
    return ", ".join(f"{q}={value}" for q, value in decision.items())


def load_suite(data: Path | None) -> Suite:
    return read_suite(data or builtin_suite_path())


def find_scenario(suite: Suite, name: str) -> Scenario:
    if name not in suite.scenarios:
        raise InputError(
            f"no scenario is called {name!r}", fix=f"choose one of: {', '.join(suite.scenarios)}"
        )
    return suite.scenarios[name]


def _print_rules(out: Any, state: State) -> None:
    rules = state.get("rules") or state.get("prepared", {}).get("rules") or {}
    items = rules.items() if isinstance(rules, dict) else enumerate(rules, start=1)
    for key, text in items:
        out.print(f"[{key}] {text}\n")


def _print_step(out: Any, scenario: Scenario, t: int, *, brief: bool) -> None:
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
        for line in diff(scenario.steps[t - 1].state, step.state):
            if not brief:
                out.print(f"      changed  {line}")
            elif not line.startswith("clock.now:"):
                out.print(f"      {line}", overflow="ellipsis", no_wrap=True)
    for note in step.evidence:
        out.print(f"      ({note})", style="dim")
    if not brief:
        out.print("      inactive " + ", ".join(q for q in scenario.questions if q not in decision))
