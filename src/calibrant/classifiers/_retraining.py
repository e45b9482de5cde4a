"""What the wrappers that train a learner many times share: checks of their rows, tags, metadata routing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import check_weights, label_column
from calibrant._core._errors import DataError
from calibrant.classifiers._hard import check_learner
from calibrant.classifiers._rows import drop_absent


@dataclass(frozen=True, slots=True)
class Given:
    """What `fit` was given, checked, without the rows of weight zero.

    Attributes
    ----------
    X : object
        The rows.
    y : ndarray of shape (n,)
        Their labels.
    weights : ndarray of shape (n,)
        Their weights.
    fit_params : dict
        What the learner's `fit` is given besides.
    cv : object
        The folds, renumbered where they are given as row numbers.
    """

    X: Any
    y: Array
    weights: Float64Array
    fit_params: dict[str, Any]
    cv: Any


class RetrainingClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of the classifiers that need only `fit` and `predict` of a learner."""

    estimator: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who may be given which metadata.

        Returns
        -------
        MetadataRouter
            The learner's `fit` is reached from `fit`.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(
            estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit")
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            learner = get_tags(self.estimator)
            tags.input_tags.sparse = learner.input_tags.sparse
            tags.input_tags.allow_nan = learner.input_tags.allow_nan
        return tags

    def _read(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        fit_params: dict[str, Any],
        cv: Any = None,
        *,
        passes_weights: bool = False,
    ) -> Given:
        """Check what came to `fit`; with metadata routing the learner gets what it has asked for."""
        check_learner(self.estimator)
        X, y = indexable(X, y)
        validate_data(self, X=X, skip_check_array=True)
        y = label_column(column_or_1d(y, warn=True))
        check_classification_targets(y)
        weights = check_weights(sample_weight, len(y))
        if get_config()["enable_metadata_routing"]:
            shared = {"sample_weight": weights} if passes_weights and weights is not None else {}
            fit_params = dict(process_routing(self, "fit", **shared, **fit_params)["estimator"]["fit"])
        X, y, weights, fit_params, cv = drop_absent(X, y, weights, fit_params, cv)
        return Given(X, y, np.ones(len(y)) if weights is None else weights, fit_params, cv)

    def _read_new(self, X: Any) -> Any:
        """Check what came to `predict`."""
        check_is_fitted(self, "classes_")
        if getattr(X, "ndim", 2) == 1 and hasattr(self, "n_features_in_"):
            raise DataError(
                f"X must be a table; got shape {np.shape(X)}. Reshape your data: one row is a table too"
            )
        (X,) = indexable(X)
        validate_data(self, X=X, reset=False, skip_check_array=True)
        return X
