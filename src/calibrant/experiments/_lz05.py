"""Langford & Zadrozny, "Estimating class membership probabilities using classifier learners", 2005."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Row
from calibrant.experiments._lz05_biology import BIOLOGY
from calibrant.experiments._lz05_figure import FIGURE1, WEIGHTING
from calibrant.experiments._lz05_multiclass import MULTICLASS
from calibrant.experiments._lz05_paper import AUC, BEST, CROSS_ENTROPY, METHODS, RMS
from calibrant.experiments._lz05_scaling import SCALING
from calibrant.experiments._lz05_sets import HUGE, NAME_OF, STANDARD_SPLIT, family_jobs
from calibrant.experiments._printed import all_near, error_of_another

#: The paper's methods, the sigmoid of log-odds as Bennett has it, and the best that this library has today.
COLUMNS = (*METHODS, "SigNB log-odds", "Library")
#: Columns that the paper has not.
OURS = (None,) * (len(COLUMNS) - len(METHODS))
LARGER = ("Adult", "COIL")
NEARLY_HALF = 0.4
#: Why numbers of a column are off, where they are.
_TREES = "C4.5 splits by gain ratio and raises branches, ours do not; and one certain leaf is infinite"
_SVM = "ours has a squared hinge and standardised columns, and is not SMO"
_BAYES = "numbers are in 21 levels here, and the paper does not say what it did with them"
_LOGISTIC = "next to no penalty lets separable parts say anything, and its amount is not the paper's"
WHY_OFF: Mapping[str, str] = {
    "J48": _TREES,
    "BagJ48": "bagging is better than printed, and so it is with Weka (Adult 0.448 bits, COIL AUC 0.709)",
    "ProbJ48": _TREES,
    "SigSVM": _SVM,
    "ProbSVM": _SVM,
    "NB": _BAYES,
    "SigNB": _BAYES,
    "ProbNB": _BAYES,
    "Log": _LOGISTIC,
    "ProbLog": _LOGISTIC,
}
PROBING = ("ProbJ48", "ProbSVM", "ProbNB", "ProbLog")


@dataclass(frozen=True, slots=True)
class Measure:
    """One of the three numbers of every method.

    Attributes
    ----------
    name : str
        Its name in table 4.
    place : int
        Its place in what a job returns.
    best : callable
        Which of several is best.
    paper : mapping
        The paper's table.
    """

    name: str
    place: int
    best: Callable[..., float]
    paper: Mapping[str, tuple[float, ...]]


CXE = Measure("CXE", 0, min, CROSS_ENTROPY)
RMSE = Measure("RMS", 1, min, RMS)
AREA = Measure("AUC", 2, max, AUC)

#: Data set, then method, then the numbers of its splits.
Numbers = Mapping[str, Mapping[str, Sequence[float]]]


def numbers_of(done: Sequence[Done], measure: Measure, what: str = "measures") -> Numbers:
    """Sort what the jobs returned, the measures or their standard errors on one test part."""
    numbers: dict[str, dict[str, list[float]]] = {}
    for job in done:
        of_set = numbers.setdefault(NAME_OF[job.arguments["data"]], {})
        for method, measured in job.answer[what].items():
            of_set.setdefault(method, []).append(measured[measure.place])
    return numbers


def means(numbers: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The mean of every method over its splits."""
    return {method: fmean(of_splits) for method, of_splits in numbers.items()}


def winners(numbers: Mapping[str, float], best: Callable[..., float]) -> tuple[str, ...]:
    """The best methods at the three decimals that the paper prints."""
    rounded = {method: round(number, 3) for method, number in numbers.items()}
    value = best(rounded.values())
    return tuple(method for method, number in rounded.items() if number == value)


def _rows(done: Sequence[Done], measure: Measure) -> tuple[Row, ...]:
    rows, numbers, errors = [], numbers_of(done, measure), numbers_of(done, measure, "errors")
    for name, printed in measure.paper.items():
        of_set = numbers.get(name)
        paper = (*printed, *OURS)
        if of_set is None:
            reason = "not at hand" if name in NAME_OF.values() else "cannot be had"
            rows.append(Row((name, reason), (None,) * len(COLUMNS), paper))
            continue
        mean = means(of_set)
        ours = tuple(mean.get(method) for method in COLUMNS)
        pairs = [(of_set.get(method, ()), errors[name].get(method, ())) for method in COLUMNS]
        spread, error = (tuple(each(*pair) for pair in pairs) for each in (_spread, _error))
        rows.append(Row((name, _split_name(name, of_set)), ours, paper, spread, error))
    return tuple(rows)


