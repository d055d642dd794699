"""`sdb suite show`: what happens in a scenario, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamdecisionbench.cli.options import SuiteData

if TYPE_CHECKING:
    from streamdecisionbench.suite.scenario import Scenario, State


def register(app: typer.Typer) -> None:
    app.command("show")(show)


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

    from streamdecisionbench.cli.loading import find_scenario, load_suite
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.report.terminal.scores import console

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
    from streamdecisionbench.audit.blind_export import diff
    from streamdecisionbench.cli.printing import decision_text

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
