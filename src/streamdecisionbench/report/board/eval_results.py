"""Entries for a model hub: `.eval_results/*.yaml`, one file per setting.

An entry names the benchmark's data set on the hub, a task in it and the value, with date and notes.
JSON strings are YAML strings, so texts from recordings stay inert.
"""

from __future__ import annotations

import json
import re

from streamdecisionbench.report.board.rows import Row, SuiteRows

__all__ = ["DEFAULT_DATASET", "eval_results"]

DEFAULT_DATASET = "streamdecisionbench/sdb-v1"


def eval_results(board: SuiteRows, dataset: str) -> dict[str, str]:
    """File name → text. Simulations are nobody's results and are left out."""
    files: dict[str, str] = {}
    for place, row in enumerate(board.rows, start=1):
        if row.simulated:
            continue
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", row.name).strip("-.")[:80] or "setting"
        name = f"{stem}.yaml" if f"{stem}.yaml" not in files else f"{stem}-{place}.yaml"
        files[name] = _entry(row, board, dataset)
    return files


def _entry(row: Row, board: SuiteRows, dataset: str) -> str:
    low, high = row.interval
    notes = (
        f"in-force accuracy over log 0.5-8 s, 95 % interval {100 * low:.1f} to {100 * high:.1f},"
        f" {len(row.passes)} pass(es), suite {board.suite.dataset_hash[:12]}"
        f"{', virtual clock' if row.virtual else ''}; {row.passes[0].score.signature}"
    )
    lines = [
        "- dataset:",
        f"    id: {json.dumps(dataset)}",
        '    task_id: "log_auc"',
        f"  value: {100 * row.auc:.4f}",
    ]
    started = str(row.passes[0].entry.conditions.get("started_at") or "")
    if started:
        lines.append(f"  date: {json.dumps(started)}")
    lines.append(f"  notes: {json.dumps(notes)}")
    return "\n".join(lines) + "\n"
