"""The report of many recordings: how long it takes, how large the page is, how fast it opens.

    python bench/report.py                    # 30 recordings, every figure format
    python bench/report.py --recordings 3

Recordings are simulations over the built-in suite on the virtual clock. Aims for thirty: built in
less than 30 s, a page below 5 MB that opens in less than two seconds. The page is opened in headless
Chromium where there is one; the time runs until the page has drawn everything.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.report.browser import CHROMIUM, NO_BROWSER, Browser

from streamdecisionbench.components.simulated.profiles import builtin_profiles
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.report.write_report import write_report
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=30)
    count = parser.parse_args().recordings
    suite = read_suite(builtin_suite_path())
    settings = itertools.product(range(count), builtin_profiles())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        loaded = []
        for seed, profile in itertools.islice(settings, count):
            out = folder / f"{profile}-{seed}"
            request = RunOptions.of({None: f"simulated:{profile}"}, out, clock="virtual", seed=seed)
            launch(request, lambda estimates: True)
            loaded.append((read_recording(out, suite), suite))

        begin, busy = time.perf_counter(), processor_s()
        write_report(loaded, folder / "report")
        print(f"{count} recordings, all formats: {time.perf_counter() - begin:6.1f} s to build")
        print(f"processor time             : {processor_s() - busy:6.1f} s")
        page = folder / "report" / "index.html"
        print(f"the page                   : {page.stat().st_size / 1e6:6.2f} MB")
        opening(page)


def processor_s() -> float:
    """Of this process and of those it has started and seen end."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def opening(page: Path) -> None:
    """Best of three, in a browser that is already running."""
    if CHROMIUM is None:
        print(NO_BROWSER)
        return
    times = []
    with Browser() as browser:
        for _ in range(3):
            begin = time.perf_counter()
            browser.open(page)
            if browser.run("document.documentElement.dataset.ready") != "yes":
                raise RuntimeError("the page did not become ready")
            times.append(time.perf_counter() - begin)
    print(f"opens in Chromium          : {min(times):6.2f} s")


if __name__ == "__main__":
    main()
