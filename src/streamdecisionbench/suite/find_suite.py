"""Which suite a recording belongs to: the one given, the built-in one, or one lying beside it."""

from __future__ import annotations

from pathlib import Path

from streamdecisionbench.errors import InputError
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
    """The suite with this digest. `near` is the recording's folder."""
    if data is not None:
        return read_suite(data)
    candidates = [builtin_suite_path()]
    if near is not None:
        candidates += [near.resolve() / "suite", near.resolve().parent / "suite"]
    for folder in candidates:
        manifest = folder / MANIFEST_FILE
        if manifest.is_file() and _hash_of(manifest) == dataset_hash:
            return read_suite(folder)
    raise InputError(
        f"was recorded on suite {dataset_hash[:12] or '(unnamed)'}, which is not the built-in one",
        where=near,
        fix="give that suite's folder with --data",
    )


def _hash_of(manifest: Path) -> object:
    """What lies beside a recording need not be a suite, whatever it is called."""
    found = read_json(manifest)
    return found.get("dataset_hash") if isinstance(found, dict) else None
