"""What more scores cost an accuracy table: cells that few rows fall into, and other writers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from calibrant._core._arrays import Float64Array
from calibrant.calibrators import AccuracyTableCalibrator
from calibrant.experiments._errors import CHANCE, mean_error
from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale
from calibrant.experiments._tto_scores import N_FOLDS, Scores, scores_of

WIDTHS = (0.05, 0.1, 0.2)
AXES = {"f1": [1], "f1, f2": [1, 2]}
#: How many ranked scores the axes are.
MOST_SCORES = {"quick": 5, "full": 6}
CLIP = 0.001
PARTS = ("same writers", "other writers")


def by_writers(width: float) -> dict[str, Any]:
    """Cross entropies on digits of the writers that a table has learned from, and of others."""
    scores = scores_of("Pendigits", "SVM", 0, None)
    right = scores.train.argmax(axis=1) == scores.y_train
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(scores.train, scores.y_train))
    losses: dict[str, dict[str, Float64Array]] = {part: {} for part in PARTS}
    rows_per_cell = {}
    for name, axes in AXES.items():
        table = AccuracyTableCalibrator(axes, width=width, max_rank=1)
        within = np.empty(len(right))
        for train, held in folds:
            table.fit(scores.train[train], scores.y_train[train])
            within[held] = _losses(table, scores.train[held], right[held])
        losses[PARTS[0]][name] = within
        table.fit(scores.train, scores.y_train)
        is_right = scores.test.argmax(axis=1) == scores.y_test
        losses[PARTS[1]][name] = _losses(table, scores.test, is_right)
        rows_per_cell[name] = float(np.median(table.tables_[0].count))
    return {
        "loss": {
            part: {name: float(each.mean()) for name, each in of_part.items()}
            for part, of_part in losses.items()
        },
        "gap": {
            part: [
                float((of_part["f1, f2"] - of_part["f1"]).mean()),
                mean_error(of_part["f1, f2"] - of_part["f1"]),
            ]
            for part, of_part in losses.items()
        },
        "rows per cell": rows_per_cell,
    }


def _losses(table: Any, scores: Float64Array, right: Any) -> Float64Array:
    estimate = table.predict_by_rank(scores, n_ranks=1).estimate[:, 0]
    own = np.clip(np.where(right, estimate, 1 - estimate), CLIP, 1 - CLIP)
    return np.asarray(-np.log(own))


def _writers_jobs(_: Scale) -> list[Job]:
    return [Job(by_writers, {"width": width}) for width in WIDTHS]


def _collect_writers(done: Sequence[Done]) -> Findings:
    rows = []
    gaps: dict[tuple[float, str], tuple[float, float]] = {}
    for job in done:
        width = job.arguments["width"]
        for part in PARTS:
            one, two = job.answer["loss"][part].values()
            gap, error = gaps[width, part] = job.answer["gap"][part]
            per_cell = job.answer["rows per cell"]
            rows.append(
                Row(
                    (f"{width}", part),
                    (one, two, gap, per_cell["f1"], per_cell["f1, f2"]),
                    spread=(None, None, error, None, None),
                )
            )
    return Findings(tuple(rows), _writers_checks(gaps))


def _writers_checks(gaps: dict[tuple[float, str], tuple[float, float]]) -> tuple[Check, ...]:
    statements = {
        (
            0.05,
            PARTS[0],
            1,
        ): "at width 0.05 two scores lose within the writers of the training part too: cells are too small",
        (0.1, PARTS[0], -1): "at width 0.1 two scores win within the writers of the training part",
        (0.1, PARTS[1], 1): "at width 0.1 two scores lose on other writers",
    }
    checks = []
    for (width, part, sign), statement in statements.items():
        if (width, part) not in gaps:
            checks.append(Check(statement, None))
            continue
        gap, error = gaps[width, part]
        sure = "" if abs(gap) > CHANCE * error else ", less than two: it may be chance"
        finding = f"{gap:+.4f} nats, {abs(gap) / error:.1f} standard errors{sure}"
        checks.append(Check(statement, sign * gap > 0, finding))
    return tuple(checks)


def growth(data: str, n_scores: int, n_rows: int | None) -> dict[str, float]:
    """How many cells a table of so many ranked scores could have, has, and what it gives."""
    scores: Scores = scores_of(data, "SVM", 0, n_rows)
    axes = list(range(1, n_scores + 1))
    model = AccuracyTableCalibrator(axes, width=0.1, max_rank=1).fit(scores.train, scores.y_train)
    table = model.tables_[0]
    right = scores.test.argmax(axis=1) == scores.y_test
    spans = [np.unique(np.round(side / 0.1)) for side in table.lower.T]
    possible = float(np.prod([float(span[-1] - span[0] + 1) for span in spans]))
    estimate = model.predict_by_rank(scores.test, n_ranks=1).estimate[:, 0]
    return {
        "possible": possible,
        "cells": float(len(table.count)),
        "single": float(np.mean(table.count == 1)),
        "fallback": float(np.mean(estimate == table.overall_accuracy)),
        "loss": float(_losses(model, scores.test, right).mean()),
    }


def _growth_jobs(scale: Scale) -> list[Job]:
    return [
        Job(growth, {"data": data, "n_scores": n_scores, "n_rows": None if data == "Pendigits" else 4000})
        for data in ("Pendigits", "20 Newsgroups")
        for n_scores in range(1, MOST_SCORES[scale] + 1)
        if data == "Pendigits" or scale == "full"
    ]


GROWTH = ("possible", "cells", "single", "fallback", "loss")


def _collect_growth(done: Sequence[Done]) -> Findings:
    rows = tuple(
        Row(
            (job.arguments["data"], str(job.arguments["n_scores"])),
            tuple(job.answer[name] for name in GROWTH),
        )
        for job in done
    )
    checks = []
    for data in dict.fromkeys(job.arguments["data"] for job in done):
        answers = {job.arguments["n_scores"]: job.answer for job in done if job.arguments["data"] == data}
        best = min(answers, key=lambda number: answers[number]["loss"])
        last = max(answers)
        most = answers[last]
        losses = ", ".join(f"{answers[number]['loss']:.4f}" for number in sorted(answers))
        finding = (
            f"{losses} nats with {min(answers)} to {last} scores; with the last {most['cells']:,.0f} of "
            f"{most['possible']:,.0f} cells hold rows, {100 * most['single']:.0f}% of them one"
        )
        checks.append(
            Check(f"{data}: more than three scores do not lower the loss further", best <= 3, finding)
        )
    statement = "more than three scores do not lower the loss further"
    return Findings(rows, tuple(checks) or (Check(statement, None),))


WRITERS = Experiment(
    "tto-writers",
    "Pendigits: why two scores lose to one in small cells, and in larger ones on other writers",
    "Accuracy tables by ma_cov of a linear SVM's scores. Same writers: tables of four fifths of the training "
    "rows, tested on the fifth. Other writers: tables of all training rows, on the test part. Cross entropy "
    f"in nats at rank 1, kept within [{CLIP}, {1 - CLIP}]; the difference with its standard error over the "
    "rows. Rows per cell is a median over the cells that hold any.",
    ("width", "tested on"),
    ("one score", "two scores", "difference", "rows per cell of one", "rows per cell of two"),
    _writers_jobs,
    _collect_writers,
)
GROWING = Experiment(
    "tto-growth",
    "How the cells of an accuracy table grow with the number of ranked scores",
    "Tables of the highest r scores, width 0.1, ma_cov. Possible is the number of cells that the range of "
    "the training scores has; only those with rows are kept. Alone is the share of cells with one row, "
    "fallback the share of test rows that no cell with rows is near. Cross entropy in nats at rank 1, "
    f"kept within [{CLIP}, {1 - CLIP}]. 20 Newsgroups with 4,000 training articles.",
    ("data", "scores"),
    ("possible cells", "cells with rows", "alone", "fallback", "cross entropy"),
    _growth_jobs,
    _collect_growth,
)
