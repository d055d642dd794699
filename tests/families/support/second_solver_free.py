"""The second solver of the support family for calls in people's own words, from the rules alone.

What a sentence means comes from a reader's table. A call is put into listed form, every final
utterance becoming the wording of its intent, and the solver for listed phrases decides the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from tests.families.support.second_solver import State, Utterance, fits, words_of
from tests.families.support.second_solver import answers as listed_answers

# The names that stand for any name of a call in the sentences of the table.
STAND_INS = {
    "payment": ("travel", "company"),
    "intercom": ("keypad", "door plate", "gate unit", "hall screen"),
}
REQUESTS = ("delivery", "cancel", "repair")
CHANNELS = ("email", "sms", "phone")

Pattern = tuple[str, str, str]  # session, speaker, words with slots for the names
Meaning = tuple[str, int | None]  # intent, slot of the name it is about
Table = dict[Pattern, Meaning]


# Sentences and the names in them.


def words_with_slots(text: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """The words alone, slots in place of the names, and the names in the order of their slots."""
    order: list[str] = []

    def slot_of_name(found: re.Match[str]) -> str:
        """The same slot for the same name, numbered by first appearance."""
        if found.group() not in order:
            order.append(found.group())
        return f"slot{order.index(found.group())}"

    marked = text.casefold()
    if names:
        longest_first = sorted((name.casefold() for name in names), key=len, reverse=True)
        either = "|".join(re.escape(name) for name in longest_first)
        marked = re.sub(rf"(?<!\w)(?:{either})(?!\w)", slot_of_name, marked)
    return " ".join(words_of(re.sub(r"\ban (?=slot)", "a ", marked))), order


def meaning_of_reading(reading: str, order: Sequence[str]) -> Meaning:
    """A reading such as `card travel` as intent and slot; without a name the slot is None."""
    intent, _, name = reading.strip().partition(" ")
    return intent, order.index(name.casefold()) if name else None


def table_of_meanings(readings: Mapping[str, str], sentences: Sequence[Mapping[str, str]]) -> Table:
    """Every sentence's meaning by session, speaker and words; two meanings for one are refused."""
    table: Table = {}
    for row in sentences:
        words, order = words_with_slots(row["text"], STAND_INS[row["session"]])
        pattern = (row["session"], row["speaker"], words)
        meaning = meaning_of_reading(readings[row["id"]], order)
        if table.setdefault(pattern, meaning) != meaning:
            raise ValueError(f"two readings of one sentence: {row['text']}")
    return table


# The call at hand.


def session_of(state: State) -> str:
    """The kind of call: only the payment call has telephony."""
    return "payment" if "telephony" in state else "intercom"


def cards_of(state: State) -> list[str]:
    """The customer's cards."""
    return [str(card) for card in state["account"]["card_names"]]


def items_by_name(state: State) -> dict[str, str]:
    """What the names people use in this call stand for: the two cards, or parcels and devices."""
    if session_of(state) == "payment":
        return {card.replace("_", " ").casefold(): card for card in cards_of(state)}
    return {str(name).casefold(): str(item) for item, name in state["policy"]["names"].items()}


def choices_of_names(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All names first, then fewer: a word that is a name elsewhere may be an ordinary word here."""
    for size in range(len(names), -1, -1):
        yield from combinations(names, size)


def intent_heard(state: State, utterance: Utterance, table: Table) -> str | None:
    """A03 and B03: the utterance's intent with its item; None where the table has none for it."""
    items = items_by_name(state)
    for names in choices_of_names(list(items)):
        words, order = words_with_slots(utterance["text"], names)
        meaning = table.get((session_of(state), utterance["speaker"], words))
        if meaning is not None:
            intent, slot = meaning
            if intent == "none":
                return None
            return intent if slot is None else f"{intent} {items[order[slot]]}"
    return None


# The call in listed form.


def wording_of(intent: str) -> str:
    """A wording for the intent that holds no other intent's wording."""
    return f"begin {intent} end"


def utterance_in_listed_form(state: State, utterance: Utterance, table: Table) -> Utterance:
    """A final says its intent's wording or nothing; a partial stays, as its digits may count."""
    if not utterance["final"]:
        return utterance
    intent = intent_heard(state, utterance, table)
    return {**utterance, "text": "" if intent is None else wording_of(intent)}


def payment_policy_in_listed_form(state: State) -> dict[str, object]:
    """A03: one phrase for every intent, for the card intent one for every card."""
    by_speaker = state["policy"]["intents"].values()
    intents = [str(intent) for group in by_speaker for intent in group if intent != "card"]
    phrases = {intent: [wording_of(intent)] for intent in intents}
    phrases |= {f"card_{card}": [wording_of(f"card {card}")] for card in cards_of(state)}
    return {**state["policy"], "phrases": phrases}


def intercom_policy_in_listed_form(state: State) -> dict[str, object]:
    """B05: requests only for items that fit, parcels or devices; corrections for every item."""
    items = [str(item) for item in state["policy"]["names"]]
    return {
        **state["policy"],
        "requests": {
            kind: {
                item: [wording_of(f"{kind} {item}")] for item in items if fits(state, kind, item)
            }
            for kind in REQUESTS
        },
        "corrections": ["begin correction"],
        "names": {item: f"{item} end" for item in items},
        "preferences": {channel: [wording_of(channel)] for channel in CHANNELS},
    }


def state_in_listed_form(state: State, table: Table) -> State:
    """The same state with listed phrases for policy and finals; all else stays as it is."""
    if session_of(state) == "payment":
        policy = payment_policy_in_listed_form(state)
    else:
        policy = intercom_policy_in_listed_form(state)
    transcript = [utterance_in_listed_form(state, said, table) for said in state["transcript"]]
    return {**state, "policy": policy, "transcript": transcript}


def solver(
    readings: Mapping[str, str], sentences: Sequence[Mapping[str, str]]
) -> Callable[[State], dict[str, str]]:
    """The function that answers every question of a state, sentences meaning what is read."""
    table = table_of_meanings(readings, sentences)

    def answers(state: State) -> dict[str, str]:
        """Every question's value."""
        return listed_answers(state_in_listed_form(state, table))

    return answers
