"""Is a recording whole, and could it have happened? Every rule of the protocol, one by one.

Completeness: every step was released once and has exactly one valid response, or one line that says
why a policy wanted none.
Plan: step i was to be published at i·Δ or at the scenario's own time, was not published before, and
not at or after the horizon.
Causality: release ≤ start ≤ receipt ≤ completion ≤ recording.
Attempts: those in the log and the responses tell the same story. What others recorded may leave attempts
out, in the log or in the response; what is there must agree.
Meaning: labels decode to the recorded values, values compose to the recorded decision, every request is
the step's own, and counts are counts.
Acceptance: accepted was what the in-force rule, or the recorded policy, accepts at the recorded times,
and what a policy lets lapse lapsed when it says.
Punctuality: a state published late is an error of the measurement, not of the component. Up to
`TOLERATED` of a tick it is noise; beyond that it is said wherever a score of the recording stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from streamdecisionbench.kernel.rule import (
    OLDER_THAN_ACTIVE,
    Arbiter,
    Newest,
    PairRule,
)
from streamdecisionbench.policies.policy_file import Policy
from streamdecisionbench.recording.event_log import (
    AFTER_HORIZON,
    NO_TIME,
    Attempt,
    Cancelled,
    Release,
    Response,
    Skipped,
    finite,
)
from streamdecisionbench.recording.live_policy import LivePolicy, composed_confidence
from streamdecisionbench.recording.recording import Episode, Problem, Recording
from streamdecisionbench.suite.digest import has_digest
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.text import plural

SLACK_S = 2e-6
"""Published tables carry six decimals; two rounded times may cross by two units of the last one."""

_SHOWN = 5
_TIMES = ("started_s", "received_s", "completed_s")
_NEAR_S = 1e-3
"""An arrival this close to the horizon may have been decided on the other side of it."""


def recorded_tick(releases: Sequence[Release], scenario_tick: float) -> float:
    """Seconds per tick on the recording clock: what the planned releases say."""
    if len(releases) < 2:
        return scenario_tick
    tick = (releases[-1].planned_s - releases[0].planned_s) / (len(releases) - 1)
    return scenario_tick if abs(tick - scenario_tick) < 1e-9 else round(tick, 9)


def tick_of(
    releases: Sequence[Release], scenario: Scenario, interval_s: float | None = None
) -> float:
    """Seconds per tick on the recording clock.

    Times of its own say nothing about the pace of a scenario: what the run record states does, and
    where it states nothing it was the scenario's own.
    """
    if scenario.published_s is None:
        return recorded_tick(releases, scenario.tick_seconds)
    return scenario.tick_seconds if interval_s is None else interval_s


def check_completeness(
    episode_id: str,
    steps: int,
    releases: Sequence[Release],
    responses: Sequence[Response],
    gaps: Sequence[Cancelled | Skipped] = (),
) -> Iterator[Problem]:
    """Nothing here grows with `steps`, which may come from a file, only with what was recorded."""
    for what, found in (
        ("release", Counter(r.t for r in releases)),
        ("response", Counter(r.t for r in (*responses, *gaps))),
    ):
        inside = sum(0 <= t < steps for t in found)
        if inside < steps:
            missing = islice((t for t in range(steps) if t not in found), _SHOWN + 1)
            shown = [str(t) for t in missing]
            shown[_SHOWN:] = ["…"] if len(shown) > _SHOWN else []
            which = f"(t = {', '.join(shown)})"
            yield Problem(
                episode_id, f"{steps - inside} of {plural(steps, 'step')} have no {what} {which}"
            )
        for t in sorted(t for t, count in found.items() if count > 1)[:_SHOWN]:
            yield Problem(f"{episode_id} t={t}", f"has more than one {what}")
        for t in sorted(t for t in found if not 0 <= t < steps)[:_SHOWN]:
            yield Problem(f"{episode_id} t={t}", f"a {what} for a step outside 0–{steps - 1}")
    for t in [r.t for r in responses if not r.ok][:_SHOWN]:
        what = "the response is not ok; only valid responses can be scored"
        yield Problem(f"{episode_id} t={t}", what)


def check_plan(
    episode_id: str,
    releases: Sequence[Release],
    interval_s: float | None,
    scenario: Scenario | None = None,
) -> list[Problem]:
    """`interval_s` is what the run record states; None where it states nothing."""
    names = ("planned_s", "release_s")
    problems = [
        Problem(f"{episode_id} t={r.t}", f"{name} {NO_TIME}")
        for r in releases
        for name in names
        if not finite(getattr(r, name))
    ]
    if problems:
        return problems
    for before, after in pairwise(releases):
        for name, verb in (("release_s", "released"), ("planned_s", "planned")):
            if getattr(after, name) <= getattr(before, name):
                what = f"{verb} at or before t={before.t} ({name})"
                problems.append(Problem(f"{episode_id} t={after.t}", what))
    if problems:
        return problems
    own = scenario if scenario is not None and scenario.published_s is not None else None
    interval = interval_s
    if interval is None:
        interval = tick_of(releases, own) if own else recorded_tick(releases, 0.0)
    due = own.planned(interval) if own else [t * interval for t in range(len(releases))]
    named = "the scenario's own time" if own else "t·interval"
    return list(_against_plan(episode_id, releases, interval, due, named))


def _against_plan(
    episode_id: str,
    releases: Sequence[Release],
    interval: float,
    plan: Sequence[float],
    named: str,
) -> Iterator[Problem]:
    rounding = SLACK_S + min(5e-4, interval / 100)
    early = SLACK_S + max(1e-3, interval / 100)
    horizon = len(releases) * interval
    for release in releases:
        at, planned, due = release.release_s, release.planned_s, plan[release.t]
        if abs(planned - due) > rounding:
            what = f"planned_s is {planned:.6f}, but {named} is {due:.6f}"
        elif at < planned - early:
            what = f"release_s ({at:.6f}) is before planned_s ({planned:.6f})"
        elif interval > 0 and at >= horizon:
            what = (
                f"released at {at:.3f} s, at or after the horizon ({horizon:.3f} s):"
                " the client stood still"
            )
        else:
            continue
        yield Problem(f"{episode_id} t={release.t}", what)


def check_order(episode_id: str, release: Release, response: Response) -> Iterator[Problem]:
    """One step's times, from its publication to the acceptance check."""
    where = f"{episode_id} t={response.t}"
    chain = (
        ("release_s", response.release_s),
        ("started_s", response.success_started_s),
        ("received_s", response.received_s),
        ("completed_s", response.completed_s),
        ("actual_recorded_s", response.actual_recorded_s),
    )
    bad = [name for name, value in (*chain, ("started_s", response.started_s)) if not finite(value)]
    if bad:
        yield Problem(where, f"{', '.join(dict.fromkeys(bad))} {NO_TIME}")
        return
    in_order = True
    for (earlier, least), (name, value) in pairwise(chain):
        if value < least - SLACK_S:
            yield Problem(where, f"{name} ({value:.6f}) is before {earlier} ({least:.6f})")
            in_order = False
    if response.started_s > response.success_started_s + SLACK_S:
        yield Problem(where, "started_s is after the start of the successful attempt")
    elif response.started_s < response.release_s - SLACK_S and in_order:
        yield Problem(where, "started_s is before release_s")
    if abs(release.release_s - response.release_s) > SLACK_S:
        yield Problem(where, "release_s of the response is not that of the release")
    taken = response.accepted_s if response.accepted else None
    if taken is not None and taken < response.actual_recorded_s - SLACK_S:
        yield Problem(where, "accepted_s is before actual_recorded_s")


