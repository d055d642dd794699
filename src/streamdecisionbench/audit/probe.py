"""A learned shallow probe: how far hashed words of state and question get, trained on other seeds.

The probe reads no rule. Per question it learns, over states of the train split, which words go with
which value (one logistic model against the rest), and how options in general are mentioned when they
are right (often, lately, in the newest entry), which also reaches values it has never met. Whatever
it gets right on states of other seeds and other names can be had without understanding a rule; where
that is much, the generator leaks.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.constant_baselines import (
    best_constant,
    content_words,
    first_option,
    lexical_overlap,
    states_right,
)
from streamdecisionbench.suite.digest import canonical
from streamdecisionbench.suite.scenario import Scenario, State

LIMIT = 0.40
"""Composed accuracy from which on a family is said to leak."""

_FEATURES = 2**18
_PASSES = 6
_KNOWN = 3
"""A value that answers in at least so many scenarios is learned by name."""
_WORD = re.compile(r"[a-z0-9_]+")


_Worth = Callable[[str, Mapping[str, Any], str], int]


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What the probe gets right in some scenarios of a family, untimed."""

    scenarios: int
    states: int
    composed: float
    commonest: float
    """Composed accuracy of every question's commonest answer in training."""
    questions: dict[str, float]
    """Question → share right of the states at which it is asked."""

    @property
    def leaks(self) -> bool:
        return self.composed >= LIMIT


@dataclass(frozen=True, slots=True)
class _Read:
    """A state as the probe reads it: everything but the rules, and the newest entry of each list."""

    text: str
    newest: str

    @classmethod
    def of(cls, state: State) -> _Read:
        rest = {name: part for name, part in state.items() if name != "rules"}
        return cls(_text(rest), " ".join(_newest(rest)))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was learned about one question."""

    values: dict[str, int]
    """Value → its column in `by_words`; the commonest of all comes first."""
    by_words: Any
    by_mention: Any


@dataclass(frozen=True, slots=True)
class Probe:
    """A trained probe of one family."""

    family: str
    asked: dict[str, _Asked]

    def answers(self, scenario: Scenario) -> list[dict[str, str]]:
        """An answer to every question at every step."""
        states = [_Read.of(step.state) for step in scenario.steps]
        words = _hashed(_state_words(state) for state in states)
        chosen: list[dict[str, str]] = [{} for _ in states]
        for question, options in scenario.option_semantics.items():
            values = sorted(options.values())
            scores = self._scores(question, values, states, words)
            for t, row in enumerate(scores):
                chosen[t][question] = values[int(row.argmax())]
        return chosen

    def commonest(self, scenario: Scenario) -> dict[str, str]:
        """Every question's commonest answer in training, of those that are options here."""
        found = {}
        for question, options in scenario.option_semantics.items():
            known = [v for v in self._known(question) if v in options.values()]
            found[question] = known[0] if known else min(options.values())
        return found

    def _known(self, question: str) -> dict[str, int]:
        return self.asked[question].values if question in self.asked else {}

    def _scores(self, question: str, values: list[str], states: list[_Read], words: Any) -> Any:
        """State × value → log-odds, by words where the value was learned, by mention elsewhere."""
        import numpy as np

        scores = np.zeros((len(states), len(values)))
        if question not in self.asked:
            return scores
        learned = self.asked[question]
        mentioned = _hashed(m for state in states for m in _mentions(state, values))
        scores += learned.by_mention.decision_function(mentioned).reshape(scores.shape)
        odds = learned.by_words.decision_function(words)
        for column, value in enumerate(values):
            if value in learned.values:
                scores[:, column] = odds[:, learned.values[value]]
        return scores


def require_learner() -> None:
    """Refuse early, with what to install, where there is nothing to learn with."""
    if importlib.util.find_spec("sklearn") is None:
        raise InputError(
            "the probe needs scikit-learn", fix="pip install 'streamdecisionbench[audit]'"
        )


