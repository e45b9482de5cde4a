"""What learners take, made of a table of names and numbers; learned from the training rows alone.

The papers do not say what they did with missing values. Here they are a value of their own for naive Bayes,
and for the other learners the mean of the training rows where a number is missing, and none of the names
where a name is.
"""

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant.learners import EqualWidthQuantizer

#: The category of what is missing.
MISSING = -1


class CategoryCodes(TransformerMixin, BaseEstimator):
    """Whole numbers for naive Bayes: the codes of names, and 21 levels of equal width for numbers.

    Parameters
    ----------
    nominal : ndarray of bool of shape (d,)
        Which columns are names.
    n_levels : int, default=21
        Number of levels of a number.
    by_rank : bool, default=False
        Whether the levels hold equally many training rows instead, as far as ties allow.
    """

    def __init__(self, nominal: BoolArray, n_levels: int = 21, by_rank: bool = False) -> None:
        self.nominal = nominal
        self.n_levels = n_levels
        self.by_rank = by_rank

    def fit(self, X: Float64Array, y: Any = None) -> Self:  # noqa: ARG002
        """Find the levels of the numbers."""
        self.levels_ = {
            int(place): self._levels_of(X[~np.isnan(X[:, place]), place])
            for place in np.flatnonzero(~self.nominal)
        }
        return self

    def transform(self, X: Float64Array) -> IntArray:
        """Give the codes."""
        check_is_fitted(self, "levels_")
        codes = np.where(np.isnan(X), MISSING, X).astype(np.intp)
        for place, levels in self.levels_.items():
            known = ~np.isnan(X[:, place])
            values = X[known, place]
            if levels is None:
                codes[:, place] = MISSING
            elif self.by_rank:
                codes[known, place] = np.searchsorted(levels, values, side="right")
            else:
                codes[known, place] = levels.transform(values[:, None])[:, 0]
        return codes

    def _levels_of(self, values: Float64Array) -> Any:
        if len(values) == 0:
            return None
        if self.by_rank:
            return np.unique(np.quantile(values, np.arange(1, self.n_levels) / self.n_levels))
        return EqualWidthQuantizer(self.n_levels).fit(values[:, None])


class Indicators(TransformerMixin, BaseEstimator):
    """One column of zeros and ones per category, for linear models on discretised features.

    Values that the training rows do not have are zero in all their columns.
    """

    def fit(self, X: IntArray, y: Any = None) -> Self:  # noqa: ARG002
        """Find the categories."""
        self.encoder_ = OneHotEncoder(handle_unknown="ignore").fit(X)
        return self

    def transform(self, X: IntArray) -> csr_array:
        """Give the columns."""
        check_is_fitted(self, "encoder_")
        return csr_array(self.encoder_.transform(X))


class DesignMatrix(TransformerMixin, BaseEstimator):
    """Numbers for linear models and trees: standardised numbers, and one column per name.

    Parameters
    ----------
    nominal : ndarray of bool of shape (d,)
        Which columns are names.
    """

    def __init__(self, nominal: BoolArray) -> None:
        self.nominal = nominal

    def fit(self, X: Float64Array, y: Any = None) -> Self:  # noqa: ARG002
        """Find the names, and the mean and the spread of the numbers."""
        numbers = X[:, ~self.nominal]
        known = ~np.isnan(numbers)
        count = np.maximum(known.sum(axis=0), 1)
        self.mean_ = np.where(known, numbers, 0).sum(axis=0) / count
        spread = np.sqrt((np.where(known, numbers - self.mean_, 0) ** 2).sum(axis=0) / count)
        self.scale_ = np.where(spread > 0, spread, 1)
        self.names_ = [np.unique(column[~np.isnan(column)]) for column in X[:, self.nominal].T]
        return self

    def transform(self, X: Float64Array) -> Float64Array:
        """Give the columns."""
        check_is_fitted(self, "mean_")
        numbers = (X[:, ~self.nominal] - self.mean_) / self.scale_
        columns = [np.where(np.isnan(numbers), 0, numbers)]
        columns += [
            (column[:, None] == names).astype(np.float64)
            for column, names in zip(X[:, self.nominal].T, self.names_, strict=True)
        ]
        return np.concatenate(columns, axis=1)
