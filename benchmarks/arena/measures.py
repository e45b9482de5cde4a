"""What is measured of probabilities of test rows. Less is better."""

import numpy as np

from calibrant.decisions import decide, rarity_costs
from calibrant.metrics import expected_calibration_error

#: The measures of the tables, with their headings.
MEASURES = {
    "log_loss": "log loss",
    "floored_log_loss": "log loss, floored",
    "brier": "Brier",
    "ece": "ECE",
    "random_cost": "random costs",
    "rarity_cost": "rarity costs",
}
#: The least probability that log loss counts an answer as: nearly none.
LEAST = 1e-15
#: Cost matrices that are drawn for every data set.
N_COSTS = 10


def random_costs(n_classes: int, random: np.random.Generator) -> list[np.ndarray]:
    """Costs of errors between 0 and 1, by chance; right decisions cost nothing."""
    costs = random.random((N_COSTS, n_classes, n_classes))
    costs[:, range(n_classes), range(n_classes)] = 0
    return list(costs)


def measured(
    y: np.ndarray, proba: np.ndarray, n_calibrate: int, counts: np.ndarray, random: np.random.Generator
) -> dict[str, float]:
    """All measures.

    Log loss is proper: who says what they believe does best. But one certain answer that is wrong costs 35,
    and isotonic regression gives such answers. So log loss is also given with a floor of half a row of the
    calibration part, where certainty is cheap, and which therefore favours it. Decisions are those of least
    expected cost, and a cost is the mean of what they cost on the test rows.
    """
    if not np.isfinite(proba).all():
        raise ValueError("probabilities must be finite")
    n_classes = proba.shape[1]
    proba = proba / proba.sum(axis=1, keepdims=True)
    mode = "positive" if n_classes == 2 else "top_label"
    truth = proba[np.arange(len(y)), y]
    found = {
        "log_loss": float(-np.log(np.maximum(truth, LEAST)).mean()),
        "floored_log_loss": float(-np.log(np.maximum(truth, 1 / (2 * n_calibrate))).mean()),
        "brier": float(((proba - np.eye(n_classes)[y]) ** 2).sum(axis=1).mean()),
        "ece": expected_calibration_error(y, proba, mode=mode, classes=range(n_classes)),
        "random_cost": float(np.mean([_cost(y, proba, each) for each in random_costs(n_classes, random)])),
    }
    rarity = rarity_costs(np.maximum(counts, 1))
    return found | {"rarity_cost": _cost(y, proba, rarity / rarity.max())}


def _cost(y: np.ndarray, proba: np.ndarray, cost: np.ndarray) -> float:
    return float(cost[decide(proba, cost), y].mean())
