"""Every violation in a suite folder or a scenario file, named by file and field.

An author wants them all, and `read_suite` refuses whatever has any. So this works on plain JSON and
assumes nothing about its shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.digest import digest, has_digest
from streamdecisionbench.suite.file_io import read_json
from streamdecisionbench.suite.scenario import (
    ID_RULE,
    SCHEMA_VERSION,
    Manifest,
    Scenario,
    is_id,
    published_violations,
    tick_violations,
)

MANIFEST_FILE = "manifest.json"

OVERALL = "overall"
"""What a score calls the mean of all families; no family may be called so."""

_TEXT_FIELDS = ("schema_version", "episode_id", "task_family", "scenario_id", "title")


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation, with its file and field.

    >>> print(Violation("tiny.json", "tick_seconds", "must be a number above 0"))
    tiny.json: tick_seconds: must be a number above 0
    """

    file: str
    field: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.field}: {self.what}"


@dataclass(slots=True)
class Examined:
    """A suite folder as JSON, and everything that is wrong with it."""

    violations: list[Violation] = field(default_factory=list)
    manifest: dict[str, Any] = field(default_factory=dict)
    episodes: dict[str, dict[str, Any]] = field(default_factory=dict)


def validate_suite(folder: str | Path) -> list[Violation]:
    """All violations of a suite: manifest, digests, and every scenario."""
    return examine(folder).violations


def validate_scenario(episode: Any, file: str) -> list[Violation]:
    """All violations of one scenario given as JSON data."""
    found = [Violation(file, where, what) for where, what in _scenario(episode)]
    return found or _typed(episode, Scenario, file)


def examine(folder: str | Path) -> Examined:
    """Reads every file of the suite once and checks it."""
    folder = Path(folder)
    found = Examined()
    try:
        manifest = read_json(folder / MANIFEST_FILE)
    except InputError as error:
        found.violations.append(Violation(MANIFEST_FILE, "(file)", error.what))
        return found
    if not isinstance(manifest, dict):
        found.violations.append(Violation(MANIFEST_FILE, "(file)", "is not a JSON object"))
        return found
    found.manifest = manifest
    found.violations = list(_manifest(folder, found))
    if not found.violations:
        found.violations = _typed(manifest, Manifest, MANIFEST_FILE)
    return found


def _manifest(folder: Path, found: Examined) -> Iterator[Violation]:
    manifest = found.manifest

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
    for index, summary in enumerate(episodes):
        name = summary.get("episode_id") if isinstance(summary, dict) else None
        if not isinstance(name, str) or not name:
            yield wrong(f"episodes[{index}].episode_id", "must be a non-empty text")
        elif not is_id(name):
            yield wrong(f"episodes[{index}].episode_id", f"{name!r:.80} is no id: {ID_RULE}")
        elif name in found.episodes:
            yield wrong(f"episodes[{index}].episode_id", f"{name!r} is listed twice")
        else:
            found.episodes[name] = {}
            yield from _episode_file(folder, name, summary, hashes, found)
    for name in hashes:
        if name not in found.episodes:
            yield wrong(f"hashes.{name}", "names no episode of the list")
    yield from family_violations(found.episodes)
    yield from _unlisted(folder, found.episodes)


def _episode_file(
    folder: Path,
    name: str,
    summary: Mapping[str, Any],
    hashes: Mapping[str, Any],
    found: Examined,
) -> Iterator[Violation]:
    file = f"{name}.json"
    try:
        episode = read_json(folder / file)
    except InputError as error:
        yield Violation(file, "(file)", error.what)
        return
    if name not in hashes:
        yield Violation(MANIFEST_FILE, f"hashes.{name}", "is missing")
    elif not has_digest(episode, hashes[name]):
        yield Violation(
            file,
            "(file)",
            f"digest mismatch: the content is not what {MANIFEST_FILE} names (field hashes.{name})",
        )
    wrong = validate_scenario(episode, file)
    yield from wrong
    if wrong:
        return
    found.episodes[name] = episode
    if episode["episode_id"] != name:
        yield Violation(
            file, "episode_id", f"is {episode['episode_id']!r}, the manifest says {name!r}"
        )
    yield from _summary(name, summary, episode)


def _summary(
    name: str, summary: Mapping[str, Any], episode: Mapping[str, Any]
) -> Iterator[Violation]:
    """The manifest's entry for a scenario, and its place."""
    facts = {
        "questions": len(episode["questions"]),
        "steps": len(episode["steps"]),
        "duration_s": len(episode["steps"]) * episode["tick_seconds"],
    }
    for key, value in facts.items():
        stated = summary.get(key, value)
        if isinstance(stated, int | float | str) and stated != value:
            yield Violation(
                MANIFEST_FILE, f"episodes.{name}.{key}", f"is {stated!r}, the file has {value!r}"
            )
    stated = summary.get("public_hash")
    if isinstance(stated, str) and stated:
        questions = episode["questions"]
        requests = [{"state": s["state"], "questions": questions} for s in episode["steps"]]
        if not has_digest(requests, stated):
            yield Violation(
                MANIFEST_FILE,
                f"episodes.{name}.public_hash",
                "is not the digest of the file's requests",
            )


