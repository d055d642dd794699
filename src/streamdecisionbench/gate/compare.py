"""What `sdb gate` is given, opened: recordings, decision logs or saved scores, two of a kind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.analysis.flips import Causes, causes_by_scenario, flipped_states
from streamdecisionbench.cli.loading import (
    Subject,
    came_from_log,
    open_runs,
    own_pace,
    require_one_suite,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.gate.verdict import (
    Gate,
    Limits,
    Side,
    Sides,
    Streams,
    gate_by_scenario,
    gate_streams,
    gate_timelines,
)
from streamdecisionbench.kernel.arrays import Floats
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CORRECT,
)
from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.scoring.score_json import SCHEMA
from streamdecisionbench.scoring.stream_sums import COUNTS
from streamdecisionbench.suite.file_io import read_json
from streamdecisionbench.text import (
    plural,
    printable,
)

if TYPE_CHECKING:
    from streamdecisionbench.logs.log_score import LogScore
    from streamdecisionbench.recording.recording import Recording
    from streamdecisionbench.scoring.stream_sums import StreamRows


def compare(
    new: Path,
    baseline: str,
    data: Path | None,
    *,
    interval: float | None,
    limits: Limits,
    sampling: Sampling,
    logs: LogOptions | None = None,
) -> Gate:
    """By what the two are: both must be of one kind."""
    logs = logs or LogOptions()
    old = new if logs.by else Path(baseline)
    kinds = [_kind(path) for path in (new, old)]
    if kinds[0] != kinds[1]:
        raise InputError(
            f"is {kinds[0]}, but {baseline} is {kinds[1]}",
            where=new,
            fix="compare two recordings, two decision logs or two saved scores",
        )
    if logs.group is not None and not logs.by:
        raise InputError("--group names a group of one log", fix="add --by COLUMN")
    if kinds[0] == "a decision log":
        return _logs(new, baseline, interval, limits, logs)
    given = [option for name, option in _FOR_LOGS.items() if getattr(logs, name)]
    if given:
        raise InputError(
            f"is {kinds[0]}, whose states and references are the same on both sides",
            where=new,
            fix=f"leave {' and '.join(given)} out: about decision logs",
        )
    if kinds[0] == "a recording":
        return _recordings(new, old, data, interval, limits, sampling)
    return _scores(new, old, interval, limits)


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
    now, before = (_one_component(path, data) for path in (new, baseline))
    same = now.name == before.name
    names = (str(new), str(baseline)) if same else (now.name, before.name)
    return _subjects(now, before, names, interval, limits, sampling)


def _one_component(path: Path, data: Path | None) -> Subject:
    found = open_runs([path], data)
    if len(found) != 1:
        raise InputError(
            "is a live pair, which holds two components",
            where=path,
            fix="gate single components",
        )
    return found[0]


def record_and_compare(
    component: str,
    new: Path,
    baseline: Path,
    data: Path | None,
    latency: str | None,
    *,
    interval: float | None,
    limits: Limits,
    sampling: Sampling,
) -> Gate:
    """Records a component from two folders of code on this machine, and compares the two.

    Each runs in a process of its own; the code to be judged runs last, when the baseline's recording has
    been read, and never in the process that judges.
    """
    with TemporaryDirectory(prefix="sdb-gate-") as home:
        found = []
        for folder, name in ((baseline, "baseline"), (new, "new")):
            if not folder.is_dir():
                raise InputError(
                    "is no folder of code",
                    where=folder,
                    fix="with --record NEW and OLD are checkouts",
                )
            out = Path(home) / name
            options = ["--clock", "virtual", "--quiet", "--out", str(out)]
            options += ["--latency", latency] if latency else []
            options += ["--data", str(data.absolute())] if data else []
            # -P: what lies in that folder is the component's to import, not ours.
            command = [
                sys.executable,
                "-P",
                "-m",
                "streamdecisionbench",
                "run",
                component,
                *options,
            ]
            done = subprocess.run(  # noqa: S603 - our own command, in the user's folders
                command, cwd=folder, capture_output=True, text=True, check=False, errors="replace"
            )
            if done.returncode:
                said = done.stderr.removeprefix("error: ").strip()[-2000:]
                raise InputError(f"{component} could not be recorded: {said}", where=folder)
            found.append(_one_component(out, data))
        before, now = found
        names = (str(new), str(baseline))
        return _subjects(now, before, names, interval, limits, sampling)


def _subjects(
    now: Subject,
    before: Subject,
    names: tuple[str, str],
    interval: float | None,
    limits: Limits,
    sampling: Sampling,
) -> Gate:
    require_one_suite([now, before])
    sides = [side_of(subject, name) for name, subject in zip(names, (now, before), strict=True)]
    gate = gate_timelines(
        now.parts, before.parts, limits=limits, interval=interval,
        bounds=Bounds(*own_pace(now.suite)[1]), sampling=sampling, sides=Sides(*sides),
        made_anew=_made_anew(now.recording, before.recording),
    )  # fmt: skip
    flips = flipped_states(before.recording, now.recording, now.suite, names[::-1])
    return replace(gate, flips=flips)


def _made_anew(*recordings: Recording) -> bool:
    """Whether two recordings may hold the same times without one being a copy: they were declared."""
    declared = all(isinstance(one.config.get("latency"), str) for one in recordings)
    begun = [one.run.get("started_at") for one in recordings]
    return declared and None not in begun and begun[0] != begun[1]


def side_of(subject: Subject, name: str) -> Side:
    """What stands on the side of a recording."""
    scored = subject.score()
    holds: dict[str, float] = {
        "scenarios": len(subject.parts),
        "states": sum(p.n for p in subject.parts),
    }
    if came_from_log(subject.suite):
        pace, bounds = own_pace(subject.suite)
        own = subject.score(interval=pace, bounds=bounds)
        holds |= {"in_force_at_own_pace": own.in_force, "own_pace_s": pace}
    return Side(
        name,
        holds,
        scored.notes,
        _labels(scored.signature),
        subject.recording.served_models,
        scored.signature,
        scored.latency.p50 if scored.latency else None,
    )


_Share = Annotated[float, msgspec.Meta(ge=-1e-9, le=1 + 1e-9)]
_ROUNDED = 1e-6
"""Figures that were rounded to six digits contradict nothing."""
_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Integrated(msgspec.Struct):
    classes: dict[str, _Share]


class _SavedLevel(msgspec.Struct):
    log_auc: _Share
    in_force: _Share
    classes: dict[str, _Share] = {}
    integrated: _Integrated | None = None

    def by_class(self, interval: float | None) -> Floats | None:
        """Shares at the interval or integrated; None where they were not saved."""
        found = (
            self.classes if interval is not None else self.integrated and self.integrated.classes
        )
        if not found:
            return None
        return np.array([found.get(name, 0.0) for name in ALL_CLASSES])


class _SavedLatency(msgspec.Struct):
    p50: float


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
    latency: _SavedLatency | None = None
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
            entry.latency.p50 if entry.latency else None,
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
        causes=_saved_causes(new, now, before, interval),
    )


def _saved_causes(
    path: Path, now: _SavedScore, before: _SavedScore, interval: float | None
) -> Causes | None:
    """Of scores that hold the classes of every scenario, by scenario."""
    names = list(now.by_scenario)
    if set(names) != set(before.by_scenario):
        return None
    tables = []
    for side in (before, now):
        rows = []
        for name in names:
            level = side.by_scenario[name]
            found = level.by_class(interval)
            if found is None:
                return None
            right = level.log_auc if interval is None else level.in_force
            if abs(found[list(CORRECT)].sum() - right) + abs(found.sum() - 1) > _ROUNDED:
                raise InputError(
                    f"the classes of {name} in {side.name} do not add up to its score",
                    where=path,
                    fix="save `sdb score --json` anew, on both sides",
                )
            rows.append(found)
        tables.append(np.stack(rows))
    families = [now.by_scenario[name].family for name in names]
    return causes_by_scenario(names, families, *tables)


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How decision logs are read; two groups of one log are compared with `by`."""

    sql: Path | None = None
    references: Sequence[str] | None = None
    reference: str | None = None
    by: tuple[str, ...] = ()
    group: str | None = None
    """Which group is the new one, where there are more than two."""
    unpaired: bool = False

    def score(self, path: Path, interval: float | None) -> LogScore:
        from streamdecisionbench.logs.log_score import score_log

        return score_log(
            path,
            by=self.by,
            interval=interval,
            references=self.references,
            reference=self.reference,
            sql=self.sql,
            resamples=0,
            streams=True,
        )


