"""What people say is right: the items of an audit, one file of answers per person.

An audit is a folder. `items.jsonl` holds what people see, one state a line; `labels/NAME.jsonl` what
NAME said, one answer a line, appended and on the medium before anybody is told that it counts. Rules of
reading, so that nothing is lost and nothing counts twice:

- A later line of a person about an item replaces the earlier one; `undone` takes it back.
- A last line without its line break counts if it is whole. One that was cut off was never acknowledged:
  it is left out, and said, and the next answer takes its place.
- Any other line that cannot be read, an item that does not exist, a question that was not asked and an
  answer that is no option are refused, with the line.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.analysis.agreement import (
    LabelAgreement,
    agreement_of,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.policies.cost_rules import (
    DECISION,
    fields_of,
)
from streamdecisionbench.suite.file_io import (
    cannot_write,
    make_folder,
    read_bytes,
    read_json_as,
    read_text,
    sync_folder,
    write_bytes,
    write_text,
)
from streamdecisionbench.suite.scenario import INACTIVE, DecisionSpec
from streamdecisionbench.text import (
    compact_json,
    decision_text,
    inert_cell,
    plural,
)

SAMPLE_FILE = "sample.json"
ITEMS_FILE = "items.jsonl"
GUIDE_FILE = "guide.md"
LABELS_FOLDER = "labels"
OTHER = "other"
"""The key of an answer that is none of the options: {"other": "what would have been right"}."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_LONGEST_OTHER = 2000


class ItemQuestion(msgspec.Struct, frozen=True):
    """One question about a state: its words, and what each option means (may be empty)."""

    text: str
    options: dict[str, str]


class Item(msgspec.Struct, frozen=True):
    """One state that people are asked about, and the state before it, where there was one."""

    item: str
    state: Any
    before: Any
    questions: dict[str, ItemQuestion]


