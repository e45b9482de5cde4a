"""
What coupling minimises, and what it does not
=============================================

Coupling puts the calibrated answers of several two-class problems together into one distribution, and is said
to minimise the (Kullback-Leibler) distance between the answers and that distribution. For pairs of classes
that is true. For other codes the published iteration goes somewhere else.
"""

# %%
# Four classes, each told apart from the rest, with answers that do not fit together. We follow the distance
# through the published iteration, and look where the minimiser is, which `coupling` gives by default.

import warnings

import numpy as np
from matplotlib import pyplot as plt
from sklearn.exceptions import ConvergenceWarning

from calibrant.codes import all_pairs, coupling, kl_objective, one_vs_all

warnings.simplefilter("ignore", ConvergenceWarning)  # we stop early on purpose
steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]


def distances(code, answers, algorithm):
    """The distance after every number of steps."""
    results = [coupling(code, answers, algorithm=algorithm, max_iter=n, tol=1e-12) for n in steps]
    return [float(kl_objective(code, answers, proba)[0]) for proba in results]


def draw(title, code, answers):
    """Both algorithms on one picture."""
    ax = plt.figure(figsize=(6, 4), layout="constrained").add_subplot()
    ax.semilogx(steps, distances(code, answers, "published"), "s--", label="published")
    ax.semilogx(steps, distances(code, answers, "mm"), "o-", label="default: the minimiser")
    ax.set(title=title, xlabel="iterations", ylabel="distance to the answers")
    ax.legend()


draw("one class against the rest", one_vs_all(4), np.array([[0.34, 0.70, 0.08, 0.40]]))
plt.show()

# %%
# With pairs of classes every side of a column is a single class, the factors that the published update lacks
# are equal to one, and both arrive at the same place.

draw("all pairs", all_pairs(4), np.array([[0.7, 0.2, 0.6, 0.1, 0.5, 0.8]]))
plt.show()
