"""SDB v1 as its sources make it: what is frozen, and whether every stored state still follows."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.registry import FAMILY_MODULES, drafts, reference_of
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import make_suite

SUITE_NAME = "SDB v1"
NO_REFERENCE = "no reference is known"


def build() -> Suite:
    """Expands every draft. The same sources always give the same suite."""
    return make_suite(
        [expand(draft) for draft in drafts().values()], name=SUITE_NAME, generator=source_digests()
    )


def source_digests() -> dict[str, str]:
    """SHA-256 of every source file the suite depends on, by path inside the package."""
    root = Path(str(resources.files("streamdecisionbench")))
    folders = [root / "families" / module for module in FAMILY_MODULES.values()]
    files = [
        root / "suite" / "authoring.py",
        *(f for folder in folders for f in folder.rglob("*.py") if not _is_about_others(f)),
        *(f for folder in folders for f in folder.rglob("sentences.json")),
    ]
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
    }


def recheck(suite: Suite) -> list[str]:
    """Runs the reference of every known scenario over every stored state; lists what disagrees."""
    known = drafts()
    problems = []
    for scenario in suite.scenarios.values():
        generated = suite.manifest.generation and scenario.task_family in FAMILY_MODULES
        if scenario.scenario_id not in known and not generated:
            problems.append(f"{scenario.episode_id}: {NO_REFERENCE} for this scenario")
            continue
        reference = reference_of(scenario.task_family)
        for step in scenario.steps:
            try:
                answers = reference(json.loads(json.dumps(step.state)))
            except InputError as error:
                where = f"{scenario.episode_id}.json, step {step.t}"
                raise InputError(error.what, where=where, fix=error.fix) from None
            for question, value in step.gold.items():
                if answers.get(question) != value:
                    problems.append(
                        f"{scenario.episode_id} tick {step.t}: stored {question} = {value},"
                        f" the reference says {answers.get(question)}"
                    )
    return problems


def _is_about_others(path: Path) -> bool:
    """Misreadings belong to a family; no authored scenario depends on them."""
    return path.name == "misreadings.py"
