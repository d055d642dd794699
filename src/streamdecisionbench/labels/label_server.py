"""The label page: one state at a time for one person, and the server that puts every answer on disk.

The page is told what `items.jsonl` says of a state and nothing else. An answer is appended, flushed and
synced before its reply leaves, so what the page was told is saved stays saved; one that is sent again
because its reply was lost is not written twice. Whoever has the address has the token in it; a page of
another site has neither that, nor this origin, nor a host name of this machine.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from streamdecisionbench.errors import InputError
from streamdecisionbench.labels.label_files import (
    AuditFolder,
    Label,
    LabelFile,
    label_lines,
    now,
)
from streamdecisionbench.render.html_page import (
    asset,
    one_file,
)

_LARGEST_BODY = 1 << 18
_IDLE_S = 300.0
"""Whoever took longer was away: it says nothing about how long the rest takes."""


_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}


class Given(msgspec.Struct, frozen=True):
    """What the page sends."""

    item: str
    id: str
    """Of this asking: the same answer sent again has the same."""
    answer: dict[str, str] | None
    note: str | None = None


class AnsweredElsewhereError(InputError):
    """The item was answered in another window of the same person."""


@dataclass
class LabelSession:
    """One person at work on an audit: what is asked next, and what was answered."""

    audit: AuditFolder
    file: LabelFile
    overlap: float = 0.2
    """Share of the items that goes to everybody; the others go to whoever comes first."""
    disputes: bool = False
    """Only what people answered differently, for whoever settles it."""
    when_answered: Callable[[], None] = lambda: None
    """Called when an answer is on disk, or taken back."""
    _own: dict[str, Label] = field(default_factory=dict)
    """This person's answers, in the order in which they were given."""
    _acknowledged: dict[str, str] = field(default_factory=dict)
    """By the id of an asking, the item it was about."""
    _again: Label | None = None
    """The answer that was just taken back: it is asked again, filled in."""
    _seconds: list[float] = field(default_factory=list)
    _asked: float | None = None

    def __post_init__(self) -> None:
        for _, label in label_lines(self.file.path)[0]:
            self._own.pop(label.item, None)
            if not label.undone:
                self._own[label.item] = label
        if any(label.settles != self.disputes for label in self._own.values()):
            raise InputError(
                f"{self.file.name} has answered "
                + ("as others do" if self.disputes else "disputes"),
                where=self.file.path,
                fix="whoever settles what others answered takes a name for that alone",
            )

    def next(self) -> dict[str, Any]:
        """What the page shows: an item, or that all are answered."""
        self._asked = time.monotonic()
        waiting = list(self._open())
        asked = self._again.item if self._again else (waiting[0] if waiting else None)
        left = len(waiting) + (asked is not None and asked not in waiting)
        done = len(self._own)
        earlier = self._again.answer if self._again and self._again.item == asked else None
        return {
            "id": secrets.token_hex(8),
            "item": None if asked is None else self.audit.items[asked],
            "answer": earlier,
            "note": self._again.note if self._again else "",
            "views": self._views(asked) if self.disputes and asked is not None else None,
            "undo": done > 0,
            "done": done,
            "of": done + left,
            "left_s": statistics.median(self._seconds) * left if self._seconds else None,
        }

    def answer(self, given: Given) -> dict[str, Any]:
        """Puts an answer on disk, once, and asks the next."""
        if self._acknowledged.get(given.id) == given.item:
            return self.next()
        label = Label(
            item=given.item,
            by=self.file.name,
            at=now(),
            answer=given.answer,
            note=(given.note or "").strip()[:4000],
            settles=self.disputes,
        )
        if given.item in self._own:
            raise AnsweredElsewhereError(
                "this state was answered in another window of yours", fix="go on with the next"
            )
        self._write(label)
        self._own[given.item] = label
        self._acknowledged[given.id] = given.item
        self._again = None
        if self._asked is not None and (took := time.monotonic() - self._asked) < _IDLE_S:
            self._seconds.append(took)
        return self.next()

    def undo(self) -> dict[str, Any]:
        """Takes the last answer back and asks it again."""
        last = next(reversed(self._own), None)
        if last is None:
            raise InputError("there is no answer to take back")
        label = self._own[last]
        self._write(Label(item=last, by=self.file.name, at=now(), undone=True))
        del self._own[last]
        self._again = label
        return self.next()

    def _write(self, label: Label) -> None:
        """Puts it on disk with all that follows from it, or neither: a failed answer can be sent again."""
        size = self.file.size()
        self.file.append(label)
        try:
            self.when_answered()
        except BaseException:
            self.file.cut(size)
            raise

    def _open(self) -> Iterator[str]:
        """What is still to be asked of this person, in the order of items."""
        labels = self.audit.read_labels()
        if self.disputes:
            yield from self.audit.disputes(labels)
            return
        others = {
            item
            for name, own in labels.by_person.items()
            if name != self.file.name
            for item, label in own.items()
            if not label.settles
        }
        for name in self.audit.items:
            if name not in self._own and (name not in others or for_everybody(name, self.overlap)):
                yield name

    def _views(self, name: str) -> list[str]:
        """What people said of an item in dispute, without who said it."""
        return list(self.audit.said(self.audit.read_labels())[name].decisions)


