"""The project a generated debugging session is about: files, owners, scopes, tests, people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamdecisionbench.worlds.debugging import phrases
from streamdecisionbench.worlds.debugging.phrases import Tools
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Seat,
)

NOT_COMPILED = "does not compile"
"""The situation in which another team's file goes on an inspect card; it needs to be an option."""
IN_VAIN = "handed over in vain"
GREEN, NARROW, ABSENT = "green and wide enough", "green but too narrow", "pinned test not executed"
WRITTEN, SPOKEN, REGRETTED = (
    "taken over in writing",
    "taken over in speech",
    "taken over and regretted",
)
"""Ends of a run that name no file, and hand-overs: with several of them there is room for fewer files."""
STOPPED = "a silent run is stopped"

Person = tuple[str, str]
"""A name and a team."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A path with what the session's patterns make of it: scope and team by the last match."""

    path: str
    about: str
    scope: str
    team: str


@dataclass(frozen=True, slots=True)
class Project:
    """Everything drawn for one session before its first tick."""

    tools: Tools
    libraries: tuple[str, ...]
    words: tuple[str, ...]
    session: dict[str, Any]
    policy: dict[str, Any]
    team: str
    ours: tuple[SourceFile, ...]
    theirs: tuple[SourceFile, ...]
    uncompiled: SourceFile
    settings: tuple[SourceFile, ...]
    test_file: SourceFile
    unwatched: tuple[str, ...]
    lookalike: str
    """An unwatched path that begins like the watched test file's."""
    pinned: str
    tests: dict[str, tuple[str, ...]]
    """Scope → the tests a run of that scope executes or skips, narrower ones included."""
    places: dict[str, str]
    """Test → its line in the test file of its own area."""
    skips: tuple[str, ...]
    """Tests in the order in which runs leave them out; the pinned one never is by this."""
    own_people: tuple[Person, ...]
    other_people: dict[str, tuple[Person, ...]]
    file_options: dict[str, str]
    team_options: dict[str, str]

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """All that a card can name, of whichever team."""
        return tuple(dict.fromkeys((*self.ours, self.uncompiled, *self.theirs)))