def check_acceptance(episode: Episode, horizon: float, expected: Expected) -> Iterator[Problem]:
    """All flags of one episode: of one component, of a live pair under its rule, or under a policy.

    Arrivals in order of time; at equal times the newer source first, then the later component.
    """
    policy, scenario, rule = expected.policy, expected.scenario, expected.rule
    live: LivePolicy | None = None
    arbiter: Arbiter = PairRule(rule) if rule else Newest()
    if policy is not None and scenario is not None:
        live = LivePolicy(policy, scenario, expected.members or (None,))
        arbiter = live.arbiter
    ranks: dict[str | None, int] = {name: k for k, name in enumerate(expected.members)}
    arrivals = sorted(
        episode.responses,
        key=lambda r: (r.actual_recorded_s, -r.t, -ranks.get(r.component, 0)),
    )
    for response in arrivals:
        part = f" ({response.component})" if response.component else ""
        where = f"{episode.episode_id} t={response.t}{part}"
        if (rule or live) and response.component not in (expected.members or (None,)):
            whose = "policy" if live else "pair"
            yield Problem(where, f"is of a component that the {whose} does not name")
            continue
        found = _acceptance(response, arbiter, horizon)
        if live is not None and scenario is not None:
            found = _under_policy(response, live, scenario, horizon)
        for what in found:
            yield Problem(where, what)
        if response.accepted:
            arbiter.activate(response.component, response.t)


