"""What a report says, as plain values: it knows neither rows nor HTML.

Everything is frozen and bounded in size, whatever the number of rows. Measures have the names that
`calibrant.metrics.evaluate` gives them, and its intervals. `Summary.to_json` writes these fields under these
names.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from calibrant._core._whole_files import write_whole
from calibrant.metrics import Estimate, plain_record

#: Written into the JSON; raised when a field changes its meaning or goes away.
SCHEMA = "calibrant.report/2"

Level = Literal["believable", "nearly", "not", "unknown"]
Floats = tuple[float, ...]


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
class Measures:
    """How good the probabilities are, in numbers: some of `calibrant.metrics.Evaluation`.

    Attributes
    ----------
    log_loss : Estimate
        In nats; infinite if a class was called impossible and came.
    brier_score, calibration, refinement, uncertainty : Estimate
        The Brier score, of the positive of two classes or added over more, and its parts by isotonic
        regression class by class: ``brier_score = calibration + refinement``. `uncertainty` is the score of
        giving every row the base rates.
    error_rate : Estimate
        Share of rows whose most probable class is not the true one.
    confidence : Estimate
        Mean probability of the most probable class.
    certain_mistakes : int
        Rows whose true class had the probability 0.
    expected_calibration_error : Estimate
        Mean distance of forecasts from frequencies in bins of equal width: of the positive of two classes,
        or of the most probable of more.
    calibration_slope : Estimate
        Slope of the logistic regression of the truth on the log-odds: 1 is right, below 1 forecasts are too
        extreme.
    auc : Estimate
        Mean over the classes that occur of the area under the ROC curve, each class against the rest.
    """

    log_loss: Estimate
    brier_score: Estimate
    calibration: Estimate
    refinement: Estimate
    uncertainty: Estimate
    error_rate: Estimate
    confidence: Estimate
    certain_mistakes: int
    expected_calibration_error: Estimate
    calibration_slope: Estimate
    auc: Estimate


@dataclass(frozen=True, slots=True)
class ClassMeasures:
    """One class against the rest, in numbers: as `calibrant.metrics.ClassEvaluation`, and how it was tested.

    Attributes
    ----------
    name : str
        The label as text.
    rows : float
        Number of rows of the class, or their weight.
    share, mean_probability : Estimate
        How often it comes, and how often it was expected.
    brier_score, calibration, refinement : Estimate
        Squared error of the probability of this class, and its parts by isotonic regression.
    auc : Estimate
        Area under the ROC curve; `nan` if the class is that of no row or of every row.
    calibration_slope, calibration_intercept : Estimate
        The logistic regression of the truth on the log-odds of the class; `nan` where there is none.
    gap, p_value : float
        By how much its probabilities are off beyond chance, root mean square, and the chance that
        believable ones look as bad; `nan` for classes that are not drawn.
    """

    name: str
    rows: float
    share: Estimate
    mean_probability: Estimate
    brier_score: Estimate
    calibration: Estimate
    refinement: Estimate
    auc: Estimate
    calibration_slope: Estimate
    calibration_intercept: Estimate
    gap: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points.

    Attributes
    ----------
    x, y : tuple of float
        The points.
    """

    x: Floats
    y: Floats


@dataclass(frozen=True, slots=True)
class Band:
    """The band in which believable probabilities would stay.

    Attributes
    ----------
    x, lower, upper : tuple of float
        Forecasts, and the ends of the band there.
    level : float
        The share of believable forecasters in it, at any one forecast.
    """

    x: Floats
    lower: Floats
    upper: Floats
    level: float


