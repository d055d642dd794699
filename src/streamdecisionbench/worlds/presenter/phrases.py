"""Names, phrases and lines of presenter sessions, from the data files of this package.

`OF_…` and the like are sentences that fit only on some occasions, whoever says them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamdecisionbench.worlds.generation.data_files import read_data

_NAMES = read_data(__package__, "names.toml")
_LINES = read_data(__package__, "phrases.toml")
_OCCASIONS = _LINES["occasions"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a session is about."""

    event: str
    role: str
    """What the presenter does for a living."""
    clip: str
    file: str
    things: tuple[str, ...]
    """A page of the deck each; with an article, as one says them."""

    @property
    def singles(self) -> list[str]:
        """Those of which one says it, not they: what sentences are about."""
        return [thing for thing in self.things if not thing.endswith("s")]


PEOPLE = _NAMES.pool("people", str)
HOSTS = _NAMES.pool("hosts", str)
TALKS = _NAMES.pool("talks", Subject)
MEETINGS = _NAMES.pool("meetings", Subject)
TITLES = _NAMES.texts("titles")
CLICKER = _NAMES.texts("clicker")
PAGES = _NAMES.pool("pages", tuple[str, str, str])
CLIPS = _NAMES.pool("clips", tuple[str, tuple[str, str]])
BACK = _NAMES.pool("back", str)
HAND_OVER = _NAMES.pool("hand_over", tuple[str, str])
OPEN = _NAMES.pool("open", str)
CLOSE = _NAMES.pool("close", str)
RESTATE = _NAMES.pool("restate", str)
DEALT: dict[str, tuple[str, ...]] = _NAMES["dealt"]

BEFORE_A_RESTATEMENT = _LINES.texts("before_a_restatement")
CLOSE_AND_MORE: str = _LINES["close_and_more"]
ONE_MORE = _LINES.texts("one_more")
AROUND = _LINES.texts("around")
AROUND_HAND_OVER = _LINES.texts("around_hand_over")
ONLY_BEGINS = _LINES.texts("only_begins")
THANKS = _LINES.texts("thanks")
NOT_QUITE = _LINES.texts("not_quite")
REQUESTS = _LINES.texts("requests")
CLICKER_PRESSES = _LINES.texts("clicker_presses")
FREE_LEAVING = frozenset(_LINES.texts("free_leaving"))
SIDE_OF_WORDS = frozenset(_LINES.texts("side_of_words"))
SIDE_OF_AN_END = frozenset(_LINES.texts("side_of_an_end"))
HANGING = frozenset(_LINES.texts("hanging"))
SHORT_LINES: dict[str, tuple[str, ...]] = _LINES["short_lines"]
FREE_SHORT_LINES: dict[str, tuple[str, ...]] = _LINES["free_short_lines"]
LINES: dict[str, tuple[str, ...]] = _LINES["lines"]
LEAVING: dict[str, tuple[str, ...]] = _LINES["leaving"]
AFTERTHOUGHTS: dict[str, tuple[str, ...]] = _LINES["afterthoughts"]
ANSWERS: dict[str, tuple[str, ...]] = _LINES["answers"]
ABOUT_CAPTIONS: dict[str, tuple[str, ...]] = _LINES["about_captions"]
FREE_AFTERTHOUGHTS: dict[str, tuple[str, ...]] = _LINES["free_afterthoughts"]
FREE_ANSWERS: dict[str, tuple[str, ...]] = _LINES["free_answers"]
ASKED: dict[str, str] = _LINES["asked"]
FREE_ASKED: dict[str, str] = _LINES["free_asked"]
ASKED_FORMALLY: dict[str, str] = _LINES["asked_formally"]
SIDE_CLAIMS: dict[str, tuple[str, str]] = _LINES["side_claims"]
SIDE_LOG: dict[str, dict[str, tuple[str, ...]]] = _LINES["side_log"]

OF_A_QUESTION = frozenset(_OCCASIONS.texts("of_a_question"))
OF_THE_CLIP = frozenset(_OCCASIONS.texts("of_the_clip"))
BEFORE_THE_CLIP = frozenset(_OCCASIONS.texts("before_the_clip"))
WHILE_IT_RUNS = frozenset(_OCCASIONS.texts("while_it_runs"))
AWAY_FROM_THE_TALK = frozenset(_OCCASIONS.texts("away_from_the_talk"))
OF_THE_FLOOR = frozenset(_OCCASIONS.texts("of_the_floor"))
OF_A_REQUEST = frozenset(_OCCASIONS.texts("of_a_request"))
OF_URGING = frozenset(_OCCASIONS.texts("of_urging"))
NOWHERE = frozenset(_OCCASIONS.texts("nowhere"))
WITH_SOUND = frozenset(_OCCASIONS.texts("with_sound"))
OF_WHAT_ONE_CARRIES = frozenset(_OCCASIONS.texts("of_what_one_carries"))
OF_A_PAGE_TO_COME = frozenset(_OCCASIONS.texts("of_a_page_to_come"))
OF_A_PAGE_BEFORE = frozenset(_OCCASIONS.texts("of_a_page_before"))
OF_THE_PAGE = frozenset((*_OCCASIONS.texts("of_the_page"), *SHORT_LINES["remarks"]))
WITHOUT_NEXT: str = _OCCASIONS["without_next"]

FLOOR_TO_COME = re.compile(r"\b(?:questions?|ask|the floor is|open the floor|hands?)\b")
"""What a chair no longer speaks of while questions are open."""
OF_A_CLIP_BEGUN = re.compile(
    r"\b(?:on with the|run on|carry on|resume|keep the film|go on|from here|play on|play it on|let it run)\b"
)
"""Of a clip that was on."""
OF_A_PAGE_LEFT = re.compile(
    r"\b(?:again|once more|just left|another look|undo|too (?:fast|quick))\b"
)
"""Of a previous page that was up."""
