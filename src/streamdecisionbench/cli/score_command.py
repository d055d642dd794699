"""`sdb score`: what a recording is worth at any pace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.cli.loading import Subject, costs_for, load, own_pace, parts_of, passes_in
from streamdecisionbench.cli.options import Data, Weighting
from streamdecisionbench.cli.printing import (
    csv_writer,
    decision_text,
    dump,
    print_tables,
    require_one_form,
)
from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    from streamdecisionbench.recording.recording import Recording
    from streamdecisionbench.suite.scenario import Suite


def score(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Recording folders.")],
    data: Data = None,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Seconds per tick for the fixed-interval figures; 2, or a log's own pace."
        ),
    ] = None,
    bounds: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LOW HIGH", help="Intervals to integrate over; 0.5 8, or a log's own range."
        ),
    ] = None,
    weighting: Weighting = "log",
    clock: Annotated[
        str, typer.Option(help="Releases as recorded, or nominal i·tick.")
    ] = "recorded",
    by: Annotated[str, typer.Option(help="family, or scenario for more rows.")] = "family",
    mistakes: Annotated[
        bool, typer.Option("--mistakes", help="List wrong decisions with the evidence behind them.")
    ] = False,
    costs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Also what being wrong costs: a cost file (TOML), or default."
        ),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Also the complete scenarios of incomplete recordings."),
    ] = False,
    curves: Annotated[
        bool, typer.Option("--curves", help="With --json: coefficients of the exact pace curves.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-score/1.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print one row per level.")] = False,
) -> None:
    """Score recordings: the share of time the applied decision is right.

    One recording gives a screen, several give a ranking.
    """
    from dataclasses import asdict

    from streamdecisionbench.analysis.bootstrap import score_intervals, sure_scores_to_json
    from streamdecisionbench.analysis.repeated_runs import (
        repeats,
        repeats_table,
    )
    from streamdecisionbench.scoring.answer_accuracy import mistakes as find_mistakes
    from streamdecisionbench.scoring.score import score as rate
    from streamdecisionbench.scoring.score_json import (
        COST_COLUMNS,
        CSV_COLUMNS,
        csv_rows,
    )

    if by not in ("family", "scenario"):
        raise InputError(f"--by {by} is not known", fix="use family or scenario")
    require_one_form(as_json, as_csv)
    if curves and not as_json:
        raise InputError("--curves are coefficients for programs", fix="add --json")
    if mistakes and as_csv:
        raise InputError("--mistakes are not part of --csv", fix="use --json, or neither")
    # A live pair is scored component by component here; what they were worth together is `compose`'s.
    opened = load(runs, data, distinct=False, partial=partial)
    loaded = [(part, suite) for recording, suite in opened for part in parts_of(recording)]
    rules = None if costs is None else costs_for(costs, [Subject(*one) for one in loaded])
    scores = [
        rate(
            recording,
            suite,
            interval=own_pace(suite)[0] if interval is None else interval,
            bounds=own_pace(suite)[1] if bounds is None else bounds,
            weighting=weighting,
            clock=clock,
            costs=rules,
        )
        for recording, suite in loaded
    ]
    if as_csv:
        writer = csv_writer()
        writer.writerow((*CSV_COLUMNS, *(COST_COLUMNS if rules else ())))
        writer.writerows(csv_rows(scores))
        return
    sure = [score_intervals(one) for one in scores]
    if as_json:
        document = sure_scores_to_json(scores, sure, with_curves=curves)
        if mistakes:
            for entry, (recording, suite) in zip(document["recordings"], loaded, strict=True):
                entry["mistakes"] = [asdict(m) for m in find_mistakes(recording, suite)]
        dump(document)
        return
    from streamdecisionbench.render.terminal import console
    from streamdecisionbench.scoring.score_tables import ranking, screen

    out = console()
    if len(scores) == 1 or by == "scenario":
        for one, own in zip(scores, sure, strict=True):
            out.print(
                screen(one, own.interval_95, by_scenario=by == "scenario", width=min(out.width, 80))
            )
    if len(scores) > 1:
        out.print(ranking(scores, [own.interval_95 for own in sure], sure[0].drawn, out.width))
        for folder in runs:
            names = {str(p) for p in passes_in(folder)} if len(passes_in(folder)) > 1 else set()
            passes = [s for s, (r, _) in zip(scores, loaded, strict=True) if str(r.path) in names]
            if len(passes) > 1:
                out.print()
                print_tables([repeats_table(repeats(passes))])
        for line in _cautions(opened):
            out.print(f"! {line}", style="bold yellow")
    if rules:
        from streamdecisionbench.scoring.error_tables import cost_table

        out.print()
        print_tables([cost_table(scores, by_scenario=by == "scenario")])
    if mistakes:
        for recording, suite in loaded:
            for mistake in find_mistakes(recording, suite):
                out.print(f"\n{recording.name}  {mistake.episode_id} t={mistake.t}")
                out.print(f"  expected {decision_text(mistake.expected)}")
                out.print(f"  answered {decision_text(mistake.answered)}")
                for note in mistake.evidence:
                    out.print(f"  evidence {note}")


def _cautions(loaded: list[tuple[Recording, Suite]]) -> list[str]:
    """What a reader of one ranking must know: not everything in it need be comparable."""
    from streamdecisionbench.render.sentences import DIFFERENT_SUITES

    found = []
    if len({suite.dataset_hash for _, suite in loaded}) > 1:
        found.append(f"{DIFFERENT_SUITES}: these scores are not interchangeable")
    elif len({frozenset(recording.episodes) for recording, _ in loaded}) > 1:
        found.append(
            "recorded over different scenarios: these scores are means of different things"
        )
    found += [
        f"{recording.name} is a live pair: here its components, one by one; `sdb compose` says what"
        " they are worth together"
        for recording, _ in loaded
        if recording.halves and not recording.policy_applied
    ]
    return found


COMMANDS = {
    "score": score,
}
