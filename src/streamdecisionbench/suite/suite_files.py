"""Reading and writing suites: `manifest.json` and one `<episode_id>.json` per scenario."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.digest import digest, public_hash
from streamdecisionbench.suite.file_io import (
    make_folder,
    read_json,
    write_text,
)
from streamdecisionbench.suite.scenario import (
    SCHEMA_VERSION,
    EpisodeSummary,
    Manifest,
    Scenario,
    Suite,
    require_id,
)
from streamdecisionbench.suite.suite_check import (
    MANIFEST_FILE,
    Violation,
    examine,
    family_violations,
    validate_scenario,
)
from streamdecisionbench.text import visible

SUITE_FOLDER = "suite"
"""Where a recording has the suite it was made on, if it brings it along."""


def builtin_suite_path() -> Path:
    """The suite that ships inside the package: SDB v1."""
    return Path(str(resources.files("streamdecisionbench") / "data" / "v1"))


def read_suite(folder: str | Path) -> Suite:
    """Reads and verifies a suite: refuses whatever `sdb validate` would complain about."""
    folder = Path(folder)
    found = examine(folder)
    _require_none(found.violations, folder)
    manifest = msgspec.convert(found.manifest, Manifest)
    return Suite(
        manifest=manifest,
        scenarios={name: msgspec.convert(e, Scenario) for name, e in found.episodes.items()},
    )


def read_scenario(path: str | Path) -> Scenario:
    """Reads one scenario file without a manifest."""
    path = Path(path)
    episode = read_json(path)
    _require_none(validate_scenario(episode, path.name), path.parent)
    return msgspec.convert(episode, Scenario)


def scenario_to_json(scenario: Scenario) -> dict[str, Any]:
    """The published form of a scenario as plain JSON data."""
    value: dict[str, Any] = msgspec.to_builtins(scenario)
    return value


def make_suite(
    scenarios: Iterable[Scenario],
    *,
    name: str = "",
    generator: Mapping[str, str] | None = None,
    generation: Mapping[str, Any] | None = None,
) -> Suite:
    """A suite with its manifest computed from the scenarios."""
    by_id: dict[str, Scenario] = {}
    for scenario in scenarios:
        key = require_id(scenario.episode_id, what="id of a scenario")
        if key in by_id:
            raise InputError(f"two scenarios are called {key}", fix="rename one")
        by_id[key] = scenario
    hashes = {key: digest(scenario_to_json(s)) for key, s in by_id.items()}
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        name=name,
        episodes=[summarise(s) for s in by_id.values()],
        hashes=hashes,
        dataset_hash=digest(hashes),
        generator=dict(generator or {}),
        generation=dict(generation or {}),
    )
    return Suite(manifest=manifest, scenarios=by_id)


def summarise(scenario: Scenario) -> EpisodeSummary:
    """A manifest's line about one scenario."""
    spec = scenario.decision_spec
    seen = {step.gold[spec.route_question] for step in scenario.steps}
    return EpisodeSummary(
        episode_id=scenario.episode_id,
        questions=len(scenario.questions),
        steps=scenario.n,
        duration_s=scenario.horizon_s,
        decision_transitions=len(scenario.changes()),
        routes_seen=sorted(seen),
        routes_unseen=sorted(set(spec.branches) - seen),
        public_hash=public_hash(scenario.request(t) for t in range(scenario.n)),
    )


