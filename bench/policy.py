"""How long a policy search takes, and how much faster replay is than walking event by event.

    python bench/policy.py [--recordings 30] [--thresholds 20]

Recordings are simulations on the virtual clock. Prints the search's seconds, the policies tried, and
the ratio of the plain simulator's processor time per replay (tests/scoring/policies/plain_policy.py) to the fast
one's, at one interval and, for the integral, per piece of the interval range.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.scoring.policies import plain_policy

from streamdecisionbench.analysis.candidates import CandidatePool
from streamdecisionbench.analysis.policy_search import search
from streamdecisionbench.analysis.token_cost import request_costs
from streamdecisionbench.components import registry
from streamdecisionbench.components.contract import Options
from streamdecisionbench.kernel.paces import Bounds, OverPaces
from streamdecisionbench.kernel.shares import shares_over
from streamdecisionbench.policies.policy_file import (
    Cascade,
    ConfidenceGate,
    Debounce,
    Dispatch,
    Expire,
    Policy,
)
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.prices import read_prices
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import RunConfig, record
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.scoring.policy_answers import Answers, Variant, answers_of, policy_arrays
from streamdecisionbench.scoring.policy_replay import PolicyReplay, correct_share
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

PROFILES = ("jev", "terra-none", "kev-4b", "djev", "astra-low", "luna-low")
CASES = {
    "gate": Policy(gate=ConfidenceGate(0.7)),
    "expire": Policy(expire=Expire(6.0)),
    "debounce": Policy(debounce=Debounce(2)),
    "one at a time": Policy(dispatch=Dispatch("one-at-a-time")),
    "latest": Policy(dispatch=Dispatch("latest", 2)),
    "pair": Policy(cascade=Cascade(("a", "b"))),
    "late override": Policy(cascade=Cascade(("a", "b"), rule="late_override")),
    "when unsure": Policy(cascade=Cascade(("a", "b"), "when-unsure", 0.6)),
}


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--recordings", type=int, default=30)
    arguments.add_argument("--thresholds", type=int, default=20)
    asked = arguments.parse_args()
    components = _record(asked.recordings)
    began, worked = time.perf_counter(), time.process_time()
    recordings = {one.name: one.parts for one in components}
    field = CandidatePool(recordings, answers=components, thresholds=asked.thresholds)
    found = search(field, 2.0)
    took, work = time.perf_counter() - began, time.process_time() - worked
    print(
        f"search: {asked.recordings} recordings, pairs, cascades of three, {asked.thresholds}"
        f" thresholds: {found.tried} policies in {took:.1f} s ({work:.1f} s of one processor)",
        flush=True,
    )
    print(f"\n{'':16}{'one interval':>14}{'20 variants':>14}{'pieces':>9}{'integral':>11}")
    for name, policy in CASES.items():
        sure = [one for one in components if one.confidence is not None]
        _compare(name, policy, sure[: policy.count])


def _compare(name: str, policy: Policy, components: list[Answers]) -> None:
    """Ratios: the plain simulator's time for the same replays over ours."""
    variants = [Variant(x / 20, x / 20, policy.expire.after_s) for x in range(20)]
    played = PolicyReplay(policy, components)
    (many,) = policy_arrays(policy, played.components, variants=variants)
    count = len(played.parts)
    plain = _timed(lambda: _walk(policy, components), 1)
    single = _timed(lambda: played.table(2.0), 5)
    batch = _timed(lambda: correct_share(many, many.rows(2.0, 20)), 3)
    began = time.process_time()
    sweep = played.sweep(Bounds())
    shares_over(sweep, [OverPaces(Bounds(), played.flat.tick)])
    pieces = len(sweep.low)
    covered = time.process_time() - began
    per_piece = plain / count * 2 / len(components[0].parts[0].release)
    print(
        f"{name:16}{plain / single:13.0f}×{20 * plain / batch:13.0f}×{pieces:9d}"
        f"{per_piece * pieces / covered:10.0f}×"
    )


def _walk(policy: Policy, components: list[Answers]) -> None:
    for s in range(len(components[0].parts)):
        voices = [
            plain_policy.Voice(
                one.parts[s],
                one.confidence["min"][s].tolist() if one.confidence else [0.5] * one.parts[s].n,
            )
            for one in components
        ]
        plain_policy.shares(policy, voices, 2.0)


def _timed(work: object, times: int) -> float:
    assert callable(work)
    work()
    began = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - began) / times


def _record(count: int) -> list[Answers]:
    suite, prices = read_suite(builtin_suite_path()), read_prices()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(count):
            profile = PROFILES[k % len(PROFILES)]
            name = f"simulated:{profile}"
            component = registry.create(name, Options(seed=k, extra={"clock": "virtual"}))
            settings = RunConfig(
                RunOptions.of({None: name}, clock="virtual"), tuple(suite.scenarios), seed=k
            )
            out = Path(folder) / f"{profile}-{k}"
            record(suite, [Member(component)], settings, out)
            recording = read_recording(out, suite)
            cost = request_costs(recording, prices, list(suite.scenarios))
            found.append(answers_of(recording, suite, cost=cost))
    return found


if __name__ == "__main__":
    main()
