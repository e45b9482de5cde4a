"""Probabilities of rows in passes: those that came with them, or those of models fitted to other folds."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._core._checks import check_probabilities
from calibrant.models import from_document, to_document
from calibrant.passes import Cases, Problem, Rows, travels


@travels
@dataclass(frozen=True, eq=False)
class GivenForecast:
    """The scores are probabilities: of the positive class, or one per class."""

    def rows(self, rows: Rows) -> Rows:
        """Give the rows with their probabilities in the place of scores."""
        return rows.once("given", lambda: replace(rows, scores=check_probabilities(rows.scores, "scores")))


@travels
@dataclass(frozen=True, eq=False)
class GroupForecast:
    """The scores of some rows are probabilities: of those whose key is the number of a group.

    Parameters
    ----------
    number : int
        The group.
    """

    number: int

    def rows(self, rows: Rows) -> Rows:
        """Give the rows of the group, with their probabilities in the place of scores."""
        given = GivenForecast().rows(rows)
        return given.once(("group", self.number), lambda: given.take(given.keys() == np.uint64(self.number)))


@travels
@dataclass(frozen=True, eq=False)
class CrossFitForecast:
    """Every row is judged by the model that was fitted without its fold: of two classes the second.

    Parameters
    ----------
    models : tuple of str
        Calibrators as JSON documents, one per fold.
    """

    models: tuple[str, ...]

    @classmethod
    def of(cls, models: list[Any]) -> "CrossFitForecast":
        """Take fitted calibrators, one per fold."""
        return cls(tuple(json.dumps(to_document(model)) for model in models))

    @cached_property
    def _fitted(self) -> list[Any]:
        return [from_document(json.loads(text)) for text in self.models]

    def rows(self, rows: Rows) -> Rows:
        """Give the rows with their probabilities in the place of scores."""
        return rows.once(("forecast", id(self)), lambda: self._judged(rows))

    def _judged(self, rows: Rows) -> Rows:
        fold = rows.folds(len(self.models))
        scores = rows.scores
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]
        proba = np.empty((len(rows), len(self._fitted[0].classes_)))
        for number, model in enumerate(self._fitted):
            judged = np.flatnonzero(fold == number)
            if len(judged):
                proba[judged] = model.predict_proba(scores[judged])
        return replace(rows, scores=np.ascontiguousarray(proba[:, 1]) if proba.shape[1] == 2 else proba)


@travels
@dataclass(frozen=True, eq=False)
class ForecastProblem:
    """The probabilities of one class, and whether rows are of it.

    Parameters
    ----------
    forecast : GivenForecast or CrossFitForecast
        What gives the probabilities.
    problem : Problem
        Which column of them, and which class.
    """

    forecast: Any
    problem: Problem

    def cases(self, rows: Rows) -> Cases:
        """Cut the problem out of a batch."""
        return self.problem.cases(self.forecast.rows(rows))
