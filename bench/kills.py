"""Kill a recording at a thousand moments: is every response that was written still there?

    python bench/kills.py                     # 1,000 kills
    python bench/kills.py --kills 50
    python bench/kills.py --sweep --kills 20  # in the middle of a sweep over paces and streams
    python bench/kills.py --label             # `sdb label` while answers come in

Each round starts `sdb run` on a small suite against a component in its own process, kills it with
SIGKILL after a drawn number of written lines plus a drawn instant, and finishes it with `--resume`.
Counted: responses on disk before the kill, responses lost by it, lines that are in no file of the
folder afterwards, recordings that could not be finished. A third of the rounds kills the resumed run
as well. With `--sweep` it is two intervals with one, three and six streams: eight recordings, of which
two replicas are made at once twice. With `--label` the page's server is killed while a person answers:
counted are answers that were acknowledged, and of these the ones that are not on disk, or twice.
Exit code 1 if anything was lost.
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
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.labels.person import audit, killed_while_answering
from tests.recording.recorder_kit import suite_folder

from streamdecisionbench.errors import SdbError
from streamdecisionbench.recording.event_log import EVENTS_FILE, scan
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.suite.suite_files import read_suite

SCENARIOS = ("one_a", "two_b", "three_a")
STEPS = 8
LINES = 3 * STEPS * len(SCENARIOS)
SWEEP = ("--intervals", "0.2,0.1", "--streams", "1,3,6")
RECORDINGS = 8
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
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--label", action="store_true")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    counts: Counter[str] = Counter()
    if arguments.label:
        with tempfile.TemporaryDirectory() as name:
            counts = killed_while_answering(
                audit(Path(name) / "audit", 20_000), draw, kills=arguments.kills
            )
        for what in ("kills", "acknowledged", "not acknowledged", "on disk", "lost", "twice"):
            print(f"{what:<24}{counts[what]:>8}")
        return 1 if counts["lost"] + counts["twice"] else 0
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "echo_component.py").write_text(COMPONENT)
        data = suite_folder(home / "suite", *SCENARIOS, steps=STEPS, tick=0.05)
        number = 0
        while counts["kills"] < arguments.kills:
            trial = Trial(home, data, home / f"run-{number}", draw, counts, arguments.sweep)
            trial.play()
            number += 1
            if number % 50 == 0:
                print(f"… {counts['kills']} kills", flush=True)
    for what in ("kills", "responses on disk", "responses lost", "lines lost", "torn last lines",
                 "ended before the kill", "finished by --resume", "not finished"):  # fmt: skip
        print(f"{what:<24}{counts[what]:>8}")
    return 1 if counts["responses lost"] + counts["lines lost"] + counts["not finished"] else 0


@dataclass(frozen=True)
class Trial:
    """One recording or sweep, killed once or twice and finished."""

    home: Path
    data: Path
    out: Path
    draw: random.Random
    counts: Counter[str]
    sweep: bool

    def play(self) -> None:
        kept: dict[Path, list[bytes]] = {}
        for attempt in range(2 if self.draw.random() < 1 / 3 else 1):
            self._kill(resume=attempt > 0)
            for log in self._logs():
                written = log.read_bytes().splitlines(True)
                # Where nothing was answered there is nothing to keep: the next start clears it.
                if log.parent in kept or any(b'"kind":"response"' in line for line in written):
                    kept.setdefault(log.parent, []).extend(written)
        done = subprocess.run(
            self._command(resume=True), cwd=self.home, capture_output=True, timeout=300, check=False
        )
        self._check(done)
        for folder, lines in kept.items():
            left = b"".join(path.read_bytes() for path in sorted(folder.glob("events*.jsonl")))
            gone = [line for line in lines if line not in left]
            self.counts["lines lost"] += len(gone)
            for line in gone:
                print(folder.name, "lost", line[:200])

    def _check(self, done: subprocess.CompletedProcess[bytes]) -> None:
        folders = sorted(path.parent for path in self.out.rglob("run.json"))
        finished = done.returncode == 0 and len(folders) == (RECORDINGS if self.sweep else 1)
        try:
            for folder in folders:
                read_recording(folder, read_suite(self.data))
        except SdbError as error:
            print(error)
            finished = False
        self.counts["finished by --resume" if finished else "not finished"] += 1
        if not finished:
            print(self.out.name, done.stderr.decode()[-500:])

    def _kill(self, *, resume: bool) -> None:
        before = self._lines()
        after = self.draw.randrange(max(1, LINES * (RECORDINGS if self.sweep else 1) - before))
        process = subprocess.Popen(
            self._command(resume=resume), cwd=self.home, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if self._lines() >= after:
                break
            time.sleep(0.005 if self.sweep else 0.001)
        time.sleep(self.draw.uniform(0, 0.02))
        seen = {log.parent: log.read_bytes() for log in self._logs()}
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        self.counts["kills"] += 1
        self.counts["ended before the kill"] += process.returncode == 0
        for folder, data in seen.items():
            responses = [
                line
                for line in data.splitlines(True)
                if b'"kind":"response"' in line and line.endswith(b"\n")
            ]
            self.counts["responses on disk"] += len(responses)
            left = b"".join(path.read_bytes() for path in sorted(folder.glob("events*.jsonl")))
            self.counts["responses lost"] += sum(response not in left for response in responses)
            log = folder / EVENTS_FILE
            self.counts["torn last lines"] += log.exists() and scan(log).torn

    def _logs(self) -> list[Path]:
        return sorted(self.out.rglob(EVENTS_FILE))

    def _lines(self) -> int:
        return sum(log.read_bytes().count(b"\n") for log in self._logs())

    def _command(self, *, resume: bool) -> list[str]:
        run = [sys.executable, "-m", "streamdecisionbench.cli.main"]
        run += ["sweep" if self.sweep else "run"]
        run += ["python:echo_component:Echo", *(SWEEP if self.sweep else ())]
        more = ["--resume"] if resume else []
        return [*run, "--data", str(self.data), "--out", str(self.out), "--quiet", *more]


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
