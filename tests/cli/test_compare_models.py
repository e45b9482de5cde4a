"""`calibrant compare OLD NEW SCORES`: the test of the library, as a table, as JSON, in a line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from calibrant import BinningCalibrator, SigmoidCalibrator, save
from calibrant.files import compare_versions
from cli.calling import here, process


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("versions")
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3, 2000))
    y = np.where(rng.random((3, 2000)) < 1 / (1 + np.exp(-2 * scores)), "yes", "no")
    save(BinningCalibrator(n_bins=3).fit(scores[0], y[0]), folder / "old.json")
    save(SigmoidCalibrator().fit(scores[1], y[1]), folder / "new.json")
    pa_csv.write_csv(pa.table({"score": scores[2], "y": y[2]}), folder / "data.csv")
    (folder / "costs.csv").write_text("decision,no,yes\nno,0,5\nyes,1,0\n")
    return folder


def test_the_table_and_json_say_what_the_library_says(folder):
    found = compare_versions(
        folder / "old.json",
        folder / "new.json",
        folder / "data.csv",
        label="y",
        costs=str(folder / "costs.csv"),
    )
    call = ("compare", "old.json", "new.json", "data.csv", "--label", "y", "--costs", "costs.csv")
    said = here(*call, cwd=folder).stdout
    for each in found.measures:
        assert str(each.difference) in said
    assert " ".join(said.split()).endswith(found.conclusion)
    shown = json.loads(here(*call, "--json", cwd=folder).stdout)
    assert shown["choice"] == found.choice == "new"
    assert [each["difference"] for each in shown["measures"]] == [each.difference for each in found.measures]
    assert shown["conclusion"] == found.conclusion


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("old.json", "data.csv", "--label", "y"), "SCORES must be one file, or there must be the models"),
        (("old.json", "new.json", "data.csv", "--label", "y", "--cv", "3"), "--cv is for one file"),
        (("data.csv", "--label", "y", "--costs", "costs.csv"), "--costs is for two models"),
        (("data.csv", "--label", "y"), "--scores must name the columns of scores"),
    ],
)
def test_what_does_not_go_together_is_one_line(folder, arguments, said):
    done = process("compare", *arguments, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
