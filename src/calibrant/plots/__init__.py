"""Figures of what `metrics`, the calibrators and the rules return. Needs matplotlib (extra `plots`).

=======================  ===============================================================================
can it be believed?      `reliability_diagram`, with bins and without; `calibration_map`: what was learned
how well does it rank?   `roc_diagram`, `detection_diagram`
ranked scores            `accuracy_heatmap`
probing                  `probing_ladder`, `probing_convergence`
decisions                `simplex_diagram`, three classes; `simplex_coordinates` to draw more into it
which one to take?       `saving_diagram` of rules, `ranking_diagram` of methods
does it stay so?         `monitor_chart`: evidence and estimates over time, with the alarms
=======================  ===============================================================================

Every one draws on `ax`, or on a new figure, and gives the axes back; nothing is computed that is not drawn.
`reliability_diagram`, `roc_diagram` and `detection_diagram` also take labels and probabilities, and have
``from_predictions`` and ``from_estimator`` as the displays of scikit-learn.
Curves can share axes: each is given another colour, marker and line, which can be told apart in grey.
"""

from calibrant._core._lazy import at_home
from calibrant.plots._calibration_map import calibration_map
from calibrant.plots._comparisons import ranking_diagram, saving_diagram
from calibrant.plots._heatmap import accuracy_heatmap
from calibrant.plots._monitor import monitor_chart
from calibrant.plots._probing import probing_convergence, probing_ladder
from calibrant.plots._ranking_curves import detection_diagram, roc_diagram
from calibrant.plots._reliability import reliability_diagram
from calibrant.plots._simplex import simplex_diagram
from calibrant.plots._triangle import simplex_coordinates

__all__ = [
    "accuracy_heatmap",
    "calibration_map",
    "detection_diagram",
    "monitor_chart",
    "probing_convergence",
    "probing_ladder",
    "ranking_diagram",
    "reliability_diagram",
    "roc_diagram",
    "saving_diagram",
    "simplex_coordinates",
    "simplex_diagram",
]

__dir__ = at_home(__name__)
