"""The same drawing, the same bytes: puts a PDF's objects into one fixed order.

The converter keeps fonts and other resources in hash maps, so their order and the numbers of their
objects differ from run to run. Nothing else does. Here resources are sorted by name, objects
renumbered in the order they are reached from the catalogue, and the cross-reference table rebuilt.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.text import inert_cell, visible

_OBJECT = re.compile(rb"(\d+) 0 obj\n")
_LENGTH = re.compile(rb"/Length (\d+)")
_REFERENCE = re.compile(rb"(?<![\d.])(\d+) 0 R(?![A-Za-z])")
_RESOURCES = re.compile(rb"(?:^ *\/[A-Za-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)
_TRAILER = re.compile(rb"trailer\n<<(.*?)>>\nstartxref", re.DOTALL)


def canonical(pdf: bytes) -> bytes:
    """The document with its objects in reading order; unchanged if it has an unexpected form."""
    parsed = _objects(pdf)
    trailer = _TRAILER.search(pdf, parsed[1] if parsed else 0)
    if parsed is None or trailer is None:
        return pdf
    objects = parsed[0]
    order: dict[bytes, int] = {}

    def visit(number: bytes) -> None:
        if number in order or number not in objects:
            return
        order[number] = len(order) + 1
        for found in _REFERENCE.findall(objects[number][0]):
            visit(found)

    for number in _REFERENCE.findall(trailer[1]):
        visit(number)
    head = pdf[: pdf.index(next(iter(objects)) + b" 0 obj")]
    out = bytearray(head)
    offsets = []
    for number, place in order.items():
        body, stream = objects[number]
        offsets.append(len(out))
        out += b"%d 0 obj\n" % place + _renumbered(body, order) + stream + b"endobj\n\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(order) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    fields = re.sub(rb"/Size \d+", b"/Size %d" % (len(order) + 1), trailer[1])
    fields = re.sub(rb"\n? *\/ID \[.*?\]", b"", fields, flags=re.DOTALL)
    out += b"trailer\n<<" + _renumbered(fields, order) + b">>\nstartxref\n%d\n%%%%EOF" % start
    return bytes(out)


def _objects(pdf: bytes) -> tuple[dict[bytes, tuple[bytes, bytes]], int] | None:
    """Objects by number as (dictionary, stream), and where they end."""
    found: dict[bytes, tuple[bytes, bytes]] = {}
    at = 0
    while match := _OBJECT.search(pdf, at):
        begin = match.end()
        end = pdf.find(b"endobj\n", begin)
        stream_at = pdf.find(b"stream\n", begin, end)
        if stream_at >= 0:
            length = _LENGTH.search(pdf, begin, stream_at)
            if length is None:
                return None
            end = pdf.find(b"endobj\n", stream_at + len(b"stream\n") + int(length[1]))
            body, stream = pdf[begin:stream_at], pdf[stream_at:end]
        else:
            body, stream = pdf[begin:end], b""
        if end < 0:
            return None
        found[match[1]] = (_sorted(body), stream)
        at = end
        if pdf.find(b"xref\n", at, at + 32) >= 0 and not _OBJECT.match(pdf, at + 8):
            break
    return (found, at) if found else None


def _sorted(body: bytes) -> bytes:
    """Lines such as `/fo1 2 0 R` by name."""
    return _RESOURCES.sub(lambda m: b"".join(sorted(m[0].splitlines(keepends=True))), body)


def _renumbered(body: bytes, order: dict[bytes, int]) -> bytes:
    return _REFERENCE.sub(lambda m: b"%d 0 R" % order.get(m[1], 0), body)


# A figure as one definition: a Vega-Lite specification, its text alternative and its data.
#
# Every format comes from the same specification: compiled once to SVG, which becomes PNG and PDF.


FORMATS = ("svg", "png", "pdf")

_PNG_SCALE = 2.0
"""Pixels per unit: 192 dpi."""


@dataclass(frozen=True, slots=True)
class Figure:
    """`alt` says in words what the picture shows; `data` is what was drawn, row by row."""

    name: str
    title: str
    caption: str
    alt: str
    spec: Mapping[str, Any]
    columns: tuple[str, ...]
    data: Sequence[Sequence[Any]]


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
    """Whether the drawing libraries of the extra `report` are installed."""
    from importlib.util import find_spec

    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def render(figure: Figure, formats: Sequence[str] = FORMATS) -> dict[str, bytes]:
    """The figure in each format; the same figure always gives the same bytes."""
    return from_svg(drawn(figure), formats) if formats else {}


def drawn(figure: Figure) -> str:
    """The figure as SVG."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(_shown(dict(figure.spec)))
    return _with_text(svg, figure)


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
            made[name] = canonical(vl_convert.svg_to_pdf(svg))
    return made


def to_csv(figure: Figure) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(figure.columns)
    writer.writerows([_plain(value) for value in row] for row in figure.data)
    return out.getvalue()


def _with_text(svg: str, figure: Figure) -> str:
    """A title and a description for readers who listen to the picture."""
    from html import escape

    head, bracket, rest = svg.partition(">")
    title, alt = escape(visible(figure.title)), escape(visible(figure.alt))
    texts = f"<title>{title}</title><desc>{alt}</desc>"
    return f'{head} role="img"{bracket}{texts}{rest}'


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return inert_cell(visible(value))
    return repr(round(value, 10)) if isinstance(value, float) else value


def _shown(value: Any) -> Any:
    """The specification with every text visible: a control character ends the converter."""
    if isinstance(value, str):
        return visible(value, lines=True)
    if isinstance(value, Mapping):
        return {_shown(key): _shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    return value
