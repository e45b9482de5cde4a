"""
How sure is the first guess?
============================

A model gives every class a score, and the highest wins. How often is it right? That depends on the highest
score, and as much on how close the second comes. An accuracy table simply counts.
"""

# %%
# The scores are margins of a linear support vector machine on badly scanned digits, out of fold.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from calibrant import AccuracyTableCalibrator
from calibrant.plots import accuracy_heatmap

X, y = load_digits(return_X_y=True)
X = X + np.random.default_rng(0).normal(scale=5, size=X.shape)  # a bad scanner
svm = make_pipeline(StandardScaler(), LinearSVC(C=0.01))
scores = cross_val_predict(svm, X, y, cv=5, method="decision_function")

# %%
# **Two scores.** Every cell is a range of the highest score f1 and of the second f2; in it, the estimate that
# the first guess is right, and the number of rows. Along a row of cells the highest score grows; up a column
# the second comes closer, and the same highest score means less and less. Hatched cells have never been seen;
# above the diagonal there can be none. Each estimate leans on its neighbours (``smoothing="ma_cov"``).

table = AccuracyTableCalibrator(width=0.2).fit(scores, y).tables_[0]
ax = accuracy_heatmap(table, counts=True)
ax.legend(loc="upper left")
plt.show()

# %%
# **One score.** The same from the highest score alone: all cells of a column of the table above, thrown
# together.

single = AccuracyTableCalibrator(width=0.2, combination="single").fit(scores, y).tables_[0]
accuracy_heatmap(single, counts=True)
plt.show()

# %%
# **Narrow cells** see more, and hold fewer rows. On the left what was counted, on the right what is made of
# it.

narrow = AccuracyTableCalibrator(width=0.05).fit(scores, y).tables_[0]
fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for ax, show in zip(axes, ("accuracy", "value"), strict=True):
    accuracy_heatmap(narrow, show=show, ax=ax)
plt.show()
