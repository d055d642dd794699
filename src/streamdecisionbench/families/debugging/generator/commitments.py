"""How a team takes over a failure: traps that sound like it, and the words that do it."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.debugging.generator.project import REGRETTED, SPOKEN, WRITTEN
from streamdecisionbench.families.debugging.generator.session import IDLE, Session
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

_OPENINGS = ("", "Okay. ", "Found it. ", "Sorry for the noise! ", "That again? ")
_DOUBTS = ("Maybe {form}.", "{form} if it is ours.", "{form}, except the last test.",
           "{form} after lunch.", "I guess {form}.", "{form} for now.")  # fmt: skip


def _owed(session: Session) -> bool:
    return session.phase == IDLE and session.card == "delegate"


def _form(session: Session, run: str) -> str:
    form: str = session.draws.choose(session.project.policy["commitment_forms"])
    return form.replace("RUN", run)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _doubt(session: Session) -> Event:
    several = len(session.last.failing) > 1
    doubts = [text for text in _DOUBTS if several or "test" not in text]
    text = session.draws.choose(doubts).format(form=_form(session, session.run))
    who = session.outsider(session.owed)
    return session.chat(who, _capital(text), "trap: one word too many")


def _question(session: Session) -> Event:
    text = _capital(_form(session, session.run)) + "?"
    return session.chat(session.outsider(session.owed), text, "trap: a question")


def _other_run(session: Session) -> Event:
    run = f"r{session.runs - 1}"  # a later one would become a promise once it has run
    text = session.unsaid(lambda: _capital(_form(session, run)) + session.draws.choose(".!"))
    return session.chat(session.outsider(session.owed), text, "trap: another run")


def _other_team(session: Session) -> Event:
    teams = [t for t in session.project.other_people if t != session.owed]
    text = _capital(_form(session, session.run)) + "."
    return session.chat(session.outsider(session.draws.choose(teams)), text, "trap: another team")


def _hearsay(session: Session) -> Event:
    text = f"They told me: {_form(session, session.run)}."
    return session.chat(session.colleague(), text, "trap: hearsay from our own team")


def _ask(session: Session, *traps: Callable[[Session], Event]) -> Ticks[bool]:
    """Talk that commits nobody, each after a while; then somebody asks the team on the card.

    False if a run was started instead.
    """
    for trap in session.draws.shuffled(traps):
        if not (yield from session.idle(session.draws.between(1, 2))):
            return False
        session.script.trap(trap(session))
    yield from session.ask_owner()
    return True


def _commit(session: Session, event: Event) -> None:
    session.script.emit(event)
    session.committed = session.owed
    session.show("wait", f"{session.owed} commits to {session.run}")


def _words(session: Session) -> str:
    def drawn() -> str:
        mark = session.draws.choose([".", "!"])
        return session.draws.choose(_OPENINGS) + _capital(_form(session, session.run)) + mark

    return session.unsaid(drawn)


def _in_writing(session: Session) -> Ticks[None]:
    if not (yield from _ask(session, _question, _doubt)):
        return
    yield from session.script.hold(1, 2)
    who = session.outsider(session.owed)
    _commit(session, session.chat(who, _words(session), "cause: a commitment in the right form"))


def _in_speech(session: Session) -> Ticks[None]:
    """The partial already has the words; only the final text commits."""
    if session.open_speech is not None:
        yield from session.script.wait(1)
        if session.open_speech is not None:
            session.script.trap(session.complete("distractor: speech becomes final"))
    if not (yield from _ask(session, _other_team)):
        return
    yield from session.script.wait(1)
    text = _form(session, session.run)
    who = session.outsider(session.owed)
    final = _words(session)
    heard = session.partial(who, text.lower(), final, "trap: the words, but not final")
    kept, session.open_speech = session.open_speech, None  # nobody else may complete it
    session.script.trap(heard)
    yield from session.script.wait(session.draws.between(1, 2))
    session.open_speech = kept
    _commit(session, session.complete("cause: the final text commits"))


def _and_regret(session: Session) -> Ticks[None]:
    """What is said later withdraws nothing."""
    trap = session.draws.choose([_other_run, _hearsay]) if session.runs < 3 else _other_run
    if not (yield from _ask(session, trap)):
        return
    yield from session.script.hold(1, 2)
    who = session.outsider(session.owed)
    _commit(session, session.chat(who, _words(session), "cause: a commitment in the right form"))
    yield from session.script.wait(session.draws.between(1, 2))
    text = session.draws.choose(
        ("On second thought, {run} is not ours.", "We can't take {run} after all.",
         "Forget what I said about {run}.")
    ).format(run=session.run)  # fmt: skip
    session.script.trap(session.chat(who, text, "trap: later talk withdraws nothing"))


_RULES = ("commitment", "owner", "no_effect")

COMMITMENTS: tuple[Situation[Session], ...] = (
    Situation("hand-over", WRITTEN, _RULES, _owed, _in_writing),
    Situation("hand-over", SPOKEN, _RULES, _owed, _in_speech),
    Situation("hand-over", REGRETTED, _RULES, _owed, _and_regret),
)
