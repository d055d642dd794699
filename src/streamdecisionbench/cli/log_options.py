"""The options with which a command reads a decision log: declared once, handed over as a `LogSource`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer

from streamdecisionbench.cli.options import (
    Reference,
    ReferencesSql,
    ReferenceTables,
    Sql,
)
from streamdecisionbench.cli.progress_bar import telling
from streamdecisionbench.logs.log_source import (
    ALLOW_UNUSABLE,
    ENGINES,
    MEMORY,
    LogSource,
)

Sources = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE...", help="Files, folders or patterns of a decision log."),
]
AllowUnusable = Annotated[
    str,
    typer.Option("--allow-unusable", metavar="N|%", help="Rows that may be skipped: 12, or 1%."),
]
EngineName = Annotated[str, typer.Option("--engine", help=f"{' or '.join(ENGINES)}.")]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="With --engine spark: the cluster, for example spark://host:7077."
    ),
]
Memory = Annotated[
    str, typer.Option(help="Memory DuckDB may use before it spills to disk, for example 4GB.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no progress.")]


def _read(
    sources: Sources,
    sql: Sql = None,
    references: ReferenceTables = None,
    references_sql: ReferencesSql = None,
    reference: Reference = None,
    engine: EngineName = ENGINES[0],
    master: Master = None,
    allow_unusable: AllowUnusable = ALLOW_UNUSABLE,
    memory: Memory = MEMORY,
    quiet: Quiet = False,
) -> LogSource:
    return LogSource(
        sources,
        sql=sql,
        references=list(references or ()),
        references_sql=references_sql,
        reference=reference,
        engine=engine,
        master=master,
        memory=memory,
        allow_unusable=allow_unusable,
        progress=partial(telling, quiet),
    )


_REFERENCES = ("references", "references_sql", "reference")
_OPTIONS = inspect.signature(_read, eval_str=True).parameters


def reads_log(
    *, references: bool = True, unusable: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the options of a log. Its first parameter, `source`, receives the `LogSource`.

    `references` False leaves out the options about references, `unusable` False `--allow-unusable`. A
    command that declares one of the options itself, such as `quiet`, also receives its value.
    """
    left_out = {*(() if references else _REFERENCES), *(() if unusable else ("allow_unusable",))}
    shared = {name: option for name, option in _OPTIONS.items() if name not in left_out}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        _, *own = inspect.signature(command, eval_str=True).parameters.values()
        names = {one.name for one in own}
        of_log = [option for name, option in shared.items() if name not in names]
        parameters = [
            option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for option in (of_log[0], *own, *of_log[1:])
        ]

        def read_and_run(**given: Any) -> None:
            source = _read(**{name: given[name] for name in shared})
            command(source, **{name: given[name] for name in names})

        read_and_run.__doc__ = command.__doc__
        read_and_run.__name__ = command.__name__
        read_and_run.__module__ = command.__module__
        read_and_run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        read_and_run.__annotations__ = {one.name: one.annotation for one in parameters}
        return read_and_run

    return decorate
