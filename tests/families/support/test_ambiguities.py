"""What readers once could read two ways: the text settles it, and the two readings differ here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamdecisionbench.families.support import reference as module
from streamdecisionbench.families.support.misreadings import MISREADINGS
from streamdecisionbench.families.support.payment_call.setting import INITIAL
from streamdecisionbench.families.support.reference import reference
from streamdecisionbench.families.support.rules import (
    INTENT_RULE,
    INTERCOM_FREE_RULES,
    INTERCOM_RULES,
    PAYMENT_FREE_RULES,
    PAYMENT_RULES,
)
from streamdecisionbench.suite.misreading import misread
from tests.families.support import test_payment_call as listed

pytestmark = pytest.mark.slow

C, A, B = "customer", "agent", "background"
Line = tuple[int, str, bool, str]


def free(now: int, *lines: Line, **payment: Any) -> dict[str, Any]:
    """The payment call in people's own words, with these utterances and fields of the payment."""
    state = json.loads(json.dumps(INITIAL))
    state["clock"]["now"] = now
    state["telephony"]["menu_choice"] = "payment"
    state["transcript"] = [
        {"id": f"x{i}", "at": at, "speaker": who, "final": final, "text": text}
        for i, (at, who, final, text) in enumerate(lines)
    ]
    state["payment"].update(payment)
    return dict(state)


def otherwise(rule: str, what: str, state: dict[str, Any]) -> dict[str, str]:
    """The answers of somebody who takes the other reading."""
    (found,) = [m for m in MISREADINGS if (m.rule, m.what) == (rule, what)]
    return misread(module, found)(state)


HOUSEHOLD: Line = (3, C, True, "Let's stick with the household card.")
COMPANY_LATE: Line = (9, C, True, "You can use the company card.")


@pytest.mark.parametrize(
    ("lines", "card"),
    [
        ((HOUSEHOLD,), "household"),
        ((HOUSEHOLD, COMPANY_LATE), "company"),
        ((COMPANY_LATE,), "company"),
        ((HOUSEHOLD, COMPANY_LATE, (13, C, True, "Make that the household card.")), "household"),
    ],
)
def test_a_new_draft_resets_left_draft_at_and_every_choice_counts(
    lines: tuple[Line, ...], card: str
) -> None:
    """A12: left at 8, drafted again at 12; a choice at 9 was too late then and counts now."""
    again = free(14, *lines, status="draft", draft_since=12, left_draft_at=None, amount_since=12)
    assert reference(again)["instrument"] == card
    early = [line for line in lines if line[0] < 12]
    if early == list(lines):
        other = otherwise("A12_card", "forgets cards chosen before a new draft", again)
        assert other["instrument"] == "unknown"
    before = free(10, *early, status="declined", left_draft_at=8)
    assert reference(before)["instrument"] == ("household" if HOUSEHOLD in lines else "unknown")
    for law in (PAYMENT_RULES, PAYMENT_FREE_RULES):
        assert "A new draft sets it back to null." in law["A12_card"]
        assert "every choice made so far in the call counts" in law["A12_card"]


@pytest.mark.parametrize(
    ("text", "recorder"),
    [
        ("Read me the long number... no, stop there with the card.", "record"),
        ("Stop there with the card; give me the long number of the other.", "pause"),
    ],
)
def test_stop_and_request_in_one_listed_utterance(text: str, recorder: str) -> None:
    """A15 goes by what the utterance counts as, and A03 says what that is."""
    state = listed.call(9, (4, A, True, text))
    assert reference(state)["recorder"] == recorder
    assert (
        otherwise("A03_phrases", "takes the phrase standing first", state)["recorder"] != recorder
    )
    assert "counts as capture_request or capture_stop (A03)" in PAYMENT_RULES["A15_capture"]
    assert "only the one standing last in it counts" in PAYMENT_RULES["A03_phrases"]


@pytest.mark.parametrize(
    ("text", "recorder"),
    [
        ("Please read me the card number... no, sorry, put the card away.", "record"),
        ("Stop there, no, sorry, please go on with the card digits.", "pause"),
    ],
)
def test_stop_and_request_in_one_breath(text: str, recorder: str) -> None:
    state = free(9, (4, A, True, text))
    assert reference(state)["recorder"] == recorder
    other = otherwise("A03_intents", "keeps to what was said before the correction", state)
    assert other["recorder"] != recorder
    assert "only what he ends on counts" in INTENT_RULE


@pytest.mark.parametrize(
    ("text", "recorder"),
    [
        ("so the 46.20 is", "pause"),
        ("so the 4620 is", "pause"),
        ("so the 46.2 is", "record"),
        ("so the 46 pounds 20 is", "record"),
        ("so the 46, 2, oh is", "pause"),
    ],
)
def test_figures_after_a_point_belong_to_the_row(text: str, recorder: str) -> None:
    """A16: 46.20 is four digits, one number or two."""
    state = free(9, (9, A, False, text))
    assert reference(state)["recorder"] == recorder
    if recorder == "pause":
        other = otherwise("A16_live_digits", "does not count figures", state)
        assert other["recorder"] == "record"
    assert "those after a point included" in PAYMENT_FREE_RULES["A16_live_digits"]


@pytest.mark.parametrize(
    "text",
    [
        "My husband says you can take it.",
        "Yesterday I told your colleague to go ahead.",
        "I haven't said yes or no yet.",
        "If the fee goes away, you can take it.",
    ],
)
def test_reported_negated_and_conditional_speech_is_not_the_real_thing(text: str) -> None:
    state = free(9, (4, C, True, text), HOUSEHOLD)
    assert reference(state)["payment_stage"] == "ask_consent"
    if "haven't" not in text:
        what = "takes conditions, questions and reports for a consent"
        assert otherwise("A03_intents", what, state)["payment_stage"] == "collect"


def test_last_means_the_order_of_finals_not_of_beginnings() -> None:
    began_first: Line = (7, C, True, "My internet has stopped working.")
    state = free(9, began_first, (5, C, True, "Let's finish paying, shall we?"))
    assert reference(state)["route"] == "service"
    what = "orders utterances by when they began"
    assert otherwise("A02_transcript", what, state)["route"] == "payment"
    assert "not the order in which they began" in PAYMENT_FREE_RULES["A02_transcript"]
    assert "not in the order in which they began" in INTERCOM_FREE_RULES["B02_transcript"]


@pytest.mark.parametrize("since", [4, 5])
def test_a_new_draft_needs_a_new_consent(since: int) -> None:
    state = free(9, (4, C, True, "Agreed, you can have it."), HOUSEHOLD, amount_since=since)
    assert reference(state)["payment_stage"] == ("collect" if since == 4 else "ask_consent")
    assert "a new draft set anew" in PAYMENT_RULES["A11_consent"]


def test_both_wordings_say_the_same_where_speech_is_not_read() -> None:
    for one, other in ((PAYMENT_RULES, PAYMENT_FREE_RULES), (INTERCOM_RULES, INTERCOM_FREE_RULES)):
        differ = {rule for rule in set(one) | set(other) if one.get(rule) != other.get(rule)}
        assert {rule[:3] for rule in differ} <= {"A03", "A15", "B03", "B05", "B14"}
