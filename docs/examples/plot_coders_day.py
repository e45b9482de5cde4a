"""
A coder's day
=============

A model reads badly scanned digits, and a person checks what it proposes. She wants two things from it: a few
candidates for every scan, each with a number that she can believe, and the scans that are probably wrong on
top of the pile.
"""

# %%
# The model is a linear support vector machine, which gives one margin per digit. Margins for calibration must
# come from rows that the model was not trained on, so they are taken out of fold; then the model is trained
# on all rows.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from calibrant import RankedLogisticCalibrator
from calibrant.calibrators import likely_errors, top_candidates
from calibrant.metrics import reliability_bins
from calibrant.plots import detection_diagram, reliability_diagram

X, y = load_digits(return_X_y=True)
X = X + np.random.default_rng(0).normal(scale=5, size=X.shape)  # a bad scanner
X_train, X_today, y_train, y_today = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

model = make_pipeline(StandardScaler(), LinearSVC(C=0.01))
scores_train = cross_val_predict(model, X_train, y_train, cv=5, method="decision_function")
scores_today = model.fit(X_train, y_train).decision_function(X_today)

# %%
# **The first three candidates.** Every rank has a logistic map of its own, from the highest score and that of
# the candidate to the probability of being right. Targets are smoothed, because the last ranks are hardly
# ever right.

calibrator = RankedLogisticCalibrator(smooth=True).fit(scores_train, y_train)
candidates = top_candidates(calibrator, scores_today, n=3)
for row in range(6):
    shown = zip(candidates.label[row], candidates.probability[row], strict=True)
    print(f"scan {row}:  " + "   ".join(f"{digit} ({proba:4.0%})" for digit, proba in shown))

# %%
# Most of the true digits that are not the first candidate are the second or the third.

places = candidates.label == y_today[:, None]
for name, right, said in zip(
    ("first", "second", "third"), places.mean(axis=0), candidates.probability.mean(axis=0), strict=True
):
    print(f"{name:>6} candidate: right in {right:5.1%} of the scans, said {said:5.1%}")

# %%
# Are the numbers to be believed? Points near the diagonal say yes, for the first candidate and the second.

ax = None
for rank, name in enumerate(("first candidate", "second candidate")):
    bins = reliability_bins(places[:, rank], candidates.probability[:, rank], width=0.2)
    ax = reliability_diagram(bins, ax=ax, label=name)
ax.legend()
plt.show()

# %%
# **What to check first.** The scans are put into the order of the probability that the first candidate is
# right. With the true digits of today we can see what that is worth, beside the order of the highest margin:
# both begin alike, and then the probability, which also knows how close the second candidate is, finds more.

checks = likely_errors(calibrator, scores_today, y_today)
print("look here first:", checks.row[:10])
print(f"{checks.found.total:.0f} errors among {len(y_today)} scans")
for share, errors, by_score in zip(
    checks.found.checked, checks.found.errors, checks.found.errors_by_score, strict=True
):
    print(f"the first {share:3.0%} hold {errors:3.0f} of them; by the highest margin {by_score:3.0f}")

ax = detection_diagram(checks.curve, baseline=checks.curve_by_score, label="by probability")
ax.legend()
plt.show()
