"""Vector scaling: a slope and a bias for every class."""

from typing import TYPE_CHECKING

from calibrant.calibrators._joint import JointCalibrator
from calibrant.calibrators._joint_rows import joint_rows
from calibrant.calibrators._linear_members import Features, alone, most_rows
from calibrant.calibrators._one_thread import one_thread

if TYPE_CHECKING:
    from calibrant.maps import Map
    from calibrant.passes import Learning


class VectorCalibrator(JointCalibrator, name="vector"):
    """Calibrate all scores of a row by a slope and a bias for every class.

    The probabilities are ``softmax((1 + v_j) u_j + b_j)``, where u is the logarithm of the best temperature
    scaling. Slopes and biases are penalised, so that they leave it only as far as the rows speak for it:
    with few rows it is temperature scaling, with many the best slopes and biases.

    Parameters
    ----------
    kind : {"probability", "margin"}, default="probability"
        What the scores are.
    code : {"all_pairs", "one_vs_all", "exhaustive", "ordinal"} or array-like of shape (k, l), optional
        The code matrix behind the scores, which then have one column per column of it, as in
        `CodeCalibrator`. Every class has the sum of the margins, or log-odds, of the columns by its row.
    classes : array-like of shape (k,), optional
        The labels of the columns in order. By default the sorted labels of `y`, which must then be as many
        as there are columns.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels of the columns.
    map_ : Pool
        The map: its `start`, and the slopes and biases of its one `linear` map, by the order of its `entry`.
    feature_names_in_ : ndarray of shape (k,)
        The names of the columns of scores, in the order of the model; only if it was fitted to a frame.

    See Also
    --------
    TemperatureCalibrator : One number for all classes.
    MatrixCalibrator : Lets the score of one class speak for another.
    StackCalibrator : Weighs this and other maps by what they are worth.

    Notes
    -----
    Minimised is ``- sum_i w_i log p_i + c (|b|^2 + |v|^2)``, c = 1 + 30/W for rows of total weight W, by
    L-BFGS, of two classes by Newton's method. The start is ``q = (1 - e) softmax(a log(p + d)) + e/k`` with
    e = 1/(W + 1), the floor d one of nine from 1e-300 to 0.03 and a by the least log loss. Margins have no
    floor, but a bias for every class where these gain ten nats each, or two if all rows lean to one class, so
    that scores which are not even at 0, from 300 to 850 say, are no worse than others. A share 0.15/(W + 1)
    of the answers is spread evenly, so that none is 0 or 1. For two classes this is beta calibration without
    its bounds.

    Deviations from the paper, which minimises the log loss alone over all slopes and biases of the scores of
    a network: the start, and the penalty. At most 200,000 rows of different scores are used, and 4,000,000
    scores, but 20,000 rows at least; which they are depends on nothing but the scores.

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On calibration of modern neural networks", ICML 2017.

    Examples
    --------
    >>> from calibrant import VectorCalibrator
    >>> proba = [[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.1, 0.9, 0.0], [0.0, 0.2, 0.8], [0.7, 0.1, 0.2]]
    >>> model = VectorCalibrator().fit(proba, ["a", "a", "b", "c", "c"])
    >>> model.predict_proba([[0.9, 0.08, 0.02]]).round(2)
    array([[0.83, 0.09, 0.08]])
    """

    complexity = 2.2

    def _learn(self, n_classes: int) -> "Learning[Map]":
        code = self._matrix_of(n_classes)
        rows = yield from joint_rows(most_rows(n_classes), self.kind, n_classes, code)
        with one_thread():
            return alone("vector", rows, Features.of_rows(rows, ()))