class Label(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a person: what is right for an item, or that an earlier line is taken back.

    `answer` has a value for every question; {"other": text} is none of the options, None "cannot tell".
    """

    item: str
    by: str
    at: str
    answer: dict[str, str] | msgspec.UnsetType | None = msgspec.UNSET
    note: str = ""
    settles: bool = False
    """Given by whoever settles what others answered differently: it counts instead of theirs."""
    undone: bool = False

    def line(self) -> bytes:
        """As it is written."""
        return msgspec.json.encode(self) + b"\n"


class AnswerForm(msgspec.Struct, frozen=True, omit_defaults=True):
    """How answers to the questions are one decision in the log's own form, and back.

    >>> form = AnswerForm(DecisionSpec("do", (), {"say": ("word",), "wait": ()}))
    >>> form.decision({"do": "wait", "word": "none"}), form.decision({"do": "say", "word": "go"})
    ('{"do":"wait"}', '{"do":"say","word":"go"}')
    """

    decision_spec: DecisionSpec
    plain: bool = False
    """Decisions are text: the answer to the one question."""
    always: dict[str, str] = {}
    """Fields that never varied and are not asked."""
    values: dict[str, dict[str, Any]] = {}
    """By field, what an option's text stands for where that is no text: numbers, truth, lists."""

    def decision(self, answer: Mapping[str, str]) -> str | None:
        """In canonical form; None where it has none."""
        if OTHER in answer:
            return decision_text(answer[OTHER])
        composed = {**self.decision_spec.compose(answer), **self.always}
        if self.plain:
            return composed[DECISION]
        typed = {name: self.values.get(name, {}).get(v, v) for name, v in composed.items()}
        return decision_text(typed)

    def answer(self, decision: str, questions: Mapping[str, ItemQuestion]) -> dict[str, str] | None:
        """A decision in canonical form as an answer to every question; None where it is none."""
        given = {DECISION: decision} if self.plain else fields_of(decision)
        found = {}
        for name, question in questions.items():
            value = given.pop(name, INACTIVE)
            if value not in question.options:
                return None
            found[name] = value
        if any(self.always.get(name) != value for name, value in given.items()):
            return None
        return found


class _AskedIn(msgspec.Struct, frozen=True):
    """The part of `sample.json` that is needed here."""

    asked: AnswerForm


@dataclass(frozen=True, slots=True)
class Consensus:
    """What people say of one item, taken together."""

    decision: str | None
    """In the log's own form. None: nobody can tell, or it is in dispute without a majority."""
    disputed: bool
    """They differ, and nobody has settled it."""
    people: tuple[str, ...]
    """Who answered, "cannot tell" included."""
    decisions: tuple[str, ...]
    """Every decision that somebody gave."""


@dataclass(frozen=True, slots=True)
class AuditLabels:
    """All answers that count, and what was found on the way to them."""

    by_person: Mapping[str, Mapping[str, Label]]
    """By person and item."""
    replaced: int = 0
    """Earlier answers that a later one of the same person replaced."""
    undone: int = 0
    torn: tuple[str, ...] = ()
    """People whose file ends in a line that was cut off: it was never acknowledged, and is left out."""

    @property
    def count(self) -> int:
        return sum(map(len, self.by_person.values()))

    def notes(self) -> list[str]:
        """What a reader of the figures must be told."""
        found = []
        if self.replaced:
            times = plural(self.replaced, "answer was", "answers were")
            found.append(f"{times} given again by the same person: the later one counts")
        found += [
            f"the answers of {name} end in a line that was cut off: left out, it was never acknowledged"
            for name in self.torn
        ]
        return found


@dataclass(frozen=True)
class AuditFolder:
    """An audit on disk."""

    path: Path
    items: Mapping[str, Item]
    """In the order in which people are asked."""

    @classmethod
    def open(cls, path: str | Path) -> AuditFolder:
        path = Path(path)
        if not (path / ITEMS_FILE).is_file():
            raise InputError(
                f"is no audit: it has no {ITEMS_FILE}",
                where=path,
                fix="draw one with `sdb logs sample SOURCE --out AUDIT`",
            )
        return cls(path, read_items(path / ITEMS_FILE))

    @cached_property
    def form(self) -> AnswerForm:
        """How answers are decisions of the log."""
        fix = "restore it, or draw the sample again"
        return read_json_as(self.path / SAMPLE_FILE, _AskedIn, fix=fix).asked

    @property
    def guide(self) -> str:
        """What the owner wrote for those who answer; empty without."""
        path = self.path / GUIDE_FILE
        return read_text(path) if path.is_file() else ""

    def label_path(self, name: str) -> Path:
        return self.path / LABELS_FOLDER / f"{person(name)}.jsonl"

    def check(self, label: Label, where: str | Path) -> None:
        """Refuses an answer that does not fit its item."""
        item = self.items.get(label.item)
        if item is None:
            raise InputError(
                f"answers item {label.item!r:.60}, and the audit has none of that name",
                where=where,
                fix=f"items are those of {ITEMS_FILE}, from {next(iter(self.items), 'none')} on",
            )
        if label.undone or label.answer is None:
            return
        if label.answer is msgspec.UNSET:
            raise InputError(
                "has no answer", where=where, fix='write "answer": null for "cannot tell"'
            )
        if set(label.answer) == {OTHER} and OTHER not in item.questions:
            if not label.answer[OTHER].strip() or len(label.answer[OTHER]) > _LONGEST_OTHER:
                raise InputError(
                    f"says none of the options for {label.item} and not what else",
                    where=where,
                    fix=f"say it in 1 to {_LONGEST_OTHER} characters",
                )
            return
        for name in label.answer:
            if name not in item.questions:
                raise InputError(
                    f"answers {name!r:.60}, which {label.item} does not ask",
                    where=where,
                    fix=f"it asks {', '.join(item.questions)}",
                )
        for name, question in item.questions.items():
            value = label.answer.get(name)
            if value not in question.options:
                raise InputError(
                    f"{label.item} has no answer to {name!r}"
                    if value is None
                    else f"{value!r:.80} is no option of {name!r} ({label.item})",
                    where=where,
                    fix=f"options are {_listed(question.options)}; none of them is"
                    ' {"other": "what is right"}, "cannot tell" is null',
                )

    def read_labels(self) -> AuditLabels:
        """Everybody's answers, each checked."""
        found: dict[str, dict[str, Label]] = {}
        torn: list[str] = []
        replaced = undone = 0
        folder = self.path / LABELS_FOLDER
        for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
            name = person(path.stem)
            own: dict[str, Label] = {}
            lines, whole = label_lines(path)
            if not whole:
                torn.append(name)
            for number, label in lines:
                where = f"{path}:{number}"
                if label.by != name:
                    raise InputError(
                        f"is by {label.by!r:.60} in the file of {name!r}",
                        where=where,
                        fix=f"everybody has a file of their own; `sdb label {self.path} --import` sorts them",
                    )
                self.check(label, where)
                before = own.pop(label.item, None)
                if label.undone:
                    undone += before is not None
                else:
                    replaced += before is not None
                    own[label.item] = label
            if own or lines:
                found[name] = own
        return AuditLabels(found, replaced, undone, tuple(torn))

    def said(self, labels: AuditLabels) -> dict[str, Consensus]:
        """What people say of every item that somebody answered.

        Who cannot tell abstains. Where the others differ, whoever settles it decides; without, more
        than half of them.
        """
        answers: dict[str, list[Label]] = {}
        for own in labels.by_person.values():
            for name, label in own.items():
                answers.setdefault(name, []).append(label)
        return {name: self._said(answers[name]) for name in self.items if name in answers}

    def _said(self, given: Sequence[Label]) -> Consensus:
        settling = [label for label in given if label.settles]
        told = [self._decision(label) for label in settling or given]
        known = [decision for decision in told if decision is not None]
        most = max(known, key=known.count, default=None)
        majority = most is not None and 2 * known.count(most) > len(known)
        everybody = {d for label in given if (d := self._decision(label)) is not None}
        return Consensus(
            decision=most if majority else None,
            disputed=len(set(known)) > 1,
            people=tuple(sorted(label.by for label in given)),
            decisions=tuple(sorted(everybody)),
        )

    def _decision(self, label: Label) -> str | None:
        if label.answer is None or label.answer is msgspec.UNSET:
            return None
        return self.form.decision(label.answer)

    def disputes(self, labels: AuditLabels) -> list[str]:
        """The items that people answered differently and nobody has settled, in the order of items."""
        return [name for name, said in self.said(labels).items() if said.disputed]

    def agreement(self, labels: AuditLabels, seed: int = 0) -> LabelAgreement:
        """How far people agree on items that several of them answered; settling does not count."""
        rows = [
            [
                decision
                for own in labels.by_person.values()
                if (label := own.get(name)) is not None and not label.settles
                if (decision := self._decision(label)) is not None
            ]
            for name in self.items
        ]
        return agreement_of([row for row in rows if len(row) > 1], seed)


def person(name: str) -> str:
    """A name that can be a file's.

    >>> person("ana.b")
    'ana.b'
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r:.80} cannot name a file of answers",
            fix="use letters, digits, dot, dash and underscore, at most 60, a letter or digit first",
        )
    return name


def now() -> str:
    """When an answer was given, as it is written."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def read_items(path: Path) -> dict[str, Item]:
    """The items by name, in their order."""
    found: dict[str, Item] = {}
    for number, line in enumerate(read_bytes(path).splitlines(), start=1):
        try:
            item = msgspec.json.decode(line, type=Item)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                f"is no item: {error}", where=f"{path}:{number}", fix="draw the sample again"
            ) from None
        if item.item in found:
            raise InputError(f"item {item.item} is there twice", where=f"{path}:{number}")
        found[item.item] = item
    if not found:
        raise InputError("holds no item", where=path, fix="draw the sample again")
    return found


