"""`sdb serve`: simulated components behind a real HTTP server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

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
        str, typer.Option(help="Suite folder to answer; default: the suite in the package.")
    ] = "",
    profile: Annotated[
        list[str] | None,
        typer.Option(help="A profile file of your own (JSON), served besides the published ones."),
    ] = None,
) -> None:
    """Serve simulations of the published settings over HTTP: System One and Responses.

    The `model` of a request selects the profile (jev, astra-low, terra-none, kev-4b, …).
    """
    import asyncio

    from streamdecisionbench.components.serving.simulation_server import DemoServer
    from streamdecisionbench.components.simulated.profiles import builtin_profiles, find_profile
    from streamdecisionbench.components.simulated.simulator import Simulator
    from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

    profiles = dict(builtin_profiles())
    for path in profile or ():
        own = find_profile(path)
        profiles[own.name] = own
    suite = read_suite(data or builtin_suite_path())
    simulator = Simulator(suite, seed)
    for each in profiles.values():
        simulator.prepare(each)
    demo = DemoServer(simulator, profiles)
    asyncio.run(_serve(demo, host, port))


async def _serve(demo: DemoServer, host: str, port: int) -> None:
    import asyncio
    import signal

    from streamdecisionbench.components.serving.http_server import start
    from streamdecisionbench.errors import InputError

    try:
        server = await start(demo.handle, host, port)
    except OSError as error:
        raise InputError(
            f"cannot listen on {host}:{port} ({error.strerror})",
            fix="choose another --port or --host",
        ) from None
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    bound_host, bound_port = server.sockets[0].getsockname()[:2]
    shown = f"[{bound_host}]" if ":" in bound_host else bound_host
    suite = demo.simulator.suite
    typer.echo(f"simulated components on http://{shown}:{bound_port} (stop with Ctrl-C)")
    typer.echo(f"suite: {suite.name}, {demo.simulator.states} states, seed {demo.simulator.seed}")
    typer.echo(f"models: {', '.join(demo.profiles)}")
    await stop.wait()
    server.close()
    typer.echo(f"answered {demo.answered} requests, refused {demo.refused}")
