"""The contract of a component: it answers {state, questions} with one label per question.

A provider is a small class with `answer`; everything about time, retries, logging and acceptance is
the recorder's. An exception gives the kind of failure: `Retryable` (connection, timeout, rate limit)
may be tried again with the same input; `Fatal` stops the run with a message that names the fix. An answer
is valid with every question once, a defined label for each, and honest probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import msgspec

from streamdecisionbench.components.redaction import cut
from streamdecisionbench.errors import SdbError


class Usage(msgspec.Struct, frozen=True, omit_defaults=False):
    """Tokens as the service reported them; `cached_tokens` are part of `input_tokens`.

    None: the service does not say what came from a cache, which is not the same as nothing.
    """

    input_tokens: int = 0
    cached_tokens: int | None = None
    output_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def fresh_tokens(self) -> int:
        """Input that came from no cache, as far as the service reports one."""
        return self.input_tokens - (self.cached_tokens or 0)


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


RETURN_CONFIDENCE = "your own code returns Answer(labels, confidence={question: 0.9}), see docs/reference/providers.md"
"""How a component says how sure it is, for errors about answers without confidences."""


@dataclass(frozen=True, slots=True)
class Size:
    """The part of a model's context that a request needs, counted by the model's own tokenizer.

    A component that can tell has a method `async def size(request) -> Size | None`; None: nobody says.
    """

    tokens: int
    context: int
    counted_by: str
    problem: str = ""
    """What would be cut although the whole fits, in words."""
    exact: bool = True
    """False: the server's own prompt is not known and needs at least this much."""


@dataclass(frozen=True, slots=True)
class ComponentInfo:
    """The facts for the run record: enough to repeat the pass, nothing secret."""

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
    """The options that the command line passes to a provider."""

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
    plain_http: bool = False
    """Keys and headers may go to a public host unencrypted, because the user said so."""


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


REPORTING_STEP = 0.01
"""Probabilities are reported to two decimals, so a tie may be off by one step."""

_LONGEST = 40
"""Characters of an answer that a message shows."""

_ASK = "check that the model or server follows the question contract"


def check_answer(
    answer: Answer, questions: Mapping[str, Any], clean: Callable[[str], str] = str
) -> None:
    """Raises `Fatal` when the answer breaks the contract; a wrong but valid answer passes.

    `clean` hides secrets in what was answered before any of it is shown.
    """
    labels = answer.labels
    missing = [q for q in questions if q not in labels]
    if missing:
        raise Fatal(
            "missing_answer", f"the response leaves {', '.join(missing)} unanswered", fix=_ASK
        )
    extra = [q for q in labels if q not in questions]
    if extra:
        # By name, as far as a name is fit to be shown.
        names = ", ".join(_shown(name, clean) for name in extra[:3])
        names += ", …" if len(extra) > 3 else ""
        count = "one answer" if len(extra) == 1 else f"{len(extra)} answers"
        raise Fatal("unknown_question", f"the response has {count} too many: {names}", fix=_ASK)
    for name, question in questions.items():
        if labels[name] not in question["criteria"]:
            raise _unknown_label(name, labels[name], question["criteria"], clean)
    for name, distribution in (answer.probabilities or {}).items():
        if name in questions:
            _check_distribution(name, labels[name], distribution, questions[name]["criteria"])


def _unknown_label(
    name: str, answered: str, criteria: Mapping[str, str], clean: Callable[[str], str]
) -> Fatal:
    """The answer, the allowed labels, and the likely slip where there is one."""
    meant = [
        label for label, text in criteria.items() if text.partition(":")[0].strip() == answered
    ]
    listed = ", ".join(criteria)
    if meant:
        fix = f"that is what {meant[0]} means: answer with the label, {meant[0]!r}"
    else:
        fix = f"answer with one of: {listed}; criteria says what each means"
    return Fatal(
        "unknown_label",
        f"the answer to {name} is {_shown(answered, clean)}, not one of its labels ({listed})",
        fix=fix,
    )


def _shown(text: str, clean: Callable[[str], str]) -> str:
    return ascii(cut(text, _LONGEST, clean)) + ("…" if len(clean(text)) > _LONGEST else "")


def _check_distribution(
    name: str, choice: str, distribution: Mapping[str, float], criteria: Mapping[str, str]
) -> None:
    values = list(distribution.values())
    # Each value may be off by half a reporting step.
    rounding = REPORTING_STEP / 2 * len(values) + 1e-9
    problem = ""
    if set(distribution) != set(criteria):
        problem = "is not over its labels"
    elif not all(isinstance(p, int | float) and 0 <= p <= 1 + 1e-9 for p in values):
        problem = "has values outside 0–1"
    elif abs(sum(values) - 1) > rounding:
        problem = f"sums to {sum(values):.3f}, not 1"
    if problem:
        raise Fatal("bad_distribution", f"the distribution of {name} {problem}", fix=_ASK)
    if distribution[choice] < max(values) - REPORTING_STEP - 1e-9:
        raise Fatal(
            "not_most_probable", f"the choice for {name} is not its most probable label", fix=_ASK
        )
