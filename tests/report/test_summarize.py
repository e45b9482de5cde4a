"""A summary says what the library measures, and stays bounded."""

import json
import math
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibrant import metrics
from calibrant._core._errors import CalibrantError, DataError, ParameterError
from calibrant.decisions import compare_rules, decide, expected_cost, realised_cost
from calibrant.models import compare_forecasts, compare_methods
from calibrant.report import summarize
from report.forecasts import TRIAGE, TRIAGE_COST, bold, honest, triage

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "report.md"


@pytest.fixture(scope="module")
def three():
    y, proba = triage()
    return y, proba, summarize(y, proba, classes=TRIAGE, cost=TRIAGE_COST, title="Triage")


class TestMeasures:
    def test_are_those_of_metrics(self, three):
        y, proba, summary = three
        found = summary.measures
        how = {"classes": TRIAGE}
        parts = metrics.brier_decomposition(y, proba, isotonic=True, mode="classwise", **how)
        assert found.brier_score == pytest.approx(metrics.brier_score(y, proba, **how))
        assert found.calibration == pytest.approx(parts.calibration)
        assert found.refinement == pytest.approx(parts.refinement)
        assert found.uncertainty == pytest.approx(parts.uncertainty)
        assert found.log_loss == pytest.approx(metrics.log_loss(y, proba, **how))
        assert found.error_rate == pytest.approx(metrics.error_rate(y, proba, **how))
        assert found.confidence == pytest.approx(proba.max(axis=1).mean())
        assert found.expected_calibration_error == pytest.approx(
            metrics.expected_calibration_error(y, proba, **how)
        )

    def test_and_their_intervals_are_those_of_evaluate(self, three):
        y, proba, summary = three
        truth = metrics.evaluate(y, proba, classes=TRIAGE, cost=TRIAGE_COST)
        assert summary.measures.to_dict() == truth.to_dict()
        assert [curve.auc.low for curve in summary.roc] == [each.auc.low for each in truth.by_class]
        cost = summary.decisions.mean_cost
        assert (cost, cost.low, cost.high) == pytest.approx(
            (truth.cost.mean_cost, truth.cost.mean_cost.low, truth.cost.mean_cost.high)
        )
        assert cost == pytest.approx(summary.decisions.total / 600)

    def test_of_classes_are_those_of_one_against_the_rest(self, three):
        y, proba, summary = three
        assert [entry.name for entry in summary.classes] == list(TRIAGE)
        for place, (tested, entry) in enumerate(zip(summary.classes, summary.measures.by_class, strict=True)):
            assert entry.label == tested.name
            of_class = y == entry.label
            assert tested.rows == of_class.sum()
            assert entry.share == pytest.approx(of_class.mean())
            assert entry.mean_probability == pytest.approx(proba[:, place].mean())
            assert entry.auc == pytest.approx(metrics.auc(of_class, proba[:, place]))
            split = metrics.brier_decomposition(of_class, proba[:, place], isotonic=True)
            assert entry.calibration == pytest.approx(split.calibration)

    def test_of_two_classes_are_those_of_the_positive_one(self):
        truth, proba = bold(400, 2)
        found = summarize(truth, proba).measures
        assert found.brier_score == pytest.approx(metrics.brier_score(truth, proba, convention="positive"))
        assert found.brier_score == pytest.approx(found.calibration + found.refinement)

    def test_one_column_is_the_positive_class(self):
        truth, proba = bold(200, 2)
        one, two = summarize(truth, proba[:, 1]), summarize(truth, proba)
        assert one.measures.log_loss == pytest.approx(two.measures.log_loss)
        assert one.verdict.level == two.verdict.level

    def test_a_row_of_weight_two_is_two_rows_and_of_weight_zero_none(self):
        truth, proba = bold(300, 3)
        weight = np.tile([0, 1, 2], 100)
        weighted = summarize(truth, proba, sample_weight=weight, cost=TRIAGE_COST)
        copies = np.repeat(np.arange(300), weight)
        copied = summarize(truth[copies], proba[copies], cost=TRIAGE_COST)
        assert weighted.n_rows == 200
        assert weighted.total_weight == copied.n_rows == 300
        for name in ("brier_score", "calibration", "refinement", "log_loss", "error_rate", "auc"):
            assert getattr(weighted.measures, name) == pytest.approx(getattr(copied.measures, name)), name
        assert weighted.decisions.total == pytest.approx(copied.decisions.total)
        assert weighted.decisions.promised == pytest.approx(copied.decisions.promised)
        assert weighted.sample.rows == tuple(np.flatnonzero(weight) + 1)