def check_expiry(episode: Episode, horizon: float, after_s: float) -> Iterator[Problem]:
    """A decision lapses `after_s` after the release of its source, but not before it took effect, unless
    another took effect or the end came first; the log says so, and says nothing else.
    """
    taken = sorted((r for r in episode.responses if r.accepted), key=lambda r: r.actual_recorded_s)
    ends = [*(r.actual_recorded_s for r in taken[1:]), horizon]
    told: dict[tuple[int, str | None], float] = {}
    for event in episode.expired:
        if (event.t, event.component) in told:
            yield Problem(f"{episode.episode_id} t={event.t}", "is said to lapse twice")
        told[event.t, event.component] = event.expired_s
    for response, end in zip(taken, ends, strict=False):
        where = f"{episode.episode_id} t={response.t}"
        due = max(response.release_s + after_s, response.actual_recorded_s)
        said = told.pop((response.t, response.component), None)
        if said is None and due < min(end, horizon) - SLACK_S:
            yield Problem(where, f"lapsed at {due:.6f} s under the policy, but no event says so")
        elif said is not None and (abs(said - due) > SLACK_S or due > min(end, horizon) + SLACK_S):
            what = f"is said to lapse at {said:.6f} s; under the policy it would at {due:.6f} s"
            yield Problem(where, what + ", unless another took effect before")
    for t, _ in told:
        yield Problem(
            f"{episode.episode_id} t={t}", "is said to lapse, but nothing of it was in force"
        )


def _acceptance(response: Response, arbiter: Arbiter, horizon: float) -> Iterator[str]:
    late = response.actual_recorded_s >= horizon
    near = abs(response.actual_recorded_s - horizon) < _NEAR_S
    admitted = not (late and not near) and not arbiter.refusal(
        response.component, response.t, response.decision, None
    )
    if response.accepted != (admitted and not late) and not near:
        rule = "arrived after the horizon" if late else "the active source was newer"
        verb = "was accepted but" if response.accepted else "was discarded but should not be: no"
        yield f"{verb} {rule}"
    if response.accepted:
        if response.discard_reason is not None:
            yield f"is accepted and has discard_reason {response.discard_reason!r:.60}"
    elif response.discard_reason not in (AFTER_HORIZON, OLDER_THAN_ACTIVE):
        yield f"discard_reason {response.discard_reason!r:.60} is not known"
    elif response.discard_reason == AFTER_HORIZON and not late and not near:
        yield "discard_reason is after_horizon, but it arrived before the horizon"


def check_attempts(
    episode_id: str, attempts: Iterable[Attempt], responses: Sequence[Response]
) -> Iterator[Problem]:
    """All contradictions of one component's attempts in one episode."""
    logged: dict[int, list[Attempt]] = {}
    for attempt in attempts:
        logged.setdefault(attempt.t, []).append(attempt)
    known = {r.t for r in responses}
    for t in sorted(set(logged) - known)[:_SHOWN]:
        yield Problem(f"{episode_id} t={t}", "an attempt for a step that has no response")
    for response in responses:
        where = f"{episode_id} t={response.t}"
        flags = [a["ok"] for a in response.attempts if isinstance(a, dict) and "ok" in a]
        if flags and not any(flags):
            yield Problem(where, "is answered, but none of its attempts succeeded")
        if tries := logged.get(response.t):
            yield from _each(where, tries, response)
            yield from _against_response(where, tries, response)


