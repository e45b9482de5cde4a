"""Fitted calibrators as what gives rows their probabilities: here, or in a pass wherever that is."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibrant.calibrators import Calibrator, proba_of
from calibrant.models._document import from_document, to_document
from calibrant.passes import Rows, travels


@dataclass(frozen=True, eq=False)
class ForecastHere:
    """All rows are measured by one calibrator, which need not travel."""

    calibrator: Calibrator

    def rows(self, rows: Rows) -> Rows:
        """Give the rows with their probabilities in the place of scores."""
        return rows.once(
            ("forecast", self), lambda: replace(rows, scores=proba_of(self.calibrator, rows.scores))
        )


@travels
@dataclass(frozen=True, eq=False)
class CrossFitForecast:
    """Every row is measured by the model that was fitted without its fold: of two classes the second.

    Parameters
    ----------
    models : tuple of str
        Calibrators as JSON documents, one per fold.
    homes : tuple of str
        The modules that their methods and maps are defined in.
    """

    models: tuple[str, ...]
    homes: tuple[str, ...] = ()

    @classmethod
    def of(cls, models: list[Any]) -> "CrossFitForecast":
        """Take fitted calibrators, one per fold."""
        parts = [part for model in models for part in (model, *getattr(model, "calibrators_", []))]
        homes = {type(each).__module__ for part in parts for each in (part, getattr(part, "map_", part))}
        return cls(tuple(json.dumps(to_document(model)) for model in models), tuple(sorted(homes)))

    @cached_property
    def _fitted(self) -> list[Any]:
        return [from_document(json.loads(text)) for text in self.models]

    def rows(self, rows: Rows) -> Rows:
        """Give the rows with their probabilities in the place of scores."""
        return rows.once(("forecast", self.models), lambda: self._judged(rows))

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