class TestReliability:
    def test_is_isotonic_reliability(self, three):
        y, proba, summary = three
        for place, drawn in enumerate(summary.reliability):
            draws = np.random.default_rng([0, place])
            truth = metrics.isotonic_reliability(y == drawn.name, proba[:, place], random_state=draws)
            assert drawn.fit.x == tuple(truth.score)
            assert drawn.fit.y == tuple(truth.frequency)
            assert drawn.band.lower == tuple(truth.lower)
            assert drawn.band.upper == tuple(truth.upper)
            assert drawn.band.level == truth.level

    def test_bins_are_reliability_bins(self, three):
        y, proba, summary = three
        truth = metrics.reliability_at_rank(y, proba, classes=TRIAGE)
        assert [found.count for found in summary.confidence.bins] == truth.count.tolist()
        assert [found.frac_pos for found in summary.confidence.bins] == pytest.approx(truth.frac_pos)

    def test_outside_is_the_share_of_rows_where_the_fit_leaves_the_band(self):
        truth, proba = honest(3000, 2)
        inside = summarize(truth, proba).reliability[0]
        truth, proba = bold(3000, 2, power=4)
        outside = summarize(truth, proba).reliability[0]
        assert inside.outside < 0.35
        assert outside.outside > 0.6

    def test_of_two_classes_only_the_positive_is_drawn(self):
        truth, proba = honest(200, 2)
        summary = summarize(np.array(["no", "yes"])[truth], proba)
        assert [drawn.name for drawn in summary.reliability] == ["yes"]
        assert [roc.name for roc in summary.roc] == ["yes"]
        assert summary.measures.by_class[0].auc == summary.measures.by_class[1].auc


class TestErrors:
    def test_mistakes_are_the_surest_wrong_rows_by_name(self, three):
        y, proba, _ = three
        names = [f"patient {number}" for number in range(len(y))]
        summary = summarize(y, proba, classes=TRIAGE, row_names=names)
        predicted = np.array(TRIAGE)[proba.argmax(axis=1)]
        wrong = np.flatnonzero(predicted != y)
        expected = sorted(wrong, key=lambda row: (-proba[row].max(), row))[:20]
        assert [mistake.row - 1 for mistake in summary.errors.mistakes] == expected
        first, place = summary.errors.mistakes[0], expected[0]
        assert first.name == f"patient {place}"
        assert first.predicted == predicted[place]
        assert first.truth == y[place]
        assert first.confidence == proba[place].max()
        assert summary.errors.n_errors == len(wrong)

    def test_row_numbers_are_those_of_the_rows_given(self):
        truth, proba = bold(60, 3)
        weight = np.ones(60)
        weight[:30] = 0
        summary = summarize(truth, proba, sample_weight=weight)
        assert min(mistake.row for mistake in summary.errors.mistakes) > 30


