"""Calls in people's own words: what counts, what only sounds like it, and generated suites of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.coverage import coverage
from streamdecisionbench.families.support.bank import INTENTS, bank
from streamdecisionbench.families.support.reference import reference
from streamdecisionbench.families.support.rules import (
    INTERCOM_FREE_RULES,
    INTERCOM_INTENTS,
    PAYMENT_FREE_RULES,
    PAYMENT_INTENTS,
)
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.sentence_bank import words_of
from streamdecisionbench.worlds.generate import generate
from streamdecisionbench.worlds.generation.draws import SPLITS
from streamdecisionbench.worlds.generation.parameters import Parameters
from tests.families.bounds import keeps_its_bounds
from tests.families.cases import Case, holds
from tests.families.support import test_intercom_call as intercom
from tests.families.support import test_payment_call as payment

pytestmark = pytest.mark.slow

C, A, B = "customer", "agent", "background"
FAMILY = "support_call_assist"
CASES: list[Case] = []


def case(name: str, state: dict[str, Any], expected: Mapping[str, str]) -> None:
    """The same call under the free law."""
    free = "payment" in state
    names = state["policy"].get("names")
    state["rules"] = PAYMENT_FREE_RULES if free else INTERCOM_FREE_RULES
    kept = {k: v for k, v in state["policy"].items() if isinstance(v, int)}
    intents = PAYMENT_INTENTS if free else INTERCOM_INTENTS
    state["policy"] = {**kept, "intents": intents, **({"names": names} if names else {})}
    rule = "A03_intents" if free else "B03_intents"
    CASES.append(Case(f"free: {name}", state, expected, (rule,)))


def said(*lines: tuple[int, str, bool, str]) -> dict[str, Any]:
    return payment.call(9, *lines)


def asked(*lines: tuple[int, str, bool, str]) -> dict[str, Any]:
    return intercom.call(9, *lines)


# fmt: off
YES = (2, C, True, "I agree, go ahead.")
case("nothing said", said(), {"payment_stage": "ask_consent", "instrument": "unknown", "recorder": "record"})
case("own words agree", said(YES), {"payment_stage": "choose_card"})
case("a condition", said((2, C, True, "If the fee goes away, you can take it.")), {"payment_stage": "ask_consent"})
case("a report", said((2, C, True, "My husband says you can take it.")), {"payment_stage": "ask_consent"})
case("a question", said((2, C, True, "Do you keep my consent on file?")), {"payment_stage": "ask_consent"})
case("a later refusal", said(YES, (3, C, True, "I withdraw my consent.")), {"payment_stage": "ask_consent"})
case("agreed after all", said((3, C, True, "Don't charge me... oh well, yes, do take it.")), {"payment_stage": "choose_card"})
case("not final", said((2, C, False, "i agree go ahead")), {"payment_stage": "ask_consent"})
case("from the background", said((2, B, True, "I agree, go ahead.")), {"payment_stage": "ask_consent"})
case("a card", said(YES, (3, C, True, "The company card it is.")), {"payment_stage": "collect", "instrument": "company"})
case("another card", said(YES, (3, C, True, "The company card, no, sorry, the household card.")), {"instrument": "household"})
case("the line", said((1, C, True, "My internet has stopped working.")), {"route": "service", "service_target": "connection"})
case("the router", said((1, C, True, "Next up, the router.")), {"service_target": "router"})
case("back to paying", said((1, C, True, "Next up, the router."), (2, C, True, "Back to paying, please.")), {"route": "payment"})
case("capture", said((4, A, True, "The card number, please.")), {"recorder": "pause"})
case("capture stopped", said((4, A, True, "The card number, please."), (5, A, True, "Enough of the card, thank you.")), {"recorder": "record"})
case("capture by a customer", said((4, B, True, "The card number, please.")), {"recorder": "record"})
case("the keypad", asked((2, C, True, "When can I expect the keypad?")), {"route": "delivery", "delivery_target": "keypad"})
case("cancelled", asked((2, C, True, "Kindly cancel that keypad.")), {"route": "cancel", "delivery_target": "keypad"})
case("broken", asked((2, C, True, "My hall screen is broken.")), {"route": "repair", "repair_target": "hall_screen"})
case("corrected", asked((2, C, True, "My mistake, the keypad.")), {"route": "delivery", "delivery_target": "keypad"})
case("corrected to what does not fit", asked((2, C, True, "My mistake, the hall screen.")), {"delivery_target": "doorplate"})
case("a reported cancellation", asked((2, C, True, "My wife says I should cancel the keypad.")), {"route": "delivery", "delivery_target": "doorplate"})
case("in one breath", asked((2, C, True, "Where is the door plate... no, sorry, the keypad?")), {"delivery_target": "keypad"})
case("by email", asked((2, C, True, "An email would suit me best.")), {"contact_channel": "email"})
case("by phone", asked((2, C, True, "By email, please, or rather by phone.")), {"contact_channel": "phone"})
case("a conditional channel", asked((2, C, True, "I would like an email if I had an address.")), {"contact_channel": "none"})
text = intercom.call(9, (2, C, True, "Drop me a text, please."), permission_log=intercom.permissions(("sms", "given", C)))
case("by text", text, {"contact_channel": "sms"})
# fmt: on


@pytest.mark.parametrize("one", CASES, ids=lambda c: c.name)
def test_own_words(one: Case) -> None:
    assert holds(one, reference), reference(one.state)


def test_a_sentence_the_bank_does_not_know_is_refused() -> None:
    state = CASES[0].state | {
        "transcript": [{"id": "x", "at": 1, "speaker": C, "final": True, "text": "Whatever."}]
    }
    with pytest.raises(InputError, match=r"no sentence 'Whatever\.'"):
        reference(state)


@pytest.fixture(scope="module")
def free() -> Suite:
    return generate(Parameters(seed=1, families=(FAMILY,), wording="free"))


def test_a_free_suite_keeps_every_bound(free: Suite, tmp_path: Any) -> None:
    keeps_its_bounds(free, tmp_path / "suite", "free")
    for scenario in free:
        policy = scenario.steps[0].state["policy"]
        assert "intents" in policy
        assert not {"phrases", "requests", "corrections", "preferences"} & set(policy)


def test_a_free_suite_shows_every_rule_option_and_misreading(free: Suite) -> None:
    (found,) = coverage(free).values()
    assert {"A03_intents", "B03_intents"} <= set(found.rules)
    assert not {"A03_phrases", "B03_wordings"} & set(found.rules)
    assert found.undecided() == []
    assert found.unanswered() == []
    assert [(m.rule, m.what) for m in found.unnoticed()] == []


def spoken(suite: Suite, speaker: str) -> set[tuple[str, ...]]:
    """Final sentences without the names in them."""
    found = set()
    for scenario in suite:
        state = scenario.steps[-1].state
        names = [*state["policy"].get("names", {}).values()] or state["account"]["card_names"]
        for line in state["transcript"]:
            if line["speaker"] == speaker and line["final"]:
                text = line["text"].lower()
                for name in sorted(names, key=len, reverse=True):
                    text = text.replace(name, "it")
                found.add(words_of(text))
    return found


def test_train_and_eval_share_no_sentence_that_counts(free: Suite) -> None:
    train = generate(Parameters(seed=1, families=(FAMILY,), wording="free", split=SPLITS[1]))
    talk = {words_of(s.text) for s in bank().sentences if s.manner == "talk"}
    shared = (spoken(free, C) & spoken(train, C)) - talk
    assert not shared
    assert INTENTS