def write_items(path: Path, items: Iterable[Item]) -> None:
    write_bytes(path, b"".join(msgspec.json.encode(item) + b"\n" for item in items))


def label_lines(path: Path) -> tuple[list[tuple[int, Label]], bool]:
    """A person's lines with their numbers, and whether the last one is whole."""
    *lines, tail = read_bytes(path).split(b"\n")
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append((number, msgspec.json.decode(line, type=Label)))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                f"is no answer: {error}",
                where=f"{path}:{number}",
                fix="mend or remove the line; only a last line may have been cut off",
            ) from None
    whole = _whole(tail)
    if whole is not None:
        found.append((len(lines) + 1, whole))
    return found, whole is not None or not tail


def _whole(tail: bytes) -> Label | None:
    """A last line without its line break, if nothing else of it is missing."""
    try:
        return msgspec.json.decode(tail, type=Label)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class LabelFile:
    """One person's answers, open for adding; held against a second session of the same person.

    What `append` has returned from is on the medium. The system lets go when the process dies.
    """

    def __init__(self, audit: AuditFolder, name: str) -> None:
        self.audit = audit
        self.name = person(name)
        self.path = audit.label_path(name)
        self._pending: int | None = None
        make_folder(self.path.parent)
        self._fresh = not self.path.exists()
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        flags |= getattr(os, "O_BINARY", 0)
        try:
            self._fd = os.open(self.path, flags, 0o644)
        except OSError as error:
            raise cannot_write(self.path, error) from None
        try:
            self._hold()
            self._mend()
        except BaseException:
            self.close()
            raise

    def append(self, label: Label, *, sync: bool = True) -> None:
        """Adds an answer, or takes one back: on the medium when this returns.

        Without `sync` that is left to the next one with it. What cannot be written leaves no trace.
        """
        if label.by != self.name:
            raise ValueError(f"an answer by {label.by} for the file of {self.name}")
        self.audit.check(label, self.path)
        size, line = self.size(), label.line()
        try:
            while line:
                line = line[os.write(self._fd, line) :]
        except OSError as error:
            self.cut(size)
            raise cannot_write(self.path, error) from None
        if sync:
            self.sync(size)

    def size(self) -> int:
        """Bytes of what counts: the place that `cut` goes back to."""
        if self._pending is not None:
            try:
                os.ftruncate(self._fd, self._pending)
                os.fsync(self._fd)
            except OSError as error:
                raise cannot_write(self.path, error) from None
            self._pending = None
        return os.fstat(self._fd).st_size

    def cut(self, size: int) -> None:
        """Takes back what was added since the file had this size; what fails now is done before the next
        answer is added."""
        self._pending = size
        with contextlib.suppress(InputError):
            self.size()

    def sync(self, size: int | None = None) -> None:
        """Puts answers on the medium; where that fails, takes back those since `size`."""
        try:
            os.fsync(self._fd)
        except OSError as error:
            if size is not None:
                self.cut(size)
            raise cannot_write(self.path, error) from None

    def discard(self) -> None:
        """Removes the file if opening it made it and nothing is in it."""
        with contextlib.suppress(InputError, OSError):
            if self._fresh and self.size() == 0:
                self.path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> LabelFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hold(self) -> None:
        if sys.platform == "win32":
            return
        import fcntl

        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{self.name} is answering already, in another session",
                where=self.path,
                fix="go on there, or end it first; somebody else needs another name",
            ) from None
        except OSError:
            pass  # there are no locks here

    def _mend(self) -> None:
        """After a kill: a whole last line gets its line break, a torn one goes."""
        data = read_bytes(self.path)
        tail = data.rpartition(b"\n")[2]
        try:
            if tail and _whole(tail) is not None:
                os.write(self._fd, b"\n")
            elif tail:
                os.ftruncate(self._fd, len(data) - len(tail))
            os.fsync(self._fd)
            sync_folder(self.path.parent)
        except OSError as error:
            raise cannot_write(self.path, error) from None


