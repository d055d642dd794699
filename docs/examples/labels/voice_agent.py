"""A voice agent's log in which nobody wrote down what was right, and everybody who plays a part in
finding out: docs/labels.md. And the same agent's own table, as an application writes it: docs/logs.md.

    make()                      writes voice.parquet, and truth.parquet, which nobody has in real life
    make_table()                writes calls.csv: session_id, ts, latency_ms, tool_chosen, utterance, and
                                reviews.csv: what people who listened to some of the calls wrote down
    judge(request)              a strong component, right nine times of ten: python:voice_agent:judge
    answers("audit", "a.csv")   a person who reads every state and follows the guide

The agent decides after everything it hears whether to `wait` (the caller has not finished), `answer`,
`transfer` to a colleague or `end` the call.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

GUIDE = """\
# What is right

- `wait` while the caller is in the middle of a sentence: it ends in three dots.
- `transfer` if the caller asks for a person, or says for the second time that something went wrong.
- `end` once the caller has said goodbye.
- `answer` otherwise.
"""
REQUESTS = (
    "I would like to move my appointment to Thursday",
    "can you tell me when the parcel arrives",
    "I need a copy of my last invoice",
    "is the store in the old town open on Sunday",
    "how do I change the address in my account",
    "what does the larger plan cost",
)
COMPLAINTS = ("that is not what I asked for", "this went wrong last time as well")
PEOPLE = ("please let me talk to a person", "could somebody real take over")
GOODBYES = ("thank you, goodbye", "that was all, bye")
DECISIONS = ("answer", "end", "transfer", "wait")


def right(state: str) -> str:
    """What the guide says of a state."""
    heard = [line.removeprefix("caller: ") for line in state.splitlines() if line[:7] == "caller:"]
    last = heard[-1]
    if last.endswith("…"):
        return "wait"
    if last in GOODBYES:
        return "end"
    complaints = sum(line in COMPLAINTS for line in heard)
    if last in PEOPLE or (last in COMPLAINTS and complaints > 1):
        return "transfer"
    return "answer"


def make(folder: str | Path = ".", *, sessions: int = 300, seed: int = 7) -> None:
    """The log, and beside it what was right."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for session in range(sessions):
        rows += _session(f"call-{session:03d}", 1_790_000_000.0 + 400 * session, rng)
    table = pa.Table.from_pylist(rows)
    folder = Path(folder)
    pq.write_table(table.drop_columns(["reference"]), folder / "voice.parquet")
    pq.write_table(table.select(["stream", "published_at", "reference"]), folder / "truth.parquet")


def make_table(folder: str | Path = ".", *, sessions: int = 300, seed: int = 7) -> None:
    """What the agent's application logged, one row per thing heard: two releases, the newer one slower;
    and what reviewers say of a third of the calls, in their own words."""
    rng = random.Random(seed)
    rows, reviews = [], []
    for session in range(sessions):
        name, release = f"call-{session:03d}", ("2.0" if session % 2 else "1.9")
        for row in _session(name, 1_790_000_000.0 + 400 * session, rng):
            waited = (row["answered_at"] - row["published_at"]) * (3 if release == "2.0" else 1)
            at = datetime.fromtimestamp(row["published_at"], UTC)
            heard = row["state"].splitlines()[-1].removeprefix("caller: ")
            rows.append({
                "session_id": name, "ts": at.isoformat(timespec="milliseconds"),
                "latency_ms": round(1000 * waited), "tool_chosen": row["decision"],
                "utterance": heard, "release": release,
                "call_ended_at": datetime.fromtimestamp(row["ended_at"], UTC).isoformat(),
            })  # fmt: skip
            if session % 3 == 0:
                expected = "hand_off" if row["reference"] == "transfer" else row["reference"]
                reviews.append({"call": name, "heard_at": rows[-1]["ts"], "expected": expected})
    for file, table in (("calls.csv", rows), ("reviews.csv", reviews)):
        with (Path(folder) / file).open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, list(table[0]))
            writer.writeheader()
            writer.writerows(table)


def _session(name: str, at: float, rng: random.Random) -> list[dict[str, Any]]:
    """One call: what is heard grows word by word, the agent answers a little late, sometimes wrongly."""
    lines: list[str] = [f"agent: Hello, this is call {name[5:]}, how can I help?"]
    rows: list[dict[str, Any]] = []
    muddled = rng.random() < 0.15  # in some calls the agent understands nothing for a while
    for turn in range(rng.randint(4, 8)):
        said = _said(turn, rng)
        words = said.split()
        for end in sorted({rng.randint(1, len(words)), len(words)}):
            heard = " ".join(words[:end]) + ("…" if end < len(words) else "")
            state = "\n".join([*lines[-5:], f"caller: {heard}"])
            truth = right(state)
            wrong = rng.random() < (0.5 if muddled and turn < 4 else 0.06)
            rows.append(
                {
                    "stream": name,
                    "published_at": round(at, 3),
                    "answered_at": round(at + rng.lognormvariate(-1.2, 0.5), 3),
                    "decision": rng.choice([d for d in DECISIONS if d != truth])
                    if wrong
                    else truth,
                    "state": state,
                    "reference": truth,
                }
            )
            at += rng.uniform(0.8, 2.5)
        lines.append(f"caller: {said}")
        if right("\n".join(lines)) in ("end", "transfer"):
            break
        lines.append("agent: Of course, one moment.")
        at += rng.uniform(1.0, 4.0)
    for row in rows:
        row["ended_at"] = round(at, 3)
    return rows


def _said(turn: int, rng: random.Random) -> str:
    if turn > 2 and rng.random() < 0.4:
        return rng.choice(GOODBYES)
    kind = rng.random()
    return rng.choice(COMPLAINTS if kind < 0.25 else PEOPLE if kind < 0.32 else REQUESTS)


def judge(request: Any) -> dict[str, str]:
    """Reads a state as well as the guide nine times of ten, and always the same way."""
    state = request.state["state"]
    mark = hashlib.sha256(state.encode()).digest()
    said = right(state) if mark[0] >= 26 else DECISIONS[mark[1] % 4]
    criteria = request.questions["decision"]["criteria"]
    return {"decision": next(label for label, text in criteria.items() if text == said)}


def answers(audit: str | Path, table: str | Path, *, by: str = "ana") -> int:
    """A person at work: reads the items, knows the guide, fills in a table; how many answers."""
    (Path(audit) / "guide.md").write_text(GUIDE, encoding="utf-8")
    items = (Path(audit) / "items.jsonl").read_text(encoding="utf-8").splitlines()
    with Path(table).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "answer", "by"])
        for line in items:
            item = json.loads(line)
            writer.writerow([item["item"], right(item["state"]), by])
    return len(items)


if __name__ == "__main__":
    make()
