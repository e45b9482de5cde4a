"""Many scores: accuracy tables beside finding the top two, ranked logistic regression beside ten single fits.

`python -m benchmarks.many_scores` prints the table of this module alone.
"""

import sys
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks.measure import Row, within
from calibrant.calibrators import AccuracyTableCalibrator, RankedLogisticCalibrator


def margins(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Margins as of one-vs-rest machines: low for most classes, and raised by chance for the true one."""
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    scores = rng.normal(-1.0, 0.5, size=(n, k))
    scores[np.arange(n), y] += rng.gamma(2.0, 0.7, size=n)
    return scores, y


def accuracy_table() -> Iterator[Row]:
    """Two-score tables: time to fit and to predict, in times of np.partition on the same matrix."""
    scores, y = margins(1_000_000, 20)
    size = "n = 1,000,000, k = 20"

    def top_two() -> np.ndarray:
        return np.partition(scores, -2, axis=1)

    table = AccuracyTableCalibrator(max_rank=1)
    yield within(
        f"Accuracy table, fit and estimate of the first rank, {size}",
        "np.partition for the top two",
        lambda: table.fit(scores, y).predict_by_rank(scores, n_ranks=1),
        top_two,
        goal="<= 6",
    )
    for name, model in (
        ("one table and one for the rest", table),
        ("three tables and one for the rest", AccuracyTableCalibrator(max_rank=3)),
    ):
        yield within(
            f"Accuracy table, fit and predict_proba, {name}, {size}",
            "np.partition for the top two",
            lambda model=model: model.fit(scores, y).predict_proba(scores),
            top_two,
        )


def ranked_logistic() -> Iterator[Row]:
    """Ranked logistic regression: time to fit, in times of ten single fits without penalty."""
    scores, y = margins(20_000, 200)
    order = np.argsort(-scores, axis=1)
    ranked = np.take_along_axis(scores, order, axis=1)
    right = order == y[:, None]

    def ten_fits() -> None:
        for rank in range(10):
            single = LogisticRegression(C=np.inf, tol=1e-9, max_iter=1000)
            single.fit(ranked[:, [0, max(rank, 1)]], right[:, rank])

    for name, max_rank in (("a map for each of 200 ranks", None), ("10 maps and one for the rest", 10)):
        model = RankedLogisticCalibrator(max_rank=max_rank)
        with (
            warnings.catch_warnings(),
            threadpool_limits(limits=1),
        ):  # threads help neither, and hurt the peer
            warnings.simplefilter("ignore")  # at some rank the class may never be right
            yield within(
                f"Ranked logistic regression, fit, {name}, n = 20,000, k = 200",
                "ten scikit-learn LogisticRegression fits",
                lambda model=model: model.fit(scores, y),
                ten_fits,
                goal="<= 4",
            )


def main() -> int:
    """Print the table."""
    for suite in (accuracy_table, ranked_logistic):
        for row in suite():
            print(
                f"{row.case:<95} {row.ours * 1000:7.0f} ms {row.theirs * 1000:6.0f} ms "
                f"{row.ratio:6.2f}  goal {row.goal or '-':<6} {row.holds}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