def draw_project(draws: Draws, seat: Seat, tools: tuple[Tools, ...], order: str) -> Project:
    """A new project. Teams rotate from seat to seat, so that ten sessions see all of them."""
    tool = draws.choose(tools)
    area, other, third, sub = phrases.AREAS.draw(draws, seat.split, 4)
    stems = phrases.FILES.draw(draws, seat.split, 5)
    first, second, unclaimed, ours = _teams(seat)
    teams = [ours[0], first[0], second[0], unclaimed[0]]
    root, end = tool.source, tool.ending
    inner = draws.choose([area, third])  # a foreign folder, inside our own area or elsewhere
    paths = [
        f"{root}/{area}/{stems[0][0]}.{end}",
        f"{root}/{area}/{stems[1][0]}.{end}",
        f"{root}/{inner}/{sub}/{stems[2][0]}.{end}",
        f"{root}/{other}/{stems[3][0]}.{end}",
        f"{root}/{other}/{stems[4][0]}.{end}",
    ]
    about = [text for _, text in stems]
    tests_root = tool.tests.partition("/")[0]
    test_path = tool.tests.format(area=area)
    wide, narrow = "module", "target"
    a = SourceFile(paths[0], about[0], narrow, ours[0])
    b = SourceFile(paths[1], about[1], narrow, ours[0])
    one = SourceFile(paths[2], about[2], wide, first[0])
    two = SourceFile(paths[3], about[3], wide, second[0])
    ours_abroad = SourceFile(paths[4], about[4], wide, ours[0])
    homes = [*[area] * 6, third, other, third, other]
    cases = phrases.CASES.draw(draws, seat.split, len(homes))
    tests = [tool.test_id.format(area=h, case=c) for h, c in zip(homes, cases, strict=True)]
    lines = [12 + 14 * i + draws.between(0, 9) for i in range(len(homes))]
    long = {GREEN, NARROW, ABSENT, IN_VAIN, WRITTEN, SPOKEN, REGRETTED}
    crowded = len(long & set(seat.agenda)) > 1
    uncompiled = draws.choose([one, two]) if NOT_COMPILED in seat.agenda else ours_abroad
    own = [a, b] if crowded or uncompiled != ours_abroad else [a, b, ours_abroad]
    options = [*own, *([uncompiled] if NOT_COMPILED in seat.agenda else [])]
    error = _error(draws, tool, [s for s, _ in stems])
    owners = [
        {"pattern": "*", "team": unclaimed[0]},
        {"pattern": f"{tests_root}/*", "team": ours[0]},
        {"pattern": f"{root}/{area}/*", "team": ours[0]},
        {"pattern": f"{root}/{inner}/{sub}/*", "team": ours[0]},
        {"pattern": f"{root}/{other}/*", "team": second[0]},
        {"pattern": f"{root}/{other}/{stems[4][0]}*", "team": ours[0]},
        {"pattern": f"{root}/*/{sub}/*", "team": first[0]},
        {"pattern": f"{root}/{area}/*.md", "team": second[0]},
    ]
    scopes = [
        {"pattern": tool.settings[0][0], "scope": "full"},
        {"pattern": f"{root}/{inner}/{sub}/*", "scope": narrow},
        {"pattern": f"{root}/*", "scope": wide},
        {"pattern": f"{root}/{area}/*", "scope": narrow},
        {"pattern": f"{root}/*/{sub}/*", "scope": wide},
        {"pattern": test_path, "scope": narrow},
        {"pattern": tool.settings[1][0], "scope": "full"},
    ]
    people = phrases.PEOPLE.draw(draws, seat.split, 8)
    session = {
        "project": f"{draws.choose(phrases.PROJECTS.of(seat.split))} ({tool.language})",
        "team": ours[0],
        "pinned_test": tests[0],
        "original_error": error,
        "frame_order": order,
        "project_paths": [f"{root}/*", f"{tests_root}/*"],
        "scopes": scopes,
        "owners": owners,
    }
    return Project(
        tools=tool,
        libraries=tuple(phrases.LIBRARIES.of(seat.split)),
        words=tuple(stem for stem, _ in stems),
        session=session,
        policy=_policy(draws),
        team=ours[0],
        ours=tuple(own),
        theirs=(one, two),
        uncompiled=uncompiled,
        settings=tuple(
            SourceFile(path.format(area=other), "", "full", unclaimed[0])
            for _, path in tool.settings
        ),
        test_file=SourceFile(test_path, "", narrow, ours[0]),
        unwatched=(f"docs/{area}.md", "notes/standup.txt", f"docs/{third}.md"),
        lookalike=f"{test_path}.snap",
        pinned=tests[0],
        tests={
            "target": tuple(tests[:6]),
            "module": tuple(tests[:8]),
            "full": tuple(tests),
        },
        places={
            test: f"{tool.tests.format(area=home)}:{line}"
            for test, home, line in zip(tests, homes, lines, strict=True)
        },
        skips=tuple(draws.shuffled(tests[1:])),
        own_people=tuple((name, teams[0]) for name in people[:2]),
        other_people={
            team: tuple((name, team) for name in people[2 + 2 * i : 4 + 2 * i])
            for i, team in enumerate(teams[1:])
        },
        file_options={f.path: f.about for f in draws.shuffled(options)},
        team_options=dict(draws.shuffled([first, second, unclaimed])),
    )


def _teams(seat: Seat) -> list[tuple[str, str]]:
    """Two owners of failures, the owner of the rest, our own team."""
    order = seat.suite.fork("teams").shuffled(phrases.TEAMS.of(seat.split))
    return [order[(3 * seat.number + i) % len(order)] for i in range(4)]


def _policy(draws: Draws) -> dict[str, Any]:
    stall = draws.between(3, 5)
    return {
        "stall_ticks": stall,
        "stop_ticks": stall + draws.between(1, 2),
        "pause_ticks": draws.between(3, 4),
        "save_grace_ticks": draws.between(2, 3),
        "max_skipped": draws.between(1, 3),
        "commitment_forms": draws.sample(phrases.COMMITMENT_FORMS, 3),
    }


def _error(draws: Draws, tool: Tools, words: list[str]) -> str:
    a = draws.between(2, 900)
    return draws.choose(tool.errors).format(
        a=a, b=a + draws.between(1, 90), word=draws.choose(words)
    )
