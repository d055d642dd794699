"""Every violation in a suite folder or a scenario file, named by file and field.

`read_suite` stops at the first problem; an author wants them all. So this works on plain JSON and
assumes nothing about its shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.digest import digest, public_hash
from streamdecisionbench.suite.scenario import SCHEMA_VERSION
from streamdecisionbench.suite.suite_files import MANIFEST_FILE, read_json

__all__ = ["Violation", "validate_scenario", "validate_suite"]

_TEXT_FIELDS = ("schema_version", "episode_id", "task_family", "scenario_id", "title")


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong, in which file and field.

    >>> print(Violation("tiny.json", "tick_seconds", "must be a number above 0"))
    tiny.json: tick_seconds: must be a number above 0
    """

    file: str
    field: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.field}: {self.what}"


def validate_suite(folder: str | Path) -> list[Violation]:
    """All violations of a suite: manifest, digests, and every scenario."""
    folder = Path(folder)
    path = folder / MANIFEST_FILE
    try:
        manifest = read_json(path)
    except InputError as error:
        return [Violation(MANIFEST_FILE, "(file)", error.what)]
    if not isinstance(manifest, dict):
        return [Violation(MANIFEST_FILE, "(file)", "is not a JSON object")]
    return list(_manifest(folder, manifest))


def validate_scenario(episode: Any, file: str) -> list[Violation]:
    """All violations of one scenario given as JSON data."""
    return [Violation(file, where, what) for where, what in _scenario(episode)]


def _manifest(folder: Path, manifest: Mapping[str, Any]) -> Iterator[Violation]:
    def wrong(where: str, what: str) -> Violation:
        return Violation(MANIFEST_FILE, where, what)

    if manifest.get("schema_version") != SCHEMA_VERSION:
        yield wrong(
            "schema_version", f"is {manifest.get('schema_version')!r}, not {SCHEMA_VERSION!r}"
        )
    episodes, hashes = manifest.get("episodes"), manifest.get("hashes")
    if not isinstance(episodes, list) or not episodes:
        yield wrong("episodes", "must be a list with at least one episode")
        return
    if not isinstance(hashes, dict):
        yield wrong("hashes", "must be an object {episode_id: digest}")
        hashes = {}
    elif manifest.get("dataset_hash") != digest(hashes):
        yield wrong("dataset_hash", "is not the digest of hashes")
    seen: set[str] = set()
    for index, summary in enumerate(episodes):
        name = summary.get("episode_id") if isinstance(summary, dict) else None
        if not isinstance(name, str) or not name:
            yield wrong(f"episodes[{index}].episode_id", "must be a non-empty text")
            continue
        if name in seen:
            yield wrong(f"episodes[{index}].episode_id", f"{name!r} is listed twice")
            continue
        seen.add(name)
        yield from _episode_file(folder, name, summary, hashes)
    for name in hashes:
        if name not in seen:
            yield wrong(f"hashes.{name}", "names no episode of the list")
    listed = {f"{name}.json" for name in seen} | {MANIFEST_FILE}
    for path in sorted(folder.glob("*.json")):
        if path.name not in listed:
            yield Violation(path.name, "(file)", "is not listed in the manifest")


def _episode_file(
    folder: Path, name: str, summary: Mapping[str, Any], hashes: Mapping[str, Any]
) -> Iterator[Violation]:
    file = f"{name}.json"
    try:
        episode = read_json(folder / file)
    except InputError as error:
        yield Violation(file, "(file)", error.what)
        return
    if name not in hashes:
        yield Violation(MANIFEST_FILE, f"hashes.{name}", "is missing")
    elif hashes[name] != digest(episode):
        yield Violation(
            file, "(file)", f"digest mismatch: not the content that hashes.{name} names"
        )
    found = validate_scenario(episode, file)
    yield from found
    if found or not isinstance(episode, dict):
        return
    if episode["episode_id"] != name:
        yield Violation(
            file, "episode_id", f"is {episode['episode_id']!r}, the manifest says {name!r}"
        )
    facts = {
        "questions": len(episode["questions"]),
        "steps": len(episode["steps"]),
        "duration_s": len(episode["steps"]) * episode["tick_seconds"],
        "public_hash": public_hash(
            {"state": s["state"], "questions": episode["questions"]} for s in episode["steps"]
        ),
    }
    for key, value in facts.items():
        stated = summary.get(key, value)
        if isinstance(stated, int | float | str) and stated != value:
            yield Violation(
                MANIFEST_FILE,
                f"episodes.{name}.{key}",
                f"is {stated!r}, the file has {value!r}",
            )


