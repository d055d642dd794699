"""Situations of a debugging session: edits, runs, incidents, results, hand-overs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streamdecisionbench.families.debugging import events as say
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.worlds.debugging.phrases import (
    DOUBTS,
    HOPES,
    OPENINGS,
    REGRETS,
    REQUESTS,
    REQUESTS_AGAIN,
    STRANGERS,
)
from streamdecisionbench.worlds.debugging.project import (
    ABSENT,
    GREEN,
    IN_VAIN,
    NARROW,
    NOT_COMPILED,
    REGRETTED,
    SPOKEN,
    STOPPED,
    WRITTEN,
    SourceFile,
)
from streamdecisionbench.worlds.debugging.session import (
    DUE,
    IDLE,
    RUNNING,
    Failing,
    Session,
)
from streamdecisionbench.worlds.generation.world import (
    Outcome,
    Situation,
    read_outcomes,
)
from streamdecisionbench.worlds.generation.world_simulator import Ticks

# How a run ends: green, too narrow, uncompiled, without the pinned test, or with failures.


def next_file(session: Session) -> SourceFile:
    """Whose door the next failure lies at: first the files and teams that no card has named yet."""
    project = session.project
    return session.draws.choose(session.unnamed() or [*project.ours, *project.theirs])


def _ends(session: Session) -> bool:
    return _runs(session) and not session.changed


def _ends_without_failure(session: Session) -> bool:
    return _ends(session) and (session.has_time_for(7) or not session.unnamed())


def _can_be_green(session: Session) -> bool:
    return _ends_without_failure(session) and not session.unmended()


def _runs(session: Session) -> bool:
    return session.phase == RUNNING and session.process == "running"


def _may_fail(session: Session) -> list[str]:
    """Tests of the scope that could fail in a new way: they never ran, or something has changed."""
    return [t for t in session.in_scope() if session.is_free_to_fail(t)]


def _may_break(session: Session) -> list[str]:
    """Tests that passed, and would count as newly failing."""
    return [t for t in _may_fail(session) if session.outcome.get(t) == "passed"]


def _not_new(session: Session) -> list[str]:
    """Tests that would not count as newly failing; first those that passed long ago."""
    found = [t for t in _may_fail(session) if session.outcome.get(t) != "passed"]
    return sorted(found, key=lambda t: t not in session.ever_passed)


def _pin_is_unmended(session: Session) -> bool:
    return session.project.pinned in [f.test for f in session.unmended()]


def _may_not_compile(session: Session) -> list[SourceFile]:
    """What was saved since the run before; the file of another team first, where one is an option."""
    project, saved = session.project, session.saved_since(session.before)
    ours = [f for f in project.ours if f in saved]
    if project.uncompiled not in project.ours and project.uncompiled.path in project.file_options:
        return [project.uncompiled] if project.uncompiled in saved else []
    return [f for f in ours if f.path not in session.answered] or ours


def _run_on(session: Session) -> Ticks[bool]:
    """The run takes its time, at least until no save is in its grace any more.

    False if somebody stops it because the panel says so.
    """
    longer = 2 * max(session.width(), 0)
    ticks = max(session.pace(2, 4) + longer, session.grace_left())
    for _ in range(ticks):
        yield from session.go_on(1)
        panel = session.panel
        stop = (panel.get("route"), panel.get("control_action")) == ("control", "stop")
        if stop and session.grace_left() <= 0:
            session.count("wasted_runs")
            session.break_off("cause: the run is stopped, though it is well")
            return False
    return True


def _at_the_end(result: Callable[[Session], None]) -> Callable[[Session], Ticks[None]]:
    """The run goes on to its end, unless somebody stops it, and has this result."""

    def play(session: Session) -> Ticks[None]:
        if (yield from _run_on(session)):
            result(session)

    return play


def _some_skipped(session: Session) -> int:
    return session.draws.between(0, session.policy("max_skipped") + 2)


def _fail(
    session: Session, failing: Sequence[Failing], shown: Failing, cause: str, because: str
) -> None:
    """The run ends with these failures, and one of them is on the card."""
    session.end(f"cause: the run ends{cause}", failing=failing, skipped=_some_skipped(session))
    session.show_failure(shown, because)


def _too_old(session: Session) -> Ticks[None]:
    """A watched file is saved while the run goes on, so its result counts for nothing."""
    if not session.changed:
        yield from session.go_on(1)
        file = session.draws.choose(session.project.ours)
        session.edit(file, "an edit while the run goes on")
        yield from session.go_on(session.draws.between(1, 2))
        session.save(file, session.colleague()[0], "saved after the start: the result will be old")
    yield from session.go_on(session.pace(1, 3))
    pinned = [t for t in _may_fail(session) if t == session.project.pinned]
    failing = [Failing(t, next_file(session)) for t in pinned]
    session.end("cause: the run ends, older than a save", failing=failing)
    if session.grace_left() > 0:
        session.show("wait", f"{session.run} ends within the grace of a save")
    yield from session.rerun_after_grace(f"a watched file was saved after {session.run} started")


def _green(session: Session) -> None:
    most = session.policy("max_skipped")
    skipped = most if session.draws.chance(0.7) else session.draws.between(0, most)
    if not session.met_limit:
        skipped = most  # the first one shows that exactly the limit is enough
    session.met_limit = True
    session.end("cause: the run ends green and wide enough", skipped=skipped)
    session.green = True
    session.show("ready", f"{session.run} is green and wide enough")


def _too_narrow(session: Session) -> None:
    skipped = session.policy("max_skipped") + session.draws.between(1, 2)
    session.end("cause: the run ends green, but too much was skipped", skipped=skipped)
    session.show_rerun(session.wider(), f"{session.run} skipped {skipped} tests")


def _uncompiled(session: Session) -> None:
    """An error in a file just saved, whoever owns it, and in another that needs it; and a warning."""
    file = session.draws.choose(_may_not_compile(session))
    word = session.draws.choose(session.project.words)
    messages = session.draws.sample(session.project.tools.compiler, 2)
    session.end(
        "cause: the run ends with a compiler error",
        absent=session.in_scope(),
        compiler=[
            say.diagnostic("warning", session.project.ours[0].path, f"unused '{word}'"),
            say.diagnostic("error", file.path, messages[0].format(word=word)),
            say.diagnostic("error", session.other_file(file).path, messages[1].format(word=word)),
        ],
    )
    session.blame = file
    session.show("inspect", f"{session.run} did not compile {file.path}", inspect_file=file.path)


def _without_the_pinned(session: Session) -> None:
    """The pinned test was not executed, which outranks a failure elsewhere."""
    others = [t for t in _may_fail(session) if t != session.project.pinned]
    failing = [Failing(session.draws.choose(others), next_file(session))] if others else []
    session.end(
        "cause: the run ends without the pinned test",
        failing=failing,
        absent=[session.project.pinned],
        skipped=_some_skipped(session),
    )
    session.show_rerun("target", f"{session.run} did not execute the pinned test")


def _pinned_still_fails(session: Session) -> None:
    """No failure is new: the pinned test goes first, though it is not first in the list."""
    pinned = session.project.pinned
    others = [t for t in _not_new(session) if t != pinned]
    same = session.draws.chance(0.4)
    error = session.project.session["original_error"] if same else session.new_error()
    selected = Failing(pinned, next_file(session), error)
    failing = [Failing(t, session.other_file(selected.file)) for t in others[:1]]
    because = f"the pinned test is selected from {session.run}"
    _fail(session, [*failing, selected], selected, ", the pinned test still fails", because)


def _a_new_failure(session: Session) -> None:
    """A newly failing test goes before the pinned one and before its place in the list."""
    pinned = session.project.pinned
    fresh = session.draws.choose([t for t in _may_break(session) if t != pinned])
    selected = Failing(fresh, next_file(session))
    old = [t for t in _not_new(session) if t != fresh]
    if pinned in old and session.outcome.get(pinned) == "failed" and session.draws.chance(0.8):
        old = [pinned]
    failing = [Failing(t, session.other_file(selected.file), session.new_error()) for t in old[:1]]
    because = f"{fresh} is newly failing in {session.run}"
    _fail(session, [*failing, selected], selected, " with a newly failing test", because)


def _two_new_failures(session: Session) -> None:
    """Two newly failing tests, the pinned one second: the list decides."""
    pinned = session.project.pinned
    fresh = session.draws.choose([t for t in _may_break(session) if t != pinned])
    selected = Failing(fresh, next_file(session))
    second = Failing(pinned, session.other_file(selected.file), session.new_error())
    because = f"the first of two new failures in {session.run}"
    _fail(session, [selected, second], selected, " with two newly failing tests", because)


def _first_in_the_list(session: Session) -> None:
    """The pinned test passed, nothing is new: list order."""
    old = [t for t in reversed(_not_new(session)) if t != session.project.pinned]
    selected = Failing(old[0], next_file(session))
    second = old[1:][-1:]  # one that passed long ago, if there is any
    failing = [selected, *(Failing(t, session.other_file(selected.file)) for t in second)]
    because = f"{selected.test} is first in the list of {session.run}"
    _fail(session, failing, selected, ", an old failure is left", because)


def _not_fixed(session: Session) -> None:
    """The team that had taken an earlier run has to take this one as well."""
    file = next(f for f in session.project.theirs if f.team == session.committed)
    pinned = session.project.pinned
    old = [t for t in _not_new(session) if session.outcome.get(t) == "failed"]
    selected = Failing(min(old, key=pinned.__eq__), file, session.new_error())
    because = f"{session.run} needs a commitment of its own"
    _fail(session, [selected], selected, ", the hand-over has not helped", because)


def _as_before(session: Session) -> None:
    """Nothing was done about a failure, so it is there again."""
    left = session.unmended()
    session.end("cause: the run ends, a failure nobody touched is there again")
    pinned = [f for f in left if f.test == session.project.pinned]
    session.show_failure([*pinned, *left][0], f"nobody has mended what fails in {session.run}")


def _others_may_break(session: Session) -> bool:
    pinned = session.project.pinned
    return _ends(session) and any(t != pinned for t in _may_break(session))


def _can_be_in_vain(session: Session) -> bool:
    failed = [t for t in _not_new(session) if session.outcome.get(t) == "failed"]
    return bool(failed) and not _pin_is_unmended(session)


_FAILURE = ("selection", "frame", "owner", "patterns", "order")

RESULTS: tuple[Situation[Session], ...] = (
    Situation("result", "result older than a save", ("changed", "runs", "wait"), _runs, _too_old, 1),
    Situation("result", GREEN, ("ready", "coverage", "target_result"), lambda s: _can_be_green(s) and s.width() >= 0, _at_the_end(_green), 1),
    Situation("result", NARROW, ("coverage",), lambda s: _can_be_green(s) and s.scope != "full", _at_the_end(_too_narrow)),
    Situation("result", NOT_COMPILED, ("compiler", "order", "target_result"), lambda s: _ends(s) and bool(_may_not_compile(s)), _at_the_end(_uncompiled)),
    Situation("result", ABSENT, ("not_executed",), _ends_without_failure, _at_the_end(_without_the_pinned)),
    Situation("result", "pinned test still fails", (*_FAILURE, "target_result"), lambda s: _ends(s) and s.project.pinned in _not_new(s), _at_the_end(_pinned_still_fails)),
    Situation("result", "a new failure", _FAILURE, _others_may_break, _at_the_end(_a_new_failure)),
    Situation("result", "two new failures", _FAILURE, lambda s: _others_may_break(s) and s.project.pinned in _may_break(s), _at_the_end(_two_new_failures)),
    Situation("result", "first in the list", _FAILURE, lambda s: (_ends(s) and any(t != s.project.pinned for t in _not_new(s)) and not _pin_is_unmended(s)), _at_the_end(_first_in_the_list)),
    Situation("result", "a failure nobody touched", _FAILURE, lambda s: _ends(s) and bool(s.unmended()), _at_the_end(_as_before), dealt=False),
    Situation("result", IN_VAIN, (*_FAILURE, "commitment"), lambda s: _ends(s) and bool(s.committed) and _can_be_in_vain(s), _at_the_end(_not_fixed), 1),
)  # fmt: skip


# Incidents of an active run: silence, a pause in the debugger, a save.


def _runs_undisturbed(session: Session) -> bool:
    return session.phase == RUNNING and not session.eventful and session.has_time_for(9)


def _has_room_between(session: Session) -> bool:
    gap = session.policy("stop_ticks") - session.policy("stall_ticks")
    return _runs_undisturbed(session) and gap >= 2


def _stall(session: Session) -> Ticks[None]:
    """Silence up to the stall, with other panes busy."""
    session.eventful = True
    yield from session.wait(1)
    text = session.draws.choose(STRANGERS)
    session.trap(say.terminal(session.now, "docker", text, "trap: a line of another pane"))
    hope = session.new_line(HOPES)
    if hope:
        session.trap(session.chat(session.colleague(), hope, "trap: talk"))
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
    yield from session.wait(session.draws.between(1, gap - 1))
    _comes_back(session, "cause: a line in time")


def _stop_is_due(session: Session) -> Ticks[None]:
    yield from _stall(session)
    path = session.draws.choose(session.project.unwatched)
    session.trap(say.save(session.now, path, "autosave", "trap: a save ends no silence"))
    yield from session.until_silence(session.policy("stop_ticks"))
    because = f"the silence of {session.run} reaches {session.policy('stop_ticks')}"
    session.show("control", because, control_action="stop")


def _stop_due_but_it_comes_back(session: Session) -> Ticks[None]:
    yield from _stop_is_due(session)
    yield from session.hold(1, 2)
    _comes_back(session, "cause: a line after all")


def _stopped(session: Session) -> Ticks[None]:
    """Whoever sees the card stops the run; without a card it hangs until somebody notices."""
    yield from _stop_is_due(session)
    yield from session.wait(1)
    yield from session.see(6, route="control", control_action="stop")
    yield from session.wait(session.draws.between(0, 1))
    session.break_off("cause: the run is stopped")


def _pause(session: Session) -> Ticks[None]:
    session.eventful = session.paused = True
    yield from session.wait(1)
    detail = (
        f"breakpoint {session.draws.choose(session.project.words)}:{session.draws.between(9, 99)}"
    )
    session.emit(
        say.debugger(session.now, session.run, "pause", detail, "cause: the run is paused")
    )
    session.process = "paused"
    session.show("wait", f"{session.run} is paused")


def _interact(session: Session, note: str) -> None:
    kind = session.draws.choose(["evaluate", "step"])
    detail = session.draws.choose(session.project.words)
    session.emit(say.debugger(session.now, session.run, kind, detail, note))


def _resume(session: Session) -> None:
    session.emit(
        say.debugger(session.now, session.run, "resume", "continue", "cause: the run goes on")
    )
    session.paused, session.process, session.sign = False, "running", session.now
    session.show("wait", f"{session.run} is resumed")


def _paused_briefly(session: Session) -> Ticks[None]:
    """An interaction just before the pause is overdue, then a resume."""
    yield from _pause(session)
    yield from session.wait(session.policy("pause_ticks") - 1)
    _interact(session, "resets the pause age just in time")
    yield from session.wait(session.draws.between(1, session.policy("pause_ticks") - 1))
    _resume(session)


def _pause_overdue(session: Session) -> Ticks[None]:
    """Entries that reset nothing, a save among them, until the pause is overdue."""
    yield from _pause(session)
    file = session.draws.choose(session.project.ours)
    yield from session.wait(1)
    session.edit(file, "trap: edits reset no pause age")
    yield from session.wait(session.policy("pause_ticks") - 2)
    session.save(file, session.colleague()[0], "trap: nor do saves; but the result will be old")
    yield from session.wait(1)
    _continue_due(session)
    yield from session.wait(1)
    yield from session.see(6, route="control", control_action="continue")
    yield from session.wait(session.draws.between(0, 1))
    _resume(session)


def _overdue_until_touched(session: Session) -> Ticks[None]:
    """Somebody steps in the debugger, which takes the card back; then the run goes on."""
    yield from _pause(session)
    yield from session.wait(1)
    session.trap(
        say.debugger(session.now, session.run, "watch_refresh", "1 watch", "trap: resets nothing")
    )
    yield from session.wait(session.policy("pause_ticks") - 1)
    _continue_due(session)
    yield from session.hold(1, 2)
    _interact(session, "cause: an interaction ends the wait for one")
    session.show("wait", "somebody works in the debugger")
    yield from session.wait(session.draws.between(1, session.policy("pause_ticks") - 1))
    _resume(session)


def _continue_due(session: Session) -> None:
    because = f"the pause age of {session.run} reaches {session.policy('pause_ticks')}"
    session.show("control", because, control_action="continue")


def _resumed_then_silent(session: Session) -> Ticks[None]:
    """Silence counts from the resume, not from the last line before the pause."""
    yield from _pause(session)
    yield from session.wait(session.policy("pause_ticks") - 1)
    _resume(session)
    yield from session.until_silence(session.policy("stall_ticks"))
    session.process = "stalled"
    session.show("wait", f"the silence of {session.run} since its resume is long enough")
    yield from session.wait(1)
    if session.now - session.sign >= session.policy("stop_ticks"):
        because = f"the silence of {session.run} reaches {session.policy('stop_ticks')}"
        session.show("control", because, control_action="stop")
        yield from session.hold(1, 2)
    _comes_back(session, "cause: a line again")


_SILENT = ("process", "silence", "no_effect", "ticks")
_PAUSED = ("process", "pause_age", "control", "order")

SILENCES: tuple[Situation[Session], ...] = (
    Situation("incident", "stalls and comes back", _SILENT, _has_room_between, _stalls_and_comes_back),
    Situation("incident", "stop is due", (*_SILENT, "control"), _runs_undisturbed, _stop_due_but_it_comes_back, 1),
    Situation("incident", STOPPED, (*_SILENT, "control", "runs", "not_executed"), lambda s: _runs_undisturbed(s) and s.target != "not_run", _stopped, 1),
)  # fmt: skip

PAUSES: tuple[Situation[Session], ...] = (
    Situation("incident", "paused briefly", _PAUSED, _runs_undisturbed, _paused_briefly, 1),
    Situation("incident", "pause overdue", (*_PAUSED, "changed"), _runs_undisturbed, _pause_overdue, 1),
    Situation("incident", "overdue until touched", _PAUSED, _runs_undisturbed, _overdue_until_touched, 1),
    Situation("incident", "resumed, then silent", (*_PAUSED, "silence"), _runs_undisturbed, _resumed_then_silent),
)  # fmt: skip


# How a team takes over a failure, and talk that only sounds like it.


def _owed(session: Session) -> bool:
    return session.phase == IDLE and session.card == "delegate"


def _form(session: Session, run: str) -> str:
    form: str = session.draws.choose(session.project.policy["commitment_forms"])
    return form.replace("RUN", run)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _doubt(session: Session) -> Event:
    several = len(session.last.failing) > 1
    doubts = [text for text in DOUBTS if several or "test" not in text]
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
        session.trap(trap(session))
    yield from session.ask_owner()
    return True


def _commit(session: Session, event: Event) -> None:
    session.emit(event)
    session.committed = session.owed
    session.show("wait", f"{session.owed} commits to {session.run}")


def _words(session: Session) -> str:
    def drawn() -> str:
        mark = session.draws.choose([".", "!"])
        return session.draws.choose(OPENINGS) + _capital(_form(session, session.run)) + mark

    return session.unsaid(drawn)


def _in_writing(session: Session) -> Ticks[None]:
    if not (yield from _ask(session, _question, _doubt)):
        return
    yield from session.hold(1, 2)
    who = session.outsider(session.owed)
    _commit(session, session.chat(who, _words(session), "cause: a commitment in the right form"))


def _in_speech(session: Session) -> Ticks[None]:
    """The partial already has the words; only the final text commits."""
    if session.open_speech is not None:
        yield from session.wait(1)
        if session.open_speech is not None:
            session.trap(session.complete("distractor: speech becomes final"))
    if not (yield from _ask(session, _other_team)):
        return
    yield from session.wait(1)
    text = _form(session, session.run)
    who = session.outsider(session.owed)
    final = _words(session)
    heard = session.partial(who, text.lower(), final, "trap: the words, but not final")
    kept, session.open_speech = session.open_speech, None  # nobody else may complete it
    session.trap(heard)
    yield from session.wait(session.draws.between(1, 2))
    session.open_speech = kept
    _commit(session, session.complete("cause: the final text commits"))


def _and_regret(session: Session) -> Ticks[None]:
    """What is said later withdraws nothing."""
    trap = session.draws.choose([_other_run, _hearsay]) if session.runs < 3 else _other_run
    if not (yield from _ask(session, trap)):
        return
    yield from session.hold(1, 2)
    who = session.outsider(session.owed)
    _commit(session, session.chat(who, _words(session), "cause: a commitment in the right form"))
    yield from session.wait(session.draws.between(1, 2))
    text = session.draws.choose(REGRETS).format(run=session.run)
    session.trap(session.chat(who, text, "trap: later talk withdraws nothing"))


_RULES = ("commitment", "owner", "no_effect")

COMMITMENTS: tuple[Situation[Session], ...] = (
    Situation("hand-over", WRITTEN, _RULES, _owed, _in_writing),
    Situation("hand-over", SPOKEN, _RULES, _owed, _in_speech),
    Situation("hand-over", REGRETTED, _RULES, _owed, _and_regret),
)  # fmt: skip


# Edits, starts, and the situations of each kind of session.


def _may_edit(session: Session) -> bool:
    return session.phase == IDLE and session.card != "delegate"


def _fixes_own(session: Session) -> bool:
    blame = session.blame
    return _may_edit(session) and (blame is None or blame.team == session.project.team)


def _fixes_theirs(session: Session) -> bool:
    blame = session.blame
    return _may_edit(session) and blame is not None and blame.team != session.project.team


def _sit_down(session: Session, file: SourceFile) -> Ticks[bool]:
    """A colleague starts to work on the file: the card asks for it, or a request comes while all is green.

    False if a run was started instead.
    """
    ready = session.card == "ready"
    if not (yield from session.idle(session.pace(1, 3 if ready else 4))):
        return False
    if ready:
        request = session.new_line(REQUESTS) or REQUESTS_AGAIN
        text = request.format(file=file.path.rpartition("/")[2].partition(".")[0])
        session.emit(session.chat(session.colleague(), text, "a wish, and the next edit"))
        return (yield from session.idle(1))
    yield from session.read_file()
    return True


def _edit_and_save(session: Session) -> Ticks[None]:
    """An edit, a save, and the grace to its very end."""
    file = session.blame or session.draws.choose([*session.project.ours, session.project.test_file])
    if not (yield from _sit_down(session, file)):
        return
    session.begin_edit(file, "cause: an unsaved edit of a watched file")
    yield from session.hold(1, 3)
    session.save(file, session.colleague()[0], "the save grace starts")
    yield from session.rerun_after_grace(f"the save of {file.path} reaches the end of its grace")


def _save_twice(session: Session) -> Ticks[None]:
    """A second save inside the grace of the first restarts the grace."""
    file = session.blame or session.project.ours[0]
    if not (yield from _sit_down(session, file)):
        return
    session.begin_edit(file, "cause: an unsaved edit of a watched file")
    yield from session.hold(1, 2)
    session.save(file, session.colleague()[0], "the save grace starts")
    yield from session.wait(session.policy("save_grace_ticks") - 1)
    session.save(file, "format on save", "trap: a save by a tool starts the grace anew")
    yield from session.rerun_after_grace(f"the second save of {file.path} leaves its grace")


def _widest_of_two(session: Session) -> Ticks[None]:
    """Two changed files of different scope; one keeps its unsaved edit while the other's grace ends."""
    narrow = session.blame or session.project.ours[1]
    wide = session.draws.choose([*session.project.theirs, session.project.settings[1]])
    if not (yield from _sit_down(session, narrow)):
        return
    session.begin_edit(narrow, "cause: an unsaved edit of a watched file")
    yield from session.wait(1)
    session.save(wide, "git pull", "a wider file is saved meanwhile")
    yield from session.wait(session.policy("save_grace_ticks") + session.draws.between(0, 1))
    session.save(narrow, session.colleague()[0], "the narrow file is saved last")
    yield from session.rerun_after_grace("the widest of two changed files decides the scope")


