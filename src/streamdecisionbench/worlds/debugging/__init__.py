"""New debugging sessions from a seed: watch loops, and sessions with the debugger attached."""

from __future__ import annotations

from functools import partial

from streamdecisionbench.families.debugging.questions import SPEC, questions
from streamdecisionbench.families.debugging.reference import reference
from streamdecisionbench.families.debugging.state import Material, projector
from streamdecisionbench.worlds.debugging import phrases
from streamdecisionbench.worlds.debugging.project import (
    IN_VAIN,
    STOPPED,
    SourceFile,
    draw_project,
)
from streamdecisionbench.worlds.debugging.session import (
    Failing,
    Result,
    Session,
    distract,
)
from streamdecisionbench.worlds.debugging.situations import (
    LOOP,
    OUTCOMES,
    SESSION,
    next_file,
)
from streamdecisionbench.worlds.generation.draws import Draws
from streamdecisionbench.worlds.generation.world import Kind
from streamdecisionbench.worlds.generation.world_simulator import Opening

WORDINGS = ("listed",)


def _open(
    tools: tuple[phrases.Tools, ...],
    orders: tuple[str, ...],
    incident: str,
    opening: Opening,
) -> Session:
    """A session at tick 0, after a run in which the pinned test failed.

    Some run of it is stalled or paused: a session without an incident would leave half of the rules aside.
    """
    draws, seat = opening.draws, opening.seat
    project = draw_project(draws.fork("project"), seat, tools, draws.choose(orders))
    session = Session(opening=opening, draws=draws.fork("session"), project=project)
    session.distract = partial(distract, session)
    file = project.theirs[0] if IN_VAIN in seat.agenda else next_file(session)
    earlier = _earlier_run(session, file, draws.fork("earlier run"))
    material = Material(project.session, earlier, f"{project.ours[0].path}:1", project.policy)
    incident = "stalled" if STOPPED in seat.agenda else incident
    files = {("inspect_file", path) for path in project.file_options}
    must = {*files, ("owner", project.theirs[0].team), ("process", incident)}
    session.must_show = frozenset(must)
    pinned = project.pinned.replace("::", " ").replace("/", " ").replace(".", " ").split()[-1]
    session.publish(
        family="live_debugging",
        title=f"{project.session['project']!s}: {pinned.replace('_', ' ')}",
        questions=questions(project.file_options, project.team_options),
        spec=SPEC,
        project=projector(material),
        reference=reference,
    )
    return session


def _earlier_run(session: Session, file: SourceFile, draws: Draws) -> dict[str, object]:
    project = session.project
    session.scope = draws.choose(["target", "module"])
    executed = session.in_scope()
    pinned = project.pinned
    old = [t for t in executed if t != pinned][: draws.between(0, 1)]
    failing = [Failing(t, session.other_file(file), session.new_error()) for t in old]
    failing.append(Failing(pinned, file, project.session["original_error"]))
    fine = [t for t in project.skips if t in executed and t not in old]
    skipped = fine[: draws.between(0, session.policy("max_skipped") + 1)]
    passed = [t for t in executed if t not in {*skipped, *(f.test for f in failing)}]
    session.ever_passed.update(passed)
    session.note_results(passed, failing)
    session.last = Result(tuple(failing), tuple(skipped), ())
    session.show_failure(failing[-1], "")
    return {
        "id": "r1",
        "scope": session.scope,
        "started": session.started,
        "ended": session.started + draws.between(3, 6),
        "end": "complete",
        "output": [],
        "passed": passed,
        "failed": [session.report(f) for f in failing],
        "skipped": len(skipped),
        "compiler": [],
    }


_FIRST, _LAST = "innermost_first", "innermost_last"

KINDS: tuple[Kind[Session], ...] = (
    Kind(
        "watch_loop",
        LOOP,
        partial(_open, phrases.LOOP_TOOLS, (_FIRST, _FIRST, _FIRST, _LAST), "stalled"),
        outcomes=OUTCOMES,
    ),
    Kind(
        "debugger_session",
        SESSION,
        partial(_open, phrases.SESSION_TOOLS, (_LAST, _LAST, _LAST, _FIRST), "paused"),
        outcomes=OUTCOMES,
    ),
)
