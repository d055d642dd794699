"""Simulated profiles against the published figures: the table in docs/explanation/simulation.md.

    python bench/simulation.py            prints the table
    python bench/simulation.py --write    also puts it into docs/explanation/simulation.md
    python bench/simulation.py --json     one JSON object a profile and seed, for tests

Every profile is recorded on the virtual clock over the suite with the real recorder, and scored
with the real scorer. The printed value is the one of seed 0; the range is over all seeds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from streamdecisionbench.components.simulated.profiles import (
    Profile,
    builtin_profiles,
    right_states,
)
from streamdecisionbench.components.simulated.simulator import SimulatedComponent, Simulator
from streamdecisionbench.families.registry import drafts
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import RunConfig, record
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.scoring.score import Score, score
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import make_suite

DOCS = Path(__file__).parent.parent / "docs" / "explanation" / "simulation.md"
BEGIN, END = "<!-- table: bench/simulation.py -->", "<!-- end of table -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0 … N-1")
    parser.add_argument("--profiles", default="", help="comma-separated; default: all")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    suite = make_suite([expand(draft) for draft in drafts().values()], name="SDB v1")
    names = arguments.profiles.split(",") if arguments.profiles else list(builtin_profiles())
    simulators = [Simulator(suite, seed) for seed in range(arguments.seeds)]
    rows = []
    for name in names:
        profile = builtin_profiles()[name]
        rows.append([facts(profile, suite, simulator) for simulator in simulators])
        if arguments.json:
            for row in rows[-1]:
                print(json.dumps(row), flush=True)
    if not arguments.json:
        print(table(rows))
    if arguments.write:
        before, _, rest = DOCS.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        DOCS.write_text(f"{before}{BEGIN}\n{table(rows)}\n{END}{after}", encoding="utf-8")


def facts(profile: Profile, suite: Suite, simulator: Simulator) -> dict[str, Any]:
    """One simulated pass, beside what was published."""
    scored = simulate(profile, suite, simulator)
    published, latency = profile.published, scored.latency
    assert published is not None
    assert latency is not None
    shares = scored.overall.integrated
    return {
        "profile": profile.name,
        "title": profile.title,
        "seed": simulator.seed,
        "log_auc": 100 * scored.log_auc,
        "published_log_auc": published.log_auc,
        "untimed": 100 * scored.untimed,
        "published_untimed": published.untimed,
        "oracle": 100 * shares.oracle,
        "published_oracle": published.oracle_log_auc,
        "u_current": None if shares.u_current is None else 100 * shares.u_current,
        "lucky": 100 * shares.outdated_correct,
        "p50_s": latency.p50,
        "p95_s": latency.p95,
        "off_by_states": {
            key: round(level.untimed * suite.scenarios[key].n)
            - right_states(profile, suite.scenarios[key])
            for key, level in scored.by_scenario.items()
        },
    }


def simulate(profile: Profile, suite: Suite, simulator: Simulator) -> Score:
    component = SimulatedComponent(simulator, profile, virtual=True)
    settings = RunConfig(
        RunOptions.of({None: component.info.name}, clock="virtual"),
        tuple(suite.scenarios),
        seed=simulator.seed,
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "recording"
        record(suite, [Member(component)], settings, out)
        return score(read_recording(out), suite)


def table(rows: list[list[dict[str, Any]]]) -> str:
    lines = [
        "| profile | untimed | published | log-AUC | published | difference | range over seeds | oracle | published |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for seeds in rows:
        first = seeds[0]
        aucs = [row["log_auc"] for row in seeds]
        oracle = first["published_oracle"]
        lines.append(
            f"| `{first['profile']}` | {first['untimed']:.1f} | {first['published_untimed']} "
            f"| {first['log_auc']:.1f} | {first['published_log_auc']} "
            f"| {first['log_auc'] - first['published_log_auc']:+.1f} "
            f"| {min(aucs):.1f}–{max(aucs):.1f} | {first['oracle']:.1f} "
            f"| {'–' if oracle is None else oracle} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
