"""Every command and every program in README and docs runs, in order, as it is printed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.docs.markdown import Step, blocks, name_of, pages, steps, stray_commands
from tests.docs.services import HostedServer
from tests.docs.workbench import KEYS, Page, Workshop

pytestmark = pytest.mark.slow

STEPS = [
    pytest.param(path, index, step, id=str(step))
    for path in pages()
    for index, step in enumerate(steps(path))
]
WITH_STEPS = [path for path in pages() if steps(path)]


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    server = HostedServer()
    server.start()
    yield Workshop(tmp_path_factory.mktemp("docs"), server)
    server.stop()


@pytest.fixture(scope="session")
def page(
    workshop: Workshop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Path], Page]]:
    open_pages: dict[Path, Page] = {}

    def find(path: Path) -> Page:
        if path not in open_pages:
            open_pages[path] = Page(path, workshop, tmp_path_factory.mktemp(path.stem))
        return open_pages[path]

    yield find
    for each in open_pages.values():
        each.close()


@pytest.mark.parametrize(("path", "index", "step"), STEPS)
def test_step(path: Path, index: int, step: Step, page: Callable[[Path], Page]) -> None:
    outcome = page(path).outcome(index)
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert not outcome.problem, f"{step}\n{outcome.problem}"


@pytest.mark.parametrize("path", WITH_STEPS, ids=name_of)
def test_no_key_is_left_behind(path: Path, page: Callable[[Path], Page]) -> None:
    done = page(path)
    printed = [done.outcome(index).output for index in range(len(done.steps))]
    files = [file for file in done.folder.rglob("*") if file.is_file() and not file.is_symlink()]
    for key in KEYS.values():
        assert not any(key in text for text in printed)
        assert not [file for file in files if key.encode() in file.read_bytes()]


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_commands_are_where_they_are_looked_for(path: Path) -> None:
    assert stray_commands(path) == []
    other_names = {"shell", "zsh", "py", "python3", "pycon"}
    assert not {block.language for block in blocks(path)} & other_names, "write sh or python"


@pytest.mark.parametrize("readme", pages()[:1], ids=name_of)
def test_the_sample_in_the_readme_is_what_the_published_recording_prints(
    readme: Path, workshop: Workshop, tmp_path: Path
) -> None:
    published = os.environ.get("SDB_PUBLISHED")
    if not published:
        pytest.skip("SDB_PUBLISHED is not set: the published recordings are not available")
    (sample,) = [block.text for block in blocks(readme) if "untimed" in block.text]
    tables = [str(Path(published) / "recordings" / f"{name}.csv") for name in ("astra-low", "jev")]
    options = ["--reference", tables[0], "--correct", "assembly_a:32=31", "--out", "published"]
    done = workshop.sdb(["import", *tables, *options], tmp_path)
    assert done.returncode == 0, done.stderr
    alone = workshop.sdb(["score", "published/jev"], tmp_path)
    printed = {line.rstrip() for line in alone.stdout.replace("\u00a0", " ").splitlines()}
    assert [line for line in sample.splitlines() if line != "…" and line not in printed] == []