def _pull(session: Session, file: SourceFile, cause: str, most: int) -> Ticks[None]:
    """A pull saves a file."""
    if not (yield from session.idle(session.pace(1, most))):
        return
    session.save(file, "git pull", f"cause: {cause}")
    session.show("wait", f"the pull saves {file.path}")
    yield from session.rerun_after_grace(f"the save of {file.path} reaches the end of its grace")


def _pulled_fix(session: Session) -> Ticks[None]:
    """The owners' fix arrives by a pull."""
    yield from _pull(session, session.blame or session.project.theirs[0], "the fix arrives", 3)


def _settings_pulled(session: Session) -> Ticks[None]:
    """A file that concerns everything changes under a card that had nothing to do with it."""
    file = session.draws.choose(session.project.settings)
    yield from _pull(session, file, "a pull saves a settings file", 4)


def _notes_only(session: Session) -> Ticks[None]:
    """Edits and saves that nobody watches, though the path begins like one that somebody does."""
    path = session.project.lookalike
    yield from session.wait(1)
    session.trap(say.edit(session.now, path, "trap: nobody watches that file"))
    yield from session.wait(1)
    who = session.colleague()[0]
    session.trap(say.save(session.now, path, who, "trap: nobody watches that file"))


def _start(session: Session) -> Ticks[None]:
    yield from session.hold(1, 3)
    yield from session.read_scope()
    session.start("cause: a run starts")


