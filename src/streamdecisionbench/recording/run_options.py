"""The options of a run, in groups. The command line builds one `RunOptions`, and recording uses it.

Every default is defined here once; the options of the command line import it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.server_facts import ServerFacts

if TYPE_CHECKING:
    from streamdecisionbench.policies.policy_file import Policy
    from streamdecisionbench.suite.scenario import Suite

RETRIES = ("default", "paper")
MAX_ATTEMPTS = 5
RETRY_DELAY_S = 0.5
_MOST_ATTEMPTS, _LONGEST_DELAY_S = 20, 60.0


@dataclass(frozen=True, slots=True)
class SuiteSelection:
    """Which scenarios of which suite to record."""

    data: Path | None = None
    """Folder of the suite; None: the built-in suite."""
    families: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    limit: int | None = None
    """A smoke run: only this number of steps of every scenario."""


@dataclass(frozen=True, slots=True)
class ComponentOptions:
    """The components that answer, and how they are called.

    `components` maps None, or "fast" and "slow", or the names of a policy's cascade in order, to
    `provider:model`. Efforts and base URLs have the same keys.
    """

    components: Mapping[str | None, str]
    efforts: Mapping[str | None, str | None] = field(default_factory=dict)
    base_urls: Mapping[str | None, str | None] = field(default_factory=dict)
    rule: str | None = None
    """The rule of a live pair; None: freshest."""
    policy: Policy | None = None
    """Decides which states are sent and which answers take effect."""
    prompt: str | None = None
    """Instructions for text models instead of the built-in ones."""
    order: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    plain_http: bool = False
    """Keys and headers may go to a public host unencrypted."""
    seed: int = 0
    warmup: int | None = None
    """Unrelated requests before the first state; None: as the component's kind needs."""

    @property
    def is_pair(self) -> bool:
        return self.policy is None and None not in self.components


@dataclass(frozen=True, slots=True)
class PaceOptions:
    """The clock, and how fast and how often the suite is played."""

    interval_s: float | None = None
    """None: every scenario at its own tick."""
    intervals: tuple[float, ...] = ()
    """A sweep: one recording per interval, in `out/interval-…`."""
    streams: tuple[int, ...] = ()
    """Number of scenarios that play at once; several numbers are a sweep."""
    passes: int = 1
    clock: str = "real"
    latency: str | None = None
    """Declared instead of measured: seconds, lognormal:MEDIAN,SIGMA or recorded:FOLDER."""
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`delays_s[k]` is the wait before attempt k + 2."""

    delays_s: tuple[float, ...] = (0.0, 0.5, 1.0, 2.0)
    longest_wait_s: float = 300.0
    gateway: bool = False
    """Whether 502, 503 and 504 are retried as well: `--retry-gateway`."""
    limits: bool = True
    """Whether rate limits are retried; not by the paper: `--retry paper`."""

    @classmethod
    def of(
        cls,
        max_attempts: int = MAX_ATTEMPTS,
        delay_s: float = RETRY_DELAY_S,
        *,
        gateway: bool = False,
        kind: str = RETRIES[0],
    ) -> RetryPolicy:
        """The first retry at once, the second after `delay_s`, each later one after twice as long.

        >>> RetryPolicy.of(4, 0.25, kind="paper").delays_s
        (0.0, 0.25, 0.5)
        """
        for wrong, what, fix in (
            (kind not in RETRIES, f"--retry {_shown(kind)} is not known", f"use {' or '.join(RETRIES)}"),
            (kind == "paper" and gateway,
             "--retry paper and --retry-gateway exclude each other", "choose one"),
            (not 1 <= max_attempts <= _MOST_ATTEMPTS,
             f"--max-attempts is {max_attempts}", f"give 1 to {_MOST_ATTEMPTS}"),
            (not 0 <= delay_s <= _LONGEST_DELAY_S,
             f"--retry-delay is {delay_s:g}", f"give seconds up to {_LONGEST_DELAY_S:g}"),
        ):  # fmt: skip
            if wrong:
                raise InputError(what, fix=fix)
        waits = (0.0, *(delay_s * 2.0**k for k in range(max_attempts)))[: max_attempts - 1]
        return cls(waits, gateway=gateway, limits=kind != "paper")

    @property
    def max_attempts(self) -> int:
        return len(self.delays_s) + 1

    def to_json(self) -> dict[str, Any]:
        return {
            "max_attempts": self.max_attempts,
            "delays_s": list(self.delays_s),
            "longest_wait_s": self.longest_wait_s,
            "retried": [
                "connection error",
                "network timeout",
                *(["rate limit"] if self.limits else []),
                *(["gateway error"] if self.gateway else []),
            ],
        }


def _shown(text: str) -> str:
    """The text may be a key that was pasted in the wrong place."""
    from streamdecisionbench.components.redaction import Redactor, cut

    return repr(cut(text, 40, Redactor.at_hand()))


@dataclass(frozen=True, slots=True)
class DispatchOptions:
    """How requests are sent: the same for every step of a recording."""

    max_in_flight: int = 32
    """Requests of one component at once, in each stream."""
    in_all: int | None = None
    """The same over all streams together; None: no limit beyond theirs."""
    timeout_s: float = 20.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True, slots=True)
class Output:
    """The folder of the recording, and what to do with one that is already there."""

    out: Path
    resume: bool = False
    overwrite: bool = False
    """Discards an unfinished recording in `out`; a complete one is never discarded."""


@dataclass(frozen=True, slots=True)
class OpenWorld:
    """Sessions that react to decisions, instead of a suite."""

    suite: Suite
    """The sessions as they go if every decision is right."""
    sessions: Mapping[str, Callable[[], Any]]
    """By id: opens the session at its start, the same one every time."""
    config: Mapping[str, Any]
    """Name, seeds, steps and so on, as the run record keeps them."""

    @property
    def name(self) -> str:
        return str(self.config["name"])


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Everything that a run is asked to do."""

    components: ComponentOptions
    output: Output
    suite: SuiteSelection = field(default_factory=SuiteSelection)
    pace: PaceOptions = field(default_factory=PaceOptions)
    dispatch: DispatchOptions = field(default_factory=DispatchOptions)
    server: ServerFacts = field(default_factory=ServerFacts)
    world: OpenWorld | None = None

    @classmethod
    def of(
        cls, components: Mapping[str | None, str], out: Path = Path(), **options: Any
    ) -> RunOptions:
        """The options by name, each put into its group.

        >>> RunOptions.of({None: "baseline:random"}, Path("x"), clock="virtual").pace.clock
        'virtual'
        """
        return cls(ComponentOptions(components), Output(out)).changed(**options)

    def changed(self, **options: Any) -> RunOptions:
        """The same with other values, given by the names of fields of any group.

        >>> RunOptions.of({}, Path("x")).changed(out=Path("y"), passes=2).output.out.name
        'y'
        """
        given = dict(options)
        changes: dict[str, Any] = {"world": given.pop("world")} if "world" in given else {}
        for group in ("components", "output", "suite", "pace", "dispatch", "server"):
            current = getattr(self, group)
            own = {each.name for each in fields(current)} & set(given)
            if own:
                changes[group] = replace(current, **{name: given.pop(name) for name in own})
        if given:
            raise TypeError(f"a run has no option {', '.join(given)}")
        return replace(self, **changes)