def train(scenarios: Sequence[Scenario]) -> Probe:
    """A probe of the family that these scenarios belong to."""
    families = {scenario.task_family for scenario in scenarios}
    if len(families) != 1:
        raise InputError(
            "the probe learns one family at a time", fix="pass scenarios of one family"
        )
    states = [_Read.of(step.state) for scenario in scenarios for step in scenario.steps]
    words = _hashed(_state_words(state) for state in states)
    questions = list(dict.fromkeys(q for s in scenarios for q in s.questions))
    asked = {question: _learn(question, scenarios, states, words) for question in questions}
    return Probe(families.pop(), asked)


def measure(probe: Probe, scenarios: Sequence[Scenario]) -> ProbeResult:
    """The probe's untimed accuracy, composed and per question."""
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    composed = commonest = states = 0
    for scenario in scenarios:
        compose = scenario.decision_spec.compose
        constant = compose(probe.commonest(scenario))
        for step, answers in zip(scenario.steps, probe.answers(scenario), strict=True):
            reference = compose(step.gold)
            states += 1
            composed += compose(answers) == reference
            commonest += constant == reference
            asked.update(step.gold.keys())
            right.update(q for q, value in step.gold.items() if answers[q] == value)
    return ProbeResult(
        len(scenarios),
        states,
        composed / states,
        commonest / states,
        {question: right[question] / n for question, n in asked.items()},
    )


def _learn(
    question: str, scenarios: Sequence[Scenario], states: Sequence[_Read], words: Any
) -> _Asked:
    import numpy as np

    golds: list[str] = []
    rows: list[list[str]] = []
    right: list[bool] = []
    seen: Counter[str] = Counter()
    often: Counter[str] = Counter()
    here = np.zeros(words.shape[0], dtype=bool)
    at = 0
    for scenario in scenarios:
        if question in scenario.questions:
            here[at : at + scenario.n] = True
            values = sorted(scenario.option_semantics[question].values())
            answers = [step.gold[question] for step in scenario.steps]
            seen.update(set(answers))
            often.update(answers)
            golds += answers
            for state, answer in zip(states[at : at + scenario.n], answers, strict=True):
                rows += _mentions(state, values)
                right += [value == answer for value in values]
        at += scenario.n
    known = [value for value, _ in often.most_common() if seen[value] >= _KNOWN]
    by_words = _OneAgainstRest(words[here], golds, known)
    by_mention = _logistic().fit(_hashed(iter(rows)), right)
    return _Asked({value: i for i, value in enumerate(known)}, by_words, by_mention)


class _OneAgainstRest:
    """One logistic model per value, each with log-odds of its own."""

    def __init__(self, words: Any, golds: list[str], values: list[str]) -> None:
        self._models = []
        for value in values:
            right = [gold == value for gold in golds]
            self._models.append(None if all(right) else _logistic().fit(words, right))

    def decision_function(self, words: Any) -> Any:
        import numpy as np

        sure = np.full(words.shape[0], 50.0)
        columns = [sure if m is None else m.decision_function(words) for m in self._models]
        return np.column_stack(columns) if columns else np.zeros((words.shape[0], 0))


def _logistic() -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(
        loss="log_loss", alpha=1e-5, max_iter=_PASSES, tol=None, average=True, random_state=0
    )


def _hashed(rows: Iterator[list[str]]) -> Any:
    from sklearn.feature_extraction import FeatureHasher

    return FeatureHasher(_FEATURES, input_type="string").transform(rows)


def _state_words(state: _Read) -> list[str]:
    """Words and pairs of neighbouring words; those of newest entries once more."""
    words, late = _WORD.findall(state.text), _WORD.findall(state.newest)
    found = {f"w {w}" for w in words} | {f"l {w}" for w in late}
    found |= {f"w {a} {b}" for a, b in pairwise(words)}
    found |= {f"l {a} {b}" for a, b in pairwise(late)}
    return sorted(found)


