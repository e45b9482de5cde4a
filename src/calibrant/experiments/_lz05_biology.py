"""Why our numbers on Biology are above the paper's: whether rows of one block may be in both parts.

A block has the candidates for one protein; whoever has seen some of them in training knows the others better.
The paper's test part is a random third, and it says nothing of blocks.
"""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from calibrant.calibrators import SigmoidCalibrator
from calibrant.classifiers import CalibratedClassifier
from calibrant.experiments._data_preparation import DesignMatrix
from calibrant.experiments._datasets import read_split
from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale
from calibrant.experiments._lz05_paper import AUC, CROSS_ENTROPY, METHODS, RMS
from calibrant.experiments._lz05_protocol import LOGISTIC, SVM, TREE, parts_of
from calibrant.experiments._lz05_sets import HUGE
from calibrant.experiments._printed import error_of_another
from calibrant.learners import BaggedVotesClassifier

LEARNERS = {
    "SigSVM": CalibratedClassifier(SVM, SigmoidCalibrator()),
    "Log": LOGISTIC,
    "BagJ48": BaggedVotesClassifier(TREE, 20, aggregate="mean", random_state=0),
}
SPLITS = ("by block", "by row")
#: What a quick run looks at.
QUICK = ("SigSVM", "Log")
#: Up to this a ratio to the paper's error is taken for the same.
NEAR = 1.1


def biology(method: str, split: int, by_block: bool) -> list[float]:
    """Cross entropy, error and AUC of a method on one split of Biology."""
    parts = parts_of(read_split(HUGE, split, by_block=by_block), DesignMatrix)
    return parts.measure(LEARNERS[method])[0]


def _jobs(scale: Scale) -> list[Job]:
    return [
        Job(biology, {"method": method, "split": split, "by_block": by_block})
        for by_block in (True, False)
        for split in range(3 if scale == "full" else 2)
        for method in (LEARNERS if scale == "full" else QUICK)
    ]


def _collect(done: Sequence[Done]) -> Findings:
    rows, found = [], {}
    for by_block, name in zip((True, False), SPLITS, strict=True):
        for method in LEARNERS:
            answers = [
                job.answer
                for job in done
                if (job.arguments["method"], job.arguments["by_block"]) == (method, by_block)
            ]
            if not answers:
                continue
            columns = list(zip(*answers, strict=True))
            found[name, method] = fmean(columns[1])
            spread = tuple(map(_spread, columns))
            paper = tuple(table["Biology"][METHODS.index(method)] for table in (CROSS_ENTROPY, RMS, AUC))
            errors = tuple(map(error_of_another, columns))
            rows.append(Row((method, name), tuple(map(fmean, columns)), paper, spread, errors))
    return Findings(tuple(rows), (_torn_is_near(found),))


def _spread(of_splits: Sequence[float]) -> float | None:
    return stdev(of_splits) if len(of_splits) > 1 and all(map(math.isfinite, of_splits)) else None


def _torn_is_near(found: dict[tuple[str, str], float]) -> Check:
    """The error is compared, as one certain mistake makes the cross entropy infinite."""
    statement = f"With torn blocks the error (RMS) is at most {NEAR} times the paper's, without it is more"
    if not found:
        return Check(statement, None)
    ratios = {key: value / RMS["Biology"][METHODS.index(key[1])] for key, value in found.items()}
    finding = ", ".join(f"{method} {split}: {ratio:.2f}" for (split, method), ratio in ratios.items())
    held = all((ratio <= NEAR) == (split == "by row") for (split, _), ratio in ratios.items())
    return Check(statement, held, finding)


BIOLOGY = Experiment(
    name="lz05-biology",
    title="Biology split by block, as lz05-table1 has it, and by row",
    conventions=(
        "Mean and standard deviation over three splits (two in a quick run) into two thirds and one third. "
        "Cross entropy in bits. A block has the candidates for one protein. The bags have 20 trees."
    ),
    labels=("method", "split"),
    measures=("cross entropy", "RMS", "AUC"),
    jobs=_jobs,
    collect=_collect,
)
