"""Where data sets are looked for, and what is read from them."""

import gzip
import json

import numpy as np
import pytest

from calibrant import CalibrantError
from calibrant.experiments import _datasets
from calibrant.experiments._data_columns import CONTENTS, Contents


def write(folder, file, text):
    with gzip.open(folder / file, "wt", encoding="utf-8") as lines:
        lines.write(text)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder of our own for data, and no other."""
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(_datasets, "BESIDE", tmp_path / "nowhere")
    monkeypatch.delenv("CALIBRANT_DOWNLOAD", raising=False)
    return tmp_path


def test_the_named_folder_comes_first(data):
    write(data, "tiny.csv.gz", "a,b,class\n1,2.5,x\n3,-4,y\n")
    table = _datasets.read_numeric("tiny")
    np.testing.assert_array_equal(table.X, [[1, 2.5], [3, -4]])
    assert table.y.tolist() == ["x", "y"]


def test_then_beside_the_checkout_then_the_downloads(data, monkeypatch):
    beside, downloads = data / "beside", data / "cache" / "calibrant" / "data"
    monkeypatch.setattr(_datasets, "BESIDE", beside)
    for folder in (beside, downloads):
        folder.mkdir(parents=True)
        (folder / "iris.csv.gz").touch()
    assert _datasets.find("iris.csv.gz") == beside / "iris.csv.gz"
    (beside / "iris.csv.gz").unlink()
    assert _datasets.find("iris.csv.gz") == downloads / "iris.csv.gz"


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("nowhere.csv.gz", r"data set nowhere\.csv\.gz must be in.*it is not there.*; set CALIBRANT_DATA to"),
        (
            "iris.csv.gz",
            r"data set iris\.csv\.gz must be in.*can be downloaded: set CALIBRANT_DOWNLOAD=1, or",
        ),
    ],
)
def test_a_missing_set_is_named_with_what_to_do(data, file, message):
    with pytest.raises(CalibrantError, match=message):
        _datasets.find(file)


def test_a_data_folder_that_is_none_is_refused(data, monkeypatch):
    monkeypatch.setenv("CALIBRANT_DATA", str(data / "mistyped"))
    with pytest.raises(
        CalibrantError, match=r"CALIBRANT_DATA must name a folder; '.*mistyped' is none; correct it"
    ):
        _datasets.find("iris.csv.gz")


def test_an_unknown_set_is_refused(data):
    with pytest.raises(CalibrantError, match=r"name must be one of 'adult'.*got 'irises'"):
        _datasets.read_table("irises")


def test_names_numbers_and_what_is_missing(data, monkeypatch):
    monkeypatch.setitem(
        CONTENTS, "made-up", Contents(("colour",), dropped=("id",), positive="yes", has_test_file=True)
    )
    write(data, "made-up.train.csv.gz", "id,colour,size,class\n1,red,2,yes\n2,,,no\n3,blue,1,\n")
    write(data, "made-up.test.csv.gz", "size,id,colour,class\n.5,4,green,no.\n")
    table = _datasets.read_table("made-up")
    assert table.columns == ("colour", "size")
    assert table.nominal.tolist() == [True, False]
    assert table.values == (("blue", "green", "red"), ())
    np.testing.assert_array_equal(table.X, [[2, 2], [np.nan, np.nan], [1, 0.5]])
    assert table.y.tolist() == ["yes", "no", "no"]  # no row without a class, no full stop
    assert table.is_positive.tolist() == [True, False, False]
    split = _datasets.read_split("made-up")
    assert (len(split.train.y), len(split.test.y)) == (2, 1)


def test_two_thirds_of_every_class_are_for_training(data, monkeypatch):
    monkeypatch.setitem(CONTENTS, "made-up", Contents())
    write(
        data,
        "made-up.csv.gz",
        "a,class\n" + "".join(f"{row},{'x' if row < 30 else 'y'}\n" for row in range(90)),
    )
    first, again, other = (_datasets.read_split("made-up", seed) for seed in (0, 0, 1))
    assert (np.sum(first.train.y == "x"), np.sum(first.test.y == "x")) == (20, 10)
    assert sorted([*first.train.X[:, 0], *first.test.X[:, 0]]) == list(range(90))
    np.testing.assert_array_equal(first.train.X, again.train.X)
    assert not np.array_equal(first.train.X, other.train.X)


def test_blocks_are_not_torn_apart(data, monkeypatch):
    monkeypatch.setitem(CONTENTS, "made-up", Contents(dropped=("block",), block="block"))
    write(data, "made-up.csv.gz", "block,a,class\n" + "".join(f"{row % 9},{row},x\n" for row in range(90)))
    split = _datasets.read_split("made-up")
    assert len(set(split.train.block)) == 6
    assert not set(split.train.block) & set(split.test.block)


def real(name):
    try:
        return _datasets.read_table(name)
    except CalibrantError as error:
        pytest.skip(str(error))


#: Rows and features of the papers' sets, from the descriptions of the data.
SHAPES = {
    "adult": (48842, 14),
    "tic": (9822, 85),
    "echocardiogram": (131, 8),
    "sick": (3772, 29),
    "glass": (214, 9),
    "zoo": (101, 16),
    "hayes-roth": (160, 4),
    "vowel": (990, 10),
    "breast-cancer-wisconsin": (699, 9),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_of_the_real_sets(name):
    assert real(name).X.shape == SHAPES[name]


@pytest.mark.parametrize(
    "name", sorted(set(CONTENTS) - {"kddcup2004-bio", "connect-4", "shuttle", "nursery", "adult"})
)
def test_columns_are_typed_as_the_description_of_the_data_says(name):
    table = real(name)
    described = json.loads(_datasets.find("typing.json").read_text(encoding="utf-8"))
    described = described.get({"echocardiogram": "echocardiogram-nosurv", "tic": "tic-nom"}.get(name, name))
    if described is None:
        assert table.X.shape[1] == len(table.columns) == len(table.nominal)
        return
    assert list(described["attributes"]) == list(table.columns)
    assert described["positive"] == table.positive
    for kind, nominal, values in zip(
        described["attributes"].values(), table.nominal, table.values, strict=True
    ):
        assert (kind != "numeric") == nominal
        assert not nominal or sorted(kind) == sorted(values)
