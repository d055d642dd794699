"""Cost files: the shipped one fits the suite, a wrong one is refused by its key and with a fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.sdb_v1 import build
from streamdecisionbench.policies.cost_file import default_costs
from streamdecisionbench.policies.cost_rules import (
    EQUAL,
    Section,
)
from streamdecisionbench.scoring.error_costs import read_costs
from streamdecisionbench.suite.scenario import FAMILIES, Suite
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

pytestmark = pytest.mark.slow

SHIPPED = builtin_suite_path().parent / "costs.toml"
HEAD = 'schema = "sdb-costs/1"\n'
SUPPORT = "[family.support_call_assist]\n"
PAIR = "[[family.support_call_assist.pairs]]\n"
ACT = "[[family.support_call_assist.acts]]\n"


@pytest.fixture(scope="module")
def suite() -> Suite:
    return read_suite(builtin_suite_path())


def test_the_shipped_costs_name_only_what_the_suite_has(suite: Suite) -> None:
    costs = read_costs(SHIPPED, suite)
    assert set(costs.families) == set(FAMILIES)
    assert costs.dated
    assert costs.families == default_costs().families
    for section in costs.families.values():
        assert section.acts
        assert section.age is not None


def test_card_digits_on_tape_are_worse_than_a_late_hold_reminder() -> None:
    support = default_costs().section("support_call_assist")
    digits = support.cost(
        {"route": "payment", "recorder": "pause"}, {"route": "payment", "recorder": "record"}
    )
    reminder = support.cost(
        {"route": "hold", "recorder": "record", "hold_action": "return_customer"},
        {"route": "hold", "recorder": "record", "hold_action": "wait"},
    )
    assert digits >= 20 * reminder > 0


def test_what_follows_from_a_wrong_route_is_not_counted_again() -> None:
    rules = Section(fields={"route": 1.0, "hold_action": 9.0})
    assert rules.cost({"route": "hold", "hold_action": "wait"}, {"route": "wrap"}) == 1.0
    assert rules.cost({"route": "hold"}, None) == rules.no_decision
    assert EQUAL.section("anything").cost({"a": "x"}, {"b": "y"}) == 1.0


WRONG = {
    "unknown top key": (HEAD + "titel = 'x'\n", "titel", "write title"),
    "unknown section key": (HEAD + SUPPORT + "wrnog = 2\n", "family.support_call_assist.wrnog", "write wrong"),
    "unknown family": (HEAD + "[family.support_cal]\nwrong = 1\n", "'support_cal'", "support_call_assist"),
    "unknown field": (
        HEAD + SUPPORT + "[family.support_call_assist.fields]\nrecoder = 2.0\n", "family.support_call_assist.fields: no question", "write recorder",
    ),
    "negative cost": (
        HEAD + "\n# money\n" + SUPPORT + "[family.support_call_assist.fields]\nrecorder = -2.0\n",
        "family.support_call_assist.fields.recorder", "write recorder = 0",
    ),
    "endless cost": (HEAD + SUPPORT + "no_decision = inf\n", "family.support_call_assist.no_decision", "no_decision = 0"),
    "not a number": (HEAD + SUPPORT + "wrong = 'much'\n", "family.support_call_assist.wrong", "wrong = 1.0"),
    "a value no question has": (
        HEAD + PAIR + 'field = "recorder"\nreference = "pause"\ndecision = "recrod"\ncost = 2\n',
        "family.support_call_assist.pairs #1: recorder never", "write record",
    ),
    "second of two pairs": (
        HEAD + PAIR + 'field = "recorder"\nreference = "pause"\ncost = 2\n'
        + PAIR + 'field = "recorder"\ndecision = "off"\ncost = 2\n', "family.support_call_assist.pairs #2: recorder never", "use one of",
    ),
    "a pair without values": (HEAD + PAIR + 'field = "recorder"\ncost = 2\n', "family.support_call_assist.pairs #1", "reference"),
    "a right pair": (
        HEAD + PAIR + 'field = "recorder"\nreference = "stop"\ndecision = "stop"\ncost = 2\n',
        "family.support_call_assist.pairs #1: recorder", "two different values",
    ),
    "a pair twice": (
        HEAD + 2 * (PAIR + 'field = "recorder"\nreference = "stop"\ncost = 2\n'), "family.support_call_assist.pairs #2", "keep one",
    ),
    "a pair without a cost": (HEAD + PAIR + 'field = "recorder"\nreference = "stop"\n', "family.support_call_assist.pairs #1.cost is missing", "cost"),
    "an unknown age": (
        HEAD + "[family.support_call_assist.age]\nkind = 'cubic'\n", "family.support_call_assist.age.kind", '"linear", "threshold", "capped"',
    ),
    "an age without its rate": (
        HEAD + "[family.support_call_assist.age]\nkind = 'linear'\n", "family.support_call_assist.age.per_s is missing", "per_s",
    ),
    "an act without when": (HEAD + ACT + 'name = "x"\n', "family.support_call_assist.acts #1", "when ="),
    "an act of no value": (
        HEAD + ACT + 'name = "x"\nwhen = { payment_stage = "sumbit" }\n', "family.support_call_assist.acts #1.when: payment_stage", "write submit",
    ),
    "an act by unknown fields": (
        HEAD + ACT + 'name = "x"\nwhen = { payment_stage = "submit" }\nfields = ["card"]\n', "family.support_call_assist.acts #1: no question", "use",
    ),
    "an act listed twice": (
        HEAD + 2 * (ACT + 'name = "x"\nwhen = { payment_stage = "submit" }\nmissed = 5\n'),
        "family.support_call_assist.acts #2 says the same act again", "keep one",
    ),
    "an act under two names": (
        HEAD + ACT + 'name = "x"\nwhen = { payment_stage = "submit" }\nmissed = 5\n'
        + ACT + 'name = "y"\nwhen = { payment_stage = "submit" }\nlate = 5\n',
        "family.support_call_assist.acts #2 says the same act again", "keep one",
    ),
    "two acts of one name": (
        HEAD + ACT + 'name = "x"\nwhen = { payment_stage = "submit" }\n'
        + ACT + 'name = "x"\nwhen = { payment_stage = "result" }\n',
        "family.support_call_assist.acts #2.name = 'x' stands twice", "name of its own",
    ),
    "a cost beyond all measure": (HEAD + SUPPORT + "wrong = 1e26\n", "family.support_call_assist.wrong", "1e+12"),
    "a cost of 400 digits": (HEAD + SUPPORT + f"wrong = {10**400}\n", "family.support_call_assist.wrong", "wrong = 1.0"),
    "a cost of 5,000 digits": (HEAD + SUPPORT + f"wrong = 1{'0' * 5000}\n", "is not TOML", "docs/reference/costs.md"),
    "no TOML": (HEAD + "wrong =\n", "line 2", "docs/reference/costs.md"),
    "another schema": ('schema = "sdb-costs/9"\n', "schema", 'schema = "sdb-costs/1"'),
    "a table that is none": (HEAD + "family = 3\n", "family is not a table", "[family]"),
    "pairs that are none": (HEAD + SUPPORT + "pairs = 3\n", "family.support_call_assist.pairs", "[[family.support_call_assist.pairs]]"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_refused_by_key_and_with_a_fix(
    case: str, tmp_path: Path, suite: Suite
) -> None:
    text, place, fix = WRONG[case]
    path = tmp_path / "costs.toml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_costs(path, suite)
    assert str(path) in str(refused.value)
    assert place in refused.value.what
    assert fix in (refused.value.fix or "")


def test_a_file_may_hold_families_of_another_suite(tmp_path: Path, suite: Suite) -> None:
    """Nothing holds them to anything here; they are used where their family is."""
    one = build()
    only = Suite(one.manifest, {"support_a": one.scenarios["support_a"]})
    assert read_costs(SHIPPED, suite).families == read_costs(SHIPPED).families
    path = tmp_path / "costs.toml"
    path.write_text(HEAD + "[family.live_debugging.fields]\nanything = 1.0\n")
    assert read_costs(path, only).families
