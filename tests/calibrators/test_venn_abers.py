"""Venn-Abers calibration: the same as two isotonic fits, made anew for every score."""

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import isotonic_regression

from calibrant import OneVsAllCalibrator, PAVCalibrator, VennAbersCalibrator
from calibrant._core._errors import CalibrantError, ScoreDirectionWarning
from calibrant.files import PassOptions, Rows, fit
from calibrant.models import from_document, load, save, to_document

pytestmark = pytest.mark.filterwarnings("ignore::calibrant.ScoreDirectionWarning")


def by_hand(scores, label, weight, asked):
    """Both values for every score that is asked for, by two isotonic fits each."""
    found = np.empty((len(asked), 2))
    for place, score in enumerate(asked):
        for added in (0, 1):
            _, where = np.unique(np.append(scores, score), return_inverse=True)
            mass = np.bincount(where, np.append(weight, 1.0))
            mean = np.bincount(where, np.append(weight * label, added)) / mass
            fit = isotonic_regression(mean, weights=mass).x
            found[place, added] = fit[where[-1]]
    return found


def where_to_ask(scores):
    """Every score, every gap, the numbers next to every score, and both ends."""
    known = np.unique(scores)
    gaps = known[:-1] / 2 + known[1:] / 2
    near = [np.nextafter(known, -np.inf), np.nextafter(known, np.inf)]
    return np.concatenate([known, gaps, *near, [known[0] - 1, known[-1] + 1, -1e300, 1e300]])


def assert_is_that_by_hand(fitted, scores, label, weight=None, tolerance=1e-12):
    weight = np.ones(len(label)) if weight is None else weight
    asked = where_to_ask(scores)
    expected = by_hand(scores, label, weight, asked)
    np.testing.assert_allclose(fitted.predict_interval(asked), expected, rtol=0, atol=tolerance)
    low, high = expected.T
    np.testing.assert_allclose(fitted.predict_proba(asked)[:, 1], high / (1 - low + high), atol=tolerance)


@st.composite
def some_rows(draw):
    n_rows = draw(st.integers(1, 40))
    scores = draw(
        st.lists(st.integers(0, draw(st.sampled_from([2, 8, 100]))), min_size=n_rows, max_size=n_rows)
    )
    label = draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))
    kinds = st.sampled_from([None, (1, 2, 3), (0.5, 1.7, 0.01), (1e-6, 1.0, 1e6)])
    of = draw(kinds)
    weight = None if of is None else draw(st.lists(st.sampled_from(of), min_size=n_rows, max_size=n_rows))
    return np.array(scores, dtype=float), np.array(label), None if weight is None else np.array(weight, float)


