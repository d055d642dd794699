"""Kill a recording at a thousand moments: is every response that was written still there?

    python bench/kills.py                     # 1,000 kills
    python bench/kills.py --kills 50

Each round starts `sdb run` on a small suite against a component in its own process, kills it with
SIGKILL after a drawn number of written lines plus a drawn instant, and finishes it with `--resume`.
Counted: responses on disk before the kill, responses lost by it, lines that are in no file of the
folder afterwards, recordings that could not be finished. A third of the rounds kills the resumed run
as well. Exit code 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.recording.recorder_kit import suite_folder

from streamdecisionbench.errors import SdbError
from streamdecisionbench.recording.event_lines import scan
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.writer import EVENTS_FILE
from streamdecisionbench.suite.suite_files import read_suite

SCENARIOS = ("one_a", "two_b", "three_a")
STEPS = 8
LINES = 3 * STEPS * len(SCENARIOS)
COMPONENT = (
    "import asyncio, random\n"
    "class Echo:\n"
    "    async def answer(self, request):\n"
    "        await asyncio.sleep(random.uniform(0, 0.04))\n"
    "        return dict(request.state['hint'])\n"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "echo_component.py").write_text(COMPONENT)
        data = suite_folder(home / "suite", *SCENARIOS, steps=STEPS, tick=0.05)
        number = 0
        while counts["kills"] < arguments.kills:
            _round(home, data, home / f"run-{number}", draw, counts)
            number += 1
            if number % 50 == 0:
                print(f"… {counts['kills']} kills", flush=True)
    for what in ("kills", "responses on disk", "responses lost", "lines lost", "torn last lines",
                 "ended before the kill", "finished by --resume", "not finished"):  # fmt: skip
        print(f"{what:<24}{counts[what]:>8}")
    return 1 if counts["responses lost"] + counts["lines lost"] + counts["not finished"] else 0


def _round(home: Path, data: Path, out: Path, draw: random.Random, counts: Counter[str]) -> None:
    kept: list[bytes] = []
    for attempt in range(2 if draw.random() < 1 / 3 else 1):
        _kill(home, data, out, draw, counts, resume=attempt > 0)
        log = out / EVENTS_FILE
        kept += log.read_bytes().splitlines(True) if log.exists() else []
    done = subprocess.run(
        _command(data, out, resume=True), cwd=home, capture_output=True, timeout=300, check=False
    )
    try:
        read_recording(out, read_suite(data))
        finished = done.returncode == 0
    except SdbError as error:
        print(error)
        finished = False
    counts["finished by --resume" if finished else "not finished"] += 1
    if not finished:
        print(out.name, done.stderr.decode()[-500:])
    left = b"".join(path.read_bytes() for path in sorted(out.glob("events*.jsonl")))
    answered = any(b'"kind":"response"' in line for line in kept)
    # Where nothing was answered there is nothing to keep, and a fresh start clears it.
    counts["lines lost"] += sum(line not in left for line in kept) if answered else 0


def _kill(
    home: Path, data: Path, out: Path, draw: random.Random, counts: Counter[str], *, resume: bool
) -> None:
    log = out / EVENTS_FILE
    before = log.read_bytes().count(b"\n") if log.exists() else 0
    after = draw.randrange(max(1, LINES - before))
    process = subprocess.Popen(
        _command(data, out, resume=resume), cwd=home, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if log.exists() and log.read_bytes().count(b"\n") >= after:
            break
        time.sleep(0.001)
    time.sleep(draw.uniform(0, 0.02))
    seen = log.read_bytes() if log.exists() else b""
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    counts["kills"] += 1
    counts["ended before the kill"] += process.returncode == 0
    responses = [
        r for r in seen.splitlines(True) if b'"kind":"response"' in r and r.endswith(b"\n")
    ]
    counts["responses on disk"] += len(responses)
    left = b"".join(path.read_bytes() for path in sorted(out.glob("events*.jsonl")))
    counts["responses lost"] += sum(response not in left for response in responses)
    counts["torn last lines"] += log.exists() and scan(log).torn


def _command(data: Path, out: Path, *, resume: bool) -> list[str]:
    run = [
        sys.executable,
        "-m",
        "streamdecisionbench.cli.main",
        "run",
        "python:echo_component:Echo",
    ]
    more = ["--resume"] if resume else []
    return [*run, "--data", str(data), "--out", str(out), "--quiet", *more]


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
