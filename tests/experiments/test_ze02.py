"""Table 4 of Zadrozny & Elkan, on the real Pendigits where they are at hand."""

import pytest

from calibrant import CalibrantError
from calibrant.experiments import _ze02
from calibrant.experiments._datasets import find


@pytest.fixture(scope="module")
def naive_bayes_rows():
    try:
        find("pendigits.train.csv.gz")
    except CalibrantError as error:
        pytest.skip(str(error))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ze02, "LEARNERS", {"NB": _ze02.LEARNERS["NB"]})
        return {(row.calibrator, row.combination): row for row in _ze02.table4()}


def test_calibration_improves_every_combination(naive_bayes_rows):
    for combination in _ze02.COMBINATIONS:
        raw, calibrated = (naive_bayes_rows[name, combination] for name in ("identity", "pav"))
        assert calibrated.mse < raw.mse
        assert calibrated.error < raw.error


def test_calibrated_rows_are_close_to_the_paper(naive_bayes_rows):
    for (calibrator, _), row in naive_bayes_rows.items():
        if calibrator == "pav" and row.paper_mse is not None:
            assert row.mse == pytest.approx(row.paper_mse, abs=0.003)


def test_the_kl_minimiser_behaves_like_normalisation_and_the_published_limit_like_least_squares(
    naive_bayes_rows,
):
    mse = {combination: naive_bayes_rows["pav", combination].mse for combination in _ze02.COMBINATIONS}
    assert mse["KL minimiser"] <= mse["normalization"] < mse["least squares"]
    assert mse["coupling"] == pytest.approx(mse["least squares"], abs=0.0005)
