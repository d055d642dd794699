"""Text from elsewhere as text a terminal, a file and a reader can bear. Standard library only."""

from __future__ import annotations

import codecs
import re

_CONTROLS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""C0 and C1 controls, line separators, the marks that turn the direction of writing, and halves of
surrogate pairs: no file takes them, and in names of files they stand for bytes that are no UTF-8."""

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


def inert_cell(text: str) -> str:
    """Text that a spreadsheet shows instead of running it.

    >>> inert_cell("=1+1"), inert_cell("jev")
    ("'=1+1", 'jev')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def _plain_signs(error: UnicodeError) -> tuple[str | bytes, int]:
    """Signs of ours by their nearest ASCII, others by a question mark."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign, "?") for sign in missing), error.end


codecs.register_error(PLAIN_ERRORS, _plain_signs)
