"""The gate's verdict for GitHub Actions: workflow commands and a job summary.

`::error title=…::message` lines become annotations. In messages `%`, CR and LF are written %25, %0D
and %0A; in properties `:` and `,` as well.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from streamdecisionbench.analysis.flipped_states import KINDS, Flips, decision_words
from streamdecisionbench.analysis.gate import FAIL, PASS, Gate
from streamdecisionbench.report.gate_words import verdict_line

__all__ = ["append_summary", "workflow_commands"]

MOST = 10
"""Annotations of flipped states: the service shows ten of a kind in a step."""


def workflow_commands(gate: Gate, flips: Flips | None, *, strict: bool = False) -> list[str]:
    """One for the verdict, then one for each state that was lost."""
    if gate.verdict == PASS:
        kind = "notice"
    else:
        kind = "error" if gate.verdict == FAIL or strict else "warning"
    lines = [_command(kind, "sdb gate", "\n".join((verdict_line(gate), *gate.reasons)))]
    lost = [f for f in flips.found if f.kind == "lost"] if flips is not None else []
    lines += [
        _command(
            "warning" if kind != "notice" else "notice",
            f"{flip.scenario} step {flip.step}",
            f"{KINDS[flip.kind]}: {decision_words(flip.second)} instead of"
            f" {decision_words(flip.reference)}",
        )
        for flip in lost[:MOST]
    ]
    return lines


def append_summary(markdown: str, environment: Mapping[str, str] | None = None) -> Path | None:
    """Adds to the file the runner names in GITHUB_STEP_SUMMARY; None where there is none."""
    named = (os.environ if environment is None else environment).get("GITHUB_STEP_SUMMARY")
    if not named:
        return None
    path = Path(named)
    with path.open("a", encoding="utf-8") as file:
        file.write(markdown)
    return path


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
