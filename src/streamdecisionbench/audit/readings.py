"""Whether the sentences of a bank mean what it says: blind readings, and what they come to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.file_io import (
    make_folder,
    read_json_as,
    require_empty,
    write_text,
)
from streamdecisionbench.suite.sentence_bank import NONE, Bank, Intents, Sentence

SCHEMA = "sdb-bank-readings/1"
_READERS = 2

_READ_ME = """\
# Blind reading of a bank of sentences

`sentences.json` holds {n} sentences in no order, each with the kind of session it is said in and its
speaker. Read every one by itself, as all its speaker says in one go. Say which intent it has, by the
rule and the definitions below and nothing else, or `none`. Where an intent is followed by NAME, add the
name the sentence is about: `{example}`. Write the answers into a copy of `answers.template.json`,
with a name for yourself under `reader`.

Nobody has to agree with anybody: where a sentence could be read in two ways, write the one you think
likelier and put its id into `doubts` with the other.
"""


class SentenceReading(msgspec.Struct, frozen=True):
    """One reader's answers: sentence id → intent, with the name where it has one."""

    reader: str
    answers: dict[str, str]
    doubts: dict[str, str] = {}


class Record(msgspec.Struct, frozen=True):
    """The readings of a bank as they were made, and what became of the sentences in dispute."""

    schema: str
    family: str
    readings: list[SentenceReading]
    resolved: dict[str, str] = {}
    """Id of a sentence on which the readers differed → the reason why it stays."""
    dropped: dict[str, str] = {}
    """Text of a sentence that was dropped → the reason."""


@dataclass(frozen=True, slots=True)
class Compared:
    """How readings and bank go together."""

    sentences: int
    agreed: int
    """Sentences that every reading takes for what the bank says."""
    by_reader: dict[str, int]
    groups: dict[tuple[str, str, str], tuple[int, int]]
    """(setting, speaker, intent) → sentences, of which agreed."""
    disputes: tuple[tuple[Sentence, str, dict[str, str]], ...]
    """Sentence, the bank's meaning, each reader's."""
    unread: tuple[str, ...]
    """Ids without an answer from every reader."""


def export_bank(bank: Bank, intents: Mapping[str, Intents], folder: str | Path) -> Path:
    """Writes what a reader may see into a fresh folder: sentences, rule, definitions, a sheet."""
    folder = Path(folder)
    require_empty(folder)
    make_folder(folder)
    shown = shown_sentences(bank, intents)
    sheet = {"reader": "", "answers": dict.fromkeys((s["id"] for s in shown), ""), "doubts": {}}
    write_text(
        folder / "README.md",
        _READ_ME.format(n=len(shown), example=_example(intents)) + _definitions(intents),
    )
    write_text(folder / "sentences.json", _lines(shown))
    write_text(folder / "answers.template.json", json.dumps(sheet, indent=1) + "\n")
    return folder


def shown_sentences(
    bank: Bank, intents: Mapping[str, Intents], *, every: bool = False
) -> list[dict[str, str]]:
    """The sentences as a reader sees them: filled with names, in no order (ids are digests).

    With `every`, a sentence about a thing comes with each of the bank's words for it, under one id.
    """
    return [
        {"id": s.id, "session": s.setting, "speaker": s.speaker, "text": text}
        for s in sorted(bank.sentences, key=lambda s: s.id)
        for text in _shown(s, bank, intents, every=every)
    ]


def expected(sentence: Sentence, intents: Mapping[str, Intents]) -> str:
    """The answer that agrees with the bank, for the names the export shows.

    >>> rules = Intents("", {"customer": {"card": ""}}, {"card": ("travel", "club")})
    >>> expected(Sentence("", "payment", "customer", "card", "plain", "My {name} card."),
    ...          {"payment": rules})
    'card travel'
    """
    names = intents[sentence.setting].named.get(sentence.intent)
    return f"{sentence.intent} {names[0]}" if names else sentence.intent


