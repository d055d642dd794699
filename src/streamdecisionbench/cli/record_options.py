"""The options of `sdb run`, `sdb sweep` and `sdb world run`: one table, from which each takes its own.

A row is an option as typer reads it, the field of `RunOptions` it sets, and how its text is read. Its
default is the field's. Rows that are not `common` are hidden: `--help --all` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.run_options import (
    MAX_ATTEMPTS,
    RETRIES,
    RETRY_DELAY_S,
    ComponentOptions,
    DispatchOptions,
    Output,
    PaceOptions,
    RetryPolicy,
    RunOptions,
    SuiteSelection,
)
from streamdecisionbench.recording.server_facts import read_server_facts

Number = TypeVar("Number", int, float)

_LONGEST_PROMPT = 100_000
"""Characters of instructions: far beyond any that help, far below the limit of a request."""


def read_instructions(path: Path) -> str:
    """The user's own instructions for text models."""
    from streamdecisionbench.suite.file_io import read_text

    text = read_text(path).strip()
    if not text or len(text) > _LONGEST_PROMPT or "\0" in text:
        raise InputError(
            "holds no instructions" if not text else "is not a text of instructions",
            where=path,
            fix=f"write plain text of at most {_LONGEST_PROMPT} characters",
        )
    return text


def names(texts: Sequence[str], option: str) -> tuple[str, ...]:
    """Names with commas between them; a selection of nothing is a slip."""
    found = tuple(
        dict.fromkeys(name.strip() for text in texts for name in text.split(",") if name.strip())
    )
    if not found:
        raise InputError(f"{option} names nothing", fix="name some, or leave it out for all")
    return found


def numbers(
    text: str, option: str, kind: Callable[[str], Number], example: str
) -> tuple[Number, ...]:
    """Numbers with commas between them, each as often as it is named."""
    names([text], option)
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError:
        what = "seconds" if kind is float else "whole numbers"
        raise InputError(
            f"{option} {text!r:.60} are not {what}", fix=f"for example {option} {example}"
        ) from None


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    from streamdecisionbench.recording.run_request import parse_pairs

    return parse_pairs(texts)


def _headers(texts: Sequence[str]) -> dict[str, str]:
    from streamdecisionbench.recording.run_request import parse_headers

    return parse_headers(texts)


@dataclass(frozen=True, slots=True)
class Row:
    """One option. `sets` is a group of `RunOptions` and its field, or None for the command's own."""

    kind: Any
    help: str
    panel: str
    sets: tuple[type, str] | None = None
    default: Any = None
    read: Callable[[Any], Any] | None = None
    flag: str | None = None
    metavar: str | None = None
    common: bool = False

    def parameter(self, name: str, *, hidden: bool) -> Parameter:
        option = typer.Option(
            *([self.flag] if self.flag else [] if self.kind is not bool else [_flag(name)]),
            help=self.help,
            metavar=self.metavar,
            rich_help_panel=self.panel,
            hidden=hidden,
        )
        return Parameter(
            name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=self._default(),
            annotation=Annotated[self.kind, option],
        )

    def _default(self) -> Any:
        """That of the field, where the option gives the field's own value."""
        if self.sets is None or self.read is not None:
            return self.default
        group, name = self.sets
        default = next(each.default for each in fields(group) if each.name == name)
        return self.default if default is MISSING else default


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


_WHAT, _PACE, _WHO = "What to record", "Pace and clock", "Component"
_SEND, _TOGETHER, _OUT = "Requests and retries", "Live pair or policy", "Output"

