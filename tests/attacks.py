"""Attacks on logs, meter, gate and bundles: hostile input, and plain code that says what must come of it.

A case is a kind and a number, from which all of it follows. It may end in three ways: it works and is
what the plain definitions of these tests say, it is refused in words (`SdbError`), or it is a fault:
`Differs` where a figure is silently another one, any other exception where nobody thought of it.
"""

from __future__ import annotations

import contextlib
import csv
import json
import random
import struct
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.examples import example_suite
from streamdecisionbench.logs.log_score import score_log
from streamdecisionbench.meter import Meter
from streamdecisionbench.meter.decision_log import DecisionLog
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.sharing.bundles import open_bundle
from streamdecisionbench.suite.suite_files import write_suite
from tests.cli.command import record_simulated, sdb
from tests.kernel.plain import accuracy
from tests.kernel.plain_streams import Stream, in_force_accuracy
from tests.logs.made_logs import SCHEMA, pooled, rows_of
from tests.meter import plain, written
from tests.meter.plain import Happened
from tests.mutations import mutate_json
from tests.sharing.test_bundles import packed, unpacked, with_events

EXACT = 1e-9


class Differs(AssertionError):  # noqa: N818
    """Something worked, and is not what plain code says."""


def attack(kind: str, number: int, folder: Path) -> bool:
    """Whether the case worked; False where it was refused in words."""
    try:
        with mock.patch.object(duckdb, "connect", _connected):
            return ATTACKS[kind](random.Random(f"{kind} {number}"), folder)
    except SdbError as error:
        if not str(error).strip():
            raise AssertionError("a refusal without a word") from error
        return False


def _connected(**_: Any) -> duckdb.DuckDBPyConnection:
    """A connection of its own, with views of its own, to one database: to start one takes longer than
    most cases."""
    return _database().cursor()


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return _CONNECT(config={"threads": 1, "temp_directory": _home().name})


_CONNECT = duckdb.connect


def require(fits: object, what: str) -> None:
    if not fits:
        raise Differs(what)


# Logs: one table in three formats, in one file or several.

WORDS = (
    "x", "y", "#x", "#", "1", "1.1", "1.10", "01", "1e3", "true", "True", "nan", "NULL", "null", "None", "\\N",
    "9007199254740993", "9007199254740992", "2026-01-02", "2026-01-02T00:00:00Z", "=1+1", "-1", "a,b", "a;b", "a\tb",
    'say "x"', "it's", "x\ny", "é", "日本", "a" * 300, "%", "_", "*", "[1]", "C:\\x", "😀", "0x10", "1_000", "infinity",
    "6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "--", "//", "SELECT 1", "\u200b",
)  # fmt: skip
LABELS = (
    "release", "Release", "1.1", 'we"ird', "select", "a,b", "ä ö", "_until", "filename", "a.b", "'", "x y",
    "source", "row", "rowid", "#kind", "count", "日", "group",
)  # fmt: skip
FILES = ("log", "day[1]", "a*", "x?", "a b", "ü", "#1", "release=z", "it's", "%41", "{a}", "null")
DECOYS = ("Reference", "DECISION", "Weight", "Stream", "Published_At", "ended_at_", "reference ")

Rows = list[dict[str, Any]]
Figures = dict[str, tuple[int, int, float | None, dict[str, float]]]


def attack_logs(draw: random.Random, folder: Path) -> bool:
    whole = draw.random() < 0.15
    vocabulary = draw.sample(WORDS, 4)
    if whole:
        vocabulary = [2**53 + k for k in range(4)]  # type: ignore[misc]
    names = draw.sample(WORDS, draw.randint(1, 5))
    streams = [_stream(draw, vocabulary) for _ in names]
    label, values = draw.choice(LABELS), draw.sample(WORDS, 2)
    of = {f"s{k}": draw.choice(values) for k in range(len(names))}
    rows = [
        {**row, label: of[row["stream"]]}
        for row in rows_of(streams, start=draw.choice((0.0, 1.7e9)))
    ]
    ids = {f"s{k}": name for k, name in enumerate(names)}
    rows = [{**row, "stream": ids[row["stream"]]} for row in rows]
    want: Figures | None = {
        value: _plain_figures([s for k, s in enumerate(streams) if of[f"s{k}"] == value])
        for value in dict.fromkeys(of.values())
    }
    if draw.random() < 0.2:
        rows, want = _poisoned(draw, rows, whole), None
    decoy = draw.choice(DECOYS) if draw.random() < 0.15 else None
    if decoy is not None:
        rows = [{decoy: draw.choice(WORDS), **row} for row in rows]
    files = draw.choice((1, 1, 2, 3))
    found = {
        form: _scored(_written(rows, form, folder / form, files, draw, whole), label)
        for form in ("parquet", "csv", "jsonl")
    }
    worked = {form: figures for form, figures in found.items() if isinstance(figures, dict)}
    refused = {form: str(why)[:200] for form, why in found.items() if not isinstance(why, dict)}
    require(not worked or not refused, f"{sorted(worked)} work, and {refused}")
    expected = want if want is not None else next(iter(worked.values()), {})
    for form, figures in worked.items():
        _require_same(figures, expected, form)
    judged = any(row["reference"] is not None for row in rows)
    if judged and want and decoy is None and refused and label in ("release", "x y", "ä ö"):
        raise Differs(f"nothing is wrong with it, and it is refused: {refused}")
    return bool(worked)


