"""A table as data, and its three forms: LaTeX body, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace

from streamdecisionbench._version import __version__
from streamdecisionbench.analysis.choose import METHOD, choice_lines
from streamdecisionbench.analysis.table import fixed
from streamdecisionbench.report.figures.figure import Figure
from streamdecisionbench.report.material import Findings, Material, stretches
from streamdecisionbench.text import inert_cell, visible


@dataclass(frozen=True, slots=True)
class Number:
    """Printed with `digits` decimals; CSV keeps the value itself."""

    value: float | None
    digits: int = 1

    def __str__(self) -> str:
        return fixed(self.value, self.digits)


Cell = str | Number


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `section` is the heading it stands under, if the table has any."""

    cells: tuple[Cell, ...]
    section: str = ""
    rule_above: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """`name` is the file's; `notes` say how to read it and what is simulated."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    text_columns: int = 1
    """How many columns, from the left, are words; the others are numbers."""

    def texts(self) -> list[list[str]]:
        """The printed cells.

        >>> Table("t", "T", ("a", "b"), (Row(("x", Number(0.25)),),)).texts()
        [['x', '0.3']]
        """
        return [[str(cell) for cell in row.cells] for row in self.rows]

    def row(self, *starts: str) -> list[str]:
        """The printed cells of the row that begins with these words."""
        for cells in self.texts():
            if cells[: len(starts)] == list(starts):
                return cells
        raise KeyError(" / ".join(starts))


def pct(share: float | None, digits: int = 1) -> Number:
    """A share in [0, 1] as a percentage."""
    return Number(None if share is None else 100.0 * share, digits)


def sec(seconds: float | None, digits: int = 2) -> Number:
    return Number(seconds, digits)


def count(value: float | None) -> Number:
    return Number(value, 0)


def turned(table: Table, corner: str = "Setting", limit: int = 8) -> Table:
    """Settings as rows once there are more of them than columns fit on a page.

    A section's rows keep their heading in front: "Tokens per request: Input".
    """
    if len(table.columns) - table.text_columns <= limit:
        return table

    def heading(row: Row) -> str:
        words = " ".join(str(c) for c in row.cells[: table.text_columns] if str(c))
        return f"{row.section}: {words}" if row.section else words

    first = table.text_columns
    rows = tuple(
        Row((name, *(row.cells[first + i] for row in table.rows)))
        for i, name in enumerate(table.columns[first:])
    )
    columns = (corner, *(heading(row) for row in table.rows))
    return replace(table, columns=columns, rows=rows, text_columns=1)


def to_csv(table: Table) -> str:
    """Full precision; sections become a first column."""
    sections = any(row.section for row in table.rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((["section"] if sections else []) + [_raw(name) for name in table.columns])
    for row in table.rows:
        section = [_raw(row.section)] if sections else []
        writer.writerow(section + [_raw(cell) for cell in row.cells])
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """A pipe table with its notes below. Text from recordings is escaped, never markup."""
    width = len(table.columns)
    lines = [
        "| " + " | ".join(escape_markdown(c) for c in table.columns) + " |",
        "|" + "|".join("---" if i < table.text_columns else "---:" for i in range(width)) + "|",
    ]
    section = ""
    for row in table.rows:
        if row.section != section:
            section = row.section
            lines.append(f"| *{escape_markdown(section)}* |" + " |" * (width - 1))
        lines.append("| " + " | ".join(escape_markdown(str(c)) for c in row.cells) + " |")
    lines += ["", *(f"{escape_markdown(note)}  " for note in table.notes)]
    return "\n".join(lines).rstrip() + "\n"


def to_latex(table: Table) -> str:
    r"""The body as a macro, `\TabMainBody` for table `main`: usable inside any tabular with booktabs.

    >>> print(to_latex(Table("main", "Main", ("Setting", "A"), (Row(("a_b", Number(1.0)),),))))
    % Main
    % \begin{tabular}{lr} \toprule
    % Setting & A \\ \midrule
    % \TabMainBody \bottomrule \end{tabular}
    \newcommand{\TabMainBody}{%
      a\_b & 1.0 \\
    }
    <BLANKLINE>
    """
    width = len(table.columns)
    shape = "l" * table.text_columns + "r" * (width - table.text_columns)
    macro = "\\Tab" + "".join(part.capitalize() for part in table.name.split("_")) + "Body"
    lines = [f"% {_comment(table.title)}"]
    lines += [f"% {_comment(note)}" for note in table.notes]
    lines += [
        f"% \\begin{{tabular}}{{{shape}}} \\toprule",
        "% " + " & ".join(_latex(c) for c in table.columns) + " \\\\ \\midrule",
        f"% {macro} \\bottomrule \\end{{tabular}}",
        f"\\newcommand{{{macro}}}{{%",
    ]
    section = ""
    for index, row in enumerate(table.rows):
        if row.rule_above and index:
            lines.append("  \\midrule")
        if row.section != section:
            section = row.section
            lines.append(f"  \\multicolumn{{{width}}}{{l}}{{\\textit{{{_latex(section)}}}}} \\\\")
        lines.append("  " + " & ".join(_latex(str(c)) for c in row.cells) + " \\\\")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _raw(cell: Cell) -> str:
    if isinstance(cell, str):
        return inert_cell(visible(cell))
    if cell.value is None or cell.value != cell.value:
        return ""
    value = round(float(cell.value), 10)
    return str(int(value)) if value.is_integer() and cell.digits == 0 else repr(value)


_MARKDOWN = {c: "\\" + c for c in "\\`*_{}[]<>|#~$"}
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "–": "--", "—": "---", "×": r"$\times$", "·": r"$\cdot$", "≤": r"$\leq$", "λ": r"$\lambda$",
    "Δ": r"$\Delta$", "Ω": r"$\Omega$", "…": r"\dots{}", "\u00a0": "~",
}  # fmt: skip
_SYMBOLS = {
    "U_cur,log": r"$U_{\mathrm{cur},\log}$",
    "U_cur": r"$U_{\mathrm{cur}}$",
    "O_log": r"$O_{\log}$",
    "λ_log": r"$\lambda_{\log}$",
}
"""Our own symbols, whole cells or words of them, in the paper's type."""


def escape_markdown(text: str) -> str:
    """Text that no Markdown viewer takes for markup."""
    return "".join(_MARKDOWN.get(c, c) for c in visible(" ".join(text.split())))


def _latex(text: str) -> str:
    return " ".join(_SYMBOLS.get(word) or _escape(visible(word)) for word in text.split())


def _escape(word: str) -> str:
    return "".join(_LATEX.get(c, c) for c in word)


def _comment(text: str) -> str:
    return visible(" ".join(text.split()))


def joined(tables: Sequence[Table]) -> str:
    """All bodies in one file, for a paper that reads them with one `\\input`."""
    return "\n".join(to_latex(table) for table in tables)


# `report.md`: the whole report as text that reads well in any viewer.


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
    return [*lines, METHOD, ""]


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
