"""What the gate and the diff say, in the same words in the terminal, in Markdown and for CI."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path

from streamdecisionbench.analysis.bootstrap import Estimate
from streamdecisionbench.analysis.flips import (
    KINDS,
    Flip,
    Flips,
    Loss,
    cause_line,
    cause_words,
    decision_words,
    flip_summary,
    loss_line,
    loss_lines,
    lost_most,
    signed_points,
)
from streamdecisionbench.gate.verdict import (
    CANNOT_TELL,
    FAIL,
    PASS,
    Gate,
)
from streamdecisionbench.render.formats import escape_markdown
from streamdecisionbench.render.sentences import smallest_shown

_MARKS = {PASS: "PASS", FAIL: "FAIL", CANNOT_TELL: "CANNOT TELL"}
MOST_ROWS = 50
"""Rows of a job summary; the rest are counted, and `sdb diff` shows them all."""


def verdict_line(gate: Gate) -> str:
    """The first line: the verdict, and the drop or gain."""
    drop = gate.drop
    change = f"drop {_points(drop)}"
    if round(1000 * drop.value) < 0:
        change = f"gain {_points(Estimate(-drop.value, -drop.high, -drop.low))}"
    return f"{_MARKS[gate.verdict]}: {gate.measure}, {change}"


def exit_code(gate: Gate, *, strict: bool = False) -> int:
    """Of `sdb gate`: 0 for pass, 1 for fail; 0 for cannot tell, 3 if strict."""
    return {PASS: 0, FAIL: 1, CANNOT_TELL: 3 if strict else 0}[gate.verdict]


def exit_line(gate: Gate) -> str | None:
    """Names the exit code where it could be taken for a pass."""
    if gate.verdict != CANNOT_TELL:
        return None
    return "exit code 0, although this is not a pass; with --strict it is 3"


def gate_lines(gate: Gate) -> list[str]:
    """The whole verdict in plain lines of at most 80 columns or so."""
    lines = [verdict_line(gate), *(f"  {reason}" for reason in gate.reasons)]
    lines += [cause_line(gate.causes)] if gate.causes else []
    for role, score, side in zip(
        ("new", "baseline"), (gate.new, gate.baseline), gate.sides, strict=True
    ):
        lines.append(f"{role:9} {_share(score)}  {side.name}")
        lines += [f"{'':10}{side.words}"] if side.words else []
    return [
        *lines,
        f"{smallest_shown('drop these data')}: {100 * gate.detectable:.1f} points",
        f"{_pairing(gate)}; resampled: {gate.drawn}; intervals of 95 %",
        *([flip_summary(gate.flips)] if gate.flips is not None else []),
        *(loss_lines(gate.causes) if gate.causes else []),
        *(f"! {note}" for note in gate.notes),
    ]


def failure_lines(gate: Gate) -> list[str]:
    """For a test that fails: what, how much because of what, and where most."""
    said = [verdict_line(gate)]
    if gate.causes is not None:
        said.append(cause_line(gate.causes))
    worst = (
        [loss for _, losses in lost_most(gate.causes) for loss in losses[:1]] if gate.causes else []
    )
    # Where it failed for another reason than a drop, that is the why.
    if gate.drop.low <= gate.limits.max_drop / 100 or not worst:
        return [*said, "; ".join(gate.reasons)]
    return [*said, loss_line(worst[-1])]


def _pairing(gate: Gate) -> str:
    paired = gate.paired_by != "nothing"
    return f"paired by {gate.paired_by}" if paired else "not paired"


def flip_lines(flips: Flips, kinds: tuple[str, ...] = tuple(KINDS)) -> Iterator[str]:
    """Scenario by scenario, what each answered, the reference and the evidence."""
    for scenario, group in flips.by_scenario().items():
        chosen = [flip for flip in group if flip.kind in kinds]
        if not chosen:
            continue
        yield f"{scenario}: {len(chosen)}"
        for flip in chosen:
            yield f"  step {flip.step}, {KINDS[flip.kind]}"
            yield f"    reference  {decision_words(flip.reference)}"
            yield f"    {flips.first} ({flip.first_latency_s:.2f} s)  {decision_words(flip.first)}"
            yield f"    {flips.second} ({flip.second_latency_s:.2f} s)  {decision_words(flip.second)}"
            for note in flip.evidence:
                yield f"    evidence   {note}"


def gate_markdown(gate: Gate) -> str:
    """A job summary: verdict, labels, scores, and the states that flipped with their evidence."""
    lines = [f"## {escape_markdown(verdict_line(gate))}", ""]
    lines += [f"**{escape_markdown(cause_line(gate.causes))}**", ""] if gate.causes else []
    lines += [f"- {escape_markdown(reason)}" for reason in gate.reasons]
    lines += [f"- **{escape_markdown(note)}**" for note in gate.notes]
    new, baseline = gate.sides
    lines += [
        "",
        "| | in force % | 95 % interval | holds |",
        "|---|---:|---:|---|",
        _row(f"new: {new.name}", gate.new, new.words),
        _row(f"baseline: {baseline.name}", gate.baseline, baseline.words),
        f"| drop (points) | {100 * gate.drop.value:.1f} | {_range(gate.drop)} | |",
        "",
        f"{_pairing(gate).capitalize()}; resampled: {gate.drawn}."
        f" {smallest_shown('drop these data').capitalize()}: {100 * gate.detectable:.1f} points.",
    ]
    if gate.flips is not None:
        lines += ["", "### States decided differently", "", f"{flip_summary(gate.flips)}.", ""]
        lines += _flip_table(gate.flips)
    for heading, losses in lost_most(gate.causes) if gate.causes else ():
        lines += ["", f"### {heading}", "", "| where | right % | points | because of |"]
        lines += ["|---|---:|---:|---|", *map(_loss_row, losses)]
    return "\n".join(lines) + "\n"


def _loss_row(loss: Loss) -> str:
    right = f"{100 * loss.before:.1f} → {100 * loss.now:.1f}"
    points = signed_points(-round(1000 * loss.drop))
    return f"| {escape_markdown(loss.name)} | {right} | {points} | {cause_words(loss)} |"


def _flip_table(flips: Flips) -> list[str]:
    # What got worse comes first: it is what a reviewer looks for.
    order = sorted(flips.found, key=lambda flip: list(KINDS).index(flip.kind))
    if not order:
        return []
    shown = min(len(order), MOST_ROWS)
    rows = [f"<details><summary>{shown} of them, with what each answered</summary>", ""]
    rows += ["| state | what | reference | before | now | evidence |", "|---|---|---|---|---|---|"]
    rows += [_flip_row(flip) for flip in order[:MOST_ROWS]]
    if len(order) > MOST_ROWS:
        rows += ["", f"{len(order) - MOST_ROWS} more; `sdb diff` shows them all."]
    return [*rows, "", "</details>"]


def _flip_row(flip: Flip) -> str:
    """What all three have in common is left out: a table on a page is narrow."""
    three = (flip.reference, flip.first, flip.second)
    differ = [
        name
        for name in {**three[0], **three[1], **three[2]}
        if len({x.get(name) for x in three}) > 1
    ]
    cells = (
        f"{flip.scenario} {flip.step}",
        KINDS[flip.kind],
        *(decision_words({k: x[k] for k in differ if k in x}) for x in three),
        "; ".join(flip.evidence),
    )
    return "| " + " | ".join(escape_markdown(cell) for cell in cells) + " |"


def _row(name: str, estimate: Estimate, holds: str) -> str:
    score = f"{100 * estimate.value:z.1f} | {_range(estimate)}"
    return f"| {escape_markdown(name)} | {score} | {escape_markdown(holds)} |"


def _range(estimate: Estimate) -> str:
    return f"{100 * estimate.low:z.1f} to {100 * estimate.high:z.1f}"


def _share(estimate: Estimate) -> str:
    return f"{100 * estimate.value:5.1f} % ({_range(estimate)})"


def _points(estimate: Estimate) -> str:
    return f"{100 * estimate.value:z.1f} points ({_range(estimate)})"


# The gate's verdict for GitHub Actions: workflow commands and a job summary.
#
# `::error title=…::message` lines become annotations. In messages `%`, CR and LF are written %25, %0D
# and %0A; in properties `:` and `,` as well.


MOST = 10
"""Annotations of flipped states: the service shows ten of a kind in a step."""


def workflow_commands(gate: Gate, *, strict: bool = False) -> list[str]:
    """One for the verdict and its labels, then one for each state that was lost."""
    if gate.verdict == PASS:
        kind = "notice"
    else:
        kind = "error" if gate.verdict == FAIL or strict else "warning"
    because = [cause_line(gate.causes)] if gate.causes else []
    said = "\n".join((verdict_line(gate), *because, *gate.reasons, *gate.notes))
    lines = [_command(kind, "sdb gate", said)]
    lost = [f for f in gate.flips.found if f.kind == "lost"] if gate.flips is not None else []
    lines += [
        _command(
            "warning" if kind != "notice" else "notice",
            f"{flip.scenario} step {flip.step}",
            f"{KINDS[flip.kind]}: {decision_words(flip.second)} instead of"
            f" {decision_words(flip.reference)}",
        )
        for flip in lost[:MOST]
    ]
    return lines


def append_summary(markdown: str, environment: Mapping[str, str] | None = None) -> Path | None:
    """Adds to the file the runner names in GITHUB_STEP_SUMMARY; None where there is none."""
    named = (os.environ if environment is None else environment).get("GITHUB_STEP_SUMMARY")
    if not named:
        return None
    path = Path(named)
    with path.open("a", encoding="utf-8") as file:
        file.write(markdown)
    return path


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# The gate's verdict as JUnit XML, which every CI system reads.


def junit_xml(gate: Gate, *, strict: bool = False) -> bytes:
    """One test case, its labels as properties. `cannot tell` is skipped, or failed where strict."""
    failed = gate.verdict == FAIL or (strict and gate.verdict != PASS)
    skipped = not failed and gate.verdict != PASS
    counts = {
        "tests": "1",
        "failures": str(int(failed)),
        "errors": "0",
        "skipped": str(int(skipped)),
    }
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": "sdb gate", **counts})
    names = " against ".join(side.name for side in gate.sides)
    case = ET.SubElement(suite, "testcase", {"classname": "sdb.gate", "name": _legal(names)})
    if gate.notes:
        properties = ET.SubElement(case, "properties")
        for note in gate.notes:
            ET.SubElement(properties, "property", {"name": "label", "value": _legal(note)})
    text = "\n".join(gate_lines(gate))
    if gate.flips is not None:
        text += "\n\n" + "\n".join(flip_lines(gate.flips))
    because = [cause_line(gate.causes)] if gate.causes else []
    message = _legal("; ".join((verdict_line(gate), *gate.reasons[:1], *because)))
    if failed:
        ET.SubElement(case, "failure", {"message": message, "type": "drop"})
    elif skipped:
        ET.SubElement(case, "skipped", {"message": message})
    ET.SubElement(case, "system-out").text = _legal(text)
    body: str = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'.encode()


def write_junit(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _legal(text: str) -> str:
    """Without the characters XML 1.0 cannot hold."""
    return "".join(
        c
        for c in text
        if c in "\t\n\r" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")
    )
