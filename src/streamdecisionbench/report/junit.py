"""The gate's verdict as JUnit XML, which every CI system reads."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from streamdecisionbench.analysis.flipped_states import Flips
from streamdecisionbench.analysis.gate import FAIL, PASS, Gate
from streamdecisionbench.report.gate_words import flip_lines, flip_summary, gate_lines, verdict_line

__all__ = ["junit_xml", "write_junit"]


def junit_xml(
    gate: Gate, new: str, baseline: str, flips: Flips | None, *, strict: bool = False
) -> bytes:
    """One test case. `cannot tell` is skipped, or failed where the gate is strict."""
    failed = gate.verdict == FAIL or (strict and gate.verdict != PASS)
    skipped = not failed and gate.verdict != PASS
    counts = {
        "tests": "1",
        "failures": str(int(failed)),
        "errors": "0",
        "skipped": str(int(skipped)),
    }
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": "sdb gate", **counts})
    case = ET.SubElement(
        suite, "testcase", {"classname": "sdb.gate", "name": _legal(f"{new} against {baseline}")}
    )
    text = "\n".join(gate_lines(gate, new, baseline))
    if flips is not None:
        text += "\n\n" + "\n".join((flip_summary(flips), *flip_lines(flips)))
    if failed:
        ET.SubElement(case, "failure", {"message": _legal(verdict_line(gate)), "type": "drop"})
    elif skipped:
        ET.SubElement(case, "skipped", {"message": _legal(verdict_line(gate))})
    ET.SubElement(case, "system-out").text = _legal(text)
    body: str = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'.encode()


def write_junit(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _legal(text: str) -> str:
    """Without the characters XML 1.0 cannot hold."""
    return "".join(
        c
        for c in text
        if c in "\t\n\r" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")
    )
