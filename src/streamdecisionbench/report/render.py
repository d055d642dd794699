"""A table's forms in files: CSV, Markdown, LaTeX body, HTML."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from html import escape

from streamdecisionbench.analysis.table import Cell, Column, Table
from streamdecisionbench.text import inert_cell, visible


def to_csv(table: Table) -> str:
    """Full precision in the unit that is printed; sections become a first column."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    headings = [_inert(column.heading) for column in table.columns]
    writer.writerow(["section", *headings] if table.sections else headings)
    for k, row in enumerate(table.rows):
        cells = [_raw(table.form(k, place), cell) for place, cell in enumerate(row)]
        writer.writerow([_inert(table.section_of(k)), *cells] if table.sections else cells)
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """A pipe table with its notes below. Text from recordings is escaped, never markup."""
    lines = [
        _pipes(escape_markdown(column.heading) for column in table.columns),
        "|" + "|".join("---:" if column.right else "---" for column in table.columns) + "|",
    ]
    for k, cells in enumerate(table.texts()):
        if k in table.sections:
            heading = f"| *{escape_markdown(table.sections[k])}* |"
            lines.append(heading + " |" * (len(table.columns) - 1))
        lines.append(_pipes(map(escape_markdown, cells)))
    lines += ["", *(f"{escape_markdown(note)}  " for note in table.notes)]
    return "\n".join(lines).rstrip() + "\n"


def to_latex(table: Table) -> str:
    r"""The body as a macro, `\TabMainBody` for table `main`: usable inside any tabular with booktabs.

    >>> from streamdecisionbench.analysis.table import number, text
    >>> columns = (text("Setting"), number("A", 1))
    >>> print(to_latex(Table("Main", columns, (("a_b", 1.0),), name="main")))
    % Main
    % \begin{tabular}{lr} \toprule
    % Setting & A \\ \midrule
    % \TabMainBody \bottomrule \end{tabular}
    \newcommand{\TabMainBody}{%
      a\_b & 1.0 \\
    }
    <BLANKLINE>
    """
    shape = "".join("r" if column.right else "l" for column in table.columns)
    macro = "\\Tab" + "".join(part.capitalize() for part in table.name.split("_")) + "Body"
    lines = [f"% {visible(' '.join(text.split()))}" for text in (table.title, *table.notes)]
    lines += [
        f"% \\begin{{tabular}}{{{shape}}} \\toprule",
        "% " + " & ".join(_latex(column.heading) for column in table.columns) + " \\\\ \\midrule",
        f"% {macro} \\bottomrule \\end{{tabular}}",
        f"\\newcommand{{{macro}}}{{%",
    ]
    for k, cells in enumerate(table.texts()):
        if k and k in table.rules:
            lines.append("  \\midrule")
        if k in table.sections:
            heading = f"\\textit{{{_latex(table.sections[k])}}}"
            lines.append(f"  \\multicolumn{{{len(table.columns)}}}{{l}}{{{heading}}} \\\\")
        lines.append("  " + " & ".join(map(_latex, cells)) + " \\\\")
    return "\n".join([*lines, "}"]) + "\n"


def to_html(table: Table) -> str:
    """A plain table element; all text is escaped."""
    heads = "".join(f"<th>{escape(column.name)}</th>" for column in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        for cells in table.texts()
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


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
    return " ".join(
        _SYMBOLS.get(word) or "".join(_LATEX.get(c, c) for c in visible(word))
        for word in text.split()
    )


def _pipes(cells: Iterator[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _inert(text: str) -> str:
    return inert_cell(visible(text))


def _raw(form: Column, cell: Cell) -> str:
    if isinstance(cell, str):
        return _inert(cell)
    if cell is None or math.isnan(cell):
        return ""
    value = round(100.0 * cell if form.kind == "percent" else float(cell), 10)
    return str(int(value)) if value.is_integer() and form.digits == 0 else repr(value)
