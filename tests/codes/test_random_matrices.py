"""Random code matrices: the best of many valid draws."""

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.codes import code_findings, min_distance, random_dense, random_sparse, validate_code

BUILDERS = pytest.mark.parametrize("build", [random_dense, random_sparse])


@BUILDERS
@pytest.mark.parametrize("k", [2, 3, 4, 7, 12])
def test_valid_and_of_the_stated_size(build, k):
    code = build(k, 0, n_draws=200)
    factor = 10 if build is random_dense else 15
    assert code.shape == (k, int(np.ceil(factor * np.log2(k))))
    assert code.dtype == np.int8
    validate_code(code)
    assert {finding.kind for finding in code_findings(code)} <= {"duplicate_columns", "complementary_columns"}
    assert (code == 0).any() == (build is random_sparse and k > 2)


@BUILDERS
def test_a_seed_gives_the_same_matrix(build):
    first = build(6, 3, n_draws=50)
    np.testing.assert_array_equal(first, build(6, 3, n_draws=50))
    np.testing.assert_array_equal(first, build(6, np.random.default_rng(3), n_draws=50))
    assert (first != build(6, 4, n_draws=50)).any()


def test_random_state_of_scikit_learn():
    first, second = (random_dense(5, np.random.RandomState(1), n_draws=20) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@BUILDERS
def test_more_draws_are_not_worse(build):
    few, many = build(8, 0, n_draws=1), build(8, 0, n_draws=2000)
    assert min_distance(many) > min_distance(few)


def test_batches_are_searched_together(monkeypatch):
    monkeypatch.setattr("calibrant.codes._random_matrices._BATCH", 1)
    code = random_dense(4, 0, n_columns=6, n_draws=300)
    assert min_distance(code) >= 3


@BUILDERS
def test_too_few_columns(build):
    with pytest.raises(
        CalibrantError, match="1 random columns must tell 5 classes apart; .* in 30 draws; raise"
    ):
        build(5, 0, n_columns=1, n_draws=30)


@pytest.mark.parametrize(("name", "value"), [("n_columns", 0), ("n_draws", -1), ("n_draws", 2.5)])
def test_bad_sizes(name, value):
    with pytest.raises(CalibrantError, match=f"{name} must be a whole number, at least 1; got {value}$"):
        random_dense(4, 0, **{name: value})


def test_no_draw_is_disconnected():
    # two columns for four classes: many draws, among them those of largest distance, leave two islands
    for seed in range(5):
        code = random_sparse(4, seed, n_columns=2, n_draws=2000)
        assert "disconnected_classes" not in {finding.kind for finding in code_findings(code)}
