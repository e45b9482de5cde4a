"""Write the files that the examples of the command use: `python docs/example_files.py [folder]`.

Three animals with a score each, as a classifier might give them, clicks with a single score, loans with a
credit score, of which high is good, and the log of a model that forecasts defaults.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet

ANIMALS = ("cat", "dog", "fox")
COSTS = "decision,cat,dog,fox\ncat,0,1,5\ndog,1,0,5\nfox,2,2,0\n"


def animals(path: Path, n_rows: int, seed: int) -> None:
    """Scores that are high for the right animal, mostly."""
    random = np.random.default_rng(seed)
    truth = random.choice(3, size=n_rows, p=[0.5, 0.3, 0.2])
    scores = random.normal(size=(n_rows, 3))
    scores[np.arange(n_rows), truth] += 1.5
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["id", "source", "label", *(f"s_{name}" for name in ANIMALS)])
        for number, (place, row) in enumerate(zip(truth, scores, strict=True)):
            lines.writerow(
                [f"{number:04}", ("web", "app")[number % 3 == 0], ANIMALS[place], *row.round(3).tolist()]
            )


def clicks(path: Path) -> None:
    """One score, and whether there was a click."""
    random = np.random.default_rng(2)
    score = random.normal(size=1000)
    click = random.random(1000) < 1 / (1 + np.exp(1 - 2 * score))
    pa_parquet.write_table(pa.table({"score": score, "click": click.astype(np.int64)}), path)


def loans(path: Path) -> None:
    """A credit score, and what became of the loan."""
    random = np.random.default_rng(3)
    default = random.random(1000) < 0.2
    score = np.rint(650 + 60 * random.normal(size=1000) - 60 * default).astype(int)
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["score", "status"])
        lines.writerows(zip(score, np.where(default, "default", "current"), strict=True))


def log(path: Path) -> None:
    """Forecasts of a hundred days; in the north more loans default than forecast from the sixtieth day on."""
    random = np.random.default_rng(4)
    n_rows = 6000
    day = np.arange(n_rows) // 60
    forecast = random.beta(2, 8, size=n_rows).round(3)
    north = random.random(n_rows) < 0.4
    odds = np.where(north & (day >= 60), 2.5, 1.0) * forecast / (1 - forecast)
    default = random.random(n_rows) < odds / (1 + odds)
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["when", "region", "p_current", "p_default", "status"])
        dates = np.datetime64("2026-01-01") + day
        regions, status = np.where(north, "north", "south"), np.where(default, "default", "current")
        lines.writerows(zip(dates, regions, (1 - forecast).round(3), forecast, status, strict=True))


def write(folder: Path) -> None:
    """Write all of them."""
    animals(folder / "scores.csv", 2000, seed=0)
    animals(folder / "new.csv", 1000, seed=1)
    clicks(folder / "clicks.parquet")
    loans(folder / "credit.csv")
    log(folder / "log.csv")
    (folder / "costs.csv").write_text(COSTS, encoding="utf-8")
    (folder / "asking.csv").write_text(f"{COSTS}ask,0.5,0.5,0.5\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