_FOR_LOGS = {
    "sql": "--sql", "references": "--references", "reference": "--reference", "by": "--by",
    "group": "--group", "unpaired": "--unpaired",
}  # fmt: skip


def _logs(
    new: Path, baseline: str, interval: float | None, limits: Limits, options: LogOptions
) -> Gate:
    """Of two logs, or of two groups of one."""
    if options.by:
        found = options.score(new, interval)
        picked = [
            (found, _group_named(found, name, new))
            for name in _groups(found, baseline, options, new)
        ]
        names = [" and ".join(options.by) + f" {score.groups[k].name}" for score, k in picked]
    else:
        names = [str(new), baseline]
        picked = [(options.score(Path(path), interval), 0) for path in names]
    sides = []
    for name, (found, k) in zip(names, picked, strict=True):
        group = found.groups[k]
        if group.in_force is None or group.streams < 2:
            raise InputError(
                "holds too little to say how sure its score is",
                where=name,
                fix="gate logs of at least two streams with known references",
            )
        holds = {"streams": group.streams, "states": group.decisions}
        sides.append(
            Side(
                name,
                {**holds, "judged_share": group.judged_share},
                found.notes,
                frozenset(_MARKS[mark] for mark, streams in group.marks.items() if streams),
                signature=found.signature,
                p50=group.latency.get("p50"),
            )
        )
    at = "the recorded pace" if interval is None else f"{interval:g} s"
    return gate_streams(
        *(_streams(found.streams[k]) for found, k in picked),
        limits=limits,
        measure=f"in force at {at}",
        paired=not options.unpaired,
        sides=Sides(*sides),
    )