@settings(max_examples=300)
@given(rows=some_rows())
def test_it_is_two_isotonic_fits_with_one_row_more(rows):
    scores, label, weight = rows
    fitted = VennAbersCalibrator().fit(scores, label * 1.0, weight)
    assert_is_that_by_hand(fitted, scores, label, weight, 1e-12 if weight is None else 1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sharp", [0.3, 2.0, 8.0])
def test_it_is_so_for_more_rows_too(seed, sharp):
    """Sharp scores have long blocks of one class at both ends, where every score is a step."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=300)
    label = rng.random(300) < 1 / (1 + np.exp(-sharp * scores))
    assert_is_that_by_hand(VennAbersCalibrator().fit(scores, label), scores, label)


def test_labels_may_be_shares():
    rng = np.random.default_rng(0)
    scores, share, weight = rng.normal(size=80).round(1), rng.random(80), rng.random(80) + 0.1
    fitted = VennAbersCalibrator().fit(scores, share, weight)
    assert_is_that_by_hand(fitted, scores, share, weight)


def test_counts_give_exact_shares():
    """Numbers of rows divided by numbers of rows: nothing else is rounded."""
    label = [0] * 9 + [1, 0, 1] + [1] * 5
    interval = VennAbersCalibrator().fit(range(17), label).predict_interval([0, 8, 9.5, 11, 16])
    expected = [[0, 1 / 10], [0, 1 / 2], [1 / 3, 2 / 3], [1 / 2, 1], [6 / 7, 1]]
    np.testing.assert_allclose(interval, expected, rtol=1e-15)


def test_weights_that_differ_widely_cancel_nothing():
    """A row of weight 1e20 in front does not round away those behind it."""
    rng = np.random.default_rng(0)
    scores, label = np.arange(60.0), rng.random(60) < np.linspace(0.1, 0.9, 60)
    alone = VennAbersCalibrator().fit(scores, label).predict_interval(scores[20:])
    heavy = np.append(-5.0, scores)
    beside = VennAbersCalibrator().fit(heavy, np.append(False, label), np.append(1e20, np.ones(60)))
    np.testing.assert_allclose(beside.predict_interval(scores[20:]), alone, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_holds_the_answer_and_both_rise(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=500)
    fitted = VennAbersCalibrator().fit(scores, rng.random(500) < 1 / (1 + np.exp(-scores)))
    asked = np.sort(rng.normal(size=1000) * 2)
    low, high = fitted.predict_interval(asked).T
    proba = fitted.predict_proba(asked)[:, 1]
    assert ((low < high) & (low <= proba) & (proba <= high) & (proba > 0) & (proba < 1)).all()
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()


def test_the_isotonic_fit_lies_within():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=400).round(2)
    label = rng.random(400) < 1 / (1 + np.exp(-scores))
    low, high = VennAbersCalibrator().fit(scores, label).predict_interval(scores).T
    isotonic = PAVCalibrator().fit(scores, label).predict_proba(scores)[:, 1]
    assert ((low <= isotonic) & (isotonic <= high)).all()


def test_one_of_the_two_is_calibrated():
    """The validity of the paper: the mean of the one that turns out right is the share of positives."""
    rng = np.random.default_rng(0)
    right, positive = [], []
    for _ in range(2000):
        scores = rng.normal(size=21)
        label = rng.random(21) < 1 / (1 + np.exp(-scores))
        fitted = VennAbersCalibrator().fit(scores[1:], label[1:] * 1.0)
        low, high = fitted.predict_interval(scores[:1])[0]
        right.append(high if label[0] else low)
        positive.append(label[0])
    assert abs(np.mean(right) - np.mean(positive)) < 4 * np.std(np.subtract(right, positive)) / np.sqrt(2000)


# In passes.


@settings(max_examples=60, deadline=None)
@given(
    rows=some_rows(),
    n_bins=st.integers(1, 20),
    max_rows=st.sampled_from([1, 5, 1000]),
    edges=st.sampled_from(["quantile", "uniform"]),
    n_batches=st.integers(1, 4),
)
def test_in_passes_it_is_that_of_memory(rows, n_bins, max_rows, edges, n_batches):
    scores, label, weight = rows
    parts = np.array_split(np.arange(len(label)), n_batches)
    batches = [
        Rows(scores[part], label[part].astype(np.intp), None if weight is None else weight[part])
        for part in parts
    ]
    options = PassOptions(n_bins=n_bins, max_rows=max_rows, edges=edges)
    passed = fit(VennAbersCalibrator(), lambda: batches, classes=[0, 1], options=options)
    at_once = VennAbersCalibrator().fit(scores, label * 1.0, weight)
    asked = where_to_ask(scores)
    np.testing.assert_allclose(
        passed.predict_interval(asked),
        at_once.predict_interval(asked),
        rtol=0,
        atol=1e-12 if weight is None else 1e-9,
    )


@pytest.mark.parametrize("n_bins", [30, 300, 5000])
@pytest.mark.parametrize("max_rows", [100, 1000, None])
@pytest.mark.parametrize("sharp", [0.5, 3.0])
def test_in_passes_many_rows_are_those_of_memory(n_bins, max_rows, sharp):
    """Whether bins are made finer or their rows fetched; in blocks of one class every row is a step."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=20_000)
    label = rng.random(len(scores)) < 1 / (1 + np.exp(-sharp * scores))
    batches = [Rows(scores, label.astype(np.intp))]
    options = PassOptions(n_bins=n_bins, max_rows=max_rows)
    passed = fit(VennAbersCalibrator(), lambda: batches, classes=[0, 1], options=options)
    at_once = VennAbersCalibrator().fit(scores, label)
    asked = np.concatenate([scores, rng.normal(size=1000)])
    np.testing.assert_allclose(
        passed.predict_interval(asked), at_once.predict_interval(asked), rtol=0, atol=1e-12
    )


# Files, many classes, errors.


def test_a_file_keeps_the_interval_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200)
    fitted = VennAbersCalibrator().fit(scores, np.where(rng.random(200) < 0.4, "yes", "no"))
    save(fitted, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_interval(scores), fitted.predict_interval(scores))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"upper": [0.5]}, r"fitted\.map\.upper must have .* one more than upper_edges"),
        ({"lower": [0.5, 0.1]}, r"fitted\.map\.lower\[1\] must not be below the one before it"),
        ({"lower": [0.9, 0.9]}, r"fitted\.map must not have a lower probability above the upper one"),
        ({"upper_edges": [2.0, 1.0]}, r"fitted\.map\.upper_edges\[1\] must not be below"),
    ],
)
def test_a_damaged_file_is_refused(change, message):
    document = json.loads(json.dumps(to_document(VennAbersCalibrator().fit([1, 2], [0, 1]))))
    document["fitted"]["map"].update(change)
    with pytest.raises(CalibrantError, match=message):
        from_document(document | {"checksum": None})


def test_a_file_with_another_map_is_refused():
    document = json.loads(json.dumps(to_document(VennAbersCalibrator().fit([1, 2], [0, 1]))))
    document["fitted"]["map"] = {"map": "constant", "value": 0.5}
    with pytest.raises(CalibrantError, match=r"fitted\.map\.map must be one of bounds; got 'constant'"):
        from_document(document | {"checksum": None})


def test_many_classes_are_taken_one_against_the_others():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 200)
    scores = rng.normal(size=(200, 3)) + 2 * np.eye(3)[label]
    proba = OneVsAllCalibrator("venn_abers").fit(scores, label).predict_proba(scores)
    alone = np.stack(
        [
            VennAbersCalibrator().fit(scores[:, each], label == each).predict_proba(scores[:, each])[:, 1]
            for each in range(3)
        ],
        axis=1,
    )
    np.testing.assert_allclose(proba, alone / alone.sum(axis=1, keepdims=True), rtol=1e-12)


def test_scores_that_point_the_wrong_way_are_told():
    scores = np.arange(100.0)
    with pytest.warns(ScoreDirectionWarning):
        VennAbersCalibrator().fit(scores, scores < 50)
