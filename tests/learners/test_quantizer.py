"""Levels of equal width."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import CalibrantError
from calibrant.learners import EqualWidthQuantizer
from golden import assert_golden, golden_cases


@parametrize_with_checks([EqualWidthQuantizer()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("case", golden_cases("learners", "quantise"))
def test_golden(case):
    given = case["in"]
    quantizer = EqualWidthQuantizer(given["levels"]).fit(np.array(given["train"])[:, None])
    got = quantizer.transform(np.array(given["test"])[:, None])[:, 0]
    assert_golden(got.tolist(), case["out"], case["tol"])


def test_every_edge_belongs_to_the_level_above():
    for low, high in ((0.0, 1.0), (0.1, 0.7), (-3.3, 5.9)):
        edges = low + (high - low) * np.arange(21) / 21
        quantizer = EqualWidthQuantizer().fit([[low], [high]])
        assert quantizer.transform(edges[:, None])[:, 0].tolist() == list(range(21))


def test_it_agrees_with_scikit_learn_inside_the_cells():
    X = np.random.default_rng(0).normal(size=(200, 3))
    peer = KBinsDiscretizer(21, encode="ordinal", strategy="uniform", subsample=None)
    np.testing.assert_array_equal(EqualWidthQuantizer().fit_transform(X), peer.fit_transform(X))


def test_constants_and_huge_ranges():
    assert EqualWidthQuantizer().fit([[5.0], [5.0]]).transform([[4.0], [5.0], [6.0]]).tolist() == [
        [0],
        [0],
        [0],
    ]
    widest = EqualWidthQuantizer(4).fit([[-1.5e308], [1.5e308]])
    assert widest.transform([[-1.7e308], [-1e308], [1e307], [1e308]]).tolist() == [[0], [0], [2], [3]]


def test_frames_keep_their_names():
    frame = pd.DataFrame({"u": [0.0, 1.0], "v": [3.0, 4.0]})
    out = EqualWidthQuantizer(2).set_output(transform="pandas").fit_transform(frame)
    assert out.columns.tolist() == ["u", "v"]
    assert out.to_numpy().tolist() == [[0, 0], [1, 1]]


def test_what_it_refuses():
    with pytest.raises(CalibrantError, match="n_levels must be a whole number, 1 or more; got 0"):
        EqualWidthQuantizer(0).fit([[1.0]])
