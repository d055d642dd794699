"""A debugging session while it is being generated: its state, and verbs that change it.

The session keeps its own account of runs, saves and results. From it situations declare the card
that should show. Nothing here calls the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from streamdecisionbench.families.debugging import events as say
from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.worlds.debugging import phrases
from streamdecisionbench.worlds.debugging.phrases import (
    HALF_SENTENCES,
    PANES,
    TALK,
    TALK_WHILE_RUNNING,
)
from streamdecisionbench.worlds.debugging.project import (
    Person,
    Project,
    SourceFile,
)
from streamdecisionbench.worlds.generation.world_simulator import (
    Ticks,
    WorldSimulator,
)

_WIDTHS = ("target", "module", "full")
_PATIENCE = 4
"""Ticks for which people wait for a card before they help themselves."""
_BELIEF = 3
"""So many runs are started in vain before nobody believes a rerun card with nothing changed."""

IDLE, DUE, RUNNING = "idle", "due", "running"
"""Phases: nothing runs and a card shows; a rerun card shows; a run is active."""


@dataclass(frozen=True, slots=True)
class Failing:
    """A test that fails, and the file at whose door its error lies."""

    test: str
    file: SourceFile
    error: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What a run has come to; the same code run again comes to the same."""

    failing: tuple[Failing, ...]
    skipped: tuple[str, ...]
    compiler: tuple[dict[str, str], ...]