def _start_with_a_save(session: Session) -> Ticks[None]:
    """A save at the very tick of the start belongs to the run.

    Where a file of another team has to keep a run from compiling, it is pulled then.
    """
    yield from session.hold(1, 3)
    yield from session.read_scope()
    project = session.project
    ours = project.uncompiled in project.ours or project.uncompiled.path in session.answered
    pulled = not ours and project.uncompiled.path in project.file_options
    file = project.uncompiled if pulled else session.draws.choose(project.ours)
    by = "git pull" if pulled else session.colleague()[0]
    session.start("cause: a run starts")
    session.save(file, by, "trap: saved at the very start, so part of the run")


_WAITING = ("wait", "changed", "watched", "patterns", "order")

EDITS: tuple[Situation[Session], ...] = (
    Situation("edit", "edit, save, grace", (*_WAITING, "ticks"), _fixes_own, _edit_and_save, 4, dealt=False),
    Situation("edit", "two saves in a row", _WAITING, _fixes_own, _save_twice),
    Situation("edit", "widest of two files", _WAITING, _fixes_own, _widest_of_two),
    Situation("edit", "the owners' fix is pulled", _WAITING, _fixes_theirs, _pulled_fix, 6),
    Situation("edit", "settings pulled", _WAITING, _fixes_own, _settings_pulled),
    Situation("edit", "notes nobody watches", ("watched",), _fixes_own, _notes_only, 1),
)  # fmt: skip

STARTS: tuple[Situation[Session], ...] = (
    Situation("start", "a run starts", ("runs", "process", "wait"), lambda s: s.phase == DUE, _start, 4),
    Situation("start", "a save at the start", ("changed", "runs"), lambda s: s.phase == DUE, _start_with_a_save),
)  # fmt: skip

OUTCOMES: tuple[Outcome[Session], ...] = read_outcomes(
    __package__, not_green_s=lambda session, panel: not session.green
)

_ALWAYS = (*EDITS, *STARTS, *RESULTS, *COMMITMENTS)

LOOP = (*_ALWAYS, *SILENCES)
"""A watch loop: edits, runs, silent runs, results."""
SESSION = (*_ALWAYS, *PAUSES, *(s for s in SILENCES if s.name == STOPPED))
"""A session with the debugger attached: runs are paused as well."""
