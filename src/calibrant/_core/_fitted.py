"""Fitted or not: the answer to a question asked before `fit`, and a fit that is done or undone."""

from calibrant._core import _late as late


def check_fitted(model: object, attribute: str) -> None:
    """Refuse a model that has not learned `attribute` yet."""
    if not hasattr(model, attribute):
        name = type(model).__name__
        raise late.not_fitted.NotFittedError(
            f"this {name} must be fitted before it is used; it is not; call fit first"
        )


class all_or_nothing:  # noqa: N801  (read after "with")
    """Undo a fit that fails half-way: the model stays what it was, fitted or not."""

    __slots__ = ("_before", "_model")

    def __init__(self, model: object) -> None:
        self._model, self._before = model, dict(vars(model))

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            attributes = self._model.__dict__
            attributes.clear()
            attributes.update(self._before)
