"""A suite cut short for a smoke run: the first steps of every scenario.

It is another suite with a digest of its own, so that nothing recorded on it is ever compared with a
recording of the whole.
"""

from __future__ import annotations

from msgspec.structs import replace

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import make_suite

__all__ = ["first_steps"]


def first_steps(suite: Suite, limit: int) -> Suite:
    """At most `limit` steps of every scenario.

    >>> from streamdecisionbench.examples import example_suite
    >>> [s.n for s in first_steps(example_suite(), 2)]
    [2]
    """
    if limit < 1:
        raise InputError(f"--limit is {limit}", fix="give a number of steps above 0")
    short = [replace(s, steps=s.steps[:limit]) for s in suite]
    return make_suite(short, name=f"{suite.name}, first {limit} steps")
