"""What a reply says about itself: which model answered, and whether it is a simulation.

A gateway may rename the model. The label of a simulation then survives in the body's metadata, and
is put back in front of the name, where every recording looks for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["SIMULATED", "plain_text", "served_model"]

SIMULATED = "simulated:"

_PATH = re.compile(r"^(?:[~.]{0,2}/|[A-Za-z]:[\\/])|\\|/.*\.(?:gguf|safetensors)$")


def served_model(body: Mapping[str, Any]) -> str | None:
    """The model's name: clean text, the last part of a path, labelled if it is a simulation.

    >>> served_model({"model": "/home/me/models/qwen3-4b.gguf"})
    'qwen3-4b.gguf'
    >>> served_model({"model": "gateway-name", "metadata": {"simulation": "of jev"}})
    'simulated:gateway-name'
    """
    name = body.get("model")
    text = plain_text(name).strip() if isinstance(name, str) else ""
    if _PATH.search(text):
        text = re.split(r"[\\/]", text.rstrip("\\/"))[-1]
    if _is_simulation(body) and not text.startswith(SIMULATED):
        return f"{SIMULATED}{text or 'unnamed'}"
    return text or None


def plain_text(text: str) -> str:
    """Without control characters and lone surrogates, which no file and no terminal should get.

    >>> plain_text("a\\x1b[31m\\ud800b")
    'a\ufffd[31m\ufffdb'
    """
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _is_simulation(body: Mapping[str, Any]) -> bool:
    metadata = body.get("metadata")
    marks = (body.get("x_simulation"), isinstance(metadata, Mapping) and metadata.get("simulation"))
    return any(mark not in (None, False, "", "false") for mark in marks)
