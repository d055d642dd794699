"""The net: holds every published figure in place while the code is moved.

    python bench/net.py inputs FOLDER                   # once: recordings, logs, policies, costs
    python bench/net.py write FOLDER BEFORE [--spark]   # every figure, one JSON file per command
    python bench/net.py write FOLDER AFTER [--spark]    # the same of another commit
    python bench/net.py compare BEFORE AFTER [--words]  # numbers to 1e-10, all else equal

It calls the command line alone and imports nothing of the package, so the same script measures the
first and the last commit of a refactoring: PYTHONPATH chooses which. Where SDB_PUBLISHED names the
folder of published recordings, `inputs` imports those as well. A command that exits with a code it
should not have is kept with its code and what it said, and `write` exits with 1.

JSON and CSV are always compared; what is printed for people (.txt, .md, .tex) with `--words`.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import itertools
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TOLERANCE = 1e-10
MOST_SHOWN = 20
VOLATILE_KEYS = {"sdb", "version"}
"""What may differ between two commits that give the same figures."""
ALLOWED = {".integrated.longest_s": "the longest spell is given at one pace only"}
"""Keys whose values may differ from those before the house was drawn again, and why."""
VOLATILE_TEXT = re.compile(r"\bsdb:\S+")
"""The version at the end of a signature."""
KEPT = {".json", ".csv", ".md", ".tex"}
"""Files of a report that hold figures as text."""

POLICIES = {
    "gate.toml": '[gate]\nconfidence = 0.7\ncompose = "product"\n[expire]\nafter_s = 6\n',
    "queue.toml": '[debounce]\nagree = 2\n[dispatch]\nmode = "latest"\nlimit = 3\n',
    "escalate.toml": '[cascade]\ncomponents = ["jev", "astra-low"]\nask = "when-unsure"\n'
    'below = 0.6\nrule = "lag_one"\n',
}
COSTS = """schema = "sdb-costs/1"
title = "the net"
dated = "2026-11-16"
[default]
wrong = 1.5
no_decision = 0.75
[default.age]
kind = "threshold"
after_s = 5.0
add = 0.5
[family.live_debugging.age]
kind = "linear"
per_s = 0.02
[family.support_call_assist]
no_decision = 0.5
[family.support_call_assist.fields]
recorder = 3.0
hold_action = 0.5
[[family.support_call_assist.pairs]]
field = "recorder"
reference = "pause"
decision = "record"
cost = 40.0
[family.support_call_assist.age]
kind = "capped"
per_s = 0.1
cap = 1.0
[[family.support_call_assist.acts]]
name = "submit payment"
when = { payment_stage = "submit" }
within_s = 4.0
late = 5.0
missed = 20.0
wrongly = 100.0
twice = 100.0
"""
QUERY = "SELECT * EXCLUDE (reference), CASE WHEN release = '1.9' THEN reference END AS reference\nFROM source\n"

VIRTUAL = "--clock virtual --quiet"
PREPARATION = (
    f"run simulated:jev {VIRTUAL} --seed 0 --out runs/jev",
    f"run simulated:terra-none {VIRTUAL} --seed 0 --out runs/terra-none",
    f"run simulated:terra-none {VIRTUAL} --seed 1 --out runs/terra-none-2",
    f"run simulated:astra-low {VIRTUAL} --seed 2 --interval 1 --out runs/astra-low",
    f"run simulated:kev-4b {VIRTUAL} --seed 3 --workers 1 --out runs/kev-4b",
    f"run --member fast=simulated:jev --member slow=simulated:astra-low --rule lag-one {VIRTUAL} --out runs/pair",
    f"run simulated:jev --policy gate.toml {VIRTUAL} --seed 4 --out runs/gated",
    "run --policy escalate.toml --member jev=simulated:jev --member astra-low=simulated:astra-low"
    f" {VIRTUAL} --out runs/cascade",
    f"sweep simulated:jev {VIRTUAL} --workers 2 --intervals 1,0.5,0.25 --streams 1,8 --out sweep",
    "suite generate --seed 7 --per-family 5 --steps 30 --changes 10 --out fresh",
    f"run simulated:jev {VIRTUAL} --data fresh --out runs/fresh-jev",
    f"run simulated:luna-low {VIRTUAL} --data fresh --out runs/fresh-luna",
    "logs export runs/jev runs/kev-4b --out exported.parquet",
    "bundle runs/jev runs/terra-none --out results.zip",
)
IMPORTED = (
    "import {tables}/astra-low.csv {tables}/jev.csv --reference {tables}/astra-low.csv"
    " --correct assembly_a:32=31 --out published"
)


FOUR = "runs/jev runs/terra-none runs/astra-low runs/kev-4b"
ALONE = "--fast runs/jev --slow runs/astra-low"
FRESH = "runs/fresh-jev runs/fresh-luna --data fresh"
PUBLISHED = "published/astra-low published/jev --data published/suite"

# A name, marks, and what is asked. Marks: j prints JSON, t its words are kept as well, a digit is the
# exit code it must have. The longest come first, so that nothing waits for them at the end.
NONE = "''"
LONG = f"""
policy-search           jt  choose {FOUR} --interval 2 --frontier
choose                  jt  choose {FOUR} --interval 1.2
choose-no-pairs         j   choose {FOUR} --interval 1.2 --no-pairs --budget 5
choose-costs            j   choose runs/jev runs/terra-none --interval 3 --costs mine.toml
choose-sweep            j   choose sweep --interval 0.5 --no-policies
report                  -   report runs/jev runs/terra-none runs/kev-4b --out OUT/report --quiet --formats {NONE}
"""
ENGINES = """
logs-score              jt  logs score exported.parquet --by scenario --interval 2 --bounds 0.5 8
logs-score-costs        jt  logs score exported.parquet --by family --interval 2 --theta 4 --costs default
logs-score-calls        jt  logs score calls.jsonl --by release --by family
logs-score-calls-costs  jt  logs score calls.jsonl --by release --interval 1.5 --bounds 1 4 --theta 3 --costs mine.toml
logs-check              jt  logs check calls.jsonl --by release
logs-pace               jt  logs pace calls.jsonl --by release
"""
SHORT = f"""
logs-score-day          jt  logs score calls.csv --by release --by day
logs-score-sql          j   logs score calls.csv --sql query.sql --by release
logs-score-agree        j   logs score exported.parquet --references runs/jev
logs-check-unusable     jt2 logs check bad.jsonl
logs-score-unusable     j2  logs score bad.jsonl
logs-score-allowed      j   logs score bad.jsonl --allow-unusable 5
logs-suite              -   logs suite old.jsonl --by family --out OUT/logged
score                   jt  score {FOUR} --mistakes
score-one               j   score runs/jev --curves --by scenario
score-costs             jt  score {FOUR} --costs mine.toml --interval 1
score-bounds            j   score {FOUR} --bounds 1 4 --weighting linear --clock nominal
score-live              jt  score runs/pair runs/terra-none runs/terra-none-2
score-fresh             j   score {FRESH} --costs default
compose-freshest        jt  compose {ALONE} --rule freshest
compose-lag-one         jt  compose {ALONE} --rule lag-one --interval 1
compose-late-override   jt  compose {ALONE} --rule late-override --bounds 1 4
compose-live            jt  compose runs/pair {ALONE}
compose-all             jt  compose --all {FOUR}
policy-gate             jt  policy score gate.toml runs/jev runs/kev-4b
policy-queue            j   policy score queue.toml runs/jev runs/astra-low --interval 1
policy-cascade          jt  policy score escalate.toml runs/jev runs/astra-low --costs mine.toml --interval 1
policy-gate-live        jt  policy score gate.toml runs/gated
policy-cascade-live     jt  policy score escalate.toml runs/cascade
analyze-network         jt  analyze network {FOUR} runs/pair
analyze-transitions     jt  analyze transitions {FOUR}
analyze-paired          jt  analyze paired {FOUR}
analyze-pace            jt  analyze pace {FOUR}
analyze-pace-at         j   analyze pace {FOUR} --at 0.5 --at 1 --at 5
analyze-sensitivity     jt  analyze sensitivity {FOUR}
analyze-schedules       jt  analyze schedules {FOUR}
analyze-separability    jt  analyze separability {FOUR}
analyze-baselines       jt  analyze baselines
analyze-cost            jt  analyze cost {FOUR} runs/pair
analyze-repeats         jt  analyze repeats runs/terra-none runs/terra-none-2
analyze-repacing        jt  analyze repacing sweep
analyze-intervals       jt  analyze intervals {FOUR}
analyze-intervals-fresh j   analyze intervals {FRESH}
analyze-window          jt  analyze window {FOUR}
analyze-calibration     jt  analyze calibration runs/jev runs/kev-4b
analyze-calibration-all j   analyze calibration runs/jev --compose product --interval 1
analyze-spells          jt  analyze spells {FOUR}
analyze-changes         jt  analyze changes {FOUR}
analyze-actions         jt  analyze actions {FOUR}
analyze-cost-of-error   jt  analyze cost-of-error {FOUR}
pair-spells             j   analyze spells runs/jev runs/astra-low --pair freshest --bounds 1 4
pair-changes            j   analyze changes runs/jev runs/astra-low --pair lag-one --interval 1
pair-actions            j   analyze actions runs/jev runs/astra-low --pair freshest --costs mine.toml
pair-cost-of-error      j   analyze cost-of-error runs/jev runs/astra-low --pair late-override --costs mine.toml
gate-pass               jt  gate runs/jev --baseline runs/kev-4b --allow-model-change
gate-fail               jt1 gate runs/kev-4b --baseline runs/jev --min 50
gate-strict             jt3 gate runs/terra-none-2 --baseline runs/terra-none --interval 2 --strict
gate-logs               jt1 gate new.jsonl --baseline old.jsonl --max-drop 2
gate-scores             j   gate scores/terra-none-2.json --baseline scores/terra-none.json
diff                    jt  diff runs/terra-none runs/terra-none-2
diff-lost               j   diff runs/jev runs/kev-4b --only lost
suite-check             -   suite check
suite-check-fresh       -   suite check --data fresh
suite-stats             jt  suite stats
suite-stats-fresh       j   suite stats --data fresh
suite-coverage          j   suite coverage
suite-generate          -   suite generate --seed 11 --per-family 2 --out OUT/made
suite-generate-free     -   suite generate --seed 11 --per-family 2 --wording free --split train --out OUT/free
audit-shortcuts         jt  audit shortcuts
audit-record            j   audit record
audit-probe             j   audit probe --families live_debugging --train 10 --test 3
verify                  -   verify results.zip
validate                -   validate runs/cascade
"""
OF_PUBLISHED = f"""
published-score         jt  score {PUBLISHED} --costs default
published-compose       jt  compose --fast published/jev --slow published/astra-low --data published/suite
published-choose        jt  choose {PUBLISHED} --interval 2
published-queue         j   policy score queue.toml {PUBLISHED}
published-network       j   analyze network {PUBLISHED}
published-sensitivity   j   analyze sensitivity {PUBLISHED}
published-schedules     j   analyze schedules {PUBLISHED}
published-intervals     j   analyze intervals {PUBLISHED}
published-transitions   j   analyze transitions {PUBLISHED}
published-spells        j   analyze spells {PUBLISHED}
published-changes       j   analyze changes {PUBLISHED}
"""


@dataclass(frozen=True)
class Job:
    """One call of the command line; `form` is the file it is kept in, and so how it prints."""

    name: str
    form: str
    line: str
    json: bool
    code: int


def jobs(table: str) -> Iterator[Job]:
    for row in filter(str.strip, table.splitlines()):
        name, marks, line = row.split(maxsplit=2)
        code = int(marks[-1]) if marks[-1].isdigit() else 0
        if marks[0] in "j-":
            yield Job(name, ".json", line, "j" in marks, code)
        if "t" in marks:
            yield Job(name, ".txt", line, False, code)


def python(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """This Python with the package that PYTHONPATH names, 80 columns wide and without colour."""
    surroundings = {k: v for k, v in os.environ.items() if k != "FORCE_COLOR"}
    surroundings |= {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}
    if paths := os.environ.get("PYTHONPATH"):
        absolute = [str(Path(path).resolve()) for path in paths.split(os.pathsep)]
        surroundings["PYTHONPATH"] = os.pathsep.join(absolute)
    call = [sys.executable, "-P", *arguments]
    return subprocess.run(
        call, cwd=folder, env=surroundings, capture_output=True, text=True, check=False
    )


def sdb(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return python(["-m", "streamdecisionbench.cli.main", *arguments], folder)


def calls(release: str) -> list[dict[str, Any]]:
    """A log of irregular calls: references known in part, weights, answers that never came or late."""
    rng, truth = random.Random(f"answers of {release}"), random.Random("what was right")
    rows: list[dict[str, Any]] = []
    for call in range(60):
        at = begun = 1_772_350_000.0 + 2820 * call
        weight, family = truth.choice([1, 1, 2.5]), truth.choice(["support_call_assist", "other"])
        right = {"recorder": "record", "payment_stage": "idle"}
        while at < begun + 40:
            if truth.random() < 0.3:
                right = {
                    "recorder": truth.choice(["record", "pause", "stop"]),
                    "payment_stage": truth.choice(["idle", "collect", "submit"]),
                }
            known = call % 3 == 0 or truth.random() < 0.6
            said = right
            if rng.random() < 0.15:
                said = {**right, "recorder": rng.choice(["record", "pause", "stop"])}
            waited = rng.lognormvariate(-0.6 if release == "1.9" else 0.4, 0.5)
            answered = rng.random() < 0.95
            rows.append(
                {
                    "stream": f"call-{call}", "published_at": at, "ended_at": begun + 40,
                    "answered_at": round(at + waited, 6) if answered else None,
                    "decision": json.dumps(said) if answered else None,
                    "reference": json.dumps(right) if known else None,
                    "confidence": round(rng.random(), 3) if answered else None,
                    "weight": weight, "release": release, "family": family,
                    "state": json.dumps({"heard": right}),
                }
            )  # fmt: skip
            at = round(at + truth.uniform(0.5, 4.0), 6)
    return rows


def write_logs(folder: Path) -> None:
    """The same calls before and after a release; as a table with timestamps; with rows of no use."""
    old, new = calls("1.9"), calls("2.0")
    both = [{**row, "stream": f"{row['stream']}/{row['release']}"} for row in old + new]
    bad = [
        {**row, "answered_at": 5.0 if 3 <= k < 6 else row["answered_at"]}
        for k, row in enumerate(old)
    ]
    for name, rows in {"old": old, "new": new, "calls": both, "bad": bad}.items():
        lines = [json.dumps(row) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    with (folder / "calls.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(both[0]))
        writer.writeheader()
        for row in both:
            times = {k: _stamp(v) for k, v in row.items() if k.endswith("_at")}
            writer.writerow({**row, **times})


def _stamp(seconds: float | None) -> str | None:
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%F %T.%f}"


def inputs(folder: Path) -> int:
    """Makes what every commit is measured on."""
    require_fresh(folder)
    for name, text in {**POLICIES, "mine.toml": COSTS, "query.sql": QUERY}.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_logs(folder)
    lines = [line.split() for line in PREPARATION]
    if place := os.environ.get("SDB_PUBLISHED"):
        tables = str(Path(place).resolve() / "recordings")
        lines.append([word.replace("{tables}", tables) for word in IMPORTED.split()])
    for line in lines:
        done = sdb(line, folder)
        if done.returncode:
            sys.exit(f"sdb {' '.join(line)}: exit {done.returncode}\n{done.stderr}")
    (folder / "scores").mkdir()
    for name in ("terra-none", "terra-none-2"):
        done = sdb(["score", f"runs/{name}", "--json"], folder)
        (folder / "scores" / f"{name}.json").write_text(done.stdout, encoding="utf-8")
    print(f"{folder}: {len(lines)} inputs by command, logs, policies and costs")
    return 0


def write(folder: Path, out: Path, spark: bool) -> int:
    """Runs everything over the inputs, two at a time; exit code 1 where one ends as it should not."""
    require_fresh(out)
    folder, out, started = folder.resolve(), out.resolve(), time.perf_counter()
    where = "import streamdecisionbench as package; print(package.__file__)"
    print(f"measures {python(['-c', where], folder).stdout.strip()}", flush=True)
    asked = list(jobs(LONG))
    if spark:
        figures = [job for job in jobs(ENGINES) if job.form == ".json"]
        asked += [
            replace(j, name=f"spark-{j.name}", line=f"{j.line} --engine spark") for j in figures
        ]
    asked += jobs(ENGINES + SHORT + (OF_PUBLISHED if (folder / "published").is_dir() else ""))
    with ThreadPoolExecutor(2) as pool:
        wrong = [fault for fault in pool.map(lambda job: run(job, folder, out), asked) if fault]
    for made in ("made", "free", "logged"):  # suites: what was printed names their digest
        shutil.rmtree(out / made, ignore_errors=True)
    for path in (out / "report").rglob("*"):
        if path.is_file() and path.suffix not in KEPT:
            path.unlink()
    for fault in wrong:
        print(fault)
    took = time.perf_counter() - started
    print(f"{out}: {len(asked)} commands, {len(wrong)} unexpected exit codes, {took:.0f} s")
    return int(bool(wrong))


def run(job: Job, folder: Path, out: Path) -> str | None:
    """Keeps what one command printed, and its errors where it failed; says so where it must not."""
    words = [("" if w == NONE else w).replace("OUT/", f"{out}/") for w in job.line.split()]
    quiet = ["--quiet"] if words[0] == "logs" else []
    done = sdb([*words, *quiet, *(["--json"] if job.json else [])], folder)
    printed, said = (
        text.replace(str(out), "OUT").replace(str(folder), "INPUTS")
        for text in (done.stdout, done.stderr)
    )
    if job.form == ".json":
        result: Any = printed.splitlines()
        if job.json:
            with contextlib.suppress(ValueError):
                result = json.loads(printed)
        kept = {"command": job.line, "exit": done.returncode, "result": result}
        if done.returncode:
            kept["stderr"] = said.splitlines()
        printed = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    elif done.returncode:
        printed += f"\nexit {done.returncode}\n{said}"
    (out / f"{job.name}{job.form}").write_text(printed, encoding="utf-8")
    if done.returncode == job.code:
        return None
    return f"{job.name}{job.form}: exit {done.returncode}, not {job.code}: {said[-300:]}"


def require_fresh(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty: choose a fresh folder")
    folder.mkdir(parents=True, exist_ok=True)


def differences(a: Any, b: Any, where: str = "") -> Iterator[str]:
    """Each place where two documents differ; numbers to the tolerance, absolute or relative."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            if key in VOLATILE_KEYS:
                continue
            if key in a and key in b:
                path = f"{where}.{key}"
                if not path.endswith(tuple(ALLOWED)):
                    yield from differences(a[key], b[key], path)
            else:
                yield f"{where}.{key}: only in {'the first' if key in a else 'the second'}"
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            yield f"{where}: {len(a)} entries != {len(b)}"
        for place, (one, other) in enumerate(zip(a, b, strict=False)):
            yield from differences(one, other, f"{where}[{place}]")
    elif not _same(a, b):
        yield f"{where}: {a!r} != {b!r}"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return VOLATILE_TEXT.sub("", a) == VOLATILE_TEXT.sub("", b)
    if any(isinstance(x, bool) or not isinstance(x, int | float) for x in (a, b)):
        return type(a) is type(b) and bool(a == b)
    close = math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return close or (math.isnan(a) and math.isnan(b))


