"""How wrong spells in a world propagate: hand-made sessions, and a plain second definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.sdb_v1 import build
from streamdecisionbench.recording.event_log import Event, Expired, Release, Response, scan
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.suite.scenario import DecisionSpec, Scenario, Step
from streamdecisionbench.suite.suite_files import read_suite
from streamdecisionbench.worlds.generate import open_seeds
from streamdecisionbench.worlds.live_sessions import open_world
from streamdecisionbench.worlds.outcomes import (
    Spell,
    history_of,
    outcomes,
    propagation,
    wrong_spells,
)

TICK_S, STEPS, OPEN_FOR = 2.0, 10, 2
SHUT, OPEN, CALL = ({"door": name} for name in ("shut", "open", "call"))


class Door:
    """Somebody opens the door when the panel says so; it stays open for two ticks, in which it is right to
    call. Counted are openings, and seconds in which the panel says open."""

    def __init__(self) -> None:
        values: dict[str, tuple[str, ...]] = dict.fromkeys(("shut", "open", "call"), ())
        self.right: Any = Scenario(
            schema_version=1, episode_id="door", task_family="doors", scenario_id="door", title="",
            tick_seconds=TICK_S, questions={}, option_semantics={},
            decision_spec=DecisionSpec("door", (), values), steps=(),
        )  # fmt: skip
        self.t, self.now_s, self.left = 0, 0.0, 0
        self.panel: Mapping[str, str] = {}
        self.counted = {"openings": 0.0, "said_open_s": 0.0}

    def step(self) -> Step:
        state = {"t": self.t, "door": "open" if self.left else "shut"}
        return Step(t=self.t, state=state, gold=CALL if self.left else SHUT)

    def advance(self, until_s: float, held: Sequence[tuple[float, Any]]) -> None:
        for at, decision in [*held, (until_s, None)]:
            self.counted["said_open_s"] += (at - self.now_s) * (self.panel == OPEN)
            self.now_s = at
            if at < until_s or decision is not None:
                self.panel = decision or {}
        self.t, self.left = self.t + 1, max(self.left - 1, 0)
        if self.panel == OPEN:
            self.left = OPEN_FOR
            self.counted["openings"] += 1

    def outcomes(self) -> dict[str, float]:
        return dict(self.counted)


def played(*answers: tuple[int, float, Mapping[str, str]]) -> list[Spell]:
    """By answers to states (t, seconds after its release, what it says); others are right after 0.5 s."""
    said = {t: (at, what) for t, at, what in answers}
    door, carried = Door(), list[tuple[float, Mapping[str, str]]]()
    events: list[Event] = []
    for t in range(STEPS):
        now = t * TICK_S
        events.append(Release("door", t, now, now))
        after_s, what = said.get(t, (0.5, door.step().gold))
        at = now + after_s
        events.append(
            Response("door", t, now, "", True, True, now, at, dict(what), at, at, decision=dict(what))
        )  # fmt: skip
        carried.append((at, what))
        door.advance(now + TICK_S, carried)
        carried = []
    return wrong_spells("door", history_of(Door, TICK_S, events, None))


def test_a_spell_within_a_tick_has_no_consequence_but_its_own() -> None:
    """Nobody looked at the panel while it was wrong; and the first half second there was no decision."""
    first, *rest = played()
    assert (first.from_s, first.length_s, first.cause) == (0.0, 0.5, "latency")
    assert (first.departed_s, first.later_s, first.lasting) == (0.0, 0.0, False)
    assert not any(first.outcomes.values())
    assert rest == []


def test_a_wrong_tick_opens_the_door_and_all_that_follows_from_it() -> None:
    """Wrong from 6.5 to 8.5 s: at 8 s the door is opened, for two states of two seconds each. For
    somebody who is half a second late that is wrong twice more: when it opens, and when it is shut."""
    _, spell, closing = played((3, 0.5, OPEN))
    assert (spell.from_s, spell.length_s, spell.cause) == (6.5, 2.0, "judgment")
    assert spell.departed_s == 4.0
    assert spell.far == pytest.approx(2 / 3)
    assert not spell.lasting
    assert spell.outcomes == {"openings": 1.0, "said_open_s": 2.0}
    # What is in force at 8.5 s is right. Half a second after the door is shut at 12 s is not.
    assert spell.later_s == 0.5
    assert (closing.from_s, closing.length_s, closing.cause) == (12.0, 0.5, "latency")
    assert closing.departed_s == closing.later_s == 0.0


def test_what_still_differs_at_the_end_is_lasting() -> None:
    spell = played((8, 0.5, OPEN))[-1]
    assert (spell.length_s, spell.departed_s, spell.lasting) == (2.0, 2.0, True)
    assert spell.outcomes["openings"] == 1.0
    spell = played((9, 0.5, OPEN))[-1]
    assert (spell.length_s, spell.departed_s, spell.lasting) == (1.5, 0.0, False)


def test_an_answer_that_comes_with_the_next_tick_is_what_people_see() -> None:
    """In force for no time before the door is looked at, and yet it opens it."""
    spell = played((3, 2.0, OPEN))[-2]
    assert spell.from_s == 8.0
    assert spell.outcomes["openings"] == 1.0
    assert spell.departed_s == 4.0


@pytest.fixture(scope="module", params=["debugging", "presenter"])
def lived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    out = tmp_path_factory.mktemp("worlds") / "run"
    asked = RunOptions.of(
        {None: "simulated:luna-low"}, out, world=open_world(request.param, (1, 2)), clock="virtual"
    )
    launch(asked, lambda _: True)
    return read_recording(out, read_suite(out / "suite"))


def test_what_spells_did_adds_up_to_the_loss(lived: Recording) -> None:
    found, whole = propagation(lived), outcomes(lived)
    assert found.spells
    for name, one in whole.items():
        caused = sum(spell.outcomes[name] for spell in found.spells)
        assert caused == pytest.approx(one.run - one.oracle, abs=1e-9)
    assert sum(s.length_s for s in found.spells) == pytest.approx(found.wrong_s, abs=1e-9)
    assert found.wrong_departed_s <= min(found.wrong_s, found.departed_s) + 1e-9
    assert sum(len(some) for some in found.by().values()) == len(found.spells)
    assert found.to_json()["departed_s"] == found.departed_s


def test_a_plain_second_definition_says_the_same(lived: Recording) -> None:
    assert lived.path is not None
    events = list(scan(lived.path / "events.jsonl").events)
    world = lived.config["world"]
    expected = []
    for session in open_seeds(world["name"], world["seeds"]):
        own = [e for e in events if e.episode_id == session.right.episode_id]
        expected += list(plain_spells(session, own))
    found = propagation(lived).spells
    assert len(found) == len(expected)
    for spell, (begin, end, departed, lasting, later) in zip(found, expected, strict=True):
        assert spell.from_s == pytest.approx(begin, abs=1e-12)
        assert spell.length_s == pytest.approx(end - begin, abs=1e-12)
        assert spell.departed_s == pytest.approx(departed, abs=1e-9)
        assert spell.lasting == lasting
        assert spell.later_s == pytest.approx(later, abs=1e-9)


def plain_spells(session: Any, events: list[Event]) -> Iterator[tuple[Any, ...]]:
    """By instants alone: every stretch between two events is looked up, whatever piece it belongs to."""
    arrivals = [
        (e.actual_recorded_s, e.decision, e.t)
        for e in events
        if isinstance(e, Response) and e.accepted
    ]
    assert not any(isinstance(e, Expired) for e in events)
    n = session.right.n
    ticks = [t * TICK_S for t in range(n + 1)]
    instants = sorted({*ticks, *(at for at, _, _ in arrivals if at < ticks[-1])})
    stretches = list(pairwise(instants))

    def live(who: Any) -> tuple[list[Any], list[tuple[float, float]]]:
        """`who(a)` is "run", "right" or "late" from the instant a on: states, and wrong stretches."""
        world, known, states = session.again(), [], []
        wrong: list[tuple[float, float]] = []
        for t in range(n):
            known.append(world.reference())
            states.append(world.state())
            held = []
            for a, b in stretches:
                if not ticks[t] <= a < ticks[t + 1]:
                    continue
                in_force = [(said, of) for at, said, of in arrivals if at <= a]
                now: Any = None
                if who(a) == "right":
                    now = known[t]
                elif in_force:
                    now = in_force[-1][0] if who(a) == "run" else known[in_force[-1][1]]
                held.append((a, now))
                if now != known[t]:
                    wrong.append((a, b))
            world.advance(ticks[t + 1], held)
        return states, wrong

    _, wrong = live(lambda a: "run")
    spells: list[tuple[float, float]] = []
    for a, b in wrong:
        spells = [*spells[:-1], (spells[-1][0], b)] if spells and spells[-1][1] == a else [*spells, (a, b)]  # fmt: skip
    for begin, end in spells:
        without, _ = live(lambda a, begin=begin: "run" if a < begin else "right")
        within, _ = live(lambda a, end=end: "run" if a < end else "right")
        departs = [x != y for x, y in zip(without, within, strict=True)]
        _, mended = live(
            lambda a, begin=begin, end=end: "run" if a < begin else "right" if a < end else "late"
        )
        _, left = live(lambda a, end=end: "run" if a < end else "late")
        later = [sum(b - a for a, b in one if a >= end) for one in (left, mended)]
        yield begin, end, TICK_S * sum(departs), departs[-1], later[0] - later[1]


def test_a_recording_on_a_suite_has_no_twin(tmp_path: Path) -> None:
    launch(
        RunOptions.of({None: "baseline:constant"}, tmp_path / "run", clock="virtual"),
        lambda _: True,
    )
    with pytest.raises(InputError, match="not recorded in a world"):
        propagation(read_recording(tmp_path / "run", build()))
