import numpy as np
import pytest
from sklearn.base import BaseEstimator

from calibrant import (
    AccuracyTableCalibrator,
    BinningCalibrator,
    OneVsAllCalibrator,
    PAVCalibrator,
    RankedLogisticCalibrator,
    SigmoidCalibrator,
)
from calibrant._core._errors import DataError, ParameterError
from calibrant.calibrators import CodeCalibrator
from calibrant.files import PassOptions, Rows, fit
from calibrant.metrics import error_rate
from calibrant.models import ScoreModel, _plan, from_document, to_document
from calibrant.passes._rows import Fold

RNG = np.random.default_rng(0)
N = 1000
SCORE = RNG.normal(size=N)
POSITION = (RNG.random(N) < 1 / (1 + np.exp(-SCORE))).astype(np.intp)


def batches(scores=SCORE, position=POSITION, weight=None, size=300):
    def rows_of_pass():
        for start in range(0, len(scores), size):
            some = slice(start, start + size)
            yield Rows(scores[some], position[some], None if weight is None else weight[some])

    return rows_of_pass


def test_the_model_given_is_not_changed():
    model = PAVCalibrator()
    fitted = fit(model, batches(), classes=["a", "b"])
    assert not hasattr(model, "blocks_")
    assert fitted.classes_.tolist() == ["a", "b"]


def test_a_fitted_calibrator_is_an_ordinary_one():
    for method in ("pav", "sigmoid", "binning"):
        fitted = fit(method, batches(), classes=[0, 1])
        again = from_document(to_document(fitted))
        np.testing.assert_array_equal(again.predict_proba(SCORE), fitted.predict_proba(SCORE))


def test_a_column_of_a_matrix_is_a_single_score():
    fitted = fit("pav", batches(SCORE[:, None]), classes=[0, 1])
    np.testing.assert_array_equal(fitted.blocks_.value, PAVCalibrator().fit(SCORE, POSITION).blocks_.value)


def test_single_precision_is_raised():
    scores = SCORE.astype(np.float32)
    fitted = fit("pav", batches(scores), classes=[0, 1])
    np.testing.assert_array_equal(fitted.blocks_.hi, PAVCalibrator().fit(scores, POSITION).blocks_.hi)


def test_sorted_rows_need_no_representative_sample():
    """The first rows say nothing about the others: bins are refined instead."""
    n = 150_000
    rng = np.random.default_rng(1)
    scores = np.sort(rng.normal(size=n))
    position = (rng.random(n) < 1 / (1 + np.exp(-scores))).astype(np.intp)
    n_passes = []
    fitted = fit(
        "pav",
        batches(scores, position, size=4096),
        classes=[0, 1],
        n_rows=n,
        options=PassOptions(max_rows=20_000),
        progress=lambda seen: n_passes.append(seen.number),
    )
    expected = PAVCalibrator().fit(scores, position)
    for name in ("lo", "hi", "value", "weight"):
        np.testing.assert_array_equal(getattr(fitted.blocks_, name), getattr(expected.blocks_, name))
    assert max(n_passes) <= 5


def test_progress_counts_rows_and_passes():
    seen = []
    options = PassOptions(n_bins=20)
    fit("pav", batches(), classes=[0, 1], options=options, progress=seen.append)
    assert [each.rows for each in seen if each.number == 2] == [300, 600, 900, 1000]
    assert seen[-1].number == 3


@pytest.mark.parametrize(
    ("fold", "others"),
    [
        (Fold(0, 5), [1, 2, 3, 4]),
        (Fold(0, 5, 4), [1, 2, 3, 4]),
        (Fold(3, 5, 9), [0, 1, 2, 4]),
        (Fold(8, 10, 3), [0, 1, 9]),
    ],
)
def test_the_folds_that_stand_for_the_rest(fold, others):
    assert np.flatnonzero(fold.others()).tolist() == others