def _each(where: str, tries: Sequence[Attempt], response: Response) -> Iterator[Problem]:
    before = 0
    for attempt in tries:
        here = f"{where} attempt {attempt.attempt}"
        if attempt.request_hash != response.request_hash:
            yield Problem(here, "sent another request than the response answers (request_hash)")
        if attempt.attempt <= before and before > 0:
            yield Problem(here, "attempts are not numbered in order")
        before = max(attempt.attempt, before)
        times = [(name, at) for name in _TIMES if (at := getattr(attempt, name)) is not None]
        for name, value in times:
            if not finite(value):
                yield Problem(here, f"{name} {NO_TIME}")
                return
        for (earlier, least), (name, value) in pairwise(times):
            if value < least - SLACK_S:
                yield Problem(here, f"{name} is before {earlier}")
        if attempt.started_s < response.release_s - SLACK_S:
            yield Problem(here, "started before its step was released")


def _against_response(
    where: str, tries: Sequence[Attempt], response: Response
) -> Iterator[Problem]:
    successful = [a for a in tries if a.ok]
    if not successful:
        yield Problem(where, "is answered, but no attempt in the log succeeded")
        return
    last = successful[-1]
    if tries[-1] is not last:
        yield Problem(where, "an attempt failed after the one that was answered")
    told = (response.success_started_s, response.received_s, response.completed_s)
    for name, ours in zip(_TIMES, told, strict=True):
        theirs = getattr(last, name)
        if theirs is not None and abs(theirs - ours) > SLACK_S:
            said = f"is {theirs:.6f}, the response says {ours:.6f}"
            yield Problem(where, f"{name} of the successful attempt {said}")
    if not response.attempts:
        return
    if len(response.attempts) != len(tries):
        yield Problem(
            where, f"lists {plural(len(response.attempts), 'attempt')}, the log has {len(tries)}"
        )
        return
    for attempt, listed in zip(tries, response.attempts, strict=True):
        if differing := _differing(attempt, listed):
            here = f"{where} attempt {attempt.attempt}"
            yield Problem(here, f"{differing} is not what the response's list says")


def _differing(attempt: Attempt, listed: Any) -> str | None:
    """The first field that both give and that differs."""
    if not isinstance(listed, dict):
        return None
    for name in ("attempt", "ok", *_TIMES, "error_type"):
        ours, theirs = getattr(attempt, name), listed.get(name)
        if ours is None or theirs is None or (name == "ok" and not isinstance(theirs, bool)):
            continue
        same = ours == theirs
        if isinstance(ours, float):
            same = isinstance(theirs, int | float) and abs(ours - theirs) <= SLACK_S
        if not same:
            return name
    return None


def check_answers(response: Response, scenario: Scenario, consumed_only: bool) -> str:
    """The first thing one response means otherwise than its scenario; empty where there is none."""
    spec, pred = scenario.decision_spec, response.pred
    wanted: Iterable[str] = scenario.questions
    if consumed_only:
        wanted = spec.consumed(pred.get(spec.route_question, ""))
    if unanswered := [q for q in wanted if q not in pred]:
        return f"pred leaves {', '.join(unanswered)} unanswered"
    if unknown := [q for q in pred if q not in scenario.questions]:
        return f"pred answers {', '.join(unknown)}, which the suite does not ask"
    for q, value in pred.items():
        if value not in scenario.option_semantics[q].values():
            return f"pred.{q} = {value!r:.80} is no option of that question"
    for q, label in response.wire_answers.items():
        if scenario.option_semantics.get(q, {}).get(label) != pred.get(q):
            return f"wire_answers.{q} = {label!r:.80} does not mean pred.{q}"
    if response.decision and response.decision != spec.compose(pred):
        return "decision is not what pred composes to"
    return ""


