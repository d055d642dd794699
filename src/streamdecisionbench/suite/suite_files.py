"""Reading and writing suites: `manifest.json` and one `<episode_id>.json` per scenario."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.digest import digest, has_digest, public_hash
from streamdecisionbench.suite.scenario import (
    SCHEMA_VERSION,
    EpisodeSummary,
    Manifest,
    Scenario,
    Suite,
)

__all__ = [
    "MANIFEST_FILE",
    "builtin_suite_path",
    "make_suite",
    "read_json",
    "read_scenario",
    "read_suite",
    "scenario_to_json",
    "write_suite",
]

MANIFEST_FILE = "manifest.json"

_T = TypeVar("_T")


def builtin_suite_path() -> Path:
    """The suite that ships inside the package: SDB v1."""
    return Path(str(resources.files("streamdecisionbench") / "data" / "v1"))


def read_suite(folder: str | Path) -> Suite:
    """Reads and verifies a suite. Refuses one that is not what its manifest says."""
    folder = Path(folder)
    raw = read_json(folder / MANIFEST_FILE)
    manifest = _convert(raw, Manifest, folder / MANIFEST_FILE)
    scenarios: dict[str, Scenario] = {}
    for summary in manifest.episodes:
        name = summary.episode_id
        path = folder / f"{name}.json"
        episode = read_json(path)
        if not has_digest(episode, manifest.hashes.get(name, "")):
            raise InputError(
                f"the content is not what {MANIFEST_FILE} names (field hashes.{name})",
                where=path,
                fix="restore the file, or rebuild the suite so that manifest and scenario agree",
            )
        scenarios[name] = _convert(episode, Scenario, path)
    if digest(manifest.hashes) != manifest.dataset_hash:
        raise InputError(
            "dataset_hash is not the digest of hashes",
            where=folder / MANIFEST_FILE,
            fix="restore the manifest or rebuild the suite",
        )
    return Suite(manifest=manifest, scenarios=scenarios)


def read_scenario(path: str | Path) -> Scenario:
    """Reads one scenario file by itself, without a manifest."""
    path = Path(path)
    return _convert(read_json(path), Scenario, path)


def read_json(path: Path) -> Any:
    """Decodes a JSON file, or says what is wrong with it."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", where=path, fix="check the path") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from None
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"is not valid JSON: {error}", where=path, fix="restore the file"
        ) from None


def scenario_to_json(scenario: Scenario) -> dict[str, Any]:
    """The published form of a scenario as plain JSON data."""
    value: dict[str, Any] = msgspec.to_builtins(scenario)
    return value


def make_suite(
    scenarios: Iterable[Scenario], *, name: str = "", generator: Mapping[str, str] | None = None
) -> Suite:
    """A suite with its manifest computed from the scenarios."""
    by_id: dict[str, Scenario] = {}
    for scenario in scenarios:
        if scenario.episode_id in by_id:
            raise InputError(f"two scenarios are called {scenario.episode_id}", fix="rename one")
        by_id[scenario.episode_id] = scenario
    hashes = {key: digest(scenario_to_json(s)) for key, s in by_id.items()}
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        name=name,
        episodes=[summarise(s) for s in by_id.values()],
        hashes=hashes,
        dataset_hash=digest(hashes),
        generator=dict(generator or {}),
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
    """Writes a suite; the same suite always gives the same bytes."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for scenario in suite.scenarios.values():
        path = folder / f"{scenario.episode_id}.json"
        path.write_text(_layout(scenario_to_json(scenario)), encoding="utf-8")
    manifest = msgspec.to_builtins(suite.manifest)
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    (folder / MANIFEST_FILE).write_text(text + "\n", encoding="utf-8")


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


def _convert(value: Any, kind: type[_T], path: Path) -> _T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InputError(
            str(error), where=path, fix=f"run `sdb validate {path.parent}` for the full list"
        ) from None
