"""`sdb watch`: a page that shows a recording or a metered service while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    from streamdecisionbench.report.watch.source import Source

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("watch")(watch)


def watch(
    source: Annotated[
        Path, typer.Argument(help="folder of a recording, or of a meter's decision log")
    ],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="port on this machine; 0 takes any free one")
    ] = 8481,
    data: Annotated[Path | None, typer.Option(help="suite folder of the recording")] = None,
) -> None:
    """Show lanes, classes and the running score on a local page while something runs.

    The page is served to this machine alone. It goes on when the watched process ends or starts
    again.
    """
    import asyncio

    from streamdecisionbench.report.watch.source import open_source

    asyncio.run(_watch(open_source(source, data), port))


async def _watch(source: Source, port: int) -> None:
    import asyncio
    import contextlib

    try:
        from streamdecisionbench.components.serving.listening import listen, stop_signal
        from streamdecisionbench.report.watch.watch_server import WatchServer
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