def _stream(draw: random.Random, vocabulary: Sequence[Any]) -> Stream:
    states = draw.randint(1, 5)
    gaps = [draw.choice((0.5, 1.0, 2.0, 0.25)) for _ in range(states)]
    times = [sum(gaps[:k]) for k in range(states)]
    waits = [
        None if draw.random() < 0.15 else draw.choice((0.0, 0.125, 0.5, 1.5, 3.0)) for _ in times
    ]
    right = [None if draw.random() < 0.2 else draw.choice(vocabulary) for _ in times]
    said = [None if wait is None else draw.choice(vocabulary) for wait in waits]
    return Stream(times, waits, right, said, times[-1] + gaps[-1])


def _plain_figures(streams: Sequence[Stream]) -> tuple[int, int, float | None, dict[str, float]]:
    shares = pooled(streams)
    judged = 1 - shares["unjudged"] > EXACT
    return (
        len(streams),
        sum(len(s.times) for s in streams),
        in_force_accuracy(shares) if judged else None,
        shares,
    )


def _poisoned(draw: random.Random, rows: Rows, whole: bool) -> Rows:
    """One value that no honest log has: the formats must take it alike."""
    rows = [dict(row) for row in rows]
    row = draw.choice(rows)
    column, value = draw.choice((
        ("published_at", None), ("published_at", -5.0), ("published_at", 1e300), ("answered_at", -1e9),
        ("answered_at", 1e300), ("ended_at", -1.0), ("ended_at", 1e300), ("stream", None),
        ("decision", " x "), ("decision", '{"a": 1}'), ("reference", '{"a":1.0}'), ("decision", "{"),
    ))  # fmt: skip
    row[column] = None if whole and isinstance(value, str) else value
    if draw.random() < 0.3:
        rows.append(dict(draw.choice(rows)))
    return rows


def _written(
    rows: Rows, form: str, home: Path, files: int, draw: random.Random, whole: bool
) -> Any:
    """The table in its files, whole streams each; beside a single file lies one that is none of it."""
    home.mkdir()
    state = random.Random(draw.getstate()[1][0])  # the same files for every format
    streams = list(dict.fromkeys(row["stream"] for row in rows))
    stems = state.sample(FILES, files)
    parts = [[row for row in rows if row["stream"] in streams[k::files]] for k in range(files)]
    paths = [home / f"{stem}.{form}" for stem, part in zip(stems, parts, strict=True) if part]
    for path, part in zip(paths, (part for part in parts if part), strict=True):
        _write(part, form, path, whole)
    if len(paths) > 1:
        return home if state.random() < 0.5 else [str(path) for path in paths]
    lies = [{**row, "decision": "never"} for row in rows] if not whole else rows
    for beside in {"day1", "ab", "xy"} - {path.stem for path in paths}:
        _write(lies, form, home / f"{beside}.{form}", whole)
    return str(paths[0])


def _write(rows: Rows, form: str, path: Path, whole: bool) -> None:
    columns = list(rows[0])
    if form == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(["" if v is None else v for v in row.values()] for row in rows)
    elif form == "jsonl":
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    else:
        number = {"decision": pa.int64(), "reference": pa.int64()} if whole else {}
        kinds = {**{f.name: f.type for f in SCHEMA}, **number}
        fields = [(name, kinds.get(name, pa.string())) for name in columns]
        values = [pa.array([row[name] for row in rows], type=kind) for name, kind in fields]
        pq.write_table(pa.Table.from_arrays(values, schema=pa.schema(fields)), path)


def _scored(source: Any, label: str) -> Figures | SdbError:
    try:
        found = score_log(source, by=label, resamples=0)
    except SdbError as error:
        return error
    return {
        str(group.by[label]): (group.streams, group.decisions, group.in_force, group.classes)
        for group in found.groups
    }


