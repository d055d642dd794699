"""New debugging sessions from a seed: watch loops, and sessions with the debugger attached."""

from __future__ import annotations

from functools import partial

from streamdecisionbench.families.debugging.generator import names
from streamdecisionbench.families.debugging.generator.bystanders import distract
from streamdecisionbench.families.debugging.generator.project import (
    IN_VAIN,
    STOPPED,
    Project,
    SourceFile,
    draw_project,
)
from streamdecisionbench.families.debugging.generator.results import next_file
from streamdecisionbench.families.debugging.generator.session import Failing, Result, Session
from streamdecisionbench.families.debugging.generator.situations import LOOP, OUTCOMES, SESSION
from streamdecisionbench.families.debugging.questions import SPEC, questions
from streamdecisionbench.families.debugging.reference import reference
from streamdecisionbench.families.debugging.state import Material, projector
from streamdecisionbench.suite.authoring import Draft
from streamdecisionbench.suite.generation.draws import Draws, Seat
from streamdecisionbench.suite.generation.script import Script
from streamdecisionbench.suite.generation.world import Kind, Opened

WORDINGS = ("listed",)


def _open(
    tools: tuple[names.Tools, ...],
    orders: tuple[str, ...],
    incident: str,
    script: Script,
    draws: Draws,
    seat: Seat,
) -> Opened[Session]:
    """A session at tick 0, after a run in which the pinned test failed.

    Some run of it is stalled or paused: a session without an incident would leave half of the rules aside.
    """
    project = draw_project(draws.fork("project"), seat, tools, draws.choose(orders))
    session = Session(script, draws.fork("session"), project, seat)
    script.distract, script.stream = partial(distract, session), session.draws
    file = project.theirs[0] if IN_VAIN in seat.agenda else next_file(session)
    earlier = _earlier_run(session, file, draws.fork("earlier run"))
    material = Material(project.session, earlier, f"{project.ours[0].path}:1", project.policy)
    incident = "stalled" if STOPPED in seat.agenda else incident
    files = {("inspect_file", path) for path in project.file_options}
    return Opened(
        session,
        partial(_draft, project, material, script),
        frozenset({*files, ("owner", project.theirs[0].team), ("process", incident)}),
    )


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


def _draft(project: Project, material: Material, script: Script, scenario_id: str) -> Draft:
    pinned = project.pinned.replace("::", " ").replace("/", " ").replace(".", " ").split()[-1]
    return Draft(
        scenario_id=scenario_id,
        task_family="live_debugging",
        title=f"{project.session['project']!s}: {pinned.replace('_', ' ')}",
        questions=questions(project.file_options, project.team_options),
        decision_spec=SPEC,
        events=tuple(script.events),
        changes=script.changes(),
        project=projector(material),
        reference=reference,
        steps=script.steps,
    )


_FIRST, _LAST = "innermost_first", "innermost_last"

KINDS: tuple[Kind[Session], ...] = (
    Kind(
        "watch_loop",
        LOOP,
        partial(_open, names.LOOP_TOOLS, (_FIRST, _FIRST, _FIRST, _LAST), "stalled"),
        outcomes=OUTCOMES,
    ),
    Kind(
        "debugger_session",
        SESSION,
        partial(_open, names.SESSION_TOOLS, (_LAST, _LAST, _LAST, _FIRST), "paused"),
        outcomes=OUTCOMES,
    ),
)
