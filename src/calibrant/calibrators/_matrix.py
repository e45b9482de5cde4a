"""Matrix scaling: the score of every class may speak for and against every other one."""

from typing import TYPE_CHECKING

from calibrant.calibrators._joint import JointCalibrator
from calibrant.calibrators._joint_rows import joint_rows
from calibrant.calibrators._linear_members import Features, alone, most_rows
from calibrant.calibrators._one_thread import one_thread

if TYPE_CHECKING:
    from calibrant.maps import Map
    from calibrant.passes import Learning


class MatrixCalibrator(JointCalibrator, name="matrix"):
    """Calibrate all scores of a row by a matrix: the score of a class may speak for every other one.

    The probabilities are ``softmax((1 + v_j) u_j + b_j + sum_l M_jl x_l)``, where u is the logarithm of the
    best temperature scaling and x the same standardised, or the standardised margins. On these logarithms of
    probabilities it is Dirichlet calibration. All numbers are penalised, so that they leave the start
    only as far as the rows speak for it: it can never do much worse.

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
        The map: its `start`, and the numbers of its one `linear` map, by the order of its `entry`.
    feature_names_in_ : ndarray of shape (k,)
        The names of the columns of scores, in the order of the model; only if it was fitted to a frame.

    See Also
    --------
    VectorCalibrator : Every class for itself.
    StackCalibrator : Weighs several maps by what they are worth.

    Notes
    -----
    Minimised is ``- sum_i w_i log p_i + c (|b|^2/2 + |v|^2/2 + 2 |M|^2)``, c = 1 + 30/W for rows of total
    weight W, by L-BFGS, of two classes by Newton's method. The start is that of `VectorCalibrator`, and so
    are the rows that are used and the share of the answers that is spread evenly. The most probable class may
    change.

    Deviations from the papers: Guo et al. have no penalty; Kull et al. penalise the entries beside the
    diagonal and the biases, and choose how much by cross-validation. Here the penalty draws to the start
    instead of to zero and has its fixed size in rows, and of more than 64 classes the matrix acts on the 32
    first principal axes.

    References
    ----------
    M. Kull, M. Perello-Nieto, M. Kangsepp, T. Silva Filho, H. Song and P. Flach, "Beyond temperature
    scaling: obtaining well-calibrated multiclass probabilities with Dirichlet calibration", NeurIPS 2019.

    C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On calibration of modern neural networks", ICML 2017.

    Examples
    --------
    >>> from calibrant import MatrixCalibrator
    >>> proba = [[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.1, 0.9, 0.0], [0.0, 0.2, 0.8], [0.7, 0.1, 0.2]]
    >>> model = MatrixCalibrator().fit(proba, ["a", "a", "b", "c", "c"])
    >>> model.predict_proba([[0.9, 0.08, 0.02]]).round(2)
    array([[0.83, 0.08, 0.09]])
    """

    complexity = 4.5

    def _learn(self, n_classes: int) -> "Learning[Map]":
        code = self._matrix_of(n_classes)
        rows = yield from joint_rows(most_rows(n_classes), self.kind, n_classes, code)
        with one_thread():
            return alone("matrix", rows, Features.of_rows(rows, ("matrix",)))
