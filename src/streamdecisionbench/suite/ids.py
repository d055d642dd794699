"""One rule for ids: they name files, so they are plain."""

from __future__ import annotations

import re

from streamdecisionbench.errors import InputError

__all__ = ["ID_RULE", "is_id", "require_id"]

ID_RULE = (
    "an id has letters a–z, digits, `.`, `_` and `-`, at most 100 of them, at least one letter or"
    " digit, and is not `manifest`"
)

_PLAIN = re.compile(r"(?=.*[A-Za-z0-9])[A-Za-z0-9._-]{1,100}")


def is_id(text: object) -> bool:
    """Whether a scenario or a recording may be called so.

    >>> [is_id(x) for x in ("debugging_a", "lite-v0.1", "../x", "/etc/x", "..", "manifest", "")]
    [True, True, False, False, False, False, False]
    """
    return (
        isinstance(text, str) and _PLAIN.fullmatch(text) is not None and text.lower() != "manifest"
    )


def require_id(text: object, where: str | None = None, what: str = "id") -> str:
    """The id itself, or a message that shows it and the rule."""
    if not isinstance(text, str) or not is_id(text):
        raise InputError(f"{text!r:.80} is no {what}", where=where, fix=ID_RULE)
    return text