class TestScoreModel:
    def test_calibrator_and_costs(self):
        cost = [[0, 5], [1, 0]]
        model = ScoreModel("pav", cost=cost)
        fitted = fit(model, batches(), classes=["no", "yes"])
        expected = ScoreModel("pav", cost=cost).fit(SCORE, np.array(["no", "yes"])[POSITION])
        np.testing.assert_array_equal(fitted.predict_proba(SCORE), expected.predict_proba(SCORE))
        assert fitted.decide(SCORE).tolist() == expected.decide(SCORE).tolist()
        assert fitted.get_params().keys() == model.get_params().keys()
        again = from_document(to_document(fitted))
        assert again.decide(SCORE).tolist() == expected.decide(SCORE).tolist()

    def test_what_is_remembered_of_the_rows(self):
        weight = RNG.choice([0.0, 1.0, 2.0], N)
        fitted = fit(ScoreModel("sigmoid"), batches(weight=weight), classes=[0, 1])
        memory = ScoreModel("sigmoid").fit(SCORE, POSITION, weight).summary_
        summary = fitted.summary_
        assert summary.n_rows == memory.n_rows
        assert summary.weight == memory.weight
        np.testing.assert_allclose(summary.base_rates, memory.base_rates)
        assert summary.n_folds == memory.n_folds == 5
        assert summary.n_measured == memory.n_measured == memory.n_rows
        assert summary.metrics.log_loss == pytest.approx(memory.metrics.log_loss, rel=0.02)  # other folds

    def test_of_very_many_rows_a_part_is_measured_by_four_others(self, monkeypatch):
        monkeypatch.setattr(_plan, "MOST_HELD_OUT", 50)
        monkeypatch.setattr(_plan, "MANY_SCORES", 100)
        summary = fit(ScoreModel("pav"), batches(), classes=[0, 1], n_rows=N).summary_
        fold = Rows(SCORE, POSITION).folds(N // 50)
        learned, asked = (fold >= 1) & (fold <= 4), fold == 0
        twin = PAVCalibrator().fit(SCORE[learned], POSITION[learned])
        kept = min(50, int(asked.sum()))
        assert summary.n_measured == kept
        if kept == asked.sum():
            expected = error_rate(POSITION[asked], twin.predict_proba(SCORE[asked]))
            assert summary.metrics.error_rate == pytest.approx(expected)
        assert summary.n_rows == N

    @pytest.mark.parametrize("rule", ["expected", "parallel"])
    def test_rules_are_learned_from_rows_held_out(self, rule):
        scores = RNG.normal(size=(N, 3))
        position = (scores + RNG.gumbel(size=(N, 3))).argmax(axis=1)
        cost = np.array([[0.0, 1, 4], [1, 0, 1], [2, 1, 0]])
        fitted = fit(
            ScoreModel("sigmoid", cost=cost, rule=rule), batches(scores, position), classes=[0, 1, 2]
        )
        assert fitted.rule_ is not None
        assert set(fitted.decide(scores).tolist()) <= {0, 1, 2}
        paid = cost[fitted.decide(scores), position].mean()
        assert paid <= cost[np.argmax(scores, axis=1), position].mean()

    @pytest.mark.filterwarnings(
        "ignore::calibrant.ScoreDirectionWarning"
    )  # scores of classes for those of pairs
    def test_codes_and_ranked_scores(self):
        scores = RNG.normal(size=(N, 3))
        position = (scores + RNG.gumbel(size=(N, 3))).argmax(axis=1)
        for how in (
            {"calibrator": "pav", "code": "all_pairs", "combine": "least_squares"},
            {"calibrator": "accuracy_table"},
            {"calibrator": RankedLogisticCalibrator(smooth=True)},
            {"calibrator": "binning"},
        ):
            fitted = fit(ScoreModel(**how), batches(scores, position), classes=[0, 1, 2])
            expected = ScoreModel(**how).fit(scores, position)
            np.testing.assert_allclose(
                fitted.predict_proba(scores), expected.predict_proba(scores), rtol=0, atol=1e-12
            )

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_a_few_rows(self, n):
        fitted = fit(ScoreModel("pav"), batches(SCORE[:n], POSITION[:n]), classes=[0, 1])
        assert fitted.summary_.n_rows == n
        expected = PAVCalibrator().fit(SCORE[:n], POSITION[:n] == 1)
        np.testing.assert_array_equal(fitted.predict_proba(SCORE), expected.predict_proba(SCORE))


class TestBadInput:
    @pytest.mark.parametrize(
        ("batch", "message"),
        [
            (Rows(np.array([np.nan]), np.array([0])), "batch 0 .*: scores must be finite; got nan in row 0"),
            (
                Rows(np.array([1.0]), np.array([2])),
                "truth must be from 0 to 1, the number of a class; got 2",
            ),
            (Rows(np.array([1.0]), np.array([-1])), "truth must be from 0 to 1, .*; got -1"),
            (Rows(np.array([1.0]), np.array([0.0])), "truth must be one whole number per row"),
            (Rows(np.array([1.0]), np.array([0]), np.array([-1.0])), "weight must not be negative; got -1.0"),
            (Rows(np.array([1.0]), np.array([0]), np.array([np.inf])), "weight must be finite; got inf"),
            (
                Rows(np.array([1.0, 2.0]), np.array([0])),
                "scores and truth must have the same number of rows",
            ),
            (Rows(np.zeros((1, 1, 1)), np.array([0])), r"scores must have shape \(n,\) or \(n, l\)"),
        ],
    )
    def test_rows(self, batch, message):
        with pytest.raises(DataError, match=message):
            fit("pav", lambda: [batch], classes=[0, 1])

    @pytest.mark.parametrize("method", ["pav", "sigmoid", "binning", "identity", ScoreModel()])
    def test_no_rows(self, method):
        nothing = [Rows(np.empty(0), np.empty(0, dtype=np.intp))]
        absent = [Rows(np.ones(2), np.array([0, 1]), np.zeros(2))]
        for batches_ in ([], nothing, absent):
            with pytest.raises(DataError, match="scores must have at least one row; got none"):
                fit(method, lambda rows=batches_: rows, classes=[0, 1])

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (BinningCalibrator("cv"), "n_bins must be a number where rows come in passes; got 'cv'"),
            (PAVCalibrator(clip=0.7), "clip must be None or a number in"),
            (object(), "calibrator must be a name or an object"),
        ],
    )
    def test_models(self, model, message):
        with pytest.raises(ParameterError, match=message):
            fit(model, batches(), classes=[0, 1])

    def test_a_calibrator_of_somebody_else(self):
        class Own(BaseEstimator):
            def fit(self, scores, y, sample_weight=None):
                raise NotImplementedError

            predict_proba = fit

        coded = CodeCalibrator(np.array([[-1], [1]]), Own(), "least_squares")
        for calibrator in (Own(), coded):
            with pytest.raises(ParameterError, match="a method of the registry .*; got Own"):
                fit(calibrator, batches(), classes=[0, 1])

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (AccuracyTableCalibrator(n_cells="cv"), "n_cells must be a number, or chosen by aic or bic"),
            (AccuracyTableCalibrator(width="cv"), "width must be a number, or chosen by aic or bic"),
            (AccuracyTableCalibrator(smoothing="lidstone"), "lam must be a number where rows come in passes"),
            (OneVsAllCalibrator("accuracy_table"), "calibrator must take one score"),
            (
                CodeCalibrator("all_pairs", "pav", "normalize"),
                "code must be one_vs_all for combine='normalize'",
            ),
            (OneVsAllCalibrator(combine="magic"), "combine must be one of"),
            (PAVCalibrator(), "classes must be two for one score per row; got 3"),
        ],
    )
    def test_models_of_many_scores(self, model, message):
        scores = RNG.normal(size=(20, 3))
        with pytest.raises(ParameterError, match=message):
            fit(model, batches(scores, RNG.integers(0, 3, 20)), classes=[0, 1, 2])

    def test_wrong_numbers_of_columns(self):
        scores, position = RNG.normal(size=(20, 2)), RNG.integers(0, 3, 20)
        for model in (OneVsAllCalibrator(), AccuracyTableCalibrator()):
            with pytest.raises(DataError, match="one column per class, 3 in all; got 2 columns"):
                fit(model, batches(scores, position), classes=[0, 1, 2])
        with pytest.raises(DataError, match="one column per column of the code, 3 in all; got 2 columns"):
            fit(CodeCalibrator("all_pairs"), batches(scores, position), classes=[0, 1, 2])

    def test_identity_of_margins(self):
        with pytest.raises(DataError, match=r"scores taken as they are must lie in \[0, 1\]; got -"):
            fit("identity", batches(), classes=[0, 1])

    def test_log_odds_of_margins(self):
        with pytest.raises(DataError, match=r"scores with transform='logit' must lie in \[0, 1\]; got"):
            fit(SigmoidCalibrator(transform="logit"), batches(), classes=[0, 1])

    @pytest.mark.parametrize("classes", [["a"], ["a", "a"]])
    def test_classes(self, classes):
        with pytest.raises(ParameterError, match="classes must be two or more distinct labels; got"):
            fit("pav", batches(), classes=classes)

    def test_options(self):
        with pytest.raises(ParameterError, match="edges must be one of 'quantile', 'uniform'; got 'even'"):
            PassOptions(edges="even")
        with pytest.raises(ParameterError, match="n_bins must be None or a whole number from 1; got 0"):
            PassOptions(n_bins=0)

    def test_rows_that_change_between_passes(self):
        calls = []

        def rows_of_pass():
            calls.append(None)
            return [Rows(SCORE[len(calls) :], POSITION[len(calls) :])]

        with pytest.raises(DataError, match="the rows must be the same in every pass"):
            fit("pav", rows_of_pass, classes=[0, 1], options=PassOptions(n_bins=4))


