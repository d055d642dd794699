"""Standard output that passes on text and colour, and nothing else a terminal would act on.

Titles, answers, names of models and evidence come from files and servers. Whatever command prints
them, a control sequence in them is shown, not obeyed.
"""

from __future__ import annotations

import io
import re
from typing import IO, Any

from streamdecisionbench.plain_text import PLAIN_ERRORS, visible

__all__ = ["Harmless", "harmless"]

_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")
_LAYOUT = re.compile(r"([\n\r\t]+)")


def harmless(stream: IO[str]) -> IO[str]:
    """The stream, guarded; one that is guarded already stays as it is."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=PLAIN_ERRORS)
    return stream if isinstance(stream, Harmless) else Harmless(stream)  # type: ignore[return-value]


class Harmless:
    """A text stream whose `write` shows control characters instead of passing them on."""

    def __init__(self, stream: IO[str]) -> None:
        self.inner = stream
        self._in_colour = stream.isatty()

    def write(self, text: str) -> int:
        self.inner.write(self._shown(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def _shown(self, text: str) -> str:
        if text.isprintable():
            return text
        parts = _COLOUR.split(text) if self._in_colour else [text]
        return "".join(
            part if k % 2 else "".join(
                piece if j % 2 else visible(piece) for j, piece in enumerate(_LAYOUT.split(part))
            )
            for k, part in enumerate(parts)
        )  # fmt: skip
