"""What an engine must be able to do: read, map, join and hand over sorted rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from streamdecisionbench.logs.sources import LogFiles

if TYPE_CHECKING:
    import pyarrow as pa


class Sums(Protocol):
    """What a log is added up into: parts of it anywhere, merged in any order."""

    def keys(self, schema: pa.Schema) -> list[str]:
        """The columns that tell streams apart."""
        ...

    def add(self, table: pa.Table) -> None:
        """Adds whole streams, sorted by stream and published_at."""
        ...

    def merge(self, other: Any) -> None:
        """Adds what another part came to."""
        ...


S = TypeVar("S", bound=Sums)


class ProgressTold(Protocol):
    """Hears how far a long piece of work is: a share of what it is about, where that is known."""

    def __call__(self, doing: str, share: float | None) -> None: ...


def untold(doing: str, share: float | None) -> None:
    """Tells nobody."""


class Engine(Protocol):
    """A table of decisions, somewhere. `name` is what messages call it."""

    name: str
    torn: int
    """Files that ended in a line that was cut off; the line is left out."""

    def schema(self) -> pa.Schema:
        """The columns of the mapped table."""
        ...

    def example(self, column: str) -> str | None:
        """Some value of a column, as text."""
        ...

    def rows(self) -> int:
        """How many rows the mapped table has."""
        ...

    def distinct(self, column: str) -> Iterable[pa.RecordBatch]:
        """Every value of a column once, as text."""
        ...

    def give(self, other: pa.Table | LogFiles) -> pa.Schema:
        """A second table to join with: its columns."""
        ...

    def contradiction(self, on: Sequence[str], take: str) -> tuple[str, ...] | None:
        """Keys under which the second table has different values, as text, where there are any."""
        ...

    def join(self, on: Sequence[str], take: str, name: str) -> None:
        """Gives every row as `name` what `take` is in the second table under the same `on`, or null."""
        ...

    def table(self, columns: Sequence[str], limit: int | None = None) -> pa.Table:
        """Some columns of all rows, sorted by stream and published_at."""
        ...

    def reduce(self, columns: Sequence[str], into: S) -> S:
        """Adds up the whole log, every stream whole and in order in one call of `add`."""
        ...

    def file_of(self, stream: str, published_at: str) -> str | None:
        """The file a row lies in, where rows still are what files hold."""
        ...

    def scattered(self) -> tuple[int, str] | None:
        """How many streams lie in more than one file, and one of them."""
        ...

    def close(self) -> None: ...
