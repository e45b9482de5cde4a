"""The experiments of all papers."""

from calibrant.experiments import _lz05, _ogg, _tto, _ze02
from calibrant.experiments._experiment import Experiment


def all_experiments() -> dict[str, Experiment]:
    """Every table and figure that can be recomputed."""
    papers = (_ze02, _lz05, _ogg, _tto)
    return {experiment.name: experiment for paper in papers for experiment in paper.EXPERIMENTS}