def _require_same(found: Figures, want: Figures, form: str) -> None:
    require(found.keys() == want.keys(), f"{form}: groups {sorted(found)}, not {sorted(want)}")
    for name, (streams, decisions, share, classes) in want.items():
        got = found[name]
        require(
            got[:2] == (streams, decisions),
            f"{form} {name!r}: {got[:2]}, not {(streams, decisions)}",
        )
        require(
            (got[2] is None) == (share is None), f"{form} {name!r}: in force {got[2]}, not {share}"
        )
        require(
            _near(got[2] or 0.0, share or 0.0), f"{form} {name!r}: in force {got[2]}, not {share}"
        )
        wrong = {k: (got[3][k], v) for k, v in classes.items() if not _near(got[3][k], v)}
        require(not wrong, f"{form} {name!r}: {wrong}")


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= EXACT


# The meter: events in any order, some of them impossible, and its log.


class _Unspeakable:
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


ODD_STEPS: tuple[Any, ...] = (-1, 10**9, 10**20, "0", None, 0.5, [], _Unspeakable(), float("nan"))
ODD_VALUES: tuple[Any, ...] = (
    None, float("nan"), [[]], {"a": {1, 2}}, {1: 2}, "\ud800", b"x", _Unspeakable(), 10**400, "x" * 5000, ["grows"],
)  # fmt: skip
SAID = ("wait", "hold", "advance")


def attack_meter(draw: random.Random, folder: Path) -> bool:
    """The counters are those of the plain definition at every look, and those of the log at the end."""
    odd_values = draw.random() < 0.4
    now = [draw.choice((0.0, 1000.0))]
    meter = Meter("test", clock=lambda: now[0])
    log = DecisionLog(meter, folder / "log", states=draw.random() < 0.5)
    runs: list[tuple[Any, list[Happened]]] = []
    for _ in range(draw.randint(1, 60)):
        now[0] += draw.choice((0.0, 0.25, 1.0, 1e-6))
        if not runs or draw.random() < 0.08:
            runs.append((meter.stream(draw.choice(("call", "", "é", "#1", "a" * 200))), []))
        _happen(draw, *draw.choice(runs), now[0], odd_values)
        if not odd_values and draw.random() < 0.2:
            _require_live(meter, [events for _, events in runs], now[0])
        if draw.random() < 0.1:
            log.flush()
    now[0] += 1.0
    meter.close()
    log.close()
    counted = meter.seconds()
    if not odd_values:
        ended = [[*events, Happened("end", now[0])] for _, events in runs]
        _require_seconds(counted, (plain.seconds(e, now[0], closed=True) for e in ended), "plain")
    logged = (
        plain.seconds(events, events[-1].at, closed=True)
        for states in written.streams(folder / "log").values()
        if (events := written.happened(states))
    )
    _require_seconds(counted, logged, "the log")
    return True


def _happen(draw: random.Random, call: Any, events: list[Happened], now: float, odd: bool) -> None:
    what = draw.choice(("publish", "publish", "answer", "answer", "judge", "judge", "odd", "end"))
    published = sum(e.kind == "publish" for e in events)
    over = any(e.kind == "end" for e in events)
    step = draw.randrange(published) if published else 0
    value: Any = draw.choice(ODD_VALUES) if odd and draw.random() < 0.2 else draw.choice(SAID)
    if what == "publish":
        state = ["grows"]
        call.publish(draw.choice(ODD_VALUES) if odd else state)
        state.append("later")
        if not over:
            events.append(Happened("publish", now))
    elif what == "odd":
        draw.choice((call.answer, call.judge))(draw.choice(ODD_STEPS), value)
    elif what == "end" and draw.random() < 0.2:
        call.end()
        events.append(Happened("end", now))
    elif what in ("answer", "judge") and published:
        (call.answer if what == "answer" else call.judge)(step, value)
        if value in SAID:
            events.append(Happened(what, now, step, value))


def _require_live(meter: Meter, streams: list[list[Happened]], now: float) -> None:
    """At every moment: correct time over the time whose right answer is known."""
    right = judged = 0.0
    for events in streams:
        found = plain.known(events)
        last = now if found.end is None else found.end
        cuts = sorted({*found.published, *(at for at, _ in found.applied), last})
        for begin, end in pairwise(cut for cut in cuts if found.published and cut <= last):
            current = max(i for i, at in enumerate(found.published) if at <= begin)
            sources = [step for at, step in found.applied if at <= begin]
            if current in found.references:
                judged += end - begin
                hit = sources and found.decisions[sources[-1]] == found.references[current]
                right += end - begin if hit else 0.0
    got = meter.in_force()
    if judged > EXACT:
        require(
            got is not None and abs(got - right / judged) < 1e-6,
            f"live {got}, not {right / judged}",
        )


