"""Text from elsewhere: shown so that terminals and spreadsheets do not act on it, and decisions in the
one spelling by which logs and the meter compare them. Standard library only.

Two decisions are equal if their canonical texts are equal. `decision_text` is the only place that makes
this text.

- White space around text does not count.
- Text that is a JSON number is that number: 1, 1.0 and 1e0 are equal. A number with a point or an
  exponent is a 64-bit float; a number of digits alone is exact. Any other text (007, +1, .5, 1.2.3) is
  compared as text.
- Text that begins with {, [ or a quotation mark is JSON. The order of keys, white space, escapes and the
  spelling of numbers do not count. Inside an object or a list, the number 1 and the text "1" differ.
- A JSON string equals its text, unless that text begins like JSON and cannot be read as JSON.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Mapping
from typing import Any

_CONTROLS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""C0 and C1 controls, line separators, the marks that turn the direction of writing, and halves of
surrogate pairs: no file takes them, and in names of files they stand for bytes that are no UTF-8."""

_SURROGATES = re.compile("[\ud800-\udfff]")

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""A number as JSON writes it."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")

PLAIN_ERRORS = "sdb-plain"
"""Name of the error handler that writes for a terminal whatever its encoding cannot."""

_PLAIN = {
    "–": "-", "—": "-", "−": "-", "…": "...", "’": "'", "‘": "'", "“": '"', "”": '"', "·": ".",
    "×": "x", "Δ": "D", "λ": "lambda", "θ": "theta", "≤": "<=", "≥": ">=", "→": "->", "∞": "inf",
    "█": "#", "▓": "+", "▒": "%", "░": ":", "╳": "X", "\u00a0": " ", "\u202f": " ", "⋯": "...",
}  # fmt: skip


def visible(text: str, *, lines: bool = False) -> str:
    """The text with what would act on a terminal written out; `lines` keeps line breaks.

    >>> visible("jev\\x1b[2J"), visible("a\\nb"), visible("a\\nb", lines=True)
    ('jev\\\\x1b[2J', 'a\\\\nb', 'a\\nb')
    >>> visible(b"caf\\xe9".decode("utf-8", "surrogateescape"))
    'caf\\\\xe9'
    """

    def shown(match: re.Match[str]) -> str:
        sign = match.group()
        if lines and sign == "\n":
            return sign
        if "\udc80" <= sign <= "\udcff":
            return f"\\x{ord(sign) - 0xDC00:02x}"
        return sign.encode("unicode_escape").decode("ascii")

    return _CONTROLS.sub(shown, text)


def printable(text: str) -> str:
    """The text with a mark in place of whatever no terminal prints.

    >>> printable("a\\x1b[31mb")
    'a\ufffd[31mb'
    """
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def inert_cell(text: str) -> str:
    """Text that a spreadsheet shows instead of running it.

    >>> inert_cell("=1+1"), inert_cell("jev")
    ("'=1+1", 'jev')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def decision_text(value: Any) -> str | None:
    """The canonical text of a decision, a reference or a state; None where there is none, or where text
    begins like JSON and is not.

    >>> decision_text({"card": "wait", "badge": 1.0})
    '{"badge":1,"card":"wait"}'
    >>> decision_text('{"card": "wait", "badge": 1}') == decision_text({"badge": 1.0, "card": "wait"})
    True
    >>> decision_text(" wait "), decision_text('"wait"'), decision_text(True), decision_text('{"wait"')
    ('wait', 'wait', 'true', None)
    >>> decision_text("1.0"), decision_text(1), decision_text("1e0"), decision_text("007")
    ('1', '1', '1', '007')

    Asked again of a canonical text it says the same text: a log that is read is what was written.
    """
    if not isinstance(value, str):
        value = _plain_value(value)
        if not isinstance(value, str):
            return None if value is None else compact_json(value)
    text = value.strip()
    if text[:1] not in ("{", "[", '"'):
        return _number_text(text) if _NUMBER.fullmatch(text) else text
    try:
        parsed = json.loads(text)
        if not isinstance(parsed, str):
            return compact_json(_plain_value(parsed))
        inner = parsed.strip()
        found = decision_text(inner)
    except (ValueError, RecursionError):
        return None
    return compact_json(inner) if found is None else found


def _number_text(text: str) -> str:
    """The one spelling of a number; a number beyond the range of floats keeps its own."""
    if not re.search("[.eE]", text):
        return "0" if text == "-0" else text
    value = float(text)
    return text if math.isinf(value) else compact_json(_plain_value(value))


def harmless(text: str) -> str:
    """The text with a mark in place of halves of surrogate pairs, which no file takes.

    >>> harmless("wait\\ud800")
    'wait�'
    """
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def compact_json(value: Any) -> str:
    """On one line, keys in order.

    >>> compact_json({"b": [1, 2], "a": "é"})
    '{"a":"é","b":[1,2]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain_value(value: Any) -> Any:
    """JSON values, with whole numbers written as such."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {_plain_key(key): _plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    import dataclasses
    import enum

    if isinstance(value, enum.Enum):
        return _plain_value(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain_value(dataclasses.asdict(value))
    raise TypeError(f"a decision of type {type(value).__name__} is no JSON value")


def _plain_key(key: Any) -> str:
    """As text before they are put in order: 9 comes after 10 then, as in a file that is read."""
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool | int | float):
        return json.dumps(key)
    raise TypeError(f"a key of type {type(key).__name__} is no JSON value")


def _plain_signs(error: UnicodeError) -> tuple[str | bytes, int]:
    """Signs of ours by their nearest ASCII, others by a question mark."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign, "?") for sign in missing), error.end


codecs.register_error(PLAIN_ERRORS, _plain_signs)


def plural(count: float, noun: str, many: str = "") -> str:
    """A count with its noun.

    >>> plural(1, "stream"), plural(0, "stream"), plural(2, "person", "people")
    ('1 stream', '0 streams', '2 people')
    """
    shown = f"{count:.0f}" if count == round(count) else f"{count:g}"
    return f"{shown} {noun if count == 1 else many or noun + 's'}"
