"""The exact solver against a linear program that states the same problem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.analysis.network import fit_quantile, pinball_loss
from streamdecisionbench.errors import InputError

linprog = pytest.importorskip(
    "scipy.optimize", reason="scipy (extra `analysis`) judges the solver"
).linprog


def _by_program(X: np.ndarray, y: np.ndarray, tau: float, w: np.ndarray) -> float:
    """min Σ w (τ·r⁺ + (1 − τ)·r⁻)  subject to  Xβ + r⁺ − r⁻ = y."""
    n, p = X.shape
    result = linprog(
        np.concatenate((np.zeros(p), tau * w, (1 - tau) * w)),
        A_eq=np.hstack((X, np.eye(n), -np.eye(n))),
        b_eq=y,
        bounds=[(None, None)] * p + [(0, None)] * (2 * n),
        method="highs",
    )
    assert result.status == 0
    return float(result.fun)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**9),
    st.integers(4, 60),
    st.integers(1, 3),
    st.sampled_from([0.1, 0.25, 0.5, 0.9]),
    st.booleans(),
)
def test_loss_is_the_programs(seed: int, n: int, slopes: int, tau: float, coarse: bool) -> None:
    """Continuous data, and data so coarse that many observations tie."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 5, (n, slopes)).astype(float) if coarse else rng.normal(size=(n, slopes))
    y = np.round(x.sum(axis=1) + rng.exponential(size=n), 1 if coarse else 9)
    w = rng.integers(0, 4, n).astype(float)
    X = np.column_stack((np.ones(n), x))
    if np.linalg.matrix_rank(X[w > 0]) < X.shape[1]:
        return
    fit = fit_quantile(X, y, tau, weights=w)
    assert fit.loss == pytest.approx(_by_program(X, y, tau, w), abs=1e-8)
    assert fit.loss == pytest.approx(pinball_loss(y - X @ fit.beta, tau, w))


@pytest.mark.parametrize("slopes", [0, 1, 2])
def test_a_warm_start_changes_nothing(slopes: int) -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack((np.ones(200), rng.normal(size=(200, slopes))))
    y = X.sum(axis=1) + rng.exponential(size=200)
    start = fit_quantile(X, y, 0.1).basis
    for _ in range(20):
        w = rng.multinomial(200, np.full(200, 1 / 200)).astype(float)
        cold, warm = (
            fit_quantile(X, y, 0.1, weights=w),
            fit_quantile(X, y, 0.1, weights=w, start=start),
        )
        assert warm.loss == pytest.approx(cold.loss, abs=1e-9)


def test_without_slopes_it_is_the_quantile() -> None:
    y = np.arange(10.0)
    # τ·n is whole: every point between the two middle values is optimal, and the middle is taken.
    assert fit_quantile(np.ones((10, 1)), y, 0.5).beta[0] == pytest.approx(4.5)
    assert fit_quantile(np.ones((10, 1)), y, 0.25).beta[0] == pytest.approx(2.0)


def test_dependent_columns_are_refused() -> None:
    X = np.column_stack((np.ones(8), np.full(8, 2.0)))
    with pytest.raises(InputError, match="not independent"):
        fit_quantile(X, np.arange(8.0), 0.1)
