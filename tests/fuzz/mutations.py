"""Damage to bytes, as plain data: a list of edits."""

from typing import Any

from hypothesis import strategies as st

#: Bytes that mean something to somebody.
TELLING = [0x00, 0xFF, 0x7F, 0x80, 0x0A, 0x22, 0x2C, 0x30]
#: Four bytes at once: sizes and offsets set to extremes.
WORDS = ["ffffff7f", "ffffffff", "00000080", "00000000", "01000000", "ffff0000"]

#: One edit: what is done, where (counted from the end if negative), and with what.
EDITS = st.one_of(
    st.tuples(st.just("bit"), st.integers(-600, 600) | st.integers(0, 10_000), st.integers(0, 7)),
    st.tuples(st.just("byte"), st.integers(-600, 600), st.sampled_from(TELLING) | st.integers(0, 255)),
    st.tuples(st.just("word"), st.integers(-2000, 2000), st.sampled_from(WORDS)),
    st.tuples(st.just("insert"), st.integers(-600, 600), st.integers(0, 255)),
    st.tuples(st.just("delete"), st.integers(-600, 600), st.sampled_from([1, 2, 8, 64])),
    st.tuples(st.just("repeat"), st.integers(-600, 600), st.sampled_from([1, 8, 64])),
    st.tuples(st.just("truncate"), st.integers(0, 10_000), st.none()),
)
DAMAGE = st.lists(EDITS, min_size=1, max_size=3)


def damaged(content: bytes, edits: list[Any]) -> bytes:
    """The content after some edits."""
    for kind, where, how in edits:
        changed = bytearray(content)
        at = where % (len(changed) or 1)
        if kind == "truncate":
            del changed[at:]
        elif kind == "insert":
            changed.insert(at, how)
        elif kind == "delete":
            del changed[at : at + how]
        elif kind == "repeat":
            changed[at:at] = changed[at : at + how]
        elif kind == "word":
            changed[at : at + 4] = bytes.fromhex(how)[: len(changed) - at]
        elif changed:
            changed[at] = changed[at] ^ 1 << how if kind == "bit" else how
        content = bytes(changed)
    return content
