"""Names and lines of debugging sessions, from the data files of this package."""

from __future__ import annotations

from dataclasses import dataclass

from streamdecisionbench.worlds.generation.data_files import read_data

_NAMES = read_data(__package__, "names.toml")
_LINES = read_data(__package__, "phrases.toml")


@dataclass(frozen=True, slots=True)
class Tools:
    """How one language lays out its files and words its reports."""

    language: str
    ending: str
    source: str
    tests: str
    test_id: str
    settings: tuple[tuple[str, str], ...]
    """Pattern and path of two files that concern everything."""
    vendor: str
    errors: tuple[str, ...]
    compiler: tuple[str, ...]
    begins: tuple[str, ...]
    """What a run prints first."""


LOOP_TOOLS = _NAMES.typed("loop_tools", tuple[Tools, ...])
SESSION_TOOLS = _NAMES.typed("session_tools", tuple[Tools, ...])
COMMITMENT_FORMS = _NAMES.texts("commitment_forms")
LIBRARIES = _NAMES.pool("libraries", str)
PEOPLE = _NAMES.pool("people", str)
PROJECTS = _NAMES.pool("projects", str)
AREAS = _NAMES.pool("areas", str)
CASES = _NAMES.pool("cases", str)
TEAMS = _NAMES.pool("teams", tuple[str, str])
FILES = _NAMES.pool("files", tuple[str, str])

NOT_OURS = _LINES.texts("not_ours")
NOT_OURS_AGAIN: str = _LINES["not_ours_again"]
TOO_SOON = _LINES.texts("too_soon")
REQUESTS = _LINES.texts("requests")
REQUESTS_AGAIN: str = _LINES["requests_again"]
HOPES = _LINES.texts("hopes")
STRANGERS = _LINES.texts("strangers")
OPENINGS = _LINES.texts("openings")
DOUBTS = _LINES.texts("doubts")
REGRETS = _LINES.texts("regrets")
TALK = _LINES.texts("talk")
TALK_WHILE_RUNNING = _LINES.texts("talk_while_running")
PANES: dict[str, tuple[str, ...]] = _LINES["panes"]
HALF_SENTENCES: dict[str, str] = _LINES["half_sentences"]
