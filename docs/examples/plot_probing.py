"""
Probing a decision tree
=======================

A fully grown decision tree says yes or no, and is certain of it. Asked again and again, with weights that
make a positive more or less important, it tells how probable yes is: *probing*.
"""

# %%
# A tree that memorises is trained on random parts of the rows (``weighting="rejection"``), in which positives
# are more or less frequent.

from matplotlib import pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from calibrant import ProbingClassifier
from calibrant.classifiers import probing_curve
from calibrant.metrics import isotonic_reliability
from calibrant.plots import probing_convergence, probing_ladder, reliability_diagram

X, y = make_classification(4000, 10, n_informative=4, flip_y=0.2, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
tree = DecisionTreeClassifier(random_state=0)


def probed(n_probes):
    """The tree, asked so many times."""
    model = ProbingClassifier(tree, n_probes, weighting="rejection", random_state=0)
    return model.fit(X_train, y_train)


# %%
# **Seven questions, and what they are worth.** On top, downwards: the first classifier says which rows are
# above 1/2, and so splits the interval from 0 to 1. Next comes the interval in which most can still be lost.
# Every grey line is the interval that was split, the point on it the threshold. In the middle, the rows after
# seven questions: each is in one of eight intervals, and gets the probability that is marked. At the bottom,
# the loss on other rows after every question: most of the gain comes early.

few, many = probed(7), probed(100)
fig, (above, below) = plt.subplots(2, 1, figsize=(6.4, 7.6), height_ratios=(1.7, 1), layout="constrained")
probing_ladder(few.ladders_[0], ax=above)
probing_convergence(probing_curve(many, X_test, y_test), ax=below)
plt.show()

# %%
# **A hundred questions.** The thresholds gather where the rows are, and the intervals become narrow there.

probing_ladder(many.ladders_[0])
plt.show()

# %%
# The probabilities can be believed, and those of the tree alone, which are 0 and 1, cannot:

ax = None
for name, proba in (
    ("probed tree", many.predict_proba(X_test)),
    ("tree alone", tree.fit(X_train, y_train).predict_proba(X_test)),
):
    ax = reliability_diagram(isotonic_reliability(y_test, proba), ax=ax, label=name)
ax.legend()
plt.show()
