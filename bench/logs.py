"""How fast decision logs are scored, as ratios on the machine at hand.

    python bench/logs.py                        # 10⁶ and 10⁷ decisions
    python bench/logs.py 1e6 1e7 1e8 --spark    # as the aims are stated; 10⁸ needs 10 GB of disk
    python bench/logs.py --coverage             # how often intervals hold, at 5 to 150 streams
    python bench/logs.py --causes               # causes of wrong time at 10 to 100 % labels

Generates logs of 100 decisions a stream, rows in no order, and prints for every size: what DuckDB
needs to read and sort the same columns, what the whole score takes beside it, and the most memory it
held. Then decisions a second and core of the kernel alone, at one pace and integrated, and its ratio
to the plain per-row scorer, and time and memory of 50,000 streams of 60 steps, whose reference changes
at nearly every step, through `score_timelines`: of its processor time what the system takes is memory that
was given back and is asked for again.
With --spark the first size also goes through a real cluster on loopback, one executor of one core and
then two. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import numpy as np
from tests.kernel import plain_streams
from tests.logs.made_logs import causes_found, covered

from streamdecisionbench.kernel.arrays import JoinedTimelines
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import (
    batches,
    tables,
)

PER_STREAM = 100
COLUMNS = "stream, published_at, answered_at, decision, reference, ended_at"
MEMORY = "1GB"


def generate(path: Path, decisions: int) -> None:
    """Streams of a state every 2 s or so, answers after about 2.5 s, a tenth of them wrong."""
    con = duckdb.connect(config={"memory_limit": "2GB"})
    con.execute("SET preserve_insertion_order = false")
    con.execute(
        f"""
        COPY (
          SELECT 'stream-' || (i // {PER_STREAM}) AS stream,
                 t AS published_at,
                 CASE WHEN hash(i, 1) % 50 > 0 THEN t + 1 + (hash(i, 2) % 3000) / 1000 END AS answered_at,
                 CASE WHEN hash(i, 1) % 50 = 0 THEN NULL
                      WHEN hash(i, 3) % 10 = 0 THEN 'option-' || (hash(i, 4) % 9)
                      ELSE 'option-' || (hash(i // 3) % 9) END AS decision,
                 CASE WHEN hash(i, 5) % 10 > 0 THEN 'option-' || (hash(i // 3) % 9) END AS reference,
                 {PER_STREAM * 2}::DOUBLE AS ended_at
          FROM (SELECT i, (i % {PER_STREAM}) * 2 + (hash(i, 6) % 1000) / 1000 AS t
                FROM range({decisions}) r(i))
          ORDER BY hash(i) % 1000
        ) TO '{path}'
        """
    )
    con.close()


def sorted_by_duckdb(path: Path) -> float:
    """Seconds to read and sort the same columns, batches thrown away, in a process of its own."""
    return _timed(
        f"import duckdb; con = duckdb.connect(config={{'memory_limit': '{MEMORY}'}});"
        "con.execute('SET preserve_insertion_order = false');"
        "con.execute('SET enable_progress_bar = false');"
        f"[None for _ in con.sql(\"SELECT {COLUMNS} FROM read_parquet('{path}')"
        ' ORDER BY stream, published_at").to_arrow_reader(131072)]'
    )[0]


def scored(path: Path) -> tuple[float, float]:
    """Seconds and most memory (MB) of the whole score, in a process of its own."""
    return _timed(
        "import json; import streamdecisionbench as sdb;"
        f"print(json.dumps(sdb.score_log('{path}', memory='{MEMORY}').to_json()))"
    )[:2]


def _timed(code: str) -> tuple[float, float, Any]:
    start = time.perf_counter()
    # Not ru_maxrss: that of a new process begins with what its parent held.
    ending = (
        "\nimport re, sys\nfound = re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())"
        "\nsys.stderr.write(found[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code + ending], capture_output=True, text=True, check=True
    )
    took = time.perf_counter() - start
    said = json.loads(done.stdout) if done.stdout else None
    return took, float(done.stderr.strip().rpartition("\n")[2]) / 1e3, said


def on_spark(path: Path, executors: int, folder: Path) -> float:
    """Seconds on a cluster of so many executors, one core each, once everything is warm."""
    from pyspark.sql import SparkSession
    from tests.logs.engines.cluster import Cluster

    import streamdecisionbench as sdb

    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    folder.mkdir()
    with Cluster(folder, executors) as cluster:
        session = (
            SparkSession.builder.master(cluster.master)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
            .config("spark.sql.shuffle.partitions", "8")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            sdb.score_log(path, engine="spark")
            best = min(best, time.perf_counter() - start)
        session.stop()
    return best


def coverage(logs: int = 1000) -> None:
    """How often the interval of a log holds the value of the service that made it."""
    print("\nstreams   95 % intervals that hold the service's value   mean width")
    for streams in (5, 10, 40, 150):
        share, width = covered(logs if streams < 100 else logs // 2, streams, seed=1)
        print(f"{streams:7d}   {share * 100:43.1f} %   {width * 100:9.1f}", flush=True)


def causes(logs: int = 1000, streams: int = 150) -> None:
    """Causes of wrong time where references are missing at random: estimate, truth, coverage."""
    print(f"{logs} logs of {streams} streams, % of judged time: mean estimate ± standard error")
    print("(95 % intervals that hold the truth); counted: latency without an estimate\n")
    print("| references | latency | judgment | both | counted |")
    print("|---|---:|---:|---:|---:|")
    kept = [(0.1, False), (0.2, False), (0.5, False), (1.0, False), (0.2, True), (0.5, True)]
    for labels, by_stream in kept:
        found = causes_found(logs, streams, labels, seed=1, by_stream=by_stream)
        shown = [found[cause] for cause in ("latency", "judgment", "both")]
        if labels == kept[0][0]:
            truths = " | ".join(f"{100 * one.truth:.2f}" for one in shown)
            print(f"| truth | {truths} | {100 * shown[0].truth:.2f} |")
        cells = " | ".join(
            f"{100 * one.mean:.2f} ± {100 * one.error:.2f} ({100 * one.held:.0f} %)"
            for one in shown
        )
        of = "streams" if by_stream else "states"
        print(
            f"| {100 * labels:.0f} % of {of} | {cells} | {100 * shown[0].counted:.2f} |", flush=True
        )


def many_streams(streams: int = 50_000, steps: int = 60) -> tuple[float, float, list[float]]:
    """Seconds and most memory (MB) of a process of its own, and the processor time of `score_timelines`
    in it: its own, and the system's."""
    return _timed(
        "import os, numpy as np\n"
        "from streamdecisionbench.scoring.score import score_timelines\n"
        "from streamdecisionbench.kernel.arrays import Timeline\n"
        "rng = np.random.default_rng(1)\n"
        f"n = {steps}\n"
        "parts = [Timeline(f's{k}', f'f{k % 4}', 2.0, np.arange(n) * 2.0, rng.exponential(2.5, n),\n"
        "                  rng.integers(0, 9, n), rng.integers(0, 9, n))\n"
        f"         for k in range({streams})]\n"
        "begin = os.times()\n"
        f"assert len(score_timelines(parts).by_scenario) == {streams}\n"
        "print([b - a for a, b in zip(begin[:2], os.times())])"
    )


def kernel_input(streams: int) -> JoinedTimelines:
    rng = np.random.default_rng(1)
    n = PER_STREAM
    size = streams * n
    y = np.repeat(rng.integers(0, 9, size // 3 + 1), 3)[:size]
    wrong = rng.random(size) < 0.1
    return JoinedTimelines.of(
        n=np.full(streams, n),
        r=(np.arange(size) % n) * 2.0 + rng.uniform(0, 1, size),
        L=rng.lognormal(np.log(2.5), 0.35, size),
        H=np.full(streams, n * 2.0 + 1),
        tick=np.full(streams, 2.0),
        y=y,
        p=np.where(wrong, rng.integers(0, 9, size), y),
    )


def rate(call: Callable[[], object], decisions: int, repeat: int = 7) -> float:
    """Million decisions a second, the best of several."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return decisions / best / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sizes", nargs="*", type=float, default=[1e6, 1e7], metavar="DECISIONS")
    parser.add_argument("--coverage", action="store_true", help="only how often intervals hold")
    parser.add_argument("--causes", action="store_true", help="only causes on partial labels")
    parser.add_argument("--spark", action="store_true", help="one executor against two")
    chosen = parser.parse_args()
    if chosen.coverage:
        coverage()
        return
    if chosen.causes:
        causes()
        return
    print("decisions     sort s  score s   ratio   s per 10⁶   peak MB")
    with tempfile.TemporaryDirectory() as folder:
        for k, size in enumerate(map(int, chosen.sizes)):
            path = Path(folder) / f"{size}.parquet"
            generate(path, size)
            alone = sorted_by_duckdb(path)
            took, peak = scored(path)
            print(
                f"{size:10d}   {alone:8.2f} {took:8.2f} {took / alone:7.2f}"
                f"   {took / size * 1e6:9.2f}   {peak:7.0f}",
                flush=True,
            )
            if chosen.spark and k == 0:
                one, two = (on_spark(path, n, Path(folder) / f"cluster-{n}") for n in (1, 2))
                print(
                    f"{'':10s}   Spark: one executor {one:.2f} s, two {two:.2f} s ({one / two:.2f} ×)"
                )
            path.unlink()

    took, peak, (own, system) = many_streams()
    print(f"\n50,000 streams of 60 steps through score_timelines: {took:.1f} s, peak {peak:.0f} MB"
          " (aim: below 1,000)")  # fmt: skip
    print(f"its processor time   {own + system:6.2f} s, {system:.2f} of them the system's")
    size = next(b for b in batches(np.full(1000, PER_STREAM))).stop
    flat = kernel_input(size)
    args: dict[str, Any] = {
        "n": flat.n, "r": flat.r, "L": flat.L, "H": flat.H, "tick": flat.tick,
        "y": flat.y % 9, "p": flat.p % 9,
    }  # fmt: skip
    decisions = size * PER_STREAM
    one = rate(lambda: tables(JoinedTimelines.of(**args), segments=False), decisions)
    from streamdecisionbench.kernel.shares import table_over

    over = rate(lambda: table_over(JoinedTimelines.of(**args), Bounds(), segments=False), decisions)
    print(f"kernel, one pace     {one:6.2f} million decisions a second and core (aim: 3)")
    print(f"kernel, integrated   {over:6.2f} (aim: 0.5)")

    streams = [
        plain_streams.Stream(
            flat.r[k * PER_STREAM : (k + 1) * PER_STREAM].tolist(),
            flat.L[k * PER_STREAM : (k + 1) * PER_STREAM].tolist(),
            [str(v) for v in args["y"][k * PER_STREAM : (k + 1) * PER_STREAM]],
            [str(v) for v in args["p"][k * PER_STREAM : (k + 1) * PER_STREAM]],
            float(flat.H[k]),
        )
        for k in range(3)
    ]
    plainly = rate(lambda: [plain_streams.shares(s) for s in streams], 3 * PER_STREAM, 2)
    print(
        f"plain definition     {plainly:9.5f}; the kernel is {one / plainly:.0f} × as fast (aim: 200)"
    )
    short = streams[
        0
    ]  # integrated it asks at thousands of intervals: the first 25 states are enough
    short = plain_streams.Stream(
        short.times[:25], short.latencies[:25], short.references[:25], short.decisions[:25],
        short.times[25],
    )  # fmt: skip
    slowly = rate(lambda: plain_streams.integral(short, 0.5, 8.0), 25, 1)
    print(f"plain, integrated    {slowly:9.5f}; the kernel is {over / slowly:.0f} × as fast")
    print(f"peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


if __name__ == "__main__":
    main()
