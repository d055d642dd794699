"""Generated calls: phrases that do not hold each other, limits that vary, the ends of the ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from streamdecisionbench.families.support import reference
from streamdecisionbench.families.support.misreadings import MISREADINGS
from streamdecisionbench.suite.misreading import misread
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.worlds.generate import generate
from streamdecisionbench.worlds.generation.compose import compose
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Seat,
)
from streamdecisionbench.worlds.generation.parameters import (
    CHANGES_TOLERANCE,
    NOISE_TOLERANCE,
    Parameters,
)
from streamdecisionbench.worlds.generation.world import Kind
from streamdecisionbench.worlds.support import (
    KINDS,
    phrases,
)
from streamdecisionbench.worlds.support.phrases import Phrase
from streamdecisionbench.worlds.support.voice import plain

pytestmark = pytest.mark.slow

FAMILY = "support_call_assist"
NAMED = {"delivery", "cancel", "correct"}
SHOWN = {
    "too late": {
        "starts a declined payment again",
        "takes a card chosen at the tick the draft was left",
        "opens capture by a request of an earlier draft",
    },
    "the long number": {"closes capture during a hold"},
    "stopped": {"closes capture when the subject changes"},
    "digits in figures": {"does not count figures"},
    "unclear": {"has no regard for what the remote check finds"},
    "a technician's part": {"sends a part the customer cannot fit"},
}
"""Misreadings that no other situation is sure to show."""


def spoken_names(pool: str) -> list[str]:
    if pool == "card":
        return [card for pair in phrases.CARDS.items for card in pair]
    if pool in NAMED:
        return [name for _, name, *_ in phrases.PARCELS.items]
    return [name for _, name, *_ in phrases.DEVICES.items] if pool == "repair" else [""]


def every_phrase() -> Iterator[tuple[str, Phrase]]:
    for key, pool in phrases.POOLS.items():
        for phrase in pool.items:
            for name in spoken_names(key):
                yield key, phrase.about(name)


def holds(text: str, words: str) -> bool:
    return f" {plain(words)} " in f" {plain(text)} "


def test_every_sentence_holds_its_phrase_and_no_other() -> None:
    known = list(every_phrase())
    groups = (*phrases.TALK.values(), *phrases.SLIPS.values(), *phrases.LEAVE.values())
    harmless = [t for group in groups for t in group]
    for key, phrase in known:
        for sentence in (*phrase.sentences, phrase.by_others):
            assert holds(sentence, phrase.words), sentence
            found = {(k, p.words) for k, p in known if holds(sentence, p.words)}
            assert found == {(key, phrase.words)}, sentence
        assert not [text for text in harmless if holds(text, phrase.words)]
    script = [text for group in (*phrases.LINES.values(), phrases.NUMBER) for text in group]
    for phrase in (*phrases.POOLS["request"].items, *phrases.POOLS["stop"].items):
        assert not [text for text in script if holds(text, phrase.words)]


def test_limits_names_and_phrases_are_drawn_for_every_call(
    generated: Callable[[str], Suite],
) -> None:
    first: list[dict[str, Any]] = [scenario.steps[0].state for scenario in generated(FAMILY)]
    payments = [state for state in first if "payment" in state]
    intercoms = [state for state in first if "parcels" in state]
    assert len(payments) == len(intercoms) == 5
    for group, drawn in (
        (payments, lambda s: s["policy"]["phrases"]["consent"]),
        (payments, lambda s: s["policy"]["hold_check_ticks"]),
        (payments, lambda s: s["account"]["card_names"]),
        (intercoms, lambda s: s["policy"]["requests"]),
        (intercoms, lambda s: s["policy"]["hold_limit_ticks"]),
        (intercoms, lambda s: sorted(s["devices"])),
    ):
        assert len({str(drawn(state)) for state in group}) > 1


@pytest.mark.parametrize(
    ("steps", "changes", "noise"), [(72, 24, 0.8), (60, 22, 0.0), (30, 9, 0.3)]
)
def test_short_long_quiet_and_loud_calls(steps: int, changes: int, noise: float) -> None:
    wanted = Parameters(
        seed=4, families=(FAMILY,), per_family=2, steps=steps, changes=changes, noise=noise
    )
    for scenario in generate(wanted):
        assert scenario.n == steps
        assert abs(len(scenario.changes()) - changes) <= CHANGES_TOLERANCE
        noisy = [
            any(note.startswith(("trap", "distractor")) for note in step.evidence)
            for step in scenario.steps
        ]
        assert abs(sum(noisy) / steps - noise) <= NOISE_TOLERANCE + 1e-9


@pytest.mark.parametrize("situation", SHOWN)
def test_a_call_that_is_dealt_a_situation_shows_what_it_is_for(situation: str) -> None:
    kind: Kind[Any] = next(k for k in KINDS if situation in {s.name for s in k.situations})
    draws = Draws("dealt", situation)
    seat = Seat("eval", "listed", 0, draws.fork("suite"), agenda=(situation,))
    wanted = Parameters(seed=1, families=(FAMILY,), steps=40, changes=15)
    call = compose(kind, "call", wanted, seat, draws).right
    decision = call.decision_spec.compose
    for misreading in (m for m in MISREADINGS if m.what in SHOWN[situation]):
        wrong = misread(reference, misreading)
        assert any(decision(wrong(s.state)) != decision(s.gold) for s in call.steps), misreading
