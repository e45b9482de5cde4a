"""The scikit-learn estimators, composed of the rooms above."""

from calibrant.classifiers._calibrated import CalibratedClassifier

__all__ = ["CalibratedClassifier"]