class TestDecisions:
    def test_are_those_of_the_room(self, three):
        y, proba, summary = three
        decided = decide(proba, TRIAGE_COST)
        position = np.array([TRIAGE.index(label) for label in y])
        table = realised_cost(position, decided, TRIAGE_COST)
        plain = realised_cost(position, proba.argmax(axis=1), TRIAGE_COST).total
        found = summary.decisions
        assert found.given
        assert found.total == table.total
        assert found.counts == tuple(map(tuple, table.counts.tolist()))
        assert found.promised == pytest.approx(expected_cost(proba, decided, TRIAGE_COST).total)
        assert found.plain_total == plain
        assert found.saving == pytest.approx(100 * (plain - table.total) / plain)
        rules = compare_rules(proba, position, TRIAGE_COST, cv=5)
        assert [(rule.name, rule.cost) for rule in found.rules] == [
            (rule.name, rule.cost) for rule in rules.results
        ]

    def test_without_costs_every_mistake_costs_one(self):
        truth, proba = bold(200, 4)
        found = summarize(truth, proba).decisions
        assert not found.given
        assert found.total == (proba.argmax(axis=1) != truth).sum()
        assert found.promised == pytest.approx((1 - proba.max(axis=1)).sum())
        assert found.saving == 0

    def test_costs_may_be_given_by_name_with_other_decisions(self):
        y, proba = triage(300)
        cost = {
            "treat": {"benign": 3, "watch": 1, "urgent": 0},
            "wait": {"benign": 0, "watch": 1, "urgent": 9},
        }
        found = summarize(y, proba, classes=TRIAGE, cost=cost).decisions
        matrix = np.array([[3, 1, 0], [0, 1, 9.0]])
        assert found.actions == ("treat", "wait")
        assert found.cost == tuple(map(tuple, matrix))
        position = np.array([TRIAGE.index(label) for label in y])
        assert found.total == realised_cost(position, decide(proba, matrix), matrix).total
        assert math.isnan(found.plain_total)
        assert math.isnan(found.saving)
        assert [rule.name for rule in found.rules] == ["expected", "parallel"]
        assert found.rules[0].cost == pytest.approx(found.total)
        assert found.rules[1].saving.low < found.rules[1].saving < found.rules[1].saving.high

    def test_costs_may_be_a_frame_or_a_matrix_of_other_decisions(self):
        y, proba = triage(100)
        frame = pd.DataFrame(TRIAGE_COST, index=TRIAGE, columns=TRIAGE)
        assert summarize(
            y, proba, classes=TRIAGE, cost=frame[["urgent", "watch", "benign"]]
        ).decisions.cost == (tuple(map(tuple, TRIAGE_COST)))
        four = np.vstack([TRIAGE_COST, [0.5, 0.5, 0.5]])
        found = summarize(y, proba, classes=TRIAGE, cost=four).decisions
        assert found.actions == ("decision 0", "decision 1", "decision 2", "decision 3")

    def test_confusions_are_the_dearest_pairs(self, three):
        found = three[2].decisions
        costs = [pair.cost for pair in found.confusions]
        assert costs == sorted(costs, reverse=True)
        assert all(pair.decision != pair.truth for pair in found.confusions)
        assert sum(costs) == pytest.approx(found.total)


