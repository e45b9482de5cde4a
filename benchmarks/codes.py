"""Putting binary answers together, beside the plain iteration and beside single NumPy operations.

`python -m benchmarks.codes [name ...]` prints the tables of this module alone.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import expit
from sklearn.svm import SVC

from benchmarks.measure import Row, faster, in_turn, peak_bytes, within
from calibrant import codes


def noisy_answers(code: np.ndarray, n: int, seed: int = 0, noise: float = 0.5) -> np.ndarray:
    """What perfect learners would answer for random probabilities, with noise on the log-odds."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(len(code)), n)
    expected = np.clip(codes.expected_answers(code, proba), 1e-9, 1 - 1e-9)
    odds = np.log(expected / (1 - expected)) + noise * rng.standard_normal(expected.shape)
    return 1 / (1 + np.exp(-odds))


def plain_mm(code: np.ndarray, answers: np.ndarray, tol: float = 1e-8, max_iter: int = 1000) -> np.ndarray:
    """The iteration of docs/methods/codes.md on all rows at once; rows that have converged are set aside."""
    positive, negative = (code > 0).astype(float), (code < 0).astype(float)
    used = positive + negative
    answers = np.clip(answers, 1e-6, 1 - 1e-6)
    result = np.empty((len(answers), len(code)))
    rows = np.arange(len(answers))
    proba = np.full(result.shape, 1 / len(code))
    for _ in range(max_iter):
        ahead, behind = proba @ positive, proba @ negative
        after = proba * ((answers / ahead) @ positive.T + ((1 - answers) / behind) @ negative.T)
        after /= (1 / (ahead + behind)) @ used.T
        after /= after.sum(axis=1, keepdims=True)
        live = np.abs(after - proba).max(axis=1) >= tol
        if live.all():
            proba = after
            continue
        result[rows[~live]] = after[~live]
        rows, proba, answers = rows[live], after[live], answers[live]
        if not len(rows):
            break
    result[rows] = proba
    return result


CODES = (
    ("all-pairs, k = 10", codes.all_pairs(10), 20_000),
    ("all-pairs, k = 26", codes.all_pairs(26), 2_000),
    ("one-vs-all, k = 10", codes.one_vs_all(10), 20_000),
    ("dense random code, k = 10", codes.random_dense(10, random_state=0), 20_000),
    ("sparse random code, k = 10", codes.random_sparse(10, random_state=0), 5_000),
)


def coupling() -> Iterator[Row]:
    """The KL minimiser to a tolerance of 1e-8: time."""
    for name, code, n in CODES:
        answers = noisy_answers(code, n)
        yield faster(
            f"Coupling, {name}, n = {n:,}",
            "plain MM iteration in NumPy",
            lambda code=code, answers=answers: codes.coupling(code, answers),
            lambda code=code, answers=answers: plain_mm(code, answers),
            goal="" if "sparse" in name else ">= 10",
            repeats=3,
        )


def libsvm_coupling() -> Iterator[Row]:
    """Beside what libsvm adds to its decisions for probabilities: sigmoids, and a coupling to 0.005 / k.

    Its coupling minimises squared errors, as our least squares do, which are exact; our coupling minimises
    the KL divergence, to 1e-8. The answers are those that libsvm itself couples, by its own sigmoids.
    """
    for k, n in ((3, 20_000), (10, 20_000), (26, 2_000)):
        random = np.random.default_rng(0)
        centres, label = random.normal(size=(k, 8)), np.repeat(np.arange(k), 20)
        train = centres[label] + random.normal(size=(len(label), 8))
        new = centres[random.integers(0, k, n)] + random.normal(size=(n, 8))
        with warnings.catch_warnings(action="ignore"):  # scikit-learn deprecates these probabilities
            theirs = SVC(kernel="linear", probability=True, random_state=0).fit(train, label)
            margins = (
                SVC(kernel="linear", decision_function_shape="ovo").fit(train, label).decision_function(new)
            )
            code, answers = codes.all_pairs(k), expit(-theirs.probA_ * margins - theirs.probB_)
            own, decisions = in_turn(
                lambda theirs=theirs, new=new: theirs.predict_proba(new),
                lambda theirs=theirs, new=new: theirs.predict(new),
                15,
                time.process_time,
            )
        for name, method in (("Coupling", codes.coupling), ("Least squares", codes.least_squares)):
            mine, _ = in_turn(
                lambda method=method, code=code, answers=answers: method(code, answers),
                lambda: None,
                15,
                time.process_time,
            )
            other = own - decisions
            case = f"{name}, all-pairs, k = {k}, n = {n:,}"
            yield Row(case, "libsvm's own", mine, other, "s", other / mine, ">= 1")