def _spread(of_splits: Sequence[float], of_rows: Sequence[float]) -> float | None:
    """Over the splits; where there is one, the standard error over its test rows."""
    if len(of_splits) == 1:
        return of_rows[0] if math.isfinite(of_rows[0]) else None
    return stdev(of_splits) if of_splits and all(map(math.isfinite, of_splits)) else None


def _error(of_splits: Sequence[float], of_rows: Sequence[float]) -> float | None:
    """What chance makes of the difference to the paper's one split, or to the paper on the same test rows."""
    return _spread(of_splits, of_rows) if len(of_splits) == 1 else error_of_another(of_splits)


def _split_name(name: str, of_set: Mapping[str, Sequence[float]]) -> str:
    data = {name: data for data, name in NAME_OF.items()}[name]
    if data in STANDARD_SPLIT:
        return "standard"
    if data == HUGE:
        return "by block"
    return f"{max(map(len, of_set.values()))} random"


def _findings(done: Sequence[Done], measure: Measure, checks: Sequence[Check]) -> Findings:
    rows = _rows(done, measure)
    return Findings(rows, (*checks, all_near(rows, COLUMNS, WHY_OFF)))


def _collect_table1(done: Sequence[Done]) -> Findings:
    numbers = numbers_of(done, CXE)
    checks = (
        _finite(numbers),
        _below_the_tree(numbers, CXE, "a lower cross entropy"),
        _below_bagging(numbers),
    )
    return _findings(done, CXE, checks)


def _finite(numbers: Numbers) -> Check:
    statement = "Probed trees have a finite cross entropy on every set"
    found = {name: means(of_set) for name, of_set in numbers.items() if "ProbJ48" in of_set}
    if not found:
        return Check(statement, None)
    rescued = [name for name, of_set in found.items() if math.isinf(of_set["J48"])]
    infinite = [name for name, of_set in found.items() if math.isinf(of_set["ProbJ48"])]
    finding = f"{len(found)} sets; the tree itself is infinite on {len(rescued)}: {', '.join(rescued)}"
    if infinite:
        finding += f"; not on {', '.join(infinite)}"
    return Check(statement, not infinite, finding)


def _below_the_tree(numbers: Numbers, measure: Measure, what: str) -> Check:
    """The paper's tables show it for every set but Mushroom, in all three measures."""
    statement = f"Probed trees have {what} than the tree on every set but Mushroom"
    worse, n_sets = [], 0
    for name, of_set in numbers.items():
        mean = means(of_set)
        if name == "Mushroom" or "ProbJ48" not in mean:
            continue
        n_sets += 1
        if measure.best(mean["ProbJ48"], mean["J48"]) != mean["ProbJ48"]:
            worse.append(f"{name} {mean['ProbJ48']:.3f} against {mean['J48']:.3f}")
    if not n_sets:
        return Check(statement, None)
    return Check(statement, not worse, f"not on {'; '.join(worse)}" if worse else f"on all {n_sets}")


def _below_bagging(numbers: Numbers) -> Check:
    statement = (
        "Probed trees have a cross entropy no higher than bagged trees on the larger sets, Adult and COIL"
    )
    found = {name: means(numbers[name]) for name in LARGER if "ProbJ48" in numbers.get(name, {})}
    if not found:
        return Check(statement, None)
    gaps = {name: of_set["ProbJ48"] - of_set["BagJ48"] for name, of_set in found.items()}
    finding = "; ".join(
        f"{name} {of_set['ProbJ48']:.3f} against {of_set['BagJ48']:.3f} ({gaps[name]:+.3f})"
        for name, of_set in found.items()
    )
    if any(gap > 0 for gap in gaps.values()):
        finding += ". With Weka's own learners Adult has 0.437 against 0.448"
    return Check(statement, all(gap <= 0 for gap in gaps.values()), finding)


def _collect_table2(done: Sequence[Done]) -> Findings:
    numbers = numbers_of(done, RMSE)
    return _findings(done, RMSE, (_below_the_tree(numbers, RMSE, "a lower error"),))


def _collect_table3(done: Sequence[Done]) -> Findings:
    numbers = numbers_of(done, AREA)
    checks = (_below_the_tree(numbers, AREA, "a higher AUC"), _sigmoid_keeps_the_ranking(numbers))
    return _findings(done, AREA, checks)


def _sigmoid_keeps_the_ranking(numbers: Numbers) -> Check:
    """In the paper they differ on Biology alone.

    There naive Bayes is below 1e-17 for four rows in five, and the sigmoid makes all of these equal.
    """
    statement = "The sigmoid of naive Bayes ranks as naive Bayes on every set but Biology"
    found = {name: means(of_set) for name, of_set in numbers.items() if "SigNB" in of_set}
    gaps = {name: abs(of_set["SigNB"] - of_set["NB"]) for name, of_set in found.items() if name != "Biology"}
    if not gaps:
        return Check(statement, None)
    widest = max(gaps, key=lambda name: gaps[name])
    finding = f"greatest difference of AUC {gaps[widest]:.4f}, on {widest}, of {len(gaps)} sets"
    if "Biology" in found:
        finding += f"; Biology {found['Biology']['SigNB']:.3f} against {found['Biology']['NB']:.3f}"
    return Check(statement, gaps[widest] < 0.001, finding)


