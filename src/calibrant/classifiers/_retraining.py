"""What the wrappers that train a learner many times share: checks of their rows, tags, metadata routing."""

from dataclasses import replace
from typing import Any

from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from calibrant.classifiers._given import read_given, read_new
from calibrant.classifiers._hard import check_learner
from calibrant.classifiers._kernels import tags_of_learner
from calibrant.classifiers._rows import Given


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
        return tags_of_learner(tags, self.estimator)

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
        given = read_given(self, X, y, sample_weight, fit_params, cv)
        if get_config()["enable_metadata_routing"]:
            weights = given.weights
            shared = {"sample_weight": weights} if passes_weights and weights is not None else {}
            routed = dict(process_routing(self, "fit", **shared, **given.fit_params)["estimator"]["fit"])
            given = replace(given, fit_params=routed)
        return given

    def _read_new(self, X: Any) -> Any:
        """Check what came to `predict`."""
        return read_new(self, X)
