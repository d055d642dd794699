"""Audits made for tests: streams with what is right, states that name them, and answers of a person who
knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamdecisionbench.labels.label_files import (
    AuditFolder,
    Item,
    Label,
    LabelFile,
)
from streamdecisionbench.labels.sample import (
    AuditSample,
    draw_sample,
    write_audit,
)
from tests.kernel.plain_streams import Stream
from tests.logs.made_logs import rows_of, table_of

Silver = Callable[[int, int], str | None]
"""What silver says of a state, by stream and step."""


def audited_rows(streams: Sequence[Stream], silver: Silver | None = None) -> list[dict[str, Any]]:
    """The rows of a log that does not say what was right; its states tell them apart."""
    steps = [(k, i) for k, stream in enumerate(streams) for i in range(len(stream.times))]
    return [
        {
            **row,
            "reference": None if silver is None else silver(k, i),
            "state": f'{{"stream": {k}, "step": {i}}}',
        }
        for row, (k, i) in zip(rows_of(streams), steps, strict=True)
    ]


def audited_table(streams: Sequence[Stream], silver: Silver | None = None) -> pa.Table:
    return table_of(audited_rows(streams, silver))


def draw(
    streams: Sequence[Stream], silver: Silver | None = None, **how: Any
) -> tuple[AuditSample, list[Item]]:
    table = audited_table(streams, silver)
    return draw_sample(table, silver=None if silver is None else "column", **how)


def right_for(streams: Sequence[Stream], item: Item) -> str | None:
    """What is right for an item's state; None: nobody can tell."""
    right: str | None = streams[item.state["stream"]].references[item.state["step"]]
    return right


def answer(streams: Sequence[Stream], items: Sequence[Item]) -> Mapping[str, str | None]:
    return {item.item: right_for(streams, item) for item in items}


def label(
    folder: Path, truth: Mapping[str, str | None], by: str = "ana", **more: Any
) -> AuditFolder:
    """Somebody who knows answers what is asked; what is no option is written out."""
    audit = AuditFolder.open(folder)
    with LabelFile(audit, by) as file:
        for name, right in truth.items():
            options = audit.items[name].questions["decision"].options
            said = None
            if right is not None:
                said = {"decision": right} if right in options else {"other": right}
            file.append(Label(name, by, "2026-01-01T00:00:00Z", said, **more), sync=False)
    return audit


def make_audit(
    folder: Path, streams: Sequence[Stream], silver: Silver | None = None, **how: Any
) -> AuditFolder:
    """Drawn, written and answered in full."""
    sample, items = draw(streams, silver, **how)
    write_audit(folder, sample, items)
    return label(folder, answer(streams, items))
