"""What a wrapped learner's `fit` and the splitter are given besides the rows."""

import warnings
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import has_fit_parameter

from calibrant._core._arrays import Float64Array
from calibrant._core._errors import ParameterError


def route_metadata(
    owner: Any,
    learner: Any,
    weights: Float64Array | None,
    fit_params: dict[str, Any],
    *,
    cv: Any,
    otherwise_for: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the parameters of the learner's `fit` and of the splitter's `split`.

    Without metadata routing the learner gets everything, and the weights if it takes them; if it does not,
    a warning says what they are used for alone (`otherwise_for`). Only `groups` are for the folds, as in
    scikit-learn's searches.
    """
    if get_config()["enable_metadata_routing"]:
        given = fit_params if weights is None else {"sample_weight": weights, **fit_params}
        routed = process_routing(owner, "fit", **given)
        return routed["estimator"]["fit"], routed["splitter"]["split"]
    fit_params, split_params = _split_groups(learner, fit_params, cv)
    if weights is None:
        return fit_params, split_params
    if has_fit_parameter(learner, "sample_weight"):
        return {"sample_weight": weights, **fit_params}, split_params
    message = (
        f"{type(learner).__name__}.fit takes no sample_weight, so the weights are used for the "
        f"{otherwise_for} alone; pass them to the learner by metadata routing or by its own fit parameters"
    )
    warnings.warn(message, UserWarning, stacklevel=3)
    return fit_params, split_params


def _split_groups(learner: Any, fit_params: dict[str, Any], cv: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is for the learner and what for the folds: groups for whoever makes use of them."""
    groups = fit_params.get("groups")
    if groups is None:
        return fit_params, {}
    for_folds = {"groups": groups} if _splits_by_groups(cv) else {}
    if has_fit_parameter(learner, "groups") or _splits_by_groups(getattr(learner, "cv", None)):
        return fit_params, for_folds
    if not for_folds:
        raise ParameterError(
            f"groups must be used by the folds; cv={cv!r} does not use them; pass a splitter such as "
            "sklearn.model_selection.GroupKFold()"
        )
    return {name: value for name, value in fit_params.items() if name != "groups"}, for_folds


def _splits_by_groups(cv: Any) -> bool:
    """Whether a splitter uses groups; of one that does not say so it is believed."""
    if not hasattr(cv, "split"):
        return False
    if not hasattr(cv, "get_metadata_routing"):
        return True
    return get_routing_for_object(cv).split.requests.get("groups") is True
