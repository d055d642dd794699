"""How a family's reference is pinned down: table cases, and mutants that must not survive them.

A `Case` is one public state with the answers a careful reader must give. The mutation check rewrites
the reference's source, one small fault at a time, and demands that some case notices. A line whose
mutants are equivalent (no input can tell them apart) says so in a comment `# same: <reason>`.
"""

from __future__ import annotations

import ast
import copy
import json
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

Reference = Callable[[dict[str, Any]], dict[str, str]]


@dataclass(frozen=True)
class Case:
    """`expected` may name only some questions; `rules` are the ids of the rule sentences it pins."""

    name: str
    state: dict[str, Any]
    expected: Mapping[str, str]
    rules: tuple[str, ...] = ()

    @cached_property
    def json(self) -> str:
        """The state as it travels: whoever answers gets one of his own."""
        return json.dumps(self.state)


def holds(case: Case, reference: Reference) -> bool:
    try:
        got = reference(json.loads(case.json))
        return all(got[q] == value for q, value in case.expected.items())
    except Exception:
        return False


def survivors(module: types.ModuleType, entry: str, cases: Sequence[Case]) -> list[str]:
    """Mutants of `module` under which every case still holds: each is a rule nobody tests.

    A case that noticed the last mutant is asked first about the next: neighbouring faults show in
    the same states. Whoever survives was put to every case.
    """
    name, path = module.__name__, str(module.__file__)
    source = Path(path).read_text(encoding="utf-8")
    lines = source.splitlines()
    tree = ast.parse(source)
    whole = [_compiled(statement, path) for statement in tree.body]
    order = list(cases)
    alive = []
    for place, statement in enumerate(tree.body):
        for label, changed in _mutants(statement):
            line = int(label.split(":", 1)[0])
            if "# same:" in lines[line - 1]:
                continue
            mutant = types.ModuleType(name)
            mutant.__dict__.update(
                {"__name__": name, "__file__": path, "__package__": module.__package__}
            )
            code = [*whole[:place], _compiled(changed, path), *whole[place + 1 :]]
            try:
                for part in code:
                    exec(part, mutant.__dict__)  # noqa: S102
            except Exception:  # noqa: S112
                continue
            reference = getattr(mutant, entry)
            noticed = next((i for i, case in enumerate(order) if not holds(case, reference)), None)
            if noticed is None:
                alive.append(f"line {label}: {lines[line - 1].strip()}")
            else:
                order.insert(0, order.pop(noticed))
    return alive


def _compiled(statement: ast.stmt, path: str) -> types.CodeType:
    code: types.CodeType = compile(ast.Module([statement], []), path, "exec")
    return code


_FLIPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


_KINDS: dict[str, tuple[type[ast.AST], ...]] = {
    "compare": (ast.Compare,),
    "bool": (ast.BoolOp,),
    "not": (ast.UnaryOp,),
    "if": (ast.If, ast.IfExp),
    "number": (ast.Constant,),
}


def _mutants(statement: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    for index, original in enumerate(ast.walk(statement)):
        for kind, types_ in _KINDS.items():
            if not isinstance(original, types_):
                continue
            changed = copy.deepcopy(statement)
            node = next(n for i, n in enumerate(ast.walk(changed)) if i == index)
            if _mutate(node, kind):
                ast.fix_missing_locations(changed)
                yield f"{original.lineno}:{kind}", changed  # type: ignore[attr-defined]


def _mutate(node: ast.AST, kind: str) -> bool:
    if kind == "compare" and isinstance(node, ast.Compare):
        node.ops[0] = _FLIPS[type(node.ops[0])]()
        return True
    if kind == "bool" and isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return True
    if kind == "not" and isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node.op = ast.UAdd()
        node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
        return True
    if kind == "if" and isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return True
    if kind == "number" and isinstance(node, ast.Constant) and type(node.value) in (int, float):
        node.value = node.value + 1  # type: ignore[operator]
        return True
    return False
