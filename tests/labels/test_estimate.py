"""Estimates from answers: unbiased over all samples, intervals that cover, a census that is the score."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

import streamdecisionbench as sdb
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CORRECT,
    NO_DECISION,
    UNJUDGED,
)
from streamdecisionbench.labels.estimate import (
    JudgedMoments,
    StratumCounts,
    counted,
    estimate_audit,
    melded,
    read_sample,
)
from streamdecisionbench.labels.label_files import (
    Consensus,
    Label,
    LabelFile,
)
from streamdecisionbench.labels.label_tables import estimate_lines, estimate_tables
from streamdecisionbench.labels.sample import (
    AuditSample,
    draw_sample,
    write_audit,
)
from tests.analysis.kit import bench
from tests.kernel.plain_streams import Stream, in_force_accuracy
from tests.kernel.test_streams import streams
from tests.labels.made_audits import (
    Silver,
    answer,
    audited_rows,
    audited_table,
    draw,
    label,
    make_audit,
)
from tests.labels.test_sample import MANY, TWO, decided
from tests.labels.test_sample import silver as some_silver
from tests.logs.made_logs import pooled, rows_of, table_of

EXACT = 1e-12
FEW = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
tiny = st.lists(streams(most=3), min_size=1, max_size=2).filter(
    lambda found: len({d for s in found for d in s.decisions if d is not None}) > 1
)
SILVERS: dict[str, Silver | None] = {
    "none": None,
    "good": lambda k, i: TWO[k].references[i],
    "useless": some_silver,
    # It agrees with every decision, so that nothing seems wrong.
    "adversarial": lambda k, i: TWO[k].decisions[i],
}


def consensus(truth: dict[str, str | None]) -> dict[str, Consensus]:
    return {
        name: Consensus(right, False, ("ana",), () if right is None else (right,))
        for name, right in truth.items()
    }


def all_samples(census: AuditSample, sizes: list[int]) -> Iterator[tuple[float, AuditSample]]:
    """Every sample with so many moments of each stratum, and how likely it is.

    Within a stretch nothing changes, so which stretches are drawn is all there is to a sample.
    """
    strata = [
        msgspec.structs.replace(one, moments=n) for one, n in zip(census.strata, sizes, strict=True)
    ]
    cells = [[m for m in census.moments if m.stratum == k] for k in range(len(strata))]
    for chosen in product(*(product(own, repeat=n) for own, n in zip(cells, sizes, strict=True))):
        chance = 1.0
        moments = []
        for one, drawn in zip(strata, chosen, strict=True):
            for moment in drawn:
                chance *= moment.share / one.share
                moments.append(msgspec.structs.replace(moment, share=one.share / one.moments))
        yield chance, msgspec.structs.replace(census, strata=strata, moments=moments, census=False)


@pytest.mark.parametrize("which", SILVERS)
@pytest.mark.parametrize("size", [1, 2])
def test_the_mean_over_all_possible_samples_is_the_truth(which: str, size: int) -> None:
    census, items = draw(TWO, SILVERS[which], moments=None)
    said = consensus(dict(answer(TWO, items)))
    truth = pooled(TWO)
    mean, whole = np.zeros(len(ALL_CLASSES)), 0.0
    sizes = [size if one.says != "none" else 1 for one in census.strata]
    for chance, sample in all_samples(census, sizes):
        shares = counted(sample.strata, JudgedMoments.of(sample, said), census=False).shares
        assert shares is not None
        mean += chance * shares
        whole += chance
    assert whole == pytest.approx(1, abs=EXACT)
    assert mean == pytest.approx([truth[name] for name in ALL_CLASSES], abs=EXACT)


@FEW
@given(tiny, st.lists(st.sampled_from(["a", "b", None]), min_size=6, max_size=6))
def test_the_mean_over_all_samples_of_any_small_log_is_the_truth(
    found: list[Stream], silver: list[str | None]
) -> None:
    """Also where people cannot tell: shares of observed time are unbiased."""
    known = any(silver[: max(len(s.times) for s in found)])
    census, items = draw(found, (lambda k, i: silver[i]) if known else None, moments=None)
    said = consensus(dict(answer(found, items)))
    mean = np.zeros(len(ALL_CLASSES))
    sizes = [1 + (k == 0) for k, _ in enumerate(census.strata)]
    for chance, sample in all_samples(census, sizes):
        shares = counted(sample.strata, JudgedMoments.of(sample, said), census=False).shares
        assert shares is not None
        mean += chance * shares
    truth = pooled(found)
    assert mean == pytest.approx([truth[name] for name in ALL_CLASSES], abs=EXACT)


@FEW
@given(decided, st.booleans())
def test_a_census_is_what_the_log_scores(
    tmp_path_factory: pytest.TempPathFactory, found: list[Stream], helped: bool
) -> None:
    """Also where nobody can tell what was right for some states."""
    folder = tmp_path_factory.mktemp("census") / "audit"
    make_audit(folder, found, some_silver if helped else None, moments=None)
    group = estimate_audit(folder).groups[0]
    want = pooled(found)
    shares = {name: share.value for name, share in group.classes.items()}
    assert shares == pytest.approx(want, abs=EXACT)
    if want["unjudged"] < 1 - 1e-9:
        assert group.in_force.value == pytest.approx(in_force_accuracy(want), abs=1e-10)
        low, high = group.in_force.interval_95 or (0.0, 1.0)
        assert high - low < EXACT
        scored = sdb.score_log(
            audited_table(found), references=str(folder / "references.parquet"), resamples=0
        ).groups[0]
        assert scored.classes == pytest.approx(want, abs=EXACT)


def test_a_census_of_groups_is_what_the_log_scores_by_group(tmp_path: Path) -> None:
    rows = [{**row, "release": 7 + int(row["stream"][-1])} for row in audited_rows(MANY)]
    for row in rows:
        row["weight"] = 1.0 + int(row["stream"][1:]) % 4
    sample, items = draw_sample(table_of(rows), moments=None, by="release")
    write_audit(tmp_path / "audit", sample, items)
    label(tmp_path / "audit", answer(MANY, items))
    found = estimate_audit(tmp_path / "audit")
    truth = [
        {**row, "release": one["release"], "weight": one["weight"]}
        for row, one in zip(rows_of(MANY), rows, strict=True)
    ]
    score = sdb.score_log(table_of(truth), by="release", resamples=0)
    assert len(found.groups) == len(score.groups) == 10
    for one, two in zip(found.groups, score.groups, strict=True):
        assert one.by == two.by
        assert one.in_force.value == pytest.approx(two.in_force, abs=EXACT)
    for mine, theirs in zip(found.differences, score.differences, strict=True):
        assert mine.in_force.value == pytest.approx(theirs.in_force[0], abs=EXACT)
        for cause, change in mine.causes.items():
            assert change.value == pytest.approx(theirs.causes[cause][0], abs=EXACT)


# Intervals


def one_stratum(right: int, wrong: int, unjudged: int = 0) -> StratumCounts:
    counts = np.zeros((1, len(ALL_CLASSES)))
    counts[0, CORRECT[0]], counts[0, ALL_CLASSES.index("judgment")] = right, wrong
    counts[0, UNJUDGED] = unjudged
    possible = np.ones((1, len(ALL_CLASSES)), dtype=bool)
    possible[0, NO_DECISION] = False
    return StratumCounts(np.ones(1), counts, possible)


@pytest.mark.parametrize(("right", "n"), [(0, 20), (1, 20), (82, 100), (299, 300), (300, 300)])
def test_with_one_stratum_it_is_clopper_and_pearsons_interval(right: int, n: int) -> None:
    low, high = melded(
        one_stratum(right, n - right), CORRECT, np.random.default_rng(1), 200_000
    ).interval_95
    exact = stats.binomtest(right, n).proportion_ci(0.95, method="exact")
    assert low == pytest.approx(exact.low, abs=2e-3)
    assert high == pytest.approx(exact.high, abs=2e-3)


def test_what_nobody_can_tell_widens_the_interval_and_is_no_error() -> None:
    sure, unsure = (
        melded(one_stratum(80, 20, u), CORRECT, np.random.default_rng(1)).interval_95
        for u in (0, 50)
    )
    assert unsure == pytest.approx(
        sure, abs=2e-3
    )  # of judged time, a hundred are judged either way
    of_all = melded(one_stratum(80, 20, 50), [UNJUDGED], np.random.default_rng(1), of_judged=False)
    assert of_all.interval_95[0] < 1 / 3 < of_all.interval_95[1]


def drawn_streams(count: int, seed: int) -> list[Stream]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        n = int(rng.integers(3, 9))
        times = np.round(np.cumsum(rng.uniform(0.5, 3, n)), 3)
        right = [str(v) for v in rng.choice(list("abc"), n)]
        said = [y if rng.random() < 0.85 else str(rng.choice(list("abc"))) for y in right]
        waits: list[float | None] = [float(round(v, 3)) for v in rng.exponential(0.3, n)]
        found.append(Stream(times.tolist(), waits, list(right), list(said), float(times[-1]) + 1.5))
    return found


def later(stream: Stream, late: float) -> Stream:
    """The same stream with answers that come so much later."""
    waits = [None if wait is None else wait + late for wait in stream.latencies]
    return replace(stream, latencies=waits)


@pytest.mark.parametrize("helped", [False, True])
def test_intervals_of_real_draws_cover_the_truth(helped: bool) -> None:
    """200 audits of 120 moments by the product's own draws, which are independent: one large draw, cut.

    At 95 % fewer than 180 that cover are one in a thousand.
    """
    streams = drawn_streams(30, 1)
    rng = np.random.default_rng(2)
    said = [[y if rng.random() < 0.9 else "c" for y in stream.references] for stream in streams]
    sample, items = draw(streams, (lambda k, i: said[k][i]) if helped else None, moments=24_000)
    judged = JudgedMoments.of(sample, consensus(dict(answer(streams, items))))
    want = pooled(streams)
    truth = in_force_accuracy(want)
    hits, stale, values = 0, 0, []
    size = [max(1, one.moments // 200) for one in sample.strata]
    for audit in range(200):
        own = [
            np.flatnonzero(judged.stratum == k)[(audit * n) % one.moments :][:n]
            for k, (one, n) in enumerate(zip(sample.strata, size, strict=True))
        ]
        found = counted(sample.strata, judged.take(np.concatenate(own)), census=False)
        shares = found.shares
        assert shares is not None
        values.append(float(shares[list(CORRECT)].sum()))
        draws = np.random.default_rng(audit)
        low, high = melded(found, CORRECT, draws, 2000).interval_95
        hits += low <= truth <= high
        column = ALL_CLASSES.index("stale")
        low, high = melded(found, [column], draws, 2000, of_judged=False).interval_95
        stale += low <= want["stale"] <= high
    assert min(hits, stale) >= 180
    assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values) / np.sqrt(200))


def test_silver_that_agrees_saves_labels_and_says_how_many(tmp_path: Path) -> None:
    streams = drawn_streams(60, 3)
    rng = np.random.default_rng(4)
    said = [[y if rng.random() < 0.95 else "a" for y in s.references] for s in streams]
    make_audit(tmp_path / "plain", streams, moments=300)
    make_audit(tmp_path / "helped", streams, lambda k, i: said[k][i], moments=300)
    one, two = (estimate_audit(tmp_path / name).groups[0] for name in ("plain", "helped"))
    assert one.silver is None
    assert two.silver is not None
    assert two.silver.agreement == pytest.approx(0.95, abs=0.04)
    widths = [g.in_force.interval_95[1] - g.in_force.interval_95[0] for g in (one, two)]  # type: ignore[index]
    assert widths[1] < 0.7 * widths[0]
    assert two.silver.saved is not None
    assert two.silver.saved > 300
    assert one.more is not None
    assert two.more is not None
    assert two.more < one.more


def test_useless_silver_saves_nothing(tmp_path: Path) -> None:
    streams = drawn_streams(60, 3)
    make_audit(tmp_path / "audit", streams, lambda k, i: "abc"[(k + i) % 3], moments=300)
    help_ = estimate_audit(tmp_path / "audit").groups[0].silver
    assert help_ is not None
    assert help_.saved is not None
    assert help_.saved < 60


def test_how_many_more_is_what_it_takes(tmp_path: Path) -> None:
    streams = drawn_streams(60, 5)
    make_audit(tmp_path / "few", streams, moments=150)
    group = estimate_audit(tmp_path / "few", within=0.04).groups[0]
    assert group.more is not None
    assert group.more > 0
    make_audit(tmp_path / "many", streams, moments=150 + group.more)
    after = estimate_audit(tmp_path / "many", within=0.04).groups[0]
    low, high = after.in_force.interval_95 or (0.0, 1.0)
    assert (high - low) / 2 == pytest.approx(0.04, rel=0.15)
    assert estimate_audit(tmp_path / "many", within=0.2).groups[0].more == 0


def test_sessions_like_these_are_less_certain_than_this_log(tmp_path: Path) -> None:
    """Streams that are right or wrong throughout: labels of one say nothing about another."""
    one = Stream([0.0], [0.0], ["a"], ["a"], 10.0)
    streams = [replace(one, decisions=["b"] if k % 4 == 0 else ["a"]) for k in range(24)]
    make_audit(tmp_path / "audit", streams, lambda k, i: "a", moments=400)
    group = estimate_audit(tmp_path / "audit").groups[0]
    low, high = group.in_force.interval_95 or (0.0, 1.0)
    wide_low, wide_high = group.in_force.interval_95_streams or (0.0, 1.0)
    assert wide_low < low < 0.75 < high < wide_high
    # √(p(1 − p)/24) is 8.8 points.
    assert (wide_high - wide_low) / 2 == pytest.approx(1.96 * 0.088, rel=0.25)


def test_below_twenty_streams_there_is_no_interval_over_streams(tmp_path: Path) -> None:
    make_audit(tmp_path / "audit", MANY[:19], moments=200)
    group = estimate_audit(tmp_path / "audit").groups[0]
    assert group.in_force.interval_95 is not None
    assert group.in_force.interval_95_streams is None
    assert "19 streams" in group.streams_reason
    assert estimate_audit(tmp_path / "audit").to_json()["groups"][0]["interval_95_streams"] is None


def test_causes_add_up_and_differences_have_intervals(tmp_path: Path) -> None:
    streams = drawn_streams(80, 6)
    rows = [
        {**row, "release": "new" if int(row["stream"][1:]) % 2 else "old"}
        for row in audited_rows(streams)
    ]
    sample, items = draw_sample(table_of(rows), moments=200, by="release")
    write_audit(tmp_path / "audit", sample, items)
    label(tmp_path / "audit", answer(streams, items))
    (difference,) = estimate_audit(tmp_path / "audit").differences
    assert difference.group.by == {"release": "old"}
    value = difference.in_force.value
    assert value is not None
    assert sum(c.value or 0 for c in difference.causes.values()) == pytest.approx(value, abs=EXACT)
    for one in (difference.in_force, *difference.causes.values(), *difference.classes.values()):
        low, high = one.interval_95 or (1.0, 0.0)
        wide_low, wide_high = one.interval_95_streams or (1.0, 0.0)
        assert one.value is not None
        assert wide_low <= low <= one.value + 1e-9
        assert one.value - 1e-9 <= high <= wide_high


# Disputes, what nobody can tell, what is open


def test_disputes_and_cannot_tell_bound_the_figure(tmp_path: Path) -> None:
    streams = drawn_streams(40, 7)
    audit = make_audit(tmp_path / "audit", streams, moments=100)
    before = estimate_audit(tmp_path / "audit")
    figure = before.groups[0].in_force.value
    assert figure is not None
    assert before.groups[0].bounds == pytest.approx((figure, figure))
    assert "one person" in " ".join(before.notes)
    items = list(audit.items)
    with LabelFile(audit, "bob") as file:
        for name in items[:10]:
            file.append(Label(name, "bob", "now", {"other": "something else"}))
    with LabelFile(audit, "ana") as file:
        for name in items[10:15]:
            file.append(Label(name, "ana", "now", None))
    found = estimate_audit(tmp_path / "audit")
    group = found.groups[0]
    assert (len(found.disputes), found.cannot_tell, found.people) == (10, 5, 2)
    assert group.unclear >= 10
    low, high = group.bounds or (0.0, 0.0)
    assert group.in_force.value is not None
    assert low < group.in_force.value < high
    # The truth lies between: those items have an answer, if only it were agreed on.
    assert low - EXACT <= figure <= high + EXACT
    wide = group.bounds_95 or (0.0, 0.0)
    assert wide[0] < low < high < wide[1]
    assert found.agreement.items == 10
    assert found.agreement.share == 0.0
    with LabelFile(audit, "cleo") as file:
        truth = answer(streams, list(audit.items.values()))
        for name in items[:15]:
            file.append(Label(name, "cleo", "now", {"decision": truth[name] or ""}, settles=True))
    settled = estimate_audit(tmp_path / "audit")
    assert settled.disputes == ()
    assert settled.groups[0].in_force.value == pytest.approx(figure, abs=EXACT)


def test_an_audit_half_answered_is_estimated_from_that_half(tmp_path: Path) -> None:
    streams = drawn_streams(80, 8)
    sample, items = draw(streams, moments=300)
    write_audit(tmp_path / "audit", sample, items)
    truth = answer(streams, items)
    half = dict(list(truth.items())[: len(truth) // 2])
    label(tmp_path / "audit", half)
    found = estimate_audit(tmp_path / "audit")
    group = found.groups[0]
    assert 100 < group.answered < 200
    assert group.moments == 300
    low, high = group.in_force.interval_95 or (0.0, 1.0)
    assert low < in_force_accuracy(pooled(streams)) < high
    assert any("items are open" in note for note in found.notes)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("silver", [True, False])
def test_open_items_are_missing_at_random(silver: bool, share: float) -> None:
    """Over random logs, the mean of every class is its value when all items are answered.

    Moments that need two answers are answered less often than the others; that must not matter.
    """
    estimates = bench("estimate")
    rng = np.random.default_rng([silver, round(10 * share)])
    apart = []
    for kind in range(6):
        log = estimates.MadeLog(
            int(rng.integers(20, 60)), int(rng.integers(10, 30)), wrong=rng.uniform(0.05, 0.5),
            late=rng.uniform(0.3, 3.0), distinct=40 if kind == 5 else None,
        )  # fmt: skip
        made = estimates.UnfinishedAudits(log, 300, silver=silver)
        for _ in range(60):
            whole = made.draw(1.0, rng)
            part = estimates.answered_in_part(whole, share, rng)
            found, full = (counted(made.strata, x, census=False).shares for x in (part, whole))
            if found is not None:
                apart.append(found - full)
    assert len(apart) > 250
    error = np.std(apart, axis=0) / np.sqrt(len(apart))
    assert (np.abs(np.mean(apart, axis=0)) <= 4 * error + 1e-12).all()


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_intervals_of_unfinished_audits_cover_the_truth(share: float) -> None:
    """Of 150 audits fewer than 134 are one in a thousand at 95 %.

    With an open second answer taken as "cannot tell", the interval of stale misses the truth often.
    """
    estimates = bench("estimate")
    rng = np.random.default_rng(round(100 * share))
    made = estimates.UnfinishedAudits(estimates.LATE["late"], 300, silver=False)
    _, covered, usable = estimates.unfinished_rates(made, share, 150, rng, draws=1000)
    assert usable == 150
    assert min(v for name, v in covered.items() if name != "before") >= 134 / 150
    assert covered["before"] < 0.8


@pytest.mark.parametrize("moments", [3000, None])
def test_half_of_the_answers_give_the_same_classes(tmp_path: Path, moments: int | None) -> None:
    """An open item is not a "cannot tell", also in a census."""
    streams = [later(stream, 1.5) for stream in drawn_streams(250 if moments is None else 80, 8)]
    sample, items = draw(streams, moments=moments)
    write_audit(tmp_path / "audit", sample, items)
    truth = answer(streams, items)
    half = dict(list(truth.items())[: len(truth) // 2])
    label(tmp_path / "audit", half)
    found = estimate_audit(tmp_path / "audit")
    (group,) = found.groups
    want = pooled(streams)
    assert want["stale"] > 0.1
    for name in ("stale", "judgment", "compound", "current_correct", "unattributed", "unjudged"):
        assert group.classes[name].value == pytest.approx(want[name], abs=0.05), name
        interval = group.classes[name].interval_95
        assert (interval is None) == (moments is None)
        if interval is not None:
            assert interval[0] - EXACT <= want[name] <= interval[1] + EXACT
            streams_interval = group.classes[name].interval_95_streams or (1.0, 0.0)
            assert streams_interval[0] - EXACT <= want[name] <= streams_interval[1] + EXACT
    assert any("wait for the answer about that state" in note for note in found.notes)
    # What the bench makes of a part of the answers is what the product reads.
    said = consensus(truth)
    whole = JudgedMoments.of(sample, said)
    part = JudgedMoments.of(sample, {name: said[name] for name in half})
    number = dict(zip([m.item for m in sample.moments], whole.item.tolist(), strict=True))
    number |= dict(zip([m.source for m in sample.moments], whole.source.tolist(), strict=True))
    known = np.array([number[name] for name in half])
    again = bench("estimate").with_answers(whole, known)
    for name in ("column", "older", "pending", "item", "source", "unclear"):
        np.testing.assert_array_equal(getattr(again, name), getattr(part, name))


def test_a_stratum_without_an_answer_may_hold_anything(tmp_path: Path) -> None:
    streams = drawn_streams(40, 9)
    sample, items = draw(streams, lambda k, i: streams[k].references[i], moments=40)
    write_audit(tmp_path / "audit", sample, items)
    truth = answer(streams, items)
    right = {m.item for m in sample.moments if sample.strata[m.stratum].says == "right"} - {
        m.item for m in sample.moments if sample.strata[m.stratum].says == "wrong"
    }
    label(tmp_path / "audit", {name: truth[name] for name in sorted(right)})
    group = estimate_audit(tmp_path / "audit").groups[0]
    assert group.in_force.value is None
    wrong = next(one.share for one in sample.strata if one.says == "wrong")
    low, high = group.in_force.interval_95 or (0.0, 0.0)
    assert high - low > wrong


def test_a_census_that_is_not_finished_has_no_interval(tmp_path: Path) -> None:
    sample, items = draw(MANY, moments=None)
    write_audit(tmp_path / "audit", sample, items)
    label(tmp_path / "audit", dict(list(answer(MANY, items).items())[:50]))
    found = estimate_audit(tmp_path / "audit")
    assert found.groups[0].in_force.interval_95 is None
    assert found.groups[0].in_force.value is not None
    assert any("a census counts when" in note for note in found.notes)


# Files


def test_the_same_audit_gives_the_same_bytes(tmp_path: Path) -> None:
    make_audit(tmp_path / "audit", MANY, some_silver, moments=100)
    one, two = (
        json.dumps(estimate_audit(tmp_path / "audit").to_json(), allow_nan=False) for _ in range(2)
    )
    assert one == two
    document = json.loads(one)
    assert document["schema"] == "sdb-estimate/1"
    group = document["groups"][0]
    assert {"by", "moments", "labels", "in_force", "interval_95", "classes", "silver"} <= set(group)
    assert set(group["classes"]) == set(ALL_CLASSES)
    assert {"share", "interval_95"} <= set(group["classes"]["stale"])
    assert {"agreement", "signature"} <= set(document)


def test_references_are_read_by_the_scorer(tmp_path: Path) -> None:
    table = audited_table(MANY)
    for name in ("published_at", "answered_at", "ended_at"):
        micro = pa.array(
            [None if v is None else round(v * 1e6) for v in table[name].to_pylist()],
            pa.timestamp("us", "UTC"),
        )
        table = table.set_column(table.schema.get_field_index(name), name, micro)
    pq.write_table(table, tmp_path / "log.parquet")
    sample, items = draw_sample(tmp_path / "log.parquet", moments=60)
    write_audit(tmp_path / "audit", sample, items)
    label(tmp_path / "audit", answer(MANY, items))
    estimate_audit(tmp_path / "audit")
    found = sdb.score_log(
        tmp_path / "log.parquet",
        references=str(tmp_path / "audit" / "references.parquet"),
        resamples=0,
    )
    # Drawn states are not the log's: whoever scores them is told.
    assert found.references.kind == "sample"
    assert any("sdb logs estimate" in note for note in found.notes)
    rows = pq.read_table(tmp_path / "audit" / "references.parquet").num_rows
    assert found.groups[0].judged_decisions == rows > 30


def test_a_source_that_has_changed_is_refused_and_one_that_is_gone_is_said(tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    pq.write_table(audited_table(MANY), log)
    sample, items = draw_sample(log, moments=60)
    write_audit(tmp_path / "audit", sample, items)
    label(tmp_path / "audit", answer(MANY, items))
    assert not any("not checked" in note for note in estimate_audit(tmp_path / "audit").notes)
    pq.write_table(audited_table(MANY[:30]), log)
    with pytest.raises(InputError, match="has changed since the sample was drawn"):
        estimate_audit(tmp_path / "audit")
    log.unlink()
    assert any("not checked" in note for note in estimate_audit(tmp_path / "audit").notes)


def test_items_that_are_not_those_drawn_are_refused(tmp_path: Path) -> None:
    make_audit(tmp_path / "audit", MANY, moments=60)
    items = tmp_path / "audit" / "items.jsonl"
    whole = items.read_text().splitlines(keepends=True)
    items.write_text("".join(whole[:-1]))
    with pytest.raises(InputError, match="not the one that was drawn"):
        estimate_audit(tmp_path / "audit")


def test_an_audit_without_answers_says_what_to_do(tmp_path: Path) -> None:
    sample, items = draw(MANY, moments=20)
    write_audit(tmp_path / "audit", sample, items)
    with pytest.raises(InputError, match="nobody has answered") as caught:
        estimate_audit(tmp_path / "audit")
    assert "sdb label" in str(caught.value)
    with pytest.raises(InputError, match="is no audit"):
        estimate_audit(tmp_path)
    (tmp_path / "audit" / "sample.json").write_text('{"schema": "x"}')
    with pytest.raises(InputError, match=r"sample\.json"):
        read_sample(tmp_path / "audit")


@pytest.mark.parametrize("moments", [40, None])
def test_where_nobody_can_tell_anything_there_is_no_figure_and_no_nonsense(
    tmp_path: Path, moments: int | None
) -> None:
    sample, items = draw(MANY, moments=moments)
    write_audit(tmp_path / "audit", sample, items)
    label(tmp_path / "audit", {item.item: None for item in items})
    found = estimate_audit(tmp_path / "audit")
    group = json.loads(json.dumps(found.to_json(), allow_nan=False))["groups"][0]
    assert group["in_force"] is None
    assert group["classes"]["unjudged"]["share"] == pytest.approx(1)
    assert group["bounds"][0] == 0


@pytest.mark.parametrize("moments", [40, None])
def test_a_group_without_an_answer_has_no_figure_and_leaves_the_others_theirs(
    tmp_path: Path, moments: int | None
) -> None:
    rows = [{**row, "half": int(row["stream"][1:]) % 2} for row in audited_rows(MANY)]
    sample, items = draw_sample(table_of(rows), by="half", moments=moments)
    write_audit(tmp_path / "audit", sample, items)
    truth = answer(MANY, items)
    own = {m.item for m in sample.moments if sample.strata[m.stratum].group == 0}
    own |= {m.source for m in sample.moments if sample.strata[m.stratum].group == 0 and m.source}
    label(tmp_path / "audit", {name: truth[name] for name in sorted(own)})
    found = estimate_audit(tmp_path / "audit")
    assert "not known yet" in " ".join(estimate_lines(found))
    assert estimate_tables(found)[0].row("1")[4] == "–"
    document = found.to_json()
    json.dumps(document, allow_nan=False)
    one, two = document["groups"]
    assert one["in_force"] is not None
    assert two["in_force"] is None
    assert two["answered"] == 0
    assert document["differences"][0]["in_force"]["value"] is None
