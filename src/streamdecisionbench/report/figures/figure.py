"""A figure as one definition: a Vega-Lite specification, its text alternative and its data.

Every format comes from the same specification: compiled once to SVG, which becomes PNG and PDF.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.render.palette import INK
from streamdecisionbench.text import (
    inert_cell,
    visible,
)

FORMATS = ("svg", "png", "pdf")

_PNG_SCALE = 2.0
"""Pixels per unit: 192 dpi."""

_STYLE = {
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelColor": INK,
        "titleColor": INK, "gridColor": "#E6E6E6", "domainColor": "#888888", "tickColor": "#888888",
        "labelLimit": 260,
    },
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelLimit": 260},
    "header": {"labelFontSize": 11, "titleFontSize": 11},
    "title": {"color": INK},
}  # fmt: skip


_OBJECT_KEYS = frozenset(
    [
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
        "__proto__",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
    ]
)
"""What `Object.prototype` has, for the converter is written in JavaScript."""


@dataclass(frozen=True, slots=True)
class Figure:
    """`alt` says in words what the picture shows; `data` is what was drawn, row by row."""

    name: str
    title: str
    caption: str
    alt: str
    drawing: Mapping[str, Any]
    columns: tuple[str, ...]
    data: Sequence[Sequence[Any]]

    @property
    def spec(self) -> dict[str, Any]:
        """The specification: the drawing with its title, the text alternative and the common style."""
        return {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            **self.drawing,
            "title": {
                "text": self.title,
                "anchor": "start",
                "fontSize": 13,
                "fontWeight": "bold",
                "offset": 10,
            },
            "description": self.alt,
            "background": "white",
            "padding": 8,
            "config": _STYLE,
        }


def parse_formats(text: str) -> tuple[str, ...]:
    """
    >>> parse_formats("svg, png")
    ('svg', 'png')
    """
    asked = [part.strip().lower() for part in text.split(",") if part.strip()]
    unknown = [name for name in asked if name not in FORMATS]
    if unknown:
        raise InputError(
            f"no figure format is called {', '.join(unknown)}", fix=f"use {', '.join(FORMATS)}"
        )
    return tuple(name for name in FORMATS if name in asked)


def can_draw() -> bool:
    """Whether the drawing library of the extra `report` is installed."""
    from importlib.util import find_spec

    return find_spec("vl_convert") is not None


def render(figure: Figure, formats: Sequence[str] = FORMATS) -> dict[str, bytes]:
    """The figure in each format; the same figure gives the same bytes, but for the order in PDF."""
    return from_svg(drawn(figure), formats) if formats else {}


def drawn(figure: Figure) -> str:
    """The figure as SVG, with a title and a description for readers who listen to it."""
    from html import escape

    import vl_convert

    svg = vl_convert.vegalite_to_svg(_shown(figure.spec))
    head, bracket, rest = svg.partition(">")
    title, alt = escape(visible(figure.title)), escape(visible(figure.alt))
    texts = f"<title>{title}</title><desc>{alt}</desc>"
    return f'{head} role="img"{bracket}{texts}{rest}'


def from_svg(svg: str, formats: Sequence[str]) -> dict[str, bytes]:
    """A drawn figure in each format."""
    import vl_convert

    made: dict[str, bytes] = {}
    for name in formats:
        if name == "svg":
            made[name] = svg.encode()
        elif name == "png":
            made[name] = vl_convert.svg_to_png(svg, scale=_PNG_SCALE)
        else:
            made[name] = vl_convert.svg_to_pdf(svg)
    return made


def to_csv(figure: Figure) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(figure.columns)
    writer.writerows([_plain(value) for value in row] for row in figure.data)
    return out.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return inert_cell(visible(value))
    return repr(round(value, 10)) if isinstance(value, float) else value


def _shown(value: Any) -> Any:
    """The specification with every text visible: a control character ends the converter.

    So does a text that every JavaScript object has as a key. A space after it makes it another one.
    """
    if isinstance(value, str):
        text = visible(value, lines=True)
        return f"{text} " if text in _OBJECT_KEYS else text
    if isinstance(value, Mapping):
        return {_shown(key): _shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    return value
