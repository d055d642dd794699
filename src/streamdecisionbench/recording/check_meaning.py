"""Do the recorded answers mean what the suite says they mean?

Labels decode to the recorded values, values compose to the recorded decision, every request is the
step's own, and counts are counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamdecisionbench.recording.events import Response
from streamdecisionbench.recording.recording import Problem
from streamdecisionbench.suite.digest import has_digest
from streamdecisionbench.suite.scenario import Scenario

__all__ = ["check_answers", "check_counts", "check_requests"]


def check_answers(
    episode_id: str, response: Response, scenario: Scenario, consumed_only: bool
) -> list[Problem]:
    """One response against its scenario."""
    where = f"{episode_id} t={response.t}"
    spec = scenario.decision_spec
    expected = (
        spec.consumed(response.pred.get(spec.route_question, ""))
        if consumed_only
        else scenario.questions
    )
    unanswered = [q for q in expected if q not in response.pred]
    if unanswered:
        return [Problem(where, f"pred leaves {', '.join(unanswered)} unanswered")]
    unknown = [q for q in response.pred if q not in scenario.questions]
    if unknown:
        return [Problem(where, f"pred answers {', '.join(unknown)}, which the suite does not ask")]
    for q, value in response.pred.items():
        if value not in scenario.option_semantics[q].values():
            return [Problem(where, f"pred.{q} = {value!r:.80} is no option of that question")]
    for q, label in response.wire_answers.items():
        if scenario.option_semantics.get(q, {}).get(label) != response.pred.get(q):
            return [Problem(where, f"wire_answers.{q} = {label!r:.80} does not mean pred.{q}")]
    if response.decision and response.decision != spec.compose(response.pred):
        return [Problem(where, "decision is not what pred composes to")]
    return []


def check_requests(
    episode_id: str, responses: Sequence[Response], scenario: Scenario, *, ours: bool
) -> list[Problem]:
    """`request_hash` names the request of the step it stands at.

    The published format does not say how the hash is made. So a recording of somebody else's in
    which no hash is ours is taken to use another one; a single one of ours binds all of them.
    """
    questions = scenario.wire_questions()
    hashed = [r for r in responses if r.request_hash]
    wrong = [
        r
        for r in hashed
        if not has_digest(
            {"state": scenario.steps[r.t].state, "questions": questions}, r.request_hash
        )
    ]
    if len(wrong) == len(hashed) and not ours:
        return []
    return [
        Problem(f"{episode_id} t={r.t}", "answers another request than this step's (request_hash)")
        for r in wrong
    ]


def check_counts(episode_id: str, response: Response) -> Iterator[Problem]:
    """Tokens cannot be negative."""
    if response.usage is None:
        return
    for name in response.usage.__struct_fields__:
        count = getattr(response.usage, name)
        if isinstance(count, int | float) and count < 0:
            yield Problem(f"{episode_id} t={response.t}", f"usage.{name} is {count}, below zero")