@dataclass
class Imported:
    """What came in from a table."""

    people: dict[str, int] = field(default_factory=dict)
    """Answers by person."""


def import_labels(audit: AuditFolder, table: Path) -> Imported:
    """Adds answers made elsewhere: a row with `item`, `answer` and `by`; all of them, or none.

    The answer is a decision in the log's own form; empty or null is "cannot tell". `at`, `note` and
    `settles` may be given too.
    """
    labels = []
    for where, row in _rows(table):
        for name in ("item", "by"):
            if not isinstance(row.get(name), str | int) or not str(row[name]).strip():
                raise InputError(
                    f"has no {name!r}", where=where, fix="columns are item, answer and by"
                )
        if "answer" not in row:
            raise InputError("has no column 'answer'", where=where, fix="add it")
        item = str(row["item"]).strip()
        label = Label(
            item=item,
            by=person(str(row["by"]).strip()),
            at=str(row.get("at") or now()),
            answer=_answer(audit, item, row["answer"], where),
            note=str(row.get("note") or ""),
            settles=str(row.get("settles") or "").lower() in ("true", "1"),
        )
        audit.check(label, where)
        labels.append(label)
    if not labels:
        raise InputError("holds no answer", where=table)
    by: dict[str, list[Label]] = {}
    for label in labels:
        by.setdefault(label.by, []).append(label)
    return _add(audit, by)


def _add(audit: AuditFolder, by: Mapping[str, Sequence[Label]]) -> Imported:
    """Adds the answers of several people: all of them, or none."""
    with contextlib.ExitStack() as stack:
        files: list[tuple[LabelFile, int]] = []
        try:
            for name in by:  # nobody may be answering meanwhile: every file is held first
                file = stack.enter_context(LabelFile(audit, name))
                files.append((file, file.size()))
            for file, _ in files:
                for label in by[file.name]:
                    file.append(label, sync=False)
            for file, _ in files:
                file.sync()
        except BaseException:
            for file, size in files:
                file.cut(size)
                file.discard()
            raise
    return Imported({name: len(own) for name, own in by.items()})