def for_everybody(item: str, overlap: float) -> bool:
    """Whether an item is among those that everybody answers: the same ones in every session.

    >>> for_everybody("i0001", 1.0), for_everybody("i0001", 0.0)
    (True, False)
    """
    drawn = int.from_bytes(hashlib.sha256(item.encode()).digest()[:8], "big") / 2**64
    return drawn < overlap


def label_page(session: LabelSession, afterwards: str) -> str:
    """The page; every state it is told by the server. `afterwards` is what to do when all is answered."""
    return one_file(
        asset("label.html", "labels"),
        {
            "by": session.file.name,
            "disputes": session.disputes,
            "guide": session.audit.guide,
            "done": afterwards,
        },
        title="sdb label",
        skip="questions",
        styles=[asset("label.css", "labels")],
        scripts=[asset("label.js", "labels")],
        served=True,
    )


class LabelServer:
    """One session on loopback: the page, the next item, an answer, undo."""

    def __init__(self, session: LabelSession, afterwards: str) -> None:
        self.token = secrets.token_urlsafe(18)
        self._session = session
        self._page = label_page(session, afterwards)

    def application(self) -> Starlette:
        local = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost", "[::1]"])
        routes = [
            Route("/", self._serve_page),
            Route("/next", self._serve_next),
            Route("/answer", self._take_answer, methods=["POST"]),
            Route("/undo", self._take_undo, methods=["POST"]),
        ]
        return Starlette(routes=routes, middleware=[local])

    async def _serve_page(self, request: Request) -> Response:
        if not self._knows(request.query_params.get("token", "")):
            return _refusal(
                403, "the address lacks its token: open the one that `sdb label` printed"
            )
        return HTMLResponse(self._page, headers=_HEADERS)

    async def _serve_next(self, request: Request) -> Response:
        return self._refused(request) or self._reply(self._session.next)

    async def _take_undo(self, request: Request) -> Response:
        return self._refused(request, writes=True) or self._reply(self._session.undo)

    async def _take_answer(self, request: Request) -> Response:
        if refused := self._refused(request, writes=True):
            return refused
        if int(request.headers.get("content-length") or _LARGEST_BODY + 1) > _LARGEST_BODY:
            return _refusal(413, f"an answer has at most {_LARGEST_BODY} bytes")
        try:
            given = msgspec.json.decode(await request.body(), type=Given)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return _refusal(400, f"is no answer: {error}")
        return self._reply(lambda: self._session.answer(given))

    def _refused(self, request: Request, *, writes: bool = False) -> Response | None:
        """Whoever has no token, or comes from a page that is not this one."""
        if not self._knows(request.headers.get("x-token", "")):
            return _refusal(403, "the token is missing or another one: reload the page")
        origin = request.headers.get("origin")
        if (writes and origin is None) or origin not in (None, f"http://{request.url.netloc}"):
            return _refusal(403, "another page may not answer here")
        return None

    def _knows(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _reply(self, act: Callable[[], dict[str, Any]]) -> Response:
        try:
            return _json(200, act())
        except AnsweredElsewhereError as error:
            return _json(409, {"error": error.what, "next": self._session.next()})
        except InputError as error:
            return _refusal(422, str(error))


def _json(status: int, value: object) -> Response:
    return Response(msgspec.json.encode(value), status, _HEADERS, "application/json")


def _refusal(status: int, why: str) -> Response:
    return _json(status, {"error": why})
