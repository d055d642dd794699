"""Where a scenario sits in its suite: what it may draw, and what its neighbours draw too."""

from __future__ import annotations

from dataclasses import dataclass

from streamdecisionbench.suite.generation.draws import Draws

__all__ = ["Seat"]


@dataclass(frozen=True, slots=True)
class Seat:
    """One scenario's place: `number` counts within its family.

    `suite` is a stream that all scenarios of the family share: names that have to go round (so that
    together the scenarios use every one of them) are shuffled with it and taken by number.
    """

    split: str
    wording: str
    number: int
    suite: Draws
    agenda: tuple[str, ...] = ()
    """Names of the situations this scenario has to show."""
