"""What the laws over the registry share: every method in every form, its rows, and what it asks of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant.calibrators import CodeCalibrator, OneVsAllCalibrator, fit_rows
from calibrant.calibrators._rank_questions import CellsByRank
from calibrant.maps import (
    Basis,
    Bounds,
    Constant,
    Entry,
    Identity,
    IntervalLookup,
    Linear,
    Lines,
    Logistic,
    Pool,
    Softmax,
    Stairs,
    Start,
    Steps,
)
from calibrant.passes import Cases, EqualBins, EveryRow, InUnitInterval, Isotonic, Rows, Several
from models.cases import OURS, class_scores, pair_scores, softmax, squashed

#: Answers that are found by comparing and counting: without weights the same bits, in whatever order and in
#: whatever parts the rows come. All other answers carry the rounding of sums.
EXACT = (Isotonic, EqualBins, InUnitInterval, CellsByRank)
#: Answers that depend on how many rows there are, and not only on their weights.
BY_NUMBER = (EqualBins, EveryRow)
#: Rows that the methods of a comparison are made fit for.
N_ROWS = 60
#: A map of every class that can stand in a file, and scores that say all about it.
MAP_EXAMPLES = {
    "steps": Steps(IntervalLookup(np.array([-1.0, 0.1, 0.1, 7.0])), np.array([0.1, 0.0, 1.0, 1 / 3, 0.7])),
    "bounds": Bounds(
        IntervalLookup(np.array([0.0, 0.1])),
        np.array([0.0, 1 / 3, 0.6]),
        IntervalLookup(np.array([-1.0, 0.3])),
        np.array([0.4, 2 / 3, 1.0]),
    ),
    "lines": Lines.through(np.array([-1e300, 0.1, 0.3, 1e300]), np.array([0.0, 0.1, 2 / 3, 1.0]), 0.01),
    "logistic": Logistic((-1.7, 0.1), 1 / 3, "logs"),
    "constant": Constant(1 / 3),
    "identity": Identity(),
    "softmax": Softmax([[1.1, 0.2], [1 / 3, 0.7]], [0.1, -0.1]),
    "pool": Pool(
        Entry("margin", np.array([1, 0]), False, None),
        Start(0.7, None, 0.01, np.array([0.1, -1 / 3])),
        Basis(
            np.array([0.1, 0.2]),
            np.array([1.1, 1 / 3]),
            np.array([[1.0], [0.1]]),
            np.array([[0.5], [-1 / 3]]),
            [np.array([-1.0, 2.0]), np.array([0.0, 0.1])],
            [np.array([-2.0, 1 / 3]), np.array([0.0, 1.0])],
        ),
        [
            Linear("shape", np.array([1.0, 1.1]), np.array([0.1, 0.0]), np.array([[0.1, 0.2]] * 3)),
            Linear("matrix", np.ones(2), np.zeros(2), None, "inputs", np.array([[0.1, 0.0], [1 / 3, 0.2]])),
            Linear("square", np.ones(2), np.zeros(2), None, "squares", np.array([[0.1, 0.0], [1 / 3, 0.2]])),
            Linear("near", np.ones(2), np.zeros(2), None, "kernel", np.array([[0.1, 0.0]] * 3)),
        ],
        Stairs([np.array([-1.0, 0.0, 2.0])], [np.array([0.1, 1 / 3, 0.9])]),
        ["shape", "matrix", "square", "near", "steps", "start"],
        np.array([0.3, 0.2, 0.1, 0.1, 0.2, 0.1]),
        np.full(6, 0.5),
        0.9,
        0.001,
    ),
}


@dataclass(frozen=True)
class Case:
    """A method in one of its forms.

    `form` is "score" for one score of two classes, "row" for a method of all scores of a row, "one_vs_all" or
    "code" for a method of one score on several columns.
    """

    name: str
    made_fit: bool
    kind: Any
    form: str
    n_classes: int

    def __str__(self) -> str:
        made = f"for-{self.kind}" if self.made_fit else "plain"
        return f"{self.name}-{made}-{self.form}-{self.n_classes}"

    def method(self, n_rows=N_ROWS):
        """The method itself, unfitted."""
        return OURS[self.name].for_new_rows(self.kind) if self.made_fit else OURS[self.name]()

    def new(self, method=None, code=None):
        """The unfitted calibrator. Least squares have a closed form, so that rounding stays rounding."""
        method = self.method() if method is None else method
        if self.form == "one_vs_all":
            return OneVsAllCalibrator(method)
        if self.form == "code":
            return CodeCalibrator("all_pairs" if code is None else code, method, "least_squares")
        return clone(method)

    def rows(self, n_rows=N_ROWS, seed=0, ties=True):
        """Scores and numbers of classes; the first rows are one of every class."""
        k = self.n_classes
        scores, y = (pair_scores if self.form == "code" else class_scores)(n_rows, k, seed)
        if ties:
            scores = np.round(scores * 4) / 4
        if self.form == "score":
            scores = scores[:, 1] - scores[:, 0]
        if self.kind == "probability":
            scores = softmax(scores) if self.form in ("row", "one_vs_all") else squashed(scores)
        return scores, y

    def query(self):
        """Rows that were not seen, among those that were: two fits that differ by rounding agree there."""
        return self.rows(40, 99, ties=False)[0]

    def far(self):
        """The same, and some as far away as can be."""
        scores = self.query()
        ends = (0.0, 1.0) if self.kind == "probability" else (-1e300, 1e300)
        return np.concatenate([scores, *(np.full_like(scores[:1], end) for end in ends)])

    def asked(self):
        """What the method asks of rows, by classes of questions."""
        scores, y = self.rows()
        if self.form in ("one_vs_all", "code"):
            scores, y = scores[:, 0], y == 0
        learning = self.method()._learn(*([self.n_classes] if self.form == "row" else []))
        cases, asked, answer = Cases(scores, y, None), [], None
        try:
            while True:
                question = learning.send(answer)
                asked.extend(question.questions if isinstance(question, Several) else [question])
                answer = question.of_cases(cases)
        except StopIteration:
            return asked

    @property
    def tolerance(self):
        """How far two fits to the same rows may be apart, where these come otherwise."""
        return 0.0 if all(isinstance(each, EXACT) for each in self.asked()) else 1e-12

    def fitted_to(self, rows, labels=None, calibrator=None):
        """A calibrator fitted to checked rows."""
        calibrator = self.new() if calibrator is None else calibrator
        return fit_rows(calibrator, rows, np.arange(self.n_classes) if labels is None else labels)


def _cases():
    for name, method in OURS.items():
        forms = [("row", 2), ("row", 3)] if method.takes == "row" else [("score", 2)]
        forms += [("one_vs_all", 3), ("code", 3)] if method.takes == "score" else []
        for form, n_classes in forms:
            yield Case(name, False, method.kinds[0], form, n_classes)
            for kind in method.kinds:
                yield Case(name, True, kind, form, n_classes)


CASES = list(_cases())
#: Without a second look at columns, which are those of the first.
METHOD_CASES = [case for case in CASES if case.form in ("score", "row")]
PLAIN_CASES = [case for case in CASES if not case.made_fit]


def take(rows, chosen):
    """Some rows, which keep their keys."""
    weight = None if rows.weight is None else rows.weight[chosen]
    return Rows(rows.scores[chosen], rows.truth[chosen], weight, rows.keys()[chosen])
