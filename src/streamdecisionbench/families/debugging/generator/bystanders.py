"""Evidence that must change nothing in a debugging session: cursor, other panes, talk, notes."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.debugging import events as say
from streamdecisionbench.families.debugging.generator.session import RUNNING, Session

_PANES = {
    "docker": ("db | checkpoint complete", "cache | 0 evicted", "broker | heartbeat ok", "db | autovacuum done"),
    "git": ("fetch: nothing new", "main is 2 commits ahead", "stash list is empty"),
    "logs": ("GET /health 200", "worker 3 idle", "metrics flushed", "tail: file rotated"),
    "shell": ("disk 61% used", "reminder: standup at ten", "2 packages can be updated"),
}  # fmt: skip

_TALK = (
    "Green in my branch, for what it's worth.",
    "That one has been flaky all week.",
    "I'd say we are ready.",
    "Let's just rerun everything.",
    "Only the pinned one, it's quicker.",
    "It can't be our code.",
    "Open {file} again, would you?",
    "{file} looks fine to me.",
    "Wasn't {team} going to look at that?",
    "I would hand this to {team}.",
    "Save it first, then we'll see.",
    "Nothing changed since lunch.",
    "{run} looked good to me.",
    "Don't wait for {run}, it never helps.",
    "I'd read {file} before anything else.",
    "Could be the cache. It always is.",
    "{team} had the same yesterday, I hear.",
    "Can we call it done?",
    "Somebody should run the lot again.",
    "My guess is still {file}.",
    "The tests are wrong, not the code.",
    "I have not touched {file}, just so you know.",
    "Is {team} awake already?",
    "Skipping a few never hurt anyone.",
)

_WHILE_RUNNING = (
    "It's alive, I can see lines.",
    "It hangs. Stop it?",
    "Leave it running.",
    "{run} is through, I think.",
    "That was the same error again.",
    "Shouldn't {run} be done by now?",
    "I'd kill {run} and start over.",
    "It says nothing, so it is fine.",
)

_HALVES = {
    "i think that is": "I think that is it for today.",
    "could you open": "Could you open the other window?",
    "let's stop": "Let's stop and have coffee first.",
    "so it passed": "So it passed on the old branch, they say.",
    "we should take": "We should take a break.",
    "full run now": "Full run now, or after lunch?",
    "it is ready": "It is ready when the cake is, they said.",
    "just stop it": "Just stop it with the puns, please.",
    "run it again": "Run it again in your head first.",
    "that is ours": "That is ours only in name.",
    "i saved it": "I saved it on the other machine.",
    "hand it to": "Hand it to whoever has time tomorrow.",
}


def distract(session: Session) -> bool:
    """One event that changes nothing. A half sentence is always completed before another begins."""
    if session.open_speech is not None:
        session.script.emit(
            session.complete("distractor: speech becomes final, and is only speech")
        )
        return True
    kinds: dict[Callable[[Session], bool], int] = {
        _cursor: 5, _terminal: 4, _chat: 4, _half_sentence: 2, _notes: 1,
    }  # fmt: skip
    if session.phase == RUNNING and session.paused:
        kinds[_debugger] = 5
    if not session.draws.weighted(kinds)(session):
        session.move_cursor()
    return True


def _cursor(session: Session) -> bool:
    session.move_cursor()
    return True


def _terminal(session: Session) -> bool:
    pane = session.draws.choose(list(_PANES))
    text = session.draws.choose(_PANES[pane])
    session.script.emit(say.terminal(session.now, pane, text, "distractor: another pane"))
    return True


def _chat(session: Session) -> bool:
    """What has not been said yet; False if all of it has."""
    lines = (*_TALK, *_WHILE_RUNNING) if session.phase == RUNNING else _TALK
    text = session.line(lines).format(
        file=session.draws.choose(session.project.words),
        team=session.draws.choose(list(session.project.other_people)),
        run=session.run,
    )
    everyone = [session.colleague(), *map(session.outsider, session.project.other_people)]
    who = session.draws.choose(everyone)
    if text:
        session.script.emit(session.chat(who, text, "distractor: talk is no evidence"))
    return bool(text)


def _half_sentence(session: Session) -> bool:
    half = session.line(list(_HALVES))
    if half:
        note = "distractor: partial speech"
        session.script.emit(session.partial(session.colleague(), half, _HALVES[half], note))
    return bool(half)


def _notes(session: Session) -> bool:
    path = session.draws.choose(session.project.unwatched)
    who = session.colleague()[0]
    session.script.emit(say.save(session.now, path, who, "distractor: nobody watches that file"))
    return True


def _debugger(session: Session) -> bool:
    kind = session.draws.choose(["watch_refresh", "breakpoint"])
    detail = {"watch_refresh": "2 watches", "breakpoint": f"added {session.draws.between(10, 99)}"}
    note = "distractor: resets no pause age"
    session.script.emit(say.debugger(session.now, session.run, kind, detail[kind], note))
    return True
