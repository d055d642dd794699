"""Text files of any number, size, header and compression are read within the memory that is given."""

from __future__ import annotations

import gzip
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import streamdecisionbench as sdb_api
from streamdecisionbench.logs.engines.duck import DuckEngine
from streamdecisionbench.logs.log_files import (
    find_files,
    packing_of,
)
from tests.cli.command import sdb
from tests.logs.test_formats import plain_rows, write

PACKINGS = (None, "gzip", "zstd")


def pack(path: Path, name: str, packing: str | None) -> Path:
    """The same bytes under another name, packed or not."""
    out = path.with_name(name)
    with pa.output_stream(str(out), compression=packing) as file:
        file.write(path.read_bytes())
    assert packing_of(out) == packing
    return out


def packed_parts(folder: Path, count: int) -> list[Path]:
    found = []
    for k in range(count):
        plain = write(folder / f"p{k}.csv", [{**r, "stream": f"s{k}"} for r in plain_rows()])
        found.append(pack(plain, f"p{k}.csv.gz", "gzip"))
        plain.unlink()
    return found


def test_any_number_of_packed_files_fits_in_the_default_memory(tmp_path: Path) -> None:
    packed_parts(tmp_path, 12)
    done = sdb("logs", "check", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert '"streams": 12' in done.stdout


def test_every_thread_has_room_for_its_buffers(tmp_path: Path) -> None:
    """A machine of many cores opens as many files at once."""
    files = find_files(packed_parts(tmp_path, 16))
    with DuckEngine(memory="256MB") as engine:
        engine._con.execute("SET threads = 16")
        engine.open_files(files)
        engine.settle()
        assert engine._ask("SELECT count(*) AS n FROM {log}").column("n")[0].as_py() == 16 * 9


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_bytes_say_how_a_file_is_packed(tmp_path: Path, form: str) -> None:
    """Whatever its name ends in, and next to files that are packed otherwise."""
    want = sdb_api.score_log(write(tmp_path / f"plain.{form}", plain_rows())).groups[0]
    paths = []
    for k, (end, packing) in enumerate(product(("", ".gz", ".GZ", ".zst", ".ZST"), PACKINGS)):
        rows = [{**r, "stream": f"s{k}"} for r in plain_rows()]
        name = f"P{k}.{form.upper()}{end}"
        paths.append(pack(write(tmp_path / f"one.{form}", rows), name, packing))
        group = sdb_api.score_log(paths[-1]).groups[0]
        assert (group.classes, group.decisions) == (want.classes, want.decisions), name
    together = sdb_api.score_log(paths).groups[0]
    assert (together.streams, together.classes) == (len(paths), pytest.approx(want.classes))


def _large(path: Path, columns: str, first: int, rows: int) -> Path:
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT {columns} FROM (SELECT 's' || (i // 100) AS stream, i AS published_at,"  # noqa: S608
            " i AS answered_at, repeat('a', 40) AS decision, repeat('a', 40) AS reference,"
            f" 100 * (i // 100) + 100 AS ended_at FROM range({first}, {first + rows}) t(i)))"
            f" TO '{path}' (HEADER)"
        )
    return path


def test_files_with_different_headers_are_sorted_on_disk(tmp_path: Path) -> None:
    """Larger together than the memory that is given. DuckDB cannot spill a sort of several readers."""
    rows = 500_000
    paths = [
        _large(tmp_path / "a.csv", "*", 0, rows),
        _large(tmp_path / "b.csv", "published_at, stream, * EXCLUDE (stream, published_at)", rows, rows),
    ]  # fmt: skip
    assert sum(path.stat().st_size for path in paths) > 100_000_000
    group = sdb_api.score_log(paths, memory="128MB", resamples=0).groups[0]
    assert (group.streams, group.classes["current_correct"]) == (rows / 50, 1.0)


def test_too_little_memory_is_told_with_its_remedy(tmp_path: Path) -> None:
    write(tmp_path / "log.csv", plain_rows())
    done = sdb("logs", "score", "log.csv", "--memory", "1MB", cwd=tmp_path)
    assert (done.returncode, "fix: give DuckDB more with --memory" in done.stderr) == (2, True)


def test_a_line_may_be_32_mib_long_and_cross_buffers(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = plain_rows(4000)
    for row in rows[100::3000]:
        row["state"] = "x" * (31 << 20)
    path = write(tmp_path / "log.csv", rows)
    with path.open("rb") as plain, gzip.open(f"{path}.gz", "wb", compresslevel=1) as packed:
        shutil.copyfileobj(plain, packed)
    assert sdb_api.score_log(path).groups[0].decisions == len(rows)
    assert sdb_api.score_log(f"{path}.gz").groups[0].decisions == len(rows)