def _groups(found: LogScore, baseline: str, options: LogOptions, where: Path) -> tuple[str, str]:
    """The new group and the one it is compared with."""
    _group_named(found, baseline, where)
    others = [group.name for group in found.groups if group.name != baseline]
    if options.group is None and len(others) != 1:
        raise InputError(
            f"has {plural(len(others), 'group')} beside {baseline}"
            if others
            else "has one group alone",
            where=where,
            fix=f"name the new one: --group {others[0]}"
            if others
            else "gate two logs, without --by",
        )
    return options.group or others[0], baseline


def _group_named(found: LogScore, name: str, where: Path) -> int:
    names = [group.name for group in found.groups]
    if name not in names:
        known = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise InputError(
            f"has no group {name!r} by {' and '.join(found.settings.by)}",
            where=where,
            fix=f"with --by, --baseline and --group name groups of this log: {known}",
        )
    return names.index(name)


def _streams(kept: Sequence[StreamRows]) -> Streams:
    counts = np.concatenate([rows.counts for rows in kept])
    states = counts[:, COUNTS.index("decisions")].astype(np.uint64)
    ids = np.concatenate([rows.keys for rows in kept])
    return Streams.of(
        (ids ^ (states * np.uint64(0x9E3779B97F4A7C15))).astype(np.int64),
        np.concatenate([rows.seconds() for rows in kept]),
        int(counts[:, COUNTS.index("judged")].sum()),
        [printable(name) for rows in kept if rows.names is not None for name in rows.names],
        np.concatenate([rows.older_judgment() for rows in kept]),
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


_MARKS = {
    "simulated": "simulation",
    "virtual_clock": "recording on the virtual clock",
    "declared_latency": "recording with a declared latency",
}


def _labels(signature: str) -> frozenset[str]:
    """What a score's signature says that must be so on both sides."""
    said = _said(signature)
    found = [_MARKS["simulated"]] * (said.get("simulated") == "yes")
    found += [_MARKS["virtual_clock"]] * (said.get("time") == "virtual")
    found += [_MARKS["declared_latency"]] * ("latency" in said)
    found += [f"smoke run of {said['smoke']}"] if "smoke" in said else []
    found += [f"partial recording ({said['partial']})"] if "partial" in said else []
    return frozenset(found)


def _said(signature: str) -> dict[str, str]:
    """
    >>> _said("suite:0a0d78a898cf time:virtual")
    {'suite': '0a0d78a898cf', 'time': 'virtual'}
    """
    return dict(part.split(":", 1) for part in signature.split() if ":" in part)
