"""From verified bundles to a folder that any static host can serve."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from streamdecisionbench.analysis.bundles.verify import Verified, open_bundle
from streamdecisionbench.errors import InputError
from streamdecisionbench.report.board.eval_results import DEFAULT_DATASET, eval_results
from streamdecisionbench.report.board.html import render_board
from streamdecisionbench.report.board.rows import SuiteRows, suite_rows
from streamdecisionbench.report.folder import fill, require_usable
from streamdecisionbench.report.page import PageInputs, render_page

__all__ = ["write_board"]

Say = Callable[[str], None]


def write_board(
    paths: Sequence[Path],
    out: Path,
    *,
    dataset: str = DEFAULT_DATASET,
    say: Say = lambda _: None,
) -> list[SuiteRows]:
    """Verifies every bundle, then writes the page, the reports and the hub's entries."""
    if not paths:
        raise InputError("there is no bundle to show", fix="name bundles made by `sdb bundle`")
    require_usable(out)
    bundles: list[tuple[str, Verified]] = []
    names: set[str] = set()
    for path in paths:
        say(f"verifying {path.name}")
        name = _short_name(path, names)
        names.add(name)
        bundles.append((name, open_bundle(path)))
    say("scoring")
    boards = suite_rows(bundles)
    reports = {name: f"reports/{name}/index.html" for name in names}
    files: dict[str, bytes] = {}
    for name, bundle in bundles:
        say(f"report of {name}")
        files[reports[name]] = _report(name, bundle, boards).encode()
    note = f"{len(bundles)} bundle(s), each verified."
    files["index.html"] = render_board(boards, reports, note).encode()
    for board in boards:
        for file, text in eval_results(board, dataset).items():
            files[f".eval_results/{board.suite.dataset_hash[:12]}/{file}"] = text.encode()
    fill(out, files)
    return boards


def _report(name: str, bundle: Verified, boards: Sequence[SuiteRows]) -> str:
    """The page of one bundle, with the very recordings and scores of its rows."""
    own = next(b for b in boards if b.suite.dataset_hash == bundle.suite.dataset_hash)
    passes = [p for row in own.rows for p in row.passes if p.bundle == name]
    return render_page(
        PageInputs(
            suite=bundle.suite,
            scores=[p.score for p in passes],
            recordings={p.score.name: p.recording for p in passes},
            notes=[f"Made from the verified bundle {name}."],
        )
    )


def _short_name(path: Path, taken: set[str]) -> str:
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-.")[:60] or "bundle"
    name, k = stem, 2
    while name in taken:
        name, k = f"{stem}-{k}", k + 1
    return name