class TestMethods:
    def test_other_forecasts_are_ranked_beside_these(self):
        truth, right = honest(500, 3)
        _, proba = bold(500, 3)
        summary = summarize(truth, proba, methods={"right": right})
        both = {"this report": proba, "right": right}
        ranked = compare_forecasts(truth, both, part_intervals=True)
        assert summary.ranked_as == "this report"
        for each in summary.methods.results:
            assert each.calibration.low <= each.calibration <= each.calibration.high
            assert each.refinement.low <= each.refinement <= each.refinement.high
            assert each.calibration.high > 0
        assert metrics.plain_record(summary.methods) == metrics.plain_record(ranked)
        assert summary.methods.results[1].difference.low > 0
        assert summary.methods.best == "right"

    def test_nothing_that_called_an_event_impossible_is_advised(self):
        truth, right = honest(400, 2)
        certain = np.eye(2)[right.argmax(axis=1)]
        turned = np.eye(2)[1 - right.argmax(axis=1)]
        summary = summarize(truth, turned, methods={"certain": certain})
        assert summary.methods.best == "certain"
        assert summary.methods.recommended is None
        assert not any("certain" in sentence and "Use" in sentence for sentence in summary.verdict.advice)
        assert json.loads(summary.to_json())["methods"]["recommended"] is None

    def test_the_forecasts_of_the_report_are_recognised_among_them(self):
        truth, right = honest(300, 2)
        found = summarize(truth, right, methods={"mine": right[:, 1], "flat": np.full((300, 2), 0.5)})
        assert found.ranked_as == "mine"
        assert {method.name for method in found.methods.results} == {"mine", "flat"}

    def test_scores_are_calibrated_by_all_methods(self):
        truth, right = honest(300, 2)
        scores = np.log(right[:, 1] / right[:, 0])
        found = summarize(truth, right, scores=scores)
        assert found.ranked_as == ""
        assert [method.name for method in found.methods.results] == [
            result.name for result in compare_methods(scores, truth).results
        ]

    def test_a_comparison_may_be_given(self):
        truth, right = honest(300, 2)
        ranked = compare_forecasts(truth, {"a": right, "b": np.full((300, 2), 0.5)})
        assert summarize(truth, right, comparison=ranked).methods.best == "a"
        with pytest.raises(ParameterError, match="methods must be None where comparison is given; got both"):
            summarize(truth, right, comparison=ranked, methods={"a": right})

    def test_forecasts_that_do_not_fit_are_named(self):
        truth, right = honest(300, 3)
        with pytest.raises(
            DataError, match=r"methods\['short'\] must have 300 rows and 3 classes, .*; got shape \(299, 3\)"
        ):
            summarize(truth, right, methods={"short": right[1:]})
        with pytest.raises(DataError, match=r"methods\['odd'\]: every row of proba must sum to 1; row 0"):
            summarize(truth, right, methods={"odd": right / 2})
        with pytest.raises(
            DataError, match="labels and scores must have the same number of rows; got 300 and 2"
        ):
            summarize(truth, right, scores=[1.0, 2.0])


class TestBounds:
    def test_many_rows_leave_a_sample_that_is_stated(self):
        truth, proba = honest(5000, 3)
        sample = summarize(truth, proba).sample
        assert len(sample.rows) == 2000
        assert list(sample.rows) == sorted(set(sample.rows))
        assert sample.truth == tuple(truth[np.array(sample.rows) - 1])
        assert sample.proba == tuple(map(tuple, proba[np.array(sample.rows) - 1].tolist()))

    def test_everything_is_bounded(self):
        truth, proba = honest(60_000, 10)
        summary = summarize(truth, proba)
        assert max(len(roc.curve.x) for roc in summary.roc) <= 101
        assert max(len(drawn.fit.x) for drawn in summary.reliability) <= 241
        assert len(summary.errors.detection.x) <= 101
        assert len(summary.errors.mistakes) == 20
        assert len(summary.sample.rows) == 2000
        assert len(summary.to_json()) < 1_000_000
        assert len(summary.to_html().encode()) < 1_000_000

    def test_a_thousand_classes(self):
        truth, proba = bold(1500, 1000, power=3)
        started = time.perf_counter()
        summary = summarize(truth, proba)
        assert time.perf_counter() - started < 60
        assert len(summary.classes) == 1000
        assert len(summary.reliability) == len(summary.roc) == 12
        assert summary.sample.rows == summary.decisions.cost == summary.decisions.counts == ()
        shown = {drawn.name for drawn in summary.reliability}
        worst = sorted(summary.measures.by_class, key=lambda entry: -entry.calibration)[:12]
        assert shown == {str(entry.label) for entry in worst}
        page = summary.to_html()
        assert len(page.encode()) < 1_000_000
        assert "Shown are the 12 of 1,000 classes that lose most to miscalibration." in page
        assert "The 50 of 1,000 classes that lose most" in page

    def test_the_same_seed_gives_the_same_summary(self):
        truth, proba = bold(3000, 3)
        one, two, other = (summarize(truth, proba, random_state=seed) for seed in (1, 1, 2))
        assert one.to_json() == two.to_json()
        assert one.sample != other.sample
        assert summarize(truth, proba, random_state=np.random.default_rng(3)).n_rows == 3000


