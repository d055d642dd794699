"""Which features are installed, and what they offer to the rest of the package.

A feature is a package that can be removed: no other package imports it. It offers commands in a module
`commands`, and functions in a module `hooks`. Both are found here by name, and a feature that is not
installed is skipped.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from streamdecisionbench.errors import InputError

FEATURES = ("report", "labels", "meter", "gate", "sharing", "watch", "audit", "worlds")
HOOKS = {
    "analyses": "analyses for `sdb analyze` and for reports, by name",
    "generate_suite": "a suite of generated scenarios, from its parameters",
    "recordings_page": "a page that shows scored recordings of one suite",
    "regenerate_suite": "differences between a generated suite and what its manifest generates",
    "watching": "a page that shows a recording while it is made",
}
"""Every function that a feature may offer in its module `hooks`, and its result."""
_PACKAGE = __name__.rpartition(".")[0]


def load(module: str) -> ModuleType | None:
    """A module of a feature, for example `labels.commands`; None if the feature or the module is missing."""
    name = f"{_PACKAGE}.{module}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        return None


def hooks(name: str) -> Iterator[Callable[..., Any]]:
    """The functions of this name that installed features offer."""
    if name not in HOOKS:
        raise KeyError(name)
    for feature in FEATURES:
        found = getattr(load(f"{feature}.hooks"), name, None)
        if found is not None:
            yield found


def hook(name: str) -> Callable[..., Any] | None:
    """The function of this name, or None if the feature that offers it is not installed."""
    return next(hooks(name), None)


def require_hook(name: str, what: str) -> Callable[..., Any]:
    """The function of this name; an error that names what needs it if its feature is not installed."""
    found = hook(name)
    if found is None:
        raise InputError(
            f"{what} needs a part of sdb that is not installed: {HOOKS[name]}",
            fix="install the complete package: pip install --force-reinstall streamdecisionbench",
        )
    return found
