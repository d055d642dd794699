"""Reads a decision log row by row while it grows, without pyarrow unless a file needs it.

`LogFollower` returns the rows that are new since the last call. `read_row` converts one row to the form that
`sdb logs score` computes with and applies the checks that concern a single row: schema, canonical decisions,
timestamps and the reasons of `unusable_rows.py`.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_files import PACKED, files_in, format_of, header_of, packing_of
from streamdecisionbench.logs.log_schema import COLUMNS
from streamdecisionbench.logs.stream_arrays import SLACK_S, effects_of_row
from streamdecisionbench.logs.unusable_rows import REASONS
from streamdecisionbench.text import decision_text

PlacedRow = tuple[str, dict[str, Any] | ValueError]
"""File and line, and the row or the reason why it cannot be read."""

_KNOWN = 256
"""How many bytes before the current offset must be unchanged."""
_TIMES = tuple(name for name, column in COLUMNS.items() if column.kind == "time")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class GrowingFile:
    """Reads the lines added since the last call. An incomplete last line waits for its end.

    A file that was replaced, truncated or rewritten is read from its start again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = 0
        """The number of complete lines so far."""
        self._offset = 0
        self._before = b""
        self._inode = -1

    def new_lines(self) -> tuple[list[bytes], bool]:
        """New complete lines, and whether the file was read from its start again."""
        try:
            with self.path.open("rb") as file:
                found = self.path.stat()
                again = self._offset > 0 and (
                    found.st_ino != self._inode or not self._is_the_same(file.fileno())
                )
                if again or self._offset == 0:
                    self._offset, self._before = 0, b""
                self._inode = found.st_ino
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            gone = self._offset > 0
            self._offset, self._before = 0, b""
            return [], gone
        end = data.rfind(b"\n") + 1
        self._offset += end
        self._before = (self._before + data[:end])[-_KNOWN:]
        found_lines = data[:end].split(b"\n")[:-1]
        self.lines = len(found_lines) + (0 if again else self.lines)
        return found_lines, again

    def _is_the_same(self, descriptor: int) -> bool:
        start = self._offset - len(self._before)
        return os.pread(descriptor, len(self._before), start) == self._before


class LogFollower:
    """Follows the files of a log: one file, or the files in a folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: dict[Path, GrowingFile] = {}
        self._csv: dict[Path, _CsvRows] = {}
        self._read_once: set[Path] = set()

    def new_rows(self) -> list[PlacedRow] | None:
        """Rows since the last call; None if a file was rewritten, so that earlier rows are void.

        Growing text is read before Parquet and compressed files, which do not grow: a Parquet file that
        replaces a `.jsonl` file already read adds no rows.
        """
        inside = files_in(self._path) if self._path.is_dir() else [self._path]
        forms = {path: str(format_of(path.name)) for path in inside}
        whole = {p for p, form in forms.items() if form == "parquet" or _is_packed(p)}
        rows: list[PlacedRow] = []
        for path in sorted(forms.keys() - whole):
            file = self._files.setdefault(path, GrowingFile(path))
            first = file.lines + 1
            lines, again = file.new_lines()
            if again:
                self.__init__(self._path)  # type: ignore[misc]
                return None
            rows += self._text_rows(path, forms[path], lines, first)
        for path in sorted(whole - self._read_once):
            self._read_once.add(path)
            if forms[path] != "parquet":
                rows += self._text_rows(path, forms[path], _unpacked_lines(path), 1)
            elif path.with_suffix(".jsonl") not in self._files:
                rows += _parquet_rows(path)
        return rows

    def _text_rows(self, path: Path, form: str, lines: list[bytes], first: int) -> list[PlacedRow]:
        if form == "csv":
            return self._csv.setdefault(path, _CsvRows(path)).rows(lines)
        return [
            (f"{path.name} line {k}", _json_row(line))
            for k, line in enumerate(lines, start=first)
            if line.strip()
        ]


def read_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row without empty values: times in seconds, decisions in canonical form.

    Raises `ValueError` with the reason if the row cannot be used. Rows of a meter (`partial`) complete each
    other, so their times are not compared.

    >>> read_row({"stream": "a", "published_at": "2026-03-01T10:00:00Z", "reference": '{"do" : 1.0}'})
    {'stream': 'a', 'published_at': 1772359200.0, 'reference': '{"do":1}'}
    """
    found = {name: value for name, value in row.items() if value is not None and value != ""}
    for name in _TIMES:
        if name in found:
            found[name] = _seconds(name, found[name])
    for name, reason in (("stream", "no_stream"), ("published_at", "no_time")):
        if name not in found:
            raise _refusal(reason)
    for name in ("decision", "reference"):
        if name in found:
            found[name] = decision_text(found[name])
            if found[name] is None:
                raise _refusal(f"bad_{name}")
    if "effects" in found:
        found["effects"] = _effects(found["effects"])
    if not is_true(found.get("partial")):
        _check_times(found)
    return found


