"""What a group's wrong time came to, in the keys that `sdb analyze` and `sdb score` use."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from streamdecisionbench.logs.log_sums import Settings
from streamdecisionbench.scoring.costs.charge import CostRates
from streamdecisionbench.scoring.costs.cost_sums import GroupCosts

__all__ = ["costs_json", "costs_used"]


def costs_json(found: GroupCosts, *, several: bool) -> dict[str, Any]:
    """Keys of a group: `spells`, `changes`, and with a cost file `actions` and `cost_of_error`.

    With `several` streams, the cost's interval.
    """
    spells, changes = found.spells, found.changes
    edits = changes.decision_changes
    out: dict[str, Any] = {
        "spells": _without_none({**asdict(spells), "short_share": spells.short_share}),
        "changes": _without_none(
            {
                **asdict(changes),
                "never_right_share": changes.never_right_share,
                "relative_error": found.delay_error,
                "decision_changes": _without_none(
                    {
                        **asdict(edits),
                        "edit_overhead": edits.edit_overhead,
                        "flicker": edits.flicker,
                    }
                ),
            }
        ),
    }
    if found.cost is not None:
        out["actions"] = {name: _without_none(asdict(act)) for name, act in found.acts.items()}
        out["cost_of_error"] = {
            **_rates(found.cost),
            "interval_95": list(found.interval_95) if found.interval_95 and several else None,
            **({"integrated": _rates(found.mean_cost)} if found.mean_cost else {}),
        }
    return out


def costs_used(settings: Settings) -> dict[str, Any]:
    """Keys of the document: θ, and which cost file."""
    found: dict[str, Any] = {}
    if settings.theta is not None:
        found["theta"] = settings.theta
    if settings.costs is not None:
        costs = settings.costs
        found["costs"] = {"name": costs.name, "dated": costs.dated, "sha256": costs.digest}
    return found


def _rates(rates: CostRates) -> dict[str, float]:
    return {"per_second": rates.total, **asdict(rates)}


def _without_none(found: dict[str, Any]) -> dict[str, Any]:
    """Without what was not integrated; a quantile that is never reached stays null."""
    return {name: v for name, v in found.items() if name != "integrated" or v is not None}
