"""The station a generated session happens at: a product with codes, limits and people of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from streamdecisionbench.worlds.assembly import phrases
from streamdecisionbench.worlds.generation.data_files import read_data
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Pool,
    Seat,
)

SAME_PRODUCT = 5
"""So many stations of a kind in a row make one product, so that together they show all its options."""

_LETTERS = "ABCDEFGHKLMNPRSTUVWXZ"

Named = tuple[str, str]
"""A value and its description."""


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """One target: where and how it is checked, and what is done when it fails or is damaged.

    `expects` is a fixed word, a code pattern (# a digit, @ a letter) or, as a count, "#"; a measure
    has a range for its limits instead: (lowest minimum, highest minimum, width, digits).
    """

    target: str
    about: str
    stage: str
    by: str
    if_failed: str
    expects: str = ""
    wrong: str = ""
    measure: str = ""
    limits: tuple[float, float, float, int] = (0, 0, 0, 0)
    sides: str = "both"
    """both, min or max: which limits are published."""
    if_damaged: str = ""


@dataclass(frozen=True, slots=True)
class Product:
    """Everything a station publishes and asks about one product, before codes and limits."""

    line: str
    unit: str
    stages: tuple[Named, ...]
    checks: tuple[CheckPlan, ...]
    methods: tuple[Named, ...]
    roles: tuple[tuple[str, str, tuple[str, ...]], ...]
    hold: Named
    release: Named
    recheck: tuple[str, ...]
    tools: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Device, field, values it takes: housekeeping."""
    closes: bool
    """Whether what a camera has to see lies under what is put on later."""
    defects: tuple[tuple[str, str], ...]
    """Subjects of quality tickets, each with the target it is about."""


_DATA = read_data(__package__, "products.toml")


def _products(kind: str) -> Pool[Product]:
    missing = ("complete_missing", _DATA["complete_missing"])
    found = _DATA.typed(kind, tuple[Product, ...])
    return Pool([replace(product, methods=(*product.methods, missing)) for product in found])


BENCHES, CELLS = _products("benches"), _products("cells")


@dataclass(frozen=True, slots=True)
class Check:
    """One target as the station publishes it, with values that pass and values that do not."""

    plan: CheckPlan
    public: dict[str, Any]

    @property
    def target(self) -> str:
        return self.plan.target

    @property
    def stage(self) -> str:
        return self.plan.stage

    def passing(self, draws: Draws) -> Any:
        """A value that passes, often one that equals a limit."""
        if "expects" in self.public:
            return self.public["expects"]
        low, high = self._range()
        step = 10.0 ** -self.plan.limits[3]
        edges = [self.public[end] for end in ("min", "max") if end in self.public]
        if draws.chance(0.5):
            return draws.choose(edges)
        return self._shown(low + step * draws.below(round((high - low) / step) + 1))

    def failing(self, draws: Draws) -> Any:
        """A value that fails, often by the smallest step there is."""
        expects = self.public.get("expects")
        if isinstance(expects, int):
            return expects + draws.choose([-1, 1])
        if expects is not None:
            return self.plan.wrong or _near_miss(expects, draws)
        step = 10.0 ** -self.plan.limits[3]
        by = step * (1 if draws.chance(0.6) else draws.between(2, 6))
        ends = [end for end in ("min", "max") if end in self.public]
        end = draws.choose(ends)
        return self._shown(self.public[end] + (by if end == "max" else -by))

    def of_another_unit(self, apart: int) -> Check:
        """The same target where every unit has a number of its own, so many units further on."""
        code = str(self.public["expects"])
        return replace(
            self,
            public=self.public | {"expects": f"{code[:-2]}{(int(code[-2:]) + apart) % 100:02d}"},
        )

    def _range(self) -> tuple[float, float]:
        span = max(self.plan.limits[2], 3 * 10.0 ** -self.plan.limits[3])
        low = self.public.get("min", self.public.get("max", 0) - span)
        return max(low, 0), self.public.get("max", low + span)

    def _shown(self, value: float) -> float:
        return _shown(value, self.plan.limits[3])


@dataclass(frozen=True, slots=True)
class Station:
    """Everything drawn for one session before its first tick."""

    product: Product
    public: dict[str, Any]
    checks: tuple[Check, ...]
    options: dict[str, dict[str, str]]
    unit: str
    number: int
    """The number in the unit's name; its neighbours on the line have the numbers before and after."""
    elsewhere: str
    operator: str
    lead: str
    specialists: dict[str, str]
    """Role → who has it."""


def draw_station(draws: Draws, seat: Seat, pool: Pool[Product], fail_limit: int) -> Station:
    """A new station. Stations of a kind make the same product, and after some time the next."""
    products = seat.suite.fork("products").shuffled(pool.of(seat.split))
    product = products[seat.number // 2 // SAME_PRODUCT % len(products)]
    home, elsewhere = phrases.STATIONS.draw(draws, seat.split, 2)
    people = phrases.PEOPLE.draw(draws, seat.split, 2 + len(product.roles))
    first = draws.between(1100, 9700)
    checks = tuple(Check(plan, _public(plan, draws)) for plan in product.checks)
    stages = dict(product.stages)
    public = {
        "id": home,
        "line": product.line,
        "unit": f"{product.unit}{first + 1}",
        "stages": list(stages),
        "checks": [check.public for check in checks],
        "recheck_after_rework": list(product.recheck),
        "min_confidence": draws.between(15, 18) / 20,
        "fail_limit": fail_limit,
        "specialists": [
            {"role": role, "covers": list(covers)} for role, _, covers in product.roles
        ],
        "destinations": {"hold": product.hold[0], "release": product.release[0]},
    }
    return Station(
        product=product,
        public=public,
        checks=checks,
        options=_options(product),
        unit=str(public["unit"]),
        number=first + 1,
        elsewhere=elsewhere,
        operator=people[0],
        lead=people[1],
        specialists={
            role: who for (role, _, _), who in zip(product.roles, people[2:], strict=True)
        },
    )


def _public(plan: CheckPlan, draws: Draws) -> dict[str, Any]:
    found: dict[str, Any] = {"target": plan.target, "stage": plan.stage, "by": plan.by}
    if plan.expects == "#":
        found["expects"] = draws.between(3, 9)
    elif plan.expects:
        found["expects"] = _code(plan.expects, draws)
    else:
        lowest, highest, width, digits = plan.limits
        step = 10.0**-digits
        drawn = _shown(lowest + step * draws.below(round((highest - lowest) / step) + 1), digits)
        if plan.sides == "max":
            found["max"] = drawn
        else:
            found["min"] = drawn
        if plan.sides == "both":
            found["max"] = _shown(drawn + width, digits)
    if plan.measure:
        found["measure"] = plan.measure
    found["if_failed"] = plan.if_failed
    if plan.if_damaged:
        found["if_damaged"] = plan.if_damaged
    return found


def _shown(value: float, digits: int) -> float:
    """As an instrument shows it: no point without digits after it."""
    return round(value, digits) if digits else round(value)


def _code(pattern: str, draws: Draws) -> str:
    text = ""
    for sign in pattern:
        if sign == "#":
            text += str(draws.between(1, 9))
        else:
            text += draws.choose(_LETTERS) if sign == "@" else sign
    return text


def _near_miss(code: str, draws: Draws) -> str:
    """Another revision letter, or two neighbouring digits the wrong way round."""
    swaps = [
        code[:i] + code[i + 1] + code[i] + code[i + 2 :]
        for i in range(len(code) - 1)
        if code[i].isdigit() and code[i + 1].isdigit() and code[i] != code[i + 1]
    ]
    if code[-1].isalpha():
        swaps.append(code[:-1] + draws.choose([c for c in _LETTERS if c != code[-1]]))
    if code[-1].isdigit():
        swaps.append(code[:-1] + str(int(code[-1]) % 9 + 1))
    return draws.choose(swaps)


def _options(product: Product) -> dict[str, dict[str, str]]:
    stages = dict(product.stages)
    return {
        "stage": stages,
        "next_step": {
            **{name: f"go on where {about}" for name, about in list(stages.items())[1:]},
            "none": "the card sends nobody to another stage",
        },
        "target": {
            **{plan.target: plan.about for plan in product.checks},
            "none": "the card names no target",
        },
        "method": {**dict(product.methods), "none": "the card shows no correction"},
        "destination": {
            **{role: about for role, about, _ in product.roles},
            product.hold[0]: product.hold[1],
            product.release[0]: product.release[1],
            "none": "the card points nowhere",
        },
    }
