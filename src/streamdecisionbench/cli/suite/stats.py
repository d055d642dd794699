"""`sdb suite stats`: the benchmark table."""

from __future__ import annotations

import typer

from streamdecisionbench.cli.options import PlainJson, SuiteData


def register(app: typer.Typer) -> None:
    app.command("stats")(stats)


def stats(
    data: SuiteData = None,
    as_json: PlainJson = False,
) -> None:
    """The benchmark table: questions, routes, options, changes, baselines, segments, sizes."""
    from streamdecisionbench.analysis.numbers import percent
    from streamdecisionbench.analysis.suite_facts import facts
    from streamdecisionbench.cli.loading import load_suite
    from streamdecisionbench.cli.printing import dump

    suite = load_suite(data)
    rows = [facts(s) for s in suite]
    if as_json:
        dump({"suite": suite.name, "dataset_hash": suite.dataset_hash, "scenarios": rows})
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
