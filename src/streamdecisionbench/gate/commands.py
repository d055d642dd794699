"""`sdb gate` and `sdb diff`: stop a release whose decisions got worse, and see which states they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.cli.options import (
    Block,
    Data,
    Reference,
    ReferenceTables,
    Resamples,
    Seed,
    Sql,
)

if TYPE_CHECKING:
    from streamdecisionbench.analysis.bootstrap import Estimate
    from streamdecisionbench.analysis.flips import Causes
    from streamdecisionbench.gate.verdict import (
        Gate,
        Side,
    )


Pace = Annotated[
    float | None, typer.Option(help="Seconds per tick; integrated over 0.5–8 s otherwise.")
]


# `sdb gate`: stop a release whose decisions got worse.


def gate(
    new: Annotated[
        Path,
        typer.Argument(
            metavar="NEW", help="Recording, decision log or score; with --record a folder of code."
        ),
    ],
    baseline: Annotated[
        str, typer.Option(metavar="OLD", help="What it is compared with; with --by a group of NEW.")
    ],
    data: Data = None,
    interval: Pace = None,
    max_drop: Annotated[float, typer.Option(help="Points the score may drop.")] = 1.0,
    minimum: Annotated[
        float | None, typer.Option("--min", help="Points the new score must reach.")
    ] = None,
    allow_model_change: Annotated[
        bool, typer.Option("--allow-model-change", help="Another served model is no failure.")
    ] = False,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Logs of different streams of the same traffic.")
    ] = False,
    sql: Sql = None,
    references: ReferenceTables = None,
    reference: Reference = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="COLUMN", help="Gate two groups of one log. Repeat it."),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="With --by: the new group, where there are several.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 3 when it cannot tell.")] = False,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="python:…",
            help="Record this component from two folders of code, here and now, and gate that.",
        ),
    ] = None,
    latency: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="With --record: declared latencies; see `sdb run`."),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the verdict as JUnit XML.")] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Print annotations, add a job summary.")
    ] = False,
    block: Block = 10,
    resamples: Resamples = 5000,
    seed: Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-gate/1.")] = False,
) -> None:
    """Compare with a baseline: pass, fail, or cannot tell.

    Exit code 0 for pass and cannot tell (3 with --strict), 1 for fail, 2 for bad input.
    """
    from contextlib import suppress

    from streamdecisionbench.analysis.bootstrap import Sampling
    from streamdecisionbench.cli.printing import dump
    from streamdecisionbench.cli.progress_bar import working
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.gate.compare import (
        LogOptions,
        compare,
        record_and_compare,
    )
    from streamdecisionbench.gate.outputs import (
        append_summary,
        exit_code,
        exit_line,
        gate_lines,
        gate_markdown,
        junit_xml,
        workflow_commands,
        write_junit,
    )
    from streamdecisionbench.gate.verdict import Limits
    from streamdecisionbench.render.terminal import console

    limits = Limits(max_drop, minimum, allow_model_change)
    sampling = Sampling(block, resamples, seed)
    logs = LogOptions(sql, references, reference, tuple(by or ()), group, unpaired)
    if latency is not None and record is None:
        raise InputError("--latency belongs to --record", fix="add --record python:…")
    with working("comparing with the baseline"):
        if record is not None:
            if logs != LogOptions():
                raise InputError("--record compares code, not logs", fix="leave one of them out")
            found = record_and_compare(
                record, new, Path(baseline), data, latency,
                interval=interval, limits=limits, sampling=sampling,
            )  # fmt: skip
        else:
            found = compare(
                new, baseline, data, interval=interval, limits=limits, sampling=sampling, logs=logs
            )
    code = exit_code(found, strict=strict)
    if junit is not None:
        write_junit(junit, junit_xml(found, strict=strict))
    if github:
        append_summary(gate_markdown(found))
    # The verdict stands, whether or not anybody reads it to the end.
    with suppress(BrokenPipeError):
        if as_json:
            dump({**_document(found), "exit_code": code})
        else:
            out = console()
            for line in gate_lines(found):
                style = "bold yellow" if line.startswith("! ") else None
                out.print(line, style=style, markup=False, highlight=False)
        if not strict and (note := exit_line(found)):
            typer.echo(note, err=as_json)
        if github:
            for line in workflow_commands(found, strict=strict):
                typer.echo(line, err=as_json)
    if code:
        raise typer.Exit(code)


def _document(gate: Gate) -> dict[str, object]:
    from dataclasses import asdict

    def estimate(found: Estimate) -> dict[str, object]:
        return {"value": found.value, "interval_95": [found.low, found.high]}

    def side(found: Side, score: Estimate) -> dict[str, object]:
        told = {**found.holds, "notes": list(found.notes)}
        return {"name": found.name, **estimate(score), **told}

    new, baseline = gate.sides
    roles = {"new": new, "baseline": baseline}
    return {
        "schema": "sdb-gate/1",
        "verdict": gate.verdict,
        "reasons": list(gate.reasons),
        "measure": gate.measure,
        "new": side(new, gate.new),
        "baseline": side(baseline, gate.baseline),
        "drop": estimate(gate.drop),
        "max_drop": gate.limits.max_drop / 100,
        "min": None if gate.limits.minimum is None else gate.limits.minimum / 100,
        "detectable": gate.detectable,
        "paired_by": gate.paired_by,
        "resampled": gate.drawn,
        "served_models": {role: sorted(found.models) for role, found in roles.items()},
        "signatures": {role: found.signature for role, found in roles.items()},
        "flips": None if gate.flips is None else [asdict(flip) for flip in gate.flips.found],
        **_causes_json(gate.causes),
    }


def _causes_json(found: Causes | None) -> dict[str, object]:
    """What the drop is made of; null where classes of time are not known."""
    from dataclasses import asdict

    if found is None:
        return {"causes": None}
    before, now = found.p50
    return {
        "causes": dict(found.causes),
        "p50_s": {"baseline": before, "new": now},
        "losses": {
            "scenarios": [asdict(loss) for loss in found.scenarios],
            "changes": [asdict(loss) for loss in found.changes],
        },
    }


# `sdb diff`: every state two recordings decide differently.


def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="The recording before.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The recording now.")],
    data: Data = None,
    interval: Pace = None,
    only: Annotated[
        str | None, typer.Option(help="lost, won or changed; all of them otherwise.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-diff/1.")] = False,
) -> None:
    """Show what was lost between two recordings, to what, and where they decide differently."""
    from dataclasses import asdict

    from streamdecisionbench.analysis.flips import (
        KINDS,
        cause_line,
        causes_between,
        flip_summary,
        flipped_states,
        loss_lines,
    )
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import dump
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.gate.compare import side_of
    from streamdecisionbench.gate.outputs import (
        flip_lines,
    )
    from streamdecisionbench.kernel.paces import Bounds
    from streamdecisionbench.render.terminal import console

    if only is not None and only not in KINDS:
        raise InputError(f"--only {only} is not known", fix=f"use {', '.join(KINDS)}")
    before, now = open_runs([first, second], data)
    require_one_suite([before, now])
    flips = flipped_states(before.recording, now.recording, now.suite)
    kinds = (only,) if only else tuple(KINDS)
    sides = [side_of(subject, subject.name) for subject in (before, now)]
    causes = causes_between(before.score(), now.score(), interval=interval)
    if as_json:
        dump(
            {
                "schema": "sdb-diff/1",
                "first": flips.first,
                "second": flips.second,
                "states": flips.states,
                "counts": {kind: flips.count(kind) for kind in KINDS},
                "flips": [asdict(flip) for flip in flips.found if flip.kind in kinds],
                "sides": {side.name: {**side.holds, "notes": list(side.notes)} for side in sides},
                "signatures": {side.name: side.signature for side in sides},
                "drop": causes.drop,
                **_causes_json(causes),
            }
        )
        return
    out = console()
    measure = f"over {Bounds().text()}" if interval is None else f"at {interval:g} s"
    said = [f"in force {measure}, {cause_line(causes)}", flip_summary(flips), *loss_lines(causes)]
    said += [f"{side.name}: {side.words}" for side in sides]
    said += [f"! {side.name}: {note}" for side in sides for note in side.notes]
    if sides[0].labels != sides[1].labels:
        said.append("! the two were not made alike: what differs may be how, not what")
    for line in (*said, *flip_lines(flips, kinds)):
        out.print(line, overflow="fold")


COMMANDS = {
    "gate": gate,
    "diff": diff,
}
