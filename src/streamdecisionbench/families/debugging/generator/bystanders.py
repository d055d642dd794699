"""Evidence that must change nothing in a debugging session: cursor, other panes, talk, notes."""

from __future__ import annotations

from collections.abc import Callable

from streamdecisionbench.families.debugging import events as say
from streamdecisionbench.families.debugging.generator.session import RUNNING, Session

_PANES = {
    "docker": ("db | checkpoint complete", "cache | 0 evicted", "broker | heartbeat ok", "db | autovacuum done"),
    "git": ("fetch: nothing new", "main is 2 commits ahead", "stash list is empty"),
    "logs": ("GET /health 200", "worker 3 idle", "metrics flushed", "tail: file rotated"),
    "shell": ("disk 61% used", "reminder: standup at ten", "npm notice: new minor version"),
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
)

_WHILE_RUNNING = (
    "It's alive, I can see lines.",
    "It hangs. Stop it?",
    "Leave it running.",
    "{run} is through, I think.",
    "That was the same error again.",
)

_HALVES = (
    ("i think that is", "I think that is it for today."),
    ("could you open", "Could you open the other window?"),
    ("let's stop", "Let's stop and have coffee first."),
    ("so it passed", "So it passed on the old branch, they say."),
    ("we should take", "We should take a break."),
    ("full run now", "Full run now, or after lunch?"),
)


def distract(session: Session) -> bool:
    """One event that changes nothing. A half sentence is always completed before another begins."""
    if session.open_speech is not None:
        session.script.emit(
            session.complete("distractor: speech becomes final, and is only speech")
        )
        return True
    kinds: dict[Callable[[Session], None], int] = {
        _cursor: 5, _terminal: 4, _chat: 4, _half_sentence: 2, _notes: 1,
    }  # fmt: skip
    if session.phase == RUNNING and session.paused:
        kinds[_debugger] = 5
    session.draws.weighted(kinds)(session)
    return True


def _cursor(session: Session) -> None:
    project = session.project
    file = session.draws.choose([*project.ours, *project.theirs, project.test_file])
    place = f"{file.path}:{session.draws.between(3, 160)}"
    session.script.emit(say.cursor(session.now, place))


def _terminal(session: Session) -> None:
    pane = session.draws.choose(list(_PANES))
    text = session.draws.choose(_PANES[pane])
    session.script.emit(say.terminal(session.now, pane, text, "distractor: another pane"))


def _chat(session: Session) -> None:
    lines = (*_TALK, *_WHILE_RUNNING) if session.phase == RUNNING else _TALK
    text = session.draws.choose(session.seat.some(lines)).format(
        file=session.draws.choose(session.project.words),
        team=session.draws.choose(list(session.project.other_people)),
        run=session.run,
    )
    everyone = [session.colleague(), *map(session.outsider, session.project.other_people)]
    who = session.draws.choose(everyone)
    session.script.emit(session.chat(who, text, "distractor: talk is no evidence"))


def _half_sentence(session: Session) -> None:
    half, whole = session.draws.choose(session.seat.some(_HALVES))
    session.script.emit(
        session.partial(session.colleague(), half, whole, "distractor: partial speech")
    )


def _notes(session: Session) -> None:
    path = session.draws.choose(session.project.unwatched)
    who = session.colleague()[0]
    session.script.emit(say.save(session.now, path, who, "distractor: nobody watches that file"))


def _debugger(session: Session) -> None:
    kind = session.draws.choose(["watch_refresh", "breakpoint"])
    detail = {"watch_refresh": "2 watches", "breakpoint": f"added {session.draws.between(10, 99)}"}
    note = "distractor: resets no pause age"
    session.script.emit(say.debugger(session.now, session.run, kind, detail[kind], note))
