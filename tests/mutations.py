"""A seeded mutator over every kind of file the commands read, and what each may do with it.

A case is a number. Its file, place and change follow from the number alone, so that a failure can be
repeated. Whatever is read, there are two outcomes: it works, or one `SdbError` says why not.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamdecisionbench.analysis.agreement import (
    check,
    read_answers,
)
from streamdecisionbench.audit.audit_record import read_record, summarise, violations
from streamdecisionbench.components.providers.address_and_key import load
from streamdecisionbench.components.simulated.profiles import read_profiles
from streamdecisionbench.errors import SdbError
from streamdecisionbench.examples import example_suite
from streamdecisionbench.recording.event_log import EVENTS_FILE, file_sha256
from streamdecisionbench.recording.prices import find_price, read_prices
from streamdecisionbench.recording.published_tables import import_tables
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.scoring.error_costs import read_costs
from streamdecisionbench.scoring.score import score
from streamdecisionbench.scoring.score_json import scores_to_json
from streamdecisionbench.suite.digest import digest
from streamdecisionbench.suite.suite_check import validate_suite
from streamdecisionbench.suite.suite_files import read_suite, write_suite

DATA = Path(__file__).resolve().parents[1] / "src" / "streamdecisionbench" / "data"

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 7.5, -0.0, 2**31, 2**63, 10**30, 1e308, "", "x", "../../x", "\x00",
    "\x1b[2J", "é" * 300, "overall", "manifest", "none", [], [[]], [None], {}, {"": {}}, {"a": [1]},
]  # fmt: skip
TABLE = (
    "episode,t,release_s,started_s,received_s,completed_s,recorded_s,input_tokens,decision\n"
    + "".join(
        f"call_a,{t},{2 * t},{2 * t},{2 * t + 0.5},{2 * t + 0.5},{2 * t + 0.5},9,route=r{t % 2}|rec=on\n"
        for t in range(6)
    )
)
DOTENV = 'OPENAI_API_KEY=sk-1\nexport SDB_API_KEY="two words"\n# comment\nTYPESAFE_API_KEY=\n'


@dataclass(frozen=True)
class Outcome:
    """How one case ended; `error` is None where the file was usable."""

    kind: str
    error: SdbError | None


def run_case(number: int, folder: Path) -> Outcome:
    """Makes, mutates and reads one file. Anything but `SdbError` comes out as it is."""
    draw = random.Random(number)
    kind = list(KINDS)[number % len(KINDS)]
    try:
        KINDS[kind](draw, folder)
    except SdbError as error:
        if not str(error).strip():
            raise AssertionError("a refusal without a word") from error
        return Outcome(kind, error)
    return Outcome(kind, None)


def mutate_json(value: Any, draw: random.Random) -> Any:
    """One to three changes somewhere inside."""
    holder = {"": json.loads(json.dumps(value))}
    for _ in range(draw.randint(1, 3)):
        places = list(_places(holder))
        parent, key = draw.choice(places)
        change = draw.randrange(6)
        if change == 0 and len(parent) > 1:
            del parent[key]
        elif change == 1:
            parent[key] = _deep(draw.choice((3, 99, 101, 400)))
        elif (
            change == 2
            and isinstance(parent[key], int | float)
            and not isinstance(parent[key], bool)
        ):
            parent[key] = draw.choice((-1, 10, 0.5, 1e9)) * parent[key]
        elif change == 3:
            other, name = draw.choice(places)
            parent[key] = json.loads(json.dumps(other[name])) if name in _keys(other) else None
        elif change == 4 and isinstance(parent, list):
            parent.insert(key, parent[key])
        else:
            parent[key] = copy.deepcopy(draw.choice(ODD))
    return holder.get("")


def mutate_bytes(data: bytes, draw: random.Random) -> bytes:
    """What disks, transfers and careless editors do."""
    at = draw.randrange(len(data) + 1)
    to = min(len(data), at + draw.randint(1, 40))
    change = draw.randrange(9)
    if change == 0:
        return data[:at]
    if change == 1:
        return data[:at] + bytes(draw.randrange(256) for _ in range(draw.randint(1, 4))) + data[to:]
    if change == 2:
        return data[:at] + data[to:]
    if change == 3:
        return data[:to] + data[at:]
    if change == 4:
        return gzip.compress(data, mtime=0)
    if change == 5:
        return data[:at] + b"\x00" + data[at:]
    if change == 6:
        return b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")
    if change == 7:
        return (
            data[:at]
            + draw.choice((b"[" * 100_000, b"NaN", b"1e999", b'"\\ud800"', b"\xff"))
            + data[to:]
        )
    return data.decode("utf-8", "replace").encode("utf-16")


def _mutated(value: Any, draw: random.Random) -> bytes:
    """JSON data changed as data, as text, or both."""
    changed = mutate_json(value, draw) if draw.random() < 0.75 else value
    try:
        data = json.dumps(changed).encode()
    except RecursionError:  # deeper than Python itself can write down, but anybody else can
        data = b'{"a":' * 5_000 + b"1" + b"}" * 5_000
    return mutate_bytes(data, draw) if draw.random() < 0.3 else data


def _suite(draw: random.Random, folder: Path) -> None:
    home = folder / "suite"
    write_suite(example_suite(), home)
    manifest, episode = (json.loads((home / f).read_text()) for f in ("manifest.json", "tiny.json"))
    if draw.random() < 0.7:
        data = _mutated(episode, draw)
        (home / "tiny.json").write_bytes(data)
        try:  # digests that fit, so that the content is looked at
            manifest["hashes"]["tiny"] = digest(json.loads(data))
            manifest["dataset_hash"] = digest(manifest["hashes"])
        except (ValueError, RecursionError, SdbError):
            pass
        (home / "manifest.json").write_text(json.dumps(manifest))
    else:
        (home / "manifest.json").write_bytes(_mutated(manifest, draw))
    found = validate_suite(home)
    try:
        read_suite(home)
    except SdbError:
        assert found, "read_suite refuses what validate does not"
        raise
    assert not found, "read_suite takes what validate refuses"


def _recording(draw: random.Random, folder: Path) -> None:
    from tests.recording.made import write

    home = write(folder / "run")
    log, run = home / EVENTS_FILE, home / "run.json"
    record = json.loads(run.read_text())
    if draw.random() < 0.6:
        lines = log.read_bytes().splitlines(True)
        at = draw.randrange(len(lines))
        change = draw.randrange(4)
        if change == 0:
            lines.insert(draw.randrange(len(lines)), lines.pop(at))
        elif change == 1:
            lines.insert(at, draw.choice(lines))
        else:
            lines[at] = _mutated(json.loads(lines[at]), draw) + b"\n"
        data = b"".join(lines)
        log.write_bytes(mutate_bytes(data, draw) if draw.random() < 0.1 else data)
        record["events_sha256"] = file_sha256(log)
        run.write_text(json.dumps(record))
    else:
        run.write_bytes(_mutated(record, draw))
    suite = example_suite()
    recording = read_recording(home, suite if draw.random() < 0.8 else None)
    json.dumps(scores_to_json([score(recording, suite)]))


def _table(draw: random.Random, folder: Path) -> None:
    good, bad = folder / "good.csv", folder / "bad.csv"
    good.write_text(TABLE)
    rows = TABLE.splitlines(True)
    at = draw.randrange(len(rows))
    cells = rows[at].rstrip("\n").split(",")
    column, honest = draw.randrange(len(cells)), draw.random() < 0.4
    if honest:  # a value that stands in this column elsewhere
        cells[column] = draw.choice(rows).rstrip("\n").split(",")[column]
    else:
        cells[column] = str(draw.choice(ODD))
        del cells[draw.randint(len(cells) - 1, len(cells)) :]
    rows[at] = ",".join(cells) + "\n"
    data = "".join(rows).encode()
    bad.write_bytes(mutate_bytes(data, draw) if not honest and draw.random() < 0.4 else data)
    reference = bad if draw.random() < 0.5 else good
    before = set(folder.iterdir())
    _, made = import_tables(reference, [bad], folder / "out")
    assert set(folder.iterdir()) - before == {folder / "out"}, "something was written elsewhere"
    for one in made:
        read_recording(one)


def _json_file(
    source: Callable[[], Any], read: Callable[[Path], Any]
) -> Callable[[random.Random, Path], None]:
    def case(draw: random.Random, folder: Path) -> None:
        path = folder / "file.json"
        path.write_bytes(_mutated(source(), draw))
        read(path)

    return case


def _answers() -> Any:
    steps = [{"t": t, "answers": {"recorder": "K01"}} for t in range(4)]
    return {"scenario": "tiny", "steps": steps}


def _read_sheet(path: Path) -> None:
    scenario = example_suite().scenarios["tiny"]
    check(scenario, read_answers(path, scenario)).to_json()


def _audit() -> Any:
    record = json.loads((DATA / "audit" / "record.json").read_text())
    return {k: v[:2] if isinstance(v, list) else v for k, v in record.items()}


def _read_audit(path: Path) -> None:
    record = read_record(path)
    violations(record, example_suite())
    summarise(record)


def _read_prices(path: Path) -> None:
    find_price(read_prices(path), "openai", "gpt-6-astra")


def _profile() -> Any:
    return json.loads((DATA / "profiles.json").read_text())["profiles"][0]


def _text_file(
    text: Callable[[], str], read: Callable[[Path], Any]
) -> Callable[[random.Random, Path], None]:
    def case(draw: random.Random, folder: Path) -> None:
        path = folder / "file"
        path.write_bytes(mutate_bytes(text().encode(), draw))
        read(path)

    return case


KINDS: dict[str, Callable[[random.Random, Path], None]] = {
    "suite": _suite,
    "recording": _recording,
    "table": _table,
    "answer sheet": _json_file(_answers, _read_sheet),
    "audit record": _json_file(_audit, _read_audit),
    "price list": _json_file(lambda: json.loads((DATA / "prices.json").read_text()), _read_prices),
    "profile": _json_file(_profile, read_profiles),
    ".env": _text_file(lambda: DOTENV, lambda path: load(path, {})),
    "cost file": _text_file((DATA / "costs.toml").read_text, read_costs),
}


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in list(items):
        yield value, key
        if isinstance(child, dict | list):
            yield from _places(child)


def _keys(value: Any) -> Any:
    return value if isinstance(value, dict) else range(len(value))


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value
