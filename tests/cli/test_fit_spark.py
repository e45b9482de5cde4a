"""`calibrant fit --engine spark`: the cluster reads, the model is the same file."""

import json
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibrant._core._errors import MissingExtraError, ParameterError
from calibrant.models import load
from cli.calling import here, names_in, process

FIT = ("fit", "rows.parquet", "--label", "y", "--scores", "score", "--out", "m.json")
SPARK = ("--engine", "spark", "--master", "local[2]")
#: More rows than the driver takes for itself.
MANY = 150_000


@pytest.fixture
def rows(tmp_path):
    write_rows(tmp_path, 2000)
    return tmp_path


def write_rows(folder, n):
    rng = np.random.default_rng(0)
    score = rng.normal(size=n).round(2 if n < MANY else 9)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no").tolist()
    pa_parquet.write_table(pa.table({"score": score, "y": y, "id": np.arange(n)}), folder / "rows.parquet")


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (("--engine", "spark"), "--engine spark and --master must come together"),
        (("--master", "local"), "--engine spark and --master must come together"),
        ((*SPARK, "--in-memory"), "--engine spark works in passes; got --in-memory"),
    ],
)
def test_options_that_do_not_fit(rows, extra, said):
    with pytest.raises(ParameterError, match=said):
        here(*FIT, *extra, cwd=rows)


@pytest.mark.skipif(find_spec("pyspark") is not None, reason="pyspark is installed")
def test_without_spark_the_line_that_installs_it(rows):
    with pytest.raises(MissingExtraError, match=r"package pyspark; .* run: pip install 'calibrant\[spark\]'"):
        here(*FIT, *SPARK, cwd=rows)
    assert names_in(rows) == ["rows.parquet"]


@pytest.mark.skipif(find_spec("pyspark") is None, reason="pip install 'calibrant[spark]'")
@pytest.mark.parametrize("n", [2000, MANY], ids=["on the driver", "on executors"])
def test_the_model_is_that_of_memory(rows, n):
    write_rows(rows, n)
    here(*FIT, "--in-memory", cwd=rows)
    memory = json.loads((rows / "m.json").read_text())
    done = process(*FIT, *SPARK, "--json", cwd=rows)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["in_passes"]
    cluster = json.loads((rows / "m.json").read_text())
    for document in (memory, cluster):
        for name in ("metrics", "n_folds", "n_measured"):
            document["training"].pop(name)
        document.pop("checksum")
    assert cluster == memory


@pytest.mark.skipif(find_spec("pyspark") is None, reason="pip install 'calibrant[spark]'")
def test_scores_that_point_the_wrong_way_and_classes_that_never_occur(rows):
    table = pa_parquet.read_table(rows / "rows.parquet")
    score = table["score"].to_numpy()
    turned = {"score": -score, "no": -score, "yes": score, "id": score, "y": table["y"]}
    pa_parquet.write_table(pa.table(turned), rows / "rows.parquet")
    done = process(*FIT, *SPARK, cwd=rows)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("pass --positive no if a high score stands for 'no'")
    caught = process(
        "fit", "rows.parquet", "--label", "y", "--scores", "no,yes,id", *FIT[-2:], *SPARK, cwd=rows
    )
    assert caught.returncode == 1
    assert "got 'id' of rows.parquet, and no row has the label 'id'" in caught.stderr.splitlines()[-1]
    assert names_in(rows) == ["rows.parquet"]
    here(*FIT, "--in-passes", "--positive", "no", cwd=rows)
    passes = load(rows / "m.json")
    done = process(*FIT, *SPARK, "--positive", "no", cwd=rows)
    assert done.returncode == 0, done.stderr
    cluster = load(rows / "m.json")
    assert cluster.classes_.tolist() == passes.classes_.tolist() == ["yes", "no"]
    np.testing.assert_array_equal(cluster.predict_proba(score), passes.predict_proba(score))


@pytest.mark.skipif(find_spec("pyspark") is None, reason="pip install 'calibrant[spark]'")
def test_files_that_are_not_there_are_one_line(rows):
    done = process("fit", "nowhere.parquet", *FIT[2:], *SPARK, cwd=rows)
    assert (done.returncode, done.stdout) == (1, "")
    last = done.stderr.splitlines()[-1]  # the cluster has its own to say before
    assert last.startswith("calibrant: nowhere.parquet must be readable by Spark")
    assert "Traceback" not in done.stderr
    assert names_in(rows) == ["rows.parquet"]


@pytest.mark.skipif(find_spec("pyspark") is None, reason="pip install 'calibrant[spark]'")
def test_a_damaged_file_is_named_in_one_line(rows):
    for name in ("one", "two"):
        write_rows(rows, 2000)
        (rows / "folder").mkdir(exist_ok=True)
        (rows / "rows.parquet").rename(rows / "folder" / f"{name}.parquet")
    damaged = rows / "folder" / "two.parquet"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:300] + bytes(len(whole) - 2000) + whole[-1700:])
    done = process("fit", "folder", *FIT[2:], *SPARK, cwd=rows)
    assert (done.returncode, done.stdout) == (1, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("calibrant: folder must be readable by Spark")
    assert "two.parquet" in last
    assert len(last) < 500
    assert names_in(rows) == ["folder"]


@pytest.mark.skipif(find_spec("pyspark") is None, reason="pip install 'calibrant[spark]'")
def test_an_interruption_leaves_nothing(rows):
    write_rows(rows, 4_000_000)
    command = [sys.executable, "-m", "calibrant", *FIT, *SPARK]
    with (rows / "stderr").open("w") as stderr:
        running = subprocess.Popen(
            command, cwd=rows, stdout=subprocess.PIPE, stderr=stderr, text=True, start_new_session=True
        )
    try:
        started = time.monotonic()
        while "Spark log level" not in (rows / "stderr").read_text() and time.monotonic() < started + 60:
            time.sleep(0.1)
        time.sleep(1.5)  # the session is there, and the fit is under way
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=60)
    finally:
        running.kill()
    said = (rows / "stderr").read_text()
    assert (running.returncode, out) == (130, ""), said[-1000:]
    assert "Traceback" not in said.splitlines()[-1]
    assert "fault of calibrant" not in said
    assert names_in(rows) == ["rows.parquet", "stderr"]


@pytest.mark.skipif(find_spec("pyspark") is None, reason="pip install 'calibrant[spark]'")
def test_groups_are_those_of_passes_here_but_for_the_folds(rows):
    rng = np.random.default_rng(1)
    region, score = rng.integers(0, 5, 2000), rng.normal(size=2000)
    y = np.where(rng.random(2000) < 1 / (1 + np.exp(-score - (region - 2))), "yes", "no")
    names = [None if each == 4 else f"r{each}" for each in region]
    pa_parquet.write_table(
        pa.table({"score": score, "y": y.tolist(), "region": names}), rows / "rows.parquet"
    )
    here(*FIT, "--by", "region", "--in-passes", cwd=rows)
    passes = load(rows / "m.json")
    done = process(*FIT, "--by", "region", *SPARK, cwd=rows)
    assert done.returncode == 0, done.stderr
    assert "The 4 groups of region differ beyond chance" in " ".join(done.stdout.split())
    cluster = load(rows / "m.json")
    assert (cluster.groups_.column, set(cluster.groups_.names)) == ("region", set(passes.groups_.names))
    by = np.array(names, dtype=object)
    difference = np.abs(cluster.predict_proba(score, by=by) - passes.predict_proba(score, by=by))
    # Folds are told by what is in the rows there, and by their numbers here.
    assert difference.mean() < 0.01
    assert difference.max() < 0.05
