"""Ctrl-C and SIGTERM: the first one ends a recording in order, the second at once."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["run_until_signal"]

_EXIT_CODE = 130


def run_until_signal(runner: asyncio.Runner, work: Awaitable[None]) -> bool:
    """Whether the work came to its end. The first Ctrl-C ends it in order, the second at once."""
    stopping = threading.Event()
    tasks: list[asyncio.Task[Any]] = []
    loop = runner.get_loop()

    async def main() -> None:
        task = asyncio.current_task()
        if task is not None:
            tasks.append(task)
        if not stopping.is_set():
            await work

    def stop(number: int, frame: object) -> None:
        if stopping.is_set():
            os._exit(_EXIT_CODE)
        stopping.set()
        for task in tasks:
            loop.call_soon_threadsafe(task.cancel)

    with _handling(stop):
        try:
            runner.run(main())
        except asyncio.CancelledError:
            if not stopping.is_set():
                raise
    return not stopping.is_set()


@contextmanager
def _handling(handler: Callable[[int, object], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals; whoever runs us elsewhere stops us itself
        return
    numbers = [signal.SIGINT, signal.SIGTERM]
    previous = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in previous.items():
            signal.signal(number, old)