class TestBadInput:
    def test_labels_first(self):
        with pytest.raises(DataError, match="labels must be one column"):
            summarize([[0.2, 0.8]], [1])

    def test_rows_must_sum_to_one(self):
        with pytest.raises(DataError, match="every row of proba must sum to 1; row 1 sums to 1.2"):
            summarize([0, 1], [[0.5, 0.5], [0.6, 0.6]])

    def test_lengths_must_agree(self):
        with pytest.raises(
            DataError, match="labels and proba must have the same number of rows; got 3 and 2"
        ):
            summarize([0, 1, 1], [0.5, 0.5])

    def test_row_names_must_be_one_per_row(self):
        with pytest.raises(
            DataError, match=r"row_names must be one name per row, 2 in all; got shape \(1,\)"
        ):
            summarize([0, 1], [0.5, 0.5], row_names=["only"])

    def test_transposed_costs_are_refused(self):
        with pytest.raises(DataError, match="every class must be the cheapest decision when it is the truth"):
            summarize([0, 1], [0.5, 0.5], cost=[[5, 0], [0, 5]])

    def test_costs_of_single_rows_are_refused(self):
        with pytest.raises(DataError, match="cost must be one matrix for all rows; got one per row"):
            summarize([0, 1], [0.5, 0.5], cost=np.zeros((2, 2, 2)))

    def test_a_single_label_without_a_partner(self):
        with pytest.raises(DataError, match="labels must have two values; got only 'x'"):
            summarize(["x", "x"], [0.5, 0.5])


class TestJson:
    def test_is_the_summary_under_the_names_of_its_fields(self, three):
        content = json.loads(three[2].to_json())
        assert content["schema"] == "calibrant.report/4"
        assert content["title"] == "Triage"
        score = three[2].measures.brier_score
        assert content["measures"]["brier_score"] == score
        assert content["measures"]["intervals"]["brier_score"] == [score.low, score.high]
        assert content["measures"] == three[2].measures.to_dict()
        cost = three[2].decisions.mean_cost
        saving = three[2].decisions.saving
        assert content["decisions"]["intervals"] == {
            "mean_cost": [cost.low, cost.high],
            "saving": [saving.low, saving.high],
        }
        assert content["verdict"]["level"] == three[2].verdict.level
        assert content["decisions"]["cost"] == TRIAGE_COST.tolist()
        assert content["methods"] is None
        assert content["sample"]["proba"][0] == list(three[2].sample.proba[0])

    def test_the_guide_names_every_field(self, three):
        y, proba, _ = three
        summary = summarize(
            y, proba, classes=TRIAGE, cost=TRIAGE_COST, methods={"flat": np.ones((600, 3)) / 3}
        )
        content = json.loads(summary.to_json())
        told = GUIDE.read_text(encoding="utf-8").partition("## What the JSON contains")[2]
        lines = {}
        for line in told.splitlines():
            _, fields_told, rest = [*line.split("|", 2), "", ""][:3]
            lines |= dict.fromkeys(re.findall(r"`(\w+)`", fields_told), rest)
        assert set(content) - {"schema"} <= set(lines)
        records = {
            name: content[name] for name in ("verdict", "measures", "confidence", "errors", "decisions")
        }
        records |= {name: content[name][0] for name in ("classes", "roc")}
        records["methods"] = content["methods"] | content["methods"]["results"][0]
        for name, record in records.items():
            assert set(record) <= set(re.findall(r"`(\w+)`", lines[name])), name

    def test_what_json_has_no_number_for(self):
        summary = summarize([0, 0], [[1.0, 0.0], [0.0, 1.0]])
        content = json.loads(summary.to_json())
        assert content["measures"]["log_loss"] is None
        assert content["measures"]["certain_mistakes"] == 1
        assert content["measures"]["auc"] is None
        assert "auc" not in content["measures"]["intervals"]

    def test_save_writes_json_or_the_page_and_nothing_else(self, three, tmp_path):
        summary = three[2]
        page = summary.save(tmp_path / "new" / "report.html")
        data = summary.save(str(tmp_path / "new" / "report.json"))
        assert page.read_text(encoding="utf-8") == summary.to_html()
        assert json.loads(data.read_text(encoding="utf-8")) == json.loads(summary.to_json())
        assert sorted(path.name for path in page.parent.iterdir()) == ["report.html", "report.json"]

    def test_a_failed_save_leaves_the_old_file(self, three, tmp_path, monkeypatch):
        path = three[2].save(tmp_path / "report.html")
        before = path.read_bytes()
        monkeypatch.setattr("pathlib.Path.replace", _fail)
        with pytest.raises(CalibrantError, match="disk is full"):
            three[2].save(path)
        assert path.read_bytes() == before
        assert [found.name for found in tmp_path.iterdir()] == ["report.html"]

    def test_printed_it_is_the_verdict(self, three):
        text = str(three[2])
        assert text.startswith("Triage: 600 rows, 3 classes\n")
        assert three[2].verdict.headline in text
        assert f"- {three[2].verdict.advice[0]}" in text


