"""Cost files: the shipped one fits the suite, a wrong one is refused by its line and with a fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.sdb_v1 import build
from streamdecisionbench.rules.cost_file import default_costs, toml_lines
from streamdecisionbench.rules.costs import EQUAL, Section
from streamdecisionbench.scoring.cost import read_costs
from streamdecisionbench.suite.scenario import FAMILIES, Suite
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

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
    "unknown top key": (HEAD + "titel = 'x'\n", 2, "write title"),
    "unknown section key": (HEAD + SUPPORT + "wrnog = 2\n", 3, "write wrong"),
    "unknown family": (HEAD + "[family.support_cal]\nwrong = 1\n", 2, "support_call_assist"),
    "unknown field": (
        HEAD + SUPPORT + "[family.support_call_assist.fields]\nrecoder = 2.0\n", 4, "write recorder",
    ),
    "negative cost": (
        HEAD + "\n# money\n" + SUPPORT + "[family.support_call_assist.fields]\nrecorder = -2.0\n",
        6, "write recorder = 0",
    ),
    "endless cost": (HEAD + SUPPORT + "no_decision = inf\n", 3, "no_decision = 0"),
    "not a number": (HEAD + SUPPORT + "wrong = 'much'\n", 3, "wrong = 1.0"),
    "a value no question has": (
        HEAD + PAIR + 'field = "recorder"\nreference = "pause"\ndecision = "recrod"\ncost = 2\n',
        5, "write record",
    ),
    "second of two pairs": (
        HEAD + PAIR + 'field = "recorder"\nreference = "pause"\ncost = 2\n'
        + PAIR + 'field = "recorder"\ndecision = "off"\ncost = 2\n', 8, "use one of",
    ),
    "a pair without values": (HEAD + PAIR + 'field = "recorder"\ncost = 2\n', 2, "reference"),
    "a right pair": (
        HEAD + PAIR + 'field = "recorder"\nreference = "stop"\ndecision = "stop"\ncost = 2\n',
        2, "two different values",
    ),
    "a pair twice": (
        HEAD + 2 * (PAIR + 'field = "recorder"\nreference = "stop"\ncost = 2\n'), 6, "keep one",
    ),
    "a pair without a cost": (HEAD + PAIR + 'field = "recorder"\nreference = "stop"\n', 2, "cost"),
    "an unknown age": (
        HEAD + "[family.support_call_assist.age]\nkind = 'cubic'\n", 3, "linear, threshold, capped",
    ),
    "an age without its rate": (
        HEAD + "[family.support_call_assist.age]\nkind = 'linear'\n", 2, "per_s",
    ),
    "an act without when": (HEAD + ACT + 'name = "x"\n', 2, "when ="),
    "an act of no value": (
        HEAD + ACT + 'name = "x"\nwhen = { payment_stage = "sumbit" }\n', 4, "write submit",
    ),
    "an act by unknown fields": (
        HEAD + ACT + 'name = "x"\nwhen = { payment_stage = "submit" }\nfields = ["card"]\n', 5, "use",
    ),
    "no TOML": (HEAD + "wrong =\n", None, "docs/costs.md"),
    "another schema": ('schema = "sdb-costs/9"\n', 1, 'schema = "sdb-costs/1"'),
    "a table that is none": (HEAD + "family = 3\n", 2, "[family]"),
    "pairs that are none": (HEAD + SUPPORT + "pairs = 3\n", 3, "[[family.support_call_assist.pairs]]"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_refused_by_line_and_with_a_fix(
    case: str, tmp_path: Path, suite: Suite
) -> None:
    text, line, fix = WRONG[case]
    path = tmp_path / "costs.toml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_costs(path, suite)
    assert str(path) in str(refused.value)
    if line is not None:
        assert f"line {line}:" in str(refused.value)
    assert fix in (refused.value.fix or "")


def test_a_file_may_hold_families_of_another_suite(tmp_path: Path, suite: Suite) -> None:
    """Nothing holds them to anything here; they are used where their family is."""
    one = build()
    only = Suite(one.manifest, {"support_a": one.scenarios["support_a"]})
    assert read_costs(SHIPPED, suite).families == read_costs(SHIPPED).families
    path = tmp_path / "costs.toml"
    path.write_text(HEAD + "[family.live_debugging.fields]\nanything = 1.0\n")
    assert read_costs(path, only).families


def test_lines_are_found_around_strings_and_comments() -> None:
    found = toml_lines(
        'a = """\nb = 1\n[c]\n"""\n# d = 2\n[e."f g"]\nh.i = 3 # j = 4\n[[k]]\n[k.l]\nm = 5\n'
    )
    assert found == {
        ("a",): 1,
        ("e", "f g"): 6,
        ("e", "f g", "h"): 7,
        ("e", "f g", "h", "i"): 7,
        ("k", 0): 8,
        ("k", 0, "l"): 9,
        ("k", 0, "l", "m"): 10,
    }
