"""`sdb serve`: simulated components behind a real HTTP server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.errors import InputError
from streamdecisionbench.text import plural

if TYPE_CHECKING:
    from streamdecisionbench.components.serving.simulation_server import DemoServer
    from streamdecisionbench.components.simulated.profiles import Profile


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free one.")
    ] = 8480,
    seed: Annotated[int, typer.Option(help="Moves which states go wrong and every latency.")] = 0,
    data: Annotated[
        list[str] | None,
        typer.Option(help="Suite folder to answer; repeatable; default: the suite in the package."),
    ] = None,
    any_state: Annotated[
        bool,
        typer.Option("--any-state", help="Answer states of no suite too, drawn blindly."),
    ] = False,
    profile: Annotated[
        list[str] | None,
        typer.Option(help="A profile file of your own (JSON), served besides the published ones."),
    ] = None,
    capacity: Annotated[
        int | None,
        typer.Option(min=1, help="Serve so many requests at once; more wait in order of arrival."),
    ] = None,
    batch: Annotated[
        int, typer.Option(min=1, help="With --capacity: a place takes up to so many at once.")
    ] = 1,
    service_time: Annotated[
        str | None,
        typer.Option(
            metavar="PROFILE", help="Take this profile's service times, or so many seconds."
        ),
    ] = None,
) -> None:
    """Serve simulations of the published settings over HTTP: System One and Responses.

    The `model` of a request selects the profile (jev, astra-low, terra-none, kev-4b, …);
    `jev-latest` is jev.
    """
    import asyncio

    try:
        from streamdecisionbench.components.serving.simulation_server import DemoServer
        from streamdecisionbench.components.serving.timed_replies import (
            Queued,
            RequestQueue,
            on_arrival,
        )
    except ModuleNotFoundError as error:
        raise InputError(
            f"serving needs {error.name}, which is not installed",
            fix="pip install 'streamdecisionbench[serve]'",
        ) from None
    from streamdecisionbench.components.simulated.profiles import (
        Profile,
        builtin_profiles,
        find_profile,
    )
    from streamdecisionbench.components.simulated.simulator import Simulator
    from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

    profiles = dict(builtin_profiles())
    for path in profile or ():
        own = find_profile(path)
        profiles[own.name] = own
    folders = list(dict.fromkeys(data or [str(builtin_suite_path())]))
    first, *others = (Simulator(read_suite(folder), seed) for folder in folders)
    for each in profiles.values():
        for simulator in (first, *others):
            simulator.prepare(each)
    if batch > 1 and capacity is None:
        raise InputError("--batch is about places", fix="say how many there are: --capacity 1")
    timing = _timing(service_time)
    if isinstance(timing, Profile):
        for simulator in (first, *others):
            simulator.prepare(timing)
    queued = on_arrival if capacity is None else Queued(RequestQueue(capacity, batch))
    demo = DemoServer(first, profiles, queued, timing, others, any_state)
    asyncio.run(_serve(demo, host, port))


def _timing(text: str | None) -> Profile | float | None:
    """A number of seconds, or a profile by its name or file."""
    from streamdecisionbench.components.simulated.profiles import find_profile

    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        return find_profile(text)
    if not 0 <= seconds < float("inf"):
        raise InputError(f"--service-time is {text}", fix="give seconds, or a profile's name")
    return seconds


async def _serve(demo: DemoServer, host: str, port: int) -> None:
    from streamdecisionbench.components.serving.http_server import listen, stop_signal

    async with listen(demo.application(), host, port) as listening:
        stop = stop_signal()
        typer.echo(f"simulated components on {listening.url} (stop with Ctrl-C)")
        for each in (demo.simulator, *demo.others):
            typer.echo(
                f"suite: {each.suite.name}, {plural(each.states, 'state')}, seed {each.seed}"
            )
        typer.echo(f"models: {', '.join(demo.profiles)}")
        for line in _capacity(demo):
            typer.echo(line)
        await stop.wait()
    typer.echo(f"answered {plural(demo.answered, 'request')}, refused {demo.refused}")


def _capacity(demo: DemoServer) -> list[str]:
    """How much it can take, where that is limited."""
    from streamdecisionbench.components.serving.timed_replies import Queued

    if not isinstance(demo.finish_at, Queued):
        return []
    queue = demo.finish_at.queue
    taking = f", up to {queue.batch} requests each" if queue.batch > 1 else ""
    lines = [f"places: {queue.capacity}{taking}; more wait in order of arrival"]
    if demo.timing is not None:
        each = demo.mean_service_s(next(iter(demo.profiles.values())))
        if each > 0:
            rate = queue.capacity * queue.batch / each
            most = "at most" if queue.batch > 1 else "about"
            lines.append(f"service takes {each:.3g} s in the mean: {most} {rate:.3g} requests/s")
    return lines


COMMANDS = {
    "serve": serve,
}
