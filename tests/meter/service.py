"""A metered service that says on standard output what it has done, to be killed at any moment.

service.py FOLDER FLUSH_S SEED
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time

from streamdecisionbench.meter import DecisionLog, Meter


def main() -> None:
    folder, flush_s, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    meter = Meter("service")
    log = DecisionLog(meter, folder, flush_s=flush_s, max_bytes=30_000)
    flushed_at = [0.0]
    flush = log.flush

    def noted() -> None:
        begin = time.monotonic()
        flush()
        flushed_at[0] = begin

    log.flush = noted  # type: ignore[method-assign]
    saying = threading.Lock()

    def say(session: str, step: int, column: str, value: object) -> None:
        at = time.monotonic()
        with saying:
            line = {"at": at, "session": session, "step": step, "column": column, "value": value}
            print(json.dumps({**line, "flushed_at": flushed_at[0]}))

    def session(k: int) -> None:
        draw = random.Random(f"{seed} {k}")
        name = f"call-{k}"
        with meter.stream(name) as call:
            for _ in range(100_000):
                step = call.publish()
                say(name, step, "step", step)
                time.sleep(draw.random() * 0.004)
                decision = draw.choice(("wait", "hold"))
                if call.answer(step, decision):
                    say(name, step, "decision", decision)
                if draw.random() < 0.7 and call.judge(step, "wait"):
                    say(name, step, "reference", "wait")

    print("ready")
    for k in range(3):
        threading.Thread(target=session, args=(k,), daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
