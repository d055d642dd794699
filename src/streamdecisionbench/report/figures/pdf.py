"""The same drawing, the same bytes: puts a PDF's objects into one fixed order.

The converter keeps fonts and other resources in hash maps, so their order and the numbers of their
objects differ from run to run. Nothing else does. Here resources are sorted by name, objects
renumbered in the order they are reached from the catalogue, and the cross-reference table rebuilt.
"""

from __future__ import annotations

import re

__all__ = ["canonical"]

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
