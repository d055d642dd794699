"""Where a log's references come from: its own column, a second table, a function of the state, or
another component's decisions.

References that another recording or log decided are *silver*: agreement with it, not accuracy. They
are named as such in everything that is printed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.logs.engines.engine import Engine, ProgressTold, untold
from streamdecisionbench.logs.schema import kind_of
from streamdecisionbench.logs.sources import LogFiles, find_files
from streamdecisionbench.text import decision_text

if TYPE_CHECKING:
    import pyarrow as pa

Judge = Callable[[Any], Any]
SAMPLED = "sampled"
"""The column that marks references of a sample: of states that were not drawn alike."""


@dataclass(frozen=True, slots=True)
class ReferenceSource:
    """What the answers were held against."""

    kind: str = "column"
    """`column`, `table`, `function`, `silver`, or `sample`: a table of what people said of a sample."""
    source: str = ""

    def text(self) -> str:
        """For signatures.

        >>> ReferenceSource("silver", "runs/slow").text()
        'silver(runs/slow)'
        """
        return f"{self.kind}({self.source})" if self.source else self.kind

    @property
    def note(self) -> str | None:
        """What every reader of the numbers must be told."""
        if self.kind == "sample":
            return (
                f"{self.source} has references of a sample: the figures are about the states that"
                " were drawn, not about the log; those are what `sdb logs estimate` says"
            )
        if self.kind != "silver":
            return None
        return (
            f"silver references: decisions of {self.source}; the figures say how much of the time"
            " it is agreed with, not how much is right"
        )


def attach_references(
    opened: Engine,
    references: Any,
    reference: str | Judge | None,
    *,
    told: ProgressTold = untold,
) -> ReferenceSource:
    """Gives the log the references that were asked for."""
    if references is not None and reference is not None:
        raise InputError("references were given twice", fix="give a table or a function, not both")
    if references is not None:
        return from_table(opened, references)
    if isinstance(reference, str):
        return from_function(opened, load_function(reference), reference, told)
    if reference is not None:
        return from_function(opened, reference, getattr(reference, "__name__", "function"), told)
    return ReferenceSource()


def from_table(engine: Engine, source: str | Path | pa.Table) -> ReferenceSource:
    """Joins references of a file, a folder, a table, another log or a recording."""
    other, label, recorded = _open(source)
    schema = engine.give(other)
    silver = recorded or "reference" not in schema.names
    take = "decision" if silver else "reference"
    if take not in schema.names:
        raise InputError(
            "has neither a column 'reference' nor a column 'decision'",
            where=label,
            fix="name what was right in it 'reference'",
        )
    on = _keys(engine.schema(), schema, label)
    against = engine.contradiction(on, take)
    if against is not None:
        *keys, one, two = against
        at = ", ".join(f"{name} {value}" for name, value in zip(on, keys, strict=True))
        raise InputError(
            f"column {take!r} says both {one[:60]!r} and {two[:60]!r} for {at}",
            where=label,
            fix="leave one row for every state",
        )
    engine.join(on, take, "reference", fill=not silver)
    kind = "sample" if SAMPLED in schema.names else "table"
    return ReferenceSource("silver" if silver else kind, label)


def from_function(
    engine: Engine, judge: Judge, name: str, told: ProgressTold = untold
) -> ReferenceSource:
    """Asks a function of the state what is right, once for every distinct state."""
    import pyarrow as pa

    schema = engine.schema()
    if "state" not in schema.names:
        raise InputError(
            f"has no column 'state', and {name} needs one",
            where=engine.name,
            fix="add the state as JSON, or give references in a table with --references",
        )
    states: list[str] = []
    answers: list[str | None] = []
    for batch in engine.distinct("state"):
        for text in batch.column(0).to_pylist():
            states.append(text)
            answers.append(judged(judge, name, text))
            if len(states) % 1000 == 0:
                told(f"asking {name}, {len(states)} states", None)
    text = pa.large_string()
    engine.give(pa.table({"state": pa.array(states, text), "reference": pa.array(answers, text)}))
    engine.join(["state"], "reference", "reference")
    return ReferenceSource("function", name)


def judged(judge: Judge, name: str, text: str) -> str | None:
    """What the function says of one state, in canonical form."""
    from streamdecisionbench.components.local.python_class import raised_at

    state = read_state(text)
    try:
        answer = judge(state)
    except SdbError:
        raise
    except Exception as error:
        raise InputError(
            f"{name} raises {type(error).__name__} for the state {text[:80]!r}",
            where=raised_at(error),
            fix="correct the function; it may return None where nobody can know",
        ) from None
    try:
        found = decision_text(answer)
    except (TypeError, ValueError):
        found = None
    if answer is not None and found is None:
        raise InputError(
            f"{name} returns {type(answer).__name__}, which is neither text nor JSON,"
            f" for the state {text[:80]!r}",
            fix="return text, a dictionary, or None where nobody can know",
        )
    return found


def read_state(text: str, where: str = "") -> Any:
    """A value of the column `state`: what begins with {, [ or a quotation mark is JSON, any other text
    is a state as it is.

    >>> read_state('{"heard": "twelve"}'), read_state("12, I said")
    ({'heard': 'twelve'}, '12, I said')
    """
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise InputError(
            f"column 'state' is no JSON, for example {text[:60]!r}{where}",
            fix="it begins like JSON; write the whole of it, or text in quotation marks",
        ) from None


def load_function(name: str) -> Judge:
    """The function that `python:module:function` names."""
    from streamdecisionbench.components.local.python_class import find_target

    if not name.startswith("python:"):
        raise InputError(
            f"--reference {name} names no function",
            fix="write python:module:function, or give a table with --references",
        )
    target = find_target(name.removeprefix("python:"))
    if not callable(target):
        raise InputError(f"{name} cannot be called", fix="name a function of one state")
    judge: Judge = target
    return judge


def _open(source: str | Path | pa.Table) -> tuple[pa.Table | LogFiles, str, bool]:
    if not isinstance(source, str | Path):
        return source, "the table of references", False
    if (Path(source) / "run.json").exists():
        from streamdecisionbench.logs.export import log_of

        return log_of([Path(source)], states=False), str(source), True
    return find_files([source]), str(source), False


def _keys(log: pa.Schema, given: pa.Schema, label: str) -> list[str]:
    """What a row and its reference have in common."""
    for keys in (["state_id"], ["stream", "published_at"]):
        if all(k in log.names and k in given.names for k in keys):
            if "published_at" in keys:
                _check_clock(log, given, label)
            return keys
    raise InputError(
        "shares neither 'state_id' nor 'stream' and 'published_at' with the log",
        where=label,
        fix="name the columns of both alike, with --sql for the log",
    )


def _check_clock(log: pa.Schema, given: pa.Schema, label: str) -> None:
    def clock(schema: pa.Schema) -> str:
        dtype = schema.field("published_at").type
        if kind_of(dtype) != "timestamp":
            return kind_of(dtype)
        return f"timestamps with{'' if getattr(dtype, 'tz', None) else 'out'} a time zone"

    if clock(log) != clock(given):
        raise InputError(
            f"column 'published_at' holds {clock(given)}, and the log {clock(log)}",
            where=label,
            fix="write both alike",
        )
