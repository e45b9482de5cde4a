"""
Decisions on the simplex
========================

With three classes every forecast is a point of a triangle, and every rule of decision cuts the triangle into
regions. What moves the cuts, and what is gained by moving them?
"""

# %%
# Patients are well, to be watched, or urgent. Costs by name, first the decision, then the truth.

import numpy as np
from matplotlib import pyplot as plt

from calibrant.decisions import (
    ParallelPartitionRule,
    add_to_row,
    compare_rules,
    cost_matrix,
    decide,
    multiply_column,
    multiply_row,
)
from calibrant.plots import saving_diagram, simplex_coordinates, simplex_diagram

classes = ["well", "watch", "urgent"]
costs = {
    "well": {"well": 0, "watch": 3, "urgent": 8},
    "watch": {"well": 2, "watch": 0, "urgent": 7},
    "urgent": {"well": 4, "watch": 3, "urgent": 0},
}
cost = cost_matrix(costs, classes)
equal = 1 - np.eye(3)

# %%
# **The same wrong estimates, two cost matrices.** A naive Bayes classifier that sees one feature twice
# believes its evidence twice: probabilities p become p² / sum p². Every arrow leads from the truth to the
# estimate. If all mistakes cost the same, no decision changes, as the most probable class stays the most
# probable one. With the costs above the same errors carry points across a boundary.

right = np.random.default_rng(4).dirichlet([1.5, 1.5, 1.5], size=25)
estimate = right**2 / (right**2).sum(axis=1, keepdims=True)

fig, axes = plt.subplots(1, 2, figsize=(8.6, 4.8), layout="constrained")
for ax, name, matrix in zip(axes, ("equal costs", "our costs"), (equal, cost), strict=True):
    simplex_diagram(matrix, classes=classes, ax=ax)
    start, end = simplex_coordinates(right), simplex_coordinates(estimate)
    moved = decide(right, matrix) != decide(estimate, matrix)
    for which, color in ((~moved, "0.35"), (moved, "black")):
        ax.quiver(
            *start[which].T, *(end - start)[which].T, color=color, angles="xy", scale_units="xy", scale=1,
            width=0.009 if color == "black" else 0.004, zorder=5,
        )  # fmt: skip
    ax.set_title(f"{name}: {moved.sum()} of {len(moved)} decisions change")
fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()

# %%
# **What can be done to a cost matrix.** Adding to a row moves the boundaries of that decision parallel.
# Multiplying a column moves the point of equal risk along the line through the corner of that truth, and
# leaves the opposite side as it is. Multiplying a row turns them.

fig, axes = plt.subplots(2, 2, figsize=(8.6, 8.6), layout="constrained")
for ax, title, matrix in zip(
    axes.flat,
    (
        "our costs",
        "1 more for deciding watch",
        "mistakes about urgent at half price",
        "deciding urgent at 1.5 times the price",
    ),
    (cost, add_to_row(cost, 1, 1.0), multiply_column(cost, 2, 0.5), multiply_row(cost, 2, 1.5)),
    strict=True,
):
    simplex_diagram(matrix, classes=classes, ax=ax)
    ax.set_title(title)
fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()

# %%
# **Learning where to cut.** Now 1500 patients with timid estimates: the truth, drawn towards a third. The
# cost matrix alone cuts on the left; a rule that has seen what happened moves the cuts, parallel, to the
# place of least cost.

rng = np.random.default_rng(0)
right = rng.dirichlet([0.6, 0.6, 0.4], size=1500)
y = np.array(classes)[(rng.random(1500)[:, None] > right.cumsum(axis=1)).sum(axis=1)]
proba = right**0.5 / (right**0.5).sum(axis=1, keepdims=True)
truth = np.array([classes.index(label) for label in y])

rule = ParallelPartitionRule().fit(proba, truth, cost)
fig, axes = plt.subplots(1, 2, figsize=(8.6, 5.0), layout="constrained")
for ax, title, drawn in zip(axes, ("least expected cost", "learned"), (cost, rule), strict=True):
    simplex_diagram(drawn, proba[:250], y[:250], classes=classes, ax=ax)
    ax.set_title(title)
fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()

# %%
# **What it saves.** Every rule learns in nine tenths of the rows and decides in the last, ten times over. The
# bars are the spread of the ten, the strokes the ten themselves.

comparison = compare_rules(proba, truth, cost)
print(comparison)
saving_diagram(comparison)
plt.show()
