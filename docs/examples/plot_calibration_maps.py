"""
What a calibrator learns
========================

A calibrator of one score is a curve: score in, probability out. Here are three of them, learned from the
margins of a linear support vector machine, and what then came in other rows.
"""

# %%
# Margins for calibration come from rows that the machine was not trained on.

from matplotlib import pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from calibrant import BinningCalibrator, PAVCalibrator, SigmoidCalibrator
from calibrant.metrics import auc, reliability_bins, roc_points
from calibrant.plots import calibration_map, roc_diagram

X, y = make_classification(4000, 10, n_informative=6, n_clusters_per_class=3, flip_y=0.1, random_state=3)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

svm = make_pipeline(StandardScaler(), LinearSVC())
train = cross_val_predict(svm, X_train, y_train, cv=5, method="decision_function")
test = svm.fit(X_train, y_train).decision_function(X_test)

# %%
# **The maps.** The circles are the test rows, in bins of their scores, with the number of rows in each. A
# sigmoid has two parameters and must be smooth; bins need no shape at all; isotonic regression only has to
# rise.

bins = reliability_bins(y_test, test, lo=-2.0, hi=2.0, width=0.4)
fig, axes = plt.subplots(1, 3, figsize=(11, 3.8), sharey=True, layout="constrained")
for ax, name, calibrator in zip(
    axes,
    ("sigmoid", "binning", "isotonic"),
    (SigmoidCalibrator(), BinningCalibrator(), PAVCalibrator()),
    strict=True,
):
    calibration_map(calibrator.fit(train, y_train), bins, ax=ax, label=name, counts=True)
    ax.legend(loc="lower right", fontsize="small")
    ax.label_outer()
plt.show()

# %%
# **What isotonic calibration does to a ROC curve.** Pooling violators fills the dents: the curve of the
# calibrated scores, on the rows of the fit, is the convex hull of the raw one. A threshold inside a dent is
# never the best one, whatever the two mistakes cost. We take few rows, so that the dents can be seen.

few = slice(0, 200)
pooled = PAVCalibrator().fit(train[few], y_train[few]).predict_proba(train[few])
ax = roc_diagram(
    roc_points(y_train[few], train[few]), hull=roc_points(y_train[few], pooled), label="raw margins"
)
ax.legend()
print(f"AUC {auc(y_train[few], train[few]):.3f}, of the hull {auc(y_train[few], pooled):.3f}")
plt.show()
