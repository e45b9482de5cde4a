"""Late and missing labels: they take their place in time, up to a bound."""

import numpy as np
import pytest

from calibrant import CalibrationMonitor
from calibrant._core._errors import DataError
from monitor.streams import changing, draw

N = 1500


@pytest.fixture(scope="module")
def stream():
    return changing(700, N - 700, 3, shift=1.2)


@pytest.mark.parametrize("seed", range(3))
def test_labels_in_any_order_give_the_state_of_labels_in_time(stream, seed):
    proba, truth = stream
    at_once = CalibrationMonitor(window=400).update(proba, truth, key=np.arange(N))
    random = np.random.default_rng(seed)
    late = CalibrationMonitor(window=400)
    unlabelled = []
    for start in range(0, N, 100):
        some = np.arange(start, start + 100)
        known = random.random(100) < 0.3
        late.update(proba[some], np.where(known, truth[some], np.nan), key=some)
        unlabelled += some[~known].tolist()
        random.shuffle(unlabelled)
        now, unlabelled = unlabelled[:60], unlabelled[60:]
        late.add_labels(now, truth[now])
        late = CalibrationMonitor.from_json(late.to_json())
    late.add_labels(unlabelled, truth[unlabelled])
    assert late.n_waiting == 0
    assert late.to_json() == at_once.to_json()


def test_rows_behind_a_waiting_row_wait(stream):
    proba, truth = stream
    labels = truth.astype(float)
    labels[10] = np.nan
    monitor = CalibrationMonitor().update(proba, labels, key=[f"row {row}" for row in range(N)])
    assert (monitor.n_rows, monitor.n_labelled, monitor.n_waiting) == (N, 10, N - 10)
    assert not monitor.alarms
    monitor.add_labels(["row 10"], truth[10:11])
    assert (monitor.n_labelled, monitor.n_waiting) == (N, 0)
    assert monitor.alarms


def test_beyond_the_bound_the_first_row_is_given_up(stream):
    proba, truth = stream
    labels = truth.astype(float)
    labels[[5, 7]] = np.nan
    monitor = CalibrationMonitor(max_waiting=100).update(proba[:60], labels[:60], key=range(60))
    assert (monitor.n_labelled, monitor.n_given_up) == (5, 0)
    monitor.update(proba[60:106], labels[60:106], key=range(60, 106))
    assert (monitor.n_labelled, monitor.n_given_up, monitor.n_waiting) == (6, 1, 99)
    with pytest.raises(DataError, match="none waits under 5; it has had its label, was given up"):
        monitor.add_labels([5], [0])
    assert monitor.add_labels([7], [0]).n_labelled == 105


def test_giving_up_does_not_depend_on_the_cutting(stream):
    proba, truth = stream
    labels = truth.astype(float)
    labels[np.random.default_rng(0).random(N) < 0.01] = np.nan
    whole = CalibrationMonitor(max_waiting=50).update(proba, labels, key=range(N))
    cut = CalibrationMonitor(max_waiting=50)
    for start in range(0, N, 7):
        some = slice(start, start + 7)
        cut.update(proba[some], labels[some], key=range(N)[some])
    assert cut.to_json() == whole.to_json()
    assert whole.n_given_up > 5


def test_rows_without_key_never_get_a_label(stream):
    proba, truth = stream
    labels = [None if row % 3 == 0 else int(each) for row, each in enumerate(truth)]
    monitor = CalibrationMonitor(window=N).update(proba, labels)
    assert (monitor.n_labelled, monitor.n_waiting) == (N - N // 3, 0)
    (window,) = monitor.windows()
    assert (window.n_rows, window.n_labelled) == (N, N - N // 3)
    with_labels = CalibrationMonitor().update(
        proba[truth >= 0][np.arange(N) % 3 > 0], truth[np.arange(N) % 3 > 0]
    )
    assert monitor.value == with_labels.value


def test_rows_without_any_label_promise():
    proba, _ = draw(2000, 3)
    cost = np.array([[0, 2, 5], [1, 0, 1], [3, 1, 0]])
    monitor = CalibrationMonitor(window=2000, cost=cost).update(proba)
    (window,) = monitor.windows()
    assert (window.n_rows, window.n_labelled, window.log_loss, window.slope) == (2000, 0, None, None)
    assert window.promised_log_loss == pytest.approx(-(proba * np.log(proba)).sum(axis=1).mean(), abs=1e-6)
    assert window.promised_brier_score == pytest.approx(1 - (proba**2).sum(axis=1).mean(), abs=1e-6)
    assert window.promised_error_rate == pytest.approx(1 - proba.max(axis=1).mean(), abs=1e-6)
    assert window.promised_cost == pytest.approx((proba @ cost.T).min(axis=1).mean(), abs=1e-6)
    assert window.promised_cost.low < window.promised_cost < window.promised_cost.high


def test_wrong_keys_are_refused():
    proba, truth = draw(4, 3)
    monitor = CalibrationMonitor().update(proba, [0, None, None, 1], key=list("abcd"))
    with pytest.raises(DataError, match="keys of rows that wait for labels must differ; got 'b' twice"):
        monitor.update(proba, None, key=list("xbyz"))
    with pytest.raises(DataError, match="got 'x' twice"):
        monitor.update(proba, None, key=list("xyzx"))
    with pytest.raises(DataError, match="none waits under 'q' and 1 more"):
        monitor.add_labels(["q", "r"], [0, 1])
    with pytest.raises(DataError, match="keys of labels must differ"):
        monitor.add_labels(["b", "b"], [0, 1])
    with pytest.raises(DataError, match="labels must not be missing here; row 1 has none"):
        monitor.add_labels(["b", "c"], [0, None])
    with pytest.raises(DataError, match="key must be texts or whole numbers; got 0.5 in row 0"):
        monitor.update(proba, truth, key=[0.5] * 4)
    with pytest.raises(DataError, match="no rows have come yet"):
        CalibrationMonitor().add_labels([1], [1])
    assert monitor.n_waiting == 3
