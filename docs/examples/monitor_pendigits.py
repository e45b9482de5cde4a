"""
Other writers
=============

A model has learned to read the digits of thirty people. It ships, and reads those of the same people well:
its probabilities can be believed. Then fourteen other people begin to write. Nothing in the program has
changed, and nobody is told; the monitor has to find it.
"""

# %%
# Pendigits comes in two parts, which different people have written. The model learns from one half of the
# first part. The other half is what it reads at first, and the second part what it reads then.
#
# (The data set is not part of calibrant: ``CALIBRANT_DATA`` names the folder that it is in.)

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedClassifier, CalibrationMonitor
from calibrant.experiments._datasets import read_numeric

known, others = read_numeric("pendigits.train"), read_numeric("pendigits.test")
random = np.random.default_rng(0)
order = random.permutation(len(known.y))
learn, read = order[:3700], order[3700:]

learner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
model = CalibratedClassifier(learner, "stack").fit(known.X[learn], known.y[learn])

# %%
# The monitor is told what the probabilities were like when all was well: those of rows that the model had not
# learned from. Here the first thousand rows will do; the others are the stream.

reference = model.predict_proba(known.X[read[:1000]])
first = read[1000:]
proba = model.predict_proba(np.concatenate([known.X[first], others.X]))
digits = np.concatenate([known.y[first], others.y])
print(f"{len(first):,} digits of people that the model knows, then {len(others.y):,} of others")

monitor = CalibrationMonitor(reference=reference, classes=model.classes_, window=500)
monitor.update(proba, digits)

# %%
# **The alarms.** A false one comes once in a million rows.

for alarm in monitor.alarms[:4]:
    print(f"row {alarm.row:,} ({alarm.kind}): {alarm.what}; began with row {alarm.began:,}")

# %%
# **Before and after**, in windows of 500 rows: what the forecasts promise, and what came.

for window in monitor.windows():
    print(
        f"from row {window.first_row:5,}: errors promised {window.promised_error_rate:.3f}, "
        f"found {window.error_rate}; log loss {window.log_loss}; slope {window.slope}"
    )

# %%
# **What to do.**

print(monitor.advice().text)