OPTIONS: Mapping[str, Row] = {
    "data": Row(
        Path | None, "Suite folder (default: SDB v1).", _WHAT, (SuiteSelection, "data"), common=True,
    ),
    "families": Row(
        list[str] | None, "Only these families (`support` is enough), comma-separated.", _WHAT,
        (SuiteSelection, "families"), read=lambda texts: names(texts, "--families"), common=True,
    ),
    "scenarios": Row(
        list[str] | None, "Only these scenarios, comma-separated; repeatable.", _WHAT,
        (SuiteSelection, "scenarios"), read=lambda texts: names(texts, "--scenarios"), common=True,
    ),
    "limit": Row(
        int | None, "Smoke run: N steps of each scenario, labelled as such.", _WHAT,
        (SuiteSelection, "limit"), metavar="N", common=True,
    ),
    "interval": Row(
        float | None, "Seconds per step (default: the suite's tick).", _PACE,
        (PaceOptions, "interval_s"), common=True,
    ),
    "intervals": Row(
        str | None, "One recording per interval, e.g. 0.5,1,2,4, in OUT/interval-…", _PACE,
        (PaceOptions, "intervals"), read=lambda text: numbers(text, "--intervals", float, "0.5,1,2,4"),
        common=True,
    ),
    "streams": Row(
        str | None, "Scenarios at once, evenly staggered.", _PACE,
        (PaceOptions, "streams"), read=lambda text: numbers(text, "--streams", int, "1,4,16"),
    ),
    "passes": Row(
        int, "Record N passes into OUT/pass-1 … pass-N.", _PACE, (PaceOptions, "passes"),
        metavar="N", common=True,
    ),
    "clock": Row(
        str, "Real, or virtual for components in this process.", _PACE, (PaceOptions, "clock"),
        common=True,
    ),
    "latency": Row(
        str | None, "Virtual clock: latencies declared, not measured: seconds, lognormal:MEDIAN,SIGMA or"
        " recorded:FOLDER; recorded as such.", _PACE, (PaceOptions, "latency"), metavar="SPEC",
    ),
    "workers": Row(
        int | None, "Virtual clock: number of workers that serve requests.", _PACE,
        (PaceOptions, "workers"),
    ),
    "effort": Row(
        str | None, "Reasoning effort.", _WHO, (ComponentOptions, "efforts"),
        read=lambda text: {None: text}, common=True,
    ),
    "base_url": Row(
        str | None, "Server to call instead.", _WHO, (ComponentOptions, "base_urls"),
        read=lambda text: {None: text}, common=True,
    ),
    "server": Row(
        Path | None, "TOML file with facts about the server: hardware, revision, weights_sha256,"
        " hourly_usd; recorded as stated.", _WHO, metavar="FILE", common=True,
    ),
    "prompt": Row(
        Path | None, "Your instructions for text models; recorded.", _WHO,
        (ComponentOptions, "prompt"), read=read_instructions, metavar="FILE",
    ),
    "order": Row(
        str | None, "Text models: questions-first (default) or state-first; recorded.", _WHO,
        (ComponentOptions, "order"),
    ),
    "option": Row(
        list[str] | None, "KEY=VALUE for the provider; repeatable.", _WHO, (ComponentOptions, "extra"),
        read=_pairs, metavar="KEY=VALUE",
    ),
    "header": Row(
        list[str] | None, "NAME=VALUE sent with every request, never recorded; repeatable.", _WHO,
        (ComponentOptions, "headers"), read=_headers, metavar="NAME=VALUE",
    ),
    "plain_http": Row(
        bool, "Send keys and headers over http to a public host, too.", _WHO,
        (ComponentOptions, "plain_http"),
    ),
    "seed": Row(
        int, "For components that draw; pass k uses SEED+k-1.", _WHO, (ComponentOptions, "seed"),
    ),
    "warmup": Row(
        int | None, "Unrelated requests first, not scored (default: 3 in process and on own servers).",
        _WHO, (ComponentOptions, "warmup"), metavar="N",
    ),
    "member": Row(
        list[str] | None, "fast=… and slow=… for a live pair, or a member of the policy; repeatable.",
        _TOGETHER, read=_pairs, metavar="NAME=COMPONENT", common=True,
    ),
    "rule": Row(
        str | None, "Live pair: freshest (default), lag-one or late-override.", _TOGETHER,
        (ComponentOptions, "rule"), common=True,
    ),
    "policy": Row(
        Path | None, "Run under this policy; see `sdb policy`.", _TOGETHER, metavar="FILE", common=True,
    ),
    "member_effort": Row(
        list[str] | None, "Reasoning effort of a member; repeatable.", _TOGETHER, read=_pairs,
        metavar="NAME=EFFORT",
    ),
    "member_base_url": Row(
        list[str] | None, "Server of a member; repeatable.", _TOGETHER, read=_pairs, metavar="NAME=URL",
    ),
    "timeout": Row(float, "Network timeout of an attempt, seconds.", _SEND, (DispatchOptions, "timeout_s")),
    "max_in_flight": Row(
        int, "Requests at once, per component and stream.", _SEND, (DispatchOptions, "max_in_flight"),
    ),
    "max_in_flight_in_all": Row(
        int | None, "Requests at once, per component over all streams.", _SEND, (DispatchOptions, "in_all"),
    ),
    "retry": Row(
        str, "default, or paper: connection errors and timeouts only, no rate limits.", _SEND,
        default=RETRIES[0],
    ),
    "max_attempts": Row(int, "Attempts per request, retries included.", _SEND, default=MAX_ATTEMPTS),
    "retry_delay": Row(
        float, "Seconds before the second retry, twice as long before each later one.", _SEND,
        default=RETRY_DELAY_S,
    ),
    "retry_gateway": Row(bool, "Retry 502, 503 and 504 as well; recorded.", _SEND, default=False),
    "out": Row(Path | None, "New folder for the recording.", _OUT, metavar="FOLDER", common=True),
    "resume": Row(bool, "Continue the recording in OUT.", _OUT, (Output, "resume"), common=True),
    "overwrite": Row(bool, "Discard an unfinished recording in OUT.", _OUT, (Output, "overwrite")),
    "yes": Row(bool, "Do not ask before a paid pass.", _OUT, default=False, common=True),
    "quiet": Row(bool, "Show no progress.", _OUT, default=False),
    "jsonl": Row(bool, "Progress as JSON lines on standard output.", _OUT, default=False),
    "watch": Row(bool, "Show the run on a local page, also after its end.", _OUT, default=False),
    "debug": Row(bool, "Show the traceback of a component that raises.", _OUT, default=False),
}  # fmt: skip


