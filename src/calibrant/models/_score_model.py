"""The fitted chain that travels: scores to probabilities to decisions."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant import calibrators, codes, decisions, models
from calibrant._core._arrays import Array, Float64Array, as_array
from calibrant._core._checks import check_flag, check_probabilities
from calibrant._core._errors import CalibrantError, DataError, ParameterError
from calibrant._core._estimator import Estimator, clone
from calibrant._core._fitted import all_or_nothing, check_fitted
from calibrant._core._hints import arguments_told
from calibrant._core._names import NamedColumns, take_names, without_names
from calibrant._core._predictions import PredictsScores
from calibrant.models._costs import Costs, read_costs
from calibrant.models._summary import TrainingSummary

if TYPE_CHECKING:
    from calibrant.calibrators import Calibrator, Candidates, GroupEffects, ScoreKind
    from calibrant.models._learned import GroupNames, Learned
    from calibrant.models._plan import Predictions
    from calibrant.passes import PassOptions, Plan, Rows

#: What scores are called that were declared to be probabilities.
DECLARED = "scores with kind='probability'"


class ScoreModel(NamedColumns, PredictsScores, Estimator):
    """From scores to probabilities to decisions, for people who have scores and no estimator.

    The scores come from any model, in any language. They are calibrated; if costs are given, decisions are
    made by cost. The fitted model is one small file, see `calibrant.save`.

    Parameters
    ----------
    calibrator : str or object, default="auto"
        How scores become probabilities. "auto" is the stack of all scores of a row; or
        the name of a method of `calibrant.calibrators.METHODS`, made fit for new rows as by
        `calibrant.calibrators.named_method`; or a calibrator. One that takes a single score stands for
        ``OneVsAllCalibrator(calibrator, combine)`` where there is a score for every class, and with a code
        for ``CodeCalibrator(code, calibrator, combine)``.
    cost : array-like of shape (k, k) or (a, k), mapping or frame, optional
        What decisions cost: ``cost[i, j]`` is the cost of deciding i when the truth is j (many libraries use
        the transpose). By position, in the order of the classes; or by label, as
        ``{decision: {truth: cost}}`` or a frame, see `calibrant.decisions.cost_matrix`. There may be other
        decisions than the classes, such as "ask a person".
    rule : {"expected", "parallel", "lachiche_flach", "mossman"} or object, optional
        How decisions are made under these costs; "lachiche_flach" and "mossman" decide among the classes.
        None is least expected cost.
    kind : {"margin", "probability"}, optional
        What the scores are: declared, never guessed from their values. A calibrator that is named is made for
        such scores, and probabilities must lie between 0 and 1. By default margins, or probabilities where
        the calibrator takes nothing else.
    code : {"all_pairs", "one_vs_all", "exhaustive", "ordinal"} or array-like of shape (k, l), optional
        The code matrix behind the scores, which then have one column per column of it.
    combine : {"normalize", "least_squares", "coupling"} or object, optional
        How the calibrated answers of several columns become one distribution; by default what suits the code,
        see `calibrant.codes.combination_for`. With "auto" it makes a calibrator of every column.
    classes : array-like of shape (k,), optional
        The labels of the columns in order; for a single score the positive class is the second. By default
        the sorted labels of `y`.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels.
    calibrator_ : object
        The fitted calibrator.
    cost_ : ndarray of shape (a, k) or None
        The costs, columns in the order of `classes_`.
    actions_ : ndarray of shape (a,) or (k,)
        The labels of the decisions: the classes, unless the costs name others; row numbers for an array
        that is not square.
    rule_ : object or None
        The fitted rule; None for least expected cost.
    report_ : str
        A line that says what was taken, and why.
    feature_names_in_ : ndarray of shape (l,)
        The names of the columns of scores, in the order of the model; only if it was fitted to a frame.
    summary_ : TrainingSummary or None
        Rows, base rates, and how good the probabilities are; None if the parts were fitted elsewhere.
    groups_ : GroupEffects or None
        What sets groups of rows apart, after ``fit(..., by=...)``: `names`, `intercepts`, `slopes`, and the
        `spreads` of both over the groups.
    predictions_ : Predictions
        The rows that were measured (`rows`), their probabilities from calibrators that were not fitted to
        them (`proba`), and their folds (`fold`); only after ``fit(..., keep_predictions=True)``.

    See Also
    --------
    calibrant.save : One file that any language can read.
    CalibratedClassifier : For those who have the learner too.
    calibrant.models.compare_methods : Which calibrator to use.

    Notes
    -----
    Fit on scores of rows that the model behind the scores was **not** trained on.

    What the rule learns from, and what is measured for `summary_`, are not the probabilities of the final
    calibrator, which has seen these rows and is too sure of them: isotonic regression fits every lucky row.
    They come from five calibrators, each fitted to four fifths of the rows and asked about the others;
    classes with fewer rows than folds are spread over as many as they have. Above half a million scores a
    single part is held out, at most 200 000 rows. The folds are always the same for the same rows.

    Rows that the calibrator gives no number (``fallback="nan"``) are left out of both.

    With groups (`by`) the probabilities of group g are ``softmax((1 + s_g) log p + b_g)`` of the common ones
    p. Slopes and intercepts are learned from the rows that were left out, as random effects with the
    variances of greatest marginal likelihood (Laplace's approximation): a group of ten rows borrows from all
    others, and if groups do not differ beyond chance (5%), all have the common probabilities. Rows without a
    group (None or NaN), and of one that `fit` has not seen, have these too.

    Examples
    --------
    >>> from calibrant.models import ScoreModel
    >>> scores = [-2.1, -1.0, -0.4, -0.2, 0.1, 0.4, 0.5, 1.2, 1.7, 2.2]
    >>> y = ["ham", "ham", "ham", "spam", "ham", "spam", "ham", "spam", "spam", "spam"]
    >>> model = ScoreModel(cost={"keep": {"ham": 0, "spam": 1}, "drop": {"ham": 12, "spam": 0}})
    >>> model.fit(scores, y).predict_proba([0.3, 2.5]).round(2)
    array([[0.37, 0.63],
           [0.06, 0.94]])
    >>> model.decide([0.3, 1.5, 2.5])
    array(['keep', 'keep', 'drop'], dtype='<U4')
    """

    summary_: TrainingSummary | None
    predictions_: "Predictions"

    @arguments_told(
        method="the method of calibration is calibrator=, by the same names",
        costs="the costs are cost=, and cost[i, j] is what deciding i costs when the truth is j",
    )
    def __init__(
        self,
        calibrator: object = calibrators.DEFAULT,
        cost: object = None,
        rule: object = None,
        *,
        kind: "ScoreKind | None" = None,
        code: object = None,
        combine: object = None,
        classes: Sequence[object] | None = None,
    ) -> None:
        self.calibrator = calibrator
        self.cost = cost
        self.rule = rule
        self.kind = kind
        self.code = code
        self.combine = combine
        self.classes = classes

    @property
    def report_(self) -> str:
        """What was taken, and why, in one line."""
        return calibrators.report_of(self.calibrator, self.calibrator_, self.combine)

    def fit(
        self,
        scores: object,
        y: object,
        sample_weight: object = None,
        *,
        by: object = None,
        keep_predictions: bool = False,
    ) -> Self:
        """Calibrate the scores, and learn to decide.

        Parameters
        ----------
        scores : array-like of shape (n,), (n, k) or (n, l)
            One score per row, of the positive of two classes; or one per class; or with a code one per
            column of it. The columns of a frame are taken by label where they are named like the classes;
            their names are remembered, and new frames may have them in any order.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, not negative. Weight 0 means absent.
        by : array-like of shape (n,), optional
            Groups of rows, such as regions, whose probabilities may differ: each gets a correction of its
            own, shrunk toward none.
        keep_predictions : bool, default=False
            Whether the rows that were measured are kept as `predictions_`, with their probabilities.

        Returns
        -------
        Self
            The fitted model.
        """
        check_flag("keep_predictions", keep_predictions)
        calibrators.made_for(self.calibrator, self.declared_kind)
        self._check_combiner()
        coded = self.code is not None or calibrators.takes_of(self.calibrator) == "columns"
        rows = models.read_rows(scores, y, sample_weight, self.classes, coded=coded)
        names = None
        if by is not None:
            grouping = calibrators.Grouping.read(by, len(rows))
            if not grouping.names:
                raise DataError("by must name the group of some rows; got none; leave it out")
            rows, names = replace(rows, group=grouping.number), grouping.names
        rows = rows.present()
        if self.declared_kind == "probability":
            check_probabilities(rows.scores, DECLARED)
        calibrator = self._unfitted(rows.scores.ndim)
        labels = _labels_of_columns(calibrator, rows.classes)
        with all_or_nothing(self):
            rows = replace(rows, scores=self._learn_columns(scores, rows.scores, labels))
            self.fit_rows(rows, by=names, keep_predictions=keep_predictions)
            calibrators.warn_of_direction(self.calibrator_)
        return self

    def fit_rows(
        self, rows: "Rows", *, by: tuple[str, ...] | None = None, keep_predictions: bool = False
    ) -> Self:
        """Fit to rows that were checked, without a word about the direction of their scores.

        Parameters
        ----------
        rows : Rows
            The rows, with their classes and groups.
        by : tuple of str, optional
            The names of the groups, if what sets them apart is to be learned.
        keep_predictions : bool, default=False
            Whether the rows that were measured are kept as `predictions_`, with their probabilities.

        Returns
        -------
        Self
            The fitted model.
        """
        rows = rows.present()
        answers = models.Arrays(rows)
        folds = models.folds_for(answers.n_rows, answers.n_scores)
        if folds:
            answers = models.Arrays(models.dealt(rows, folds[0].n_folds, random_state=0))
        calibrator = self._unfitted(rows.scores.ndim)
        costs, rule = self.read_decisions(rows.classes)
        names = None if by is None else lambda: by
        learned = models.answered(models.learn(calibrator, costs, rule, answers, names))
        self._keep(learned, rows.classes, costs, keep_predictions)
        return self

    def plan(
        self,
        classes: Array,
        options: "PassOptions",
        n_rows: int | None = None,
        *,
        by: "GroupNames | None" = None,
        keep_predictions: bool = False,
    ) -> "Plan[Self]":
        """Give the plan of the same fit on rows that are read in passes, here or on a cluster.

        Parameters
        ----------
        classes : ndarray of shape (k,)
            The labels.
        options : PassOptions
            How much memory may be used.
        n_rows : int, optional
            About how many rows there are; if it is not given, they are counted first.
        by : callable, optional
            Gives the names of the groups of the rows once all rows have been read, if what sets them apart is
            to be learned.
        keep_predictions : bool, default=False
            Whether the rows that were measured are kept as `predictions_`, with their probabilities.

        Returns
        -------
        Self
            A fitted copy.
        """
        costs, rule = self.read_decisions(classes)
        # one that cannot be is refused before rows are read
        calibrators.made_for(self.calibrator, self.declared_kind)
        rows = yield from models.look_at(classes, options, n_rows, grouped=by is not None)
        calibrator = self._unfitted(rows.n_dimensions)
        learned = yield from models.learn(calibrator, costs, rule, rows, by)
        fitted: Self = clone(self)
        fitted._keep(learned, classes, costs, keep_predictions)
        return fitted

    def _check_combiner(self) -> None:
        if self.combine is not None:
            codes.check_combiner(self.combine)

    @property
    def declared_kind(self) -> "ScoreKind":
        """What the scores are, by `kind` or by what the calibrator takes."""
        if self.kind is not None:
            return self.kind
        return "probability" if calibrators.needs_probabilities(self.calibrator) else "margin"

    def _unfitted(self, n_dimensions: int) -> "Calibrator":
        """The calibrator for scores of this form."""
        return calibrators.calibrator_for(
            self.calibrator, n_dimensions, self.code, self.combine, self.declared_kind
        )

    def _keep(self, learned: "Learned", classes: Array, costs: Costs | None, keep_predictions: bool) -> None:
        """Become a model of what was learned."""
        self.keep_parts(learned.calibrator, classes, costs, learned.rule, learned.summary, learned.groups)
        if hasattr(self, "feature_names_in_"):
            self.summary_ = replace(learned.summary, score_columns=tuple(self.feature_names_in_))
        if keep_predictions:
            self.predictions_ = learned.predictions
        elif hasattr(self, "predictions_"):
            del self.predictions_

    @classmethod
    def from_fitted(
        cls,
        calibrator: "Calibrator",
        *,
        classes: object = None,
        cost: object = None,
        rule: Any = None,
        summary: TrainingSummary | None = None,
    ) -> Self:
        """Make a model of parts that are fitted already.

        Parameters
        ----------
        calibrator : object
            A fitted calibrator.
        classes : array-like of shape (k,), optional
            The labels; by default the calibrator's.
        cost : array-like, mapping or frame, optional
            What decisions cost.
        rule : object, optional
            A fitted rule.
        summary : TrainingSummary, optional
            What is to be remembered of the training rows.

        Returns
        -------
        Self
            The model.

        Examples
        --------
        >>> from calibrant.models import ScoreModel
        >>> calibrator = ScoreModel().fit([-2, -1, 1, 2], [0, 1, 0, 1]).calibrator_
        >>> ScoreModel.from_fitted(calibrator, classes=["no", "yes"]).decide([3])
        array(['yes'], dtype='<U3')
        """
        check_fitted(calibrator, "classes_")
        labels = as_array(calibrator.classes_ if classes is None else classes, "classes")
        if labels.shape != np.shape(calibrator.classes_):
            raise ParameterError(
                f"classes must have one label per class of the calibrator, {len(calibrator.classes_)} in "
                f"all; got {labels.tolist()!r}"
            )
        blind = without_names(calibrator)  # the model puts them in order before the calibrator sees them
        if classes is not None:
            blind = copy(blind)
            blind.classes_ = labels
        costs = None if cost is None else read_costs(cost, labels)
        if rule is not None:
            check_fitted(rule, "cost_after_")
            check_rule(rule, costs)
        model = cls._of_parts(blind, labels, costs, rule, summary)
        take_names(model, calibrator)
        return model

    @classmethod
    def _of_parts(
        cls,
        calibrator: "Calibrator",
        classes: Array,
        costs: Costs | None,
        rule: Any,
        summary: TrainingSummary | None = None,
        kind: "ScoreKind | None" = None,
        groups: "GroupEffects | None" = None,
    ) -> Self:
        """A fitted model of checked parts; its parameters are such that another fit keeps its form."""
        cost = None if costs is None else costs.as_given(classes)
        again = None if rule is None else clone(rule)
        model = cls(clone(calibrator), cost, again, kind=kind, classes=classes.tolist())
        model.keep_parts(calibrator, classes, costs, rule, summary, groups)
        return model

    def predict_proba(self, scores: object, by: object = None) -> Float64Array:
        """Give the probability of every class.

        Parameters
        ----------
        scores : array-like of shape (n,), (n, k) or (n, l)
            Scores as in `fit`.
        by : array-like of shape (n,), optional
            The groups of the rows; without them, all rows have the common probabilities.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        check_fitted(self, "classes_")
        proba = np.asarray(self.calibrator_.predict_proba(self._scores_of(scores)))
        return proba if by is None else calibrators.in_groups(proba, self.groups_, by)

    def proba_of(self, scores: Float64Array, by: object = None) -> Float64Array:
        """Give the probability of every class for scores that are known to be finite and in order.

        Parameters
        ----------
        scores : ndarray of shape (n,), (n, 1), (n, k) or (n, l)
            Scores in the order of the calibrator.
        by : array-like of shape (n,), optional
            The groups of the rows, as in `predict_proba`.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`.
        """
        if self.declared_kind == "probability":
            scores = check_probabilities(scores, DECLARED)
        proba = calibrators.proba_of(self.calibrator_, calibrators.as_taken(self.calibrator_, scores))
        return proba if by is None else calibrators.in_groups(proba, self.groups_, by)

    def decide(self, scores: object, by: object = None) -> Array:
        """Give the decision of every row.

        Parameters
        ----------
        scores : array-like of shape (n,), (n, k) or (n, l)
            Scores as in `fit`.
        by : array-like of shape (n,), optional
            The groups of the rows, as in `predict_proba`.

        Returns
        -------
        ndarray of shape (n,)
            Labels of `actions_`: what costs least, or without costs the most probable class. Ties go to the
            first.
        """
        position = self.decide_positions(self.predict_proba(scores, by))
        return np.asarray(self.actions_[position])

    def decide_positions(self, proba: Float64Array) -> Array:
        """Give the decisions that follow from probabilities.

        Parameters
        ----------
        proba : ndarray of shape (n, k)
            Probabilities in the order of `classes_`.

        Returns
        -------
        ndarray of shape (n,)
            Numbers of the decisions in `actions_`.
        """
        check_fitted(self, "classes_")
        if self.rule_ is not None:
            return np.asarray(self.rule_.decide(proba))
        if self.cost_ is not None:
            return decisions.decide(proba, self.cost_, allow_any=True)
        if np.isnan(proba).any():
            raise DataError(
                "every row must have probabilities to be decided; row "
                f"{int(np.flatnonzero(np.isnan(proba).any(axis=1))[0])} has none; use fallback='prior'"
            )
        return np.asarray(np.argmax(proba, axis=1))

    def top_candidates(self, scores: object, n: int = 3, by: object = None) -> "Candidates":
        """Give the best classes of every row with their probabilities.

        Parameters
        ----------
        scores : array-like of shape (n_rows,), (n_rows, k) or (n_rows, l)
            Scores as in `fit`.
        n : int, default=3
            How many candidates to give; of fewer classes all.
        by : array-like of shape (n_rows,), optional
            The groups of the rows, as in `predict_proba`.

        Returns
        -------
        Candidates
            Labels and probabilities, the best first. Calibrators of ranked scores keep the order of the
            scores.
        """
        check_fitted(self, "classes_")
        n_ranks = min(n, len(self.classes_)) if isinstance(n, int) else n
        if calibrators.takes_of(self.calibrator_) == "row" and by is None:
            return calibrators.top_candidates(self.calibrator_, self._scores_of(scores), n_ranks)
        n_ranks = calibrators.check_n_ranks("n", n_ranks, len(self.classes_))
        proba = self.predict_proba(scores, by)
        order = calibrators.lead(proba, n_ranks)[0].T
        return calibrators.Candidates(self.classes_[order], np.take_along_axis(proba, order, axis=1))

    def read_decisions(self, classes: Array) -> tuple[Costs | None, Any]:
        """Read the costs and the rule that this model is to be fitted with.

        Parameters
        ----------
        classes : ndarray of shape (k,)
            The labels.

        Returns
        -------
        costs : Costs or None
            The costs, in the order of the classes.
        rule : object or None
            The unfitted rule; None where least expected cost needs none.
        """
        if self.cost is None:
            if self.rule is not None:
                raise ParameterError(f"cost must be given with a rule; got none with rule={self.rule!r}")
            return None, None
        costs = read_costs(self.cost, classes)
        is_plain = isinstance(self.rule, str) and self.rule == "expected"
        if self.rule is None or (is_plain and not costs.of_classes):
            return costs, None
        rule = decisions.new_rule(self.rule)
        check_rule(rule, costs)
        return costs, rule

    def keep_parts(
        self,
        calibrator: "Calibrator",
        classes: Array,
        costs: Costs | None,
        rule: Any,
        summary: TrainingSummary | None,
        groups: "GroupEffects | None" = None,
    ) -> None:
        """Become a fitted model of these parts, wherever they were fitted.

        Parameters
        ----------
        calibrator : object
            The fitted calibrator.
        classes : ndarray of shape (k,)
            The labels.
        costs : Costs or None
            The costs, in the order of the classes.
        rule : object or None
            The fitted rule.
        summary : TrainingSummary or None
            What is to be remembered of the training rows.
        groups : GroupEffects, optional
            What sets groups of rows apart.
        """
        self.groups_ = groups
        self.cost_ = None if costs is None else costs.matrix
        self.actions_ = classes if costs is None else costs.actions
        self.rule_, self.summary_ = rule, summary
        self.calibrator_, self.classes_ = calibrator, classes

    def cost_by_label(self) -> dict[object, dict[object, float]] | None:
        """Give the costs as ``{decision: {truth: cost}}``.

        Returns
        -------
        dict or None
            The costs; None without any.
        """
        check_fitted(self, "classes_")
        if self.cost_ is None:
            return None
        truths = self.classes_.tolist()
        rows = zip(self.actions_.tolist(), self.cost_.tolist(), strict=True)
        return {decision: dict(zip(truths, row, strict=True)) for decision, row in rows}

    def name_columns(self, names: Sequence[str]) -> None:
        """Remember the columns of the scores, where the model was fitted to their numbers alone.

        Parameters
        ----------
        names : sequence of str
            The names of the columns, in the order of the model.
        """
        super().name_columns(names)
        if self.summary_ is not None:
            self.summary_ = replace(self.summary_, score_columns=tuple(names))

    def name_group_column(self, name: str) -> None:
        """Remember the column of the groups.

        Parameters
        ----------
        name : str
            Its name.
        """
        assert self.groups_ is not None
        self.groups_ = replace(self.groups_, column=name)

    def _column_labels(self) -> Array | None:
        return _labels_of_columns(self.calibrator_, self.classes_)

    def _scores_of(self, values: object) -> Any:
        """The scores that a user passed in, columns in the order of the calibrator."""
        scores = self._in_order(values, self._column_labels(), calibrators.n_scores_of(self.calibrator_))
        scores = calibrators.as_taken(self.calibrator_, scores)
        return check_probabilities(scores, DECLARED) if self.declared_kind == "probability" else scores


def _labels_of_columns(calibrator: "Calibrator", classes: Array) -> Array | None:
    """The labels that name the columns of the scores; a single one is that of the second class."""
    return (
        calibrator.labels_of_columns(classes)
        if isinstance(calibrator, calibrators.CalibratorBase)
        else classes
    )


def refuse_groups(
    model: object, purpose: str, advice: str, error: type[CalibrantError] = ParameterError
) -> None:
    """Refuse a model with groups where only its scores are known."""
    if getattr(model, "groups_", None) is not None:
        raise error(
            f"a model must have no groups to be {purpose}; got one that was fitted with by=..., whose "
            f"answers depend on a column that is no score; {advice}"
        )


def check_rule(rule: Any, costs: Costs | None) -> None:
    """Refuse a rule without costs, or one that decides among the classes where decisions are others."""
    if costs is None:
        raise ParameterError(f"cost must be given with a rule; got none with rule={rule!r}")
    if not (costs.of_classes or decisions.takes_any(rule)):
        raise ParameterError(
            "rule must be None, 'expected' or 'parallel' where there are other decisions than the classes; "
            f"got {rule!r}, which decides among the classes"
        )
