"""Diagrams of labels and probabilities, and of estimators, as the displays of scikit-learn."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from calibrant._core._errors import DataError
from calibrant.metrics import detection_curve, isotonic_reliability, roc_points
from calibrant.plots import detection_diagram, reliability_diagram, roc_diagram
from plots.cases import PROBA, THREE, Y3, Y

BOTH = np.column_stack([1 - PROBA, PROBA])
DISPLAYS = [reliability_diagram, roc_diagram, detection_diagram]
RECORDS = {
    reliability_diagram: isotonic_reliability(Y, PROBA),
    roc_diagram: roc_points(Y, PROBA),
    detection_diagram: detection_curve((PROBA > 0.5) == Y, np.maximum(PROBA, 1 - PROBA)),
}
each_display = pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.__name__)


def line_of(ax):
    return ax.lines[-1].get_xydata()


@each_display
@pytest.mark.parametrize("proba", [PROBA, BOTH], ids=["one column", "both"])
def test_labels_and_probabilities_are_the_record(display, proba):
    expected = line_of(display(RECORDS[display]))
    labels = np.where(Y, "yes", "no")
    for ax in (
        display(Y, proba),
        display.from_predictions(Y, proba),
        display.from_predictions(labels, proba, classes=["no", "yes"]),
    ):
        np.testing.assert_allclose(line_of(ax), expected)


@each_display
def test_an_estimator_is_its_probabilities(display):
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], np.array(["setosa", "versicolor", "virginica"])[y[50:]]
    model = GaussianNB().fit(X[::2], y[::2])
    ax = display.from_estimator(model, X[1::2], y[1::2])
    expected = display(y[1::2], model.predict_proba(X[1::2]), classes=model.classes_)
    np.testing.assert_array_equal(line_of(ax), line_of(expected))
    assert ax.lines[-1].get_label() == "GaussianNB"
    figure, axes = plt.subplots()
    assert display.from_estimator(model, X[1::2], y[1::2], ax=axes, label="mine") is axes
    assert axes.lines[-1].get_label() == "mine"
    assert figure.axes == [axes]


@each_display
def test_intervals_are_drawn_about_the_curve(display):
    drawn = display(Y, PROBA)
    assert drawn.collections
    if display is not reliability_diagram:  # whose band is that of chance, and about the diagonal
        assert not display(Y, PROBA, intervals=False).collections
        (band,) = drawn.collections
        edges, curve = band.get_paths()[0].vertices, line_of(drawn)
        inside = (curve[:, 0] > 0.2) & (curve[:, 0] < 0.8)
        for x, share in curve[inside][::20]:
            near = edges[np.abs(edges[:, 0] - x) < 0.02, 1]
            assert near.min() - 0.02 <= share <= near.max() + 0.02


@each_display
def test_rows_of_weight_zero_are_absent(display):
    weight = np.ones(len(Y))
    weight[::3] = 0
    kept = weight > 0
    np.testing.assert_allclose(
        np.unique(line_of(display(Y, PROBA, sample_weight=weight)), axis=0)[-1],
        np.unique(line_of(display(Y[kept], PROBA[kept])), axis=0)[-1],
    )


def test_of_many_classes_the_most_probable_one_is_drawn():
    top, right = THREE.max(axis=1), THREE.argmax(axis=1) == Y3
    expected = line_of(reliability_diagram(isotonic_reliability(right, top)))
    np.testing.assert_allclose(line_of(reliability_diagram(Y3, THREE)), expected)
    expected = line_of(detection_diagram(detection_curve(right, top)))
    np.testing.assert_allclose(line_of(detection_diagram(Y3, THREE)), expected)
    with pytest.raises(DataError, match="must be that of two classes; got 3; draw one class against"):
        roc_diagram(Y3, THREE)


@each_display
def test_what_is_no_probability_is_refused_before_anything_is_drawn(display):
    for y, proba in ((Y, PROBA + 1), (Y[:-1], PROBA), (Y[:-1], BOTH)):
        with pytest.raises(DataError):
            display(y, proba)
    assert not plt.get_fignums()
