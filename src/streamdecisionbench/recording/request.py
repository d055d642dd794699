"""From what was asked for on the command line to finished passes.

Everything that can be refused is refused here, before a folder is made or a request is paid for. A sweep
is one setting recorded under several conditions, each an interval and a number of streams in a folder of
its own: a recording, or one recording per replica where more streams play than there are scenarios.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from streamdecisionbench.components import registry
from streamdecisionbench.components.contract import Options, Request
from streamdecisionbench.components.providers.prompt import (
    RequestLimits,
    require_within,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.families.generate import open_seeds
from streamdecisionbench.families.registry import full_names
from streamdecisionbench.in_force import FAST, SLOW, pair_rule
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.folder import RunEnd, require_fresh
from streamdecisionbench.recording.live_policy import require_fallbacks
from streamdecisionbench.recording.prices import CostEstimate, estimate
from streamdecisionbench.recording.progress import Progress
from streamdecisionbench.recording.reader import conditions_in, read_recording, recordings_in
from streamdecisionbench.recording.realtime import Sending
from streamdecisionbench.recording.recorder import (
    Part,
    RunConfig,
    Sessions,
    record_together,
    replicas_for,
)
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.redaction import names_a_secret, secrets_at_hand
from streamdecisionbench.recording.retry import RETRIES, RetryPolicy
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.recording.virtual import StatedLatency
from streamdecisionbench.rules.policy_file import Policy, read_policy
from streamdecisionbench.suite.scenario import LONGEST_TICK_S, SHORTEST_TICK_S, Scenario, Suite
from streamdecisionbench.suite.suite_files import (
    builtin_suite_path,
    first_steps,
    make_suite,
    read_suite,
)


@dataclass(frozen=True, slots=True)
class SweepCondition:
    """What is recorded at one interval (None: every scenario's own tick) with so many streams."""

    folder: Path
    interval_s: float | None
    streams: int
    replicas: int

    @property
    def folders(self) -> list[Path]:
        """Where its recordings go.

        >>> [p.name for p in SweepCondition(Path("x"), 1.0, 16, 2).folders]
        ['replica-1', 'replica-2']
        """
        if self.replicas == 1:
            return [self.folder]
        return [self.folder / f"replica-{k}" for k in range(1, self.replicas + 1)]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to record and how.

    `components` maps None, or "fast" and "slow", or the names of a policy's cascade in order, to
    `provider:model`.
    """

    components: Mapping[str | None, str]
    out: Path
    data: Path | None = None
    families: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    interval_s: float | None = None
    intervals: tuple[float, ...] = ()
    """A sweep: one recording per interval, in `out/interval-…`."""
    streams: tuple[int, ...] = ()
    """How many scenarios play at once; several: a sweep over them, too."""
    passes: int = 1
    resume: bool = False
    overwrite: bool = False
    """Give up what an unfinished recording in `out` holds; a complete one is never given up."""
    rule: str | None = None
    """Of a live pair; None: freshest."""
    efforts: Mapping[str | None, str | None] = field(default_factory=dict)
    base_urls: Mapping[str | None, str | None] = field(default_factory=dict)
    timeout_s: float = 20.0
    max_in_flight: int = 32
    max_in_flight_in_all: int | None = None
    clock: str = "real"
    latency: str | None = None
    """Declared instead of measured: seconds, lognormal:MEDIAN,SIGMA or recorded:FOLDER."""
    workers: int | None = None
    seed: int = 0
    extra: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    retry_gateway: bool = False
    retry: str = "default"
    """`paper`: connection errors and timeouts only."""
    max_attempts: int = 5
    retry_delay_s: float = 0.5
    limit: int | None = None
    """A smoke run: only so many steps of every scenario."""
    prompt: str | None = None
    """Instructions for text models instead of ours."""
    order: str | None = None
    policy: Policy | None = None
    world: str | None = None
    """Instead of a suite: sessions that answer back, by a family's short name or `gym:ID`."""
    seeds: tuple[int, ...] = ()
    wording: str = "listed"
    steps: int | None = None
    """Of a session in a world; None: 60."""
    reference: str | None = None
    """For `gym:ID`: `python:module:function`, what is right for an observation."""
    frames: int = 1
    """For `gym:ID`: steps of the environment in one tick."""
    plain_http: bool = False
    """Keys and headers may go to a public host unencrypted."""
    stated: Mapping[str, Any] = field(default_factory=dict)
    """`hardware`, `revision`, `weights_sha256`, `hourly_usd`, as the user states them."""
    warmup: int | None = None
    """Unrelated requests before the first state; None: as the component's kind needs."""


_MOST_WARMUPS = 1000
_LONGEST_STATED = 120
_MOST_ATTEMPTS, _LONGEST_DELAY_S = 20, 60.0

Confirm = Callable[[Sequence[CostEstimate]], bool]


def launch(request: RunRequest, confirm: Confirm, progress: Progress | None = None) -> list[RunEnd]:
    """Records every pass. Stops after the first that did not come to its end."""
    _require_sensible(request)
    shown, home = request.out, request.out.absolute()
    request = replace(request, out=home)  # importing a component may change the current folder
    data = None if request.data is None else request.data.absolute()
    sessions: Sessions | None = None
    world: dict[str, Any] | None = None
    if request.world is not None:
        suite, sessions, world = _open_world(request)
    else:
        suite = read_suite(data or builtin_suite_path())
    if request.limit is not None:
        suite = first_steps(suite, request.limit)
    chosen = choose_scenarios(suite, request.families, request.scenarios)
    if request.policy is not None:
        require_fallbacks(request.policy, suite)
    is_pair = request.policy is None and None not in request.components
    config = RunConfig(
        names=request.components,
        scenarios=chosen,
        clock=request.clock,
        latency=stated_latency(request.latency, suite, chosen),
        workers=request.workers,
        dispatch=Sending(
            max_in_flight=request.max_in_flight,
            in_all=request.max_in_flight_in_all,
            timeout_s=request.timeout_s,
            retry=RetryPolicy.of(
                request.max_attempts,
                request.retry_delay_s,
                gateway=request.retry_gateway,
                paper=request.retry == "paper",
            ),
        ),
        rule=pair_rule(request.rule or "freshest") if is_pair else None,
        policy=request.policy,
        limit=request.limit,
        warmup=request.warmup,
        stated=stated_of(request.stated),
        world=world,
    )
    members = _members(request, 0)
    _require_own_weights(request, members)
    _require_told(request, members)
    conditions = conditions_of(request, len(chosen))
    folders = [folder for condition in conditions for folder in condition.folders]
    if request.resume:
        _require_same_passes(request, conditions)
    else:
        _require_fresh(request, folders)
    scenarios = [suite.scenarios[e] for e in chosen]
    for member in members:
        _require_limits(member, scenarios)
    found = (estimate(m.component.info, scenarios, passes=len(folders)) for m in members)
    estimates = [e for e in found if e is not None]
    if estimates and not confirm(estimates):
        raise InputError("nothing was recorded: the cost was not confirmed", fix="add --yes")
    secrets = [s for url in {None, *request.base_urls.values()} for s in secrets_at_hand(url)]
    secrets += [value for name, value in request.extra.items() if names_a_secret(name)]
    outcomes: list[RunEnd] = []
    for index, condition in enumerate(conditions):
        # A fresh component for every pass and replica: none learns from the one before. Of a sweep
        # only pace and load differ; what is recorded again has draws of its own.
        again = index if request.passes > 1 else 0
        same = replace(config, interval_s=condition.interval_s, streams=condition.streams)
        several = condition.replicas > 1
        parts = [
            Part(
                members if index == 0 and k == 0 else _members(request, again + k),
                replace(same, seed=request.seed + again + k, replica=k + 1 if several else None),
                folder,
                data,
            )
            for k, folder in enumerate(condition.folders)
        ]
        ended = record_together(
            suite,
            parts,
            resume=request.resume,
            overwrite=request.overwrite,
            secrets=secrets,
            progress=progress,
            sessions=sessions,
        )
        outcomes += [replace(o, folder=shown / o.folder.relative_to(home)) for o in ended]
        if any(outcome.status != "complete" for outcome in ended):
            break
    return outcomes


def _open_world(request: RunRequest) -> tuple[Suite, Sessions, dict[str, Any]]:
    """What becomes of the sessions if all is right, how each is opened, and which they are."""
    which: dict[str, Any] = {
        "name": str(request.world),
        "seeds": list(request.seeds or (1,)),
        "steps": request.steps or 60,
    }
    if which["name"].startswith("gym:"):
        which |= {"reference": request.reference, "frames": request.frames}
    else:
        which |= {"wording": request.wording}
    suite, sessions = _sessions(which)
    return suite, sessions, which | {"right": suite.dataset_hash}


def _sessions(which: Mapping[str, Any]) -> tuple[Suite, Sessions]:
    name, seeds, steps = which["name"], which["seeds"], which["steps"]
    opened: list[Any]
    if name.startswith("gym:"):
        if which["reference"] is None:
            raise InputError(
                "nobody knows what is right in an environment",
                fix="add --reference python:module:function",
            )
        try:
            from streamdecisionbench.worlds import gym_sessions
        except ModuleNotFoundError:
            raise InputError(
                "gym: needs the package 'gymnasium'",
                fix="pip install 'streamdecisionbench[worlds]'",
            ) from None
        name, frames = name.removeprefix("gym:"), which["frames"]
        opened = [*gym_sessions(name, seeds, which["reference"], steps=steps, frames=frames)]
    else:
        opened = [*open_seeds(name, seeds, which["wording"], steps)]
    suite = make_suite([session.right for session in opened], name=f"world {which['name']}")
    return suite, {session.right.episode_id: session.again for session in opened}


def reopened(recording: Recording) -> Sessions:
    """The sessions a recording was lived through in, at their start."""
    which = recording.config.get("world")
    if not isinstance(which, Mapping):
        raise InputError(
            "was not recorded in a world",
            where=recording.path or recording.name,
            fix="give a recording of `sdb run … --world`",
        )
    suite, sessions = _sessions(which)
    if suite.dataset_hash != which["right"]:
        raise InputError(
            "was lived through in other worlds than this version has",
            where=recording.path or recording.name,
            fix="use the version it was recorded with",
        )
    return sessions


def under_policy(request: RunRequest, file: Path, named: Sequence[Mapping[str, str]]) -> RunRequest:
    """The same under a policy: who plays its components, with which efforts, on which servers.

    One component alone plays a policy of one, --fast and --slow one of two; `named` are components,
    efforts and servers by the policy's own names, which go first. A component that the policy itself
    calls `provider:model` plays itself.
    """
    policy = read_policy(file)
    if request.rule is not None:
        raise InputError(
            "--rule and --policy exclude each other",
            where=file,
            fix="set cascade.rule in the policy",
        )
    names = policy.cascade.components if policy.cascade else ("",)
    for name in (name for table in named for name in table):
        if name not in names:
            raise InputError(
                f"the policy has no component {name!r}",
                where=file,
                fix=f"it has: {', '.join(filter(None, names)) or 'one, without a name'}",
            )
    # With three there is no fast and slow: no role of the command line fits.
    roles = {1: (None,), 2: (FAST, SLOW)}.get(len(names), ("-",) * len(names))
    asked = (request.components, request.efforts, request.base_urls)
    components, efforts, base_urls = (
        {
            (name if len(names) > 1 else None): own.get(name) or by_role.get(role)
            for name, role in zip(names, roles, strict=True)
        }
        for by_role, own in zip(asked, named, strict=True)
    )
    for name, member in zip(names, list(components), strict=True):
        components[member] = components[member] or (name if ":" in name else None)
        if components[member] is None:
            one = "name it: sdb run provider:model --policy …"
            raise InputError(
                f"nobody plays {name or 'the component'}",
                where=file,
                fix=f"add --member {name}=provider:model" if member else one,
            )
    found = {member: str(name) for member, name in components.items()}
    return replace(request, policy=policy, components=found, efforts=efforts, base_urls=base_urls)


def conditions_of(request: RunRequest, scenarios: int) -> list[SweepCondition]:
    """Every interval with every number of streams, as they were given; or every pass.

    >>> request = RunRequest({}, Path("x"), intervals=(1.0, 0.5), streams=(1, 4))
    >>> [c.folder.name for c in conditions_of(request, 8)]
    ['interval-1-streams-1', 'interval-1-streams-4', 'interval-0.5-streams-1', 'interval-0.5-streams-4']
    >>> [c.folder.name for c in conditions_of(RunRequest({}, Path("x"), streams=(4,)), 8)]
    ['x']
    """
    out, intervals, streams = request.out, request.intervals, request.streams
    if request.passes > 1:
        passes = range(1, request.passes + 1)
        return [SweepCondition(out / f"pass-{k}", request.interval_s, 1, 1) for k in passes]
    found = []
    for pace in intervals or (request.interval_s,):
        for count in streams or (1,):
            words = [f"interval-{pace:g}"] if intervals else []
            words += [f"streams-{count}"] if streams and (intervals or len(streams) > 1) else []
            folder = out / "-".join(words) if words else out
            found.append(SweepCondition(folder, pace, count, replicas_for(count, scenarios)))
    return found


def choose_scenarios(
    suite: Suite, families: Sequence[str], scenarios: Sequence[str]
) -> tuple[str, ...]:
    """Episode ids in suite order: of these families, and of these names; all when nothing is named."""
    known_families = list(suite.families())
    families = full_names(families, known_families)
    _require_known("family", families, known_families)
    _require_known("scenario", scenarios, list(suite.scenarios))
    return tuple(
        s.episode_id
        for s in suite
        if (not families and not scenarios)
        or s.task_family in families
        or s.episode_id in scenarios
    )


def stated_latency(
    text: str | None, suite: Suite, scenarios: Sequence[str]
) -> StatedLatency | None:
    """Seconds, `lognormal:MEDIAN,SIGMA` with σ of the logarithm, or `recorded:FOLDER`: what a recording of
    the same states took, state by state."""
    if text is None:
        return None
    kind, _, rest = (
        text.rpartition(":") if not text.startswith("recorded:") else text.partition(":")
    )
    if kind == "recorded":
        return _recorded_latency(Path(rest), suite, scenarios)
    try:
        median_s, sigma = [float(x) for x in rest.split(",")] if kind else [float(rest), 0.0]
    except ValueError:
        median_s = sigma = -1.0
    if kind not in ("", "lognormal") or not 0 < median_s < 3600 or not 0 <= sigma <= 3:
        raise InputError(
            f"--latency {text!r:.60} is no latency",
            fix="for example 0.4, lognormal:0.4,0.3 (median in seconds, sigma of its logarithm) or"
            " recorded:FOLDER",
        )
    said = f"lognormal:{median_s:g},{sigma:g}" if kind else f"{median_s:g}"
    return StatedLatency(said, median_s, sigma)


def _recorded_latency(folder: Path, suite: Suite, scenarios: Sequence[str]) -> StatedLatency:
    recording = read_recording(folder, suite)
    if recording.halves:
        raise InputError("holds two components", where=folder, fix="name a recording of one")
    taken = {
        (name, answer.t): answer.service_s
        for name, episode in recording.episodes.items()
        for answer in episode.responses
    }
    missing = [
        name
        for name in scenarios
        if any((name, t) not in taken for t in range(suite.scenarios[name].n))
    ]
    if missing:
        raise InputError(
            f"does not hold the latency of every state of {', '.join(missing[:4])}",
            where=folder,
            fix="name a recording of the same scenarios, or choose its own with --scenarios",
        )
    return StatedLatency(f"recorded:{recording.events_sha256[:12]}", recorded=taken)


def parse_pairs(texts: Sequence[str]) -> dict[str, str]:
    """KEY=VALUE options for a provider.

    >>> parse_pairs(["threads=2"])
    {'threads': '2'}
    """
    found = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise InputError(f"{text!r} is not KEY=VALUE", fix="for example --option threads=2")
        found[key] = value
    return found


def parse_headers(texts: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE headers; a mistake is told without the text, which may be a key.

    >>> parse_headers(["X-Team=blue"])
    {'X-Team': 'blue'}
    """
    found = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name.strip() or not value.strip():
            raise InputError("a --header is not NAME=VALUE", fix="for example --header X-Team=blue")
        found[name.strip()] = value.strip()
    return found


def _members(request: RunRequest, index: int) -> list[Member]:
    return [
        Member(
            registry.create(
                name,
                Options(
                    effort=request.efforts.get(member),
                    base_url=request.base_urls.get(member),
                    timeout_s=request.timeout_s,
                    seed=request.seed + index,
                    extra=_extra(request, name),
                    headers=request.headers,
                    prompt=request.prompt,
                    order=request.order,
                    plain_http=request.plain_http,
                ),
            ),
            member,
        )
        for member, name in request.components.items()
    ]


def stated_of(stated: Mapping[str, Any]) -> dict[str, Any]:
    """What was stated and not left out; refused where it can be no such thing.

    >>> stated_of({"hardware": "1 x L40S (48 GB)", "revision": None})
    {'hardware': '1 x L40S (48 GB)'}
    """
    found = {name: value for name, value in stated.items() if value is not None}
    for name, value in found.items():
        option = f"--{name.replace('_', '-')}"
        if name == "hourly_usd":
            if not 0 < value < float("inf"):
                raise InputError(f"{option} is {value:g}", fix="give a number above 0")
        elif name == "weights_sha256":
            if not re.fullmatch(r"[0-9a-f]{64}", value):
                raise InputError(f"{option} is no SHA-256", fix="give its 64 hexadecimal digits")
        elif not value.strip() or not value.isprintable() or len(value) > _LONGEST_STATED:
            raise InputError(
                f"{option} is no short plain text",
                fix=f"write at most {_LONGEST_STATED} printable characters",
            )
    return found


def _require_own_weights(request: RunRequest, members: Sequence[Member]) -> None:
    """What is stated must not contradict what was read."""
    stated = request.stated.get("weights_sha256")
    for member in members:
        read = member.component.info.settings.get("sha256")
        if stated is not None and read is not None and stated != read:
            raise InputError(
                f"--weights-sha256 is not the digest of {member.component.info.name}, {read}",
                fix="leave it out: the file itself is read",
            )


def _require_told(request: RunRequest, members: Sequence[Member]) -> None:
    """Instructions nobody reads would make the record of the run untrue."""
    asked = {"--prompt": request.prompt, "--order": request.order}
    recorded = {"--prompt": ("prompt", "instruction"), "--order": ("order",)}
    for option, value in asked.items():
        settings = [member.component.info.settings for member in members]
        told = any(name in found for found in settings for name in recorded[option])
        if value is not None and not told:
            names = ", ".join(member.component.info.name for member in members)
            raise InputError(
                f"{option} has no meaning for {names}",
                fix="leave it out: it is for text models (openai:, chat:, anthropic:)",
            )


def _extra(request: RunRequest, name: str) -> dict[str, str]:
    """A simulation answers a known suite and need not wait on the virtual clock; no other is told."""
    extra = dict(request.extra)
    if name.partition(":")[0] == "simulated":
        extra["clock"] = request.clock
        if request.world is not None:
            extra["world"] = request.world
        if request.data is not None:
            extra["data"] = str(request.data)
    return extra


def _require_fresh(request: RunRequest, folders: Sequence[Path]) -> None:
    """Of several passes every folder; OUT itself then holds nothing but them."""
    below = {folder.relative_to(request.out).parts[:1] for folder in folders} - {()}
    inside = request.out.iterdir() if below and request.out.is_dir() else ()
    if any((path.name,) not in below for path in inside):
        require_fresh(request.out)
    for folder in folders:
        require_fresh(folder, overwrite=request.overwrite)


def _require_same_passes(request: RunRequest, conditions: Sequence[SweepCondition]) -> None:
    """One pass lies in OUT, several in folders below it: going on with one as the other mixes both."""
    alone = conditions[0].folders == [request.out]
    swept = conditions_in(request.out) or recordings_in(request.out / "replica-1")
    for wrong, what, fix in (
        (alone and (request.out / "pass-1").exists(), "holds several passes",
         "repeat --passes to go on with them, or name one, OUT/pass-1"),
        (alone and swept, "holds a sweep, or several streams",
         "repeat --intervals and --streams to go on with it"),
        (not alone and (request.out / RUN_FILE).exists(), "holds one pass",
         "leave out --passes, --intervals and --streams to go on with it"),
    ):  # fmt: skip
        if wrong:
            raise InputError(what, where=request.out, fix=fix)


def _require_limits(member: Member, scenarios: Sequence[Scenario]) -> None:
    """What a service is known to refuse is refused here, before anything is paid for."""
    limits: RequestLimits | None = getattr(member.component, "limits", None)
    if limits is None:
        return
    for scenario in scenarios:
        questions = scenario.wire_questions()
        for t, step in enumerate(scenario.steps):
            where = f"{scenario.episode_id} step {t}"
            require_within(limits, Request(step.state, questions), where)


def _require_sensible(request: RunRequest) -> None:
    several = request.passes > 1
    for wrong, what, fix in (
        (request.resume and request.overwrite, "--resume and --overwrite exclude each other",
         "choose one"),
        (request.policy is None and set(request.components) not in ({None}, {FAST, SLOW}),
         "name one component, or a pair",
         "`sdb run provider:model …`, or `sdb run --fast A --slow B …`"),
        (request.world is not None
         and (request.data or request.families or request.scenarios or request.limit),
         "a world has no suite to choose from: it makes its own",
         "leave out --data, --families, --scenarios and --limit; --seeds says which sessions"),
        (request.world is None
         and (request.seeds or request.steps or request.wording != "listed"),
         "--seeds, --steps and --wording belong to a world", "add --world support, say"),
        (not (request.world or "").startswith("gym:") and (request.reference or request.frames != 1),
         "--reference and --frames belong to an environment of Gymnasium", "add --world gym:ID"),
        (len(set(request.seeds)) < len(request.seeds),
         "--seeds names one twice", "name every seed once"),
        (request.intervals and (request.interval_s is not None or several),
         "--intervals is a sweep of its own", "leave out --interval and --passes"),
        (request.streams and several,
         "--streams repeats scenarios itself where it must", "leave out --passes"),
        (len(set(request.streams)) < len(request.streams),
         "--streams names one number twice", "name every number once"),
        (len({f"{interval:g}" for interval in request.intervals}) < len(request.intervals),
         "--intervals names one twice", "name every interval once"),
        (stated_of(request.stated) and None not in request.components,
         "--hardware, --revision, --weights-sha256 and --hourly-usd are for one component",
         "record each component of a pair alone to state them"),
        (request.retry not in RETRIES, f"--retry {request.retry[:40]!r} is not known",
         f"use {' or '.join(RETRIES)}"),
        (request.retry == "paper" and request.retry_gateway,
         "--retry paper and --retry-gateway exclude each other", "choose one"),
        (not 1 <= request.max_attempts <= _MOST_ATTEMPTS,
         f"--max-attempts is {request.max_attempts}", f"give 1 to {_MOST_ATTEMPTS}"),
        (not 0 <= request.retry_delay_s <= _LONGEST_DELAY_S,
         f"--retry-delay is {request.retry_delay_s:g}", f"give seconds up to {_LONGEST_DELAY_S:g}"),
        (request.headers and None not in request.components, "--header is for one component",
         "a header may hold a secret of one server: record a pair without it"),
    ):  # fmt: skip
        if wrong:
            raise InputError(what, fix=fix)
    if request.warmup is not None and not 0 <= request.warmup <= _MOST_WARMUPS:
        raise InputError(f"--warmup is {request.warmup}", fix=f"give 0 to {_MOST_WARMUPS}")
    if request.policy is not None:
        _require_fitting(request.policy, request.components)
    for name, value in (
        *(("--intervals", interval) for interval in request.intervals),
        ("--interval", request.interval_s),
        ("--timeout", request.timeout_s),
        ("--max-in-flight", request.max_in_flight),
        ("--max-in-flight-in-all", request.max_in_flight_in_all),
        *(("--streams", streams) for streams in request.streams),
        ("--passes", request.passes),
        ("--steps", request.steps),
        ("--frames", request.frames),
        ("--workers", request.workers),
    ):
        if value is not None and not 0 < value < float("inf"):
            raise InputError(f"{name} is {value:g}", fix="give a number above 0")
    for interval in (request.interval_s, *request.intervals):
        if interval is not None and not SHORTEST_TICK_S <= interval <= LONGEST_TICK_S:
            raise InputError(
                f"--interval is {interval:g}",
                fix=f"give seconds between {SHORTEST_TICK_S:g} and {LONGEST_TICK_S:g}",
            )


def _require_fitting(policy: Policy, components: Mapping[str | None, str]) -> None:
    names = policy.cascade.components if policy.cascade and policy.count > 1 else (None,)
    if tuple(components) != names:
        wanted = ", ".join(str(name) for name in names if name) or "one component"
        raise InputError(
            f"the policy takes {wanted}",
            where=policy.name,
            fix="name every component once, in order",
        )


def _require_known(what: str, asked: Sequence[str], known: Sequence[str]) -> None:
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise InputError(
            f"the suite has no {what} {', '.join(unknown)}", fix=f"it has: {', '.join(known)}"
        )
