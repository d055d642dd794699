"""What the refund loop publishes beside the rules: files, tests, teams, the run that went before."""

from __future__ import annotations

from streamdecisionbench.families.debugging.events import failure
from streamdecisionbench.families.debugging.state import Material

__all__ = [
    "CONFIG",
    "CSV",
    "DAY_30",
    "FILES",
    "FORMAT",
    "HALF_CENT",
    "HALF_CENT_ERROR",
    "INES",
    "JONAS",
    "MATERIAL",
    "MIRA",
    "ORIGINAL",
    "OTHER_TESTS",
    "PINNED",
    "PINNED_NOW",
    "RAVI",
    "RECEIPT",
    "RECEIPT_TEST",
    "RESTOCK",
    "ROUND",
    "TEAMS",
    "TEUN",
    "TIER_TESTS",
    "VOUCHER",
    "WINDOW",
    "WINDOW_TESTS",
]

WINDOW = "src/returns/window.ts"
RESTOCK = "src/returns/restock.ts"
ROUND = "src/shared/decimal/round.ts"
RECEIPT = "src/returns/receipt.ts"
CONFIG = "config/vitest.config.ts"
FORMAT = "src/reports/export/decimal/format.ts"

PINNED = "quote/restock_fee_once"
DAY_30 = "quote/day_30_open"
HALF_CENT = "quote/half_cents_up"
VOUCHER = "quote/voucher_share"
WINDOW_TESTS = ("window/gift_60_days", "window/midnight")
TIER_TESTS = ("tiers/outlet", "tiers/empty_basket")
CSV = "export/csv_totals"
RECEIPT_TEST = "receipt/line_once"
OTHER_TESTS = ("receipt/address", "export/header_row")

ORIGINAL = "AssertionError: expected 1180 to be 1430"
PINNED_NOW = "AssertionError: expected 1680 to be 1430"
HALF_CENT_ERROR = "AssertionError: expected 0.12 to be 0.13"

MIRA = ("Mira", "@returns")
TEUN = ("Teun", "@returns")
INES = ("Ines", "@money-core")
RAVI = ("Ravi", "@money-core")
JONAS = ("Jonas", "@web-platform")

MATERIAL = Material(
    session={
        "project": "till-web (TypeScript)",
        "team": "@returns",
        "pinned_test": PINNED,
        "original_error": ORIGINAL,
        "frame_order": "innermost_first",
        "project_paths": ["src/*", "tests/*"],
        "scopes": [
            {"pattern": "src/*", "scope": "module"},
            {"pattern": "src/returns/*", "scope": "target"},
            {"pattern": "tests/quote.spec.ts", "scope": "target"},
            {"pattern": "*.config.ts", "scope": "full"},
            {"pattern": "package.json", "scope": "full"},
        ],
        "owners": [
            {"pattern": "*", "team": "@web-platform"},
            {"pattern": "tests/*", "team": "@returns"},
            {"pattern": "src/returns/*", "team": "@returns"},
            {"pattern": "src/ui/*", "team": "@design-kit"},
            {"pattern": "src/*/decimal/*", "team": "@money-core"},
            {"pattern": "src/shared/*.css", "team": "@design-kit"},
        ],
    },
    earlier_run={
        "id": "r1",
        "scope": "module",
        "started": -9,
        "ended": -5,
        "end": "complete",
        "output": [{"at": -6, "text": "Tests 2 failed | 6 passed | 2 skipped (10)"}],
        "passed": [DAY_30, VOUCHER, *WINDOW_TESTS, *TIER_TESTS],
        "failed": [
            failure(HALF_CENT, HALF_CENT_ERROR, f"{ROUND}:17", "tests/quote.spec.ts:64"),
            failure(PINNED, ORIGINAL, f"{RESTOCK}:42", "tests/quote.spec.ts:21"),
        ],
        "skipped": 2,
        "compiler": [],
    },
    cursor=f"{WINDOW}:51",
)

FILES = {
    WINDOW: "Where the days for a return are counted",
    RESTOCK: "Where the restocking fee is charged",
    "src/returns/quote.ts": "Where the refund quote is put together",
    RECEIPT: "Where the returned line of a receipt is printed",
    FORMAT: "Where decimal digits are formatted for reports",
}

TEAMS = {
    "@web-platform": "The team of the build and of the rest",
    "@money-core": "The team of amounts and rounding",
    "@design-kit": "The team of styles and buttons",
}