@dataclass(frozen=True, slots=True)
class Bin:
    """The rows whose forecasts lie between two edges, as in `calibrant.metrics.ReliabilityBins`.

    Attributes
    ----------
    left, right : float
        The edges.
    count : int
        Number of rows.
    mean_score, frac_pos : float
        Their mean forecast, and how often what was forecast came.
    """

    left: float
    right: float
    count: int
    mean_score: float
    frac_pos: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """What was forecast against what came.

    Attributes
    ----------
    name : str
        The class, or "most probable class".
    fit : Curve
        The isotonic fit: how often the event came, rising with the forecast.
    band : Band
        What chance would leave the fit in.
    bins : tuple of Bin
        The same in bins of width 0.1.
    outside : float
        Share of the rows whose forecasts lie where the fit is outside the band.
    gap, p_value : float
        As in `ClassMeasures`.
    """

    name: str
    fit: Curve
    band: Band
    bins: tuple[Bin, ...]
    outside: float
    gap: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Roc:
    """How well the forecasts of a class put its rows first.

    Attributes
    ----------
    name : str
        The class.
    curve : Curve
        False positive rates and true positive rates, at most 101 points.
    auc : Estimate
        The area under the curve, from all rows.
    """

    name: str
    curve: Curve
    auc: Estimate


@dataclass(frozen=True, slots=True)
class Method:
    """One way to make probabilities, as `calibrant.models.MethodResult` has it.

    Attributes
    ----------
    name : str
        The method.
    log_loss, brier_score, calibration, refinement, error_rate : Estimate
        Its measures; the parts of the Brier score are without intervals.
    difference : Estimate
        Its mean loss minus that of the best, on the same rows.
    share_best : float
        How often it comes first if the rows are drawn anew.
    certain_mistakes : int
        Rows whose true class it gave the probability 0.
    """

    name: str
    log_loss: Estimate
    brier_score: Estimate
    calibration: Estimate
    refinement: Estimate
    error_rate: Estimate
    difference: Estimate
    share_best: float
    certain_mistakes: int


@dataclass(frozen=True, slots=True)
class Methods:
    """Methods, the best first.

    Attributes
    ----------
    results : tuple of Method
        The methods.
    measure : str
        What the ranking is by.
    n_rows, n_folds : int
        Rows compared on; folds, 0 if the forecasts were given.
    best, recommended : str
        The first, and the one to use: a simpler one if that ties with the first.
    advice : str
        What the ranking says, in words.
    subject : str
        The name under which the probabilities of this report stand in the ranking; "" if they do not.
    """

    results: tuple[Method, ...]
    measure: str
    n_rows: int
    n_folds: int
    best: str
    recommended: str
    advice: str
    subject: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong prediction.

    Attributes
    ----------
    row : int
        Its row, counted from 0.
    name : str
        The name of the row; "" if there are no names.
    predicted, truth : str
        The most probable class, and the true one.
    confidence, truth_probability : float
        The probabilities of the two.
    """

    row: int
    name: str
    predicted: str
    truth: str
    confidence: float
    truth_probability: float


@dataclass(frozen=True, slots=True)
class Errors:
    """Which rows are probably wrong.

    Attributes
    ----------
    n_errors : float
        Number of wrong predictions, or their weight.
    detection : Curve
        Share of the rows, the least certain first, and share of all mistakes among them; without points
        if there is no mistake.
    mistakes : tuple of Mistake
        The most confident ones.
    """

    n_errors: float
    detection: Curve
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class Confusion:
    """A pair of decision and truth that differ.

    Attributes
    ----------
    decision, truth : str
        The pair.
    rows, cost : float
        How often it occurs, and what that costs.
    """

    decision: str
    truth: str
    rows: float
    cost: float


@dataclass(frozen=True, slots=True)
class Rule:
    """What one way to decide costs on rows that it has not learned from.

    Attributes
    ----------
    name : str
        The rule.
    cost : float
        The cost of all rows.
    saving, spread : float
        Percent saved against the plain rule, and its standard deviation over the folds.
    """

    name: str
    cost: float
    saving: float
    spread: float


@dataclass(frozen=True, slots=True)
class Decisions:
    """What the probabilities are worth under costs.

    Attributes
    ----------
    actions : tuple of str
        The decisions; by default the classes.
    cost : tuple of tuple of float
        ``cost[i][j]`` is the cost of deciding i when the truth is j; empty for more classes than can be
        shown.
    given : bool
        Whether the costs are the user's; otherwise every mistake costs 1.
    counts : tuple of tuple of float
        Rows by least-cost decision and truth; empty for more classes than can be shown.
    total : float
        What the least-cost decisions cost on all rows.
    mean_cost : Estimate
        The same per row.
    promised : float
        What they would have cost had the probabilities been right.
    plain_total : float
        What the most probable class costs instead; `nan` if some class cannot be decided.
    saving : float
        Percent saved against that.
    confusions : tuple of Confusion
        The pairs that cost most, at most 20.
    rules : tuple of Rule
        Learned rules beside the plain one, where trying them is quick; otherwise empty.
    """

    actions: tuple[str, ...]
    cost: tuple[Floats, ...]
    given: bool
    counts: tuple[Floats, ...]
    total: float
    mean_cost: Estimate
    promised: float
    plain_total: float
    saving: float
    confusions: tuple[Confusion, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows that the page carries, so that decisions can be made anew in the browser.

    Attributes
    ----------
    rows : tuple of int
        Their row numbers; all rows if there are few, otherwise a random sample.
    truth : tuple of int
        The numbers of their true classes.
    proba : tuple of tuple of float
        Their forecasts, to the last digit.
    weight : tuple of float
        Their weights.
    """

    rows: tuple[int, ...]
    truth: tuple[int, ...]
    proba: tuple[Floats, ...]
    weight: Floats