def carry_over(earlier: AuditFolder, audit: AuditFolder) -> Imported:
    """Takes answers of an earlier audit over to one that asks about some of the same states.

    The later line still counts; what no longer fits what is asked is left behind.
    """
    here = {compact_json(item.state): item for item in audit.items.values()}
    found: dict[str, list[Label]] = {}
    for name, own in earlier.read_labels().by_person.items():
        fitting = []
        for label in own.values():
            old = earlier.items[label.item]
            item = here.get(compact_json(old.state))
            if item is not None and _fits(label, item):
                fitting.append(msgspec.structs.replace(label, item=item.item))
        found[name] = fitting
    return _add(audit, found)


def _fits(label: Label, item: Item) -> bool:
    if not isinstance(label.answer, dict) or OTHER in label.answer:
        return label.answer is not msgspec.UNSET
    return label.answer.keys() == item.questions.keys() and all(
        value in item.questions[name].options for name, value in label.answer.items()
    )


def _answer(audit: AuditFolder, item: str, given: Any, where: str) -> dict[str, str] | None:
    if given is None or (isinstance(given, str) and not given.strip()):
        return None
    questions = audit.items[item].questions if item in audit.items else {}
    tried = [given]
    if isinstance(given, str) and given.startswith("'"):
        tried.append(given[1:])  # as a spreadsheet is kept from running it
    for one in tried:
        decision = decision_text(one)
        found = None if decision is None else audit.form.answer(decision, questions)
        if found is not None:
            return found
    decision = decision_text(given)
    fields = {} if decision is None else fields_of(decision)
    if set(fields) == {OTHER}:
        return fields
    if item not in audit.items:
        return {}  # refused by its item
    shown = "; ".join(f"{name}: {_listed(q.options)}" for name, q in questions.items())
    raise InputError(
        f"{given!r:.80} is no answer to {item}",
        where=where,
        fix=f'options are {shown}; none of them is {{"other": "what is right"}}, empty "cannot tell"',
    )


def _rows(table: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a CSV, JSON Lines or Parquet file, each with where it stands."""
    ending = table.suffix.lower()
    if ending in (".csv", ".tsv"):
        reader = csv.DictReader(
            io.StringIO(read_text(table), newline=""), delimiter="\t" if ending == ".tsv" else ","
        )
        for row in reader:
            yield f"{table}:{reader.line_num}", row
    elif ending in (".jsonl", ".ndjson"):
        for number, line in enumerate(read_text(table).splitlines(), start=1):
            if line.strip():
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise InputError(f"is no JSON: {error}", where=f"{table}:{number}") from None
                if not isinstance(row, dict):
                    raise InputError("is no object", where=f"{table}:{number}")
                yield f"{table}:{number}", row
    elif ending in (".parquet", ".pq"):
        yield from _parquet_rows(table)
    else:
        raise InputError(
            "is no table of answers", where=table, fix="end it in .csv, .jsonl or .parquet"
        )


def _parquet_rows(table: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise InputError(
            "Parquet needs the package pyarrow", fix="pip install 'streamdecisionbench[logs]'"
        ) from None
    read_bytes(table)
    try:
        rows = pq.read_table(table).to_pylist()
    except pa.ArrowException as error:
        raise InputError(f"is no readable Parquet file: {error}", where=table) from None
    for number, row in enumerate(rows, start=1):
        yield f"{table}: row {number}", row


def export_csv(audit: AuditFolder, path: Path) -> None:
    """The items for a spreadsheet, with empty columns `answer`, `by` and `note` to be filled and imported."""
    if path.exists():
        raise InputError("is there already", where=path, fix="remove it, or name another file")
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["item", "state", "before", "questions", "options", "answer", "by", "note"])
    for item in audit.items.values():
        asked = item.questions.items()
        writer.writerow(
            [
                item.item,
                inert_cell(_cell(item.state)),
                "" if item.before is None else inert_cell(_cell(item.before)),
                inert_cell("\n".join(f"{name}: {q.text}" for name, q in asked)),
                inert_cell("\n".join(f"{name}: {_listed(q.options)}" for name, q in asked)),
                "",
                "",
                "",
            ]
        )
    write_text(path, out.getvalue())


def _cell(state: Any) -> str:
    return state if isinstance(state, str) else compact_json(state)


def _listed(options: Mapping[str, str], most: int = 20) -> str:
    names = list(options)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(name[:80] for name in names[:most]) + more
