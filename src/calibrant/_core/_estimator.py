"""An estimator by scikit-learn's rules that needs scikit-learn only where it is asked for something of its.

What scikit-learn asks of an estimator are methods, and not a base class: parameters that can be got and set,
and thereby copies; tags; requests for metadata; a picture for notebooks.
"""

from collections.abc import Mapping
from copy import deepcopy
from inspect import Parameter, signature
from typing import Any, Self

from calibrant._core import _late as late
from calibrant._core._errors import ParameterError

#: What scikit-learn means by a request that is not given.
UNCHANGED = "$UNCHANGED$"


class Estimator:
    """Base of all that has parameters and can be fitted."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether the parameters of parameters are given too, as ``outer__inner``.

        Returns
        -------
        dict
            The parameters by name.
        """
        found: dict[str, Any] = {}
        for name in sorted(_defaults(type(self))):
            value = found[name] = getattr(self, name)
            if deep and _has_parameters(value):
                found |= {f"{name}__{inner}": each for inner, each in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params
            The parameters by name; ``outer__inner`` is that of a parameter.

        Returns
        -------
        Self
            The same object.
        """
        inner: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            own, nested, rest = name.partition("__")
            if own not in _defaults(type(self)):
                raise ParameterError(
                    f"a parameter of {type(self).__name__} must be one of "
                    f"{', '.join(sorted(_defaults(type(self))))}; got {own!r}"
                )
            if nested:
                inner.setdefault(own, {})[rest] = value
            else:
                setattr(self, own, value)
        for name, values in inner.items():
            getattr(self, name).set_params(**values)
        return self

    def __repr__(self) -> str:
        default = _defaults(type(self))
        given = {name: repr(value) for name, value in self.get_params(deep=False).items()}
        changed = [f"{name}={value}" for name, value in given.items() if value != repr(default[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """The picture that notebooks show."""
        return str(late.sklearn_utils.estimator_html_repr(self))

    def __sklearn_tags__(self) -> Any:
        return late.base.BaseEstimator().__sklearn_tags__()

    def __sklearn_clone__(self) -> Self:
        given = self.get_params(deep=False)
        plain = {name: deepcopy(value) for name, value in given.items() if not _has_parameters(value)}
        inner = {name: clone(value) for name, value in given.items() if name not in plain}
        copied = type(self)(**plain, **inner)
        if "_weights_asked" in vars(self):
            copied._weights_asked = self._weights_asked
        return copied

    def get_metadata_routing(self) -> Any:
        """Get what is asked for beside rows and labels, in the words of scikit-learn.

        Returns
        -------
        MetadataRequest
            The requests.
        """
        asked = late.metadata_routing.MetadataRequest(owner=self)
        if "sample_weight" in signature(self.fit).parameters:  # type: ignore[attr-defined]
            asked.fit.add_request(param="sample_weight", alias=vars(self).get("_weights_asked"))
        return asked

    def set_fit_request(self, *, sample_weight: bool | str | None = UNCHANGED) -> Self:
        """Say whether `fit` is to be given weights, where scikit-learn routes metadata.

        Parameters
        ----------
        sample_weight : bool, str or None
            True to ask for them, False not to, None to have them refused, or another name for them.

        Returns
        -------
        Self
            The same object.
        """
        if not (sample_weight is None or isinstance(sample_weight, bool | str)):
            raise ParameterError(
                "sample_weight must be True, False, None or another name for it; got "
                f"{type(sample_weight).__name__}"
            )
        if sample_weight != UNCHANGED:
            self._weights_asked = sample_weight
        return self


def clone(estimator: Any) -> Any:
    """An unfitted copy, with copies of the parameters; of whatever scikit-learn can copy."""
    is_ours = isinstance(estimator, Estimator)
    return estimator.__sklearn_clone__() if is_ours else late.base.clone(estimator)


def _has_parameters(value: object) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _defaults(kind: type) -> Mapping[str, Any]:
    """The arguments of the constructor with their defaults, in order."""
    if kind.__init__ is object.__init__:  # type: ignore[misc]
        return {}
    skipped = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    found = list(signature(kind.__init__).parameters.values())[1:]  # type: ignore[misc]
    return {each.name: each.default for each in found if each.kind not in skipped}