def check_requests(
    episode_id: str, responses: Sequence[Response], scenario: Scenario, *, ours: bool
) -> list[Problem]:
    """`request_hash` names the request of the step it stands at.

    The paper does not say how the hash is made. So a recording of somebody else's in
    which no hash is ours is taken to use another one; a single one of ours binds all of them.
    """
    questions = scenario.wire_questions()
    hashed = [r for r in responses if r.request_hash]

    def is_own(r: Response) -> bool:
        asked = {"state": scenario.steps[r.t].state, "questions": questions}
        return has_digest(asked, r.request_hash)

    wrong = [r for r in hashed if not is_own(r)]
    if len(wrong) == len(hashed) and not ours:
        return []
    what = "answers another request than this step's (request_hash)"
    return [Problem(f"{episode_id} t={r.t}", what) for r in wrong]


def check_counts(response: Response) -> Iterator[str]:
    """Tokens cannot be negative."""
    for name in response.usage.__struct_fields__ if response.usage is not None else ():
        count = getattr(response.usage, name)
        if isinstance(count, int | float) and count < 0:
            yield f"usage.{name} is {count}, below zero"


def _under_policy(
    response: Response, live: LivePolicy, scenario: Scenario, horizon: float
) -> Iterator[str]:
    if abs(response.actual_recorded_s - horizon) < _NEAR_S and not response.accepted:
        return
    spec, reason = scenario.decision_spec, AFTER_HORIZON
    if response.actual_recorded_s < horizon:
        sure = composed_confidence(
            spec, response.pred, response.wire_answers, response.confidence, response.probabilities
        )
        confidence = None if sure is None else sure[live.policy.gate.compose]
        decision = spec.compose(response.pred)
        found = live.arbiter.refusal(response.component, response.t, decision, confidence)
        reason = found or ""
    if (response.discard_reason or "") != reason or response.accepted != (not reason):
        said = "accepted" if response.accepted else f"discarded ({response.discard_reason!r:.40})"
        yield f"was {said}, but under the recorded policy it is {reason or 'accepted'}"


@dataclass(frozen=True, slots=True)
class Expected:
    """What the suite and the run record say an episode must be."""

    steps: int
    scenario: Scenario | None = None
    interval_s: float | None = None
    """Seconds per step as the run record states them; None: it does not."""
    irregular: bool = False
    """Whether scenarios have times of their own, as the run record states it."""
    consumed_only: bool = False
    members: tuple[str, ...] = ()
    """The components of a live pair or cascade, in order; empty: one component."""
    rule: str | None = None
    """The rule that decided between the components of a live pair; None: not known."""
    policy: Policy | None = None
    """The policy it was recorded under."""
    our_hashes: bool = False
    """Whether the recorder was ours, and with it the way requests are hashed."""


def check_episode(episode: Episode, expected: Expected) -> list[Problem]:
    """All violations found in one episode of one component, of a live pair or of a cascade."""
    problems: list[Problem] = []
    usable = True
    for part in expected.members or ("",):
        name = f"{episode.episode_id} ({part})" if part else episode.episode_id
        responses = [r for r in episode.responses if not part or r.component == part]
        gaps = [g for g in episode.gaps if not part or g.component == part]
        wrong = _check_times(name, episode.releases, responses, gaps, expected)
        usable = usable and not wrong
        given_up = {g.t for g in gaps if isinstance(g, Cancelled)}
        attempts = [a for a in episode.attempts if not part or a.component == part]
        tried = [a for a in attempts if a.t not in given_up]
        problems += wrong or _check_part(name, tried, responses, expected)
    scenario, policy = expected.scenario, expected.policy
    if not usable or (scenario is None and expected.irregular):
        return problems  # without the suite nobody knows when it ended
    releases = sorted(episode.releases, key=lambda r: r.t)
    if scenario is not None:
        tick = tick_of(releases, scenario, expected.interval_s)
    else:
        tick = recorded_tick(releases, 0.0)
    if tick <= 0 or (expected.members and expected.rule is None and policy is None):
        return problems
    # Whether a policy lets an answer in depends on what it means.
    if policy is None or (scenario is not None and not problems):
        problems += check_acceptance(episode, expected.steps * tick, expected)
    if policy is not None and scenario is not None and not problems:
        problems += check_expiry(episode, expected.steps * tick, policy.expire.after_s)
    return problems


