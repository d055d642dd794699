"""A bundle with one changed byte, wherever it is: verified, or refused in words."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import pytest

from streamdecisionbench.errors import SdbError
from streamdecisionbench.examples import example_suite
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.sharing.bundles import (
    open_bundle,
    write_bundle,
)
from streamdecisionbench.suite.suite_files import write_suite
from tests.cli.command import record_simulated, sdb
from tests.sharing.test_bundles import packed, unpacked


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("small")
    suite = example_suite()
    write_suite(suite, home / "suite")
    folder = record_simulated("jev", home / "jev", "--data", home / "suite")
    write_bundle([read_recording(folder, suite)], suite, home / "jev.zip")
    return home / "jev.zip"


def refused(path: Path) -> bool:
    try:
        open_bundle(path)
    except SdbError as error:
        said = str(error)
    else:
        return False
    assert said.startswith(str(path))
    return True


def _structure(path: Path) -> list[int]:
    """Every place of a header: of each file in the archive, and of the list at its end."""
    with zipfile.ZipFile(path) as archive:
        starts = [member.header_offset for member in archive.infolist()]
        found = [at for start in starts for at in range(start, start + 60)]
        return [*found, *range(archive.start_dir, path.stat().st_size)]


@pytest.mark.parametrize("part", range(8))
def test_one_changed_byte_of_the_archive(part: int, small: Path, tmp_path: Path) -> None:
    """All places of headers, each changed in one way that depends on the part, and places of content."""
    drawn, whole = random.Random(part), small.read_bytes()
    places = [at for at in _structure(small) if at % 8 == part]
    places += [drawn.randrange(len(whole)) for _ in range(60)]
    damaged = tmp_path / "damaged.zip"
    worked = 0
    for at in places:
        new = drawn.choice([whole[at] ^ 1 << drawn.randrange(8), 0, 255, drawn.randrange(256)])
        damaged.write_bytes(whole[:at] + bytes([new]) + whole[at + 1 :])
        worked += not refused(damaged)
    assert worked < len(places), "most damage is found"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_one_changed_byte_of_packed_content(method: int, small: Path, tmp_path: Path) -> None:
    files, damaged = unpacked(small), tmp_path / "damaged.zip"
    with zipfile.ZipFile(damaged, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        starts = [m.header_offset + 30 + len(m.filename) for m in archive.infolist()]
    whole = damaged.read_bytes()
    for start in starts:
        for at in range(start, start + 24):
            damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
            assert refused(damaged)
    done = sdb("share", "verify", damaged)
    assert done.returncode == 2
    assert "is no readable bundle" in done.stderr


@pytest.mark.parametrize("part", range(4))
def test_one_changed_byte_of_a_file_with_digests_that_fit(
    part: int, small: Path, tmp_path: Path
) -> None:
    """As a forger would: one byte of a file is another, and the archive and its digests are made again."""
    drawn, files = random.Random(part), unpacked(small)
    for k in range(120):
        name = drawn.choice([n for n in files if n != "bundle.json"])
        data, at = files[name], drawn.randrange(len(files[name]))
        new = drawn.choice([drawn.randrange(256), *b'0192eE-.,:"[]{}n\\ '])
        changed = data[:at] + bytes([new]) + data[at + 1 :]
        refused(packed({**files, name: changed}, tmp_path / f"{k}.zip"))


@pytest.mark.parametrize(
    "key", ["max_in_flight", "seed", "settings", "interval_s", "world", "stated"]
)
def test_a_number_beyond_64_bits(key: str, small: Path, tmp_path: Path) -> None:
    files, name = unpacked(small), "recordings/001/run.json"
    for huge in (10**30, -(10**30), {"x": 10**30}, [10**30], 1e308):
        record = json.loads(files[name])
        record["config"][key] = huge
        refused(packed({**files, name: json.dumps(record).encode()}, tmp_path / "huge.zip"))