def _fail(self, target):
    raise OSError("disk is full")


@pytest.fixture(scope="module")
def both():
    y, proba = triage()
    softer = proba**0.5 / (proba**0.5).sum(axis=1, keepdims=True)
    return y, proba, softer, summarize(y, softer, classes=TRIAGE, cost=TRIAGE_COST, before=proba)


class TestBefore:
    def test_is_what_a_report_of_its_own_would_say(self, both):
        y, proba, _, summary = both
        alone = summarize(y, proba, classes=TRIAGE)
        before = summary.before
        assert before.measures.log_loss == alone.measures.log_loss
        assert before.confidence == alone.confidence
        assert before.reliability == alone.reliability
        assert (before.verdict.level, before.verdict.gap) == (alone.verdict.level, alone.verdict.gap)

    def test_differences_are_those_of_the_same_rows(self, both):
        y, proba, softer, summary = both
        found = metrics.evaluate_difference(y, softer, proba, classes=TRIAGE)
        assert summary.before.difference == found
        assert found.log_loss == pytest.approx(summary.measures.log_loss - summary.before.measures.log_loss)

    def test_nothing_else_changes(self, both):
        y, _, softer, summary = both
        alone = summarize(y, softer, classes=TRIAGE, cost=TRIAGE_COST)
        assert alone.before is None
        content = json.loads(summary.to_json())
        assert content.pop("before")["difference"]["intervals"]
        assert content | {"before": None} == json.loads(alone.to_json())

    def test_every_field_is_in_the_guide(self, both):
        told = GUIDE.read_text(encoding="utf-8").partition("## What the JSON contains")[2]
        (line,) = (line for line in told.splitlines() if line.startswith("| `before`"))
        before = json.loads(both[3].to_json())["before"]
        assert set(before) | set(before["difference"]) <= set(re.findall(r"`(\w+)`", line))


def test_the_interval_of_the_saving_is_that_of_rows_drawn_anew():
    y, proba = triage()
    found = summarize(y, proba, classes=TRIAGE, cost=TRIAGE_COST).decisions.saving
    cost = TRIAGE_COST
    truth = np.array([list(TRIAGE).index(each) for each in y])
    paid, plain = cost[decide(proba, cost), truth], cost[proba.argmax(axis=1), truth]
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(y), (2000, len(y)))
    savings = 100 * (1 - paid[drawn].sum(axis=1) / plain[drawn].sum(axis=1))
    assert (found.low, found.high) == pytest.approx(np.quantile(savings, [0.025, 0.975]), abs=1.5)
