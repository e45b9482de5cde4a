"""Zadrozny & Elkan, "Transforming classifier scores into accurate multiclass probability estimates", 2002."""

from calibrant.experiments._experiment import Experiment
from calibrant.experiments._ze02_codes import CODES_STUDY
from calibrant.experiments._ze02_figures import FIGURES
from calibrant.experiments._ze02_many_classes import TABLE4, TABLE5
from calibrant.experiments._ze02_profit import TABLE1
from calibrant.experiments._ze02_rounds import ROUNDS
from calibrant.experiments._ze02_tables import TABLE2, TABLE3

#: The tables and figures of the paper.
EXPERIMENTS: tuple[Experiment, ...] = (TABLE1, TABLE2, TABLE3, TABLE4, TABLE5, *FIGURES, ROUNDS, CODES_STUDY)
