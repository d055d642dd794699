"""Settings of a request that change how fast, how dearly or how long a service answers.

Each is an `--option`, goes into the run record under its own name, and so into the signature: runs
on different tiers must not look alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamdecisionbench.components.contract import Options
from streamdecisionbench.errors import InputError

__all__ = ["LOCAL_OUTPUT_LIMIT", "choice", "output_limit", "present"]

LOCAL_OUTPUT_LIMIT = 1024
"""Output tokens of a server that may not enforce the schema: a dozen labels take a tenth of it."""


def choice(options: Options, name: str, allowed: tuple[str, ...] = ()) -> str | None:
    """The value of `--option name=…`; any text without control characters where nothing is listed."""
    value = options.extra.get(name)
    if value is None:
        return None
    fits = value in allowed if allowed else bool(value) and value.isprintable() and len(value) <= 64
    if not fits:
        raise InputError(
            f"--option {name} is {value[:40]!r}",
            fix=f"choose one of: {', '.join(allowed)}" if allowed else "give a short plain text",
        )
    return value


def output_limit(options: Options, default: int | None) -> int | None:
    """`--option max_output_tokens=N`; 0 sets no limit."""
    text = options.extra.get("max_output_tokens")
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise InputError(
            f"--option max_output_tokens is {text[:40]!r}",
            fix="give a whole number of tokens, or 0 for no limit",
        )
    return int(text) or None


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Only what was asked for: a record that lists every absent setting is hard to read."""
    return {name: value for name, value in values.items() if value is not None}
