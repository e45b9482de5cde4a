"""Whom to write to: decisions about money that differs from row to row (ZE02, table 1)."""

import math
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._checks import check_number, check_probabilities
from calibrant.metrics import (
    KDD98_LETTER,
    MailingProfit,
    counting_rows,
    mailing_profit,
    one_column,
    positive_column,
)


@dataclass(frozen=True, slots=True, eq=False)
class ProfitCurve:
    """What is earned by writing to the most promising ones, for every number of letters.

    Attributes
    ----------
    threshold : ndarray of shape (m,)
        Those get a letter whose expected donation is at least this; falling, from infinity.
    mailed : ndarray of shape (m,)
        Number of letters; with weights, the weight of the rows that get one.
    profit : ndarray of shape (m,)
        Donations minus the cost of the letters.
    policy : MailingProfit
        What the policy earns that writes to everybody whose expected donation is above the cost.
    """

    threshold: Float64Array
    mailed: Float64Array
    profit: Float64Array
    policy: MailingProfit

    @property
    def best(self) -> MailingProfit:
        """The highest point of the curve; of several, the one with the fewest letters."""
        place = int(np.argmax(self.profit))
        return MailingProfit(float(self.profit[place]), float(self.mailed[place]))


def mailing_costs(amount_hat: object, letter: float = KDD98_LETTER) -> Float64Array:
    r"""Give the cost matrix of every row of a mailing, to be decided by `decide`.

    Parameters
    ----------
    amount_hat : array-like of shape (n,)
        The estimated donation of those who donate.
    letter : float, default=0.68
        The cost of a letter.

    Returns
    -------
    ndarray of shape (n, 2, 2)
        Decision 0 is to save the letter, which costs nothing; decision 1 is to send it, which costs the
        letter if the truth is 0, no donation, and the letter minus the donation if the truth is 1.

    Notes
    -----
    With these costs `decide` sends a letter if :math:`P(\text{donate} \mid x) \, \hat y(x)` exceeds its
    cost, strictly: the policy of Zadrozny and Elkan (2002).

    Examples
    --------
    The expected donations are 0.68, what a letter costs, and 0.85:

    >>> from calibrant.decisions import decide, mailing_costs
    >>> decide([[0.96, 0.04], [0.95, 0.05]], mailing_costs([17.0, 17.0]))
    array([0, 1])
    """
    price = check_number("letter", letter, "a finite number", lambda _: True)
    amount = one_column(amount_hat, "amount_hat")
    cost = np.zeros((len(amount), 2, 2))
    cost[:, 1, :] = price
    cost[:, 1, 1] -= amount
    return cost


def profit_curve(
    proba: object,
    amount_hat: object,
    donated: object,
    *,
    letter: float = KDD98_LETTER,
    sample_weight: object = None,
) -> ProfitCurve:
    """Profit of writing to the most promising ones, for every number of letters.

    Parameters
    ----------
    proba : array-like of shape (n,) or (n, 2)
        Probabilities of donating, or of not donating and of donating.
    amount_hat : array-like of shape (n,)
        The estimated donation of those who donate.
    donated : array-like of shape (n,)
        What they really donated when mailed; 0 for those who did not.
    letter : float, default=0.68
        The cost of a letter, which is that of KDD-98.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.

    Returns
    -------
    ProfitCurve
        One point per distinct expected donation, the highest first, after the point of no letter at all.

    See Also
    --------
    calibrant.metrics.mailing_profit : The profit of the policy alone.

    Notes
    -----
    If the probabilities and amounts can be believed, the policy stands near the top of the curve; its
    distance from the top is what better estimates could earn.

    Examples
    --------
    >>> from calibrant.decisions import profit_curve
    >>> curve = profit_curve([0.02, 0.05, 0.09], [20.0, 20.0, 10.0], [0.0, 25.0, 0.0])
    >>> curve.profit.round(2)
    array([ 0.  , 24.32, 23.64, 22.96])
    >>> curve.policy == curve.best
    False
    >>> curve.policy.mailed, curve.best.mailed
    (2.0, 1.0)
    """
    policy = mailing_profit(proba, amount_hat, donated, cost=letter, sample_weight=sample_weight)
    expected = check_probabilities(positive_column(proba, "proba")) * one_column(amount_hat, "amount_hat")
    weights, kept = counting_rows(sample_weight, len(expected))
    expected, gain = expected[kept], weights * (one_column(donated, "donated")[kept] - letter)
    order = np.argsort(-expected, kind="stable")
    last = np.append(np.flatnonzero(np.diff(expected[order])), len(order) - 1)
    return ProfitCurve(
        threshold=np.append(math.inf, expected[order][last]),
        mailed=np.append(0.0, np.cumsum(weights[order])[last]),
        profit=np.append(0.0, np.cumsum(gain[order])[last]),
        policy=policy,
    )
