"""Blind readings of a bank: nothing leaks, every difference is found, a wrong sheet is refused."""

from __future__ import annotations

import importlib
import json
from itertools import pairwise
from pathlib import Path

import pytest

from streamdecisionbench.audit.readings import (
    Record,
    SentenceReading,
    expected,
    export_bank,
    read_reading,
    read_readings,
    unsettled,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.families.registry import FAMILY_MODULES, bank_of, has
from tests.cli.command import sdb

FAMILY = "support_call_assist"
BANK, INTENTS = bank_of(FAMILY)
BANKS = [family for family, module in FAMILY_MODULES.items() if has(module, "bank")]
EVERY = pytest.mark.parametrize("family", BANKS)


def readings_of(family: str) -> Path:
    """Where the record lies: beside the bank."""
    found = importlib.import_module(f"streamdecisionbench.families.{FAMILY_MODULES[family]}.bank")
    path: Path = found.READINGS
    return path


@pytest.fixture
def blind(tmp_path: Path) -> Path:
    return export_bank(BANK, INTENTS, tmp_path / "blind")


def sheet(folder: Path, reader: str, **other: str) -> Path:
    """A reading that agrees with the bank, but for `other`."""
    answers = {s.id: expected(s, INTENTS) for s in BANK.sentences} | other
    path = folder / f"{reader}.json"
    path.write_text(json.dumps({"reader": reader, "answers": answers}))
    return path


@EVERY
def test_a_reader_sees_sentences_and_definitions_and_nothing_else(
    family: str, tmp_path: Path
) -> None:
    bank, intents = bank_of(family)
    blind = export_bank(bank, intents, tmp_path / "blind")
    shown = json.loads((blind / "sentences.json").read_text())
    assert [set(line) for line in shown] == [{"id", "session", "speaker", "text"}] * len(shown)
    assert [line["id"] for line in shown] == sorted(s.id for s in bank.sentences)
    assert not [line for line in shown if "{" in line["text"]]
    kinds = [s.intent for s in sorted(bank.sentences, key=lambda s: s.id)]
    runs = sum(a != b for a, b in pairwise(kinds))
    assert runs > len(kinds) / 2, "sentences of one intent stand together"
    page = (blind / "README.md").read_text()
    for told in intents.values():
        assert told.rule in page
        assert all(text in page for texts in told.definitions.values() for text in texts.values())


def test_readings_are_compared_and_recorded(blind: Path) -> None:
    one, two = BANK.sentences[0], BANK.sentences[-1]
    first = sheet(blind, "first", **{one.id: "none"})
    second = sheet(blind, "second", **{two.id: ""})
    record = blind / "readings.json"
    done = sdb("audit", "readings", FAMILY, str(first), str(second), "--record", str(record))
    assert done.returncode == 1
    n = len(BANK.sentences)
    assert f"{n - 2} of {n} sentences: all readings agree with the bank" in done.stdout
    assert one.text in done.stdout
    assert two.id in done.stdout
    assert [r["reader"] for r in json.loads(record.read_text())["readings"]] == ["first", "second"]
    again = sheet(blind, "again")
    assert sdb("audit", "readings", FAMILY, str(again), str(again)).returncode == 0
    assert sdb("audit", "readings", FAMILY, str(again), "--record", str(record)).returncode == 2


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({BANK.sentences[0].id: "agreement"}, "is no intent.*choose from subject_payment"),
        ({"s0": "none"}, "is no sentence of the bank"),
    ],
)
def test_a_wrong_sheet_is_refused(answers: dict[str, str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "sheet.json"
    path.write_text(json.dumps({"reader": "somebody", "answers": answers}))
    with pytest.raises(InputError, match=f"(?s){message}"):
        read_reading(path, BANK, INTENTS)


def test_a_family_without_a_bank_is_refused_with_those_that_have_one(tmp_path: Path) -> None:
    done = sdb("audit", "bank", "live_debugging", "--out", str(tmp_path / "x"))
    assert done.returncode == 2
    assert FAMILY in done.stderr


def test_a_sentence_is_settled_when_two_readers_agree_or_a_reason_is_stated() -> None:
    right = {s.id: expected(s, INTENTS) for s in BANK.sentences}
    one = BANK.sentences[0]
    both = [SentenceReading("a", right), SentenceReading("b", right | {one.id: "none"})]
    assert unsettled(BANK, INTENTS, Record("", FAMILY, both[:1])) == ["only 1 readings, of 2"]
    (left,) = unsettled(BANK, INTENTS, Record("", FAMILY, both))
    assert left.startswith(one.id)
    assert unsettled(BANK, INTENTS, Record("", FAMILY, both, {one.id: "the rule says so"})) == []


@EVERY
def test_every_sentence_of_the_bank_was_read_blind_by_two(family: str) -> None:
    assert unsettled(*bank_of(family), read_readings(readings_of(family))) == []
