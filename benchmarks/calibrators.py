"""Two-class calibrators beside scikit-learn's."""

from collections.abc import Iterator

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression

from benchmarks.many_classes import GivenScores, class_scores
from benchmarks.measure import Row, faster, peak_bytes, within
from calibrant import OneVsAllCalibrator, PAVCalibrator, SigmoidCalibrator


def scored(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores whose log-odds they are, and labels drawn with these odds."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=n)
    return scores, (rng.random(n) < 1 / (1 + np.exp(-scores))).astype(np.int64)


def pav() -> Iterator[Row]:
    """Isotonic regression: time to fit and to predict."""
    isotonic = IsotonicRegression(out_of_bounds="clip")
    peer = "scikit-learn IsotonicRegression"
    for n, goal, repeats in ((1_000, ">= 1", 51), (100_000, ">= 5", 21), (10_000_000, ">= 8", 5)):
        scores, y = scored(n)
        yield faster(
            f"PAV fit, n = {n:,}",
            peer,
            lambda scores=scores, y=y: PAVCalibrator().fit(scores, y),
            lambda scores=scores, y=y: isotonic.fit(scores, y),
            goal=goal,
            repeats=repeats,
        )
    yield within(
        f"PAV fit, n = {n:,}",
        "np.sort of the scores",
        lambda: PAVCalibrator().fit(scores, y),
        lambda: np.sort(scores),
        goal="<= 5",
    )
    weights = np.random.default_rng(1).gamma(1, size=n)
    yield faster(
        f"PAV fit, n = {n:,}, weighted",
        peer,
        lambda: PAVCalibrator().fit(scores, y, weights),
        lambda: isotonic.fit(scores, y, weights),
        goal=">= 5",
        repeats=3,
    )
    single = scores.astype(np.float32)
    yield faster(
        f"PAV fit, n = {n:,}, float32",
        peer,
        lambda: PAVCalibrator().fit(single, y),
        lambda: isotonic.fit(single, y),
        repeats=3,
    )
    ours, theirs = PAVCalibrator().fit(scores, y), isotonic.fit(scores, y)
    linear = PAVCalibrator(between="linear").fit(scores, y)
    for name, model, goal in (("", ours, ">= 3"), (", between='linear'", linear, "")):
        yield faster(
            f"PAV predict, n = {n:,}{name}",
            peer,
            lambda model=model: model.predict_proba(scores),
            lambda: theirs.predict(scores),
            goal=goal,
        )
    tied = scores.round(1)
    linear, theirs = linear.fit(tied, y), isotonic.fit(tied, y)
    yield faster(
        f"PAV predict, n = {n:,}, between='linear', one decimal",
        peer,
        lambda: linear.predict_proba(tied),
        lambda: theirs.predict(tied),
        goal=">= 1",
    )


def sigmoid() -> Iterator[Row]:
    """Platt's sigmoid: time to fit."""
    scores, y = scored(1_000_000)
    peer = "scikit-learn sigmoid calibration"
    for name, moved in (("", scores), (", scale 1e-6", scores * 1e-6), (", scale 1e+6", scores * 1e6)):
        yield faster(
            f"Sigmoid fit, n = 1,000,000{name}",
            peer,
            lambda moved=moved: SigmoidCalibrator().fit(moved, y),
            lambda moved=moved: _SigmoidCalibration().fit(moved, y),
            goal=">= 3" if not name else "",
        )
    for n, k in ((100_000, 100), (10_000, 1000)):
        scores, y = class_scores(n, k)
        frozen = FrozenEstimator(GivenScores().fit(None, y))
        yield faster(
            f"One-vs-all sigmoid fit, {n:,} x {k:,}",
            peer,
            lambda scores=scores, y=y: OneVsAllCalibrator("sigmoid").fit(scores, y),
            lambda scores=scores, y=y, frozen=frozen: CalibratedClassifierCV(frozen).fit(scores, y),
            goal=">= 3",
            repeats=9,
        )


def sigmoid_error() -> Iterator[Row]:
    """Platt's sigmoid: largest error of the fitted probabilities when the scores are scaled or shifted."""
    scores, y = scored(10_000)
    right = SigmoidCalibrator().fit(scores, y).predict_proba(scores)[:, 1]
    for name, moved in (
        ("scale 1e-6", scores * 1e-6),
        ("scale 1e+6", scores * 1e6),
        ("shift 1e+4", scores + 1e4),
    ):
        ours = np.abs(SigmoidCalibrator().fit(moved, y).predict_proba(moved)[:, 1] - right).max()
        theirs = np.abs(_SigmoidCalibration().fit(moved, y).predict(moved) - right).max()
        case = f"Sigmoid error against the unmoved fit, {name}"
        yield Row(case, "scikit-learn sigmoid calibration", float(ours), float(theirs), "", theirs / ours, "")


def memory() -> Iterator[Row]:
    """Isotonic regression: greatest extra memory of a fit, in multiples of the bytes of scores and labels."""
    scores, y = scored(1_000_000)
    given = scores.nbytes + y.nbytes
    PAVCalibrator().fit(scores, y)
    ours = peak_bytes(lambda: PAVCalibrator().fit(scores, y)) / given
    theirs = peak_bytes(lambda: IsotonicRegression(out_of_bounds="clip").fit(scores, y)) / given
    case = "PAV fit, n = 1,000,000, peak extra memory / input"
    yield Row(case, "scikit-learn IsotonicRegression", ours, theirs, "x", theirs / ours, ">= 1")