@dataclass(kw_only=True)
class Session(WorldSimulator):
    """The world of one session."""

    project: Project
    phase: str = IDLE
    card: str = "inspect"
    process: str = "idle"
    target: str = "original_error"
    run: str = "r1"
    scope: str = "module"
    due: str = "module"
    """The scope the last rerun card should have had."""
    last: Result = Result((), (), ())
    vain: int = 0
    """Runs started though nothing had changed."""
    reports: dict[Failing, dict[str, object]] = field(default_factory=dict)
    started: int = -9
    lines: int = 0
    """Lines the active run has printed."""
    sign: int = 0
    """Tick of the active run's last sign of life."""
    paused: bool = False
    eventful: bool = False
    """Whether this run has had its incident; one is enough."""
    runs: int = 1
    outcome: dict[str, str] = field(default_factory=dict)
    """Test → passed or failed in the most recent run that executed it."""
    ever_passed: set[str] = field(default_factory=set)
    """Tests that passed in some run, even if they failed in a later one."""
    failures: dict[str, Failing] = field(default_factory=dict)
    """Test → how it failed in the most recent run that executed it, if it did."""
    seen: dict[str, int] = field(default_factory=dict)
    """Test → start of the most recent run that executed it."""
    before: int = -99
    """Start of the run before the last one."""
    saves: list[tuple[int, SourceFile]] = field(default_factory=list)
    """All saves of watched files so far, with their ticks."""
    changed: list[SourceFile] = field(default_factory=list)
    """Watched files saved after the last start."""
    blame: SourceFile | None = None
    """The file at whose door the failure on the card lies."""
    owed: str = ""
    """The team a delegate card names."""
    committed: str = ""
    """The team that last committed, to whichever run."""
    answered: set[str] = field(default_factory=set)
    """Files and teams that some card has named already."""
    green: bool = False
    """Whether some run has been green and wide enough."""
    met_limit: bool = False
    """Whether a run that skipped exactly the limit was enough."""
    typing: SourceFile | None = None
    """The watched file with unsaved edits."""
    open_speech: tuple[str, Person, str] | None = None
    """A partial utterance still to be completed: id, speaker, final text."""

    def show(self, card: str, because: str, **branch: str) -> None:
        """The card from now on, with both badges as they stand."""
        self.card = card
        self.answered.update(branch.values())
        badges = {"process": self.process, "target_result": self.target}
        self.decide({"route": card, **badges, **branch}, because)

    def show_rerun(self, scope: str, because: str) -> None:
        self.phase, self.due = DUE, scope
        self.show("rerun", because, rerun_scope=scope)

    def edit(self, file: SourceFile, note: str) -> None:
        """Somebody types in a watched file, where the cursor then is."""
        self.emit(say.edit(self.now, file.path, note))
        self.typing = file
        self.move_cursor()

    def move_cursor(self) -> None:
        """Within the file somebody types in; anywhere while nobody does."""
        everything = [*self.project.ours, *self.project.theirs, self.project.test_file]
        file = self.typing or self.draws.choose(everything)
        self.emit(say.cursor(self.now, f"{file.path}:{self.draws.between(3, 160)}"))

    def save(self, file: SourceFile, by: str, note: str) -> None:
        """A watched file is saved; from now on it differs from what the last run saw."""
        self.emit(say.save(self.now, file.path, by, note))
        self.saves.append((self.now, file))
        if file == self.typing:
            self.typing = None
        if self.started < self.now and file not in self.changed:
            self.changed.append(file)

    def grace_left(self) -> int:
        """Ticks until the last save of a watched file has left its grace."""
        saved = self.saves[-1][0] if self.saves else -99
        return saved + self.policy("save_grace_ticks") - self.now

    def saved_since(self, tick: int) -> list[SourceFile]:
        """What was saved after that tick and is part of the last run that was started."""
        return [file for at, file in self.saves if tick < at <= self.started]

    def moved(self, test: str) -> list[SourceFile]:
        """What was saved since the test was last executed: without that it ends as it did."""
        return self.saved_since(self.seen[test]) if test in self.seen else []

    def is_free_to_fail(self, test: str) -> bool:
        """It has never run, or something has changed since; a test that passed has to call it."""
        if test not in self.seen:
            return True
        passed = self.outcome[test] == "passed"
        return any(not passed or self._is_called_by(test, file) for file in self.moved(test))

    def _is_called_by(self, test: str, file: SourceFile) -> bool:
        own = self.project.places[test].startswith(f"{self.project.test_file.path}:")
        return own or file != self.project.test_file

    def unmended(self) -> list[Failing]:
        """Tests of the scope that failed and for which nothing has changed since."""
        failed = [t for t in self.in_scope() if self.outcome.get(t) == "failed"]
        return [self.failures[t] for t in failed if not self.moved(t)]

    def begin_edit(self, file: SourceFile, note: str) -> None:
        self.edit(file, note)
        self.show("wait", f"{file.path} has unsaved edits")

    def rerun_after_grace(self, because: str) -> Ticks[None]:
        """The grace of the last save passes, and a rerun is due."""
        yield from self.wait(max(self.grace_left(), 0))
        self.show_rerun(self.widest(), because)

    def widest(self) -> str:
        """The scope of a rerun after all changes."""
        return max((f.scope for f in self.changed), key=_WIDTHS.index)

    def read_scope(self) -> Ticks[None]:
        """Whoever starts the run takes its scope off the panel."""
        yield from self.see(_PATIENCE, route="rerun")
        self.scope = self._scope_shown(self.due)
        if self.scope != self.due:
            self.count("wasted_runs")

    def _scope_shown(self, own: str) -> str:
        shown = self.panel.get("rerun_scope")
        return shown if shown in _WIDTHS else own

    def width(self) -> int:
        """How much wider the active run is than it had to be; below zero: too narrow."""
        return _WIDTHS.index(self.scope) - _WIDTHS.index(self.due)

    def idle(self, ticks: int) -> Ticks[bool]:
        """Time passes without a run. Who sees a rerun card starts one, for nothing: then False."""
        for _ in range(ticks):
            yield from self.wait(1)
            if self.panel.get("route") == "rerun" and self.vain < _BELIEF:
                yield from self._run_in_vain()
                return False
        return True

    def _run_in_vain(self) -> Ticks[None]:
        """Nothing has changed since the last run, so this one comes to the same."""
        before, last = self.scope, self.last
        self.vain += 1
        self.count("wasted_runs")
        self.due = self.scope = self._scope_shown(self.scope)
        self.start("cause: a run starts, though nothing has changed")
        yield from self.go_on(self.draws.between(2, 3))
        inside = self.in_scope()
        failing = [f for f in last.failing if f.test in inside]
        again = {f.test for f in failing}
        failed = [t for t in inside if self.outcome.get(t) == "failed" and t not in again]
        narrower = _WIDTHS.index(self.scope) < _WIDTHS.index(before)
        skipped = self.policy("max_skipped") + 1 if narrower else len(last.skipped)
        self.end(
            "cause: the run ends as the one before",
            failing=failing,
            absent=inside if last.compiler else failed,
            skipped=skipped,
            compiler=last.compiler,
        )
        self._show_again()

    def _show_again(self) -> None:
        """The card of a run in which nothing is newly failing."""
        last, because = self.last, f"{self.run} has brought nothing new"
        errors = [d["file"] for d in last.compiler if d["severity"] == "error"]
        pinned = [f for f in last.failing if f.test == self.project.pinned]
        if errors:
            self.blame = next(f for f in self.project.files if f.path == errors[0])
            self.show("inspect", because, inspect_file=errors[0])
        elif last.failing:
            self.show_failure([*pinned, *last.failing][0], because)
        elif len(last.skipped) > self.policy("max_skipped"):
            self.show_rerun(self.wider(), because)
        else:
            self.show("ready", because)

    def wider(self) -> str:
        """The next wider scope than the last run had."""
        return _WIDTHS[min(_WIDTHS.index(self.scope) + 1, 2)]

    def show_failure(self, failing: Failing, because: str) -> None:
        """The selected failure's card: ours to inspect, or another team's to take over."""
        self.blame = failing.file
        if failing.file.team == self.project.team:
            self.show("inspect", because, inspect_file=failing.file.path)
        else:
            self.owed = failing.file.team
            self.show("delegate", because, owner=self.owed)

    def read_file(self) -> Ticks[None]:
        """A colleague opens the file on the panel to fix a failure. Edits of another file are lost."""
        if self.card != "inspect":
            return
        if not (yield from self.see(_PATIENCE, route="inspect")):
            self._wonder()
        shown = self.panel.get("inspect_file")
        for file in self.project.files:
            if file.path == shown and file != self.blame:
                self.count("lost_edits")
                self.begin_edit(file, "cause: an edit of a file that is not at fault")
                yield from self.wait(self.draws.between(2, 3))
                self.save(file, self.colleague()[0], "the edit is taken back, which is a save")
                yield from self.wait(1)

    def ask_owner(self) -> Ticks[None]:
        """Somebody turns to the team on the panel; another than the owner's says no."""
        if not (yield from self.see(_PATIENCE, route="delegate")):
            self._wonder()
        elif self._refuses(self.panel.get("owner", ""), self.owed):
            yield from self.wait(self.draws.between(2, 3))

    def _wonder(self) -> None:
        """What people say to a card that is for another case: nothing but talk comes of it."""
        route = self.panel.get("route")
        text = self.new_line(phrases.TOO_SOON).format(run=self.run) if route == "ready" else ""
        if text:
            self.trap(self.chat(self.colleague(), text, "trap: a card nobody believes"))
        if route == "delegate":
            self._refuses(self.panel.get("owner", ""), "")

    def _refuses(self, team: str, owner: str) -> bool:
        """A team that is asked for what is not its own says no; whether it did."""
        if team not in self.project.other_people or team == owner:
            return False
        text = (self.new_line(phrases.NOT_OURS) or phrases.NOT_OURS_AGAIN).format(run=self.run)
        self.trap(self.chat(self.outsider(team), text, "trap: asked for nothing"))
        return True

    def start(self, note: str) -> None:
        """A run of the scope on the card starts."""
        self.runs += 1
        self.run = f"r{self.runs}"
        self.emit(say.run_start(self.now, self.run, self.scope, note))
        self.phase, self.process, self.eventful, self.lines = RUNNING, "running", False, 0
        self.before, self.started, self.sign = self.started, self.now, self.now
        self.changed = []
        self.show("wait", f"{self.run} starts")

    def print_line(self, note: str) -> None:
        """The active run prints something, which is a sign of life: how it starts, then how far it is."""
        age = self.now - self.started
        begins = self.lines < len(self.project.tools.begins) and (age < 3 or not self.lines)
        text = self.project.tools.begins[self.lines] if begins else f"[ {100 * age // (age + 7)}%]"
        self.emit(say.run_output(self.now, text, note))
        self.lines, self.sign = self.lines + 1, self.now

    def go_on(self, ticks: int) -> Ticks[None]:
        """The active run runs on and prints often enough not to seem stalled."""
        for _ in range(ticks):
            yield from self.wait(1)
            silence = self.now - self.sign
            if silence >= self.policy("stall_ticks") - 1 or self.draws.chance(0.15):
                self.print_line("the run prints in time")

    def until_silence(self, ticks: int) -> Ticks[None]:
        """Time passes until the run has been silent for exactly this long."""
        yield from self.wait(self.sign + ticks - self.now)

    def end(
        self,
        note: str,
        *,
        failing: Sequence[Failing] = (),
        absent: Sequence[str] = (),
        skipped: int = 0,
        compiler: Sequence[dict[str, str]] = (),
        stopped: bool = False,
    ) -> None:
        """The runner reports. Every test of the scope has passed, failed or was skipped.

        What failed before and was not touched since fails again, listed last. `skipped` is how many
        are skipped where so many can be: absent ones, and some of those that would pass.
        """
        failing = [replace(f, error=f.error or self.new_error()) for f in failing]
        failed = {f.test: f for f in failing}
        left = [f for f in self.unmended() if f.test not in {*failed, *absent}]
        failing, failed = [*failing, *left], failed | {f.test: f for f in left}
        absent = [*absent, *self._left_out({*failed, *absent}, skipped - len(absent))]
        self.last = Result(tuple(failing), tuple(absent), tuple(compiler))
        passed = [t for t in self.in_scope() if t not in failed and t not in absent]
        self.emit(
            say.run_end(
                self.now,
                note,
                passed=passed,
                failed=[self.report(f) for f in failing],
                skipped=len(absent),
                compiler=compiler,
                end="stopped" if stopped else "complete",
            )
        )
        self.phase, self.process, self.paused = IDLE, "idle", False
        self.blame = None
        self.ever_passed.update(passed)
        self.note_results(passed, failing)
        self.target = self._badge(passed, failed)

    def note_results(self, passed: Sequence[str], failing: Sequence[Failing]) -> None:
        self.failures |= {f.test: f for f in failing}
        self.outcome |= dict.fromkeys(passed, "passed") | {f.test: "failed" for f in failing}
        self.seen |= dict.fromkeys([*passed, *(f.test for f in failing)], self.started)

    def _left_out(self, others: set[str], most: int) -> list[str]:
        """Tests of the scope that would have passed, in the order in which runs leave them out."""
        inside = set(self.in_scope()) - others
        return [t for t in self.project.skips if t in inside][: max(most, 0)]

    def break_off(self, note: str) -> None:
        """The run is stopped before the pinned test; what it left is a result all the same."""
        pinned = self.project.pinned
        self.end(
            note,
            absent=[t for t in self.in_scope() if t == pinned or self.draws.chance(0.5)],
            stopped=True,
        )
        self.show_rerun("target", f"{self.run} is stopped before the pinned test")

    def in_scope(self) -> tuple[str, ...]:
        return self.project.tests[self.scope]

    def _badge(self, passed: Sequence[str], failed: dict[str, Failing]) -> str:
        pinned = self.project.pinned
        if pinned in passed:
            return "passed"
        if pinned not in failed:
            return "not_run"
        same = failed[pinned].error == self.project.session["original_error"]
        return "original_error" if same else "different_error"

    def report(self, failing: Failing) -> dict[str, object]:
        """A failure as the runner prints it, every time it fails so."""
        if failing not in self.reports:
            frames = self._frames(failing)
            self.reports[failing] = say.failure(failing.test, failing.error, *frames)
        return self.reports[failing]

    def _frames(self, failing: Failing) -> list[str]:
        """A traceback: a library inside, the file, a caller, the test outside.

        Where the test passed before, something saved since is among them, unless everything has changed.
        """
        line, file = self.draws.between, failing.file
        callers = [f for f in (*self.project.ours, *self.project.theirs) if f != file]
        moved = self.moved(failing.test)
        if self.outcome.get(failing.test) == "passed" and file not in moved:
            callers = [f for f in moved if f in callers] or callers
        inside_out = [
            f"{file.path}:{line(8, 140)}",
            f"{self.draws.choose(callers).path}:{line(8, 140)}",
        ]
        inside_out.append(self.project.places[failing.test])
        if self.draws.chance(0.5):
            library = self.draws.choose(self.project.libraries)
            inside_out.insert(
                0, f"{self.project.tools.vendor.format(library=library)}:{line(20, 400)}"
            )
        if self.project.session["frame_order"] == "innermost_last":
            inside_out.reverse()
        return inside_out

    def other_file(self, file: SourceFile) -> SourceFile:
        """A file of another owner, so that taking the wrong failure shows."""
        everything = (*self.project.ours, *self.project.theirs)
        return self.draws.choose([f for f in everything if f.team != file.team])

    def new_error(self) -> str:
        """An error text unlike the original one."""
        while True:
            a = self.draws.between(2, 900)
            text = self.draws.choose(self.project.tools.errors).format(
                a=a, b=a + self.draws.between(1, 90), word=self.draws.choose(self.project.words)
            )
            if text != self.project.session["original_error"]:
                return text

    def unsaid(self, words: Callable[[], str]) -> str:
        """Words drawn again until nobody has said them, if there are others."""
        found = words()
        for _ in range(20):
            if found not in self.said:
                break
            found = words()
        return found

    def chat(self, who: Person, text: str, note: str) -> Event:
        self.said.add(text)
        return say.chat(self.now, self.next_id("m"), who, text, note)

    def partial(self, who: Person, text: str, final_text: str, note: str) -> Event:
        """Speech that is still going on; `final_text` is what it will turn out to be."""
        ident = self.next_id("m")
        self.said.add(final_text)
        self.open_speech = (ident, who, final_text)
        return say.voice(self.now, ident, who, text, note, final=False)

    def complete(self, note: str) -> Event:
        """The open utterance becomes final."""
        if self.open_speech is None:
            raise ValueError("nobody is speaking")
        ident, who, text = self.open_speech
        self.open_speech = None
        return say.voice(self.now, ident, who, text, note)

    def colleague(self) -> Person:
        return self.draws.choose(self.project.own_people)

    def outsider(self, team: str) -> Person:
        return self.draws.choose(self.project.other_people[team])

    def unnamed(self) -> list[SourceFile]:
        """Doors at which a failure still has to lie, so that every option has its turn."""
        project = self.project
        doors = [f for f in project.ours if f.path not in self.answered]
        return doors + [f for f in project.theirs[:1] if f.team not in self.answered]

    def has_time_for(self, ticks: int) -> bool:
        """Whether there is time for something else than the doors still unnamed."""
        return self.steps - self.now >= ticks + 7 * len(self.unnamed())

    def policy(self, name: str) -> int:
        return int(self.project.policy[name])


