"""Methods of all scores of a row beside their peers: `build/arena/bin/python -m benchmarks.joint`.

Processor time is measured, as these calls take long enough for others to come between them. The rows are
those of a mixture in which every class is mistaken for others.
"""

import contextlib
import io
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.special import softmax

from benchmarks.measure import Row, faster, within
from benchmarks.tables import RESULTS, markdown
from calibrant import (
    BetaCalibrator,
    IdentityCalibrator,
    MatrixCalibrator,
    PAVCalibrator,
    SigmoidCalibrator,
    StackCalibrator,
    TemperatureCalibrator,
    VectorCalibrator,
    VennAbersCalibrator,
)
from calibrant.calibrators import OneVsAllCalibrator

#: Rows and classes of the table.
SIZES = ((1_000, 10), (10_000, 2), (10_000, 10), (10_000, 100), (100_000, 2), (100_000, 10))
#: Microseconds that one row may take, of ten classes and of one score.
ONE_ROW, ONE_SCORE = 60.0, 15.0


def rows_of(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that are too sure, and classes."""
    random = np.random.default_rng(0)
    y = np.append(np.arange(k), random.integers(0, k, n - k))
    margins = 1.5 * (random.normal(size=(n, k)) + 1.5 * np.eye(k)[y])
    return softmax(2 * margins, axis=1), y


def peer(name: str, scores: np.ndarray, y: np.ndarray) -> Any:
    """A calibrator of probmetrics, fitted."""
    from probmetrics.calibrators import get_calibrator

    calibrator = get_calibrator(name)
    with contextlib.redirect_stdout(io.StringIO()):
        calibrator.fit(scores, y)
    return calibrator


def sigmoid(scores: np.ndarray, y: np.ndarray) -> Any:
    """The sigmoid of the second of two classes."""
    return SigmoidCalibrator().fit(scores[:, 1], y)


def sklearn_temperature(scores: np.ndarray, y: np.ndarray) -> Any:
    """Temperature scaling of scikit-learn."""
    from sklearn.calibration import _TemperatureScaling

    return _TemperatureScaling().fit(scores, y)


def sklearn_logistic(scores: np.ndarray, y: np.ndarray) -> Any:
    """Matrix scaling as whoever has scikit-learn alone would do it."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000).fit(np.log(np.maximum(scores, 1e-12)), y)


Fit = Callable[[np.ndarray, np.ndarray], object]


def beside(
    how: Callable[..., Row], case: str, other: str, ours: Fit, theirs: Fit, goal: str, n: int, k: int
) -> Row:
    """Two fits of the same rows, in turn."""
    scores, y = rows_of(n, k)
    return how(
        f"{case} fit, n = {n:,}, k = {k}",
        other,
        lambda: ours(scores, y),
        lambda: theirs(scores, y),
        goal=goal,
        repeats=9 if n * k <= 100_000 else 3,
        clock=time.process_time,
    )


def fits() -> Iterator[Row]:
    """Fits beside those of the peers."""
    goals = {(10_000, 10): "<= 3", (100_000, 10): "<= 3", (10_000, 100): "<= 6"}
    for size in SIZES:
        two = size[1] == 2
        if two:
            goal = "<= 50" if size[0] == 100_000 else ""
            yield beside(within, "stack", "sigmoid of ours", StackCalibrator().fit, sigmoid, goal, *size)
        else:
            sms, goal = partial(peer, "logistic"), goals.get(size, "")
            yield beside(
                within, "stack", "probmetrics logistic (SMS)", StackCalibrator().fit, sms, goal, *size
            )
        # What probmetrics fits to two classes by its vectors and matrices is affine: a slope and a bias.
        for method, other, theirs in (
            (TemperatureCalibrator, "probmetrics temp-scaling", partial(peer, "temp-scaling")),
            (TemperatureCalibrator, "scikit-learn temperature", sklearn_temperature),
            (VectorCalibrator, "probmetrics", partial(peer, "affine-scaling" if two else "svs")),
            (MatrixCalibrator, "probmetrics", partial(peer, "affine-scaling" if two else "sms")),
            (MatrixCalibrator, "scikit-learn logistic", sklearn_logistic),
        ):
            yield beside(faster, method.name, other, method().fit, theirs, ">= 1", *size)


def thousand() -> Iterator[Row]:
    """Fits of a thousand classes: single maps, as the stack has no peer there."""
    size = 10_000, 1_000
    for method, other, theirs in (
        (TemperatureCalibrator, "probmetrics temp-scaling", partial(peer, "temp-scaling")),
        (TemperatureCalibrator, "scikit-learn temperature", sklearn_temperature),
        (VectorCalibrator, "probmetrics", partial(peer, "svs")),
        (MatrixCalibrator, "probmetrics", partial(peer, "sms")),
    ):
        yield beside(faster, method.name, other, method().fit, theirs, ">= 1", *size)


def predictions() -> Iterator[Row]:
    """Predictions beside those of logistic-mix."""
    for n, k in SIZES[1:]:
        scores, y = rows_of(n, k)
        mix = peer("logistic-mix", scores[:5000], y[:5000])
        single = PAVCalibrator() if k == 2 else OneVsAllCalibrator(PAVCalibrator())
        for name, method in (
            ("stack", StackCalibrator()),
            ("temperature", TemperatureCalibrator()),
            ("vector", VectorCalibrator()),
            ("matrix", MatrixCalibrator()),
            ("pav", single),
        ):
            given = scores[:, 1] if name == "pav" and k == 2 else scores
            fitted = method.fit(given, y)
            yield within(
                f"{name} predicts, n = {n:,}, k = {k}",
                "probmetrics logistic-mix",
                lambda fitted=fitted, given=given: fitted.predict_proba(given),
                lambda scores=scores, mix=mix: mix.predict_proba(scores),
                goal="<= 5" if name == "stack" else "<= 1",
                repeats=9,
                clock=time.process_time,
            )


def one_row() -> Iterator[Row]:
    """A single row, in microseconds: the least of many means of 50 calls."""
    scores, y = rows_of(3_000, 10)
    yield one_row_of("k = 10", StackCalibrator().fit(scores, y), scores[:1], ONE_ROW)
    scores, y = rows_of(3_000, 2)
    for method in (PAVCalibrator, SigmoidCalibrator, BetaCalibrator, VennAbersCalibrator, IdentityCalibrator):
        yield one_row_of("one score", method().fit(scores[:, 1], y), scores[:1, 1], ONE_SCORE)


def one_row_of(what: str, fitted: Any, row: np.ndarray, goal: float) -> Row:
    """What a fitted method takes."""

    def mean() -> float:
        begun = time.process_time()
        for _ in range(50):
            fitted.predict_proba(row)
        return (time.process_time() - begun) / 50

    taken = 1e6 * min(mean() for _ in range(100))
    case = f"{fitted.name} predicts one row, {what}"
    return Row(case, f"{goal:g} us", taken, goal, " us", taken / goal, "<= 1")


def million() -> Iterator[Row]:
    """Ten times the rows."""
    more, fewer = rows_of(1_000_000, 10), rows_of(100_000, 10)
    yield within(
        "stack fit, n = 1,000,000, k = 10",
        "the same, n = 100,000",
        lambda: StackCalibrator().fit(*more),
        lambda: StackCalibrator().fit(*fewer),
        goal="<= 3",
        repeats=3,
        clock=time.process_time,
    )


def main() -> int:
    """Measure, and keep the table."""
    if find_spec("probmetrics") is None:
        print("the benchmark of joint methods needs probmetrics; run: make arena", file=sys.stderr)
        return 0
    import torch

    torch.set_num_threads(1)
    rows = []
    for suite in (one_row, predictions, fits, thousand, million):
        for row in suite():
            rows.append(row)
            print(f"{row.case:<55} {row.ratio:8.2f}  goal {row.goal:<6} {row.holds}", flush=True)
    made_by = {
        "command": "build/arena/bin/python -m benchmarks.joint",
        "python": platform.python_version(),
        **{
            package: version(package)
            for package in ("probmetrics", "torch", "numpy", "scipy", "scikit-learn")
        },
    }
    content = {"made_by": made_by, "rows": [asdict(row) | {"holds": row.holds} for row in rows]}
    (RESULTS / "joint.json").write_text(json.dumps(content, indent=1) + "\n")
    (RESULTS / "joint.md").write_text(markdown(["joint"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