def family_violations(episodes: Mapping[str, Mapping[str, Any]]) -> Iterator[Violation]:
    """Scores are tables by name: the whole, the families and the scenarios need different ones."""
    for name, episode in episodes.items():
        family = episode.get("task_family")
        if family == OVERALL:
            yield Violation(f"{name}.json", "task_family", f"{family!r} is the name of the whole")
        elif family in episodes:
            yield Violation(f"{name}.json", "task_family", f"{family!r} is a scenario's name")


def _unlisted(folder: Path, listed: Mapping[str, Any]) -> Iterator[Violation]:
    """A scenario the manifest does not name would be left out in silence."""
    for path in sorted(folder.glob("*.json")):
        if path.name == MANIFEST_FILE or path.stem in listed:
            continue
        try:
            stray = read_json(path)
        except InputError:
            continue
        if isinstance(stray, dict) and {"episode_id", "steps"} <= set(stray):
            yield Violation(path.name, "(file)", "is not listed in the manifest")


def _typed(value: Any, kind: type, file: str) -> list[Violation]:
    """Wrong types deep inside, which the checks by field do not find."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        return [Violation(file, where.strip("`") or "(file)", what)]
    return []


def _scenario(episode: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(episode, dict):
        yield "(file)", "is not a JSON object"
        return
    for key in _TEXT_FIELDS:
        if not isinstance(episode.get(key), str) or not episode[key]:
            yield key, "must be a non-empty text"
    name = episode.get("episode_id")
    if isinstance(name, str) and name and not is_id(name):
        yield "episode_id", f"{name!r:.80} is no id: {ID_RULE}"
    if episode.get("schema_version") not in (None, "", SCHEMA_VERSION):
        yield "schema_version", f"is {episode['schema_version']!r}, not {SCHEMA_VERSION!r}"
    yield from tick_violations(episode.get("tick_seconds"))
    if "published_s" in episode:
        yield from published_violations(episode)
    questions = episode.get("questions")
    if not isinstance(questions, dict) or not questions:
        yield "questions", "must be an object with at least one question"
        return
    semantics = episode.get("option_semantics")
    if not isinstance(semantics, dict):
        yield "option_semantics", "must be an object {question: {label: value}}"
        return
    for q, question in questions.items():
        yield from _question(q, question, semantics.get(q))
    for q in semantics:
        if q not in questions:
            yield f"option_semantics.{q}", "names no question"
    values = {
        q: {v for v in labels.values() if isinstance(v, str)} if isinstance(labels, dict) else set()
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
        yield f"{where}.type", f"is {question.get('type')!r:.80}, only 'choice' is known"
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
        elif not isinstance(criteria[label], str):
            yield f"questions.{name}.criteria.{label}", "must be a text"
        elif criteria[label] != value and not criteria[label].startswith(f"{value}:"):
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
    if not isinstance(route, str) or route not in questions:
        yield "decision_spec.route_question", f"{route!r:.80} is no question"
    if not isinstance(always, list):
        yield "decision_spec.always", "must be a list of questions"
        always = []
    if not isinstance(branches, dict):
        yield "decision_spec.branches", "must be an object {route value: [questions]}"
        return
    routes = values.get(route, set()) if isinstance(route, str) else set()
    used = {q for q in (route, *always) if isinstance(q, str)}
    for q in always:
        if not isinstance(q, str) or q not in questions:
            yield "decision_spec.always", f"{q!r:.80} is no question"
    for value, names in branches.items():
        if value not in routes:
            yield f"decision_spec.branches.{value}", "is no value of the route question"
        if not isinstance(names, list):
            yield f"decision_spec.branches.{value}", "must be a list of questions"
            continue
        for q in names:
            if isinstance(q, str) and q in questions:
                used.add(q)
            else:
                yield f"decision_spec.branches.{value}", f"names {q!r:.80}, which is no question"
    for value in sorted(routes - set(branches)):
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
        if type(step.get("t")) is not int or step["t"] != index:
            yield f"{where}.t", f"is {step.get('t')!r:.80}, steps must be consecutive: {index}"
        if not isinstance(step.get("state"), dict):
            yield f"{where}.state", "must be an object"
        gold = step.get("gold")
        if not isinstance(gold, dict):
            yield f"{where}.gold", "is missing"
            continue
        for q in questions:
            if q not in gold:
                yield f"{where}.gold.{q}", "is missing"
            elif not isinstance(gold[q], str) or gold[q] not in values.get(q, set()):
                yield f"{where}.gold.{q}", f"{gold[q]!r:.80} is no option of that question"
        for q in gold:
            if q not in questions:
                yield f"{where}.gold.{q}", "answers no question"
