"""A call recorder pauses while a card number is read out: speech in, the decision in force out."""

import asyncio
import random
import sys
from pathlib import Path

from prometheus_client import start_http_server

from streamdecisionbench.meter import DecisionLog, Meter, Stream
from streamdecisionbench.meter.prometheus import export

POLICY = Path(__file__).parent / "policy.toml"  # what `sdb choose --write` wrote
meter = Meter("recorder", by=("model",), shadows=("candidate",), policy=POLICY)


async def component(words: str, *, hasty: bool) -> tuple[str, float]:
    """Yours: a model over the network. These two find words, after a while, and say how sure they are."""
    await asyncio.sleep(random.lognormvariate(-2.5 if hasty else -1.5, 0.5))
    pause = "card" in words or (hasty and "number" in words)
    return "pause" if pause else "record", random.uniform(0.65, 1.0)


async def ask(call: Stream, step: int, words: str) -> None:
    if call.ask(None, step):
        decision, sure = await component(words, hasty=False)
        call.answer(step, decision, confidence=sure)
    call.shadow("candidate", step, (await component(words, hasty=True))[0])


async def serve_call(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    name = (await reader.readline()).decode().strip()
    async with meter.stream(name, model="rules-1") as call, asyncio.TaskGroup() as asked:
        while line := (await reader.readline()).decode().strip():
            if line.startswith("judge "):  # somebody has listened to it
                _, step, reference = line.split()
                call.judge(int(step), reference)
            else:
                step = call.publish({"words": line})
                asked.create_task(ask(call, step, line))
                writer.write(f"{step} {call.decision}\n".encode())
    writer.close()


async def main(port: int = 9465, metrics_port: int = 9464) -> None:
    DecisionLog(meter, "decisions", flush_s=1.0)
    export(meter)
    start_http_server(metrics_port, addr="127.0.0.1")
    server = await asyncio.start_server(serve_call, "127.0.0.1", port)
    print(f"calls on port {port}, metrics on http://127.0.0.1:{metrics_port}/metrics", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
