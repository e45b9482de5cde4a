"""`calibrant fit --engine spark`: the cluster reads, the model is the same file."""

import json
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibrant._core._errors import MissingExtraError, ParameterError
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
def test_files_that_are_not_there_are_one_line(rows):
    done = process("fit", "nowhere.parquet", *FIT[2:], *SPARK, cwd=rows)
    assert (done.returncode, done.stdout) == (1, "")
    last = done.stderr.splitlines()[-1]  # the cluster has its own to say before
    assert last.startswith("calibrant: nowhere.parquet must be readable by Spark")
    assert "Traceback" not in done.stderr
    assert names_in(rows) == ["rows.parquet"]
