import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from calibrant import OneVsAllCalibrator, PAVCalibrator
from calibrant._core._errors import DataError, ParameterError
from calibrant.files import fit, labelled, open_source


def gather(rows):
    batches = list(rows())
    weight = None if batches[0].weight is None else np.concatenate([each.weight for each in batches])
    return (
        np.concatenate([each.scores for each in batches]),
        np.concatenate([each.truth for each in batches]),
        weight,
    )


def test_a_column_of_doubles_is_not_copied():
    scores = pa.array([0.1, 0.2, 0.3])
    rows = labelled(pa.table({"s": scores, "y": [0, 1, 1]}), scores="s", label="y")
    [batch] = rows()
    assert batch.scores.__array_interface__["data"][0] == scores.buffers()[1].address


@pytest.mark.parametrize("labels", [["b", "a", "b"], [3, -1, 3], [True, False, True], [1.0, 0.0, 1.0]])
def test_labels_of_any_kind_are_found_and_sorted(labels):
    rows = labelled(pa.table({"s": [1.0, 2.0, 3.0], "y": labels}), scores="s", label="y")
    assert rows.classes.tolist() == sorted(set(labels))
    assert gather(rows)[1].tolist() == [1, 0, 1]
    assert rows.n_rows == 3


def test_truth_values_are_known_however_they_are_written():
    table = pa.table({"s": [1.0, 2.0, 3.0], "y": [True, False, True]})
    rows = labelled(table, scores="s", label="y", classes=["False", "True"])
    assert gather(rows)[1].tolist() == [1, 0, 1]


@pytest.mark.parametrize("kind", [pa.float32(), pa.int64(), pa.int8(), pa.string(), pa.decimal128(21, 2)])
def test_numbers_of_any_kind_become_doubles(kind):
    column = pa.array([1, 2, 3]).cast(kind)
    rows = labelled(pa.table({"s": column, "y": [0, 1, 1]}), scores="s", label="y")
    scores = gather(rows)[0]
    assert scores.dtype == np.float64
    assert scores.tolist() == [1.0, 2.0, 3.0]


def test_several_columns_weights_and_an_order_of_classes():
    table = pa.table({"s": [1.0, 2.0], "r": [3.0, 4.0], "y": ["a", "b"], "w": [2, 0]})
    rows = labelled(table, scores=["r", "s"], label="y", weight="w", classes=["b", "a"])
    scores, position, weight = gather(rows)
    assert scores.tolist() == [[3.0, 1.0], [4.0, 2.0]]
    # Columns that are named like the classes are theirs, in whatever order they are listed.
    named = table.rename_columns(["b", "a", "y", "w"])
    for listed in (["a", "b"], ["b", "a"]):
        found = gather(labelled(named, scores=listed, label="y", weight="w", classes=["b", "a"]))[0]
        assert found.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert position.tolist() == [1, 0]
    assert weight.tolist() == [2.0, 0.0]


