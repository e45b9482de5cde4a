"""Numbers to a few levels of equal width."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from calibrant._core._arrays import IntArray
from calibrant._core._checks import check_number
from calibrant._core._extremes import HUGE
from calibrant._core._foreign import read_table

#: Keeps a value that lies on an edge out of the cell below it, whatever rounding does.
ROUNDING = 1e-9


class EqualWidthQuantizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Cut the range of every feature into levels of equal width.

    Parameters
    ----------
    n_levels : int, default=21
        The number of levels; 21 is that of O'Brien, Gupta and Gray.

    Attributes
    ----------
    data_min_ : ndarray of shape (d,)
        The least value of every feature.
    data_max_ : ndarray of shape (d,)
        The greatest value of every feature.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Names of the features, where X is a frame.

    See Also
    --------
    CategoricalNaiveBayes : Takes the levels as categories.

    Notes
    -----
    Values outside the range of training belong to the first or last level. A feature that was constant in
    training has the level 0 only. Scikit-learn's ``KBinsDiscretizer(strategy="uniform", encode="ordinal")``
    gives the same but for values on an edge, which rounding may put below it there.

    Examples
    --------
    >>> from calibrant.learners import EqualWidthQuantizer
    >>> EqualWidthQuantizer().fit([[0.0], [1.0]]).transform([[0.0], [0.5], [1.0], [-1.0], [2.0]]).ravel()
    array([ 0, 10, 20,  0, 20])
    """

    def __init__(self, n_levels: int = 21) -> None:
        self.n_levels = n_levels

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find the range of every feature.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : object, optional
            Not used.

        Returns
        -------
        Self
            The fitted transformer.
        """
        check_number("n_levels", self.n_levels, "a whole number, 1 or more", lambda n: n >= 1 and n == int(n))
        X = read_table(self, X, reset=True, dtype=[np.float64, np.float32])
        self.data_min_, self.data_max_ = X.min(axis=0), X.max(axis=0)
        return self

    def transform(self, X: Any) -> IntArray:
        """Give the level of every value.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, d)
            Whole numbers from 0 to ``n_levels - 1``.
        """
        check_is_fitted(self, "data_min_")
        X = read_table(self, X, dtype=np.float64)
        # Halved where the distance between two finite numbers need not be finite; halves of the least are 0.
        half = np.where(np.maximum(-self.data_min_, self.data_max_) > HUGE, 0.5, 1.0)
        start, width = self.data_min_ * half, self.data_max_ * half - self.data_min_ * half
        share = (np.clip(X, self.data_min_, self.data_max_) * half - start) / np.where(width > 0, width, 1)
        level = np.floor(share * self.n_levels + ROUNDING)
        return np.asarray(np.minimum(level, self.n_levels - 1), dtype=np.intp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
