"""What a wrapped learner's `fit` and the splitter are given besides the rows."""

import warnings
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import has_fit_parameter

from calibrant._core._arrays import Float64Array


def route_metadata(
    owner: Any,
    learner: Any,
    weights: Float64Array | None,
    fit_params: dict[str, Any],
    *,
    otherwise_for: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the parameters of the learner's `fit` and of the splitter's `split`.

    Without metadata routing the learner gets everything, and the weights if it takes them; if it does not,
    a warning says what they are used for alone (`otherwise_for`).
    """
    if get_config()["enable_metadata_routing"]:
        given = fit_params if weights is None else {"sample_weight": weights, **fit_params}
        routed = process_routing(owner, "fit", **given)
        return routed["estimator"]["fit"], routed["splitter"]["split"]
    if weights is None:
        return fit_params, {}
    if has_fit_parameter(learner, "sample_weight"):
        return {"sample_weight": weights, **fit_params}, {}
    message = (
        f"{type(learner).__name__}.fit takes no sample_weight, so the weights are used for the "
        f"{otherwise_for} alone; pass them to the learner by metadata routing or by its own fit parameters"
    )
    warnings.warn(message, UserWarning, stacklevel=3)
    return fit_params, {}
