"""Where a log's references come from: its own column, a second table, a function of the state, or
another component's decisions.

References that another recording or log decided are *silver*: agreement with it, not accuracy. They
are named as such in everything that is printed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.logs.engines.engine import FILE, Engine, ProgressReported, untold
from streamdecisionbench.logs.log_files import (
    LogFiles,
    find_files,
)
from streamdecisionbench.logs.log_schema import kind_of
from streamdecisionbench.text import (
    decision_text,
    plural,
)

if TYPE_CHECKING:
    import pyarrow as pa

Judge = Callable[[Any], Any]
SAMPLED = "sampled"
"""The column that marks references of a sample: of states that were not drawn alike."""


@dataclass(frozen=True, slots=True)
class ReferenceSource:
    """What the answers were held against: a source, and those that fill up where it says nothing."""

    kind: str = "column"
    """`column`, `table`, `function`, `silver`, or `sample`: a table of what people said of a sample."""
    source: str = ""
    others: tuple[ReferenceSource, ...] = ()

    def text(self) -> str:
        """For signatures.

        >>> ReferenceSource("silver", "runs/slow").text()
        'silver(runs/slow)'
        """
        own = f"{self.kind}({self.source})" if self.source else self.kind
        return "+".join((own, *(other.text() for other in self.others)))

    @property
    def all(self) -> tuple[ReferenceSource, ...]:
        """By number of origin: the log's own column, then the others as they were given."""
        named = () if self.kind == "column" else (ReferenceSource(self.kind, self.source),)
        return (ReferenceSource(), *named, *self.others)

    @property
    def silver(self) -> ReferenceSource | None:
        """The first of them that only says what another component decided."""
        return next((one for one in self.all if one.kind == "silver"), None)

    @property
    def words(self) -> str:
        """For people, after a number."""
        return {
            "column": "of the log's own column",
            "silver": f"silver (decisions of {self.source})",
            "function": f"of the function {self.source}",
        }.get(self.kind, f"of {self.source}")

    def notes(self, counts: Sequence[int]) -> list[str]:
        """What every reader of the numbers must be told, given how many came from each of `all`."""
        found = [
            f"{one.source} has references of a sample: the figures are about the states that"
            " were drawn, not about the log; those are what `sdb logs estimate` says"
            for one in self.all
            if one.kind == "sample"
        ]
        silver = self.silver
        counted = dict(zip(self.all, (*counts, *(0 for _ in self.all)), strict=False))
        if silver is not None and sum(counted.values()) == counted[silver]:
            found.append(
                f"silver references: decisions of {silver.source}; the figures say how much of the"
                " time it is agreed with, not how much is right"
            )
        found += [
            f"no reference is {one.words}: those before it say something wherever it does, or it is"
            " about other states"
            for one in self.all[1:]
            if counted[one] == 0 and any(counted.values())
        ]
        ordered = sorted(counted, key=lambda one: _ORDER.index(one.kind))
        met = [f"{counted[one]} {one.words}" for one in ordered if counted[one]]
        if len(met) > 1:
            mixed = "; where they are silver the figures are agreement" if silver in counted else ""
            found.append(f"references, the first that says something: {', '.join(met)}{mixed}")
        return found


_ORDER = ("table", "sample", "column", "silver", "function")
"""Gold before silver before a function: whose word counts where several say something."""


def attach_references(
    opened: Engine,
    references: Any,
    reference: str | Judge | None,
    *,
    sql: str | None = None,
    sql_name: str = "the query over the references",
    alone: bool = False,
    told: ProgressReported = untold,
) -> ReferenceSource:
    """Gives the log the references that were asked for.

    Of several, a table of references goes before the log's own column, that before silver, that before a
    function of the state; each fills up what those before it leave open. `alone` they replace the log's.
    """
    if reference == "column":
        if "reference" not in opened.schema().names:
            raise InputError(
                "--reference column: there is no column 'reference'",
                where=opened.name,
                fix="name what was right with --sql: SELECT *, … AS reference FROM source",
            )
        reference = None
    given = list(references) if isinstance(references, list | tuple) else [references]
    given = [one for one in given if one is not None]
    if sql is not None and len(given) != 1:
        raise InputError(
            f"a query over references needs one table of them, and {len(given)} are given",
            where=sql_name,
            fix="give one --references with --references-sql",
        )
    tables = [_Given(opened, one, sql, sql_name) for one in given]
    kinds = [one.open() for one in tables]
    found = [ReferenceSource(kind, label) for kind, label, _, _ in kinds]
    # Of tables the first counts, so it comes last; silver fills up in order.
    golden = [k for k, one in enumerate(found) if one.kind != "silver"]
    silver = [k for k, one in enumerate(found) if one.kind == "silver"]
    for k in (*reversed(golden), *silver):
        if len(tables) > 1:
            tables[k].open()
        how = "alone" if alone else "under" if k in silver else "over"
        opened.join(kinds[k][2], kinds[k][3], origin=1 + k, how=how)
    if reference is not None:
        judge, name = (
            (load_function(reference), reference)
            if isinstance(reference, str)
            else (reference, getattr(reference, "__name__", "function"))
        )
        _ask_function(opened, judge, name, told)
        opened.join(
            ["state"], "reference", origin=1 + len(found), how="alone" if alone else "under"
        )
        found.append(ReferenceSource("function", name))
    return replace(found[0], others=tuple(found[1:])) if found else ReferenceSource()