def is_true(value: object) -> bool:
    """Whether a value of a `truth` column is true; CSV files hold it as text."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _check_times(row: Mapping[str, Any]) -> None:
    asked = row.get("requested_at", row["published_at"])
    answered, applied = row.get("answered_at"), row.get("applied_at")
    against = {
        "asked_before_published": asked < row["published_at"] - SLACK_S,
        "answered_before_asked": answered is not None and answered < asked - SLACK_S,
        "answer_without_decision": answered is not None and "decision" not in row,
        "decision_without_answer": answered is None and "decision" in row,
        "applied_without_answer": applied is not None and answered is None,
        "applied_before_answered": applied is not None
        and answered is not None
        and applied < answered - SLACK_S,
    }
    for reason, holds in against.items():
        if holds:
            raise _refusal(reason)


def _refusal(reason: str) -> ValueError:
    return ValueError(REASONS[reason].what)


def _seconds(name: str, value: object) -> float:
    """A time in seconds, or since 1970 if it is a timestamp. A timestamp without a zone is UTC."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            with contextlib.suppress(ValueError):
                value = datetime.fromisoformat(str(value).strip())
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (zoned - _EPOCH) / timedelta(seconds=1)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} {str(value)[:60]!r} is not a time")
    return float(value)


def _effects(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    try:
        list(effects_of_row(text))
    except (ValueError, TypeError, KeyError):
        raise _refusal("bad_effects") from None
    return text


def _json_row(line: bytes) -> dict[str, Any] | ValueError:
    try:
        row = json.loads(line)
    except ValueError as error:
        return ValueError(f"is not valid JSON: {error}")
    return row if isinstance(row, dict) else ValueError("is not a JSON object")


class _CsvRows:
    """Rows of a growing CSV file: a header, then records that may contain line breaks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._header: tuple[str, ...] = ()
        self._held = ""
        self._line = 0

    def rows(self, lines: list[bytes]) -> list[PlacedRow]:
        return [
            (f"{self._path.name} line {self._line}", self._row(record))
            for record in self._records(lines)
        ]

    def _records(self, lines: list[bytes]) -> Iterator[str]:
        for line in lines:
            self._line += 1
            self._held += line.decode("utf-8-sig" if self._line == 1 else "utf-8", "replace")
            if self._held.count('"') % 2:
                self._held += "\n"
                continue
            record, self._held = self._held.rstrip("\r"), ""
            if not self._header:
                self._header = header_of(str(self._path), record)
            elif record:
                yield record

    def _row(self, record: str) -> dict[str, Any] | ValueError:
        sign, *names = self._header
        cells = next(csv.reader(io.StringIO(record), delimiter=sign))
        if len(cells) != len(names):
            return ValueError("has another number of fields than the header")
        return dict(zip(names, cells, strict=True))


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() in PACKED


def _parquet_rows(path: Path) -> list[PlacedRow]:
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise InputError(
            "reading a Parquet file needs pyarrow, which is not installed",
            where=path,
            fix="pip install 'streamdecisionbench[logs]'",
        ) from None
    rows = pq.read_table(path).to_pylist()
    return [(f"{path.name} row {k}", row) for k, row in enumerate(rows, start=1)]


def _unpacked_lines(path: Path) -> list[bytes]:
    import pyarrow as pa

    with pa.input_stream(str(path), compression=packing_of(path)) as file:
        lines: list[bytes] = file.read().split(b"\n")
    return lines
