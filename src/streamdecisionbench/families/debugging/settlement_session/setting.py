"""What the settlement session publishes beside the rules: files, tests, teams, the earlier run."""

from streamdecisionbench.families.debugging.events import failure
from streamdecisionbench.families.debugging.state import Material

CUTOFF = "clearing/netting/cutoff.py"
LADDER = "clearing/netting/ladder.py"
FX = "clearing/netting/fx.py"
HOLIDAYS = "clearing/dates/holidays.py"
SPOT = "clearing/adapters/feeds/rates/spot.py"
POLL = "clearing/adapters/feeds/rates/poll.py"
SESSION = "clearing/adapters/store/session.py"
HOLDS = "clearing/adapters/store/holds.py"
TEST_CUTOFF = "tests/netting/test_cutoff.py"

PINNED = "test_cutoff::weekend"
NOON = "test_cutoff::noon"
LATE = "test_cutoff::late"
NETS = "test_ladder::nets"
REPLAY = "test_store::replay"
FIXING = "test_rates::fixing"
EASTER = "test_dates::easter"
DAILY = "test_report::daily"

ORIGINAL = "assert '05-02' == '05-05'"

BOJAN = ("Bojan", "@clearing")
LEILA = ("Leila", "@rates-data")
OTTO = ("Otto", "@store-core")
FARAH = ("Farah", "@store-core")
NOOR = ("Noor", "@ops-tooling")

MATERIAL = Material(
    session={
        "project": "nightclear (Python)",
        "team": "@clearing",
        "pinned_test": PINNED,
        "original_error": ORIGINAL,
        "frame_order": "innermost_last",
        "project_paths": ["clearing/*", "tests/*"],
        "scopes": [
            {"pattern": "*.py", "scope": "full"},
            {"pattern": "clearing/*", "scope": "module"},
            {"pattern": "clearing/netting/*", "scope": "target"},
            {"pattern": "tests/*/test_cutoff.py", "scope": "target"},
            {"pattern": "*.toml", "scope": "full"},
        ],
        "owners": [
            {"pattern": "*", "team": "@clearing"},
            {"pattern": "clearing/adapters/*", "team": "@store-core"},
            {"pattern": "clearing/adapters/feeds/rates/*", "team": "@rates-data"},
            {"pattern": "*/rates/*", "team": "@ops-tooling"},
            {"pattern": "*/netting/fx*", "team": "@rates-data"},
            {"pattern": "*/store/session.py", "team": "@clearing"},
        ],
    },
    earlier_run={
        "id": "r1",
        "scope": "module",
        "started": -9,
        "ended": -4,
        "end": "complete",
        "output": [{"at": -4, "text": "1 failed, 6 passed, 2 skipped"}],
        "passed": [NOON, LATE, NETS, REPLAY, FIXING, EASTER],
        "failed": [
            failure(
                PINNED,
                ORIGINAL,
                f"{TEST_CUTOFF}:48",
                f"{LADDER}:112",
                f"{CUTOFF}:77",
                "site-packages/rrule.py:861",
            )
        ],
        "skipped": 2,
        "compiler": [],
    },
    cursor=f"{TEST_CUTOFF}:48",
)

FILES = {
    CUTOFF: "Where a late file moves to the next settlement day",
    LADDER: "Where positions are netted",
    HOLIDAYS: "Where bank holidays are listed",
    SPOT: "Where spot prices are read",
    SESSION: "Where connections to the database are opened",
}

TEAMS = {
    "@rates-data": "The team of prices",
    "@store-core": "The team of the database layer",
    "@ops-tooling": "The team of deployments",
}
