"""A component's own test in three lines: the pytest fixture `sdb` runs it and gives the score.

    def test_decider(sdb):
        score = sdb(Decider())
        assert score.in_force > 0.6

The component is an object, a class or a function of yours, or a name as `sdb run` takes it. It runs on
the virtual clock: every answer is timed, or takes as long as `latency` declares, and nothing waits.
`@pytest.mark.sdb(scenarios=["support_a"], interval=1.2)` sets what a call leaves out.

    def test_release(sdb):
        sdb.gate(Decider(), baseline="runs/old", max_drop=2)

A test that fails says in three lines what was measured, how much was lost to what, and where.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from streamdecisionbench.gate.verdict import Gate
    from streamdecisionbench.scoring.score import Score
    from streamdecisionbench.suite.scenario import Suite

_MARKER = (
    "sdb(scenarios=None, families=None, data=None, interval=2.0, seed=0, latency=None): what the"
    " fixture `sdb` runs a component on"
)
_OPTIONS = {"scenarios", "families", "data", "interval", "seed", "latency"}


class Bench:
    """Records components of one test into a folder of its own."""

    def __init__(self, folder: Path, defaults: dict[str, Any]) -> None:
        unknown = set(defaults) - _OPTIONS
        if unknown:
            raise ValueError(
                f"the marker sdb knows {', '.join(sorted(_OPTIONS))}, not {', '.join(unknown)}"
            )
        self._folder = folder
        self._defaults = defaults
        self.recordings: list[Path] = []
        """Folders of what was recorded, in order: `sdb score`, `gate` and `report` read them."""
        self.scores: list[Score] = []

    def __call__(
        self,
        component: Any,
        *,
        scenarios: Sequence[str] | None = None,
        families: Sequence[str] | None = None,
        data: str | Path | None = None,
        interval: float | None = None,
        seed: int | None = None,
        latency: str | float | None = None,
    ) -> Score:
        """Runs a component over the suite and scores it; options go before the marker's."""
        from streamdecisionbench.recording.reader import read_recording
        from streamdecisionbench.scoring.score import score
        from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

        given = {
            "scenarios": scenarios, "families": families, "data": data, "interval": interval,
            "seed": seed, "latency": latency,
        }  # fmt: skip
        chosen = {**self._defaults, **{k: v for k, v in given.items() if v is not None}}
        for what in ("scenarios", "families"):
            named = chosen.get(what)
            if named is not None and (isinstance(named, str) or not named):
                raise ValueError(
                    f"{what}={named!r} is no list of names: name some, or leave it out"
                )
        where = chosen.get("data")
        suite = read_suite(builtin_suite_path() if where is None else Path(where))
        out = self._folder / f"{len(self.recordings) + 1:02}"
        (_run_named if isinstance(component, str) else _run_object)(component, suite, chosen, out)
        self.recordings.append(out)
        recording = read_recording(out, suite)
        found = score(recording, suite, interval=float(chosen.get("interval", 2.0)))
        found = replace(found, name=str(recording.config.get("component", found.name)))
        self.scores.append(found)
        return found

    score = __call__

    def gate(
        self,
        component: Any,
        baseline: str | Path,
        *,
        max_drop: float = 1.0,
        minimum: float | None = None,
        allow_model_change: bool = False,
        strict: bool = False,
        **options: Any,
    ) -> Gate:
        """Runs a component and fails the test where `sdb gate` would, at the interval of the test."""
        from streamdecisionbench.analysis.bootstrap import Sampling
        from streamdecisionbench.gate.compare import compare
        from streamdecisionbench.gate.outputs import failure_lines
        from streamdecisionbench.gate.verdict import (
            FAIL,
            PASS,
            Limits,
        )

        interval = self(component, **options).interval
        where = options.get("data", self._defaults.get("data"))
        found = compare(
            self.recordings[-1],
            str(baseline),
            None if where is None else Path(where),
            interval=interval,
            limits=Limits(max_drop, minimum, allow_model_change),
            sampling=Sampling(),
        )
        if found.verdict == FAIL or (strict and found.verdict != PASS):
            __tracebackhide__ = True
            pytest.fail("\n".join(failure_lines(found)), pytrace=False)
        return found


def _run_named(component: str, suite: Suite, chosen: dict[str, Any], out: Path) -> None:
    """As `sdb run` would; a service that costs money is refused, since no test can be asked."""
    from streamdecisionbench.recording.run_options import RunOptions
    from streamdecisionbench.recording.run_request import launch

    data = chosen.get("data")
    launch(
        RunOptions.of(
            {None: component},
            out,
            data=None if data is None else Path(data),
            families=tuple(chosen.get("families") or ()),
            scenarios=tuple(chosen.get("scenarios") or ()),
            clock="virtual",
            latency=_latency(chosen),
            seed=int(chosen.get("seed", 0)),
        ),
        lambda estimates: False,
    )


def _run_object(component: Any, suite: Suite, chosen: dict[str, Any], out: Path) -> None:
    from streamdecisionbench.components.contract import Options
    from streamdecisionbench.components.local.python_class import PythonComponent
    from streamdecisionbench.recording.episode import Member
    from streamdecisionbench.recording.recorder import RunConfig, record
    from streamdecisionbench.recording.run_options import RunOptions
    from streamdecisionbench.recording.run_request import choose_scenarios, stated_latency

    seed = int(chosen.get("seed", 0))
    owner = component if hasattr(component, "__qualname__") else type(component)
    name = f"{owner.__module__}:{owner.__qualname__}"
    made = PythonComponent(name, Options(seed=seed), target=component)
    scenarios = choose_scenarios(
        suite, tuple(chosen.get("families") or ()), tuple(chosen.get("scenarios") or ())
    )
    settings = RunConfig(
        RunOptions.of({None: made.info.name}, clock="virtual", warmup=0),
        scenarios,
        latency=stated_latency(_latency(chosen), suite, scenarios),
        seed=seed,
    )
    record(suite, [Member(made)], settings, out)


def _latency(chosen: dict[str, Any]) -> str | None:
    declared = chosen.get("latency")
    return None if declared is None else str(declared)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """A failed assertion is followed by what was measured, in three lines."""
    outcome = yield
    bench = getattr(item, "funcargs", {}).get("sdb")
    error = outcome.excinfo[1] if outcome.excinfo else None
    if isinstance(bench, Bench) and bench.scores and isinstance(error, AssertionError):
        from streamdecisionbench.analysis.flips import score_lines

        for line in score_lines(bench.scores[-1]):
            error.add_note(line)


@pytest.fixture
def sdb(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Runs a component on the virtual clock and gives its score."""
    defaults: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("sdb"))):
        if mark.args:
            raise ValueError(
                f"the marker sdb takes names, not {', '.join(map(repr, mark.args))}: {_MARKER}"
            )
        defaults.update(mark.kwargs)
    return Bench(tmp_path_factory.mktemp("sdb"), defaults)
