"""What a page of documentation says: blocks, commands in and outside them, links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

SHELL = ("sh", "bash", "console")
"""Blocks in these languages are commands; all other blocks but python and json are samples."""

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PROGRAM = re.compile(r"(?:\w+=\S+ )*(?:sdb|make|pip|python)(?: |$)")


@dataclass(frozen=True)
class Block:
    """A fenced block and the line it begins on."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Step:
    """One thing a reader can do: a command of a block, a command within a sentence, a program."""

    page: str
    line: int
    kind: str
    """`command`, `span` (a command within a sentence) or `python`."""
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line} {self.text.splitlines()[0][:70]}"


def pages() -> list[Path]:
    """README, CONTRIBUTING and everything below docs, whoever adds it."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def prose(path: Path) -> str:
    """The page without its fenced blocks; lines keep their numbers."""
    text = path.read_text(encoding="utf-8")
    return _FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)


def spans(path: Path) -> list[tuple[int, str]]:
    """Code within sentences, with its line; a line break inside counts as a space."""
    text = prose(path)
    return [
        (text.count("\n", 0, found.start()) + 1, " ".join(found[1].split()))
        for found in _SPAN.finditer(text)
    ]


def links(path: Path) -> list[str]:
    """Targets of links and pictures that stay within the repository."""
    return [target for target in _LINK.findall(prose(path)) if "://" not in target]


def headings(path: Path) -> set[str]:
    """Names by which a heading can be linked to, as repository hosts make them."""
    found = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}


def steps(path: Path) -> list[Step]:
    """Everything to run, in the order of the page."""
    page = name_of(path)
    found: list[Step] = []
    for block in blocks(path):
        if block.language in SHELL:
            found += [Step(page, line, "command", text) for line, text in _commands(block)]
        elif block.language == "python":
            found.append(Step(page, block.line, "python", block.text))
    for line, text in spans(path):
        if _PROGRAM.match(text):
            found.append(Step(page, line, "span", text))
    return sorted(found, key=lambda step: step.line)


def stray_commands(path: Path) -> list[str]:
    """Lines that look like commands where none is looked for: samples and indented blocks."""
    samples = [
        line
        for block in blocks(path)
        if block.language not in SHELL
        for line in block.text.splitlines()
    ]
    indented = [line[4:] for line in prose(path).splitlines() if line.startswith("    ")]
    return [line for line in samples + indented if re.match(r"(\$ )?(sdb|make|pip) ", line)]


def _commands(block: Block) -> list[tuple[int, str]]:
    """Whole commands with their lines. Where some lines begin with `$ `, the others are output."""
    lines = block.text.splitlines()
    prompted = any(line.startswith("$ ") for line in lines)
    found: list[tuple[int, str]] = []
    number = 0
    while number < len(lines):
        first, line = number, lines[number]
        while lines[number].endswith("\\") and number + 1 < len(lines):
            number += 1
            line = f"{line[:-1].rstrip()} {lines[number].strip()}"
        number += 1
        if prompted and not line.startswith("$ "):
            continue
        line = re.sub(r"(^|\s)#.*$", "", line.removeprefix("$ ")).strip()
        if line:
            found.append((block.line + 1 + first, line))
    return found
