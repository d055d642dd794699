"""How a run ends: green, too narrow, uncompiled, without the pinned test, or with failures."""

from __future__ import annotations

from streamdecisionbench.families.debugging import events as say
from streamdecisionbench.families.debugging.generator.project import (
    ABSENT,
    GREEN,
    IN_VAIN,
    NARROW,
    NOT_COMPILED,
    SourceFile,
)
from streamdecisionbench.families.debugging.generator.session import RUNNING, Failing, Session
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation


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
    ticks = max(session.script.pace(2, 4) + longer, session.grace_left())
    for _ in range(ticks):
        yield from session.go_on(1)
        panel = session.script.panel
        told = (panel.get("route"), panel.get("control_action")) == ("control", "stop")
        if told and session.grace_left() <= 0:
            session.script.count("wasted_runs")
            session.break_off("cause: the run is stopped, though it is well")
            return False
    return True


def _some_skipped(session: Session) -> int:
    return session.draws.between(0, session.policy("max_skipped") + 2)


def _too_old(session: Session) -> Ticks[None]:
    """A watched file is saved while the run goes on, so its result counts for nothing."""
    if not session.changed:
        yield from session.go_on(1)
        file = session.draws.choose(session.project.ours)
        session.edit(file, "an edit while the run goes on")
        yield from session.go_on(session.draws.between(1, 2))
        session.save(file, session.colleague()[0], "saved after the start: the result will be old")
    yield from session.go_on(session.script.pace(1, 3))
    pinned = [t for t in _may_fail(session) if t == session.project.pinned]
    failing = [Failing(t, next_file(session)) for t in pinned]
    session.end("cause: the run ends, older than a save", failing=failing)
    if session.grace_left() > 0:
        session.show("wait", f"{session.run} ends within the grace of a save")
        yield from session.let_grace_pass()
    session.show_rerun(session.widest(), f"a watched file was saved after {session.run} started")


def _green(session: Session) -> Ticks[None]:
    if not (yield from _run_on(session)):
        return
    most = session.policy("max_skipped")
    skipped = most if session.draws.chance(0.7) else session.draws.between(0, most)
    if not session.met_limit:
        skipped = most  # the first one shows that exactly the limit is enough
    session.met_limit = True
    session.end("cause: the run ends green and wide enough", skipped=skipped)
    session.green = True
    session.show("ready", f"{session.run} is green and wide enough")


def _too_narrow(session: Session) -> Ticks[None]:
    if not (yield from _run_on(session)):
        return
    skipped = session.policy("max_skipped") + session.draws.between(1, 2)
    session.end("cause: the run ends green, but too much was skipped", skipped=skipped)
    session.show_rerun(session.wider(), f"{session.run} skipped {skipped} tests")


def _uncompiled(session: Session) -> Ticks[None]:
    """An error in a file just saved, whoever owns it, and in another that needs it; and a warning."""
    if not (yield from _run_on(session)):
        return
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


def _without_the_pinned(session: Session) -> Ticks[None]:
    """The pinned test was not executed, which outranks a failure elsewhere."""
    if not (yield from _run_on(session)):
        return
    others = [t for t in _may_fail(session) if t != session.project.pinned]
    failing = [Failing(session.draws.choose(others), next_file(session))] if others else []
    session.end(
        "cause: the run ends without the pinned test",
        failing=failing,
        absent=[session.project.pinned],
        skipped=_some_skipped(session),
    )
    session.show_rerun("target", f"{session.run} did not execute the pinned test")


def _pinned_still_fails(session: Session) -> Ticks[None]:
    """No failure is new: the pinned test goes first, though it is not first in the list."""
    if not (yield from _run_on(session)):
        return
    pinned = session.project.pinned
    others = [t for t in _not_new(session) if t != pinned]
    same = session.draws.chance(0.4)
    error = session.project.session["original_error"] if same else session.new_error()
    selected = Failing(pinned, next_file(session), error)
    failing = [Failing(t, session.other_file(selected.file)) for t in others[:1]]
    session.end(
        "cause: the run ends, the pinned test still fails",
        failing=[*failing, selected],
        skipped=_some_skipped(session),
    )
    session.show_failure(selected, f"the pinned test is selected from {session.run}")


