"""Which files a SOURCE means (a file, a folder, a pattern; Parquet, CSV or JSON Lines), and those that a
killed process left with half a line at their end."""

from __future__ import annotations

import csv
import glob
import io
import itertools
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.text import plural

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
PACKED = {".gz": "gzip", ".zst": "zstd"}
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The files of a log, in a fixed order, with how they are read."""

    formats: Mapping[str, str]
    """By path."""
    label: str
    """What messages call the whole of it."""

    def of_format(self, wanted: str) -> list[str]:
        return [path for path, form in self.formats.items() if form == wanted]


def find_files(sources: Sequence[str | Path]) -> LogFiles:
    """All files that the sources mean, each once."""
    found: dict[str, str] = {}
    for source in map(str, sources):
        for path in _meant(source):
            form = format_of(path)
            if form is None:
                raise InputError(
                    "is no Parquet, CSV or JSON Lines file",
                    where=path,
                    fix=f"its name must end in one of {', '.join(FORMATS)}",
                )
            found[path] = form
    if not found:
        raise InputError("no source was given", fix="name a file, a folder or a pattern")
    label = ", ".join(map(str, sources))
    return LogFiles(found, label if len(label) <= 100 else label[:99] + "…")


def format_of(path: str) -> str | None:
    """By the end of the name; compressed text is read as it is.

    >>> format_of("day.parquet"), format_of("day.csv.gz"), format_of("notes.txt")
    ('parquet', 'csv', None)
    """
    name = path.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    return next((form for end, form in FORMATS.items() if name.endswith(end)), None)


def packing_of(path: str | Path) -> str | None:
    """`gzip`, `zstd` or None: by the first bytes of a file, by the name of a URL."""
    if "://" in str(path):
        return next((p for end, p in PACKED.items() if str(path).lower().endswith(end)), None)
    try:
        with Path(path).open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise InputError(f"cannot be read: {error}", where=path, fix="check the file") from None
    return next((packing for magic, packing in _MAGIC.items() if start.startswith(magic)), None)


def _meant(source: str) -> list[str]:
    if "://" in source:
        return [source]
    path = Path(source)
    if path.is_dir():
        if (path / "run.json").exists():
            raise InputError(
                "is a recording, not a log",
                where=source,
                fix=f"sdb logs export {source} --out decisions.parquet, or sdb score {source}",
            )
        files = list(map(str, files_in(path)))
        if not files:
            raise InputError(
                "holds no Parquet, CSV or JSON Lines file",
                where=source,
                fix=f"names must end in one of {', '.join(FORMATS)}",
            )
        return files
    if path.exists():
        if not path.is_file():
            raise InputError("is no regular file", where=source, fix="name a file or a folder")
        return [source]
    if glob.has_magic(source):
        files = sorted(p for p in glob.glob(source, recursive=True) if Path(p).is_file())  # noqa: PTH207
        if files:
            return files
        raise InputError("matches no file", where=source, fix="put the pattern in quotation marks")
    raise InputError(
        "there is no such file or folder", where=source, fix="name a file, a folder or a pattern"
    )


def files_in(folder: Path) -> list[Path]:
    """The files of a log in a folder and its subfolders, in a fixed order.

    Names that begin with a dot or an underscore are skipped: writers of partitioned tables use them for
    markers and for unfinished files.
    """
    return sorted(
        path
        for path in folder.rglob("*")
        if format_of(path.name) and not path.name.startswith((".", "_")) and path.is_file()
    )


def first_line_of(path: str) -> str:
    """Of a file of text, unpacked."""
    import pyarrow as pa

    try:
        with pa.input_stream(path, compression=packing_of(path)) as file:
            found = b""
            while b"\n" not in found and (block := file.read(_BLOCK)):
                found += block
            return found.partition(b"\n")[0].decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", where=path, fix="check the file") from None


def header_of(path: str, line: str | None) -> tuple[str, ...]:
    """The sign between fields, by which the header has most, and the names of columns.

    >>> header_of("log.csv", "stream;published_at")
    (';', 'stream', 'published_at')
    """
    if not line:
        raise InputError("has no header", where=path, fix="name the columns in the first line")
    name = path.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    signs = "\t" if name.endswith(".tsv") else ",;\t|"
    try:
        read = {sign: next(csv.reader([line.rstrip("\r")], delimiter=sign)) for sign in signs}
    except csv.Error as error:
        raise InputError(f"has no readable header ({error})", where=path) from None
    sign = max(signs, key=lambda one: len(read[one]))
    return (sign, *read[sign])


def find_text(
    files: LogFiles, column: str, matches: Callable[[str], bool]
) -> tuple[str, int] | None:
    """The file and the number of the first row whose text in a column matches; rows are counted from 1."""
    for path, form in files.formats.items():
        for number, text in enumerate(_texts(path, form, column), start=1):
            if matches(text):
                return path, number
    return None


def _texts(path: str, form: str, column: str) -> Iterator[str]:
    """A column of a local file, row by row, as text."""
    import pyarrow as pa

    if "://" in path:
        return
    if form == "parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as table:
            if column in table.schema_arrow.names:
                for batch in table.iter_batches(columns=[column]):
                    yield from map(str, batch.column(0).to_pylist())
        return
    with pa.input_stream(path, compression=packing_of(path)) as stream:
        lines = io.TextIOWrapper(stream, "utf-8-sig", newline="")
        if form == "csv":
            sign, *names = header_of(path, first_line_of(path))
            place = [name.strip() for name in names].index(column) if column in names else None
            for cells in itertools.islice(csv.reader(lines, delimiter=sign), 1, None):
                yield cells[place] if place is not None and place < len(cells) else ""
        else:
            for line in lines:
                yield (
                    str(json.loads(line).get(column))
                    if _is_json(line.encode()) and line.strip()
                    else ""
                )


def torn_lines(files: LogFiles) -> dict[str, bytes]:
    """The half line that a killed process left at the end of JSON Lines files, of those that have one."""
    return {
        path: tail
        for path in files.of_format("json")
        if Path(path).is_file() and packing_of(path) is None
        if not _is_json(tail := _tail(Path(path)))
    }


def without_torn_lines(files: LogFiles, folder: Path) -> tuple[LogFiles, dict[str, str]]:
    """Files that end in half a line as copies in a folder without that line, and whose copy each is.

    A file begun just before the kill may hold nothing else; it is left out, unless no other is there.
    """
    copies: dict[str, str] = {}
    for path, tail in torn_lines(files).items():
        copy = folder / f"whole-{len(copies)}" / Path(path).name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        with copy.open("r+b") as file:
            file.truncate(copy.stat().st_size - len(tail))
        copies[path] = str(copy)
    read = {copies.get(path, path): form for path, form in files.formats.items()}
    kept = {path: form for path, form in read.items() if not _is_empty(path, form)} or read
    return replace(files, formats=kept), {copy: path for path, copy in copies.items()}


def torn_note(torn: int) -> list[str]:
    """What every reader of the figures must be told."""
    if not torn:
        return []
    ends = plural(torn, "file ends", "files end")
    return [f"{ends} in a line that was cut off, as a killed process leaves it: left out"]


def _is_empty(path: str, form: str) -> bool:
    return form == "json" and Path(path).is_file() and not Path(path).stat().st_size


def _tail(path: Path) -> bytes:
    """What stands after the last line break."""
    with path.open("rb") as file:
        at = file.seek(0, 2)
        found = b""
        while at:
            size = min(_BLOCK, at)
            at -= size
            file.seek(at)
            found = file.read(size) + found
            if b"\n" in found:
                return found.rpartition(b"\n")[2]
    return found


def _is_json(line: bytes) -> bool:
    """The last line may lack its line break and be whole."""
    try:
        json.loads(line)
    except ValueError:
        return not line.strip()
    return True