# Evidence that must change nothing: cursor, other panes, talk, notes.


def distract(session: Session) -> bool:
    """One event that changes nothing. A half sentence is always completed before another begins."""
    if session.open_speech is not None:
        session.emit(session.complete("distractor: speech becomes final, and is only speech"))
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
    pane = session.draws.choose(list(PANES))
    text = session.draws.choose(PANES[pane])
    session.emit(say.terminal(session.now, pane, text, "distractor: another pane"))
    return True


def _chat(session: Session) -> bool:
    """What has not been said yet; False if all of it has."""
    lines = (*TALK, *TALK_WHILE_RUNNING) if session.phase == RUNNING else TALK
    text = session.new_line(lines).format(
        file=session.draws.choose(session.project.words),
        team=session.draws.choose(list(session.project.other_people)),
        run=session.run,
    )
    everyone = [session.colleague(), *map(session.outsider, session.project.other_people)]
    who = session.draws.choose(everyone)
    if text:
        session.emit(session.chat(who, text, "distractor: talk is no evidence"))
    return bool(text)


def _half_sentence(session: Session) -> bool:
    half = session.new_line(list(HALF_SENTENCES))
    if half:
        note = "distractor: partial speech"
        session.emit(session.partial(session.colleague(), half, HALF_SENTENCES[half], note))
    return bool(half)


def _notes(session: Session) -> bool:
    path = session.draws.choose(session.project.unwatched)
    who = session.colleague()[0]
    session.emit(say.save(session.now, path, who, "distractor: nobody watches that file"))
    return True


def _debugger(session: Session) -> bool:
    kind = session.draws.choose(["watch_refresh", "breakpoint"])
    detail = {"watch_refresh": "2 watches", "breakpoint": f"added {session.draws.between(10, 99)}"}
    note = "distractor: resets no pause age"
    session.emit(say.debugger(session.now, session.run, kind, detail[kind], note))
    return True
