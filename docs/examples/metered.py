"""A recorder control with a meter around it: 12 calls, and a candidate in the shadow. Takes 6 s."""

import asyncio
import random

from streamdecisionbench.meter import DecisionLog, Meter

WORDS = {"record": "how can I help", "pause": "my card number is", "stop": "goodbye"}
meter = Meter("recorder", shadows=("candidate",))


async def decide(words: str, seconds: float) -> str:
    """Your model goes here. This one finds a word after some time."""
    await asyncio.sleep(random.uniform(0.5, 1.5) * seconds)
    return "pause" if "card" in words else "stop" if "bye" in words else "record"


async def serve_call(name: str) -> None:
    with meter.stream(name) as call:
        for _ in range(12):
            right, words = random.choice(list(WORDS.items()))
            step = call.publish({"words": words}, reference=right)
            await asyncio.gather(applied(call, step, words), shadow(call, step, words))
            await asyncio.sleep(0.2)


async def applied(call, step, words):
    call.answer(step, await decide(words, 0.2))


async def shadow(call, step, words):
    call.shadow("candidate", step, await decide(words, 0.05))


async def main() -> None:
    await asyncio.gather(*(serve_call(f"call-{number}") for number in range(12)))


if __name__ == "__main__":
    random.seed(1)
    DecisionLog(meter, "decisions")
    asyncio.run(main())
    print(f"{100 * meter.in_force():.1f} % in force, log in decisions/")
    meter.close()
