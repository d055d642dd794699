"""`sdb watch`: a page that shows a recording or a metered service while it runs."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    from streamdecisionbench.watch.live_sources import Source


def watch(
    source: Annotated[
        Path, typer.Argument(help="Folder of a recording, or a decision log: a file or a folder.")
    ],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes any free one.")
    ] = 8481,
    data: Annotated[Path | None, typer.Option(help="Suite folder of the recording.")] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for a recording that has not begun.")
    ] = False,
) -> None:
    """Show lanes, classes and the running score on a local page while something runs.

    The page is served to this machine alone. It goes on when the watched process ends or starts
    again.
    """
    import asyncio

    from streamdecisionbench.watch.live_sources import open_source

    asyncio.run(_watch(open_source(source, data, wait=wait), port))


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a recording that is being made, served by a process of its own."""

    process: subprocess.Popen[str]
    address: str

    def stay(self) -> None:
        """Until somebody has seen enough."""
        # Whoever reads the line may press Ctrl-C before the wait has begun.
        with contextlib.suppress(KeyboardInterrupt):
            typer.echo(f"the page stays on {self.address} (stop with Ctrl-C)", err=True)
            self.process.wait()


@contextlib.contextmanager
def watching(folder: Path, data: Path | None) -> Iterator[Page]:
    """`sdb watch` beside a recording: whoever looks costs the recorder no time."""
    from streamdecisionbench.components.serving.child_process import ending_with_us

    folder.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "streamdecisionbench.cli.main", "watch", str(folder)]
    command += ["--wait", "--port", "0", *(["--data", str(data)] if data else [])]
    # In a session of its own: an interrupt that ends the recording leaves the page.
    # It ends with this process, however that ends: its standard input then closes.
    process = subprocess.Popen(  # noqa: S603
        ending_with_us(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        words = [word for word in line.split() if word.startswith("http://")]
        if not words:
            raise InputError(
                "the page could not be served", fix=f"try `sdb watch {folder}` on its own"
            )
        typer.echo(line.rstrip(), err=True)
        yield Page(process, words[0])
    finally:
        process.terminate()
        process.wait()


async def _watch(source: Source, port: int) -> None:
    import asyncio

    try:
        from streamdecisionbench.components.serving.http_server import listen, stop_signal
        from streamdecisionbench.watch.watch_server import WatchServer
    except ModuleNotFoundError as error:
        raise InputError(
            f"watching needs {error.name}, which is not installed",
            fix="pip install 'streamdecisionbench[serve]'",
        ) from None

    server = WatchServer(source)
    async with listen(server.application(), "127.0.0.1", port) as listening:
        stop = stop_signal()
        typer.echo(f"watching on {listening.url} (stop with Ctrl-C)")
        looking = asyncio.create_task(server.keep_looking())
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({looking, stopping}, return_when=asyncio.FIRST_COMPLETED)
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking


COMMANDS = {
    "watch": watch,
}
