"""The mailing of Zadrozny & Elkan (KDD-98): what the real targets alone can say, and a stand-in.

The attributes of KDD-98 are not at hand, only who of the 96,367 people of the test part gave how much. The
stand-in keeps these real donations and draws the attributes from a model: ten noisy copies of one hidden
inclination, which naive Bayes takes for ten independent witnesses, and one trace of the amount.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from calibrant.calibrators import BinningCalibrator, PAVCalibrator, SigmoidCalibrator
from calibrant.experiments._datasets import read_numeric
from calibrant.learners import CategoricalNaiveBayes, EqualWidthQuantizer
from calibrant.metrics import auc, brier_score, mailing_profit

#: How far donors are shifted along the hidden inclination, which gives it an AUC of about 0.61, as in KDD-98.
SHIFT = 0.4
N_COPIES, NOISE = 10, 0.7
#: Standard deviation of the logarithm of the trace that an amount leaves.
TRACE_NOISE = 0.4
METHODS: dict[str, Any] = {
    "sigmoid": SigmoidCalibrator(),
    "PAV": PAVCalibrator(clip=0),
    "binning, b by cross-validation": BinningCalibrator("cv"),
}


def real_targets() -> dict[str, list[float]]:
    """What can be said without attributes: policies that write to all alike, and to those who give."""
    donated = read_numeric("kddcup98-valtargt").X[:, 1]
    gave = donated > 0
    rate = np.full(len(gave), gave.mean())
    everybody = mailing_profit(np.ones(len(gave)), np.ones(len(gave)), donated).profit
    return {
        "base rate, write to everybody": [brier_score(gave, rate, convention="sum"), everybody],
        "knows who gives": [0.0, mailing_profit(gave.astype(np.float64), donated, donated).profit],
    }


def stand_in(seed: int) -> dict[str, Any]:
    """The protocol of table 1 on synthetic attributes of the real donations."""
    random = np.random.default_rng(seed)
    donated = random.permutation(read_numeric("kddcup98-valtargt").X[:, 1])
    gave = donated > 0
    inclination = random.standard_normal(len(gave)) + SHIFT * gave
    copies = inclination[:, None] + NOISE * random.standard_normal((len(gave), N_COPIES))
    # People who give nothing now have given before: their trace is that of some donor.
    amounts = np.where(gave, donated, random.choice(donated[gave], len(gave)))
    trace = amounts * np.exp(TRACE_NOISE * random.standard_normal(len(gave)))
    train = np.arange(len(gave)) < len(gave) // 2
    learner = make_pipeline(EqualWidthQuantizer(), CategoricalNaiveBayes()).fit(copies[train], gave[train])
    donors = train & gave
    amount = LinearRegression().fit(trace[donors, None], donated[donors]).predict(trace[:, None])
    raw = learner.predict_proba(copies)[:, 1]
    forecasts = {"raw": raw}
    for method, calibrator in METHODS.items():
        forecasts[method] = clone(calibrator).fit(raw[train], gave[train]).predict_proba(raw)[:, 1]
    parts = train, ~train
    return {
        "measures": {
            method: [
                *(brier_score(gave[part], proba[part], convention="sum") for part in parts),
                *(mailing_profit(proba[part], amount[part], donated[part]).profit for part in parts),
            ]
            for method, proba in forecasts.items()
        },
        "auc": auc(gave[~train], raw[~train]),
    }
