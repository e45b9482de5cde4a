"""Calibration over time: batches in, alarms, windows, groups and advice out."""

import json
from typing import Any, Self

import numpy as np

from calibrant._core._checks import check_number, check_option, is_whole, read_classes, shown
from calibrant._core._errors import DataError, ParameterError
from calibrant.decisions import check_cost
from calibrant.monitor._intake import Intake
from calibrant.monitor._merging import merged
from calibrant.monitor._rows import UNKNOWN, read_truth
from calibrant.monitor._saving import read_state, state_of
from calibrant.monitor._waiting import read_keys

#: Windows of the calendar.
PERIODS = ("hour", "day", "week", "month", "year")


class CalibrationMonitor(Intake):
    r"""Watch whether probabilities stay calibrated; false alarms are bounded however often one looks.

    Parameters
    ----------
    bound : {"run_length", "ever"}, default="run_length"
        What is promised: the mean number of rows between false alarms; or the chance of ever having one.
    run_length : float, default=1e6
        The least mean number of rows between false alarms, for ``bound="run_length"``.
    alpha : float, default=0.01
        The greatest chance of ever having a false alarm, for ``bound="ever"``.
    classes : array-like of shape (k,), optional
        Labels of the columns of the forecasts, in order; by default their numbers.
    reference : array-like of shape (n, k) or (n,), optional
        Forecasts of the time when all was well, such as those of the rows that the model was tested on.
        Scores are compared with them. Without them drift of scores is not tested.
    reference_weight : array-like of shape (n,), optional
        Weights of these rows. Later weights are divided by the greatest of them, and must not exceed it; it
        is 1 without them.
    window : int or {"hour", "day", "week", "month", "year"} or None, default=5000
        Rows, or the part of the calendar, of which estimates are given together; None for no windows.
    n_windows : int, default=50
        How many windows are kept, the last ones.
    cost : array-like of shape (a, k), optional
        ``cost[i, j]`` is the cost of deciding i when the truth is j; decisions are those of least expected
        cost.
    group_alpha : float, default=0.05
        The greatest expected share of wrong ones among the groups that are said to be off.
    max_groups : int, default=10000
        How many groups, with pairs of them, there may be.
    max_waiting : int, default=10000
        How many rows wait at most, where labels come late.

    See Also
    --------
    calibrant.metrics.evaluate : All measures of rows that are there at once.

    Notes
    -----
    Rows come in time order, and the forecast is known before the truth. Forecasts are calibrated if every
    truth is drawn from its forecast, whatever came before. The ratio :math:`L` of what another forecast and
    the given one said of what came has then mean at most 1; products of ratios are bets that do not win in
    the long run. Bets on many changes are mixed: levels of classes up or down, forecasts too sure or too
    timid, and what past rows teach, beginning with every row.

    - A row of weight w counts as :math:`L^w`; a row of weight 0 is absent.
    - Forecasts are divided by their sum. A class that comes though its forecast is 0 is an alarm of its own,
      and counts as :math:`10^{-12}` elsewhere.
    - Rows without a label count for what they promise and for drift. If they have a `key`, they wait for a
      label (`add_labels`), and all later rows with them, so that the process sees rows in time order. If more
      than `max_waiting` rows wait, the first one is given up.
    - Times must not fall. A missing value of a group is a group of its own.
    - After an alarm the process starts again.

    Examples
    --------
    A class that becomes more frequent than its forecasts:

    >>> import numpy as np
    >>> from calibrant import CalibrationMonitor
    >>> rng = np.random.default_rng(0)
    >>> proba = rng.beta(1, 4, size=6000)
    >>> true = np.where(np.arange(6000) < 3000, proba, 2 * proba / (1 + proba))
    >>> y = rng.random(6000) < true
    >>> monitor = CalibrationMonitor().update(proba, y)
    >>> alarm = monitor.alarms[0]
    >>> alarm.what
    'class 1 comes more often than forecast'
    >>> alarm.began_low <= 3000 <= alarm.row
    True
    """

    def __init__(
        self,
        bound: str = "run_length",
        run_length: float = 1e6,
        alpha: float = 0.01,
        *,
        classes: object = None,
        reference: object = None,
        reference_weight: object = None,
        window: int | str | None = 5000,
        n_windows: int = 50,
        cost: object = None,
        group_alpha: float = 0.05,
        max_groups: int = 10_000,
        max_waiting: int = 10_000,
    ) -> None:
        check_option("bound", bound, ("run_length", "ever"))
        self.bound = bound
        self.run_length = check_number("run_length", run_length, "a number from 2", lambda x: x >= 2)
        self.alpha = check_number("alpha", alpha, "above 0 and below 1", lambda x: 0 < x < 1)
        self.group_alpha = check_number(
            "group_alpha", group_alpha, "above 0 and below 1", lambda x: 0 < x < 1
        )
        self.window = _check_window(window)
        self.n_windows, self.max_groups, self.max_waiting = (
            _check_count(name, value)
            for name, value in (
                ("n_windows", n_windows),
                ("max_groups", max_groups),
                ("max_waiting", max_waiting),
            )
        )
        self._given = None if classes is None else read_classes(classes)
        self._n_classes = None if self._given is None else len(self._given)
        self._base_rates, self._drift, self._greatest = None, None, 1.0
        if reference is not None:
            self._read_reference(reference, reference_weight)
        elif reference_weight is not None:
            raise ParameterError("reference_weight must come with a reference; got none; pass reference=")
        self._cost = None if cost is None else check_cost(cost, self._n_classes, allow_any=True)
        if self._cost is not None and self._cost.ndim != 2:
            raise ParameterError(f"cost must be one matrix for all rows; got shape {self._cost.shape}")
        if self._cost is not None:
            self._n_classes = self._cost.shape[1]
        self._begin()

    def update(
        self,
        proba: object,
        y: object = None,
        time: object = None,
        group: object = None,
        sample_weight: object = None,
        *,
        key: object = None,
    ) -> Self:
        """Take rows, which are later than all before. Any cutting into batches gives the same state.

        Parameters
        ----------
        proba : array-like of shape (n, k) or (n,)
            Forecasts of every class, or of the positive of two.
        y : array-like of shape (n,), optional
            What came; None or NaN where that is not known.
        time : array-like of shape (n,), optional
            Numbers or dates that do not fall; by default rows are counted.
        group : array-like, mapping or frame, optional
            Columns of groups. Every value of a column, and every pair of values of two columns, is a group.
        sample_weight : array-like of shape (n,), optional
            How much every row counts, at most as much as the greatest weight of the reference.
        key : array-like of shape (n,), optional
            Texts or whole numbers by which `add_labels` finds rows whose label comes later.

        Returns
        -------
        CalibrationMonitor
            This monitor.
        """
        self._take(*self._read(proba, y, time, group, sample_weight, key))
        return self

    def add_labels(self, key: object, y: object) -> Self:
        """Give labels to rows that wait for them; they take their place in time.

        Parameters
        ----------
        key : array-like of shape (n,)
            The keys that the rows came with.
        y : array-like of shape (n,)
            Their labels.

        Returns
        -------
        CalibrationMonitor
            This monitor.
        """
        n = len(np.atleast_1d(np.asarray(y, dtype=object)))
        keys = read_keys(key, n)
        if self._waiting is None or self._labelled is None or self._n_classes is None:
            raise DataError("labels must be for rows that wait for one; no rows have come yet")
        truth = read_truth(y, n, self._n_classes, self._given)
        if (truth == UNKNOWN).any():
            raise DataError(
                f"labels must not be missing here; row {int((truth == UNKNOWN).argmax())} has none"
            )
        self._labelled.take(self._waiting.label(keys, truth))
        return self

    @property
    def state(self) -> dict[str, Any]:
        """All that is known, as plain values that JSON has."""
        return state_of(self)

    def to_json(self) -> str:
        """Give the state as JSON.

        Returns
        -------
        str
            The state, from which `from_json` goes on as if nothing had been.
        """
        return json.dumps(self.state, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "CalibrationMonitor":
        """Make the monitor whose state was saved.

        Parameters
        ----------
        text : str
            What `to_json` gave.

        Returns
        -------
        CalibrationMonitor
            The monitor.
        """
        try:
            state = json.loads(text)
        except (TypeError, ValueError) as error:
            raise DataError(f"the state of a monitor must be JSON; got {shown(text)}: {error}") from error
        return read_state(cls, state)

    def merge(self, later: "CalibrationMonitor") -> Self:
        """Go on with what a monitor of later rows has found.

        Parameters
        ----------
        later : CalibrationMonitor
            A monitor with the same parameters, all of whose rows are later. It is not changed.

        Returns
        -------
        CalibrationMonitor
            This monitor. Alarms of both are kept. Evidence is that of both together, unless the later monitor
            has had an alarm, after which it started again; where both together would have had an alarm before
            the end of the later rows, it is raised at the end. Windows of rows begin anew.
        """
        if not isinstance(later, CalibrationMonitor):
            raise DataError(f"later must be a CalibrationMonitor; got {shown(later)}")
        merged(self, later)
        return self


def _check_window(window: object) -> int | str | None:
    if window is None or (isinstance(window, str) and window in PERIODS):
        return window
    if is_whole(window, 1):
        return int(window)  # type: ignore[call-overload, no-any-return]
    raise ParameterError(
        f"window must be a whole number of rows from 1, one of {', '.join(map(repr, PERIODS))}, or None; got "
        f"{shown(window)}"
    )


def _check_count(name: str, value: object) -> int:
    if not is_whole(value, 1):
        raise ParameterError(f"{name} must be a whole number from 1; got {shown(value)}")
    return int(value)  # type: ignore[call-overload, no-any-return]
