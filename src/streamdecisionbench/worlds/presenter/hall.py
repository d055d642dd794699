"""The hall a generated session happens in: subject, deck, clip, people, phrases and caption order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from streamdecisionbench.families.presenter.events import levels
from streamdecisionbench.families.presenter.rules import COMMANDS, FREE_RULES, INTENTS, RULES
from streamdecisionbench.families.presenter.state import NUMBERS
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Pool,
    Seat,
)
from streamdecisionbench.worlds.presenter import phrases
from streamdecisionbench.worlds.presenter.phrases import Subject

_DUE = 2
"""So many pages each session has to show, in turn, so that six sessions show all twelve."""


@dataclass(frozen=True, slots=True)
class Hall:
    """Everything drawn for one session before its first tick."""

    subject: Subject
    prepared: dict[str, Any]
    fields: dict[str, Any]
    rules: list[str]
    deck: dict[str, str]
    about: dict[str, str]
    """Page → the thing it is about."""
    due: tuple[str, ...]
    first_name: str
    sounds_like_pause: str
    sounds_like_hand_over: str

    @property
    def pages(self) -> list[str]:
        return list(self.deck)

    @property
    def clip_page(self) -> str:
        return str(self.prepared["clip"]["slide"])

    @property
    def silent(self) -> bool:
        """Whether its clip has no sound, as at meetings about what nobody can carry about."""
        return str(self.prepared["clip"]["name"]).endswith("silent")

    @property
    def order(self) -> list[str]:
        return list(self.prepared["caption_order"])

    @property
    def restate(self) -> str:
        return str(self.prepared["commands"]["restate"])

    def phrase(self, name: str) -> str:
        """A command of the presenter or the host, as the rules list it."""
        both = self.prepared["commands"]
        return str({**both["presenter"], **both["host"]}[name])

    @property
    def rows(self) -> int:
        """Of seats that somebody sits in."""
        return max(int(str(self.prepared["people"]["audience"]).split()[1]) // 10, 3)

    def number(self, page: str) -> str:
        """The word a page is asked for by."""
        return str(next(e["said"] for e in self.prepared["deck"] if e["id"] == page))

    def jump(self, page: str) -> str:
        """The command that asks for a page by its number."""
        return self.phrase("jump").replace("<number>", self.number(page))


def draw_hall(draws: Draws, seat: Seat, subjects: Pool[Subject]) -> Hall:
    """A new hall. Pages that have to be shown go round from seat to seat."""
    subject = draws.choose(subjects.of(seat.split))
    due = [(_DUE * seat.number + i) % len(NUMBERS) for i in range(_DUE)]
    pages = max(draws.between(8, 12), max(due) + 1)
    about = {
        f"s{i}": thing for i, thing in enumerate(draws.shuffled(subject.things)[:pages], start=1)
    }
    titles = draws.shuffled(phrases.TITLES)
    deck = {
        page: title.format(x=thing, X=thing[:1].upper() + thing[1:])
        for (page, thing), title in zip(about.items(), titles, strict=False)
    }
    presenter, host = phrases.PEOPLE.draw(draws, seat.split, 2)
    commands, pause, hand_over = _commands(draws, seat.split)
    free = seat.wording == "free"
    rules = FREE_RULES if free else worded(commands)
    ids = list(deck)
    clip_page = ids[draws.between(1, pages - 2)]
    prepared = {
        "event": subject.event,
        "people": {
            "presenter": f"{presenter}, {subject.role}",
            "host": f"{host}, {draws.choose(phrases.HOSTS.of(seat.split))}",
            "audience": f"about {10 * draws.between(3, 20)} people, {draws.choose(('one microphone', 'two microphones'))}",
        },
        "deck": [
            {"id": page, "said": said, "title": title}
            for (page, title), said in zip(deck.items(), NUMBERS, strict=False)
        ],
        "clip": {"name": subject.clip, "slide": clip_page},
        "start": {"tick": 0, "mode": "talk", "slide": draws.choose(ids)},
        **({"intents": INTENTS} if free else {"commands": commands}),
        "caption_order": draws.shuffled(["host", "presenter", "audience", "clip"]),
    }
    fields = {
        "levels_db": levels(0, -20, -59, -45, -90),
        "clip_player": {
            "file": subject.file,
            "length_ticks": draws.between(20, 60),
            "buffer": draws.choose(["full", "half", "filling"]),
        },
        "clicker": draws.choose(phrases.CLICKER),
    }
    return Hall(
        subject=subject,
        prepared=prepared,
        fields=fields,
        rules=[f"{name}: {text}" for name, text in rules.items()],
        deck=deck,
        about=about,
        due=tuple(ids[i] for i in due),
        first_name=presenter.partition(" ")[0],
        sounds_like_pause=pause,
        sounds_like_hand_over=hand_over,
    )


def worded(commands: dict[str, Any]) -> dict[str, str]:
    """The family's rules with these phrases in the place of the usual ones.

    >>> worded(COMMANDS) == RULES
    True
    """
    usual = {**COMMANDS["presenter"], **COMMANDS["host"]}
    drawn = {**commands["presenter"], **commands["host"]}
    quoted = {f"'{usual[name]}'": f"'{drawn[name]}'" for name in usual}
    any_phrase = re.compile("|".join(map(re.escape, quoted)))
    return {
        name: any_phrase.sub(lambda found: quoted[found[0]], text) for name, text in RULES.items()
    }


def _commands(draws: Draws, split: str) -> tuple[dict[str, Any], str, str]:
    """The phrases, and what sounds like the two of them that take effect early."""
    forward, backward, jump = draws.choose(phrases.PAGES.of(split))
    play, (pause, no_pause) = draws.choose(phrases.CLIPS.of(split))
    hand_over, no_hand_over = draws.choose(phrases.HAND_OVER.of(split))
    commands = {
        "presenter": {
            "next": forward,
            "previous": backward,
            "jump": jump,
            "play": play,
            "pause": pause,
            "back": draws.choose(phrases.BACK.of(split)),
            "hand_over": hand_over,
        },
        "host": {
            "open": draws.choose(phrases.OPEN.of(split)),
            "close": draws.choose(phrases.CLOSE.of(split)),
        },
        "restate": draws.choose(phrases.RESTATE.of(split)),
    }
    return commands, no_pause, no_hand_over
