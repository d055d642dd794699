"""What the refund loop publishes beside the rules: files, tests, teams, the run that went before."""

from streamdecisionbench.families.debugging.events import failure
from streamdecisionbench.families.debugging.state import Material

WINDOW = "src/returns/window.ts"
RESTOCK = "src/returns/restock.ts"
QUOTE = "src/returns/quote.ts"
RECEIPT = "src/returns/receipt.ts"
LABELS = "src/returns/labels.ts"
ROUND = "src/shared/decimal/round.ts"
FORMAT = "src/reports/export/decimal/format.ts"
PRICE = "src/ui/price.ts"
QUOTE_SPEC = "tests/quote.spec.ts"
WINDOW_SPEC = "tests/window.spec.ts"

PINNED = "quote/fee_once"
DAY_30 = "quote/day_30"
HALF_CENT = "quote/half_cent"
VOUCHER = "quote/voucher"
MIDNIGHT = "window/midnight"
GIFT = "window/gift"
OUTLET = "tiers/outlet"
LINE = "receipt/line"
CSV = "export/csv"

ORIGINAL = "expected 1180 to be 1430"

MIRA = ("Mira", "@counter")
TEUN = ("Teun", "@counter")
INES = ("Ines", "@money-core")
RAVI = ("Ravi", "@money-core")
JONAS = ("Jonas", "@web-platform")
PIA = ("Pia", "@design-kit")

MATERIAL = Material(
    session={
        "project": "till-web (TypeScript)",
        "team": "@counter",
        "pinned_test": PINNED,
        "original_error": ORIGINAL,
        "frame_order": "innermost_first",
        "project_paths": ["src/*", "tests/*"],
        "scopes": [
            {"pattern": "src/*", "scope": "module"},
            {"pattern": "src/returns/*", "scope": "target"},
            {"pattern": QUOTE_SPEC, "scope": "target"},
            {"pattern": "*.config.ts", "scope": "full"},
        ],
        "owners": [
            {"pattern": "*", "team": "@web-platform"},
            {"pattern": "tests/*", "team": "@counter"},
            {"pattern": "src/ui/*", "team": "@design-kit"},
            {"pattern": "src/returns/*", "team": "@counter"},
            {"pattern": "src/*/label*", "team": "@design-kit"},
            {"pattern": "*/decimal/*", "team": "@money-core"},
            {"pattern": "*/ui/*.ts", "team": "@web-platform"},
        ],
    },
    earlier_run={
        "id": "r1",
        "scope": "module",
        "started": -9,
        "ended": -5,
        "end": "complete",
        "output": [{"at": -6, "text": "Tests 1 failed | 2 passed | 6 skipped (9)"}],
        "passed": [MIDNIGHT, GIFT],
        "failed": [failure(OUTLET, "expected 3 to be 2", f"{WINDOW}:30", "tests/tiers.spec.ts:9")],
        "skipped": 6,
        "compiler": [],
    },
    cursor=f"{WINDOW}:30",
)

FILES = {
    WINDOW: "Where the days for a return are counted",
    RESTOCK: "Where the restocking fee is charged",
    QUOTE: "Where the refund quote is put together",
    RECEIPT: "Where the returned line of a receipt is printed",
    FORMAT: "Where decimal digits are formatted for reports",
}

TEAMS = {
    "@web-platform": "The team of the build",
    "@money-core": "The team of amounts",
    "@design-kit": "The team of styles",
}
