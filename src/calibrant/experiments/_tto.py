"""Takahashi, Takamura & Okumura, "Direct estimation of class membership probabilities", 2009.

The paper's numbers are lost in the text at hand; what survives are its findings, which are checked here.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale, Series
from calibrant.experiments._tto_cells import GROWING, WRITERS
from calibrant.experiments._tto_ensembles import ENSEMBLES
from calibrant.experiments._tto_measures import (
    CELLS_OF_ONE,
    CLIP,
    COMBINATIONS,
    DEEPEST,
    SHARES,
    all_ranks,
    first_rank,
    second_rank_by_size,
)
from calibrant.experiments._tto_scores import N_FOLDS

NEWS, DIGITS, SURVEY = "20 Newsgroups", "Pendigits", "made-up survey"
SIZES = {"quick": (1000, 2000, 4000), "full": (1000, 2000, 4000, 10_000, 20_000)}
#: Articles that a quick look trains on.
QUICK_ROWS = 4000
PROTOCOL = (
    "Linear SVM, one against the rest (LinearSVC, C = 1; 20 Newsgroups as TF-IDF without headers, 18,846 "
    "articles where the paper has 18,828; Pendigits standardised). Calibrated on the scores of five folds "
    "inside the training part; 20 Newsgroups is tested on five outer folds, Pendigits on its test part. "
)
ENTROPY = (
    "Cross entropy in nats per test row of 'the class at this rank is right'; inf is a certain mistake (the "
    f"paper prints a dash); the second number keeps estimates within [{CLIP}, {1 - CLIP}]."
)
#: Why two scores lose on Pendigits, by the width of the cells; tto-writers measures it.
LOST = {
    0.05: "Such cells hold too few rows: two scores lose within the training writers too (tto-writers).",
    0.1: "The test digits are of other writers: within the training writers two scores win (tto-writers).",
}
COARSE = (
    "The two differ by less than the folds do; cells with equally many rows resolve the middle of the "
    "scores, where most rows are, better, and their ends worse."
)

Answers = Sequence[dict[str, Any]]


def _rank_jobs(function: Callable[..., Any], *problems: tuple[str, str]) -> Callable[[Scale], Sequence[Job]]:
    def jobs(scale: Scale) -> list[Job]:
        full = scale == "full"
        return [
            Job(
                function,
                {
                    "data": data,
                    "learner": learner,
                    "fold": fold,
                    "n_rows": None if full or data == DIGITS else QUICK_ROWS,
                },
            )
            for data, learner in problems
            for fold in range(N_FOLDS if full and data == NEWS else 1)
        ]

    return jobs


def _by_data(done: Sequence[Done]) -> dict[str, Answers]:
    """The answers of all folds of every data set."""
    found: dict[str, list[dict[str, Any]]] = {}
    for each in done:
        found.setdefault(each.arguments["data"], []).append(each.answer)
    return dict(found)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _row(labels: tuple[str, ...], *columns: Iterable[float]) -> Row:
    """Means and spreads over the folds."""
    numbers = [list(column) for column in columns]
    ours = tuple(_mean(each) for each in numbers)
    if len(numbers[0]) == 1:
        return Row(labels, ours)
    spread = tuple(float(np.std(each, ddof=1)) if np.isfinite(each).all() else None for each in numbers)
    return Row(labels, ours, spread=spread)


def _at_most(statement: str, data: str, left: float, right: float, reason: str = "") -> Check:
    finding = f"{left:.5g} against {right:.5g}"
    if left > right:
        reasons = ("A tie: they differ by less than 1%." if left < 1.01 * right else "", reason)
        finding = ". ".join([finding, " ".join(filter(None, reasons))]) if any(reasons) else finding
    return Check(f"{data}: {statement}", bool(left <= right), finding)


def _near(statement: str, data: str, left: float, right: float, within: float = 0.2) -> Check:
    finding = f"{left:.5g} against {right:.5g}"
    return Check(f"{data}: {statement}", abs(left - right) <= within * right, finding)


# Table 4: equal width against equal count.


def _table4(done: Sequence[Done]) -> Findings:
    rows, checks = [], []
    for data, answers in _by_data(done).items():
        means = {}
        for kind in ("equal width", "equal count"):
            for place, n_cells in enumerate(CELLS_OF_ONE):
                columns = [[each["one score"][kind][place][m] for each in answers] for m in (0, 1)]
                rows.append(_row((data, kind, str(n_cells)), *columns))
            means[kind] = _mean(row.ours[1] or 0 for row in rows[-len(CELLS_OF_ONE) :])
        checks.append(
            _at_most(
                "cells of equal width are better than cells of equal count, on average over their numbers",
                data,
                means["equal width"],
                means["equal count"],
                COARSE,
            )
        )
    return Findings(tuple(rows), tuple(checks))


# Tables 6 and 7: smoothings, sizes of cells and numbers of scores.


def _tables(done: Sequence[Done], best: str, sizes: tuple[float, ...]) -> Findings:
    rows, checks = [], []
    for data, answers in _by_data(done).items():
        names = list(answers[0]["entropy"])
        for name in names:
            labels = tuple(name.split("; ")) if "; " in name else (name, "", "")
            rows.append(
                _row((data, *labels), *([each["entropy"][name][m] for each in answers] for m in (0, 1)))
            )
        clipped = {name: _mean(each["entropy"][name][1] for each in answers) for name in names}
        checks += _table_checks(data, clipped, best, sizes)
    return Findings(tuple(rows), tuple(checks))


def _table_checks(data: str, clipped: dict[str, float], best: str, sizes: tuple[float, ...]) -> list[Check]:
    tables = {name: value for name, value in clipped.items() if "; " in name}
    least = {axes: min(v for n, v in tables.items() if n.startswith(f"{axes};")) for axes in ("f1", "f1, f2")}
    winner = min(tables, key=lambda name: tables[name])
    checks = [
        _at_most("two scores beat one, each with its best cells", data, least["f1, f2"], least["f1"]),
        Check(f"{data}: the best table is {best}", winner == best, f"{winner} ({tables[winner]:.4f})"),
    ]
    smoothing = best.rsplit("; ", 1)[1]
    for size in sizes:
        two, one, bare = (
            clipped[f"{axes}; {size}; {by}"]
            for axes, by in (("f1, f2", smoothing), ("f1", smoothing), ("f1, f2", "none"))
        )
        checks += [
            _at_most(
                f"two scores beat one in cells of {size} with {smoothing}",
                data,
                two,
                one,
                LOST.get(size, "") if data == DIGITS else "",
            ),
            _at_most(f"{smoothing} beats no smoothing of two scores in cells of {size}", data, two, bare),
        ]
    return checks


def _table6(done: Sequence[Done]) -> Findings:
    return _tables(done, "f1, f2; 0.1; ma_cov", (0.05, 0.1))


def _table7(done: Sequence[Done]) -> Findings:
    return _tables(done, "f1, f2; 30; ma", (30,))


# Table 8, figures 1 and 2: the first guess.


def _table8(done: Sequence[Done]) -> Findings:
    rows, checks, series = [], [], []
    for data, answers in _by_data(done).items():
        names = list(answers[0]["auc"])
        for name in names:
            rows.append(_row((data, name), [each["auc"][name] for each in answers]))
            for curve, style in (("roc", "line"), ("reliability", "points")):
                x, y = answers[0][curve][name]
                title = f"{data}: {'ROC' if curve == 'roc' else 'reliability'} (first fold)"
                series.append(Series(title, name, tuple(x), tuple(y), style))  # type: ignore[arg-type]
        area = {name: _mean(each["auc"][name] for each in answers) for name in names}
        checks += [
            _at_most(
                f"the AUC of {other} is at most that of the smoothed table",
                data,
                area[other],
                area["proposed"],
            )
            for other in names
            if other != "proposed"
        ]
    return Findings(tuple(rows), tuple(checks), tuple(series))


# Figure 3: errors found.


def _figure3(done: Sequence[Done]) -> Findings:
    rows, checks, series = [], [], []
    for data, answers in _by_data(done).items():
        for method in ("proposed", "logistic"):
            found = [each["detection"][method] for each in answers]
            for key, name in (("found", method), ("found by score", "first score")):
                if name == "first score" and method != "proposed":
                    continue
                shares = [
                    [each[key][place] / each["total"] for each in found] for place in range(len(SHARES))
                ]
                rows.append(_row((data, name), *shares))
            for place, share in enumerate(SHARES):
                by_score, ours = (
                    _mean(each[key][place] for each in found) for key in ("found by score", "found")
                )
                statement = (
                    f"{method}: the first {share:.0%} of the rows hold at least the errors found by score"
                )
                checks.append(_at_most(statement, data, by_score, ours))
        first = answers[0]["detection"]
        for name, key in (("proposed", "share"), ("first score", "share by score")):
            source = first["proposed"]
            series.append(Series(data, name, tuple(source["coverage"]), tuple(source[key])))
    return Findings(tuple(rows), tuple(checks), tuple(series))


# Table 9: which score says most.


def _table9(done: Sequence[Done]) -> Findings:
    rows, checks = [], []
    for data, answers in _by_data(done).items():
        found = {key: np.array(values) for key, values in answers[0]["correlation"].items()}
        lower = found["rank"] > 1
        rank, strongest, most, first = (
            found[key][lower] for key in ("rank", "strongest", "of the strongest", "of the first")
        )
        rows += [
            Row((data, str(number)), (float(best), float(by_best), float(by_first)))
            for number, best, by_best, by_first in zip(rank, strongest, most, first, strict=True)
        ]
        wins = int((strongest == 1).sum())
        close = int(((strongest != 1) & (most - first < found["standard error"])).sum())
        checks.append(
            Check(
                f"{data}: for most ranks, whether its class is right goes most with the highest score",
                wins > len(rank) / 2,
                f"{wins} of {len(rank)} ranks; at {close} of the others it comes within a standard error "
                f"({float(found['standard error']):.3f}) of the strongest (first fold).",
            )
        )
    return Findings(tuple(rows), tuple(checks))


# Figures 4, 5 and 7, table 10: the other ranks.


def _figure4(done: Sequence[Done]) -> Findings:
    rows, checks, series = [], [], []
    for data, answers in _by_data(done).items():
        mean = {}
        for name in COMBINATIONS:
            per_rank = [[each["logistic"][name][place][1] for each in answers] for place in _places(answers)]
            ranks = tuple(float(place + 2) for place in _places(answers))
            rows += [
                _row((data, name, f"{rank:.0f}"), values)
                for rank, values in zip(ranks, per_rank, strict=True)
            ]
            mean[name] = [_mean(values) for values in per_rank]
            series.append(Series(data, name, ranks, tuple(mean[name])))
        gap = np.abs(np.subtract(mean["single"], mean["A"]))
        checks += [
            _at_most(
                "A is at least as good as the single score at rank 2", data, mean["A"][0], mean["single"][0]
            ),
            _at_most("A is best on average over the ranks", data, *_first_and_best_other(mean)),
            _at_most(
                "the gap between A and single is smaller at rank 5 than at rank 2", data, gap[3], gap[0]
            ),
            # Beyond rank 2 the neighbours by rank say nothing that the score itself does not.
            _near(
                "C is like the single score beyond rank 2, within 5% on average",
                data,
                _mean(mean["C"][1:]),
                _mean(mean["single"][1:]),
                within=0.05,
            ),
        ]
    return Findings(tuple(rows), tuple(checks), tuple(series))


def _places(answers: Answers) -> range:
    return range(len(answers[0]["logistic"]["A"]))


def _first_and_best_other(mean: dict[str, list[float]]) -> tuple[float, float]:
    averages = {name: _mean(values) for name, values in mean.items()}
    return averages["A"], min(value for name, value in averages.items() if name != "A")


def _table10(done: Sequence[Done]) -> Findings:
    rows, checks, series = [], [], []
    for data, answers in _by_data(done).items():
        area = {
            (name, rank): [each["auc"][name][rank - 2] for each in answers]
            for name in COMBINATIONS
            for rank in (2, 3)
        }
        rows += [_row((data, name, str(rank)), values) for (name, rank), values in area.items()]
        for (name, rank), paper in {("C", 2): "C", ("B", 3): "B"}.items():
            best = max(COMBINATIONS, key=lambda each: _mean(area[each, rank]))
            if data == NEWS:
                finding = f"{best} ({_mean(area[best, rank]):.4f}; {name} {_mean(area[name, rank]):.4f})"
                checks.append(
                    Check(f"{data}: {paper} has the best AUC at rank {rank}", best == paper, finding)
                )
            single, several = (_mean(area[each, rank]) for each in ("single", "A"))
            checks.append(
                _at_most(f"A ranks better than the single score at rank {rank}", data, single, several)
            )
        for name in COMBINATIONS:
            for rank in (2, 3):
                x, y = answers[0]["roc"][name][rank - 2]
                series.append(Series(f"{data}: rank {rank} (first fold)", name, tuple(x), tuple(y)))
    return Findings(tuple(rows), tuple(checks), tuple(series))


def _figure6(done: Sequence[Done]) -> Findings:
    found: dict[tuple[str, int], dict[str, float]] = {
        (each.arguments["data"], each.arguments["n_rows"]): each.answer for each in done
    }
    rows = [Row((data, str(size)), (answer["single"], answer["A"])) for (data, size), answer in found.items()]
    checks, series = [], []
    for data in dict.fromkeys(data for data, _ in found):
        sizes = [size for name, size in found if name == data]
        gaps = [found[data, size]["single"] - found[data, size]["A"] for size in sizes]
        for name in ("single", "A"):
            values = tuple(found[data, size][name] for size in sizes)
            series.append(Series(data, name, tuple(map(float, sizes)), values))
        shown = ", ".join(f"{gap:.4f}" for gap in gaps)
        checks += [
            Check(f"{data}: A is better than the single score at every size", min(gaps) > 0, f"gaps {shown}"),
            Check(
                f"{data}: the gap is larger at the largest size than at the smallest",
                gaps[-1] > gaps[0],
                shown,
            ),
        ]
    return Findings(tuple(rows), tuple(checks), tuple(series))


def _figure6_jobs(scale: Scale) -> list[Job]:
    return [
        Job(second_rank_by_size, {"data": data, "learner": "SVM", "fold": 0, "n_rows": size})
        for data in (SURVEY, NEWS)
        for size in SIZES[scale]
        if data == SURVEY or size < 20_000
    ]


def _figure7(done: Sequence[Done]) -> Findings:
    rows, checks, series = [], [], []
    for data, answers in _by_data(done).items():
        mean = {}
        for name in ("logistic A", *answers[0]["tables"]):
            per_rank = [
                [
                    (each["logistic"]["A"] if name == "logistic A" else each["tables"][name])[place][1]
                    for each in answers
                ]
                for place in range(4)
            ]
            rows += [_row((data, name, str(place + 2)), values) for place, values in enumerate(per_rank)]
            mean[name] = [_mean(values) for values in per_rank]
            series.append(Series(data, name, (2.0, 3.0, 4.0, 5.0), tuple(mean[name])))
        other = min(_mean(values) for name, values in mean.items() if name != "logistic A")
        checks.append(
            _at_most(
                "logistic A is best on average over ranks 2 to 5", data, _mean(mean["logistic A"]), other
            )
        )
    return Findings(tuple(rows), tuple(checks), tuple(series))


# Tables 11 and 12: the whole distribution.

#: ZE02, tables 4 and 5: MSE and error of PAV naive Bayes, of PAV boosted naive Bayes, normalised.
ZE02 = {
    (DIGITS, "PAV NB"): (0.0241, 0.1498),
    (DIGITS, "PAV BNB"): (0.0150, 0.0946),
    (NEWS, "PAV NB"): (0.0122, 0.15305),
}


def _table11(done: Sequence[Done]) -> Findings:
    rows, checks = [], []
    for data, answers in _by_data(done).items():
        ours = {key: [each["distribution"][key] for each in answers] for key in answers[0]["distribution"]}
        rows += [
            _row((data, "logistic A, as estimated"), ours["mse"], ours["error"]),
            _row((data, "logistic A, normalised"), ours["mse, normalised"], ours["error"]),
            *(
                Row((data, f"{name} (ZE02)"), (None, None), paper)
                for (of, name), paper in ZE02.items()
                if of == data
            ),
        ]
        mse, error = _mean(ours["mse"]), _mean(ours["error"])
        checks += [
            _at_most("the MSE is below that of PAV naive Bayes in ZE02", data, mse, ZE02[data, "PAV NB"][0]),
            _at_most(
                "the error is below that of PAV naive Bayes in ZE02", data, error, ZE02[data, "PAV NB"][1]
            ),
        ]
        if data == DIGITS:
            checks += [
                _near(
                    f"the {name} is within a fifth of that of PAV boosted naive Bayes", data, value, boosted
                )
                for name, value, boosted in zip(
                    ("MSE", "error"), (mse, error), ZE02[data, "PAV BNB"], strict=True
                )
            ]
    return Findings(tuple(rows), tuple(checks))


# How large the cells should be: the paper's open question.


def _cell_sizes(done: Sequence[Done]) -> Findings:
    rows, checks = [], []
    for data, answers in _by_data(done).items():
        loss = {}
        for by in ("cv", "aic", "bic"):
            sizes, losses = ([each["chosen"][by][m] for each in answers] for m in (0, 1))
            rows.append(_row((data, by), sizes, losses))
            loss[by] = _mean(losses)
        names = [
            name for name in answers[0]["entropy"] if name.startswith("f1, f2;") and name.endswith("; ma_cov")
        ]
        best = min(_mean(each["entropy"][name][1] for each in answers) for name in names)
        rows.append(Row((data, "best on the test rows"), (None, best)))
        finding = ", ".join(f"{by} {value:.4f}" for by, value in loss.items()) + f", best {best:.4f}"
        checks += [
            Check(
                f"{data}: cross-validation comes within 1% of the best size",
                loss["cv"] <= 1.01 * best,
                finding,
            ),
            Check(
                f"{data}: AIC comes within 1% of cross-validation", loss["aic"] <= 1.01 * loss["cv"], finding
            ),
            Check(
                f"{data}: BIC comes within 1% of cross-validation", loss["bic"] <= 1.01 * loss["cv"], finding
            ),
        ]
    return Findings(tuple(rows), tuple(checks))


BOTH = ((NEWS, "SVM"), (DIGITS, "SVM"))
TWO_ENTROPIES = ("cross entropy", "clipped")

EXPERIMENTS = (
    Experiment(
        "tto-table4",
        "Cells of equal width against cells of equal count, highest score alone, unsmoothed",
        PROTOCOL + ENTROPY,
        ("data", "cells", "number"),
        TWO_ENTROPIES,
        _rank_jobs(first_rank, *BOTH),
        _table4,
    ),
    Experiment(
        "tto-table6",
        "Accuracy tables: smoothings, widths and numbers of scores, and logistic regression",
        PROTOCOL + ENTROPY,
        ("data", "scores", "width", "smoothing"),
        TWO_ENTROPIES,
        _rank_jobs(first_rank, *BOTH),
        _table6,
    ),
    Experiment(
        "tto-table7",
        "Accuracy tables of naive Bayes scores: smoothings, numbers of cells and of scores",
        "Multinomial naive Bayes (alpha 0.1) on 20 Newsgroups without headers. The paper does not say which "
        "scores it used; here they are log-probabilities per word, since the probabilities themselves are 0 "
        "or 1 for long texts. " + ENTROPY,
        ("data", "scores", "cells", "smoothing"),
        TWO_ENTROPIES,
        _rank_jobs(first_rank, (NEWS, "NB")),
        _table7,
    ),
    Experiment(
        "tto-table8",
        "AUC of the first guess, with the reliability and ROC curves of figures 1 and 2",
        PROTOCOL + "Proposed is the table of (f1, f2), width 0.1, ma_cov. AUC of 'the first guess is right'.",
        ("data", "method"),
        ("AUC",),
        _rank_jobs(first_rank, *BOTH),
        _table8,
        {"x": "false positive rate, or estimate", "y": "true positive rate, or share of right guesses"},
    ),
    Experiment(
        "tto-figure3",
        "Errors found by checking the least confident rows first",
        PROTOCOL + "Share of all errors among the first 5, 10 and 20% of the rows.",
        ("data", "order"),
        tuple(f"{share:.0%}" for share in SHARES),
        _rank_jobs(first_rank, *BOTH),
        _figure3,
        {"x": "share of the rows checked", "y": "share of the errors found"},
    ),
    Experiment(
        "tto-table9",
        "Which ranked score correlates most with whether the class at a rank is right",
        PROTOCOL + "Absolute Pearson correlation on the out-of-fold scores of the first fold.",
        ("data", "rank of the class"),
        ("strongest score", "its correlation", "that of the first"),
        _rank_jobs(all_ranks, *BOTH),
        _table9,
    ),
    Experiment(
        "tto-figure4",
        f"Cross entropy of ranks 2 to {DEEPEST} by logistic regression on four combinations of scores",
        PROTOCOL + f"Cross entropy in nats, estimates kept within [{CLIP}, {1 - CLIP}].",
        ("data", "combination", "rank"),
        ("cross entropy",),
        _rank_jobs(all_ranks, *BOTH),
        _figure4,
        {"x": "rank", "y": "cross entropy"},
    ),
    Experiment(
        "tto-table10",
        "AUC of the second and third guess, with the ROC curves of figure 5",
        PROTOCOL + "AUC of 'the class at this rank is right'.",
        ("data", "combination", "rank"),
        ("AUC",),
        _rank_jobs(all_ranks, *BOTH),
        _table10,
        {"x": "false positive rate", "y": "true positive rate"},
    ),
    Experiment(
        "tto-figure6",
        "Cross entropy of the second guess against the number of training rows",
        PROTOCOL
        + "The paper's survey (JGSS) is not public. The made-up survey has its sizes: 20,066 short answers "
        "for training, 3,772 for testing, 200 codes; its numbers say nothing about the real one.",
        ("data", "training rows"),
        ("single", "A"),
        _figure6_jobs,
        _figure6,
        {"x": "training rows", "y": "cross entropy at rank 2", "log": "x"},
    ),
    Experiment(
        "tto-figure7",
        "Ranks 2 to 5: logistic regression against accuracy tables",
        PROTOCOL
        + f"Cross entropy in nats, estimates kept within [{CLIP}, {1 - CLIP}]. Tables of (f1, fr), ma_cov: "
        "of width 0.1, the best at rank 1, or of the width chosen for every rank by cross-validation.",
        ("data", "method", "rank"),
        ("cross entropy",),
        _rank_jobs(all_ranks, *BOTH),
        _figure7,
        {"x": "rank", "y": "cross entropy"},
    ),
    Experiment(
        "tto-table11",
        "MSE and error of the whole distribution (tables 11 and 12), beside ZE02's PAV naive Bayes",
        PROTOCOL
        + "MSE is the Brier score divided by the number of classes. Those of ZE02 are of other learners and, "
        "on 20 Newsgroups, of 19,997 articles with random splits.",
        ("data", "method"),
        ("MSE", "error"),
        _rank_jobs(all_ranks, *BOTH),
        _table11,
    ),
    Experiment(
        "tto-cells",
        "How large should cells be? Cross-validation, AIC and BIC (the paper's open question)",
        PROTOCOL
        + f"Tables of (f1, f2), ma_cov; cross entropy in nats at rank 1, kept within [{CLIP}, {1 - CLIP}].",
        ("data", "chosen by"),
        ("width", "cross entropy"),
        _rank_jobs(first_rank, *BOTH),
        _cell_sizes,
    ),
    WRITERS,
    GROWING,
    ENSEMBLES,
)
