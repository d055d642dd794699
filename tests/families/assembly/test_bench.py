"""The small bench itself."""

from __future__ import annotations

import pytest

from streamdecisionbench.families.assembly.reference import reference
from tests.families.assembly.bench import COVER, HOUSING, STATION_A, bench, card

pytestmark = pytest.mark.slow


def test_a_bench_fills_in_its_own_unit_and_keeps_another() -> None:
    state = bench(STATION_A, HOUSING, {**COVER, "unit": "GX-1"}, {"kind": "heartbeat"})
    assert [entry.get("unit") for entry in state["station_log"]] == ["GX-0417", "GX-1", None]
    assert reference(state) == card("advance", "intake", next_step="seal")
