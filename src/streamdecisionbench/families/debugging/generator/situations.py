"""What happens in a debugging session: edits, runs, incidents, results, hand-overs."""

from __future__ import annotations

from streamdecisionbench.families.debugging import events as say
from streamdecisionbench.families.debugging.generator.commitments import COMMITMENTS
from streamdecisionbench.families.debugging.generator.incidents import PAUSES, SILENCES
from streamdecisionbench.families.debugging.generator.project import STOPPED, SourceFile
from streamdecisionbench.families.debugging.generator.results import RESULTS
from streamdecisionbench.families.debugging.generator.session import DUE, IDLE, Session
from streamdecisionbench.suite.generation.script import Ticks
from streamdecisionbench.suite.generation.situations import Situation
from streamdecisionbench.suite.generation.world import Outcome


def _may_edit(session: Session) -> bool:
    return session.phase == IDLE and session.card != "delegate"


def _fixes_own(session: Session) -> bool:
    blame = session.blame
    return _may_edit(session) and (blame is None or blame.team == session.project.team)


def _fixes_theirs(session: Session) -> bool:
    blame = session.blame
    return _may_edit(session) and blame is not None and blame.team != session.project.team


_WISHES = (
    "Review wants {file} simpler before it goes in.",
    "One more thing: {file} still has the old name in it.",
    "While it is green, let me tidy up {file}.",
    "The ticket asks for one more case in {file}.",
    "{file} could do with a comment, I'll add one.",
    "Before we push: {file} has a leftover in it.",
    "Last wish: {file} should log less.",
)


def _sit_down(session: Session, file: SourceFile) -> Ticks[bool]:
    """Somebody gets to work on the file: the card asks for it, or somebody has a wish though all is green.

    False if a run was started instead.
    """
    ready = session.card == "ready"
    if not (yield from session.idle(session.script.pace(1, 3 if ready else 4))):
        return False
    if ready:
        wish = session.line(_WISHES) or "And {file} once more, sorry."
        text = wish.format(file=file.path.rpartition("/")[2].partition(".")[0])
        session.script.emit(session.chat(session.colleague(), text, "a wish, and the next edit"))
        return (yield from session.idle(1))
    yield from session.read_file()
    return True


def _edit_and_save(session: Session) -> Ticks[None]:
    """An edit, a save, and the grace to its very end."""
    file = session.blame or session.draws.choose([*session.project.ours, session.project.test_file])
    if not (yield from _sit_down(session, file)):
        return
    session.edit(file, "cause: an unsaved edit of a watched file")
    session.show("wait", f"{file.path} has unsaved edits")
    yield from session.script.hold(1, 3)
    session.save(file, session.colleague()[0], "the save grace starts")
    yield from session.let_grace_pass()
    session.show_rerun(session.widest(), f"the save of {file.path} reaches the end of its grace")


def _save_twice(session: Session) -> Ticks[None]:
    """A second save inside the grace of the first starts it anew."""
    file = session.blame or session.project.ours[0]
    if not (yield from _sit_down(session, file)):
        return
    session.edit(file, "cause: an unsaved edit of a watched file")
    session.show("wait", f"{file.path} has unsaved edits")
    yield from session.script.hold(1, 2)
    session.save(file, session.colleague()[0], "the save grace starts")
    yield from session.script.wait(session.policy("save_grace_ticks") - 1)
    session.save(file, "format on save", "trap: a save by a tool starts the grace anew")
    yield from session.let_grace_pass()
    session.show_rerun(session.widest(), f"the second save of {file.path} leaves its grace")


def _widest_of_two(session: Session) -> Ticks[None]:
    """Two changed files of different scope; one keeps its unsaved edit while the other's grace ends."""
    narrow = session.blame or session.project.ours[1]
    wide = session.draws.choose([*session.project.theirs, session.project.settings[1]])
    if not (yield from _sit_down(session, narrow)):
        return
    session.edit(narrow, "cause: an unsaved edit of a watched file")
    session.show("wait", f"{narrow.path} has unsaved edits")
    yield from session.script.wait(1)
    session.save(wide, "git pull", "a wider file is saved meanwhile")
    yield from session.script.wait(session.policy("save_grace_ticks") + session.draws.between(0, 1))
    session.save(narrow, session.colleague()[0], "the narrow file is saved last")
    yield from session.let_grace_pass()
    session.show_rerun(session.widest(), "the widest of two changed files decides the scope")