def _a_new_failure(session: Session) -> Ticks[None]:
    """A newly failing test goes before the pinned one and before its place in the list."""
    if not (yield from _run_on(session)):
        return
    pinned = session.project.pinned
    fresh = session.draws.choose([t for t in _may_break(session) if t != pinned])
    selected = Failing(fresh, next_file(session))
    old = [t for t in _not_new(session) if t != fresh]
    if pinned in old and session.outcome.get(pinned) == "failed" and session.draws.chance(0.8):
        old = [pinned]
    failing = [Failing(t, session.other_file(selected.file), session.new_error()) for t in old[:1]]
    session.end(
        "cause: the run ends with a newly failing test",
        failing=[*failing, selected],
        skipped=_some_skipped(session),
    )
    session.show_failure(selected, f"{fresh} is newly failing in {session.run}")


def _two_new_failures(session: Session) -> Ticks[None]:
    """Two newly failing tests, the pinned one second: the list decides."""
    if not (yield from _run_on(session)):
        return
    pinned = session.project.pinned
    fresh = session.draws.choose([t for t in _may_break(session) if t != pinned])
    selected = Failing(fresh, next_file(session))
    second = Failing(pinned, session.other_file(selected.file), session.new_error())
    session.end(
        "cause: the run ends with two newly failing tests",
        failing=[selected, second],
        skipped=_some_skipped(session),
    )
    session.show_failure(selected, f"the first of two new failures in {session.run}")


def _first_in_the_list(session: Session) -> Ticks[None]:
    """The pinned test passed, nothing is new: list order."""
    if not (yield from _run_on(session)):
        return
    old = [t for t in reversed(_not_new(session)) if t != session.project.pinned]
    selected = Failing(old[0], next_file(session))
    second = old[1:][-1:]  # one that passed long ago, if there is any
    failing = [selected, *(Failing(t, session.other_file(selected.file)) for t in second)]
    session.end(
        "cause: the run ends, an old failure is left",
        failing=failing,
        skipped=_some_skipped(session),
    )
    session.show_failure(selected, f"{selected.test} is first in the list of {session.run}")


def _not_fixed(session: Session) -> Ticks[None]:
    """The team that had taken an earlier run has to take this one anew."""
    if not (yield from _run_on(session)):
        return
    file = next(f for f in session.project.theirs if f.team == session.committed)
    pinned = session.project.pinned
    old = [t for t in _not_new(session) if session.outcome.get(t) == "failed"]
    selected = Failing(min(old, key=pinned.__eq__), file, session.new_error())
    session.end(
        "cause: the run ends, the hand-over has not helped",
        failing=[selected],
        skipped=_some_skipped(session),
    )
    session.show_failure(selected, f"{session.run} needs a commitment of its own")


def _as_before(session: Session) -> Ticks[None]:
    """Nothing was done about a failure, so it is there again."""
    if not (yield from _run_on(session)):
        return
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
    Situation(
        "result", "result older than a save", ("changed", "runs", "wait"), _runs, _too_old, 1
    ),
    Situation(
        "result",
        GREEN,
        ("ready", "coverage", "target_result"),
        lambda s: _can_be_green(s) and s.width() >= 0,
        _green,
        1,
    ),
    Situation(
        "result",
        NARROW,
        ("coverage",),
        lambda s: _can_be_green(s) and s.scope != "full",
        _too_narrow,
    ),
    Situation(
        "result",
        NOT_COMPILED,
        ("compiler", "order", "target_result"),
        lambda s: _ends(s) and bool(_may_not_compile(s)),
        _uncompiled,
    ),
    Situation(
        "result",
        ABSENT,
        ("not_executed",),
        _ends_without_failure,
        _without_the_pinned,
    ),
    Situation(
        "result",
        "pinned test still fails",
        (*_FAILURE, "target_result"),
        lambda s: _ends(s) and s.project.pinned in _not_new(s),
        _pinned_still_fails,
    ),
    Situation("result", "a new failure", _FAILURE, _others_may_break, _a_new_failure),
    Situation(
        "result",
        "two new failures",
        _FAILURE,
        lambda s: _others_may_break(s) and s.project.pinned in _may_break(s),
        _two_new_failures,
    ),
    Situation(
        "result",
        "first in the list",
        _FAILURE,
        lambda s: (
            _ends(s) and any(t != s.project.pinned for t in _not_new(s)) and not _pin_is_unmended(s)
        ),
        _first_in_the_list,
    ),
    Situation(
        "result",
        "a failure nobody touched",
        _FAILURE,
        lambda s: _ends(s) and bool(s.unmended()),
        _as_before,
        dealt=False,
    ),
    Situation(
        "result",
        IN_VAIN,
        (*_FAILURE, "commitment"),
        lambda s: _ends(s) and bool(s.committed) and _can_be_in_vain(s),
        _not_fixed,
        1,
    ),
)
