"""What the settlement session publishes beside the rules: files, tests, teams, the earlier run."""

from __future__ import annotations

from streamdecisionbench.families.debugging.events import failure
from streamdecisionbench.families.debugging.state import Material

__all__ = [
    "BOJAN",
    "CUTOFF",
    "CUTOFF_TESTS",
    "FALLBACK",
    "FARAH",
    "FILES",
    "HOLD",
    "HOLIDAYS",
    "LADDER",
    "LADDER_TEST",
    "LEILA",
    "MATERIAL",
    "MIGRATION",
    "ORIGINAL",
    "OTHER_TESTS",
    "OTTO",
    "PINNED",
    "REPLAY",
    "SANNE",
    "SPOT",
    "STORE",
    "TEAMS",
    "TEST_CUTOFF",
]

CUTOFF = "clearing/netting/cutoff.py"
LADDER = "clearing/netting/ladder.py"
HOLIDAYS = "clearing/dates/holidays.py"
SPOT = "clearing/adapters/feeds/rates/spot.py"
STORE = "clearing/adapters/store/session.py"
MIGRATION = "clearing/adapters/store/migrations/0042_hold.py"
TEST_CUTOFF = "tests/integration/netting/test_cutoff.py"

PINNED = "test_cutoff::rolls_over_long_weekend"
CUTOFF_TESTS = ("test_cutoff::same_day_before_noon", "test_cutoff::late_file_waits")
LADDER_TEST = "test_ladder::nets_to_zero"
REPLAY = "test_store::replay_books_once"
HOLD = "test_store::hold_survives_restart"
FALLBACK = "test_rates::falls_back_to_fixing"
OTHER_TESTS = ("test_report::daily_totals", "test_cli::dry_run")

ORIGINAL = "AssertionError: assert '2031-05-02' == '2031-05-05'"

SANNE = ("Sanne", "@clearing")
BOJAN = ("Bojan", "@clearing")
LEILA = ("Leila", "@rates-data")
OTTO = ("Otto", "@store-core")
FARAH = ("Farah", "@store-core")

MATERIAL = Material(
    session={
        "project": "nightclear (Python)",
        "team": "@clearing",
        "pinned_test": PINNED,
        "original_error": ORIGINAL,
        "frame_order": "innermost_last",
        "project_paths": ["clearing/*", "tests/*"],
        "scopes": [
            {"pattern": "clearing/*", "scope": "module"},
            {"pattern": "clearing/netting/*", "scope": "target"},
            {"pattern": "tests/integration/*", "scope": "module"},
            {"pattern": "tests/*/test_cutoff.py", "scope": "target"},
            {"pattern": "*/migrations/*", "scope": "full"},
            {"pattern": "*.toml", "scope": "full"},
        ],
        "owners": [
            {"pattern": "*", "team": "@clearing"},
            {"pattern": "clearing/adapters/*", "team": "@store-core"},
            {"pattern": "clearing/*/rates/*", "team": "@rates-data"},
            {"pattern": "clearing/adapters/*.yaml", "team": "@ops-tooling"},
            {"pattern": "deploy/*", "team": "@ops-tooling"},
        ],
    },
    earlier_run={
        "id": "r1",
        "scope": "target",
        "started": -8,
        "ended": -3,
        "end": "complete",
        "output": [{"at": -4, "text": "1 failed, 2 passed, 6 skipped"}],
        "passed": list(CUTOFF_TESTS),
        "failed": [
            failure(
                PINNED,
                ORIGINAL,
                f"{TEST_CUTOFF}:48",
                f"{LADDER}:112",
                f"{CUTOFF}:77",
                "site-packages/dateutil/rrule.py:861",
            )
        ],
        "skipped": 6,
        "compiler": [],
    },
    cursor=f"{CUTOFF}:77",
)

FILES = {
    CUTOFF: "Where a late file moves to the next settlement day",
    LADDER: "Where positions are netted, the caller in every traceback",
    HOLIDAYS: "Where bank holidays are listed",
    SPOT: "Where spot prices are read from the rates feeds",
    STORE: "Where the adapters open a session to the store",
}

TEAMS = {
    "@rates-data": "The team of prices and their sources",
    "@store-core": "The team of the database layer",
    "@ops-tooling": "The team of deploy and of yaml in the adapters",
}
