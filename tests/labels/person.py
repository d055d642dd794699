"""A person at the label page without a browser: an audit, `sdb label` in a process, and answers over HTTP."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from streamdecisionbench.labels.label_files import (
    AnswerForm,
    AuditFolder,
    Item,
    ItemQuestion,
    label_lines,
    write_items,
)
from streamdecisionbench.suite.scenario import DecisionSpec

SDB = [sys.executable, "-m", "streamdecisionbench.cli.main"]
PLAIN = {"decision": ItemQuestion("Which tool?", {"lookup": "", "hand_off": "", "wait": ""})}


def audit(
    folder: Path, count: int = 12, questions: Mapping[str, ItemQuestion] | None = None, **state: Any
) -> AuditFolder:
    """An audit of one question, without a log behind it."""
    asked = dict(questions or PLAIN)
    folder.mkdir(parents=True)
    write_items(
        folder / "items.jsonl",
        [
            Item(
                f"i{k:04d}",
                {"turn": k, "said": f"words {k}", **state},
                None if k == 0 else {"turn": k - 1, "said": f"words {k - 1}", **state},
                asked,
            )
            for k in range(count)
        ],
    )
    form = AnswerForm(DecisionSpec(next(iter(asked)), tuple(asked)[1:], {}), plain=len(asked) == 1)
    sample = {"schema": "sdb-audit-sample/1", "asked": msgspec.to_builtins(form)}
    (folder / "sample.json").write_text(json.dumps(sample))
    return AuditFolder.open(folder)


@dataclass
class Page:
    """The server of one `sdb label`, spoken to as its page does."""

    process: Any
    url: str

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.url).query)["token"][0]

    @property
    def origin(self) -> str:
        parts = urlsplit(self.url)
        return f"http://{parts.netloc}"

    def ask(
        self, path: str, body: object = None, headers: Mapping[str, str | None] | None = None
    ) -> tuple[int, Any]:
        """The status and the JSON of one request; a header that is None is left out."""
        netloc = urlsplit(self.url).netloc
        sent = {"X-Token": self.token, "Host": netloc}
        if body is not None:
            sent |= {"Origin": self.origin, "Content-Type": "application/json"}
        sent |= headers or {}  # type: ignore[arg-type]
        connection = http.client.HTTPConnection(netloc, timeout=30)
        try:
            connection.putrequest("POST" if body is not None else "GET", path, skip_host=True)
            data = b"" if body is None else json.dumps(body).encode()
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data or None)
            reply = connection.getresponse()
            text = reply.read().decode()
        finally:
            connection.close()
        try:
            return reply.status, json.loads(text)
        except ValueError:
            return reply.status, text

    def next(self) -> Any:
        return self.ask("/next")[1]

    def answer(self, asked: Any, answer: object, **more: object) -> tuple[int, Any]:
        body = {"item": asked["item"]["item"], "id": asked["id"], "answer": answer, **more}
        return self.ask("/answer", body)


@contextmanager
def labelling(*words: object, cwd: Path | None = None) -> Iterator[Page]:
    """`sdb label …` until the block ends."""
    process = subprocess.Popen(
        [*SDB, "label", *map(str, words)], cwd=cwd, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        line = process.stdout.readline() if process.stdout else ""
        found = [word for word in line.split() if word.startswith("http://")]
        if not found:
            raise AssertionError(process.communicate()[1])
        yield Page(process, found[0])
    finally:
        process.terminate()
        process.communicate()


@contextmanager
def warm_labelling(*words: object) -> Iterator[Page]:
    """The same in a process forked from one that has loaded its modules: for a thousand of them."""
    with tempfile.TemporaryDirectory() as home:
        said = Path(home) / "said"
        process = _WARM.Process(target=_label, args=(list(map(str, words)), str(said)))
        process.start()
        try:
            while "(stop" not in (line := said.read_text() if said.exists() else ""):
                if not process.is_alive():
                    raise AssertionError(f"ended with {process.exitcode}: {line}")
                time.sleep(0.002)
            yield Page(process, next(word for word in line.split() if word.startswith("http://")))
        finally:
            process.kill()
            process.join()


_WARM = multiprocessing.get_context("forkserver")
_WARM.set_forkserver_preload(
    ["tests.labels.person", "streamdecisionbench.labels.commands", "streamdecisionbench.labels.label_server"]
)  # fmt: skip


def _label(words: list[str], said: str) -> None:
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), 1)
    sys.argv = ["sdb", "label", *words]
    from streamdecisionbench.cli.main import main

    main()


def killed_while_answering(
    folder: AuditFolder, draw: random.Random, *, kills: int, at_most_s: float = 0.2
) -> Counter[str]:
    """One person answers while the server is killed again and again; each time it is started anew."""
    counts: Counter[str] = Counter()
    acknowledged: dict[str, str] = {}
    while counts["kills"] < kills:
        with warm_labelling(folder.path, "--as", "ana") as page:
            killer = threading.Timer(draw.uniform(0, at_most_s), page.process.kill)
            at_once = (
                counts["kills"] % 2 == 0
            )  # the others come after an answer, however busy the machine
            if at_once:
                killer.start()
            try:
                asked = page.next()
                while asked["item"] is not None:
                    item, said = asked["item"]["item"], draw.choice(("wait", "lookup", "hand_off"))
                    status, asked = page.answer(asked, {"decision": said})
                    if status != 200:
                        raise AssertionError(asked)
                    acknowledged[item] = said
                    if not at_once:
                        killer.start()
                        at_once = True
            except (OSError, http.client.HTTPException, ValueError):
                counts["not acknowledged"] += 1
            if not at_once:
                killer.start()
            killer.join()
            page.process.join()
        counts["kills"] += 1
        if counts["kills"] % 50 == 0 and kills > 50:
            print(f"… {counts['kills']} kills", flush=True)
    written = Counter(label.item for _, label in label_lines(folder.label_path("ana"))[0])
    found = folder.read_labels().by_person.get("ana", {})
    counts["acknowledged"], counts["on disk"] = len(acknowledged), len(found)
    counts["twice"] = sum(times > 1 for times in written.values())
    counts["lost"] = sum(
        name not in found or found[name].answer != {"decision": said}
        for name, said in acknowledged.items()
    )
    return counts
