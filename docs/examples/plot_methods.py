"""
Which method should I use?
==========================

Nobody can know beforehand which calibrator suits one's own scores. `compare_methods` tries all of them, each
on rows that it was not fitted to, and says how much of the ranking is chance.
"""

# %%
# The scores are margins of a linear support vector machine for ten digits, out of fold.

from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from calibrant.models import compare_methods
from calibrant.plots import ranking_diagram

X, y = load_digits(return_X_y=True)
svm = make_pipeline(StandardScaler(), LinearSVC(C=0.01))
scores = cross_val_predict(svm, X, y, cv=5, method="decision_function")

comparison = compare_methods(scores, y)
print(comparison)

# %%
# The best method stands on top. The bars are 95% intervals of the distance to it, on the same rows; one that
# reaches the line may be as good. The numbers on the right say how often each method comes first if the rows
# are resampled. The name in bold is the advice: of those that tie, the simplest.

ranking_diagram(comparison)
plt.show()
