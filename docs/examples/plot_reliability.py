"""
How wrong are raw scores?
=========================

Naive Bayes is famous for ranking well and for believing itself too much. Here it tells digits apart, and we
look at how often a digit really came when its probability was said to be p.
"""

# %%
# Half of the rows train and calibrate; the other half shows how it went.

from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.metrics import brier_decomposition, isotonic_reliability, reliability_bins
from calibrant.plots import reliability_diagram

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

raw = GaussianNB().fit(X_train, y_train).predict_proba(X_test)
calibrated = CalibratedClassifier(GaussianNB()).fit(X_train, y_train).predict_proba(X_test)

# %%
# The diagram of the digit 8, with the number of rows beside every point. Points of believable probabilities
# lie on the diagonal, up to chance. The raw scores say "certainly an 8" far too often.

ax = None
for name, proba in (("raw", raw), ("calibrated", calibrated)):
    bins = reliability_bins(y_test == 8, proba[:, 8], width=0.2)
    ax = reliability_diagram(bins, ax=ax, label=name, counts=True)
ax.legend()
plt.show()

# %%
# **Up to chance: how much is that?** The same without bins. The line is the best rising fit of the truth to
# the forecasts. The band shows where that fit would be, in 90 of 100 cases, if the forecasts were right.
# Where the line leaves it, that is not bad luck. Calibration goes most of the way, and here not all of it.

fig, axes = plt.subplots(1, 2, figsize=(8.6, 4.4), layout="constrained")
for ax, name, proba in zip(axes, ("raw", "calibrated"), (raw, calibrated), strict=True):
    reliability_diagram(isotonic_reliability(y_test == 8, proba[:, 8]), ax=ax, label=name)
    ax.legend(loc="upper left")
plt.show()

# %%
# The Brier score in two parts: calibration is what saying the wrong number costs, refinement what not knowing
# costs. Calibrating removes most of the former, and cannot remove the latter.

for name, proba in (("raw", raw), ("calibrated", calibrated)):
    parts = brier_decomposition(y_test, proba, isotonic=True, mode="classwise")
    print(f"{name:>10}: {parts.brier:.3f} = {parts.calibration:.3f} + {parts.refinement:.3f}")