def takes(
    first: Sequence[Parameter], rows: Mapping[str, Row]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command arguments and options; the function gets them as keywords."""

    def give(function: Callable[..., None]) -> Callable[..., None]:
        parameters = [
            *first,
            *(row.parameter(name, hidden=not row.common) for name, row in rows.items()),
        ]
        function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        function.__annotations__ = {each.name: each.annotation for each in parameters}
        return function

    return give


def argument(name: str, help_: str, *, optional: bool = False) -> Parameter:
    kind = str | None if optional else str
    return Parameter(
        name,
        Parameter.POSITIONAL_OR_KEYWORD,
        default=None if optional else Parameter.empty,
        annotation=Annotated[kind, typer.Argument(metavar=name.upper(), help=help_)],
    )


def build_options(component: str | None, given: Mapping[str, Any]) -> RunOptions:
    """The options of a run from those of the command line."""
    from streamdecisionbench.recording.run_request import live_pair, under_policy

    if given["out"] is None:
        raise InputError("a recording needs a folder", fix="add --out FOLDER")
    values: dict[str, Any] = {}
    for name, row in OPTIONS.items():
        value = given.get(name)
        if row.sets is not None and value is not None:
            values[row.sets[1]] = row.read(value) if row.read else value
    values["retry"] = RetryPolicy.of(
        given["max_attempts"],
        given["retry_delay"],
        gateway=given["retry_gateway"],
        kind=given["retry"],
    )
    members, efforts, base_urls = (
        _pairs(given[name] or []) for name in ("member", "member_effort", "member_base_url")
    )
    policy = given["policy"]
    components: dict[str | None, str] = {None: component} if component else {}
    if policy is None and members:
        if component:
            raise InputError(
                "name one component, or members of a live pair",
                fix="leave out the component or --member",
            )
        components = live_pair(members)
    if policy is None and not members and (efforts or base_urls or given["rule"]):
        raise InputError(
            "--rule and --member-… are for a live pair",
            fix="leave them out, or add --member fast=provider:model --member slow=provider:model",
        )
    if policy is None and members and (given["effort"] or given["base_url"]):
        raise InputError(
            "--effort and --base-url are for one component",
            fix="use --member-effort NAME=EFFORT and --member-base-url NAME=URL",
        )
    if policy is None and members:
        for option, table in (("--member-effort", efforts), ("--member-base-url", base_urls)):
            if unknown := sorted(set(table) - set(members)):
                raise InputError(
                    f"{option} names {unknown[0]!r}, which is not a member",
                    fix=f"the members are {', '.join(members)}",
                )
        values |= {"efforts": efforts, "base_urls": base_urls}
    options = RunOptions.of(components, given["out"], **values)
    if given["server"] is not None:
        options = replace(options, server=read_server_facts(given["server"]))
    return (
        options if policy is None else under_policy(options, policy, (members, efforts, base_urls))
    )