def compare(
    bank: Bank, intents: Mapping[str, Intents], readings: Sequence[SentenceReading]
) -> Compared:
    """Every sentence against every reading."""
    by_reader: Counter[str] = Counter({r.reader: 0 for r in readings})
    sizes: Counter[tuple[str, str, str]] = Counter()
    agreed: Counter[tuple[str, str, str]] = Counter()
    disputes, unread = [], []
    for sentence in bank.sentences:
        group = (sentence.setting, sentence.speaker, sentence.intent)
        sizes[group] += 1
        right = expected(sentence, intents)
        answers = {r.reader: _plain(r.answers.get(sentence.id, "")) for r in readings}
        by_reader.update(reader for reader, answer in answers.items() if answer == right)
        if not all(answers.values()):
            unread.append(sentence.id)
        elif set(answers.values()) == {right}:
            agreed[group] += 1
        else:
            disputes.append((sentence, right, answers))
    return Compared(
        len(bank.sentences),
        sum(agreed.values()),
        dict(by_reader),
        {group: (n, agreed[group]) for group, n in sizes.items()},
        tuple(disputes),
        tuple(unread),
    )


def read_reading(path: str | Path, bank: Bank, intents: Mapping[str, Intents]) -> SentenceReading:
    """A filled sheet, or an `InputError` that names the first wrong answer in it."""
    path = Path(path)
    reading = read_json_as(path, SentenceReading, fix="fill in answers.template.json")
    if not reading.reader:
        raise InputError("reader: is empty", where=path, fix="give the reader a name")
    known = {s.id: s for s in bank.sentences}
    for ident, answer in reading.answers.items():
        if ident not in known:
            raise InputError(
                f"answers.{ident}: is no sentence of the bank", where=path, fix="export it again"
            )
        sentence = known[ident]
        intent = _plain(answer).partition(" ")[0]
        options = [*intents[sentence.setting].definitions[sentence.speaker], NONE]
        if answer and intent not in options:
            raise InputError(
                f"answers.{ident}: {answer!r} is no intent",
                where=path,
                fix=f"choose from {', '.join(options)}",
            )
    return reading


def write_record(path: str | Path, family: str, readings: Sequence[SentenceReading]) -> None:
    """The readings as they were made; reasons for sentences in dispute are added by hand."""
    path = Path(path)
    if path.exists():
        raise InputError("exists already", where=path, fix="choose a fresh --record file")
    record = Record(SCHEMA, family, list(readings))
    write_text(path, json.dumps(msgspec.to_builtins(record), indent=1, ensure_ascii=False) + "\n")


def read_readings(path: str | Path) -> Record:
    """The record beside a bank."""
    return read_json_as(path, Record, fix="write it with sdb audit readings")


def unsettled(bank: Bank, intents: Mapping[str, Intents], record: Record) -> list[str]:
    """Sentences that two readers have not read, or on which they differ for no stated reason."""
    if len({r.reader for r in record.readings}) < _READERS:
        return [f"only {len(record.readings)} readings, of {_READERS}"]
    result = compare(bank, intents, record.readings)
    found = [f"{ident}: not read by every reader" for ident in result.unread]
    found += [
        f"{s.id}: {s.text!r} is {meant} in the bank, and {answers}"
        for s, meant, answers in result.disputes
        if s.id not in record.resolved
    ]
    return found


def _plain(answer: str) -> str:
    return " ".join(answer.split())


def _shown(
    sentence: Sentence, bank: Bank, intents: Mapping[str, Intents], *, every: bool
) -> list[str]:
    named = intents[sentence.setting].named
    turn = list(named.values())
    lot = int(sentence.id[1:], 16)
    name, other = named.get(sentence.intent) or turn[lot % len(turn)]
    fillings = list(bank.fillings(sentence))
    shown = fillings if every else [fillings[lot % len(fillings)]]
    return [sentence.filled(name, other, **words) for words in shown]


def _example(intents: Mapping[str, Intents]) -> str:
    """An answer with a name, as the sheet wants it."""
    intent, names = next(iter(next(iter(intents.values())).named.items()))
    return f"{intent} {names[0]}"


def _definitions(intents: Mapping[str, Intents]) -> str:
    lines = []
    for setting, told in intents.items():
        lines += ["", f"## Session: {setting}", "", told.rule, ""]
        for speaker, definitions in told.definitions.items():
            lines += [f"The {speaker} can mean:", ""]
            for intent, text in definitions.items():
                name = " NAME" if intent in told.named else ""
                lines.append(f"- `{intent}{name}`: {text}")
            lines += ["- `none`: none of these", ""]
    return "\n".join(lines) + "\n"


def _lines(items: Sequence[Mapping[str, Any]]) -> str:
    """A JSON list with one item a line."""
    rows = ",\n".join(json.dumps(item, ensure_ascii=False) for item in items)
    return f"[\n{rows}\n]\n"