def write_suite(suite: Suite, folder: str | Path) -> None:
    """Writes a suite; the same suite always gives the same bytes. Nothing unreadable is written."""
    folder = Path(folder)
    texts = {key: _layout(scenario_to_json(scenario)) for key, scenario in suite.scenarios.items()}
    episodes = {key: msgspec.json.decode(text) for key, text in texts.items()}
    wrong = [v for key, e in episodes.items() for v in validate_scenario(e, f"{key}.json")]
    _require_none([*wrong, *family_violations(episodes)], folder)
    make_folder(folder)
    for key, text in texts.items():
        write_text(folder / f"{require_id(key, what='id of a scenario')}.json", text)
    manifest = msgspec.to_builtins(suite.manifest)
    if not manifest["generation"]:
        del manifest["generation"]  # only generated suites have parameters
    write_text(folder / MANIFEST_FILE, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def _layout(episode: Mapping[str, Any]) -> str:
    """One line per field and per step, so that a difference between versions is readable."""

    def compact(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    fields = []
    for key, value in episode.items():
        if key == "steps":
            fields.append('"steps":[\n' + ",\n".join(compact(step) for step in value) + "\n]")
        else:
            fields.append(f"{compact(key)}:{compact(value)}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _require_none(violations: Sequence[Violation], folder: Path) -> None:
    if not violations:
        return
    first = violations[0]
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    where = folder / first.file
    raise InputError(
        f"{first.field}: {first.what}{more}" if first.field != "(file)" else f"{first.what}{more}",
        where=where,
        fix="check the path"
        if not where.exists()
        else f"`sdb validate {folder}` names all that is wrong",
    )


def first_steps(suite: Suite, limit: int) -> Suite:
    """At most `limit` steps of every scenario, for a smoke run.

    It is another suite with another digest, so that nothing recorded on it is ever compared with a
    recording of the whole.

    >>> from streamdecisionbench.examples import example_suite
    >>> [s.n for s in first_steps(example_suite(), 2)]
    [2]
    """
    if limit < 1:
        raise InputError(f"--limit is {limit}", fix="give a number of steps above 0")
    short = [replace(s, steps=s.steps[:limit]) for s in suite]
    return make_suite(short, name=f"{suite.name}, first {limit} steps")


def other_suite_error(
    recorded: str, suite: str, *, where: str | Path | None, fix: str
) -> InputError:
    """For a recording of another suite than the one it is read or compared with; both are digests."""
    return InputError(f"{recorded_on(recorded)}, not on {suite[:12]}", where=where, fix=fix)


def recorded_on(dataset_hash: str) -> str:
    """
    >>> recorded_on("0a0d78a898cf1234")
    'was recorded on suite 0a0d78a898cf'
    """
    return f"was recorded on suite {dataset_hash[:12] or '(unnamed)'}"


def find_suite(
    dataset_hash: str, *, data: str | Path | None = None, near: Path | None = None
) -> Suite:
    """The suite with this digest: the one given, the built-in one, the one at its recorded path, or
    one next to the recording.

    `near` is the recording's folder; of a smoke run it says how many steps of a suite were recorded.
    """
    limit, lay_at = _said_of_suite(near)
    if data is not None:
        return read_suite(data) if limit is None else first_steps(read_suite(data), limit)
    candidates = [builtin_suite_path()]
    if near is not None:
        candidates += [near.resolve() / lay_at] if lay_at else []
        candidates += [near.resolve() / SUITE_FOLDER, near.resolve().parent / SUITE_FOLDER]
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
        f"{recorded_on(dataset_hash)}, which is not the built-in one"
        + (f" and is no longer at {visible(lay_at[:200])}, seen from there" if lay_at else ""),
        where=near,
        fix="give that suite's folder with --data",
    )


def _said_of_suite(near: Path | None) -> tuple[int | None, str]:
    """How many steps of every scenario a smoke run recorded (None: all of them), and the path of
    the suite relative to the recording. Absolute paths are ignored."""
    record = near / "run.json" if near is not None else None
    if record is None or not record.is_file():
        return None, ""
    found = read_json(record)
    found = found if isinstance(found, dict) else {}
    config = found.get("config")
    limit = config.get("limit") if isinstance(config, dict) else None
    place = found.get("suite_at")
    if not isinstance(place, str) or "\0" in place or place.startswith(("/", "\\")):
        place = ""
    return (
        limit if isinstance(limit, int) and limit > 0 else None,
        "" if Path(place).is_absolute() else place,
    )


def _hash_of(manifest: Path) -> object:
    """The digest in a manifest; None if the file next to a recording is not a suite."""
    found = read_json(manifest)
    return found.get("dataset_hash") if isinstance(found, dict) else None
