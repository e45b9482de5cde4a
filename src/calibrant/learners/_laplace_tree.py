"""A probability estimation tree: unpruned, with Laplace estimates at the leaves."""

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from calibrant._core._arrays import Float64Array


class LaplaceTreeClassifier(DecisionTreeClassifier):
    """A decision tree whose leaves are never certain.

    It is scikit-learn's tree with all its parameters, and left at their defaults these do not prune. Only the
    probabilities differ: a leaf with n rows, n_k of them of class k out of K, answers (n_k + 1)/(n + K).

    Parameters
    ----------
    criterion, splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf : object
        How the tree grows; see scikit-learn's ``DecisionTreeClassifier``.
    max_features, random_state, max_leaf_nodes, min_impurity_decrease, class_weight : object
        The same.
    ccp_alpha, monotonic_cst : object
        The same; a positive `ccp_alpha` prunes.

    See Also
    --------
    ProbingClassifier : Probabilities from a tree's decisions alone.

    Notes
    -----
    A pure leaf of a plain tree answers 0 or 1, however few rows it has, and one such answer that is wrong
    makes the log loss infinite. This is the PET of Provost and Domingos; Laplace's estimate keeps the order
    of the classes in a leaf, so that `predict` is that of the plain tree. With weights, n_k and n are total
    weights.

    References
    ----------
    F. Provost and P. Domingos, "Tree induction for probability-based ranking", Machine Learning 52, 2003.

    Examples
    --------
    >>> from calibrant.learners import LaplaceTreeClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[0], [1], [2], [3], [4]], [0, 0, 0, 0, 1]
    >>> DecisionTreeClassifier().fit(X, y).predict_proba([[1], [4]])
    array([[1., 0.],
           [0., 1.]])
    >>> LaplaceTreeClassifier().fit(X, y).predict_proba([[1], [4]]).round(3)
    array([[0.833, 0.167],
           [0.333, 0.667]])
    """

    def predict_proba(self, X: Any, check_input: bool = True) -> Float64Array | list[Float64Array]:
        """Give the probability of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The rows.
        check_input : bool, default=True
            Whether X is checked; see scikit-learn's tree.

        Returns
        -------
        ndarray of shape (n, k), or a list of these
            Probabilities in the order of `classes_`; a list where y has several columns.
        """
        leaves = self.apply(X, check_input=check_input)
        weight = self.tree_.weighted_n_node_samples[leaves][:, np.newaxis]
        shares = self.tree_.value[leaves]
        sizes = np.atleast_1d(self.n_classes_)
        proba = [
            (shares[:, output, :size] * weight + 1) / (weight + size) for output, size in enumerate(sizes)
        ]
        return proba[0] if self.n_outputs_ == 1 else proba
