"""A table's forms in files: CSV, Markdown, LaTeX body, HTML, and every number of it under a name."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from streamdecisionbench.render.table import (
    Cell,
    Column,
    Table,
)
from streamdecisionbench.text import (
    inert_cell,
    visible,
)


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

    >>> from streamdecisionbench.render.table import number, text
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


@dataclass(frozen=True, slots=True)
class Number:
    """A number a text could quote: full precision in its unit, and as it is printed."""

    name: str
    value: float
    unit: str
    printed: str
    digits: int
    """After the point; half up on the decimal value."""
    recordings: tuple[str, ...]
    command: str
    formula: str

    @property
    def macro(self) -> str:
        r"""A LaTeX command of letters alone.

        >>> Number("main.jev.macro", 59.6, "%", "59.6", 1, (), "", "").macro
        '\\SdbMainJevMacro'
        >>> Number("curve.jev.0_5_s", 51.6, "%", "51.6", 1, (), "", "").macro
        '\\SdbCurveJevZeroFiveS'
        """
        spelled = re.sub(r"\d", lambda found: f"_{_DIGITS[int(found[0])]}_", self.name)
        words = re.split(r"[^A-Za-z]+", spelled)
        return "\\Sdb" + "".join(word[:1].upper() + word[1:] for word in words)


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NUMERAL = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
"""As people write numbers: no part of a name."""
_HEADS, _HEAD = 3, 40
"""So many words, each so long, name a row."""


def numbers_of(
    table: Table, recordings: Mapping[str, Sequence[str]], command: str, formula: str
) -> list[Number]:
    """Every number in the cells: `table.row.column`, a row by its words.

    `recordings` are those that a row or a column names, by what it calls them; all where none does.
    Numbers in words, such as the ends of a range, count as printed.
    """
    everybody = tuple(dict.fromkeys(name for names in recordings.values() for name in names))
    found: list[Number] = []
    above = ""
    for k, row in enumerate(table.rows):
        left = takewhile(lambda pair: not pair[1].right, zip(row, table.columns, strict=True))
        heads = [str(cell)[:_HEAD] for cell, _ in left][:_HEADS]
        above = heads[0] if heads and heads[0] not in ("", "None") else above
        key = [table.section_of(k), *([above, *heads[1:]] if heads else [])]
        for place, cell in enumerate(row):
            form, column = table.form(k, place), table.columns[place]
            who = [n for word in (*heads, above, column.heading) for n in recordings.get(word, ())]
            parts = (table.name, *filter(None, map(_slug, key)))
            heading = _slug(column.key or column.heading) or f"column_{place + 1}"
            about = (tuple(dict.fromkeys(who)) or everybody, command, formula)
            if isinstance(cell, str):
                for n, numeral in enumerate(NUMERAL.findall(cell), start=1):
                    digits = len(numeral.partition(".")[2])
                    name = ".".join((*parts, heading, str(n)))
                    unit = _unit(table, k, column)
                    found.append(Number(name, float(numeral), unit, numeral, digits, *about))
            elif cell is not None and not math.isnan(cell):
                value = 100.0 * cell if form.kind == "percent" else float(cell)
                unit = "%" if form.kind == "percent" else _unit(table, k, column)
                name = ".".join((*parts, heading))
                printed = form.shown(cell)
                found.append(Number(name, value, unit, printed, form.digits, *about))
    return found


def numbers_tex(numbers: Iterable[Number]) -> str:
    """A command for each, with where it is from; names that letters do not tell apart are numbered."""
    seen: dict[str, int] = {}
    lines = []
    for one in numbers:
        seen[one.macro] = times = seen.get(one.macro, 0) + 1
        macro = one.macro if times == 1 else f"{one.macro}{'X' * (times - 1)}"
        told = f"{one.name} ({one.unit or '1'}): {one.command}; {one.formula}"
        lines.append(
            f"\\newcommand{{{macro}}}{{{_latex(one.printed)}}} % {visible(' '.join(told.split()))}"
        )
    return "\n".join(lines) + "\n"


def _slug(words: str) -> str:
    for sign, spelled in (("λ", "lambda"), ("Δ", "delta"), ("×", "times "), ("·", " ")):
        words = words.replace(sign, spelled)
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")


def _unit(table: Table, row: int, column: Column) -> str:
    """What heading, row or section say in brackets or end on; of words in a cell also the title."""
    form = table.forms[row] if table.forms else column
    places = [column.heading, form.name, table.section_of(row)]
    if form.kind == "text":
        places.append(table.title)
    for words in places:
        if found := re.findall(r"\(([^()]+)\)$", words):
            return str(found[-1])
        if words.endswith((" s", " %")) and words != table.title:
            return words[-1]
    return ""


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
