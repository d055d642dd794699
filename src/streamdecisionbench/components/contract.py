"""What a component is: something that answers {state, questions} with one label per question.

A provider is a small class with `answer`; everything about time, retries, logging and acceptance is
the recorder's. Failures are told apart by exception: `Retryable` (connection, timeout, rate limit)
may be tried again with the same input; `Fatal` stops the run with a message that names the fix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from streamdecisionbench.components.usage import Usage
from streamdecisionbench.errors import SdbError

__all__ = ["Answer", "Component", "ComponentInfo", "Fatal", "Options", "Request", "Retryable"]


@dataclass(frozen=True, slots=True)
class Request:
    """All a component ever sees: the public state and the questions."""

    state: Mapping[str, Any]
    questions: Mapping[str, Any]
    request_hash: str = ""

    def payload(self) -> dict[str, Any]:
        """Questions before state, so that the part that repeats forms a cacheable prefix."""
        return {"questions": self.questions, "state": self.state}


@dataclass(frozen=True, slots=True)
class Answer:
    """One label per question, and what the service said about how it got there.

    `received_at` is `time.monotonic()` when the response had arrived, before it was parsed.
    `service_s` is a declared service time: only simulations have one.
    """

    labels: Mapping[str, str]
    model: str | None = None
    usage: Usage | None = None
    probabilities: Mapping[str, Mapping[str, float]] | None = None
    confidence: Mapping[str, float] | None = None
    received_at: float | None = None
    service_s: float | None = None
    diagnostics: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ComponentInfo:
    """What goes into the run record: enough to repeat the pass, nothing secret."""

    provider: str
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    simulated: bool = False
    in_process: bool = False
    base_url_host: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line can tell a provider."""

    effort: str | None = None
    base_url: str | None = None
    timeout_s: float = 20.0
    seed: int = 0
    extra: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request; their values are secrets."""
    prompt: str | None = None
    """Instructions of the user's own, instead of those every text model gets."""
    order: str | None = None
    """What comes first in the message to a text model, where it was asked for."""


@runtime_checkable
class Component(Protocol):
    """Whatever answers. `open` and `close` bracket a run; `answer` may run 32 times at once."""

    @property
    def info(self) -> ComponentInfo: ...

    async def open(self) -> None: ...

    async def answer(self, request: Request) -> Answer: ...

    async def close(self) -> None: ...


class Retryable(Exception):  # noqa: N818 - named by what may be done about it
    """The same request may be sent again: a connection error, a network timeout, a rate limit.

    `detail` names the host and what happened, `fix` what to try when it does not pass: both are
    shown with the first such failure of a run and with the last.
    """

    def __init__(
        self,
        error_type: str,
        *,
        http_status: int | None = None,
        retry_after_s: float | None = None,
        detail: str = "",
        fix: str = "",
    ) -> None:
        super().__init__(error_type)
        self.error_type = error_type
        self.http_status = http_status
        self.retry_after_s = retry_after_s
        self.detail = detail
        self.fix = fix


class Fatal(SdbError):  # noqa: N818 - named by what may be done about it
    """The run must stop: authentication, rejection, schema or contract. Names cause and fix.

    The text is ours, not the service's: an error body could echo the input or a key. Only a server
    on the user's own machine is quoted, redacted, since its words explain most failures.
    """

    def __init__(
        self, error_type: str, message: str, *, fix: str = "", http_status: int | None = None
    ) -> None:
        super().__init__(f"{message}\n  fix: {fix}" if fix else message)
        self.error_type = error_type
        self.http_status = http_status