def coupling_error() -> Iterator[Row]:
    """The KL minimiser to a tolerance of 1e-8: how far from MM run to 1e-10, in p and in L."""
    for name, code, _ in CODES:
        answers = noisy_answers(code, 200, seed=1)
        clipped = np.clip(answers, 1e-6, 1 - 1e-6)
        ours, short = codes.coupling(code, answers), plain_mm(code, answers)
        long = plain_mm(code, answers, tol=1e-10, max_iter=50_000)
        apart = [float(np.abs(proba - long).max()) for proba in (ours, short)]
        yield Row(f"Coupling error, {name}", "plain MM, tol 1e-8", *apart, "", apart[1] / apart[0], "")
        losses = [codes.kl_objective(code, clipped, proba) for proba in (ours, short, long)]
        least = np.min(losses, axis=0)
        excess = [max(float((loss - least).max()), 1e-16) for loss in losses[:2]]
        yield Row(
            f"Coupling excess of L, {name}", "plain MM, tol 1e-8", *excess, "", excess[1] / excess[0], ">= 1"
        )


def least_squares() -> Iterator[Row]:
    """Least squares: time in units of the operation that it cannot do without."""
    rng = np.random.default_rng(0)
    answers, code = rng.random((10_000, 1000)), codes.one_vs_all(1000)
    yield within(
        "Least squares, one-vs-all, k = 1000, n = 10,000",
        "np.sort of the rows",
        lambda: codes.least_squares(code, answers),
        lambda: np.sort(answers, axis=1),
        goal="<= 5",
    )
    pairs = codes.all_pairs(10)
    pairwise = noisy_answers(pairs, 100_000)
    systems, right = pairwise_systems(pairwise)
    yield within(
        "Least squares, all-pairs, k = 10, n = 100,000",
        "np.linalg.solve of the same systems",
        lambda: codes.least_squares(pairs, pairwise),
        lambda: np.linalg.solve(systems, right),
        goal="<= 3",
    )


def pairwise_systems(answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The systems of the second method of Wu, Lin & Weng, made regular by adding one to all entries."""
    n, k = len(answers), 10
    first, second = np.triu_indices(k, 1)
    systems = np.ones((n, k, k))
    systems[:, first, second] -= answers * (1 - answers)
    systems[:, second, first] -= answers * (1 - answers)
    for column, (i, j) in enumerate(zip(first, second, strict=True)):
        systems[:, i, i] += (1 - answers[:, column]) ** 2
        systems[:, j, j] += answers[:, column] ** 2
    return systems, np.ones((n, k, 1))


def normalisation() -> Iterator[Row]:
    """Normalisation of a wide matrix: time, and memory beside that of the result."""
    answers = np.random.default_rng(0).random((20_000, 1000))
    yield within(
        "Normalize, k = 1000, n = 20,000",
        "answers / answers.sum(axis=1)",
        lambda: codes.normalize(answers),
        lambda: answers / answers.sum(axis=1, keepdims=True),
    )
    peak = peak_bytes(lambda: codes.normalize(answers))
    case = "Normalize, k = 1000, n = 20,000, peak memory"
    yield Row(case, "the result", float(peak), float(answers.nbytes), " B", peak / answers.nbytes, "<= 1.1")


SUITES: dict[str, Callable[[], Iterator[Row]]] = {
    "coupling": coupling,
    "libsvm_coupling": libsvm_coupling,
    "coupling_error": coupling_error,
    "least_squares": least_squares,
    "normalisation": normalisation,
}


def main(names: list[str]) -> None:
    """Print the rows of the named suites, or of all."""
    for name in names or SUITES:
        for row in SUITES[name]():
            print(
                f"{row.case:<55} {row.ours:9.3g} beside {row.theirs:9.3g} ({row.peer}): "
                f"ratio {row.ratio:.3g}, goal {row.goal or '-'} {row.holds}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
