"""Which files a SOURCE means: a file, a folder, a pattern; Parquet, CSV or JSON Lines."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamdecisionbench.errors import InputError

__all__ = ["FORMATS", "LogFiles", "find_files", "format_of"]

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
_PACKED = (".gz", ".zst")


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The files of a log, in a fixed order, with how they are read."""

    paths: tuple[str, ...]
    formats: tuple[str, ...]
    label: str
    """What messages call the whole of it."""

    def of_format(self, wanted: str) -> list[str]:
        return [p for p, f in zip(self.paths, self.formats, strict=True) if f == wanted]


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
    return LogFiles(
        tuple(found), tuple(found.values()), label if len(label) <= 100 else label[:99] + "…"
    )


def format_of(path: str) -> str | None:
    """By the end of the name; compressed text is read as it is.

    >>> format_of("day.parquet"), format_of("day.csv.gz"), format_of("notes.txt")
    ('parquet', 'csv', None)
    """
    name = path.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return next((form for end, form in FORMATS.items() if name.endswith(end)), None)


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
        files = sorted(str(p) for p in path.rglob("*") if p.is_file() and format_of(p.name))
        # Writers of partitioned tables leave markers and half-written files with such names.
        files = [f for f in files if not Path(f).name.startswith((".", "_"))]
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
