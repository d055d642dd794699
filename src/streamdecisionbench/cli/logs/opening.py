"""A log opened for a command, with its progress told, and closed however the command ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streamdecisionbench.cli.logs.telling import telling

if TYPE_CHECKING:
    from streamdecisionbench.logs.engines.engine import Engine, Told

__all__ = ["opening"]


@contextmanager
def opening(
    sources: Sequence[str],
    *,
    sql: Path | None,
    engine: str,
    master: str | None,
    memory: str,
    quiet: bool,
) -> Iterator[tuple[Engine, Told]]:
    from streamdecisionbench.logs.score_log import open_log
    from streamdecisionbench.suite.disk import read_text

    with telling(quiet) as told:
        opened = open_log(
            sources,
            sql=None if sql is None else read_text(sql),
            sql_name=str(sql),
            engine=engine,
            master=master,
            memory=memory,
            told=told,
        )
        try:
            yield opened, told
        finally:
            opened.close()
