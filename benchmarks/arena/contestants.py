"""Our methods and the peers, each from scores and labels to probabilities.

Everyone gets the same scores. Methods for margins get margins where the base model gives these; methods for
probabilities get their softmax. Methods of two classes are fitted to every class against the others, and the
answers normalised, as scikit-learn does it.
"""

import contextlib
import io
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.arena.learners import Scores
from calibrant import OneVsAllCalibrator
from calibrant.calibrators import METHODS, named_method

#: From scores to probabilities.
Answer = Callable[[Scores], np.ndarray]
#: From scores and labels to what answers.
Contestant = Callable[[Scores, np.ndarray], Answer]

REFERENCE = "scikit-learn isotonic"


def ours(name: str) -> Contestant:
    """A method of the registry, made fit for the rows as a comparison does it."""

    def fit(scores: Scores, y: np.ndarray) -> Answer:
        method = METHODS[name]
        kind = scores.kind if scores.kind in method.kinds else "probability"
        given = named_method(name, kind)

        def seen(new: Scores) -> np.ndarray:
            new = new if kind == new.kind else Scores(new.proba, kind)
            return new.rows if method.takes == "row" or new.n_classes > 2 else new.single

        one_each = method.takes == "score" and scores.n_classes > 2
        calibrator = OneVsAllCalibrator(given) if one_each else given
        fitted = calibrator.fit(seen(scores), y)
        return lambda new: fitted.predict_proba(seen(new))

    return fit


def each_class(fit_one: Callable[[np.ndarray, np.ndarray], Any], *, margins: bool = False) -> Contestant:
    """A peer for two classes: `fit_one` takes the scores of a class and whether it is the true one."""

    def fit(scores: Scores, y: np.ndarray) -> Answer:
        def seen(new: Scores) -> np.ndarray:
            values = new.rows if margins and new.kind == "margin" else new.proba
            return values[:, 1:] if new.n_classes == 2 else values

        columns = seen(scores)
        first = 1 if scores.n_classes == 2 else 0
        maps = [fit_one(column, (y == first + place).astype(int)) for place, column in enumerate(columns.T)]

        def answer(new: Scores) -> np.ndarray:
            found = [each(column) for each, column in zip(maps, seen(new).T, strict=True)]
            found = np.clip(np.stack(found, axis=1), 0.0, 1.0)
            if new.n_classes == 2:
                return np.hstack([1 - found, found])
            total = found.sum(axis=1, keepdims=True)
            return np.where(total > 0, found / np.where(total > 0, total, 1), 1 / new.n_classes)

        return answer

    return fit


def _isotonic(scores: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(out_of_bounds="clip").fit(scores, y).predict


def _sigmoid(scores: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.calibration import _SigmoidCalibration

    return _SigmoidCalibration().fit(scores, y).predict


def _temperature(scores: Scores, y: np.ndarray) -> Answer:
    from sklearn.calibration import _TemperatureScaling

    fitted = _TemperatureScaling().fit(scores.values, y)

    def answer(new: Scores) -> np.ndarray:
        found = fitted.predict(new.values)
        return found if found.ndim == 2 else np.stack([1 - found, found], axis=1)

    return answer


def _betacal(scores: np.ndarray, y: np.ndarray) -> Any:
    from betacal import BetaCalibration

    return BetaCalibration("abm").fit(scores[:, None], y).predict


def _venn_abers(scores: np.ndarray, y: np.ndarray) -> Any:
    from venn_abers import VennAbers

    fitted = VennAbers()
    fitted.fit(np.stack([1 - scores, scores], axis=1), y)
    return lambda new: fitted.predict_proba(np.stack([1 - new, new], axis=1))[0][:, 1]


def _netcal(room: str, name: str) -> Contestant:
    def fit(scores: Scores, y: np.ndarray) -> Answer:
        from importlib import import_module

        calibrator = getattr(import_module(f"netcal.{room}"), name)()

        def seen(new: Scores) -> np.ndarray:
            return new.proba[:, 1] if new.n_classes == 2 else new.proba

        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            calibrator.fit(seen(scores), y)

        def answer(new: Scores) -> np.ndarray:
            found = np.clip(np.nan_to_num(calibrator.transform(seen(new)), nan=0.0), 0.0, 1.0)
            if new.n_classes == 2:
                found = found.reshape(-1)
                return np.stack([1 - found, found], axis=1)
            total = found.sum(axis=1, keepdims=True)
            return np.where(total > 0, found / np.where(total > 0, total, 1), 1 / new.n_classes)

        return answer

    return fit


def _probmetrics(name: str) -> Contestant:
    def fit(scores: Scores, y: np.ndarray) -> Answer:
        from probmetrics.calibrators import get_calibrator

        calibrator = get_calibrator(name)
        with contextlib.redirect_stdout(io.StringIO()):
            calibrator.fit(scores.proba.astype(np.float64), y)
        return lambda new: calibrator.predict_proba(new.proba.astype(np.float64))

    return fit


def _quadratic(scores: np.ndarray, y: np.ndarray) -> Any:
    from probmetrics.calibrators import get_calibrator

    fitted = get_calibrator("quadratic-scaling", calibrate_with_mixture=True)
    fitted.fit(np.stack([1 - scores, scores], axis=1).astype(np.float64), y)
    return lambda new: fitted.predict_proba(np.stack([1 - new, new], axis=1).astype(np.float64))[:, 1]


#: The peers, by the package that they need.
PEERS: dict[str, tuple[str, Contestant]] = {
    REFERENCE: ("sklearn", each_class(_isotonic, margins=True)),
    "scikit-learn sigmoid": ("sklearn", each_class(_sigmoid, margins=True)),
    "scikit-learn temperature": ("sklearn", _temperature),
    "betacal": ("betacal", each_class(_betacal)),
    "venn-abers": ("venn_abers", each_class(_venn_abers)),
    "netcal temperature": ("netcal", _netcal("scaling", "TemperatureScaling")),
    "netcal histogram": ("netcal", _netcal("binning", "HistogramBinning")),
    "netcal BBQ": ("netcal", _netcal("binning", "BBQ")),
    "probmetrics temperature-mix": ("probmetrics", _probmetrics("ts-mix")),
    "probmetrics svs": ("probmetrics", _probmetrics("svs")),
    "probmetrics logistic-mix": ("probmetrics", _probmetrics("logistic-mix")),
    "probmetrics quadratic-mix": ("probmetrics", each_class(_quadratic)),
}


def uncalibrated(scores: Scores, y: np.ndarray) -> Answer:
    """The base model's own word, or the softmax of its margins."""
    del scores, y
    return lambda new: new.proba


def contestants() -> dict[str, Contestant]:
    """All of them, as far as their packages are installed; `identity` is what nobody has calibrated."""
    own = {f"calibrant {name}": ours(name) for name in METHODS if name != "identity"}
    peers = {name: each for name, (package, each) in PEERS.items() if find_spec(package) is not None}
    return own | peers | {"uncalibrated": uncalibrated}
