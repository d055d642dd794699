"""Many misreadings of one reference: what they leave as it is, is worked out once a state.

A misreading touches the definitions its swaps change, and those that use them. All others answer as
in the reference itself, so their results on one state serve every misreading of it.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from streamdecisionbench.suite.misreading import Misreading, Reference, misread, swapped
from streamdecisionbench.suite.scenario import State

_AS_IT_IS = Misreading("nothing", "reads everything", ())
_PLAIN = (str, int, float, bool, types.NoneType)


def misread_together(
    module: types.ModuleType, misreadings: Sequence[Misreading]
) -> list[Reference]:
    """One reference a misreading, each answering as `misread` of it would.

    They are quick when asked about one state after another: a state, which nobody may change
    meanwhile, is remembered until one of them is asked about another.
    """
    desk = _Desk(module)
    return [desk.reading(misreading) for misreading in misreadings]


@dataclass(frozen=True, slots=True)
class _Part:
    """What the module defines under one name: a statement at its top."""

    text: str
    node: ast.stmt
    uses: frozenset[str]


class _Desk:
    """What is known about the state on the desk, and how the module hangs together."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module
        self.parts = _parts(swapped(module, _AS_IT_IS))
        self.state: State | None = None
        self.known: dict[Any, tuple[Any, Any]] = {}
        self.remembered = {
            name: self.remember(name, getattr(module, name))
            for name, part in self.parts.items()
            if isinstance(part.node, ast.FunctionDef)
        }

    def reading(self, misreading: Misreading) -> Reference:
        swapped(self.module, misreading)  # says so where it does not fit
        parts = dict(self.parts)
        changed = set()
        for old, new in misreading.swaps:
            homes = [name for name, part in parts.items() if old in part.text]
            if len(homes) != 1 or isinstance(parts[homes[0]].node, ast.ClassDef):
                return misread(self.module, misreading)  # objects of its own kind: nothing to share
            changed.add(homes[0])
            parts.update(_parts(parts[homes[0]].text.replace(old, new)))
        touched = _users(parts, changed)
        body = [part.node for name, part in parts.items() if name in touched]
        code = compile(ast.Module(body, []), f"{self.module.__name__}, {misreading.what}", "exec")
        names: dict[str, Any] = {**vars(self.module), **self.remembered}
        exec(code, names)  # noqa: S102 (the package's own source)
        reference: Reference = names["reference"]

        def answer(state: State) -> dict[str, str]:
            if state is not self.state:
                self.known.clear()
                self.state = state
            return reference(state)

        return answer

    def remember(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, asked once for the same arguments; those of the state go by identity."""
        known = self.known

        def recall(*args: Any) -> Any:
            key: list[Any] = [name]
            for arg in args:
                kind = type(arg)
                if kind is dict or kind is list:
                    key += (kind, id(arg))
                elif kind in _PLAIN:
                    key += (kind, arg)
                else:
                    return function(*args)
            place = tuple(key)
            found = known.get(place)
            if found is None:  # kept with its arguments, so that no identity is used twice
                found = known[place] = (function(*args), args)
            return found[0]

        return recall


def _parts(source: str) -> dict[str, _Part]:
    """Every name the source defines at its top; a text after a value is that value's docstring."""
    lines = source.splitlines(keepends=True)
    found = {}
    for node in ast.parse(source).body:
        name = ""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        if name:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            uses = frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
            found[name] = _Part("".join(lines[first - 1 : node.end_lineno]), node, uses)
    return found


def _users(parts: dict[str, _Part], changed: set[str]) -> set[str]:
    """The changed names, and all that use them, directly or not."""
    touched: set[str] = set()
    fresh = set(changed)
    while fresh:
        touched |= fresh
        fresh = {name for name, part in parts.items() if part.uses & fresh} - touched
    return touched
