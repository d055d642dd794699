"""Names that debugging sessions are drawn from; every second one belongs to each split."""

from __future__ import annotations

from dataclasses import dataclass

from streamdecisionbench.suite.generation.draws import Pool


@dataclass(frozen=True, slots=True)
class Tools:
    """How one language lays out its files and words its reports."""

    language: str
    ending: str
    source: str
    tests: str
    test_id: str
    settings: tuple[tuple[str, str], ...]
    """Pattern and path of two files that concern everything."""
    vendor: str
    errors: tuple[str, ...]
    compiler: tuple[str, ...]
    begins: tuple[str, ...]
    """What a run prints first."""


LOOP_TOOLS = (
    Tools(
        language="TypeScript",
        ending="ts",
        source="src",
        tests="spec/{area}.spec.ts",
        test_id="{area}/{case}",
        settings=(("*.config.ts", "setup/runner.config.ts"), ("package.json", "package.json")),
        vendor="node_modules/{library}/index.js",
        errors=(
            "AssertionError: expected {a} to be {b}",
            "TypeError: {word} is not a function",
            "RangeError: {word} out of range: {a}",
        ),
        compiler=("TS2322: wrong type for '{word}'", "TS2304: cannot find name '{word}'"),
        begins=("starting workers", "transforming", "environment ready"),
    ),
    Tools(
        language="Rust",
        ending="rs",
        source="crates",
        tests="checks/{area}.rs",
        test_id="{area}::{case}",
        settings=(("*.profile", "setup/ci.profile"), ("*/build.rs", "crates/{area}/build.rs")),
        vendor="registry/{library}/src/lib.rs",
        errors=(
            "assertion failed: left {a}, right {b}",
            "called unwrap on None: {word}",
            "index {a} out of bounds: {b}",
        ),
        compiler=("E0308: mismatched types in `{word}`", "E0425: no `{word}` in this scope"),
        begins=("compiling", "linking", "running unit tests"),
    ),
)

SESSION_TOOLS = (
    Tools(
        language="Python",
        ending="py",
        source="app",
        tests="checks/{area}/test_{area}.py",
        test_id="test_{area}::{case}",
        settings=(("*.toml", "tooling.toml"), ("*/migrations/*", "app/{area}/migrations/0007.py")),
        vendor="site-packages/{library}/core.py",
        errors=(
            "AssertionError: assert {a} == {b}",
            "KeyError: '{word}'",
            "ValueError: {word} is {a}, not {b}",
        ),
        compiler=("SyntaxError: invalid syntax near '{word}'", "ImportError: no name '{word}'"),
        begins=("collecting", "waiting for the test database", "fixtures up"),
    ),
    Tools(
        language="PHP",
        ending="php",
        source="lib",
        tests="suite/{area}Test.php",
        test_id="{area}Test.{case}",
        settings=(("*.xml", "runner.xml"), ("*/schema/*", "lib/{area}/schema/v7.php")),
        vendor="vendor/{library}/Runner.php",
        errors=(
            "Failed asserting that {a} matches {b}",
            "Undefined array key '{word}'",
            "Call to a member function on null: {word}",
        ),
        compiler=("Parse error near '{word}'", "Class '{word}' not found"),
        begins=("bootstrapping", "booting containers", "seeding tables"),
    ),
)

LIBRARIES = Pool(("fastq", "tinypath", "lodestar", "moments", "corekit", "picodate"))

PEOPLE = Pool(
    (
        "Anouk", "Bram", "Carys", "Dario", "Edda", "Fedor", "Gwen", "Hamid", "Ilka", "Joris",
        "Kaia", "Ludo", "Malin", "Nils", "Oriel", "Pavel", "Quinn", "Rosa", "Selma", "Tariq",
        "Ulla", "Viggo", "Wanda", "Xavi", "Ylva", "Zeno", "Aoife", "Benno", "Clio", "Dmitri",
        "Elif", "Florin", "Greta", "Hugo", "Imre", "Jette", "Koen", "Lotte", "Mirko", "Nadia",
    )
)  # fmt: skip

