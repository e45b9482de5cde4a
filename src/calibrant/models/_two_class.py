"""How the two-class calibrators are saved."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._fields import (
    Choice,
    Either,
    Flag,
    ListOf,
    Maybe,
    Number,
    Numbers,
    Record,
    Whole,
    Wholes,
    check_length,
)
from calibrant._core._place import Place
from calibrant.calibrators import (
    BinningCalibrator,
    Bins,
    Blocks,
    IdentityCalibrator,
    PAVCalibrator,
    SigmoidCalibrator,
)
from calibrant.calibrators._pav import _LinearMap, _StepMap
from calibrant.calibrators._steps import IntervalLookup
from calibrant.models._kinds import Kind, Kinds

PROBABILITY = Number(0.0, 1.0)
WEIGHT = Number(above=0.0)
SEED = Maybe(Whole(0, (1 << 32) - 1))


def _restore_pav(model: PAVCalibrator, fitted: dict[str, Any], at: Place, classes: Array) -> None:
    blocks = Blocks(**fitted["blocks"])
    at /= "blocks"
    _check_intervals(blocks, ("hi", "value", "weight"), at)
    if not model.laplace:
        steps = np.diff(blocks.value if model.increasing else -blocks.value)
        if (steps < 0).any():
            way = "rise" if model.increasing else "fall"
            (at / "value")[int(np.argmax(steps < 0)) + 1].fail(f"must not break the order; values must {way}")
    model.blocks_ = blocks
    model._map = _LinearMap(blocks) if model.between == "linear" else _StepMap(blocks, model.between)
    model.classes_ = classes


def _restore_sigmoid(model: SigmoidCalibrator, fitted: dict[str, Any], at: Place, classes: Array) -> None:
    del at
    model.A_, model.B_ = fitted["A"], fitted["B"]
    model.n_iter_, model.converged_ = fitted["n_iter"], fitted["converged"]
    model.classes_ = classes


def _restore_binning(model: BinningCalibrator, fitted: dict[str, Any], at: Place, classes: Array) -> None:
    bins, edges = Bins(**fitted["bins"]), fitted["edges"]
    _check_intervals(bins, ("hi", "count", "weight", "value"), at / "bins")
    check_length(edges, len(bins.lo) - 1, at / "edges", "one between every two bins")
    outside = np.flatnonzero((edges < bins.hi[:-1]) | (edges >= bins.lo[1:]))
    if len(outside):
        (at / "edges")[int(outside[0])].fail("must lie between its two bins, or on the end of the lower one")
    model.n_bins_, model.edges_, model.bins_ = fitted["n_bins"], edges, bins
    if fitted["cv_scores"] is not None:
        model.cv_scores_ = {tried["n_bins"]: tried["score"] for tried in fitted["cv_scores"]}
    model._bin = IntervalLookup(edges)
    model.classes_ = classes


def _binning_state(model: BinningCalibrator) -> dict[str, Any]:
    tried = getattr(model, "cv_scores_", None) if model.n_bins == "cv" else None
    return {
        "n_bins": model.n_bins_,
        "edges": model.edges_,
        "bins": model.bins_,
        "cv_scores": None
        if tried is None
        else [{"n_bins": n_bins, "score": score} for n_bins, score in tried.items()],
    }


def _restore_identity(model: IdentityCalibrator, fitted: dict[str, Any], at: Place, classes: Array) -> None:
    del fitted, at
    model.classes_ = classes


def _check_intervals(intervals: Blocks | Bins, columns: tuple[str, ...], at: Place) -> None:
    """Columns of one length; intervals that do not touch, in ascending order."""
    for name in columns:
        check_length(getattr(intervals, name), len(intervals.lo), at / name, "as lo has")
    inverted = np.flatnonzero(intervals.hi < intervals.lo)
    if len(inverted):
        (at / "hi")[int(inverted[0])].fail("must not be below lo at the same place")
    touching = np.flatnonzero(intervals.lo[1:] <= intervals.hi[:-1])
    if len(touching):
        (at / "lo")[int(touching[0]) + 1].fail("must be above hi at the place before")


PAV = Kind(
    name="pav",
    type=PAVCalibrator,
    parameters=Record(
        between=Choice("nearest", "linear", "average", "lower", "upper"),
        increasing=Flag(),
        clip=Maybe(Number(0.0, below=0.5)),
        laplace=Flag(),
    ),
    fitted=Record(
        blocks=Record(
            lo=Numbers(least_length=1),
            hi=Numbers(least_length=1),
            value=Numbers(PROBABILITY, least_length=1),
            weight=Numbers(WEIGHT, least_length=1),
        )
    ),
    mark="blocks_",
    state=lambda model: {"blocks": model.blocks_},
    restore=_restore_pav,
)

SIGMOID = Kind(
    name="sigmoid",
    type=SigmoidCalibrator,
    parameters=Record(smooth=Flag(), transform=Choice("identity", "logit"), max_iter=Whole(1)),
    fitted=Record(A=Number(), B=Number(), n_iter=Whole(0), converged=Flag()),
    mark="A_",
    state=lambda model: {
        "A": model.A_,
        "B": model.B_,
        "n_iter": model.n_iter_,
        "converged": model.converged_,
    },
    restore=_restore_sigmoid,
)

BINNING = Kind(
    name="binning",
    type=BinningCalibrator,
    parameters=Record(
        n_bins=Either(Whole(1), Choice("cv")),
        smoothing=Maybe(Choice("laplace", "m")),
        m=Number(0.0),
        base=Maybe(PROBABILITY),
        candidates=Maybe(ListOf(Whole(1), least=1)),
        cv=Whole(2),
        random_state=SEED,
    ),
    fitted=Record(
        n_bins=Whole(1),
        edges=Numbers(),
        bins=Record(
            lo=Numbers(least_length=1),
            hi=Numbers(least_length=1),
            count=Wholes(1),
            weight=Numbers(WEIGHT, least_length=1),
            value=Numbers(PROBABILITY, least_length=1),
        ),
        cv_scores=Maybe(ListOf(Record(n_bins=Whole(1), score=Number()))),
    ),
    mark="bins_",
    state=_binning_state,
    restore=_restore_binning,
)

IDENTITY = Kind(
    name="identity",
    type=IdentityCalibrator,
    parameters=Record(),
    fitted=Record(),
    mark="classes_",
    state=lambda model: {},  # noqa: ARG005
    restore=_restore_identity,
)

TWO_CLASS = Kinds([PAV, SIGMOID, BINNING, IDENTITY])