def document(path: Path) -> Any:
    """A file as something to compare: JSON as it is, a table cell by cell, a text line by line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix == ".csv":
        return [[_cell(cell) for cell in row] for row in csv.reader(text.splitlines())]
    return text.splitlines()


def _cell(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def compare(first: Path, second: Path, words: bool) -> int:
    """Prints every difference; exit code 1 where there is one."""
    files = {p.relative_to(top) for top in (first, second) for p in top.rglob("*") if p.is_file()}
    compared = sorted(f for f in files if words or f.suffix in {".json", ".csv"})
    differ = 0
    for file in compared:
        there = [(top / file).is_file() for top in (first, second)]
        if all(there):
            found = differences(document(first / file), document(second / file))
        else:
            found = iter([f": only in {first if there[0] else second}"])
        shown = list(itertools.islice(found, MOST_SHOWN))
        shown += [f": {more} more"] if (more := sum(1 for _ in found)) else []
        differ += bool(shown)
        for line in shown:
            print(f"{file}{line}")
    print(f"{len(compared)} files compared, {differ} differ")
    return int(differ > 0 or not compared)


def main() -> int:
    parser = argparse.ArgumentParser(description="Holds every published figure in place.")
    does = parser.add_subparsers(dest="does", required=True)
    make = does.add_parser("inputs", help="make what is measured, once")
    make.add_argument("folder", type=Path)
    put = does.add_parser("write", help="write every figure of one commit")
    put.add_argument("inputs", type=Path)
    put.add_argument("out", type=Path)
    put.add_argument("--spark", action="store_true", help="logs with the Spark engine as well")
    look = does.add_parser("compare", help="compare the figures of two commits")
    look.add_argument("first", type=Path)
    look.add_argument("second", type=Path)
    look.add_argument("--words", action="store_true", help="texts for people as well")
    asked = parser.parse_args()
    if asked.does == "inputs":
        return inputs(asked.folder)
    if asked.does == "write":
        return write(asked.inputs, asked.out, asked.spark)
    return compare(asked.first, asked.second, asked.words)


if __name__ == "__main__":
    sys.exit(main())
