"""One correction per group beside one map for all, and one for each: `python -m benchmarks.groups`.

Scores are log-odds of two classes that are right but for what sets 40 groups apart: levels that differ by
normal numbers of a standard deviation. What is shown is the mean Kullback-Leibler distance to the known
probabilities of 20,000 new rows, in thousandths, as the mean of 20 draws.
"""

import json

import numpy as np
from scipy.special import expit, xlogy

from benchmarks.tables import RESULTS
from calibrant import ScoreModel, SigmoidCalibrator

N_GROUPS, N_DRAWS, N_NEW = 40, 20, 20_000
SIZES, SPREADS = (10, 30, 100, 300), (0.0, 0.3, 0.6, 1.0)


def drawn(n, levels, rng):
    """Scores, groups and probabilities of some rows."""
    scores, group = 1.5 * rng.normal(size=n), rng.integers(0, N_GROUPS, n)
    return scores, group, expit(scores + levels[group])


def distance(truth, proba):
    """Mean Kullback-Leibler distance."""
    proba = np.clip(proba, 1e-12, 1 - 1e-12)
    return float(np.mean(xlogy(truth, truth / proba) + xlogy(1 - truth, (1 - truth) / (1 - proba))))


def measured(size, spread, seed):
    """The distances of three ways."""
    rng = np.random.default_rng(seed)
    levels = spread * rng.normal(size=N_GROUPS)
    scores, group, truth = drawn(size * N_GROUPS, levels, rng)
    y = rng.random(len(truth)) < truth
    new_scores, new_group, new_truth = drawn(N_NEW, levels, rng)
    model = ScoreModel("sigmoid").fit(scores, y, by=group)
    alone = model.predict_proba(new_scores)[:, 1]
    for number in range(N_GROUPS):
        rows, new = group == number, new_group == number
        if 0 < y[rows].sum() < rows.sum() and np.ptp(scores[rows]) > 0:
            alone[new] = SigmoidCalibrator().fit(scores[rows], y[rows]).predict_proba(new_scores[new])[:, 1]
    return {
        "one map for all": distance(new_truth, model.predict_proba(new_scores)[:, 1]),
        "one for each": distance(new_truth, alone),
        "by=": distance(new_truth, model.predict_proba(new_scores, by=new_group)[:, 1]),
    }


def main():
    """Measure, and keep the table."""
    rows = []
    for size in SIZES:
        for spread in SPREADS:
            found = [measured(size, spread, seed) for seed in range(N_DRAWS)]
            mean = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
            rows.append({"rows_per_group": size, "spread": spread, "distance": mean})
            print(size, spread, {name: round(1000 * value, 2) for name, value in mean.items()}, flush=True)
    (RESULTS / "groups.json").write_text(
        json.dumps({"made_by": "python -m benchmarks.groups", "rows": rows}, indent=1) + "\n"
    )
    names = list(rows[0]["distance"])
    lines = [f"| rows of a group | levels differ by | {' | '.join(names)} |", "|---:|---:|---:|---:|---:|"]
    for row in rows:
        cells = " | ".join(f"{1000 * row['distance'][name]:.2f}" for name in names)
        lines.append(f"| {row['rows_per_group']} | {row['spread']} | {cells} |")
    (RESULTS / "groups.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
