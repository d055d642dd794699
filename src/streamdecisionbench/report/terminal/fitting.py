"""Tables that fit the screen: a name too long is cut, names stay distinct, no word is broken."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["cut", "cut_names", "cut_words", "fit_widths"]

_CUT = "…"
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
    for name, text in texts.items():
        seen[text] += 1
        mark = f"~{seen[text]}"
        found[name] = text if count[text] == 1 else cut(text, width - len(mark)) + mark
    return found
