"""Documents as text: numbers that come back exactly, one line per list, and a checksum of the contents."""

import hashlib
import json
from typing import Any

#: Objects and lists that fit into a line stand in one.
LINE = 100


def to_text(document: dict[str, Any]) -> str:
    """Write a document for machines and for people: fields on lines of their own, lists of numbers on one.

    The same document gives the same text. Floats have as few digits as bring them back exactly.
    """
    return _pretty(document, "") + "\n"


def _pretty(value: Any, indent: str) -> str:
    if _is_flat(value) or (isinstance(value, dict) and all(map(_is_flat, value.values()))):
        line = _dump(value)
        if isinstance(value, list) or len(indent) + len(line) <= LINE:
            return line
    deeper = indent + "  "
    if isinstance(value, dict):
        items = [f"{deeper}{_dump(name)}: {_pretty(each, deeper)}" for name, each in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    items = [deeper + _pretty(each, deeper) for each in value]
    return "[\n" + ",\n".join(items) + f"\n{indent}]"


def _is_flat(value: Any) -> bool:
    """Whether it is a scalar, empty, or holds scalars alone."""
    if not isinstance(value, dict | list):
        return True
    return not any(
        isinstance(each, dict | list) for each in (value.values() if isinstance(value, dict) else value)
    )


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def checksum_of(document: dict[str, Any]) -> str:
    """The SHA-256 of the contents, whatever their form: spaces, order of fields, 1 or 1.0."""
    contents = {name: value for name, value in document.items() if name != "checksum"}
    text = json.dumps(_canonical(contents), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    """The same contents, each number in one form only.

    Other languages write 1.0 as 1, and large whole numbers with fewer digits than they have.
    """
    if isinstance(value, dict):
        return {name: _canonical(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_canonical(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and abs(value) > 1 << 53:
        return int(float(value))
    return value
