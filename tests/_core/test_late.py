"""What is imported when it is used."""

import json

import pytest

from calibrant._core._late import _Late


def test_a_module_that_is_not_there_is_replaced_by_the_next():
    assert _Late("json", "math").dumps is json.dumps
    assert _Late("calibrant._no_such_module", "json").dumps is json.dumps


def test_the_last_must_be_there():
    with pytest.raises(ModuleNotFoundError, match="calibrant._no_such_module"):
        _Late("calibrant._no_such_module").name  # noqa: B018