def _pulled_fix(session: Session) -> Ticks[None]:
    """The owners' fix arrives by a pull."""
    file = session.blame or session.project.theirs[0]
    if not (yield from session.idle(session.script.pace(1, 3))):
        return
    session.save(file, "git pull", "cause: the fix arrives")
    session.show("wait", f"the pull saves {file.path}")
    yield from session.let_grace_pass()
    session.show_rerun(session.widest(), f"the save of {file.path} reaches the end of its grace")


def _settings_pulled(session: Session) -> Ticks[None]:
    """A file that concerns everything changes under a card that had nothing to do with it."""
    file = session.draws.choose(session.project.settings)
    if not (yield from session.idle(session.script.pace(1, 4))):
        return
    session.save(file, "git pull", "cause: a pull saves a settings file")
    session.show("wait", f"the pull saves {file.path}")
    yield from session.let_grace_pass()
    session.show_rerun(session.widest(), f"the save of {file.path} reaches the end of its grace")


def _notes_only(session: Session) -> Ticks[None]:
    """Edits and saves that nobody watches, though the path begins like one that somebody does."""
    path = session.project.lookalike
    yield from session.script.wait(1)
    session.script.trap(say.edit(session.now, path, "trap: nobody watches that file"))
    yield from session.script.wait(1)
    who = session.colleague()[0]
    session.script.trap(say.save(session.now, path, who, "trap: nobody watches that file"))


def _start(session: Session) -> Ticks[None]:
    yield from session.script.hold(1, 3)
    yield from session.read_scope()
    session.start("cause: a run starts")


def _start_with_a_save(session: Session) -> Ticks[None]:
    """A save at the very tick of the start belongs to the run.

    Where a file of another team has to keep a run from compiling, it is pulled then.
    """
    yield from session.script.hold(1, 3)
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
    Situation(
        "edit",
        "edit, save, grace",
        (*_WAITING, "ticks"),
        _fixes_own,
        _edit_and_save,
        4,
        dealt=False,
    ),
    Situation("edit", "two saves in a row", _WAITING, _fixes_own, _save_twice),
    Situation("edit", "widest of two files", _WAITING, _fixes_own, _widest_of_two),
    Situation("edit", "the owners' fix is pulled", _WAITING, _fixes_theirs, _pulled_fix, 6),
    Situation("edit", "settings pulled", _WAITING, _fixes_own, _settings_pulled),
    Situation("edit", "notes nobody watches", ("watched",), _fixes_own, _notes_only, 1),
)

STARTS: tuple[Situation[Session], ...] = (
    Situation(
        "start", "a run starts", ("runs", "process", "wait"), lambda s: s.phase == DUE, _start, 4
    ),
    Situation(
        "start",
        "a save at the start",
        ("changed", "runs"),
        lambda s: s.phase == DUE,
        _start_with_a_save,
    ),
)

OUTCOMES: tuple[Outcome[Session], ...] = (
    Outcome(
        "wasted_runs",
        "runs",
        "a run was started for nothing or with another scope than the changes ask for, or stopped in health",
        ("route", "rerun_scope", "control_action"),
    ),
    Outcome(
        "lost_edits",
        "edits",
        "a file that is not at fault was edited, and the edit taken back",
        ("route", "inspect_file"),
    ),
    Outcome(
        "not_green_s",
        "s",
        "until a run is green and wide enough",
        ("route", "rerun_scope", "inspect_file", "control_action", "owner"),
        rate=lambda session, panel: not session.green,
    ),
)

_ALWAYS = (*EDITS, *STARTS, *RESULTS, *COMMITMENTS)

LOOP = (*_ALWAYS, *SILENCES)
"""A watch loop: edits, runs, silent runs, results."""
SESSION = (*_ALWAYS, *PAUSES, *(s for s in SILENCES if s.name == STOPPED))
"""A session with the debugger attached: runs are paused as well."""
