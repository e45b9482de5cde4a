"""Documents as text."""

import json
import math

from hypothesis import given, strategies as st

from calibrant.models._text import checksum_of, to_text

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(st.text(max_size=5), plain, max_size=4)


def same(one, other):
    """Equal, with the same types and the same sign of zero."""
    return repr(one) == repr(other)


@given(documents)
def test_a_document_comes_back_exactly(document):
    assert same(json.loads(to_text(document)), document)


@given(documents)
def test_the_checksum_is_of_the_contents_and_not_of_their_form(document):
    reordered = dict(reversed(document.items()))
    assert checksum_of(json.loads(json.dumps(reordered, indent=3))) == checksum_of(document)
    assert checksum_of(document | {"checksum": "x"}) == checksum_of({**document, "checksum": "y"})


def test_numbers_that_others_write_otherwise_have_the_same_checksum():
    assert checksum_of({"a": [1.0, -0.0, 1e20, 123456789012345683968.0]}) == checksum_of(
        {"a": [1, 0, 100000000000000000000, 123456789012345680000]}
    )
    assert checksum_of({"a": 1.0}) != checksum_of({"a": math.nextafter(1.0, 2.0)})
    assert checksum_of({"a": True}) != checksum_of({"a": 1})
    assert checksum_of({"a": "1"}) != checksum_of({"a": 1})


def test_lists_of_numbers_stand_in_one_line_and_small_objects_too():
    document = {
        "name": "ü",
        "numbers": [0.1] * 30,
        "small": {"a": 1, "b": [1, 2]},
        "rows": [[1, 2], [3, 4]],
        "none": {},
    }
    assert to_text(document).splitlines() == [
        "{",
        '  "name": "ü",',
        f'  "numbers": {[0.1] * 30},',
        '  "small": {"a": 1, "b": [1, 2]},',
        '  "rows": [',
        "    [1, 2],",
        "    [3, 4]",
        "  ],",
        '  "none": {}',
        "}",
    ]
