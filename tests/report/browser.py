"""Headless Chromium over its DevTools pipe: JSON messages between NUL bytes on two file descriptors.

Nothing but the standard library, so the page's tests need a browser and no package.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
NO_BROWSER = "no Chromium found: install Debian's chromium to run the page's browser tests"
TIMEOUT_S = 120.0

_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update",
    "--disable-default-apps", "--disable-sync", "--hide-scrollbars", "--mute-audio",
    "--remote-debugging-pipe",
)  # fmt: skip


_MOVE_PIPES = """
import fcntl, os, sys
far = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 20) for fd in sys.argv[1:3]]
os.dup2(far[0], 3, inheritable=True)
os.dup2(far[1], 4, inheritable=True)
for fd in far: os.close(fd)
os.execv(sys.argv[3], sys.argv[3:])
"""


class BrowserError(AssertionError):
    """The page or the browser failed."""


@dataclass
class Seen:
    """What the page did that a test may ask about."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


class Browser:
    """One browser with one page. Use it as a context manager."""

    def __init__(self, *, width: int = 1280, height: int = 900) -> None:
        if CHROMIUM is None:
            raise BrowserError(NO_BROWSER)
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        child_reads, self._to = os.pipe()
        self._from, child_writes = os.pipe()
        # Chromium expects its pipes on descriptors 3 and 4; a small program moves ours there.
        self._process = subprocess.Popen(
            [
                sys.executable, "-c", _MOVE_PIPES, str(child_reads), str(child_writes),
                CHROMIUM, *_FLAGS, f"--user-data-dir={self._profile.name}", "about:blank",
            ],
            pass_fds=(child_reads, child_writes),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(child_reads)
        os.close(child_writes)
        self._buffer = b""
        self._next_id = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        self.seen = Seen()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._session = None
        with contextlib.suppress(BrowserError):
            self.call("Browser.close")
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command and its result; events that come meanwhile are noted."""
        self._next_id += 1
        message: dict[str, Any] = {"id": self._next_id, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive(method)
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, page: Path) -> None:
        """Loads the page from disk and waits until it is complete."""
        self._events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not any(e["method"] == "Page.loadEventFired" for e in self._events):
            self._receive("Page.loadEventFired")
        self.settle()

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call(
            "Runtime.evaluate",
            expression=script,
            returnByValue=True,
            awaitPromise=True,
            userGesture=True,
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def settle(self) -> None:
        """Two frames: what observers and animation frames had to do is done."""
        self.run("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def theme(self, name: str, *, media: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def press(self, key: str, *, times: int = 1, shift: bool = False) -> None:
        """A key, as a keyboard sends it, to whatever has the focus."""
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "Enter": 13,
                 "PageUp": 33, "PageDown": 34, "Home": 36, " ": 32}  # fmt: skip
        common = {"key": key, "code": key, "modifiers": 8 if shift else 0}
        if key in codes:
            common["windowsVirtualKeyCode"] = codes[key]
        if len(key) == 1:
            common["text"] = key
        for _ in range(times):
            self.call("Input.dispatchKeyEvent", type="keyDown", **common)
            self.call(
                "Input.dispatchKeyEvent",
                type="keyUp",
                **{k: v for k, v in common.items() if k != "text"},
            )

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        for share in (0.25, 0.5, 0.75, 1.0):
            x, y = (a + (b - a) * share for a, b in zip(start, end, strict=True))
            self.mouse("mouseMoved", x, y, button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", buttons=0, clickCount=1)

    def box(self, selector: str) -> dict[str, float]:
        """Where an element is on the screen, after scrolling it there."""
        found: dict[str, float] = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center', behavior: 'instant'}); const b = e.getBoundingClientRect();"
            " return {x: b.x, y: b.y, width: b.width, height: b.height}; })()"
        )
        return found

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)[
            "data"
        ]
        path.write_bytes(base64.b64decode(data))

    def _receive(self, waiting_for: str) -> dict[str, Any]:
        deadline = time.monotonic() + TIMEOUT_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                raise BrowserError(f"the browser did not answer: {waiting_for}")
            chunk = os.read(self._from, 1 << 20)
            if not chunk:
                raise BrowserError(f"the browser ended: {waiting_for}")
            self._buffer += chunk
        raw, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(raw)
        if "method" in message:
            self._note(message["method"], message.get("params", {}))
            self._events.append(message)
        return message

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.seen.errors.append(
                str(details.get("exception", {}).get("description", details["text"]))
            )
        elif method == "Runtime.consoleAPICalled" and params["type"] in (
            "error",
            "warning",
            "assert",
        ):
            self.seen.errors.append(str([a.get("value") for a in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.seen.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.seen.requests.append(params["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.seen.dialogs.append(params["message"])