def test_rows_that_can_be_read_only_once_are_refused():
    once = iter([Rows(SCORE, POSITION)])
    with pytest.raises(DataError, match="pass 2 had 0 after 1000 before; pass a function that gives"):
        fit("pav", lambda: once, classes=[0, 1])


def test_separable_sigmoid_warns_as_in_memory():
    scores, position = np.arange(10.0), (np.arange(10) > 4).astype(np.intp)
    with pytest.warns(UserWarning, match="a threshold separates the classes"):
        fitted = fit(SigmoidCalibrator(smooth=False), batches(scores, position), classes=[0, 1])
    assert not fitted.converged_


def test_ranks_told_apart_warn_as_in_memory():
    scores = np.random.default_rng(0).normal(size=(60, 3))
    position = scores.argmax(axis=1)
    with pytest.warns(UserWarning, match="at rank 1, 2, 3 the class was always right"):
        fitted = fit(RankedLogisticCalibrator(), batches(scores, position), classes=[0, 1, 2])
    with pytest.warns(UserWarning, match="at rank 1, 2, 3"):
        expected = RankedLogisticCalibrator().fit(scores, position)
    np.testing.assert_allclose(
        fitted.predict_proba(scores), expected.predict_proba(scores), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("shift", [0.0, 1e9])
@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e200])
def test_sigmoids_of_any_scale_and_origin(scale, shift):
    """The sample, here one batch of equal scores, does not tell where the scores are."""
    scores = np.concatenate([np.full(200_000, 0.25), SCORE]) * scale + shift * scale
    position = np.concatenate([np.zeros(200_000, dtype=np.intp), POSITION])
    fitted = fit("sigmoid", batches(scores, position, size=150_000), classes=[0, 1])
    expected = SigmoidCalibrator().fit(scores, position)
    asked = scores[-N:]
    np.testing.assert_allclose(
        fitted.predict_proba(asked), expected.predict_proba(asked), rtol=0, atol=1e-12 if shift == 0 else 1e-6
    )


def test_one_row_of_huge_scores_has_a_table():
    rows = [Rows(np.array([[1.7e300, -8.9e299]]), np.array([0]))]
    table = AccuracyTableCalibrator(n_cells=100, combination="C", max_rank=1)
    assert fit(table, lambda: rows, classes=[0, 1]).predict_proba([[1.0, 0.0]]).shape == (1, 2)
