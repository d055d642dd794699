"""The live page's HTML: the report's drawing code, and what is its own."""

from __future__ import annotations

from streamdecisionbench._version import __version__
from streamdecisionbench.report.page.one_file import DASH_STYLES, asset, line_colours, one_file
from streamdecisionbench.report.page.payload import embed
from streamdecisionbench.report.palette import CLASS_STYLE, UNKNOWN_STYLE
from streamdecisionbench.scoring.classes import ALL_CLASSES

__all__ = ["watch_page"]

_SHARED = ("dom.js", "theme.js", "axes.js", "tracks.js", "strips.js")


def watch_page(*, pooled: bool) -> str:
    """The page for one kind of source; everything else it is told by the server."""
    classes = [
        {"key": key, "label": label, "colour": colour, "column": ALL_CLASSES.index(key)}
        for key, (label, _, colour) in {**CLASS_STYLE, **(UNKNOWN_STYLE if pooled else {})}.items()
    ]
    if not pooled:  # the page asks for every class by name; a recording has none of these
        classes += [
            {"key": key, "label": key, "colour": "transparent", "column": ALL_CLASSES.index(key), "never": True}
            for key in UNKNOWN_STYLE
        ]  # fmt: skip
    return one_file(
        asset("watch.html", "watch"),
        [line_colours(), asset("style.css"), asset("charts.css"), asset("watch.css", "watch")],
        [
            asset("format.js"),
            asset("watch_state.js", "watch"),
            *(asset(name) for name in _SHARED),
            asset("watch.js", "watch"),
        ],
        embed({"classes": classes, "dashes": DASH_STYLES, "pooled": pooled, "sdb": __version__}),
    )
