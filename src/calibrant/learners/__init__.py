"""The learners of the four papers that scikit-learn lacks. All of them take weights.

==========================  ============================================================================
`CategoricalNaiveBayes`     naive Bayes on categories, which skips values that it has never seen
`BoostedNaiveBayes`         AdaBoost over naive Bayes posteriors (Elkan 1997)
`EqualWidthQuantizer`       numbers to 21 levels, so that naive Bayes can take them
`LaplaceTreeClassifier`     an unpruned tree with Laplace estimates at its leaves (a PET)
`PrunedTreeClassifier`      a tree that every fit prunes by C4.5's estimate of its errors
`BaggedVotesClassifier`     the share of bootstrapped models that vote for a class
`RegularizedQDA`            Gaussian classes, with as little regularisation as they need (Friedman 1989)
==========================  ============================================================================

For the others scikit-learn has what the papers use: `LinearSVC`, `LogisticRegression`, `MultinomialNB` on
word counts, and `KNeighborsClassifier`, whose probabilities are the shares k_c / k.
"""

from calibrant._core._lazy import at_home
from calibrant.learners._bagged_votes import BaggedVotesClassifier
from calibrant.learners._boosted_nb import BoostedNaiveBayes
from calibrant.learners._categorical_nb import CategoricalNaiveBayes
from calibrant.learners._laplace_tree import LaplaceTreeClassifier
from calibrant.learners._pruned_tree import PrunedTreeClassifier
from calibrant.learners._quantizer import EqualWidthQuantizer
from calibrant.learners._regularized_qda import RegularizedQDA

__all__ = [
    "BaggedVotesClassifier",
    "BoostedNaiveBayes",
    "CategoricalNaiveBayes",
    "EqualWidthQuantizer",
    "LaplaceTreeClassifier",
    "PrunedTreeClassifier",
    "RegularizedQDA",
]

__dir__ = at_home(__name__)
