"""A decision tree that is pruned as C4.5 prunes: by a pessimistic estimate of its errors."""

from typing import Any, Literal, Self

import numpy as np
from scipy.special import ndtri
from sklearn.tree import DecisionTreeClassifier

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._checks import check_number

#: A leaf may make so many errors more than the branch that it replaces.
SLACK = 0.1
LEAF = -1


class PrunedTreeClassifier(DecisionTreeClassifier):
    r"""A decision tree that is grown and then pruned inside of every fit, as C4.5 is.

    Scikit-learn's tree prunes by a strength, `ccp_alpha`, that somebody has to choose. Here a branch becomes
    a leaf where that is not expected to make more errors, whatever the rows: bootstrap samples and samples of
    other odds each get the tree that suits them.

    Parameters
    ----------
    confidence : float, default=0.25
        How pessimistic the estimate is; smaller prunes more. At least 0 and at most 0.5; 0.25 is that of C4.5
        and of Weka's J48.
    criterion : {"entropy", "gini", "log_loss"}, default="entropy"
        How splits compare.
    min_samples_leaf : int or float, default=2
        The least number of rows in a leaf, whatever their weights.
    max_depth : int, optional
        How deep the tree grows.
    max_features : int, float or {"sqrt", "log2"}, optional
        How many columns a split looks at.
    random_state : int, RandomState instance or None, default=None
        Decides between splits that are equally good.

    See Also
    --------
    LaplaceTreeClassifier : Unpruned, for probabilities rather than decisions.
    ProbingClassifier : Probabilities from a tree's decisions alone.

    Notes
    -----
    A leaf with N rows of which E are not of its class is expected to err on N U of new ones, where U is the
    upper limit of the share of errors that a binomial E of N allows with the given confidence:

    .. math::
        U = \frac{f + z^2/2N + z \sqrt{f/N - f^2/N + z^2/4N^2}}{1 + z^2/N}, \quad f = \frac{E + 1/2}{N},

    with z the normal quantile of 1 - confidence; :math:`1 - \mathrm{confidence}^{1/N}` where E is 0, and
    between the two where E is below 1. From the leaves upwards, a branch becomes a leaf if that is expected
    to make at most a tenth of an error more. Rows count by their weights.

    C4.5 also chooses splits by gain ratio, and may put a branch in the place of its parent ("raising"); this
    tree is scikit-learn's but for the pruning.

    References
    ----------
    J. R. Quinlan, "C4.5: programs for machine learning", Morgan Kaufmann, 1993.

    Examples
    --------
    One feature says all that can be known, and another nothing. The plain tree splits by both:

    >>> import numpy as np
    >>> from calibrant.learners import PrunedTreeClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 2))
    >>> y = (X[:, 0] > 0.5) != (rng.random(300) < 0.1)
    >>> plain, pruned = DecisionTreeClassifier(random_state=0), PrunedTreeClassifier(random_state=0)
    >>> plain.fit(X, y).get_n_leaves() > 20 > 5 > pruned.fit(X, y).get_n_leaves()
    True
    """

    def __init__(
        self,
        confidence: float = 0.25,
        *,
        criterion: Literal["entropy", "gini", "log_loss"] = "entropy",
        min_samples_leaf: float = 2,
        max_depth: int | None = None,
        max_features: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            min_samples_leaf=min_samples_leaf,
            max_depth=max_depth,
            max_features=max_features,
            random_state=random_state,
        )
        self.confidence = confidence

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Grow the tree and prune it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.
        check_input : bool, default=True
            Whether X and y are checked; see scikit-learn's tree.

        Returns
        -------
        Self
            The fitted classifier.
        """
        check_number("confidence", self.confidence, "a number from 0 to 0.5", lambda share: 0 <= share <= 0.5)
        super().fit(X, y, sample_weight=sample_weight, check_input=check_input)
        prune(self.tree_, self.confidence)
        return self

    def get_n_leaves(self) -> int:
        """Give the number of leaves that are left.

        Returns
        -------
        int
            How many leaves an answer can come from.
        """
        depth = _depths(self.tree_)
        return int(np.count_nonzero((depth >= 0) & (self.tree_.children_left == LEAF)))

    def get_depth(self) -> int:
        """Give the depth that is left.

        Returns
        -------
        int
            The greatest number of splits on the way to a leaf.
        """
        return int(_depths(self.tree_).max())


def prune(tree: Any, confidence: float) -> None:
    """Make leaves of the branches of a fitted tree that are not expected to be better than a leaf."""
    n = tree.weighted_n_node_samples
    # Several columns of labels count their errors together.
    errors = (n[:, np.newaxis] * (1 - tree.value.max(axis=2) / tree.value.sum(axis=2))).mean(axis=1)
    as_leaf = expected_errors(n, errors, confidence)
    expected = as_leaf.copy()
    # A node's children come after it.
    for node in range(tree.node_count - 1, -1, -1):
        left, right = tree.children_left[node], tree.children_right[node]
        if left == LEAF:
            continue
        below = expected[left] + expected[right]
        if as_leaf[node] <= below + SLACK:
            tree.children_left[node] = tree.children_right[node] = LEAF
        else:
            expected[node] = below


def expected_errors(n: Float64Array, errors: Float64Array, confidence: float) -> Float64Array:
    """How many errors leaves are expected to make on as many new rows: an upper limit, as in C4.5."""
    if confidence == 0:
        return n.astype(np.float64)
    none = n * (1 - confidence ** (1 / n))
    some = _upper_limit(n, errors, confidence)
    one = _upper_limit(n, np.ones_like(n), confidence)
    expected = np.where(errors < 1, none + errors * (one - none), some)
    return np.asarray(np.where(errors + 0.5 >= n, n, np.minimum(expected, n)))


def _upper_limit(n: Float64Array, errors: Float64Array, confidence: float) -> Float64Array:
    """Wilson's upper limit with a correction for continuity, times the number of rows."""
    z = ndtri(1 - confidence)
    share = np.minimum((errors + 0.5) / n, 1.0)
    root = np.sqrt(share / n - share**2 / n + z**2 / (4 * n**2))
    return np.asarray(n * (share + z**2 / (2 * n) + z * root) / (1 + z**2 / n))


def _depths(tree: Any) -> IntArray:
    """How many splits lead to every node; -1 for nodes that no row reaches any more."""
    depth = np.full(tree.node_count, -1)
    depth[0] = 0
    for node in range(tree.node_count):
        if depth[node] >= 0 and tree.children_left[node] != LEAF:
            depth[[tree.children_left[node], tree.children_right[node]]] = depth[node] + 1
    return depth
