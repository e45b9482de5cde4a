"""The same fit by Spark Connect, where no part of the session is in this process."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

from calibrant.models import ScoreModel, load, to_document

NEEDED = ("grpc", "grpc_status", "google.rpc", "zstandard")


def has(module):
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def test_connect_gives_the_same_model(tmp_path):
    missing = [name for name in NEEDED if not has(name)]
    if missing:
        pytest.skip(f"Spark Connect needs {', '.join(missing)}; run: pip install 'pyspark[connect]'")
    script = Path(__file__).parent / "fit_on_connect.py"
    command = [sys.executable, script, tmp_path / "model.json", tmp_path / "saved"]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    if "connect: started" not in done.stdout:
        pytest.skip(f"Spark Connect did not start here: {done.stderr[-500:]}")
    assert done.returncode == 0, done.stderr[-4000:]
    rng = np.random.default_rng(5)
    scores = rng.normal(size=2000)
    label = (rng.random(2000) < 1 / (1 + np.exp(-scores))).astype(np.int64)
    expected = ScoreModel().fit(scores, label)
    ours = to_document(load(tmp_path / "model.json").calibrator_)["fitted"]
    assert ours == to_document(expected.calibrator_)["fitted"]
