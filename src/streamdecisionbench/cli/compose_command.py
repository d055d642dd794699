"""`sdb compose`: fast provisional answers with slow corrections."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from streamdecisionbench.cli.loading import load, require_open_loop
from streamdecisionbench.cli.options import Data, FixedInterval, IntegrateBounds, Weighting
from streamdecisionbench.cli.printing import csv_writer, dump, require_one_form
from streamdecisionbench.cli.progress_bar import working
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.paces import DEFAULT_BOUNDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from streamdecisionbench.recording.recording import Recording
    from streamdecisionbench.scoring.score import Score
    from streamdecisionbench.suite.scenario import Suite


class _Over(TypedDict):
    interval: float
    bounds: tuple[float, float]
    weighting: str


@dataclass(frozen=True, slots=True)
class _Composed:
    """Pairs beside their components alone, and how they are told to programs and to people."""

    pairs: Sequence[Score]
    alone: Sequence[Score]
    document: Callable[[], Mapping[str, Any]]
    screens: Callable[[int], Iterable[Any]]


def compose(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN", help="A joint recording, or with --all any recordings."),
    ] = None,
    fast: Annotated[Path | None, typer.Option(help="Recording of the fast component.")] = None,
    slow: Annotated[Path | None, typer.Option(help="Recording of the slow component.")] = None,
    rule: Annotated[
        str, typer.Option(help="freshest, lag-one, late-override, or all of them.")
    ] = "all",
    every: Annotated[
        bool, typer.Option("--all", help="Every ordered pair of the recordings given.")
    ] = False,
    data: Data = None,
    interval: FixedInterval = 2.0,
    bounds: IntegrateBounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-compose/1.")] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print one row per pair and level.")
    ] = False,
) -> None:
    """Compose a fast and a slow component: what they are worth together, by arbitration rule.

    Two recordings are replayed together; a joint recording of a live pair is scored as it happened
    and replayed, and compared with --fast and --slow, recorded alone, where these are given.
    """
    from streamdecisionbench.render.terminal import console
    from streamdecisionbench.scoring.pairs import chosen_rules
    from streamdecisionbench.scoring.score_json import (
        PAIR_CSV_COLUMNS,
        pairs_csv,
    )

    require_one_form(as_json, as_csv)
    runs = runs or []
    chosen_rules(rule)  # refused before anything is read
    over = _Over(interval=interval, bounds=bounds, weighting=weighting)
    if every:
        if fast or slow:
            raise InputError("--all takes recordings, not --fast and --slow", fix="drop them")
        found = _all(runs, data, rule, over)
    elif len(runs) == 1:
        found = _joint(runs[0], fast, slow, data, rule, over)
    elif runs:
        raise InputError(
            f"{len(runs)} recordings without a role",
            fix="name them with --fast and --slow, or compose every pair with --all",
        )
    elif fast is None or slow is None:
        raise InputError(
            "a pair needs two recordings",
            fix="sdb compose --fast RUN --slow RUN, sdb compose --all RUN …, or a joint recording",
        )
    else:
        found = _pair(fast, slow, data, rule, over)
    if as_csv:
        writer = csv_writer()
        writer.writerow(PAIR_CSV_COLUMNS)
        writer.writerows(pairs_csv(found.pairs, found.alone))
    elif as_json:
        dump(found.document())
    else:
        out = console()
        for screen in found.screens(out.width):
            out.print(screen)


def _pair(fast: Path, slow: Path, data: Path | None, rule: str, over: _Over) -> _Composed:
    from streamdecisionbench.scoring.pairs import compose_recordings
    from streamdecisionbench.scoring.score_json import pairs_to_json
    from streamdecisionbench.scoring.score_tables import pair_screen

    (one, suite), (two, other) = load([fast, slow], data, distinct=False)
    require_open_loop((one, two), "as a pair", "--member fast=… --member slow=…")
    _require_same(suite, other, slow)
    pairs = compose_recordings(one, two, suite, rule=rule, **over)
    alone = _alone(one, suite, over), _alone(two, suite, over)
    return _Composed(
        pairs,
        alone,
        lambda: pairs_to_json(pairs, alone, would_help=True),
        lambda width: [pair_screen(alone, pairs, width)],
    )


def _joint(
    folder: Path, fast: Path | None, slow: Path | None, data: Path | None, rule: str, over: _Over
) -> _Composed:
    from streamdecisionbench.scoring.pair_live import contention, halves_of, live_pair
    from streamdecisionbench.scoring.pairs import chosen_rules
    from streamdecisionbench.scoring.score_json import (
        contention_to_json,
        pairs_to_json,
        result_to_json,
    )
    from streamdecisionbench.scoring.score_tables import contention_screen, live_screen, pair_screen

    ((joint, suite),) = load([folder], data)
    halves = halves_of(joint)
    if (fast is None) != (slow is None):
        raise InputError(
            "contention is measured against both components alone", fix="give --fast and --slow"
        )
    live = live_pair(joint, suite, **over)
    wanted = chosen_rules(rule)
    pairs = [pair for pair in live.replays if pair.rule in wanted]
    alone = _alone(halves[0], suite, over), _alone(halves[1], suite, over)
    cost = None
    if fast is not None and slow is not None:
        loaded = load([fast, slow], data, distinct=False)
        for (_, other), where in zip(loaded, (fast, slow), strict=True):
            _require_same(suite, other, where)
        cost = contention(joint, loaded[0][0], loaded[1][0], suite, **over)

    def document() -> dict[str, Any]:
        told = {**pairs_to_json(pairs, alone, would_help=True), "live": result_to_json(live)}
        return told if cost is None else {**told, "contention": contention_to_json(cost)}

    def screens(width: int) -> list[Any]:
        measured = [] if cost is None else [contention_screen(cost)]
        return [live_screen(live), *measured, pair_screen(alone, pairs, width)]

    return _Composed(pairs, alone, document, screens)


def _all(runs: list[Path], data: Path | None, rule: str, over: _Over) -> _Composed:
    from streamdecisionbench.scoring.pairs import matrix
    from streamdecisionbench.scoring.score_json import matrix_to_json
    from streamdecisionbench.scoring.score_tables import matrix_screen

    if len(runs) < 2:
        raise InputError("--all needs at least two recordings", fix="sdb compose --all RUN RUN …")
    loaded = load(runs, data)
    require_open_loop((one for one, _ in loaded), "as a pair", "--member fast=… --member slow=…")
    suite = loaded[0][1]
    for (_, other), where in zip(loaded, runs, strict=True):
        _require_same(suite, other, where)
    with working(f"composing {len(loaded) * (len(loaded) - 1)} ordered pairs"):
        found = matrix([recording for recording, _ in loaded], suite, rule=rule, **over)
    return _Composed(
        found.pairs,
        found.alone,
        lambda: matrix_to_json(found),
        lambda width: [matrix_screen(found, width)],
    )


def _alone(recording: Recording, suite: Suite, over: _Over) -> Score:
    from streamdecisionbench.scoring.score import score

    return score(recording, suite, clock="nominal", **over)


def _require_same(suite: Suite, other: Suite, where: Path) -> None:
    from streamdecisionbench.suite.suite_files import other_suite_error

    if suite.dataset_hash != other.dataset_hash:
        raise other_suite_error(
            other.dataset_hash,
            suite.dataset_hash,
            where=where,
            fix="pair recordings of the same suite",
        )


COMMANDS = {
    "compose": compose,
}