def _require_seconds(counted: dict[str, float], parts: Iterator[dict[str, float]], of: str) -> None:
    total = dict.fromkeys(plain.CLASSES, 0.0)
    for part in parts:
        for name, seconds in part.items():
            total[name] += seconds
    wrong = {k: (counted[k], v) for k, v in total.items() if abs(counted[k] - v) > 1e-6}
    require(not wrong, f"counted and by {of}: {wrong}")


# The gate: a verdict never contradicts the figures it was given.

ALLOWED = 0.05
REFUSED = 2
Sides = tuple[list[Path], list[float | None]]
"""What is compared, new first, and what each is worth; None where it says nothing of the kind."""


def attack_gate(draw: random.Random, folder: Path) -> bool:
    paths, values = draw.choice((_gate_scores, _gate_logs))(draw, folder)
    options = ["--max-drop", str(100 * ALLOWED), "--resamples", "50", "--json"]
    done = sdb("gate", paths[0], "--baseline", paths[1], *options)
    if done.returncode == REFUSED:
        raise InputError(done.stderr or "refused in no words")
    found = json.loads(done.stdout, parse_constant=_no_number)
    verdict, drop = found["verdict"], found["drop"]["value"]
    require(done.returncode == (verdict == "fail"), f"{verdict} ends with {done.returncode}")
    if verdict == "cannot tell":
        return True
    new, old = values
    if new is None or old is None:
        raise Differs(f"{verdict} without a figure on each side: {values}")
    require(_near(found["new"]["value"], new), f"new is {found['new']['value']}, not {new}")
    require(
        _near(found["baseline"]["value"], old),
        f"baseline is {found['baseline']['value']}, not {old}",
    )
    require(_near(drop, old - new), f"the drop is {drop}, not {old - new}")
    served = found["served_models"]
    allowed = drop <= ALLOWED and served.get("new") == served.get("baseline")
    require((verdict == "pass") == allowed, f"{verdict} at a drop of {drop}")
    return True


def _no_number(text: str) -> None:
    raise Differs(f"{text} in JSON")


def _gate_logs(draw: random.Random, folder: Path) -> Sides:
    names = [f"s{k}" for k in range(draw.choice((1, 2, 5, 12)))]
    shares, paths = [], []
    for side in ("new", "old"):
        skill = draw.choice((0.2, 0.6, 0.9))
        streams = []
        for _ in names:
            made = _stream(draw, ("x", "y"))
            said = [
                None if w is None else (y if y and draw.random() < skill else draw.choice("xy"))
                for w, y in zip(made.latencies, made.references, strict=True)
            ]
            streams.append(Stream(made.times, made.latencies, made.references, said, made.end))
        paths.append(folder / f"{side}.{draw.choice(('csv', 'jsonl', 'parquet'))}")
        _write(rows_of(streams), paths[-1].suffix[1:], paths[-1], whole=False)
        shares.append(_plain_figures(streams)[2])
    return paths, shares


def _gate_scores(draw: random.Random, folder: Path) -> Sides:
    documents = [json.loads(json.dumps(_saved_scores()[draw.randrange(2)])) for _ in range(2)]
    if draw.random() < 0.7:
        documents[0] = mutate_json(documents[0], draw)
    paths = [folder / "new.json", folder / "old.json"]
    for path, document in zip(paths, documents, strict=True):
        path.write_text(json.dumps(document))
    return paths, [_headline(document) for document in documents]


def _headline(document: Any) -> float | None:
    """The figure a saved score is gated by, where it is one that a score can have."""
    try:
        value = document["recordings"][0]["overall"]["log_auc"]
    except (KeyError, IndexError, TypeError):
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= 1 else None


@cache
def _saved_scores() -> list[Any]:
    return [json.loads(sdb("score", run, "--json").stdout) for run in _recordings()]


@cache
def _home() -> TemporaryDirectory[str]:
    """Until the last case has ended."""
    return TemporaryDirectory(prefix="attacks-")


@cache
def _recordings() -> tuple[Path, ...]:
    home = Path(_home().name)
    few = ("--scenarios", "support_a,presenter_b")
    return tuple(
        record_simulated("jev", home / f"pass-{seed}", *few, "--seed", str(seed)) for seed in (1, 2)
    )


# Bundles: whatever an archive claims, a verified one is worth what its events say.


EVENTS = "recordings/001/events.jsonl"
PLACES = (
    "../x", "/x", "./bundle.json", "recordings//001/run.json", "a\\b", "recordings/002/run.json", "\x01", "BUNDLE.JSON",
)  # fmt: skip