@dataclass(frozen=True, slots=True)
class _Given:
    """References in a file, a folder, a table, another log or a recording."""

    engine: Engine
    source: Any
    sql: str | None
    sql_name: str

    def open(self) -> tuple[str, str, list[str], str]:
        """As the engine's second table: of which kind, its name, the keys, the column to take."""
        other, label, recorded = _open(self.source)
        schema = self.engine.give(other, self.sql, self.sql_name)
        silver = recorded or "reference" not in schema.names
        take = "decision" if silver else "reference"
        if take not in schema.names:
            raise InputError(
                "has neither a column 'reference' nor a column 'decision'; its columns are"
                f" {', '.join(n for n in schema.names if n != FILE)}",
                where=label,
                fix="name what was right in it 'reference', in a query given with --references-sql",
            )
        on = _keys(self.engine, schema, label)
        against = self.engine.contradiction(on, take)
        if against is not None:
            *keys, one, two = against
            at = ", ".join(f"{name} {value}" for name, value in zip(on, keys, strict=True))
            raise InputError(
                f"column {take!r} says both {one[:60]!r} and {two[:60]!r} for {at}",
                where=label,
                fix="leave one row for every state",
            )
        kind = "silver" if silver else "sample" if SAMPLED in schema.names else "table"
        return kind, label, on, take


def _ask_function(engine: Engine, judge: Judge, name: str, told: ProgressReported) -> None:
    """Asks a function of the state what is right, once for every distinct state: a second table."""
    import pyarrow as pa

    schema = engine.schema()
    if "state" not in schema.names:
        raise InputError(
            f"has no column 'state', and {name} needs one",
            where=engine.name,
            fix="add the state, or give references in a table with --references",
        )
    states: list[str] = []
    answers: list[str | None] = []
    for batch in engine.distinct("state"):
        for text in batch.column(0).to_pylist():
            states.append(text)
            answers.append(judged(judge, name, text))
            if len(states) % 1000 == 0:
                told(f"asking {name}, {plural(len(states), 'state')}", None)
    text = pa.large_string()
    engine.give(pa.table({"state": pa.array(states, text), "reference": pa.array(answers, text)}))


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
        from streamdecisionbench.logs.log_export import log_of

        return log_of([Path(source)], states=False), str(source), True
    return find_files([source]), str(source), False


def _keys(engine: Engine, given: pa.Schema, label: str) -> list[str]:
    """What a row and its reference have in common."""
    log = engine.schema()
    for keys in _KEYS:
        if all(k in log.names and k in given.names for k in keys):
            if "published_at" in keys:
                _check_clock(log, given, label)
            elif "step" in keys and (again := engine.several_times(keys)) is not None:
                at = ", ".join(f"{name} {value}" for name, value in zip(keys, again, strict=True))
                raise InputError(
                    f"is about {at}, and the log has that at several times: the id is used again",
                    where=label,
                    fix="name 'stream' and 'published_at' in both",
                )
            return list(keys)
    raise InputError(
        "shares neither 'state_id' nor 'stream' and 'published_at' with the log, nor 'session' and"
        f" 'step'; its columns are {', '.join(n for n in given.names if n != FILE)}",
        where=label,
        fix="name the columns of both alike, with --sql for the log and --references-sql for these",
    )


_KEYS = (("state_id",), ("stream", "published_at"), ("session", "step"), ("stream", "step"))
"""By what references are found, in this order; `session` and `step` are those of a meter's log."""


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
            fix="write both alike, with --sql for the log and --references-sql for these",
        )
