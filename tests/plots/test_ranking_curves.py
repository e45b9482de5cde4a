"""ROC curves with their hull, and the errors found by checking first what is least certain."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from calibrant import PAVCalibrator, RankedLogisticCalibrator, likely_errors
from calibrant._core._errors import DataError
from calibrant.metrics import detection_curve, roc_points
from calibrant.plots import detection_diagram, roc_diagram
from plots.cases import PROBA, SCORES, Y


class TestRoc:
    def test_curve_and_diagonal(self):
        curve = roc_points(Y, SCORES)
        ax = roc_diagram(curve, label="scores")
        diagonal, line = ax.lines
        np.testing.assert_array_equal(diagonal.get_xydata(), [[0, 0], [1, 1]])
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.fpr, curve.tpr]))
        assert line.get_label() == "scores"
        assert ax.get_xlabel() == "share of the negatives above the threshold"
        assert ax.get_ylabel() == "share of the positives above the threshold"

    def test_isotonic_calibration_is_the_convex_hull(self):
        pooled = PAVCalibrator().fit(SCORES, Y).predict_proba(SCORES)
        ax = roc_diagram(roc_points(Y, SCORES), hull=roc_points(Y, pooled))
        _, hull, curve = ax.lines
        assert hull.get_label() == "convex hull (isotonic)"
        points = np.vstack([curve.get_xydata(), [[1, 0]]])
        theirs = points[ConvexHull(points).vertices]
        theirs = theirs[np.lexsort(theirs.T[::-1])]
        np.testing.assert_allclose(hull.get_xydata(), [*theirs[:-2].tolist(), [1, 1]], atol=1e-12)

    def test_one_class_has_no_curve(self):
        ax = roc_diagram(roc_points([1, 1], [0.1, 0.2]))
        assert [text.get_text() for text in ax.texts] == ["one class only: no curve"]
        assert len(ax.lines) == 1

    def test_hull_of_something_else(self):
        with pytest.raises(DataError, match="hull must be what roc_points gives; got bool"):
            roc_diagram(roc_points(Y, SCORES), hull=True)

    def test_several(self):
        ax = roc_diagram(roc_points(Y, SCORES), label="one")
        roc_diagram(roc_points(Y, -SCORES), ax=ax, label="other", ls=":")
        assert [line.get_label() for line in ax.lines[1:]] == ["one", "other"]
        assert ax.lines[2].get_linestyle() == ":"


class TestDetection:
    def test_curve_starts_with_nothing(self):
        curve = detection_curve(Y, PROBA)
        ax = detection_diagram(curve, label="by probability")
        diagonal, line = ax.lines
        np.testing.assert_array_equal(line.get_xdata(), np.append(0, curve.coverage))
        np.testing.assert_array_equal(line.get_ydata(), np.append(0, curve.share))
        assert [diagonal.get_label(), line.get_label()] == ["at random", "by probability"]
        assert (ax.get_xlabel(), ax.get_ylabel()) == (
            "share of the rows checked",
            "share of the errors found",
        )

    def test_with_the_raw_score_as_baseline(self):
        scores = np.random.default_rng(0).normal(size=(100, 3))
        y = np.where(np.arange(100) % 4, scores.argmax(axis=1), 0)
        model = RankedLogisticCalibrator(smooth=True).fit(scores, y)
        checks = likely_errors(model, scores, y)
        ax = detection_diagram(checks.curve, baseline=checks.curve_by_score)
        _, line, baseline = ax.lines
        np.testing.assert_array_equal(baseline.get_ydata()[1:], checks.curve_by_score.share)
        assert baseline.get_label() == "raw score"
        assert baseline.get_linestyle() != line.get_linestyle()

    def test_no_errors(self):
        ax = detection_diagram(detection_curve([1, 1], [0.5, 0.6]))
        assert [text.get_text() for text in ax.texts] == ["no errors: nothing to find"]

    def test_errors_without_labels(self):
        with pytest.raises(DataError, match="likely_errors with labels gives; got NoneType"):
            detection_diagram(None)
        with pytest.raises(DataError, match="baseline must be what detection_curve"):
            detection_diagram(detection_curve(Y, PROBA), baseline=PROBA)
