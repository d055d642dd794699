"""Colours and marks, the same on the page, in figures and in the terminal."""

from __future__ import annotations

CLASS_STYLE: dict[str, tuple[str, str, str]] = {
    "current_correct": ("right", "█", "#0072B2"),
    "outdated_correct": ("lucky", "▓", "#56B4E9"),
    "judgment": ("judgment", "▒", "#D55E00"),
    "compound": ("compound", "╳", "#CC79A7"),
    "stale": ("stale", "░", "#E69F00"),
    "no_decision": ("no decision", "·", "#999999"),
}
"""Name for people, a mark that works without colour, and a colour-blind-safe colour."""

UNKNOWN_STYLE: dict[str, tuple[str, str, str]] = {
    "unattributed": ("unattributed", "¿", "#8C6D31"),
    "unjudged": ("unjudged", "?", "#C8CCD2"),
}
"""The same for the two classes of time where references may be unknown."""

PALETTE = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31",
)  # fmt: skip
"""Okabe and Ito's colours, told apart by colour-blind readers; yellow is too pale for lines."""

PALETTE_ON_DARK = (
    "#5BB0E8", "#F2915A", "#3CC79A", "#E3A5C7", "#F2BC4B", "#9AD6F7", "#E8E8E8", "#CDAE6A",
)  # fmt: skip
"""The same hues, light enough for a dark page."""

DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 4], [1, 2], [10, 3], [5, 1, 1, 1])
"""A second way to tell lines apart, in step with the palette."""

SHOWN = len(PALETTE)
"""How many settings keep a colour and a name of their own; the others are drawn in grey."""

GREY = "#B3B3B3"
INK = "#222222"
