"""Tables and names that fit the terminal: console, widths, cut names.

A name too long for its column is cut, names stay distinct, no word is broken. Nothing is computed here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from rich.console import Console, JustifyMethod
from rich.table import Table as RichTable
from rich.text import Text

from streamdecisionbench.render.table import Table


def console(*, width: int | None = None, stderr: bool = False) -> Console:
    """A console that never interprets text from recordings as markup."""
    return Console(width=width, stderr=stderr, markup=False, highlight=False, emoji=False)


def fitted(table: Table, width: int) -> tuple[RichTable, bool]:
    """The table for this width, and whether every name is whole."""
    texts = table.texts()
    cells = [[column.name, *(row[k] for row in texts)] for k, column in enumerate(table.columns)]
    # Headings of numbers wrap between words before names are cut.
    wrapped = [
        texts if how.kind == "text" else [*texts[0].split(" "), *texts[1:]]
        for how, texts in zip(table.columns, cells, strict=True)
    ]
    widths = fit_widths(cells, width)
    if widths != fit_widths(cells, _ANY_WIDTH):
        widths = fit_widths(wrapped, width)
    long = {
        word: size
        for column, size in zip(cells, widths, strict=True)
        for cell in column
        for word in cell.split(" ")
        if len(word) > size
    }
    cuts = cut_names(long, min(long.values(), default=width))
    shown = [[cut_words(cell, cuts) for cell in column] for column in cells]
    out = RichTable(box=None, pad_edge=False)
    for how, column, size in zip(table.columns, shown, widths, strict=True):
        side: JustifyMethod = "left" if how.kind == "text" else "right"
        out.add_column(Text(column[0]), justify=side, max_width=size, overflow="fold")
    for k, row in enumerate(table.rows, start=1):
        style = "bold" if row[0] == "overall" else None
        out.add_row(*(Text(column[k]) for column in shown), style=style)
    return out, shown == cells


def grid(
    headings: Iterable[str],
    rows: Iterable[Sequence[str]],
    *,
    left: Collection[int] = (0,),
    wrap: Collection[int] | None = None,
    bold: Collection[int] = (),
    title: str | None = None,
) -> RichTable:
    """Cells as they are: `left` columns as words, the others as numbers; all may wrap, or some."""
    out = RichTable(title=title, title_justify="left", box=None, pad_edge=False)
    for k, heading in enumerate(headings):
        wraps = wrap is None or k in wrap
        out.add_column(
            heading,
            justify="left" if k in left else "right",
            no_wrap=not wraps,
            overflow="fold" if wraps else "ellipsis",
        )
    for k, row in enumerate(rows):
        out.add_row(*row, style="bold" if k in bold else None)
    return out


_CUT = "…"
_ANY_WIDTH = 10**9
_NARROWEST = 8
"""Of a name that is cut: both ends can still be told apart."""


def cut(name: str, width: int) -> str:
    """The name within `width` characters; its end, where names differ most, keeps more.

    >>> cut("recordings/candidate-3", 12)
    'rec…didate-3'
    """
    if len(name) <= width:
        return name
    head = max((width - 1) // 3, 1)
    return f"{name[:head]}{_CUT}{name[len(name) - (width - 1 - head) :]}"


def cut_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name within `width`, and still another than its neighbours: what all share goes first.

    >>> list(cut_names(["runs/2026/jev-low-1", "runs/2026/astra-low-1"], 10).values())
    ['…jev…', '…astra…']
    """
    every = list(dict.fromkeys(names))
    if all(len(name) <= width for name in every):
        return {name: name for name in every}
    before = _shared(every)
    after = _shared([name[:before:-1] for name in every])
    texts = {}
    for name in every:
        core = name[before : len(name) - after] if len(every) > 1 else name
        marks = (_CUT if len(core) < len(name) and before else "", _CUT if after else "")
        inner = cut(core, width - len(marks[0]) - len(marks[1]))
        whole = len(name) <= width
        texts[name] = name if whole else f"{marks[0]}{inner}{marks[1]}"
    return _numbered(texts, width)


def cut_words(text: str, cuts: Mapping[str, str]) -> str:
    """A text with its long words replaced; what stands between words may wrap."""
    return " ".join(cuts.get(word, word) for word in text.split(" "))


def fit_widths(columns: Sequence[Sequence[str]], available: int, gap: int = 2) -> list[int]:
    """Widths of columns given by their texts: as they are where they fit, else the widest give way.

    >>> fit_widths([["a", "a-name-of-nineteen."], ["12.5"]], 16)
    [10, 4]
    """
    widths = [max((len(text) for text in texts), default=0) for texts in columns]
    room = available - gap * (len(widths) - 1)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda k: widths[k])
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def _shared(names: Sequence[str]) -> int:
    """How many characters all names begin with, up to the last border between words."""
    first, last = min(names), max(names)
    common = first if len(names) > 1 else ""
    while not last.startswith(common):
        common = common[:-1]
    borders = [found.end() for found in re.finditer(r"[-_/. ]", common)]
    return borders[-1] if borders else 0


def _numbered(texts: Mapping[str, str], width: int) -> dict[str, str]:
    count = Counter(texts.values())
    seen: Counter[str] = Counter()
    found = {}
    for name, shown in texts.items():
        seen[shown] += 1
        mark = f"~{seen[shown]}"
        found[name] = shown if count[shown] == 1 else cut(shown, width - len(mark)) + mark
    return found


def shared_signatures(named: Sequence[tuple[str, str]]) -> list[str]:
    """What all signatures share once, and what is each recording's own."""
    every = [signature.split() for _, signature in named]
    if len(every) < 2:
        return [f"{name}  {signature}" for name, signature in named]
    shared = [word for word in every[0] if all(word in words for words in every)]
    own = [
        f"{name}  {' '.join(rest)}"
        for (name, _), words in zip(named, every, strict=True)
        if (rest := [word for word in words if word not in shared])
    ]
    return [" ".join(shared), *own]
