"""How large a request is, without any tokenizer at hand."""

from __future__ import annotations

from typing import Any

from streamdecisionbench.suite.digest import canonical

__all__ = ["CHARACTERS_PER_TOKEN", "estimate_tokens"]

CHARACTERS_PER_TOKEN = 4.0
"""English text and JSON keys come to about four characters a token in current vocabularies."""


def estimate_tokens(request: dict[str, Any]) -> int:
    """Tokens of {state, questions}, estimated from the characters of its compact JSON."""
    return round(len(canonical(request).decode()) / CHARACTERS_PER_TOKEN)
