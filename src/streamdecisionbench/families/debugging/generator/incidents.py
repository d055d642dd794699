"""What befalls an active run: silence, a pause in the debugger, a save meanwhile."""

from __future__ import annotations

from streamdecisionbench.families.debugging import events as say
from streamdecisionbench.families.debugging.generator.project import STOPPED
from streamdecisionbench.families.debugging.generator.session import RUNNING, Session
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation

_HOPES = (
    "It is doing something.", "Give it a moment.", "The fan is on, so it works.", "It was slow yesterday, too.",
    "I saw it move just now.", "No line yet, but it's busy.", "That part always takes long.",
    "Is it stuck? No, I don't think so.",
)  # fmt: skip
_STRANGERS = ("broker | rebalancing", "proxy | keep-alive", "db | slow query 1.2 s")


def _runs_undisturbed(session: Session) -> bool:
    return session.phase == RUNNING and not session.eventful and session.has_time_for(9)


def _has_room_between(session: Session) -> bool:
    gap = session.policy("stop_ticks") - session.policy("stall_ticks")
    return _runs_undisturbed(session) and gap >= 2


def _stall(session: Session) -> Ticks[None]:
    """Silence up to the stall, with other panes busy."""
    session.eventful = True
    yield from session.script.wait(1)
    text = session.draws.choose(_STRANGERS)
    session.script.trap(say.terminal(session.now, "docker", text, "trap: a line of another pane"))
    hope = session.line(_HOPES)
    if hope:
        session.script.trap(session.chat(session.colleague(), hope, "trap: talk"))
    yield from session.until_silence(session.policy("stall_ticks"))
    session.process = "stalled"
    session.show("wait", f"the silence of {session.run} reaches {session.policy('stall_ticks')}")


def _comes_back(session: Session, note: str) -> None:
    session.print_line(note)
    session.process = "running"
    session.show("wait", f"{session.run} prints again")


def _stalls_and_comes_back(session: Session) -> Ticks[None]:
    yield from _stall(session)
    gap = session.policy("stop_ticks") - session.policy("stall_ticks")
    yield from session.script.wait(session.draws.between(1, gap - 1))
    _comes_back(session, "cause: a line in time")


def _stop_is_due(session: Session) -> Ticks[None]:
    yield from _stall(session)
    path = session.draws.choose(session.project.unwatched)
    session.script.trap(say.save(session.now, path, "autosave", "trap: a save ends no silence"))
    yield from session.until_silence(session.policy("stop_ticks"))
    because = f"the silence of {session.run} reaches {session.policy('stop_ticks')}"
    session.show("control", because, control_action="stop")


def _stop_due_but_it_comes_back(session: Session) -> Ticks[None]:
    yield from _stop_is_due(session)
    yield from session.script.hold(1, 2)
    _comes_back(session, "cause: a line after all")


def _stopped(session: Session) -> Ticks[None]:
    """Whoever sees the card stops the run; without a card it hangs until somebody notices."""
    yield from _stop_is_due(session)
    yield from session.script.wait(1)
    yield from session.see(6, route="control", control_action="stop")
    yield from session.script.wait(session.draws.between(0, 1))
    session.break_off("cause: the run is stopped")


def _pause(session: Session) -> Ticks[None]:
    session.eventful = session.paused = True
    yield from session.script.wait(1)
    detail = (
        f"breakpoint {session.draws.choose(session.project.words)}:{session.draws.between(9, 99)}"
    )
    session.script.emit(
        say.debugger(session.now, session.run, "pause", detail, "cause: the run is paused")
    )
    session.process = "paused"
    session.show("wait", f"{session.run} is paused")


def _interact(session: Session, note: str) -> None:
    kind = session.draws.choose(["evaluate", "step"])
    detail = session.draws.choose(session.project.words)
    session.script.emit(say.debugger(session.now, session.run, kind, detail, note))


def _resume(session: Session) -> None:
    session.script.emit(
        say.debugger(session.now, session.run, "resume", "continue", "cause: the run goes on")
    )
    session.paused, session.process, session.sign = False, "running", session.now
    session.show("wait", f"{session.run} is resumed")


