"""What a report says, as plain values: it knows neither rows nor HTML.

Everything is frozen and bounded in size, whatever the number of rows. Measures are those of
`calibrant.metrics.evaluate`. `Summary.to_json` writes these fields under these names.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from calibrant.metrics import Evaluation, EvaluationDifference
from calibrant.report._drawn import Reliability, Roc
from calibrant.report._sections import Decisions, Errors, Sample
from calibrant.report._written import Written

if TYPE_CHECKING:
    from calibrant.models import MethodComparison


Level = Literal["believable", "nearly", "not", "unknown"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Can these probabilities be believed, by how much not, and what to do.

    Attributes
    ----------
    level : {"believable", "nearly", "not", "unknown"}
        The answer; "unknown" if there are too few rows to tell.
    headline : str
        The answer in words.
    findings : tuple of str
        What it rests on, most important first.
    advice : tuple of str
        What to do.
    gap : float
        By how much the probabilities of the most probable class are off, root mean square, beyond what
        chance explains; with two classes those of the positive class.
    chance_gap : float
        By how much they would seem to be off if they were right.
    bound : float
        How far off they could be, root mean square: an upper confidence bound of 95% for what `gap`
        estimates.
    mean_bound : float
        The same for the distance of the mean confidence from the share of right predictions.
    lost : float
        The calibration part of the Brier score beyond chance, as a share of what the forecasts know (the
        resolution); above one they are worse than everybody's base rate. `nan` if they know nothing.
    p_value : float
        The chance that believable probabilities look as bad, over all tests and classes.
    """

    level: Level
    headline: str
    findings: tuple[str, ...]
    advice: tuple[str, ...]
    gap: float
    chance_gap: float
    bound: float
    mean_bound: float
    lost: float
    p_value: float


@dataclass(frozen=True, slots=True)
class ClassTest:
    """How one class against the rest stood the test; its measures are those of `Evaluation.by_class`.

    Attributes
    ----------
    name : str
        The label as text.
    rows : float
        Number of rows of the class, or their weight.
    gap, p_value : float
        By how much its probabilities are off beyond chance, root mean square, and the chance that
        believable ones look as bad; `nan` for classes that are not drawn.
    """

    name: str
    rows: float
    gap: float
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """What the same rows were given before: by the learner alone, or by the model that is to be replaced.

    Attributes
    ----------
    verdict : Verdict
        Could they be believed.
    measures : calibrant.metrics.Evaluation
        How good they were.
    confidence : Reliability
        How often the most probable class came, against its probability.
    reliability : tuple of Reliability
        The same for the classes that lost most to miscalibration.
    difference : calibrant.metrics.EvaluationDifference
        The measures of the report less these, row by row: losses below 0 have become better.
    """

    verdict: Verdict
    measures: Evaluation
    confidence: Reliability
    reliability: tuple[Reliability, ...]
    difference: EvaluationDifference


@dataclass(frozen=True, slots=True, eq=False)
class Summary(Written):
    """Everything a report says.

    `summarize` makes it. Printed, it is the verdict in a few lines; in a notebook it shows the page.

    Attributes
    ----------
    title : str
        What the report is about.
    n_rows : int
        Number of rows that count.
    total_weight : float
        Their weight; the same number if no weights were given.
    n_classes : int
        Number of classes.
    verdict : Verdict
        Can the probabilities be believed.
    measures : calibrant.metrics.Evaluation
        How good they are, in all and by class.
    classes : tuple of ClassTest
        How each class stood the test, in the order of the columns.
    confidence : Reliability
        How often the most probable class came, against its probability.
    reliability : tuple of Reliability
        The same for the classes that lose most to miscalibration, at most 12, in the order of the columns.
        With two classes only the positive one, as the other is its mirror image.
    roc : tuple of Roc
        The ROC curves of the same classes.
    methods : MethodComparison or None
        The ranking of methods, if there is something to rank.
    ranked_as : str
        The name under which these probabilities stand in the ranking; "" if they do not.
    errors : Errors
        Which rows are probably wrong.
    decisions : Decisions
        What decisions cost.
    sample : Sample
        The rows that the page carries; none for more than 26 classes.
    before : Before or None
        What the same rows were given before, if that is known.
    """

    schema = "calibrant.report/4"

    title: str
    n_rows: int
    total_weight: float
    n_classes: int
    verdict: Verdict
    measures: Evaluation
    classes: tuple[ClassTest, ...]
    confidence: Reliability
    reliability: tuple[Reliability, ...]
    roc: tuple[Roc, ...]
    methods: "MethodComparison | None"
    ranked_as: str
    errors: Errors
    decisions: Decisions
    sample: Sample
    before: Before | None = None

    def to_html(self) -> str:
        """Write the report as one HTML page that needs no other file and no network.

        Returns
        -------
        str
            The page.
        """
        from calibrant.report._html import render_page  # noqa: PLC0415  (jinja2)

        return render_page(self)

    def __str__(self) -> str:
        lines = [f"{self.title}: {self.n_rows} rows, {self.n_classes} classes", self.verdict.headline]
        return "\n".join(lines + [f"- {line}" for line in (*self.verdict.findings, *self.verdict.advice)])