def test_keys_put_rows_into_folds_whatever_the_batches():
    n = 1000
    table = pa.table({"s": np.zeros(n), "y": np.arange(n) % 2, "k": np.arange(n) // 10})
    folds = [
        np.concatenate(
            [batch.folds(4) for batch in labelled(table, scores="s", label="y", key="k", batch_rows=r)()]
        )
        for r in (7, 1000)
    ]
    np.testing.assert_array_equal(*folds)
    assert (folds[0].reshape(100, 10) == folds[0][::10, None]).all()  # rows of one key are together
    assert (np.bincount(folds[0], minlength=4) > 150).all()


def bad_table():
    return pa.table(
        {
            "s": [0.1, None, np.nan, np.inf, 0.5, 0.6, 0.7, 0.8],
            "y": ["a", "a", "a", "a", None, "b", "a", "b"],
            "w": [1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 2.0, None],
            "k": [1, 2, 3, 4, 5, 6, 7, 8],
        }
    )


def test_bad_rows_can_be_left_out():
    rows = labelled(bad_table(), scores="s", label="y", weight="w", key="k", handle_invalid="skip")
    scores, position, weight = gather(rows)
    assert scores.tolist() == [0.1, 0.7]
    assert position.tolist() == [0, 0]
    assert weight.tolist() == [1.0, 2.0]
    assert rows.n_skipped == 6


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (slice(0, 2), r"the column 's' of .* must hold finite numbers; got an empty cell in row 2"),
        (slice(2, 3), r"the column 's' of .* must hold finite numbers; got nan in row 1"),
        (slice(4, 5), r"the column 'y' of .* must hold a label in every row; got none in row 1"),
        (slice(5, 6), r"the column 'w' of .* must hold weights that are not negative; got -1.0 in row 1"),
        (slice(7, 8), r"the column 'w' of .* must hold finite numbers; got an empty cell in row 1"),
    ],
)
def test_bad_rows_are_refused_with_their_place(rows, message):
    table = bad_table().slice(rows.start, rows.stop - rows.start)
    with pytest.raises(DataError, match=message):
        gather(labelled(table, scores="s", label="y", weight="w", classes=["a", "b"]))


def test_unknown_labels_and_missing_keys():
    table = pa.table({"s": [0.1, 0.2], "y": ["a", "c"], "k": [1, None]})
    with pytest.raises(DataError, match=r"must hold one of the classes a, b; got 'c' in row 2"):
        gather(labelled(table, scores="s", label="y", classes=["a", "b"]))
    with pytest.raises(
        DataError, match=r"the key column 'k' of .* must hold a key in every row; got none in row 2"
    ):
        gather(labelled(table, scores="s", label="y", key="k"))
    kept = labelled(table, scores="s", label="y", classes=["a", "b"], handle_invalid="skip")
    assert gather(kept)[0].tolist() == [0.1]
    kept = labelled(table, scores="s", label="y", key="k", handle_invalid="skip")
    assert gather(kept)[0].tolist() == [0.1]


def test_wrong_columns_and_options():
    table = pa.table({"s": [0.1, 0.2], "y": [0, 1]})
    with pytest.raises(DataError, match="must have a column 't'"):
        labelled(table, scores="t", label="y")
    with pytest.raises(ParameterError, match="handle_invalid must be one of 'error', 'skip'; got 'keep'"):
        labelled(table, scores="s", label="y", handle_invalid="keep")
    for read in (lambda rows: rows.read(), gather, lambda rows: rows.classes):
        with pytest.raises(DataError, match="must have at least one row; it has none"):
            read(labelled(table.slice(0, 0), scores="s", label="y"))
    three = pa.table({"s": [0.1] * 3, "y": [0, 1, 2]})
    with pytest.raises(DataError, match="a single score column, 's', must have two classes; got 3 labels"):
        labelled(three, scores="s", label="y").read()


def test_one_class_alone_has_a_known_partner():
    assert labelled(pa.table({"s": [0.1], "y": [1]}), scores="s", label="y").classes.tolist() == [0, 1]


