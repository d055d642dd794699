"""What several tests need: the published recordings, where they are at hand."""

from __future__ import annotations

import gc
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from streamdecisionbench.recording.published_tables import Correction, import_tables
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

# CI draws the same examples every time, so that a change is judged by the change; a contributor's
# machine goes on looking for new ones.
settings.register_profile("ci", derandomize=True)
# `bench/faults.py` asks whether a fault is noticed, not for the smallest example of it.
settings.register_profile("faults", derandomize=True, phases=(Phase.explicit, Phase.generate))
if os.environ.get("CI"):
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


# A job in the background of a script ignores Ctrl-C, and so does all it starts; some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getoption("dist") != "loadfile":
        return None
    from tests.cores import PagesApart

    return PagesApart(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        from tests.cores import dearest_first

        items[:] = dearest_first(items)


def pytest_collection_finish() -> None:
    """All modules are imported: the collector, which every recording runs, need not walk them again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # what a library counts at the end can be collected again


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Whoever does not have the published recordings hears how many laws that leaves out."""
    skipped = terminalreporter.stats.get("skipped", ())
    left_out = sum("SDB_PUBLISHED" in str(report.longrepr) for report in skipped)
    if left_out:
        terminalreporter.write_line(
            f"SDB_PUBLISHED is not set: {left_out} laws were not held against the published recordings"
            " (CONTRIBUTING.md says where these are read from)"
        )


@pytest.fixture(scope="session")
def sdb_v1() -> Suite:
    """The suite that ships inside the package."""
    return read_suite(builtin_suite_path())


@pytest.fixture(scope="session")
def published_folder() -> Path:
    """The folder named by SDB_PUBLISHED; its tests skip, saying why, where it is not set."""
    folder = os.environ.get("SDB_PUBLISHED")
    if not folder:
        pytest.skip("SDB_PUBLISHED is not set: published recordings are not at hand")
    return Path(folder)


@pytest.fixture(scope="session")
def figures(published_folder: Path) -> dict[str, Any]:
    """Every figure the paper prints, by macro name."""
    path = published_folder.parent / "paper" / "figures.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.fixture(scope="session")
def published(
    published_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Suite, dict[str, Recording]]:
    """The two published recordings, imported, with the suite their references make."""
    tables = published_folder / "recordings"
    suite, folders = import_tables(
        tables / "astra-low.csv",
        [tables / "astra-low.csv", tables / "jev.csv"],
        tmp_path_factory.mktemp("published") / "imported",
        corrections=[Correction("assembly_a", 32, 31)],
    )
    return suite, {folder.name: read_recording(folder, suite) for folder in folders}
