"""What a mailing earns if probabilities and amounts decide who gets a letter."""

from dataclasses import dataclass

from calibrant._core._checks import check_not_empty, check_number, check_probabilities, check_same_length
from calibrant.metrics._rows import counting_rows, one_column, positive_column

#: What a letter of the KDD-98 mailing costs, in dollars.
KDD98_LETTER = 0.68


@dataclass(frozen=True, slots=True)
class MailingProfit:
    """What a mailing earns.

    Attributes
    ----------
    profit : float
        Donations minus the cost of the letters.
    mailed : float
        Number of letters; with weights, the weight of the rows that get one.
    """

    profit: float
    mailed: float


def mailing_profit(
    proba: object,
    amount_hat: object,
    donated: object,
    *,
    cost: float = KDD98_LETTER,
    sample_weight: object = None,
) -> MailingProfit:
    r"""Profit of mailing everybody whose expected donation is above the cost of a letter.

    Parameters
    ----------
    proba : array-like of shape (n,) or (n, 2)
        Probabilities of donating, or of not donating and of donating.
    amount_hat : array-like of shape (n,)
        The estimated donation of those who donate.
    donated : array-like of shape (n,)
        What they really donated when mailed; 0 for those who did not.
    cost : float, default 0.68
        The cost of a letter, which is that of KDD-98.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.

    Returns
    -------
    MailingProfit
        The profit and the number of letters.

    Notes
    -----
    The policy of table 1 of Zadrozny and Elkan (2002): mail if
    :math:`P(\text{donate} \mid x) \, \hat y(x) > \text{cost}`, strictly.

    Examples
    --------
    The first expects exactly what a letter costs, and gets none; the second gets one, and donates 20:

    >>> from calibrant.metrics import mailing_profit
    >>> mailing_profit([0.04, 0.05], [17.0, 17.0], [15.0, 20.0])
    MailingProfit(profit=19.32, mailed=1.0)
    """
    letter = check_number("cost", cost, "a finite number", lambda _: True)
    probability = check_probabilities(positive_column(proba, "proba"))
    expected = one_column(amount_hat, "amount_hat")
    received = one_column(donated, "donated")
    check_same_length(proba=probability, amount_hat=expected, donated=received)
    check_not_empty(len(probability), "proba")
    weights, kept = counting_rows(sample_weight, len(probability))
    is_mailed = (probability * expected)[kept] > letter
    letters = weights[is_mailed]
    return MailingProfit(
        profit=float(letters @ (received[kept][is_mailed] - letter)), mailed=float(letters.sum())
    )
