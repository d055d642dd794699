"""Memory of the commands that see a whole scenario at once, for one of 100,000 steps.

    python bench/memory.py                     # 100,000 steps
    python bench/memory.py --steps 20000 --command report

Prints the peak of every command's own process (its VmHWM, on Linux) beside what a command takes that
opens nothing. Exit code 1 if one needs 2 GB or more.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace as changed

from streamdecisionbench.components.contract import Options, Request
from streamdecisionbench.components.local.python_class import PythonComponent
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.recorder import RunConfig, record
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.suite.scenario import Step, Suite
from streamdecisionbench.suite.suite_files import (
    builtin_suite_path,
    make_suite,
    read_suite,
    write_suite,
)

LIMIT_MB = 2048
COMMANDS = {
    "score": ("score", "long"),
    "schedules": ("analyze", "schedules", "long"),
    "report": ("report", "long", "--out", "report", "--formats", "svg"),
}


def long_suite(steps: int) -> Suite:
    """One scenario of the suite in the package, its answers repeated over small states."""
    short = read_suite(builtin_suite_path()).scenarios["support_a"]
    draw = random.Random(0)
    kept, golds = [], [step.gold for step in short.steps]
    gold = golds[0]
    for t in range(steps):
        if draw.random() < 0.35:
            gold = draw.choice(golds)
        kept.append(Step(t, {"clock": {"now": t}}, gold, ("distractor: time passes",)))
    return make_suite([changed(short, steps=tuple(kept))], name=f"{steps} steps")


def often_right(suite: Suite) -> PythonComponent:
    """Right in seven of ten states, so that stretches begin and end all the time."""
    (scenario,) = suite
    labels = [scenario.encode(step.gold) for step in scenario.steps]

    def answer(request: Request) -> dict[str, str]:
        now = request.state["clock"]["now"]
        return labels[now if now * 7 % 10 < 7 else 0]

    return PythonComponent("bench:answer", Options(), target=answer)


def peak_mb(words: tuple[str, ...], home: Path) -> tuple[float, float]:
    """Peak memory of the child in MB, and its seconds."""
    code = (
        "import runpy, sys\n"
        "sys.argv = ['sdb', *sys.argv[1:]]\n"
        "code = 0\n"
        "try: runpy.run_module('streamdecisionbench', run_name='__main__')\n"
        "except SystemExit as end: code = end.code\n"
        # Not getrusage: a child begins with the peak of the process it was forked from.
        "peak = [x.split()[1] for x in open('/proc/self/status') if x.startswith('VmHWM')]\n"
        "print(peak[0], file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=home, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"sdb {' '.join(words)}: {done.stderr}")
    return int(done.stderr.split()[-1]) / 1024, time.monotonic() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--command", choices=COMMANDS, action="append")
    asked = parser.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        suite = long_suite(asked.steps)
        write_suite(suite, home / "suite")
        record(
            suite,
            [Member(often_right(suite))],
            RunConfig(
                RunOptions.of({None: "python:bench:answer"}, clock="virtual", warmup=0),
                tuple(suite.scenarios),
            ),
            home / "long",
        )
        bare, _ = peak_mb(("providers",), home)
        print(f"{'command':<12}{'peak MB':>10}{'s':>8}   (`sdb providers`: {bare:.0f} MB)")
        for name in asked.command or COMMANDS:
            peak, seconds = peak_mb(COMMANDS[name], home)
            worst = max(worst, peak)
            print(f"{name:<12}{peak:>10.0f}{seconds:>8.1f}", flush=True)
    print(f"worst: {worst:.0f} MB of {LIMIT_MB} allowed")
    return int(worst >= LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