@cache
def _bundle() -> Path:
    """Of a suite of one scenario: whatever is read, it is read as often as a large one."""
    write_suite(example_suite(), _suite())
    run = record_simulated("jev", Path(_home().name) / "tiny", "--data", _suite())
    done = sdb("share", "bundle", run, "--data", _suite(), "--out", run.parent / "tiny.zip")
    assert done.returncode == 0, done.stderr
    return run.parent / "tiny.zip"


def _suite() -> Path:
    return Path(_home().name) / "suite"


def attack_bundles(draw: random.Random, folder: Path) -> bool:
    path = folder / "forged.zip"
    files = unpacked(_bundle())
    anew = draw.random() < 0.25
    if anew:
        files = unpacked(_bundled_anew(draw, files, folder))
    for _ in range(draw.randint(0 if anew else 1, 3)):
        with contextlib.suppress(KeyError, TypeError, ValueError):  # nothing left to change there
            files = _forged(draw, files)
    try:
        packed(files, path, digests=draw.random() < 0.9)
    except (KeyError, TypeError, ValueError):  # nothing left to rewrite the digests in
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
    if draw.random() < 0.3:
        path.write_bytes(_torn(draw, path.read_bytes()))
    found = open_bundle(path)
    done = sdb("share", "verify", path)
    require(done.returncode == 0, f"opened, and verify says {done.stderr[:200]}")
    for entry, recording in zip(found.contents.recordings, found.recordings, strict=True):
        parts = timelines(recording, found.suite)
        families: dict[str, list[float]] = {}
        for part in parts:
            families.setdefault(part.family, []).append(accuracy(part, 2.0))
        means = [sum(values) / len(values) for values in families.values()]
        want, stated = sum(means) / len(means), entry.score["overall"]["in_force"]
        require(abs(stated - want) < 1e-9, f"in force is stated as {stated}, its events say {want}")
        require(
            entry.simulated and entry.virtual_clock,
            "a simulation on the virtual clock lost its label",
        )
    return True


def _bundled_anew(draw: random.Random, files: dict[str, bytes], folder: Path) -> Path:
    """Answers exchanged with each other, and the recording bundled once more: nothing is wrong with it."""

    def exchange(events: list[dict[str, Any]]) -> None:
        said = [event for event in events if event["kind"] == "response"]
        for _ in range(draw.randint(1, 20)):
            one = draw.choice(said)
            other = draw.choice([e for e in said if e["episode_id"] == one["episode_id"]])
            for key in ("pred", "wire_answers", "decision"):
                one[key], other[key] = other[key], one[key]

    run = folder / "run"
    run.mkdir()
    for name, data in with_events(files, exchange).items():
        if name.startswith("recordings/"):
            (run / Path(name).name).write_bytes(data)
    done = sdb("share", "bundle", run, "--data", _suite(), "--out", folder / "anew.zip")
    require(done.returncode == 0, f"nothing is wrong with it, and it is refused: {done.stderr}")
    return folder / "anew.zip"


def _forged(draw: random.Random, files: dict[str, bytes]) -> dict[str, bytes]:
    name = draw.choice(sorted(files)[:3] if draw.random() < 0.6 else sorted(files))
    how = draw.randrange(6)
    if how == 0:
        return {key: data for key, data in files.items() if key != name}
    if how == 1:
        return {**files, draw.choice(PLACES): files[name]}
    if how == 2:
        return {**files, name: _torn(draw, files[name])}
    if name == EVENTS:
        return with_events(files, partial(_changed, draw))
    return {**files, name: json.dumps(mutate_json(json.loads(files[name]), draw)).encode()}


def _changed(draw: random.Random, events: list[dict[str, Any]]) -> None:
    k = draw.randrange(len(events))
    changed = mutate_json(events[k], draw)
    try:
        json.dumps(changed)
    except RecursionError:  # deeper than we can write it
        return
    events[k] = changed


def _torn(draw: random.Random, data: bytes) -> bytes:
    """A byte otherwise, a piece gone, or a field of the archive that promises too much."""
    if not data:
        return data
    at = draw.randrange(len(data))
    how = draw.randrange(3)
    if how == 0:
        return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
    if how == 1:
        return data[:at]
    return data[:at] + struct.pack("<I", 2**32 - 1) + data[at + 4 :]


ATTACKS: dict[str, Callable[[random.Random, Path], bool]] = {
    "logs": attack_logs,
    "meter": attack_meter,
    "gate": attack_gate,
    "bundles": attack_bundles,
}