def _check_times(
    name: str,
    releases: Sequence[Release],
    responses: Sequence[Response],
    gaps: Sequence[Cancelled | Skipped],
    expected: Expected,
) -> list[Problem]:
    """What makes every other question pointless: steps that are missing, times that cannot be."""
    if gaps and expected.policy is None:
        return [Problem(name, "states were not sent, but the run record names no policy")]
    problems = list(check_completeness(name, expected.steps, releases, responses, gaps))
    if problems:
        return problems
    releases = sorted(releases, key=lambda r: r.t)
    if expected.scenario is not None or not expected.irregular:
        problems += check_plan(name, releases, expected.interval_s, expected.scenario)
    for response in sorted(responses, key=lambda r: r.t):
        problems += check_order(name, releases[response.t], response)
    return problems


def _check_part(
    name: str, attempts: Sequence[Attempt], responses: Sequence[Response], expected: Expected
) -> list[Problem]:
    problems = list(check_attempts(name, attempts, responses))
    scenario = expected.scenario
    for response in responses:
        found = list(check_counts(response))
        if scenario is not None:
            found += filter(None, [check_answers(response, scenario, expected.consumed_only)])
        problems += [Problem(f"{name} t={response.t}", what) for what in found]
    if scenario is None:
        return problems
    return problems + check_requests(name, responses, scenario, ours=expected.our_hashes)


TOLERATED = 0.01
"""Release lag, as a share of the tick, that a recording may show and still count as punctual."""

MATTERS = 0.01
"""A point: a share of time below that makes no difference worth a word."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Punctuality:
    """The worst release lag of a recording.

    >>> Punctuality(60, 0, 0.004, 0.002).words
    ''
    >>> print(Punctuality(60, 14, 1.3, 6.5).words)
    published late: 14 of 60 states by more than 1 % of the tick, at worst by 1.3 s (6.5 ticks)
    """

    steps: int
    late_steps: int
    """Releases that lag by more than `TOLERATED` of their tick."""
    worst_s: float
    worst_ticks: float
    mean_ticks: float = 0.0

    @property
    def held(self) -> bool:
        """Whether the client kept the pace so well that its lateness cannot matter in force.

        A late client delays a state and, as much, its answer: by x ticks in the mean, that can change
        at most 2x of the time.

        >>> Punctuality(60, 14, 1.3, 6.5, 0.2).held, Punctuality(60, 1, 0.02, 0.04, 0.0007).held
        (False, True)
        """
        return 2 * self.mean_ticks <= MATTERS

    @property
    def punctual(self) -> bool:
        return self.late_steps == 0

    @property
    def lag(self) -> str:
        """For a signature: the worst lag in ticks.

        >>> Punctuality(60, 14, 1.3, 6.5).lag
        '6.5ticks'
        """
        return f"{self.worst_ticks:.3g}ticks"

    @property
    def words(self) -> str:
        """For people; empty where there is nothing to say."""
        if self.punctual:
            return ""
        return (
            f"published late: {self.late_steps} of {plural(self.steps, 'state')} by more than"
            f" {100 * TOLERATED:g} % of the tick, at worst by {self.worst_s:.3g} s"
            f" ({self.worst_ticks:.3g} ticks)"
        )


def is_punctual(recording: Recording, suite: Suite) -> bool:
    """Whether no release lags by more than `TOLERATED` of its tick."""
    return punctuality(recording.episodes, {s.episode_id: s.tick_seconds for s in suite}).punctual


def punctuality(
    episodes: Mapping[str, Episode], ticks: Mapping[str, float] | None = None
) -> Punctuality:
    """Over all releases. `ticks` is needed only for scenarios of a single step."""
    steps = late = 0
    worst_s = worst_ticks = total = 0.0
    for episode_id, episode in episodes.items():
        releases = sorted(episode.releases, key=lambda r: r.t)
        tick = recorded_tick(releases, (ticks or {}).get(episode_id, 0.0))
        for release in releases:
            lag = release.release_s - release.planned_s
            share = lag / tick if tick > 0 else 0.0
            steps += 1
            late += share > TOLERATED + _ROUNDING
            worst_s, worst_ticks = max(worst_s, lag), max(worst_ticks, share)
            total += share
    return Punctuality(steps, late, worst_s, worst_ticks, total / max(steps, 1))
