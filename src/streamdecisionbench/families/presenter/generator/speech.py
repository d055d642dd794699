"""What people say: lines that command nothing, and the ways in which a command is spoken."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.presenter.generator.room import Room, Voice, capital, heard

__all__ = ["command", "line", "plain", "question", "slide_phrase", "speak"]

_LINES = {
    "presenter": (
        "Here you can see {a} next to {b}.", "Last year {a} cost us a whole week.",
        "Most visitors look at {a} first.", "We measured {a} twice, in spring and in autumn.",
        "Nobody had thought of {b} until {a} failed.", "Keep an eye on {a}, it comes back later.",
        "I brought {a} along, it is on the table.", "With {b} it took half the time.",
        "People ask me about {a} all the time.", "Some of you know {b} better than I do.",
        "Without {a} there would be no {n}.", "It looks simple. It is not.",
        "My colleagues swear by {b}.", "This one is older than {b}, and it shows.",
        "First {a}, then {b}, then a long wait.", "We lost {a} in a storm once.",
    ),
    "host": (
        "A word on the timing, we are doing fine.", "Please leave the side door free.",
        "May I ask for a little quiet?", "{name}, could you stay near the microphone?",
        "The coffee is outside, for later.", "Somebody has left a grey coat in row three.",
        "There are seats at the front.", "We have the hall until six.",
    ),
    "audience": (
        "Sorry, could you speak up?", "Is that {a} on the left?", "We cannot see {b} from here.",
        "Hear, hear.", "That was not how it went with {a}.", "Excuse me, is this seat free?",
        "Which year was that?", "Oh, that one.", "Louder, please.", "My aunt has {a} at home.",
    ),
    "clip": (
        "And now we turn to {a}.", "Careful with {b}, it is hot.", "Three, two, one, and up.",
        "This is how {a} looked in March.", "Hold on to {b}.", "There it goes.",
    ),
}  # fmt: skip

_ASKED = {
    "How long does {a} last?": "how long {a} lasts",
    "Who pays for {a} if {b} breaks?": "who pays for {a} if {b} breaks",
    "What happens to {a} in winter?": "what happens to {a} in winter",
    "Have you tried it without {b}?": "whether we tried it without {b}",
    "Could one rent {a}?": "whether one could rent {a}",
    "Why not put {a} beside {b}?": "why {a} is not beside {b}",
    "Is {b} safe for children?": "whether {b} is safe for children",
    "How loud is {a}?": "how loud {a} is",
    "Will {a} fit behind {b}?": "whether {a} fits behind {b}",
    "Do we need {a} at all?": "whether we need {a} at all",
}
"""A question, and what it asks as somebody else would put it."""

_LEADS = (
    "Right.",
    "Good.",
    "One moment.",
    "So much for that.",
    "Thank you.",
    "Let me see.",
    "Fine.",
)


def line(room: Room, channel: str) -> str:
    """A sentence or two of no consequence."""
    a, b = room.draws.sample(room.hall.subject.things, 2)
    text = room.unsaid(_LINES[channel])
    noun = b.removeprefix("the ")
    return capital(text.format(a=a, b=b, n=noun, name=room.hall.first_name))


def question(room: Room) -> str:
    """A question from the audience; what it asks is kept for whoever restates it."""
    a, b = room.draws.sample(room.hall.subject.things, 2)
    text = room.unsaid(list(_ASKED))
    room.asked = _ASKED[text].format(a=a, b=b)
    return text.format(a=a, b=b)


def slide_phrase(room: Room, page: str) -> str:
    """A command that leads to a page: by one step where it is a neighbour, or by its number."""
    pages = room.hall.pages
    step = pages.index(page) - pages.index(room.slide)
    if abs(step) == 1 and room.draws.chance(0.6):
        return room.hall.phrase("next" if step == 1 else "previous")
    return room.hall.jump(page)


def plain(room: Room, channel: str, text: str = "", *, trap: bool = False) -> None:
    """Somebody says something that commands nothing, over a tick or two."""
    text = text or line(room, channel)
    note = "distractor: plain speech"
    voice = room.begin(channel, heard(text, room.draws.between(2, 4)), note)
    room.show(f"the {channel} starts to speak")
    room.script.wait(room.a_while())
    room.finish(voice, text, note, trap=trap)


def speak(room: Room, channel: str, text: str, note: str) -> None:
    """A sentence that sounds like something and is nothing."""
    if room.captions == channel and room.script.pace(1, 9) == 1:
        _interject(room, channel)
    voice = room.begin(channel, heard(text, room.draws.between(2, 5)), note)
    room.show(f"the {channel} starts to speak")
    room.script.wait(room.a_while())
    room.finish(voice, text, f"trap: {note}", trap=True)


def command(room: Room, channel: str, phrase: str, obey: Callable[[], None], because: str) -> Voice:
    """A command in perfect form: provisional for a while, then final, and only then obeyed."""
    ways: dict[Callable[[Room, str, str], tuple[Voice, str]], int] = {
        _plainly: 4, _growing: 2, _after_a_word: 3, _with_an_afterthought: 1,
    }  # fmt: skip
    if room.draws.chance(0.12):
        voice = room.utter(channel, _sentence(room, phrase), "cause: short, and final at once")
    else:
        voice, text = room.draws.weighted(ways)(room, channel, phrase)
        room.script.wait(room.a_while())
        room.finish(voice, text, "cause: the command is final")
    obey()
    room.show(because)
    return voice


def _interject(room: Room, channel: str) -> None:
    """Somebody else says a word in between, where a session would otherwise drag."""
    others = ["host"] if room.mode == "questions" else ["host", "audience"]
    other = room.draws.choose([c for c in others if c != channel] or ["presenter"])
    text = room.draws.choose(("Hm.", "Yes.", "Quite.", "Ah.", "Indeed.", "Well."))
    room.utter(other, text, "a word in between takes the captions")
    room.show(f"the {other} says a word in between")
    room.script.wait(1)


def _sentence(room: Room, phrase: str) -> str:
    return capital(phrase) + room.draws.choose((".", ".", "!"))


def _begin(room: Room, channel: str, text: str) -> Voice:
    voice = room.begin(channel, text, "provisional, so nothing lasting follows yet")
    room.show(f"the {channel} starts to speak")
    return voice


def _plainly(room: Room, channel: str, phrase: str) -> tuple[Voice, str]:
    return _begin(room, channel, phrase), _sentence(room, phrase)


def _growing(room: Room, channel: str, phrase: str) -> tuple[Voice, str]:
    """Word by word, or after a breath without any."""
    words = phrase.split()
    voice = _begin(room, channel, " ".join(words[: room.draws.below(len(words))]))
    room.script.wait(1)
    room.revise(voice, phrase, "the words are complete, but provisional")
    return voice, _sentence(room, phrase)


def _after_a_word(room: Room, channel: str, phrase: str) -> tuple[Voice, str]:
    lead = room.draws.choose(_LEADS)
    text = f"{lead} {_sentence(room, phrase)}"
    return _begin(room, channel, heard(text)), text


def _with_an_afterthought(room: Room, channel: str, phrase: str) -> tuple[Voice, str]:
    after = room.draws.choose(("There.", "You will see why.", "It will not take long."))
    return _begin(room, channel, phrase), f"{_sentence(room, phrase)} {after}"
