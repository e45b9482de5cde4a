"""Figures 1 to 5 of Zadrozny & Elkan: reliability before calibration, and what the calibrators learned."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale, Series
from calibrant.experiments._shape import NO_DATA
from calibrant.experiments._ze02_tables import table2_jobs, table3_jobs
from calibrant.experiments._ze02_two_class import GRID, WIDTHS

#: A panel of a figure: a data set and a learner.
Panel = tuple[str, str]
ADULT_NB, ADULT_SVM, TIC_NB, TIC_SVM = ("adult", "NB"), ("adult", "SVM"), ("tic", "NB"), ("tic", "SVM")
TITLES = {
    ADULT_NB: "Adult, naive Bayes",
    ADULT_SVM: "Adult, SVM",
    TIC_NB: "TIC, naive Bayes",
    TIC_SVM: "TIC, SVM",
}
AXES = {"x": "score", "y": "share of positives among test rows"}
CONVENTIONS = (
    "Points: test rows in bins of equal width over the raw score (naive Bayes: its probability; support "
    "vector machine: its margin re-scaled to [0, 1] by the largest training margin), at their mean score "
    "and their share of positives, with their number. Data and learners are those of tables 2 and 3. "
)
Answers = Mapping[Panel, Any]


def _jobs_of(panels: Sequence[Panel]) -> Callable[[Scale], Sequence[Job]]:
    def jobs(scale: Scale) -> Sequence[Job]:
        wanted = [*table3_jobs(scale), *table2_jobs(scale)[:2]]
        return [job for job in wanted if (job.arguments["name"], job.arguments["learner"]) in panels]

    return jobs


def _collector(
    panels: Sequence[Panel], curve: str | None, check: Callable[[Answers], tuple[Check, ...]]
) -> Callable[[Sequence[Done]], Findings]:
    def collect(done: Sequence[Done]) -> Findings:
        answers = {(each.arguments["name"], each.arguments["learner"]): each.answer for each in done}
        shown = {panel: answer for panel, answer in answers.items() if panel in panels}
        return Findings(
            tuple(row for panel, answer in shown.items() for row in _rows(panel, answer, curve)),
            check(answers),
            tuple(line for panel, answer in shown.items() for line in _series(panel, answer, curve)),
        )

    return collect


def _rows(panel: Panel, answer: Any, curve: str | None) -> list[Row]:
    bins = answer["bins"]
    learned = bins["estimate"][curve] if curve else bins["score"]
    return [
        Row((TITLES[panel],), (score, value, frequency, count))
        for score, value, frequency, count in zip(
            bins["score"], learned, bins["frequency"], bins["count"], strict=True
        )
    ]


def _series(panel: Panel, answer: Any, curve: str | None) -> list[Series]:
    bins = answer["bins"]
    counts = tuple(f"{count:,}" for count in bins["count"])
    lines = [Series(TITLES[panel], "diagonal", (0.0, 1.0), (0.0, 1.0))] if curve is None else []
    if curve is not None:
        style: Literal["steps", "line"] = "steps" if curve == "PAV" else "line"
        lines.append(
            Series(TITLES[panel], curve, tuple(GRID.tolist()), tuple(answer["curves"][curve]), style)
        )
    points = Series(
        TITLES[panel], "test rows", tuple(bins["score"]), tuple(bins["frequency"]), "points", counts
    )
    return [*lines, points]


def _distance(answer: Any, curve: str) -> float:
    """The mean distance between the estimate and the share of positives of a bin, over the test rows."""
    gap = np.abs(np.subtract(answer["bins"]["estimate"][curve], answer["bins"]["frequency"]))
    return float(np.average(gap, weights=answer["bins"]["count"]))


def _check(
    statement: str, panels: Sequence[Panel], answers: Answers, see: Callable[[Any], tuple[bool, str]]
) -> Check:
    seen = {TITLES[panel]: see(answers[panel]) for panel in panels if panel in answers}
    if len(seen) < len(panels):
        return Check(statement, None, NO_DATA)
    finding = "; ".join(f"{title}: {text}" for title, (_, text) in seen.items())
    return Check(statement, all(held for held, _ in seen.values()), finding)


def _ends(answer: Any) -> tuple[float, float, str]:
    """How far the first and the last bin are above the diagonal."""
    score, frequency = answer["bins"]["score"], answer["bins"]["frequency"]
    low, high = frequency[0] - score[0], frequency[-1] - score[-1]
    return (
        low,
        high,
        f"lowest bin {score[0]:.3f} -> {frequency[0]:.3f}, highest {score[-1]:.3f} -> {frequency[-1]:.3f}",
    )


def _too_extreme(answer: Any) -> tuple[bool, str]:
    low, high, shown = _ends(answer)
    return low > 0 > high, shown


def _too_timid(answer: Any) -> tuple[bool, str]:
    low, high, shown = _ends(answer)
    return low < 0 < high, shown


def _figure1(answers: Answers) -> tuple[Check, ...]:
    statement = "naive Bayes is too extreme: the lowest bin lies above the diagonal, the highest below it"
    return (_check(statement, (ADULT_NB, TIC_NB), answers, _too_extreme),)


def _figure2(answers: Answers) -> tuple[Check, ...]:
    def nearly_constant(answer: Any) -> tuple[bool, str]:
        counts = answer["bins"]["count"]
        return max(counts) > 0.9 * sum(counts), f"{max(counts):,} of {sum(counts):,} test rows are in one bin"

    return (
        _check(
            "SVM on Adult is sigmoidal: the lowest bin lies below the diagonal, the highest above it",
            (ADULT_SVM,),
            answers,
            _too_timid,
        ),
        _check(
            "SVM on TIC (6% positives) gives nearly all rows one score (not in the paper)",
            (TIC_SVM,),
            answers,
            nearly_constant,
        ),
    )


def _figure3(answers: Answers) -> tuple[Check, ...]:
    def fits(answer: Any) -> tuple[bool, str]:
        distance = _distance(answer, "sigmoid")
        return distance < 0.03, f"mean distance {distance:.4f}"

    return (
        _check("the sigmoid fits the SVM: mean distance below 0.03", (ADULT_SVM, TIC_SVM), answers, fits),
    )


def _closer(answers: Answers, statement: str, far: tuple[Panel, str], near: tuple[Panel, str]) -> Check:
    if far[0] not in answers or near[0] not in answers:
        return Check(statement, None, NO_DATA)
    distances = {(TITLES[panel], curve): _distance(answers[panel], curve) for panel, curve in (near, far)}
    finding = ", ".join(
        f"{title}, {curve}: mean distance {gap:.4f}" for (title, curve), gap in distances.items()
    )
    low, high = distances.values()
    return Check(statement, low < high, finding)


def _figure4(answers: Answers) -> tuple[Check, ...]:
    def steps_off(answer: Any) -> tuple[bool, str]:
        sigmoid, pav = (_distance(answer, curve) for curve in ("sigmoid", "PAV"))
        return sigmoid > pav, f"mean distance {sigmoid:.4f}, of PAV {pav:.4f}"

    statement = "the sigmoid fits naive Bayes less well than a free monotone curve does"
    return (
        _check(statement, (ADULT_NB, TIC_NB), answers, steps_off),
        *(
            _closer(
                answers,
                f"{data}: the sigmoid fits naive Bayes less well than the SVM",
                (naive_bayes, "sigmoid"),
                (svm, "sigmoid"),
            )
            for data, naive_bayes, svm in (("Adult", ADULT_NB, ADULT_SVM), ("TIC", TIC_NB, TIC_SVM))
        ),
    )


def _figure5(answers: Answers) -> tuple[Check, ...]:
    return (
        _closer(
            answers,
            "naive Bayes: PAV is closer to the test frequencies than the sigmoid",
            (ADULT_NB, "sigmoid"),
            (ADULT_NB, "PAV"),
        ),
        _closer(
            answers,
            "SVM: PAV is closer to the test frequencies than the sigmoid",
            (ADULT_SVM, "sigmoid"),
            (ADULT_SVM, "PAV"),
        ),
    )


def _figure(
    number: int,
    title: str,
    panels: Sequence[Panel],
    curve: str | None,
    check: Callable[[Answers], tuple[Check, ...]],
    compared: Sequence[Panel] = (),
) -> Experiment:
    """Describe a figure; what it is only compared with has no panel."""
    widths = ", ".join(f"{TITLES[panel]} {WIDTHS[panel]}" for panel in panels)
    return Experiment(
        name=f"ze02-figure{number}",
        title=title,
        conventions=f"{CONVENTIONS}Width of the bins: {widths}. The paper prints no numbers.",
        labels=("panel",),
        measures=("score", "estimate", "share of positives", "rows"),
        jobs=_jobs_of([*panels, *compared]),
        collect=_collector(panels, curve, check),
        axes=AXES,
    )


FIGURES: tuple[Experiment, ...] = (
    _figure(1, "Reliability of raw naive Bayes, Adult and TIC", (ADULT_NB, TIC_NB), None, _figure1),
    _figure(2, "Reliability of the re-scaled SVM, Adult and TIC", (ADULT_SVM, TIC_SVM), None, _figure2),
    _figure(
        3, "The sigmoid learned for the SVM, against test rows", (ADULT_SVM, TIC_SVM), "sigmoid", _figure3
    ),
    _figure(
        4,
        "The sigmoid learned for naive Bayes, against test rows",
        (ADULT_NB, TIC_NB),
        "sigmoid",
        _figure4,
        (ADULT_SVM, TIC_SVM),
    ),
    _figure(
        5,
        "PAV learned for naive Bayes and the SVM, against test rows",
        (ADULT_NB, ADULT_SVM),
        "PAV",
        _figure5,
    ),
)
