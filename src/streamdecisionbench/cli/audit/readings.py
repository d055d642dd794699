"""`sdb audit readings`: what blind readers took the sentences of a bank for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from streamdecisionbench.audit.bank_readings import Compared


def register(app: typer.Typer) -> None:
    app.command("readings")(readings)


def readings(
    family: Annotated[str, typer.Argument(help="A family that has a bank of sentences.")],
    sheets: Annotated[list[Path], typer.Argument(help="Filled answer sheets, one per reader.")],
    record: Annotated[
        Path | None, typer.Option(help="Write the readings into this file, as they are.")
    ] = None,
) -> None:
    """Compare readings with the bank and each other; exit code 1 where a sentence is in dispute."""
    from streamdecisionbench.audit.bank_readings import compare, read_reading, write_record
    from streamdecisionbench.families.registry import bank_of

    bank, intents = bank_of(family)
    found = [read_reading(sheet, bank, intents) for sheet in sheets]
    result = compare(bank, intents, found)
    _print(result)
    if record is not None:
        write_record(record, family, found)
        print(f"\n{record}: {len(found)} readings")
    if result.disputes or result.unread:
        raise typer.Exit(1)


def _print(result: Compared) -> None:
    print(f"{result.agreed} of {result.sentences} sentences: all readings agree with the bank")
    for reader, right in result.by_reader.items():
        print(f"  {reader:<20}{right:>5} of {result.sentences}")
    print("\nsession   speaker   intent               sentences  agreed")
    for (setting, speaker, intent), (n, agreed) in result.groups.items():
        print(f"{setting:<10}{speaker:<10}{intent:<20}{n:>10}{agreed:>8}")
    for sentence, meant, answers in result.disputes:
        print(f"\n{sentence.id}  {sentence.setting}, {sentence.speaker}: {sentence.text}")
        print(f"  bank {meant}")
        for reader, answer in answers.items():
            print(f"  {reader} {answer}")
    if result.unread:
        print(f"\n{len(result.unread)} sentences lack an answer: {', '.join(result.unread[:6])} …")
