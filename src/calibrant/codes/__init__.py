"""Code matrices, and putting the answers of their two-class problems together.

A code matrix (k, l) makes l two-class problems of one with k classes. Their calibrated answers (n, l) become
class probabilities (n, k) in one of three ways.

The matrices
    `one_vs_all`, `all_pairs`, `exhaustive`, `ordinal`, `random_dense`, `random_sparse`; `check_code` takes
    their names. `row_distances` and `min_distance` measure them, `code_findings` and `validate_code` say what
    is wrong with one of your own.
Their two-class problems
    `binary_problems` gives the rows, labels and counts of every column, `expected_answers` what a perfect
    learner would answer.
The answers put together
    `normalize` for one-vs-all; `least_squares` and `coupling` for any matrix. `solve_least_squares` and
    `solve_coupling` also report on the solution. `Normalize`, `LeastSquares` and `Coupling` are the same as
    objects, for `combine=`; `check_combiner` takes their names, `combination_for` says which suits a code.
Coupling looked at closely
    `kl_objective` is what it minimises; `noniterative_coupling` estimates it without iterating;
    `published_one_vs_all` is where the update as published ends for one-vs-all.
"""

from calibrant._core._lazy import at_home
from calibrant.codes._answers import check_column_weights as check_column_weights
from calibrant.codes._combiners import (
    COMBINER as COMBINER,
    COMBINERS as COMBINERS,
    Combiner as Combiner,
    Coupling,
    LeastSquares,
    Normalize,
    check_combiner,
    combination_for,
    combiner_kinds as combiner_kinds,
)
from calibrant.codes._coupling import CouplingResult, coupling, kl_objective, solve_coupling
from calibrant.codes._coupling_one_vs_all import OneVsAllCoupling as OneVsAllCoupling
from calibrant.codes._coupling_pairwise import PairwiseCoupling as PairwiseCoupling
from calibrant.codes._coupling_parts import KLMinimiser as KLMinimiser
from calibrant.codes._least_squares import LeastSquaresResult, least_squares, solve_least_squares
from calibrant.codes._matrices import (
    CodeMatrix as CodeMatrix,
    all_pairs,
    exhaustive,
    is_one_vs_all as is_one_vs_all,
    min_distance,
    one_vs_all,
    ordinal,
    row_distances,
)
from calibrant.codes._names import check_code, code_name as code_name
from calibrant.codes._normalize import normalize
from calibrant.codes._problems import BinaryProblem, BinaryProblems, binary_problems, expected_answers
from calibrant.codes._projection import project_on_simplex as project_on_simplex
from calibrant.codes._published import noniterative_coupling, published_one_vs_all
from calibrant.codes._random_matrices import random_dense, random_sparse
from calibrant.codes._validation import Finding, code_findings, validate_code

__all__ = [
    "BinaryProblem",
    "BinaryProblems",
    "Coupling",
    "CouplingResult",
    "Finding",
    "LeastSquares",
    "LeastSquaresResult",
    "Normalize",
    "all_pairs",
    "binary_problems",
    "check_code",
    "check_combiner",
    "code_findings",
    "combination_for",
    "coupling",
    "exhaustive",
    "expected_answers",
    "kl_objective",
    "least_squares",
    "min_distance",
    "noniterative_coupling",
    "normalize",
    "one_vs_all",
    "ordinal",
    "published_one_vs_all",
    "random_dense",
    "random_sparse",
    "row_distances",
    "solve_coupling",
    "solve_least_squares",
    "validate_code",
]

__dir__ = at_home(__name__)