@pytest.fixture
def folder(tmp_path):
    """A hundred small files, one of them empty."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3000, 3))
    position = rng.integers(0, 3, 3000)
    for part in range(100):
        some = slice(part * 30, part * 30 + 30) if part else slice(0, 0)
        columns = {f"s_{c}": scores[some, i] for i, c in enumerate("abc")}
        pq.write_table(
            pa.table(columns | {"y": np.array(list("abc"))[position[some]]}), tmp_path / f"{part:03}.parquet"
        )
    return tmp_path, scores[30:], position[30:]


def test_a_folder_of_parquet_gives_the_model_of_memory(folder):
    where, scores, position = folder
    expected = OneVsAllCalibrator("pav").fit(scores, np.array(list("abc"))[position])
    for in_passes in (True, False):
        rows = labelled(open_source(where), scores="s_*", label="y")
        fitted = fit(OneVsAllCalibrator("pav"), rows, in_passes=in_passes)
        assert fitted.classes_.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(fitted.predict_proba(scores), expected.predict_proba(scores))


def test_text_files_give_the_model_of_memory(tmp_path):
    rng = np.random.default_rng(1)
    scores, y = rng.normal(size=500), rng.integers(0, 2, 500)
    path = tmp_path / "scores.csv"
    path.write_text("score,y\n" + "".join(f"{s!r},{t}\n" for s, t in zip(scores.tolist(), y, strict=True)))
    fitted = fit("pav", labelled(path, scores="score", label="y"))
    np.testing.assert_array_equal(fitted.blocks_.value, PAVCalibrator().fit(scores, y).blocks_.value)
    assert fitted.classes_.tolist() == [0, 1]


@given(texts=st.lists(st.text("0123456789.eE+-_infa \u0663", max_size=6), min_size=1, max_size=6))
def test_a_text_is_a_number_by_itself_and_whatever_rows_are_beside_it(texts):
    """Rows that are left out are those that would be an error alone."""
    numbers = []
    for text in texts:
        try:
            alone = labelled(pa.table({"s": [text], "y": [0]}), scores="s", label="y", classes=[0, 1])
            numbers += gather(alone)[0].tolist()
        except DataError:
            pass
    table = pa.table({"s": texts, "y": [0] * len(texts)})
    rows = labelled(table, scores="s", label="y", classes=[0, 1], handle_invalid="skip")
    if not numbers:
        with pytest.raises(DataError, match="must have a row that can be used"):
            gather(rows)
        return
    assert gather(rows)[0].tolist() == numbers
    assert rows.n_skipped == len(texts) - len(numbers)


def test_labels_that_only_a_dictionary_holds_are_no_classes():
    column = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2], pa.int8()), ["b", "unused", "a"])
    rows = labelled(pa.table({"s": [1.0, 2.0, 3.0], "y": column}), scores="s", label="y")
    assert rows.classes.tolist() == ["a", "b"]
    assert gather(rows)[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize("coded", [False, True])
def test_all_rows_at_once_are_the_batches_of_a_pass(coded):
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "a": rng.normal(size=500),
            "b": rng.normal(size=500),
            "y": rng.choice(["u", "b", "a"] if coded else ["b", "a"], 500),
            "w": rng.integers(0, 3, 500),
        }
    )
    how = {"scores": "a,b", "label": "y", "weight": "w", "coded": coded, "batch_rows": 37}
    rows, passes = labelled(table, **how).read(), labelled(table, **how)
    scores, truth, weight = gather(passes)
    np.testing.assert_array_equal(rows.scores, scores)
    np.testing.assert_array_equal(rows.truth, truth)
    np.testing.assert_array_equal(rows.weight, weight)
    assert rows.classes.tolist() == passes.classes.tolist() == (["a", "b", "u"] if coded else ["a", "b"])


def test_a_sample_is_fair_always_the_same_and_knows_the_names_of_its_rows():
    n = 5000
    table = pa.table({"s": np.arange(n) * 1.0, "y": np.arange(n) % 2, "name": [f"row {i}" for i in range(n)]})
    rows = labelled(table, scores="s", label="y", by="name", batch_rows=123)
    sample = rows.sample(700)
    assert (len(sample), rows.n_read, rows.n_skipped) == (700, n, 0)
    assert (np.diff(sample.scores) > 0).all()
    assert sample.scores.mean() == pytest.approx(n / 2, rel=0.1)
    names = np.array(rows.groups)[sample.group]
    assert names.tolist() == [f"row {int(score)}" for score in sample.scores]
    again = labelled(table, scores="s", label="y", batch_rows=4000).sample(700)
    np.testing.assert_array_equal(again.scores, sample.scores)


def test_weights_that_are_all_zero_are_refused():
    table = pa.table({"s": [0.1, 0.2], "y": [0, 1], "w": [0.0, 0.0]})
    for in_passes in (True, False):
        with pytest.raises(DataError, match="the column 'w' of the table must not be all zero"):
            fit("pav", labelled(table, scores="s", label="y", weight="w"), in_passes=in_passes)