@dataclass(frozen=True, slots=True)
class Summary:
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
    measures : Measures
        How good they are.
    classes : tuple of ClassMeasures
        Each class, in the order of the columns.
    confidence : Reliability
        How often the most probable class came, against its probability.
    reliability : tuple of Reliability
        The same for the classes that lose most to miscalibration, at most 12, in the order of the columns.
        With two classes only the positive one, as the other is its mirror image.
    roc : tuple of Roc
        The ROC curves of the same classes.
    methods : Methods or None
        The ranking of methods, if there is something to rank.
    errors : Errors
        Which rows are probably wrong.
    decisions : Decisions
        What decisions cost.
    sample : Sample
        The rows that the page carries; none for more than 26 classes.
    """

    title: str
    n_rows: int
    total_weight: float
    n_classes: int
    verdict: Verdict
    measures: Measures
    classes: tuple[ClassMeasures, ...]
    confidence: Reliability
    reliability: tuple[Reliability, ...]
    roc: tuple[Roc, ...]
    methods: Methods | None
    errors: Errors
    decisions: Decisions
    sample: Sample

    def to_html(self) -> str:
        """Write the report as one HTML page that needs no other file and no network.

        Returns
        -------
        str
            The page.
        """
        from calibrant.report._html import render_page  # noqa: PLC0415  (jinja2)

        return render_page(self)

    def to_json(self, indent: int | None = None) -> str:
        """Write the fields as JSON.

        Parameters
        ----------
        indent : int, optional
            Spaces by which levels are indented; by default everything is on one line.

        Returns
        -------
        str
            An object with these fields and "schema". Beside the measures of a record stand their
            `intervals`, the two ends of each by its name. What is not a finite number is null.
        """
        return json.dumps({"schema": SCHEMA, **plain_record(self)}, indent=indent, allow_nan=False)

    def save(self, path: str | Path) -> Path:
        """Write the report to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where to; a name that ends in .json gets the JSON, any other the page. Its folder is made if
            it is missing.

        Returns
        -------
        Path
            Where it is.
        """
        target = Path(path)
        text = self.to_json(indent=1) if target.suffix.lower() == ".json" else self.to_html()
        write_whole(target, text.encode(), parents=True)
        return target

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither its style nor the notebook's leaks."""
        from calibrant.report._html import render_frame  # noqa: PLC0415  (jinja2)

        return render_frame(self)

    def __str__(self) -> str:
        lines = [f"{self.title}: {self.n_rows} rows, {self.n_classes} classes", self.verdict.headline]
        return "\n".join(lines + [f"- {line}" for line in (*self.verdict.findings, *self.verdict.advice)])
