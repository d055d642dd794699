"""`report.md`: the whole report as text that reads well in any viewer."""

from __future__ import annotations

from collections.abc import Sequence

from streamdecisionbench._version import __version__
from streamdecisionbench.analysis.recommendation import choice_lines
from streamdecisionbench.report.analyses import Findings
from streamdecisionbench.report.choices import stretches
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.tables.table import Table, escape_markdown, to_markdown

__all__ = ["markdown"]


def markdown(
    material: Material,
    findings: Findings,
    tables: Sequence[Table],
    figures: Sequence[Figure],
    formats: Sequence[str],
) -> str:
    """Figures first, then tables, then how everything was made."""
    picture = next((name for name in ("svg", "png") if name in formats), None)
    lines = [
        f"# In-force accuracy: {escape_markdown(material.suite.name)}",
        "",
        f"{len(material.entries)} recording(s), integrated over {material.bounds.text()}, fixed-interval"
        f" figures at {material.interval:g} s. `index.html` beside this file is the same, interactive.",
        "",
        *(f"> **{escape_markdown(note)}**" for note in material.notes()),
        "",
        *_chosen(findings),
        "## Figures",
        "",
    ]
    for figure in figures:
        lines += [f"### {escape_markdown(figure.title)}", ""]
        if picture:
            lines += [f"![{escape_markdown(figure.alt)}](figures/{figure.name}.{picture})", ""]
        else:
            lines += [escape_markdown(figure.alt), ""]
        lines += [f"{escape_markdown(figure.caption)} [Data](figures/{figure.name}.csv)", ""]
    lines += ["## Tables", ""]
    for table in tables:
        lines += [f"### {escape_markdown(table.title)}", "", to_markdown(table)]
        lines += [f"[CSV](tables/{table.name}.csv) · [LaTeX](tables/{table.name}.tex)", ""]
    lines += ["## How it was made", ""]
    lines += [f"- {remark}" for remark in _method(material, findings)]
    lines += ["", "Signatures:", ""]
    lines += [f"- {escape_markdown(e.label)}: `{e.score.signature}`" for e in material.entries]
    return "\n".join(lines) + "\n"


def _chosen(findings: Findings) -> list[str]:
    """The recommendation at the report's interval, and at which others it is another one."""
    if findings.choice is None:
        return []
    lines = ["## What to choose", ""]
    lines += [f"{escape_markdown(line)}\n" for line in choice_lines(findings.choice)]
    found = stretches(findings.choices)
    if len(found) > 1:
        lines += ["| from (s) | to (s) | recommended |", "|---:|---:|---|"]
        lines += [f"| {s.low:g} | {s.high:g} | {escape_markdown(s.name)} |" for s in found]
        lines.append("")
    lines += [
        "Of those as good as the one that is right longest, the cheapest, then the simplest, policies"
        " among them, as `sdb choose` says it for any pace, budget and minimum gain.",
        "",
    ]
    return lines


def _method(material: Material, findings: Findings) -> list[str]:
    suite = material.suite
    found = [
        f"Suite {escape_markdown(suite.name)}, digest `{suite.dataset_hash[:12]}`, {len(suite.scenarios)} scenarios.",
        "Step-anchored replay: every response at its step's release plus its recorded latency; accuracy"
        " and all areas are exact, without quadrature.",
        f"sdb {__version__}.",
    ]
    if findings.ranges_method:
        found.append(escape_markdown(findings.ranges_method) + ".")
    found += [escape_markdown(remark) for remark in findings.remarks]
    return found
