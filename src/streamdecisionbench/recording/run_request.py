"""From the options of a run to finished passes.

Bad options are refused here, before a folder is made or a request is paid for. A sweep is one setting
recorded under several conditions. Each condition is an interval and a number of streams, in its own
folder: a recording, or one recording per replica where more streams play than there are scenarios.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from streamdecisionbench.components import registry
from streamdecisionbench.components.contract import Options, Request
from streamdecisionbench.components.providers.prompt import (
    RequestLimits,
    require_within,
)
from streamdecisionbench.components.redaction import names_a_secret, secrets_at_hand
from streamdecisionbench.errors import InputError
from streamdecisionbench.families.registry import full_names
from streamdecisionbench.kernel.rule import FAST, SLOW, pair_rule
from streamdecisionbench.policies.policy_file import (
    Policy,
    read_policy,
)
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.live_policy import require_fallbacks
from streamdecisionbench.recording.prices import CostEstimate, estimate
from streamdecisionbench.recording.progress import Progress
from streamdecisionbench.recording.reader import conditions_in, read_recording, recordings_in
from streamdecisionbench.recording.recorder import (
    Part,
    RunConfig,
    record_together,
    replicas_for,
)
from streamdecisionbench.recording.recording_folder import (
    RunEnd,
    require_fresh,
)
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.virtual import StatedLatency
from streamdecisionbench.suite.scenario import LONGEST_TICK_S, SHORTEST_TICK_S, Scenario, Suite
from streamdecisionbench.suite.suite_files import (
    builtin_suite_path,
    first_steps,
    read_suite,
)


@dataclass(frozen=True, slots=True)
class SweepCondition:
    """One interval (None: every scenario's own tick) and one number of streams."""

    folder: Path
    interval_s: float | None
    streams: int
    replicas: int

    @property
    def folders(self) -> list[Path]:
        """The folders of its recordings.

        >>> [p.name for p in SweepCondition(Path("x"), 1.0, 16, 2).folders]
        ['replica-1', 'replica-2']
        """
        if self.replicas == 1:
            return [self.folder]
        return [self.folder / f"replica-{k}" for k in range(1, self.replicas + 1)]


_MOST_WARMUPS = 1000

Confirm = Callable[[Sequence[CostEstimate]], bool]


def launch(options: RunOptions, confirm: Confirm, progress: Progress | None = None) -> list[RunEnd]:
    """Records every pass, and stops after the first that is not complete."""
    _require_sensible(options)
    shown, home = options.output.out, options.output.out.absolute()
    options = options.changed(out=home)  # importing a component may change the current folder
    selected, asked, world = options.suite, options.components, options.world
    data = None if selected.data is None else selected.data.absolute()
    suite = world.suite if world is not None else read_suite(data or builtin_suite_path())
    if selected.limit is not None:
        suite = first_steps(suite, selected.limit)
    chosen = choose_scenarios(suite, selected.families, selected.scenarios)
    if asked.policy is not None:
        require_fallbacks(asked.policy, suite)
    latency = stated_latency(options.pace.latency, suite, chosen)
    config = RunConfig(options, chosen, latency=latency)
    members = _members(options, 0)
    _require_own_weights(options, members)
    _require_told(options, members)
    conditions = conditions_of(options, len(chosen))
    folders = [folder for condition in conditions for folder in condition.folders]
    if options.output.resume:
        _require_same_passes(home, conditions)
    else:
        _require_fresh(options, folders)
    scenarios = [suite.scenarios[e] for e in chosen]
    for member in members:
        _require_limits(member, scenarios)
    found = (estimate(m.component.info, scenarios, passes=len(folders)) for m in members)
    estimates = [e for e in found if e is not None]
    if estimates and not confirm(estimates):
        raise InputError("nothing was recorded: the cost was not confirmed", fix="add --yes")
    secrets = [s for url in {None, *asked.base_urls.values()} for s in secrets_at_hand(url)]
    secrets += [value for name, value in asked.extra.items() if names_a_secret(name)]
    outcomes: list[RunEnd] = []
    for index, condition in enumerate(conditions):
        # Every pass and replica gets fresh components, so that none learns from the one before. In a
        # sweep only pace and load differ; repeated passes have their own draws.
        again = index if options.pace.passes > 1 else 0
        same = replace(config, interval_s=condition.interval_s, streams=condition.streams)
        several = condition.replicas > 1
        parts = [
            Part(
                members if index == 0 and k == 0 else _members(options, again + k),
                replace(same, seed=asked.seed + again + k, replica=k + 1 if several else None),
                folder,
                data,
            )
            for k, folder in enumerate(condition.folders)
        ]
        ended = record_together(
            suite,
            parts,
            resume=options.output.resume,
            overwrite=options.output.overwrite,
            secrets=secrets,
            progress=progress,
            sessions=None if world is None else world.sessions,
        )
        outcomes += [replace(o, folder=shown / o.folder.relative_to(home)) for o in ended]
        if any(outcome.status != "complete" for outcome in ended):
            break
    return outcomes


def live_pair(named: Mapping[str, str]) -> dict[str | None, str]:
    """The members of a live pair, fast first.

    >>> live_pair({"slow": "simulated:astra-low", "fast": "simulated:jev"})
    {'fast': 'simulated:jev', 'slow': 'simulated:astra-low'}
    """
    if set(named) != {FAST, SLOW}:
        raise InputError(
            f"a live pair has the members {FAST} and {SLOW}, not {', '.join(sorted(named))}",
            fix=f"give --member {FAST}=provider:model --member {SLOW}=provider:model, or add"
            " --policy FILE for other names",
        )
    return {FAST: named[FAST], SLOW: named[SLOW]}


def under_policy(options: RunOptions, file: Path, named: Sequence[Mapping[str, str]]) -> RunOptions:
    """The same run under a policy, with the components that play its members.

    `named` are components, efforts and base URLs by the policy's names. The one component of a run
    plays a policy of one. A member that the policy calls `provider:model` plays itself.
    """
    policy = read_policy(file)
    asked = options.components
    if asked.rule is not None:
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
    given = (asked.components, asked.efforts, asked.base_urls)
    if len(names) > 1 and any(alone.get(None) for alone in given):
        raise InputError(
            f"the policy has {len(names)} components: {', '.join(names)}",
            where=file,
            fix="use --member, --member-effort and --member-base-url, each NAME=…, for every one",
        )
    components, efforts, base_urls = (
        {
            (name if len(names) > 1 else None): own.get(name)
            or (alone.get(None) if len(names) == 1 else None)
            for name in names
        }
        for alone, own in zip(given, named, strict=True)
    )
    for name, member in zip(names, list(components), strict=True):
        by_file = components[member] is None and ":" in name
        components[member] = name if by_file else components[member]
        if by_file and registry.own_code(name):
            raise InputError(
                f"cascade.components names {name}, which sdb does not import because a policy says so",
                where=file,
                fix=f"if you trust this code, add --member {shlex.quote(f'{name}={name}')}",
            )
        if components[member] is None:
            one = "name it: sdb run provider:model --policy …"
            raise InputError(
                f"no component is given for {name or 'the policy'}",
                where=file,
                fix=f"add --member {name}=provider:model" if member else one,
            )
    found = {member: str(name) for member, name in components.items()}
    return options.changed(policy=policy, components=found, efforts=efforts, base_urls=base_urls)


def conditions_of(options: RunOptions, scenarios: int) -> list[SweepCondition]:
    """Every interval with every number of streams, as they were given; or every pass.

    >>> options = RunOptions.of({}, Path("x"), intervals=(1.0, 0.5), streams=(1, 4))
    >>> [c.folder.name for c in conditions_of(options, 8)]
    ['interval-1-streams-1', 'interval-1-streams-4', 'interval-0.5-streams-1', 'interval-0.5-streams-4']
    >>> [c.folder.name for c in conditions_of(RunOptions.of({}, Path("x"), streams=(4,)), 8)]
    ['x']
    """
    out, pace = options.output.out, options.pace
    intervals, streams = pace.intervals, pace.streams
    if pace.passes > 1:
        passes = range(1, pace.passes + 1)
        return [SweepCondition(out / f"pass-{k}", pace.interval_s, 1, 1) for k in passes]
    found = []
    for interval in intervals or (pace.interval_s,):
        for count in streams or (1,):
            words = [f"interval-{interval:g}"] if intervals else []
            words += [f"streams-{count}"] if streams and (intervals or len(streams) > 1) else []
            folder = out / "-".join(words) if words else out
            found.append(SweepCondition(folder, interval, count, replicas_for(count, scenarios)))
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
    """NAME=VALUE headers; an error does not repeat the text, which may be a key.

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


def _members(options: RunOptions, index: int) -> list[Member]:
    asked = options.components
    return [
        Member(
            registry.create(
                name,
                Options(
                    effort=asked.efforts.get(member),
                    base_url=asked.base_urls.get(member),
                    timeout_s=options.dispatch.timeout_s,
                    seed=asked.seed + index,
                    extra=_extra(options, name),
                    headers=asked.headers,
                    prompt=asked.prompt,
                    order=asked.order,
                    plain_http=asked.plain_http,
                ),
            ),
            member,
        )
        for member, name in asked.components.items()
    ]


def _require_own_weights(options: RunOptions, members: Sequence[Member]) -> None:
    """A stated digest must not contradict one that was read."""
    stated = options.server.weights_sha256
    for member in members:
        read = member.component.info.settings.get("sha256")
        if stated is not None and read is not None and stated != read:
            raise InputError(
                f"weights_sha256 is not the digest of {member.component.info.name}, {read}",
                fix="leave it out of the server file: sdb reads the weights",
            )


def _require_told(options: RunOptions, members: Sequence[Member]) -> None:
    """Instructions nobody reads would make the record of the run untrue."""
    asked = {"--prompt": options.components.prompt, "--order": options.components.order}
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


def _extra(options: RunOptions, name: str) -> dict[str, str]:
    """A simulation knows the suite, and does not wait on the virtual clock; no other provider gets these."""
    extra = dict(options.components.extra)
    if name.partition(":")[0] == "simulated":
        extra["clock"] = options.pace.clock
        if options.world is not None:
            extra["world"] = options.world.name
        if options.suite.data is not None:
            extra["data"] = str(options.suite.data)
    return extra


def _require_fresh(options: RunOptions, folders: Sequence[Path]) -> None:
    """Several passes need several fresh folders, and OUT itself holds nothing else."""
    out = options.output.out
    below = {folder.relative_to(out).parts[:1] for folder in folders} - {()}
    inside = out.iterdir() if below and out.is_dir() else ()
    if any((path.name,) not in below for path in inside):
        require_fresh(out)
    for folder in folders:
        require_fresh(folder, overwrite=options.output.overwrite)


def _require_same_passes(out: Path, conditions: Sequence[SweepCondition]) -> None:
    """One pass is in OUT, several are in folders below it: resuming one as the other would mix both."""
    alone = conditions[0].folders == [out]
    swept = conditions_in(out) or recordings_in(out / "replica-1")
    for wrong, what, fix in (
        (alone and (out / "pass-1").exists(), "holds several passes",
         "repeat --passes to continue them, or name one, OUT/pass-1"),
        (alone and swept, "holds a sweep, or several streams",
         "repeat --intervals and --streams to continue it"),
        (not alone and (out / RUN_FILE).exists(), "holds one pass",
         "leave out --passes, --intervals and --streams to continue it"),
    ):  # fmt: skip
        if wrong:
            raise InputError(what, where=out, fix=fix)


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


def _require_sensible(options: RunOptions) -> None:
    asked, pace, selected = options.components, options.pace, options.suite
    several, together = pace.passes > 1, None not in asked.components
    for wrong, what, fix in (
        (options.output.resume and options.output.overwrite,
         "--resume and --overwrite exclude each other", "choose one"),
        (asked.policy is None and set(asked.components) not in ({None}, {FAST, SLOW}),
         "name one component, or a pair",
         "`sdb run provider:model …`, or `sdb run --member fast=A --member slow=B …`"),
        (options.world is not None
         and (selected.data or selected.families or selected.scenarios or selected.limit),
         "a world has no suite to choose from: it makes its own",
         "leave out --data, --families, --scenarios and --limit; --seeds says which sessions"),
        (pace.intervals and (pace.interval_s is not None or several),
         "--intervals is a sweep of its own", "leave out --interval and --passes"),
        (pace.streams and several,
         "--streams repeats scenarios itself where it must", "leave out --passes"),
        (len(set(pace.streams)) < len(pace.streams),
         "--streams names one number twice", "name every number once"),
        (len({f"{interval:g}" for interval in pace.intervals}) < len(pace.intervals),
         "--intervals names one twice", "name every interval once"),
        (options.server and together, "the facts of --server are for one component",
         "record each component of a pair alone to state them"),
        (asked.headers and together, "--header is for one component",
         "a header may hold a secret of one server: record a pair without it"),
        (asked.warmup is not None and not 0 <= asked.warmup <= _MOST_WARMUPS,
         f"--warmup is {asked.warmup}", f"give 0 to {_MOST_WARMUPS}"),
    ):  # fmt: skip
        if wrong:
            raise InputError(what, fix=fix)
    options.server.check()
    if asked.is_pair:
        pair_rule(asked.rule or "freshest")
    if asked.policy is not None:
        _require_fitting(asked.policy, asked.components)
    for name, value in (
        *(("--intervals", interval) for interval in pace.intervals),
        ("--interval", pace.interval_s),
        ("--timeout", options.dispatch.timeout_s),
        ("--max-in-flight", options.dispatch.max_in_flight),
        ("--max-in-flight-in-all", options.dispatch.in_all),
        *(("--streams", streams) for streams in pace.streams),
        ("--passes", pace.passes),
        ("--workers", pace.workers),
    ):
        if value is not None and not 0 < value < float("inf"):
            raise InputError(f"{name} is {value:g}", fix="give a number above 0")
    for interval in (pace.interval_s, *pace.intervals):
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
