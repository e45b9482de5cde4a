"""The figures of the home page, tutorial and guide: `python docs/figures.py` draws them into docs/figures.

They are kept as SVG, so that the README shows them too. What they draw is what the pages compute.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier, PAVCalibrator, StackCalibrator
from calibrant.codes import coupling, least_squares, normalize, one_vs_all
from calibrant.metrics import reliability_bins
from calibrant.plots import reliability_diagram, simplex_coordinates, simplex_diagram

FOLDER = Path(__file__).parent / "figures"
#: Text stays text, and equal figures are equal files.
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "calibrant", "font.size": 11, "figure.facecolor": "white"}
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"

#: The ten rows of the tutorial, by ascending score.
SCORES = np.array([0.05, 0.15, 0.25, 0.30, 0.42, 0.50, 0.61, 0.70, 0.82, 0.95])
LABELS = np.array([0, 1, 0, 0, 1, 0, 1, 1, 0, 1])
#: The row of the tutorial that is combined three ways: the answers of three columns, one for each class.
ANSWERS = np.array([[0.8, 0.6, 0.3]])
CLASSES = ("red", "amber", "green")


def home() -> Figure:
    """What naive Bayes says of handwritten digits, and what came: as it is, and calibrated."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    figure = Figure(figsize=(7.4, 3.7), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for ax, name, model in (
        (left, "naive Bayes", GaussianNB()),
        (right, "calibrated", CalibratedClassifier(GaussianNB())),
    ):
        proba = model.fit(X_train, y_train).predict_proba(X_test)
        sure, is_right = proba.max(axis=1), model.classes_[proba.argmax(axis=1)] == y_test
        bins = reliability_bins(is_right, sure, width=0.2)
        reliability_diagram(bins, ax=ax, counts=True, color=ORANGE if ax is left else BLUE)
        ax.set(title=f"{name}:\nsays {sure.mean():.0%}, is right {is_right.mean():.0%}", xlabel="it says")
    left.set(ylabel="it is right", ylim=(-0.03, 1.1))  # so that numbers of rows stay inside the frame
    right.set(ylabel="")
    return figure


def pav() -> Figure:
    """Ten rows, and the steps that pooling leaves; the same as slopes of the sum of labels."""
    figure = Figure(figsize=(7.6, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    calibrator = PAVCalibrator(clip=0).fit(SCORES, LABELS)
    grid = np.linspace(0, 1, 1001)
    left.plot(grid, calibrator.predict_proba(grid)[:, 1], color=BLUE, label="PAV")
    left.plot(SCORES, LABELS, "o", color=ORANGE, label="the ten rows")
    left.set(xlabel="score", ylabel="label, probability", title="what pooling leaves")
    left.legend(loc="upper left", bbox_to_anchor=(0.0, 0.94))
    total = np.concatenate([[0], LABELS.cumsum()])
    fitted = np.concatenate([[0], calibrator.predict_proba(SCORES)[:, 1].cumsum()])
    right.plot(total, "o-", color=ORANGE, lw=1, label="positives so far")
    right.plot(fitted, color=BLUE, label="highest convex line below")
    right.set(xlabel="rows so far", ylabel="positives so far", title="its values are slopes")
    right.legend(loc="upper left")
    return figure


def combined() -> Figure:
    """One row, combined three ways, among three classes."""
    figure = Figure(figsize=(5.6, 4.9), layout="constrained")
    ax = figure.subplots()
    simplex_diagram(classes=CLASSES, ax=ax)
    ways = {
        "normalize": (normalize(ANSWERS), BLUE, "o"),
        "least_squares": (least_squares(one_vs_all(3), ANSWERS), ORANGE, "s"),
        "coupling": (coupling(one_vs_all(3), ANSWERS), GREEN, "D"),
    }
    for name, (proba, color, mark) in ways.items():
        x, y = simplex_coordinates(proba)[0]
        said = ", ".join(f"{value:.2f}" for value in proba[0])
        ax.plot(x, y, mark, color=color, ms=8, mec="white", label=f"{name}: {said}")
    ax.legend(loc="upper left", fontsize="small", bbox_to_anchor=(-0.08, 1.04))
    return figure


def stack() -> Figure:
    """What the maps of a stack say of one score, each alone; their weights, and what they make together."""
    random = np.random.default_rng(3)
    scores = 1.5 * random.normal(size=400)
    happened = random.random(400) < _bent(scores)
    whole = StackCalibrator(kind="margin").fit(scores, happened)
    grid = np.linspace(-3.5, 3.5, 701)
    figure = Figure(figsize=(7.6, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    names = sorted(whole.weights_, key=lambda name: whole.weights_[name])
    colours = dict(zip(names, (f"C{place}" for place in range(len(names))), strict=True))
    for name in names:
        alone = StackCalibrator(members=[name], kind="margin").fit(scores, happened)
        left.plot(grid, alone.predict_proba(grid)[:, 1], color=colours[name], linewidth=1.1)
    left.plot(grid, whole.predict_proba(grid)[:, 1], color="black", linewidth=2.6, label="the stack")
    left.plot(grid, _bent(grid), color="black", linestyle=":", label="the truth")
    left.set(xlabel="score", ylabel="probability")
    left.legend(frameon=False)
    weights = [whole.weights_[name] for name in names]
    bars = right.barh(names, weights, color=[colours[name] for name in names])
    right.bar_label(bars, [f"loss {whole.losses_[name]:.3f}" for name in names], padding=3, fontsize=9)
    right.set(xlabel="weight", xlim=(0, 1.4 * max(weights)))
    return figure


def _bent(scores: np.ndarray) -> np.ndarray:
    """A chance that rises quickly, and then slowly."""
    return 1 / (1 + np.exp(-(np.where(scores > 0, 0.4, 3.0) * scores + 0.5)))


FIGURES: dict[str, Callable[[], Figure]] = {
    "home": home,
    "tutorial-pav": pav,
    "tutorial-combined": combined,
    "stack": stack,
}


def draw(folder: Path) -> None:
    """Write all figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with rc_context(STYLE):  # type: ignore[arg-type]
        for name, make in FIGURES.items():
            options: dict[str, Any] = {"metadata": {"Date": None}}
            make().savefig(folder / f"{name}.svg", **options)


if __name__ == "__main__":
    draw(FOLDER)
