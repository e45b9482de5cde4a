"""Reading and comparing the golden cases."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent


def golden_cases(family, op=None):
    """The cases of one golden file as pytest parameters, optionally of one operation."""
    cases = json.loads((HERE / f"{family}.json").read_text())["cases"]
    return [pytest.param(revive(case), id=case["id"]) for case in cases if op is None or case["op"] == op]


def revive(value):
    """Turn the strings "inf", "-inf" and "nan" of the golden files back into numbers."""
    if isinstance(value, dict):
        return {key: revive(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [revive(entry) for entry in value]
    return float(value) if value in ("inf", "-inf", "nan") else value


def assert_golden(got, want, tol):
    """Compare as the golden files ask: |got - want| <= tol * max(1, |want|); the rest exactly."""
    if isinstance(want, dict):
        for key in want:
            assert_golden(got[key], want[key], tol)
    elif isinstance(want, list):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            assert_golden(one, other, tol)
    elif isinstance(want, bool | str | int) or want is None:
        assert got == want
    elif math.isnan(want):
        assert np.isnan(got)
    elif math.isinf(want):
        assert got == want
    else:
        assert abs(got - want) <= tol * max(1.0, abs(want))
