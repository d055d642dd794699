"""Which suite a recording belongs to: the one given, the built-in one, or one lying beside it."""

from __future__ import annotations

from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.first_steps import first_steps
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import (
    MANIFEST_FILE,
    builtin_suite_path,
    read_json,
    read_suite,
)

__all__ = ["find_suite"]


def find_suite(
    dataset_hash: str, *, data: str | Path | None = None, near: Path | None = None
) -> Suite:
    """The suite with this digest. `near` is the recording's folder; of a smoke run it says how many
    steps of a suite were recorded."""
    limit = _limit_of(near)
    if data is not None:
        return read_suite(data) if limit is None else first_steps(read_suite(data), limit)
    candidates = [builtin_suite_path()]
    if near is not None:
        candidates += [near.resolve() / "suite", near.resolve().parent / "suite"]
    for folder in candidates:
        manifest = folder / MANIFEST_FILE
        if not manifest.is_file():
            continue
        if _hash_of(manifest) == dataset_hash:
            return read_suite(folder)
        if limit is not None:
            short = first_steps(read_suite(folder), limit)
            if short.dataset_hash == dataset_hash:
                return short
    raise InputError(
        f"was recorded on suite {dataset_hash[:12] or '(unnamed)'}, which is not the built-in one",
        where=near,
        fix="give that suite's folder with --data",
    )


def _limit_of(near: Path | None) -> int | None:
    """How many steps of every scenario a smoke run recorded; None: all of them."""
    record = near / "run.json" if near is not None else None
    if record is None or not record.is_file():
        return None
    found = read_json(record)
    config = found.get("config") if isinstance(found, dict) else None
    limit = config.get("limit") if isinstance(config, dict) else None
    return limit if isinstance(limit, int) and limit > 0 else None


def _hash_of(manifest: Path) -> object:
    """What lies beside a recording need not be a suite, whatever it is called."""
    found = read_json(manifest)
    return found.get("dataset_hash") if isinstance(found, dict) else None
