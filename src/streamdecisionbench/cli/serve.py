"""`sdb serve`: simulated components behind a real HTTP server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    from streamdecisionbench.components.serving.simulation_server import DemoServer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


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
) -> None:
    """Serve simulations of the published settings over HTTP: System One and Responses.

    The `model` of a request selects the profile (jev, astra-low, terra-none, kev-4b, …);
    `jev-latest` is jev.
    """
    import asyncio

    try:
        from streamdecisionbench.components.serving.simulation_server import DemoServer
    except ModuleNotFoundError as error:
        raise InputError(
            f"serving needs {error.name}, which is not installed",
            fix="pip install 'streamdecisionbench[serve]'",
        ) from None
    from streamdecisionbench.components.simulated.profiles import builtin_profiles, find_profile
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
    demo = DemoServer(first, profiles, others=others, any_state=any_state)
    asyncio.run(_serve(demo, host, port))


async def _serve(demo: DemoServer, host: str, port: int) -> None:
    from streamdecisionbench.components.serving.listening import listen, stop_signal

    async with listen(demo.application(), host, port) as listening:
        stop = stop_signal()
        typer.echo(f"simulated components on {listening.url} (stop with Ctrl-C)")
        for each in (demo.simulator, *demo.others):
            typer.echo(f"suite: {each.suite.name}, {each.states} states, seed {each.seed}")
        typer.echo(f"models: {', '.join(demo.profiles)}")
        await stop.wait()
    typer.echo(f"answered {demo.answered} requests, refused {demo.refused}")
