"""Writes calls.csv: 120 calls of two releases of a recorder control. Release 2.0 answers later.

python docs/examples/make_calls.py
"""

from __future__ import annotations

import csv
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

DECISIONS = ("record", "pause", "stop")
COLUMNS = (
    "stream", "published_at", "answered_at", "decision", "reference", "ended_at", "release",
)  # fmt: skip


def rows(calls: int = 120, seed: int = 1) -> list[tuple[str, ...]]:
    rng = random.Random(seed)
    start = datetime(2026, 9, 21, 9, 0, tzinfo=UTC)
    found = []
    for call in range(calls):
        release = ("1.9", "2.0")[call % 2]
        begun = start + timedelta(minutes=4 * call)
        ended, at, right = begun + timedelta(seconds=40), begun, "record"
        while at < ended:
            if rng.random() < 0.35:
                right = rng.choice(DECISIONS)
            decision = right if rng.random() < 0.9 else rng.choice(DECISIONS)
            waited = rng.lognormvariate(-0.6 if release == "1.9" else 0.0, 0.4)
            reference = right if rng.random() < 0.7 else ""
            found.append(
                (
                    f"call-{call:03}",
                    text(at),
                    text(at + timedelta(seconds=waited)),
                    decision,
                    reference,
                    text(ended),
                    release,
                )
            )
            at += timedelta(seconds=rng.uniform(1.0, 5.0))
    return found


def text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


if __name__ == "__main__":
    with Path(__file__).with_name("calls.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows()])
