"""What a model file holds, for people."""

import pytest

from calibrant import CalibrantError
from calibrant.models import describe, save, to_document
from models.cases import CASES


@pytest.mark.parametrize("name", CASES)
def test_every_kind_can_be_described(name):
    document = to_document(CASES[name][0])
    found = describe(document)
    assert found.kind == document["kind"]
    assert found.n_bytes is None
    text = str(found)
    assert f"kind{' ' * (text.index(document['kind']) - 4)}{document['kind']}\n" in text
    assert "None" not in text.replace("=None", "")


def test_a_file(tmp_path):
    path = tmp_path / "model.json"
    save(CASES["model_multiclass"][0], path, date="2026-03-31")
    found = describe(path)
    assert found.n_bytes == path.stat().st_size
    assert (found.date, found.format_version) == ("2026-03-31", 1)
    assert (found.classes, found.class_type) == (("ant", "bée", "cat"), "str")
    assert (found.scores, found.n_scores) == ("one_per_class", 3)
    assert (found.calibrator, found.combine, found.rule) == (
        "one_vs_all of pav",
        "normalize",
        "lachiche_flach",
    )
    assert found.actions == found.classes
    assert found.cost[0] == (0.0, 1.0, 10.0)
    assert found.training.n_rows == 150
    lines = dict(found.lines())
    assert lines["scores"] == "one per class (3)"
    assert lines["trained on"] == "150 rows"
    assert lines["measured"] == "on 150 rows, each by one of 5 calibrators fitted to other rows"


def test_the_other_forms_of_scores():
    coded = describe(to_document(CASES["model_code"][0]))
    assert (coded.scores, coded.n_scores) == ("one_per_column_of_the_code", 3)
    assert dict(coded.lines())["rule"] == "expected"
    actions = describe(to_document(CASES["model_actions"][0]))
    assert dict(actions.lines())["decisions"] == "1, 2, 7, ask"
    assert dict(actions.lines())["rule"] == "least expected cost"
    combiner = describe(to_document(CASES["coupling"][0]))
    assert (combiner.classes, combiner.scores, combiner.training) == ((), None, None)


def test_it_is_checked_as_load_checks_it(tmp_path):
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(CalibrantError, match="model.json: the document must have the field 'format'"):
        describe(tmp_path / "model.json")
