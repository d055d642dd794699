"""What `sdb gate` is given, opened: recordings, decision logs or saved scores, two of a kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.analysis.flips import flipped_states
from streamdecisionbench.analysis.gate import (
    Gate,
    Limits,
    Side,
    Sides,
    Streams,
    gate_by_scenario,
    gate_streams,
    gate_timelines,
)
from streamdecisionbench.cli.loading import Subject, open_runs, require_one_suite
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.scoring.json import SCHEMA
from streamdecisionbench.scoring.measure import family_weights
from streamdecisionbench.scoring.pooled import COUNTS
from streamdecisionbench.suite.disk import read_json

if TYPE_CHECKING:
    from streamdecisionbench.logs.score import LogScore


def compare(
    new: Path,
    baseline: Path,
    data: Path | None,
    *,
    interval: float | None,
    limits: Limits,
    sampling: Sampling,
    unpaired: bool = False,
) -> Gate:
    """By what the two are: both must be of one kind."""
    kinds = [_kind(path) for path in (new, baseline)]
    if kinds[0] != kinds[1]:
        raise InputError(
            f"is {kinds[0]}, but {baseline} is {kinds[1]}",
            where=new,
            fix="compare two recordings, two decision logs or two saved scores",
        )
    if kinds[0] == "a decision log":
        return _logs(new, baseline, interval, limits, paired=not unpaired)
    if unpaired:
        raise InputError(
            f"is {kinds[0]}, whose states are the same on both sides",
            where=new,
            fix="leave --unpaired out: it is about decision logs of different streams",
        )
    if kinds[0] == "a recording":
        return _recordings(new, baseline, data, interval, limits, sampling)
    return _scores(new, baseline, interval, limits)


def _kind(path: Path) -> str:
    if not path.exists():
        raise InputError(
            "does not exist", where=path, fix="name a recording, a decision log or a saved score"
        )
    if path.is_dir() and (path / RUN_FILE).exists():
        return "a recording"
    if path.is_file() and path.suffix == ".json":
        return "a saved score"
    return "a decision log"


def _recordings(
    new: Path,
    baseline: Path,
    data: Path | None,
    interval: float | None,
    limits: Limits,
    sampling: Sampling,
) -> Gate:
    subjects = [open_runs([path], data) for path in (new, baseline)]
    for path, found in zip((new, baseline), subjects, strict=True):
        if len(found) != 1:
            raise InputError(
                "is a live pair, which holds two components",
                where=path,
                fix="gate single components",
            )
    now, before = subjects[0][0], subjects[1][0]
    require_one_suite([now, before])
    same = now.name == before.name
    sides = [
        side_of(subject, str(path) if same else subject.name)
        for path, subject in ((new, now), (baseline, before))
    ]
    gate = gate_timelines(
        now.parts, before.parts,
        limits=limits, interval=interval, sampling=sampling, sides=Sides(*sides),
    )  # fmt: skip
    names = [side.name for side in reversed(sides)]
    flips = flipped_states(before.recording, now.recording, now.suite, names)
    return replace(gate, flips=flips)


def side_of(subject: Subject, name: str) -> Side:
    """What stands on the side of a recording."""
    heading = subject.heading()
    return Side(
        name,
        {"scenarios": len(subject.parts), "states": sum(p.n for p in subject.parts)},
        heading.notes,
        _labels(heading.signature),
        subject.recording.served_models,
        heading.signature,
    )


_Share = Annotated[float, msgspec.Meta(ge=-1e-9, le=1 + 1e-9)]
_ROUNDED = 1e-6
"""Figures that were rounded to six digits contradict nothing."""
_Count = Annotated[int, msgspec.Meta(ge=0)]


class _SavedLevel(msgspec.Struct):
    log_auc: _Share
    in_force: _Share


class _SavedScenario(_SavedLevel, kw_only=True):
    family: str


class _Discarded(msgspec.Struct):
    after_horizon: _Count
    older_than_active: _Count


class _SavedScore(msgspec.Struct):
    """What a gate reads of a recording in schema sdb-score/1."""

    name: str
    signature: str
    interval: float
    bounds: tuple[float, float]
    weighting: str
    overall: _SavedLevel
    by_scenario: dict[str, _SavedScenario]
    accepted: _Count
    discarded: _Discarded
    by_family: dict[str, _SavedLevel] = {}
    notes: list[str] = []
    served_models: list[str] | None = None
    simulated: bool | None = None
    virtual_clock: bool | None = None

    @property
    def states(self) -> int:
        """Answers, whether they took effect or not."""
        return self.accepted + self.discarded.after_horizon + self.discarded.older_than_active


def _scores(new: Path, baseline: Path, interval: float | None, limits: Limits) -> Gate:
    now, before = _saved(new, interval), _saved(baseline, interval)
    suites = [_said(entry.signature).get("suite", "unknown") for entry in (now, before)]
    if suites[0] != suites[1]:
        raise InputError(
            f"was scored on suite {suites[0]}, the baseline on {suites[1]}",
            where=new,
            fix="compare scores of one suite",
        )
    if interval is not None:
        measure = f"in force at {interval:g} s"
    elif (now.bounds, now.weighting) == (before.bounds, before.weighting):
        measure = f"in force over {now.weighting} {now.bounds[0]:g}–{now.bounds[1]:g} s"
    else:
        raise InputError(
            "the two scores are integrated differently", where=new, fix="score both alike"
        )
    sides = [
        Side(
            str(path) if now.name == before.name else entry.name,
            {"scenarios": len(entry.by_scenario), "states": entry.states},
            tuple(entry.notes),
            _labels(entry.signature),
            tuple(entry.served_models or ()),
            entry.signature,
        )
        for path, entry in ((new, now), (baseline, before))
    ]
    of_new, of_old = (
        {name: x.log_auc if interval is None else x.in_force for name, x in e.by_scenario.items()}
        for e in (now, before)
    )
    return gate_by_scenario(
        of_new,
        of_old,
        {name: level.family for name, level in now.by_scenario.items()},
        states=max(1, min(now.states, before.states)),
        limits=limits,
        measure=measure,
        sides=Sides(*sides),
    )


def _logs(
    new: Path, baseline: Path, interval: float | None, limits: Limits, *, paired: bool
) -> Gate:
    from streamdecisionbench.logs.score import score_log

    scores = [
        score_log(path, interval=interval, resamples=0, streams=True) for path in (new, baseline)
    ]
    sides = []
    for path, found in zip((new, baseline), scores, strict=True):
        group = found.groups[0]
        if group.in_force is None or group.streams < 2:
            raise InputError(
                "holds too little to say how sure its score is",
                where=path,
                fix="gate logs of at least two streams with known references",
            )
        holds = {"streams": group.streams, "states": group.decisions}
        marked = frozenset(_MARKS[mark] for mark, streams in group.marks.items() if streams)
        sides.append(
            Side(
                str(path),
                {**holds, "judged_share": group.judged_share},
                found.notes,
                marked,
                signature=found.signature,
            )
        )
    at = "the recorded pace" if interval is None else f"{interval:g} s"
    return gate_streams(
        _streams(scores[0]), _streams(scores[1]),
        limits=limits, measure=f"in force at {at}", paired=paired, sides=Sides(*sides),
    )  # fmt: skip


def _streams(found: LogScore) -> Streams:
    counts = np.concatenate([rows.counts for rows in found.streams])
    states = counts[:, COUNTS.index("decisions")].astype(np.uint64)
    ids = np.concatenate([rows.keys for rows in found.streams])
    sums = [rows.judged_and_right() for rows in found.streams]
    judged, right = (np.concatenate(column) for column in zip(*sums, strict=True))
    return Streams(
        keys=(ids ^ (states * np.uint64(0x9E3779B97F4A7C15))).astype(np.int64),
        right=right,
        judged=judged,
        observed=np.concatenate([rows.time for rows in found.streams]),
        states=int(counts[:, COUNTS.index("judged")].sum()),
    )


def _saved(path: Path, interval: float | None) -> _SavedScore:
    document = read_json(path)
    entries = document.get("recordings") if isinstance(document, dict) else None
    if not entries or not isinstance(entries, list) or document.get("schema") != SCHEMA:
        raise InputError(f"is no saved score ({SCHEMA})", where=path, fix="save `sdb score --json`")
    if len(entries) != 1:
        raise InputError(
            f"holds {len(entries)} scores", where=path, fix="save one recording's score per file"
        )
    try:
        entry = msgspec.convert(entries[0], _SavedScore)
    except msgspec.ValidationError as error:
        raise InputError(
            f"is no score that can be compared: {error}",
            where=path,
            fix="save `sdb score --json` anew",
        ) from None
    if odd := next(_contradictions(entry), None):
        raise InputError(
            f"contradicts itself: {odd}", where=path, fix="save `sdb score --json` anew"
        )
    if interval is not None and entry.interval != interval:
        raise InputError(
            f"was scored at {entry.interval:g} s, not at {interval:g} s",
            where=path,
            fix=f"`sdb score --interval {interval:g} --json`, or gate the recordings",
        )
    return entry


def _contradictions(entry: _SavedScore) -> Iterator[str]:
    """What is stated twice and differs, each with its field: the whole and families are means of
    scenarios, and the signature says how the number was made."""
    families = [scenario.family for scenario in entry.by_scenario.values()]
    levels = {"overall": (entry.overall, family_weights(families))} if families else {}
    for name, level in entry.by_family.items():
        of = np.array([family == name for family in families], dtype=np.float64)
        levels[f"by_family.{name}"] = (level, of / max(of.sum(), 1.0))
    for where, (level, weights) in levels.items():
        for name in ("log_auc", "in_force"):
            stated = getattr(level, name)
            found = float(weights @ [getattr(x, name) for x in entry.by_scenario.values()])
            if abs(stated - found) > _ROUNDED:
                yield f"{where}.{name} is {stated:.6g}, its scenarios come to {found:.6g}"
    said = _said(entry.signature)
    stated_as = {
        "interval": f"{entry.interval:g}",
        "bounds": f"{entry.bounds[0]:g}-{entry.bounds[1]:g}",
        "weighting": entry.weighting,
        "simulated": {None: None, True: "yes", False: "no"}[entry.simulated],
        "time": {None: None, True: "virtual", False: "real"}[entry.virtual_clock],
    }
    for key, value in stated_as.items():
        if value is not None and said.get(key, value) != value:
            field = "virtual_clock" if key == "time" else key
            yield f"{field} says {value}, its signature {key}:{said[key]}"


_MARKS = {"simulated": "simulation", "virtual_clock": "recording on the virtual clock"}


def _labels(signature: str) -> frozenset[str]:
    """What a score's signature says that must be so on both sides."""
    said = _said(signature)
    found = [_MARKS["simulated"]] * (said.get("simulated") == "yes")
    found += [_MARKS["virtual_clock"]] * (said.get("time") == "virtual")
    found += [f"smoke run of {said['smoke']}"] if "smoke" in said else []
    found += [f"partial recording ({said['partial']})"] if "partial" in said else []
    return frozenset(found)


def _said(signature: str) -> dict[str, str]:
    """
    >>> _said("suite:0a0d78a898cf time:virtual")
    {'suite': '0a0d78a898cf', 'time': 'virtual'}
    """
    return dict(part.split(":", 1) for part in signature.split() if ":" in part)