def _scenario(episode: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(episode, dict):
        yield "(file)", "is not a JSON object"
        return
    for key in _TEXT_FIELDS:
        if not isinstance(episode.get(key), str) or not episode[key]:
            yield key, "must be a non-empty text"
    if episode.get("schema_version") not in (None, "", SCHEMA_VERSION):
        yield "schema_version", f"is {episode['schema_version']!r}, not {SCHEMA_VERSION!r}"
    tick = episode.get("tick_seconds")
    if (
        isinstance(tick, bool)
        or not isinstance(tick, int | float)
        or not math.isfinite(tick)
        or tick <= 0
    ):
        yield "tick_seconds", "must be a number of seconds above 0 (not NaN, not negative)"
    questions = episode.get("questions")
    if not isinstance(questions, dict) or not questions:
        yield "questions", "must be an object with at least one question"
        return
    semantics = episode.get("option_semantics")
    if not isinstance(semantics, dict):
        yield "option_semantics", "must be an object {question: {label: value}}"
        return
    for name, question in questions.items():
        yield from _question(name, question, semantics.get(name))
    for name in semantics:
        if name not in questions:
            yield f"option_semantics.{name}", "names no question"
    values = {
        q: set(labels.values()) if isinstance(labels, dict) else set()
        for q, labels in semantics.items()
    }
    yield from _spec(episode.get("decision_spec"), questions, values)
    yield from _steps(episode.get("steps"), questions, values)


def _question(name: str, question: Any, labels: Any) -> Iterator[tuple[str, str]]:
    where = f"questions.{name}"
    if not isinstance(question, dict):
        yield where, "must be an object"
        return
    if question.get("type") != "choice":
        yield f"{where}.type", f"is {question.get('type')!r}, only 'choice' is known"
    if not isinstance(question.get("instructions"), str):
        yield f"{where}.instructions", "must be a text"
    criteria = question.get("criteria")
    if not isinstance(criteria, dict) or len(criteria) < 2:
        yield f"{where}.criteria", "must give at least two options {label: text}"
        return
    if not isinstance(labels, dict):
        yield f"option_semantics.{name}", "is missing"
        return
    for label in criteria:
        if label not in labels:
            yield f"option_semantics.{name}.{label}", "is missing: the label means nothing"
    for label, value in labels.items():
        if label not in criteria:
            yield f"option_semantics.{name}.{label}", "unknown label: not among the criteria"
        elif not isinstance(value, str):
            yield f"option_semantics.{name}.{label}", "must be a text"
        elif str(criteria[label]).partition(":")[0] != value:
            yield f"questions.{name}.criteria.{label}", f"does not start with its value {value!r}"
    if len(set(map(str, labels.values()))) < len(labels):
        yield f"option_semantics.{name}", "two labels mean the same value"


def _spec(
    spec: Any, questions: Mapping[str, Any], values: Mapping[str, set[str]]
) -> Iterator[tuple[str, str]]:
    if not isinstance(spec, dict):
        yield "decision_spec", "must be an object"
        return
    route, always, branches = spec.get("route_question"), spec.get("always"), spec.get("branches")
    if route not in questions:
        yield "decision_spec.route_question", f"{route!r} is no question"
    if not isinstance(always, list):
        yield "decision_spec.always", "must be a list of questions"
        always = []
    if not isinstance(branches, dict):
        yield "decision_spec.branches", "must be an object {route value: [questions]}"
        return
    used = {route, *(q for q in always if isinstance(q, str))}
    for q in always:
        if q not in questions:
            yield "decision_spec.always", f"{q!r} is no question"
    for value, names in branches.items():
        if value not in values.get(str(route), set()):
            yield f"decision_spec.branches.{value}", "is no value of the route question"
        if not isinstance(names, list):
            yield f"decision_spec.branches.{value}", "must be a list of questions"
            continue
        for q in names:
            if q not in questions:
                yield f"decision_spec.branches.{value}", f"names {q!r}, which is no question"
            used.add(q)
    for value in sorted(values.get(str(route), set()) - set(branches)):
        yield f"decision_spec.branches.{value}", "is missing: every route value needs a branch"
    for q in questions:
        if q not in used:
            yield f"questions.{q}", "is used by no branch"


def _steps(
    steps: Any, questions: Mapping[str, Any], values: Mapping[str, set[str]]
) -> Iterator[tuple[str, str]]:
    if not isinstance(steps, list) or not steps:
        yield "steps", "must be a list with at least one step"
        return
    for index, step in enumerate(steps):
        where = f"steps[{index}]"
        if not isinstance(step, dict):
            yield where, "must be an object"
            continue
        if step.get("t") != index or isinstance(step.get("t"), bool):
            yield f"{where}.t", f"is {step.get('t')!r}, steps must be consecutive: {index}"
        if not isinstance(step.get("state"), dict):
            yield f"{where}.state", "must be an object"
        gold = step.get("gold")
        if not isinstance(gold, dict):
            yield f"{where}.gold", "is missing"
            continue
        for q in questions:
            if q not in gold:
                yield f"{where}.gold.{q}", "is missing"
            elif gold[q] not in values.get(q, set()):
                yield f"{where}.gold.{q}", f"{gold[q]!r} is no option of that question"
        for q in gold:
            if q not in questions:
                yield f"{where}.gold.{q}", "answers no question"