def _mentions(state: _Read, values: Sequence[str]) -> list[list[str]]:
    """Per option how it is mentioned: how often, how late, in a newest entry, beside the others."""
    text = state.text
    count = {v: text.count(v.lower()) for v in values}
    last = {v: text.rfind(v.lower()) for v in values}
    by_count = sorted(values, key=lambda v: -count[v])
    by_last = sorted(values, key=lambda v: -last[v])
    return [
        [
            f"count {min(count[v], 9)}",
            f"count rank {by_count.index(v)}",
            f"late {10 * last[v] // max(len(text), 1)}",
            f"late rank {by_last.index(v)}",
            f"newest {v.lower() in state.newest}",
            f"value {v}",
            *(f"word {w}" for w in _WORD.findall(v.lower())),
        ]
        for v in values
    ]


def _newest(value: Any) -> Iterator[str]:
    """The last entry of every list in a state."""
    if isinstance(value, dict):
        for part in value.values():
            yield from _newest(part)
    elif isinstance(value, list) and value:
        yield _text(value[-1])
        yield from _newest(value[-1])


def _text(value: Any) -> str:
    return canonical(value).decode().lower()


def shortcuts(scenario: Scenario) -> dict[str, float]:
    """Share of states whose composed decision each shortcut gets right, without reading the rules.

    None of them may look at the references except where its definition is a bound over all policies of
    a kind (best constant, best position): those say how far *any* such policy could get.
    """
    return {name: count(scenario) / scenario.n for name, (count, _) in SHORTCUTS.items()}


def _persistence(scenario: Scenario) -> int:
    """The reference of the state before: what a perfect answer is worth one step too late."""
    decisions = scenario.reference()
    return sum(a == b for a, b in pairwise(decisions))


def _position(scenario: Scenario) -> int:
    """The best of the policies "always the k-th listed option" (the last where there are fewer)."""
    most = max(len(q.criteria) for q in scenario.questions.values())

    def near(k: int) -> _Worth:
        return lambda text, q, _: -abs(list(q["criteria"].values()).index(text) - k)

    return max(_likeliest(near(k))(scenario) for k in range(most))


def _likeliest(worth: _Worth) -> Callable[[Scenario], int]:
    """States right by taking the option worth most, the first listed of equals.

    `worth` is told the option's text, its question and the state as text.
    """

    def policy(request: Mapping[str, Any]) -> dict[str, str]:
        state = canonical(request["state"]).decode().lower()
        return {
            name: max(q["criteria"], key=partial(_worth_of, worth, q, state))
            for name, q in request["questions"].items()
        }

    return lambda scenario: states_right(scenario, policy)


def _worth_of(worth: _Worth, question: Mapping[str, Any], state: str, label: str) -> int:
    return worth(question["criteria"][label], question, state)


def _shared_words(text: str, question: Mapping[str, Any], _: str) -> int:
    return len(content_words(text) & content_words(question["instructions"]))


def _named_in_state(text: str, _: Mapping[str, Any], state: str) -> int:
    """How often the state names the option's value, rules included."""
    return state.count(text.partition(":")[0].lower())


def _majority_answers(scenario: Scenario) -> int:
    """Each question's most frequent reference answer, composed: a bound on per-question constants."""
    spec = scenario.decision_spec
    common = {
        q: Counter(step.gold[q] for step in scenario.steps).most_common(1)[0][0]
        for q in scenario.questions
    }
    decision = spec.compose(common)
    return sum(d == decision for d in scenario.reference())


SHORTCUTS: dict[str, tuple[Callable[[Scenario], int], str]] = {
    "first_option": (lambda s: states_right(s, first_option), "the first listed option"),
    "lexical_overlap": (
        lambda s: states_right(s, lexical_overlap),
        "most words shared with the state",
    ),
    "best_constant": (best_constant, "the best constant decision (a bound)"),
    "majority_answers": (_majority_answers, "each question's commonest answer (a bound)"),
    "persistence": (_persistence, "the right answer to the state before (a bound)"),
    "position": (_position, "the best fixed position in the list (a bound)"),
    "longest_option": (_likeliest(lambda text, *_: len(text)), "the longest option text"),
    "shortest_option": (_likeliest(lambda text, *_: -len(text)), "the shortest option text"),
    "question_only": (
        _likeliest(_shared_words),
        "state removed: words shared with the instructions",
    ),
    "state_frequency": (_likeliest(_named_in_state), "the value the state names most often"),
}
"""Name → (states right, what it does)."""
