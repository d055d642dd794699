"""When a failed attempt is made again: only what may pass by itself, and not for ever.

Connection errors, network timeouts and explicit rate limits are retried with the same input: the
first retry at once, later ones after 0.5, 1 and 2 s, five attempts in all. A service that says how
long to wait is believed when that is longer. The paper retries connection errors and timeouts only,
which `--retry paper` does; where rate limits were retried, the recording and its signature say so.
Failures of a gateway (502, 503, 504) stop a pass unless it was asked to retry them.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath

from streamdecisionbench.components.contract import Fatal, Retryable
from streamdecisionbench.errors import SdbError
from streamdecisionbench.recording.run_options import RetryPolicy
from streamdecisionbench.text import plural

_GATEWAY = "gateway"
RATE_LIMIT = "rate_limit"
"""What 429, and 503 and 529 with `Retry-After`, are called."""
_RESUME = "then go on with --resume"


def next_delay(policy: RetryPolicy, attempt: int, error: Retryable) -> float:
    """Seconds to wait after failed attempt number `attempt` (1, 2, …), or `Fatal`: give up.

    >>> policy = RetryPolicy()
    >>> [next_delay(policy, k, Retryable("connection")) for k in (1, 2, 3, 4)]
    [0.0, 0.5, 1.0, 2.0]
    >>> next_delay(policy, 1, Retryable("rate_limit", http_status=429, retry_after_s=7.0))
    7.0
    """
    if attempt >= policy.max_attempts:
        raise Fatal(
            "attempts_exhausted",
            f"{plural(policy.max_attempts, 'attempt')} failed, the last with {describe(error)}",
            fix=f"{error.fix or 'check the network and the service'}, {_RESUME}"
            if "--resume" not in error.fix
            else error.fix,
            http_status=error.http_status,
        )
    asked = error.retry_after_s or 0.0
    if asked > policy.longest_wait_s:
        raise Fatal(
            RATE_LIMIT,
            f"the service asks to wait {asked:.0f} s, which is longer than"
            f" {policy.longest_wait_s:.0f} s",
            fix="go on later with --resume",
            http_status=error.http_status,
        )
    return max(policy.delays_s[attempt - 1], asked)


def classify(error: Exception, policy: RetryPolicy | None = None) -> Retryable | Fatal:
    """Every failure is one of two kinds. A plain timeout or broken connection may be tried again.

    The text of an exception nobody foresaw is left out: it could hold the input or a key. Its type
    and the line that raised it say where to look.
    """
    gateway = isinstance(error, Fatal) and error.error_type == _GATEWAY
    if policy is not None and policy.gateway and gateway:
        words, _, fix = str(error).partition("\n  fix: ")
        status = getattr(error, "http_status", None)
        return Retryable(_GATEWAY, http_status=status, detail=words, fix=fix)
    refused = policy is not None and not policy.limits
    if refused and isinstance(error, Retryable) and error.error_type == RATE_LIMIT:
        return Fatal(
            RATE_LIMIT,
            f"{describe(error)}; --retry paper retries connection errors and timeouts only",
            fix="leave out --retry paper, or publish states less often with a longer --interval",
            http_status=error.http_status,
        )
    if isinstance(error, Retryable | Fatal):
        return error
    if isinstance(error, TimeoutError):
        return Retryable("timeout")
    if isinstance(error, ConnectionError):
        return Retryable("connection")
    if isinstance(error, SdbError):
        return Fatal(type(error).__name__, str(error))
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    told = Fatal(
        type(error).__name__,
        f"the component raised {type(error).__name__}{place}",
        fix="correct the component, then go on with --resume; --debug shows the whole traceback",
    )
    told.trace = "".join(traceback.format_exception(error)).rstrip("\n")
    return told


def describe(error: Retryable) -> str:
    """What happened, in the component's own words where it has some.

    >>> describe(Retryable("connection", detail="host:80 refuses the connection"))
    'connection: host:80 refuses the connection'
    """
    if error.detail:
        return f"{error.error_type}: {error.detail}"
    status = f" (HTTP {error.http_status})" if error.http_status else ""
    return f"{error.error_type}{status}"
