"""Tokens of one answer: what a component reports and a response event keeps."""

from __future__ import annotations

import msgspec

__all__ = ["Usage"]


class Usage(msgspec.Struct, frozen=True, omit_defaults=False):
    """Tokens as the service reported them; `cached_tokens` are part of `input_tokens`.

    None: the service does not say what came from a cache, which is not the same as nothing.
    """

    input_tokens: int = 0
    cached_tokens: int | None = None
    output_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def fresh_tokens(self) -> int:
        """Input that came from no cache, as far as the service reports one."""
        return self.input_tokens - (self.cached_tokens or 0)