def _collect_table4(done: Sequence[Done]) -> Findings:
    rows, probing = [], []
    for measure in (RMSE, CXE, AREA):
        for name, of_set in numbers_of(done, measure).items():
            mean = {method: mean for method, mean in means(of_set).items() if method in METHODS}
            if len(mean) < len(METHODS):
                continue
            best = winners(mean, measure.best)
            printed = BEST[name][("RMS", "CXE", "AUC").index(measure.name)]
            ours, paper = measure.best(mean.values()), measure.best(measure.paper[name])
            rows.append(Row((name, measure.name, "/".join(best), printed), (ours,), (paper,)))
            probing.append(any(method in PROBING for method in best))
    rows.sort(key=lambda row: row.labels[0])
    return Findings(tuple(rows), (_probing_wins(probing),))


def _probing_wins(probing: Sequence[bool]) -> Check:
    statement = (
        "A Probing method is best, or as good as the best, in nearly half of the entries (paper: 21 of 45)"
    )
    if not probing:
        return Check(statement, None)
    share = sum(probing) / len(probing)
    finding = f"in {sum(probing)} of {len(probing)} ({100 * share:.0f}%)"
    if share < NEARLY_HALF:
        finding += ". Bagging is better than in the paper, and takes entries that its probed trees have"
    return Check(statement, share >= NEARLY_HALF, finding)


_LEARNERS = (
    "Test rows; the positive class is the rarer one. Standard split where the set has a test file (with "
    "the standard error over the test rows), else random two thirds and one third (mean and standard "
    "deviation over the splits; Biology by blocks, with the standard error over blocks). Our learners are "
    "not Weka's: J48 is a CART tree of entropy with at least two rows in a leaf, pruned in every fit by "
    "C4.5's estimate of its errors; SMO is a linear SVM with squared hinge, C = 1; logistic regression "
    "has next to no penalty; naive Bayes takes numbers in 21 levels. Bagging averages the leaves of as "
    "many trees as there are probes, 100 (20 in a quick run). Trees and logistic regression are probed by "
    "rejection, SVM and naive Bayes by weights, the greatest of them 1. SigNB fits the sigmoid to "
    "probabilities, SigNB log-odds to log-odds, as Bennett does. Library is the best of this library: a "
    "forest of Laplace trees or logistic regression, as it is or calibrated by a sigmoid, chosen by out- "
    "of-fold log loss of the training rows; not on Biology. PAV was among the calibrators at first, and "
    "was taken out when it had given an infinite loss on the test rows of Breast. KDD-98's attributes and "
    "Physics cannot be had. Small sets depend on the split more than on the method."
)


def _table(
    number: int, title: str, measure: str, collect: Callable[[Sequence[Done]], Findings]
) -> Experiment:
    return Experiment(
        name=f"lz05-table{number}",
        title=title,
        conventions=f"{measure} {_LEARNERS}",
        labels=("data set", "split"),
        measures=COLUMNS,
        jobs=family_jobs,
        collect=collect,
    )


TABLES = (
    _table(
        1,
        "Cross entropy of trees, SVM, naive Bayes and logistic regression, probed and not",
        "Mean cross entropy in bits (base 2), infinite where a certain answer was wrong.",
        _collect_table1,
    ),
    _table(
        2,
        "Root mean squared error of the same",
        "Root of the mean squared error of the positive class's probability; the caption lacks the root.",
        _collect_table2,
    ),
    _table(3, "AUC of the same", "Area under the ROC curve.", _collect_table3),
    Experiment(
        name="lz05-table4",
        title="The best method of every set, by error, cross entropy and AUC",
        conventions=(
            "The best of the paper's ten methods, at three decimals; several where they are equal. The "
            "paper's entries for Hepatitis by RMS and CXE are exchanged against its tables 1 and 2, "
            f"and its text says 20 of 45 entries are Probing where the table has 21. {_LEARNERS}"
        ),
        labels=("data set", "measure", "our best", "paper's best"),
        measures=("best value",),
        jobs=family_jobs,
        collect=_collect_table4,
    ),
)
EXPERIMENTS: tuple[Experiment, ...] = (*TABLES, FIGURE1, WEIGHTING, SCALING, MULTICLASS, BIOLOGY)
