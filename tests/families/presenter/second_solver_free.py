"""The second solver of the presenter family for free wording: from the published rules alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from tests.families.presenter.second_solver import Reading, answers_by

Meaning = tuple[str, int]
Table = dict[tuple[str, str], Meaning]

# In the rows of the bank these words stand for any number word of a deck.
STAND_INS = ("four", "nine")


def unmarked(text: str) -> str:
    """Rule intents, "without its marks": the words alone, capitals aside, apostrophes kept."""
    return " ".join(re.findall(r"[\w']+", text.replace("\u2019", "'").casefold()))


def with_numbers(text: str, name: str, said: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Every wording of a bank sentence with the deck's numbers, and the slide that is meant."""
    words = unmarked(text).split()
    standing = [word for word in STAND_INS if word in words]
    for slides in product(range(len(said)), repeat=len(standing)):
        slide_of = dict(zip(standing, slides, strict=True))
        filled = [said[slide_of[word]] if word in slide_of else word for word in words]
        yield " ".join(filled), slide_of.get(name, -1)


def table_for_deck(
    readings: Mapping[str, str], rows: Sequence[Mapping[str, str]], said: tuple[str, ...]
) -> Table:
    """What each speaker's sentences mean in a session whose deck has these number words."""
    table: Table = {}
    for row in rows:
        intent, _, name = readings[row["id"]].partition(" ")
        for wording, slide in with_numbers(row["text"], name, said):
            key = (row["speaker"], wording)
            if table.setdefault(key, (intent, slide)) != (intent, slide):
                raise ValueError(f"two readings of {key}")
    return table


def reading_by_table(table: Table, intents: Mapping[str, Mapping[str, str]]) -> Reading:
    """Rules intents and authority: a whole sentence means what the table says, on its channel.

    A closing "please" may be missing, as in provisional text that is about to end with it: the
    request is complete without. What the table does not know, a beginning above all, has none.
    """

    def read(channel: str, sentence: str) -> dict[str, int]:
        words = unmarked(sentence)
        found = table.get((channel, words)) or table.get((channel, f"{words} please"))
        if found is None or found[0] not in intents.get(channel, {}):
            return {}
        return {found[0]: found[1]}

    return read


def solver(
    readings: Mapping[str, str], sentences: Sequence[Mapping[str, str]]
) -> Callable[[dict[str, Any]], dict[str, str]]:
    """The answers to any state with free wording, its sentences read as `readings` says."""

    @cache
    def table_of(said: tuple[str, ...]) -> Table:
        return table_for_deck(readings, sentences, said)

    def answers(state: dict[str, Any]) -> dict[str, str]:
        prepared = state["prepared"]
        table = table_of(tuple(unmarked(slide["said"]) for slide in prepared["deck"]))
        return answers_by(state, reading_by_table(table, prepared["intents"]))

    return answers
