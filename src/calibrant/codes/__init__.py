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

from typing import TYPE_CHECKING

from calibrant._core._lazy import at_home, lazily

if TYPE_CHECKING:
    from calibrant.codes._answers import check_column_weights as check_column_weights
    from calibrant.codes._combiners import (
        COMBINER as COMBINER,
        COMBINERS as COMBINERS,
        Combiner as Combiner,
        Combining as Combining,
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

#: Where they are at home.
_HOME = {
    "BinaryProblem": "calibrant.codes._problems",
    "BinaryProblems": "calibrant.codes._problems",
    "COMBINER": "calibrant.codes._combiners",
    "COMBINERS": "calibrant.codes._combiners",
    "CodeMatrix": "calibrant.codes._matrices",
    "Combiner": "calibrant.codes._combiners",
    "Combining": "calibrant.codes._combiners",
    "Coupling": "calibrant.codes._combiners",
    "CouplingResult": "calibrant.codes._coupling",
    "Finding": "calibrant.codes._validation",
    "KLMinimiser": "calibrant.codes._coupling_parts",
    "LeastSquares": "calibrant.codes._combiners",
    "LeastSquaresResult": "calibrant.codes._least_squares",
    "Normalize": "calibrant.codes._combiners",
    "OneVsAllCoupling": "calibrant.codes._coupling_one_vs_all",
    "PairwiseCoupling": "calibrant.codes._coupling_pairwise",
    "all_pairs": "calibrant.codes._matrices",
    "binary_problems": "calibrant.codes._problems",
    "check_code": "calibrant.codes._names",
    "check_column_weights": "calibrant.codes._answers",
    "check_combiner": "calibrant.codes._combiners",
    "code_findings": "calibrant.codes._validation",
    "code_name": "calibrant.codes._names",
    "combination_for": "calibrant.codes._combiners",
    "combiner_kinds": "calibrant.codes._combiners",
    "coupling": "calibrant.codes._coupling",
    "exhaustive": "calibrant.codes._matrices",
    "expected_answers": "calibrant.codes._problems",
    "is_one_vs_all": "calibrant.codes._matrices",
    "kl_objective": "calibrant.codes._coupling",
    "least_squares": "calibrant.codes._least_squares",
    "min_distance": "calibrant.codes._matrices",
    "noniterative_coupling": "calibrant.codes._published",
    "normalize": "calibrant.codes._normalize",
    "one_vs_all": "calibrant.codes._matrices",
    "ordinal": "calibrant.codes._matrices",
    "project_on_simplex": "calibrant.codes._projection",
    "published_one_vs_all": "calibrant.codes._published",
    "random_dense": "calibrant.codes._random_matrices",
    "random_sparse": "calibrant.codes._random_matrices",
    "row_distances": "calibrant.codes._matrices",
    "solve_coupling": "calibrant.codes._coupling",
    "solve_least_squares": "calibrant.codes._least_squares",
    "validate_code": "calibrant.codes._validation",
}

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

__getattr__ = lazily("calibrant.codes", _HOME)
__dir__ = at_home(__name__)