PROJECTS = Pool(
    (
        "quayside", "harrow", "tidemark", "lantern", "copperleaf", "windrow", "millrace", "pallet",
        "fernhill", "drayman", "saltbox", "ropewalk", "glasshouse", "turnpike", "kestrel", "anvil",
    )
)  # fmt: skip

TEAMS = Pool(
    (
        ("@stock-keeping", "The team of counts and shelves"),
        ("@tax-engine", "The team of duties and their tables"),
        ("@identity", "The team of sign-in and roles"),
        ("@search-index", "The team of queries and ranking"),
        ("@mail-out", "The team of letters and notices"),
        ("@map-data", "The team of places and distances"),
        ("@ledger", "The team of bookings and balances"),
        ("@cache-layer", "The team of what is kept in memory"),
        ("@billing-run", "The team of invoices"),
        ("@queueing", "The team of jobs and their order"),
        ("@locale", "The team of languages and formats"),
        ("@storage", "The team of blobs and disks"),
        ("@pricing", "The team of tariffs"),
        ("@gateway", "The team of routes and limits"),
        ("@build-yard", "The team of compilers and scripts"),
        ("@release-desk", "The team of versions and notes"),
    )
)

AREAS = Pool(
    (
        "orders", "tours", "seats", "meters", "parcels", "grants", "wards", "crews", "berths",
        "fares", "loans", "pumps", "plots", "rotas", "shifts", "slots", "spools", "tanks",
        "trays", "vaults", "visits", "yards", "lanes", "kilns",
    )
)  # fmt: skip

FILES = Pool(
    (
        ("merge", "Where two lists become one"),
        ("split", "Where a whole is cut into parts"),
        ("period", "Where the first and last day are set"),
        ("cutover", "Where the old plan yields to the new"),
        ("discount", "Where a reduction is applied"),
        ("surplus", "Where what is left over is shared out"),
        ("dedupe", "Where repeats are dropped"),
        ("backfill", "Where gaps are filled from history"),
        ("parser", "Where incoming lines are read"),
        ("decoder", "Where packed fields are opened"),
        ("weights", "Where shares are computed"),
        ("quota", "Where an allowance is used up"),
        ("calendar", "Where days off are skipped"),
        ("timezone", "Where local time is worked out"),
        ("totals", "Where sums are built"),
        ("averages", "Where means are taken"),
        ("sorter", "Where entries are put in order"),
        ("picker", "Where the next entry is taken"),
        ("lookup", "Where a key is resolved"),
        ("catalog", "Where known items are listed"),
        ("limits", "Where upper bounds are enforced"),
        ("floors", "Where lower bounds are enforced"),
        ("rounding", "Where fractions are dealt with"),
        ("scaling", "Where units are converted"),
        ("journal", "Where steps are written down"),
        ("archive", "Where old entries are put away"),
        ("retry", "Where a failed step is tried again"),
        ("timeout", "Where waiting comes to an end"),
        ("matcher", "Where pairs are found"),
        ("grouping", "Where entries are put together"),
        ("address", "Where a destination is spelled out"),
        ("contact", "Where a person is reached"),
    )
)

CASES = Pool(
    (
        "empty_list", "single_entry", "last_day_counts", "first_day_counts", "negative_amount",
        "zero_amount", "two_equal_keys", "three_in_a_row", "keeps_order", "drops_repeats",
        "leap_day", "year_end", "half_up", "half_down", "long_name", "short_name",
        "missing_field", "extra_field", "late_entry", "early_entry", "full_shelf", "free_shelf",
        "round_trip", "one_way", "same_day", "next_day", "upper_bound", "lower_bound",
        "nested_part", "flat_part", "unknown_code", "known_code", "mixed_units", "plain_units",
        "old_format", "new_format", "retry_once", "retry_twice", "idle_worker", "busy_worker",
    )
)  # fmt: skip

FORMS = (
    "we take RUN", "we'll take RUN", "RUN is ours", "RUN is with us", "we've got RUN",
    "RUN goes to us", "we own RUN now", "count RUN as ours",
)  # fmt: skip
"""Forms of a commitment. They are rules, not names, so both splits draw from all of them."""