def _paused_briefly(session: Session) -> Ticks[None]:
    """An interaction just before the pause is overdue, then a resume."""
    yield from _pause(session)
    yield from session.script.wait(session.policy("pause_ticks") - 1)
    _interact(session, "resets the pause age just in time")
    yield from session.script.wait(session.draws.between(1, session.policy("pause_ticks") - 1))
    _resume(session)


def _pause_overdue(session: Session) -> Ticks[None]:
    """Entries that reset nothing, a save among them, until the pause is overdue."""
    yield from _pause(session)
    file = session.draws.choose(session.project.ours)
    yield from session.script.wait(1)
    session.edit(file, "trap: edits reset no pause age")
    yield from session.script.wait(session.policy("pause_ticks") - 2)
    session.save(file, session.colleague()[0], "trap: nor do saves; but the result will be old")
    yield from session.script.wait(1)
    _continue_due(session)
    yield from session.script.wait(1)
    yield from session.see(6, route="control", control_action="continue")
    yield from session.script.wait(session.draws.between(0, 1))
    _resume(session)


def _overdue_until_touched(session: Session) -> Ticks[None]:
    """Somebody steps in the debugger, which takes the card back; then the run goes on."""
    yield from _pause(session)
    yield from session.script.wait(1)
    session.script.trap(
        say.debugger(session.now, session.run, "watch_refresh", "1 watch", "trap: resets nothing")
    )
    yield from session.script.wait(session.policy("pause_ticks") - 1)
    _continue_due(session)
    yield from session.script.hold(1, 2)
    _interact(session, "cause: an interaction ends the wait for one")
    session.show("wait", "somebody works in the debugger")
    yield from session.script.wait(session.draws.between(1, session.policy("pause_ticks") - 1))
    _resume(session)


def _continue_due(session: Session) -> None:
    because = f"the pause age of {session.run} reaches {session.policy('pause_ticks')}"
    session.show("control", because, control_action="continue")


def _resumed_then_silent(session: Session) -> Ticks[None]:
    """Silence counts from the resume, not from the last line before the pause."""
    yield from _pause(session)
    yield from session.script.wait(session.policy("pause_ticks") - 1)
    _resume(session)
    yield from session.until_silence(session.policy("stall_ticks"))
    session.process = "stalled"
    session.show("wait", f"the silence of {session.run} since its resume is long enough")
    yield from session.script.wait(1)
    if session.now - session.sign >= session.policy("stop_ticks"):
        because = f"the silence of {session.run} reaches {session.policy('stop_ticks')}"
        session.show("control", because, control_action="stop")
        yield from session.script.hold(1, 2)
    _comes_back(session, "cause: a line again")


_SILENT = ("process", "silence", "no_effect", "ticks")
_PAUSED = ("process", "pause_age", "control", "order")

SILENCES: tuple[Situation[Session], ...] = (
    Situation(
        "incident", "stalls and comes back", _SILENT, _has_room_between, _stalls_and_comes_back
    ),
    Situation(
        "incident",
        "stop is due",
        (*_SILENT, "control"),
        _runs_undisturbed,
        _stop_due_but_it_comes_back,
        1,
    ),
    Situation(
        "incident",
        STOPPED,
        (*_SILENT, "control", "runs", "not_executed"),
        lambda s: _runs_undisturbed(s) and s.target != "not_run",
        _stopped,
        1,
    ),
)

PAUSES: tuple[Situation[Session], ...] = (
    Situation("incident", "paused briefly", _PAUSED, _runs_undisturbed, _paused_briefly, 1),
    Situation(
        "incident", "pause overdue", (*_PAUSED, "changed"), _runs_undisturbed, _pause_overdue, 1
    ),
    Situation(
        "incident", "overdue until touched", _PAUSED, _runs_undisturbed, _overdue_until_touched, 1
    ),
    Situation(
        "incident",
        "resumed, then silent",
        (*_PAUSED, "silence"),
        _runs_undisturbed,
        _resumed_then_silent,
    ),
)
