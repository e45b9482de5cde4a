"""A fitted model as one Python module that needs nothing but the standard library."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from calibrant.maps import Chain, Loop, Step, n_uses
from calibrant.models._formulas import chain_of
from calibrant.models._labels_out import plain_labels

#: Nothing longer, or nested deeper, stands inside something else.
LONGEST, DEEPEST = 160, 12
BINARY = {"+", "-", "*", "/", ">", ">=", "<="}

MODULE = '''\
"""Scores to probabilities{and_decisions}, by a model of calibrant {version}, with the standard library alone.

`probabilities(scores)` gives a list for every row, one number per class of CLASSES{says_decide}
{rows}
"""

from bisect import bisect_left
from math import exp, floor, inf, log, sqrt

#: The classes, in the order of the probabilities{of_actions}.
CLASSES = {classes}
{actions}#: What every score of a row must lie between.
LIMITS = {limits}


def probabilities(scores):
    """Give the probabilities of the classes for every row of scores."""
    return [_row(*row)[0] for row in _checked(scores)]

{decide}
def _checked(scores):
    for number, row in enumerate(scores):
        {as_tuple}
        if len(row) != len(LIMITS):
            raise ValueError(f"a row must have {{len(LIMITS)}} scores; row {{number}} has {{len(row)}}")
        for score, (low, high) in zip(row, LIMITS):
            if not low <= score <= high:
                message = f"scores must lie between {{low}} and {{high}}; got {{score}} in row {{number}}"
                raise ValueError(message)
        yield row


def _exp(x):
    return exp(x if x < 709.0 else 709.0)


def _log(x):
    return log(x) if x > 0.0 else -inf


{tables}
def _row({arguments}):
{lines}
'''
DECIDE = '''
def decide(scores):
    """Give the decision of every row of scores."""
    return [ACTIONS[_row(*row)[1]] for row in _checked(scores)]

'''


def to_python(model: Any) -> str:
    """Write a fitted model as a Python module without dependencies.

    Parameters
    ----------
    model : ScoreModel or calibrator
        The fitted model.

    Returns
    -------
    str
        The source of a module. Its function ``probabilities(scores)`` gives a list of probabilities for every
        row, and ``decide(scores)``, which a `ScoreModel` has, a label. A row is a number where the model
        takes one score, and else a sequence of numbers. What the library refuses raises a ValueError.

    Raises
    ------
    ExportError
        If a part of the model cannot be written: combinations and rules of one's own, and
        calibrators that are not methods of the registry.

    See Also
    --------
    export : The same, written to a file.

    Notes
    -----
    Labels stand in the module as quoted values, whatever they hold; no text of the model becomes code.

    Examples
    --------
    >>> from calibrant import ScoreModel
    >>> from calibrant.models import to_python
    >>> module = {}
    >>> exec(to_python(ScoreModel().fit([-2, -1, 1, 2], [0, 1, 0, 1])), module)
    >>> [[round(p, 2) for p in row] for row in module["probabilities"]([-2, 1])]
    [[0.67, 0.33], [0.41, 0.59]]
    """
    chain = chain_of(model, "Python", loops=True)
    one, decides = chain.program.n_columns == 1, chain.decision is not None
    printer = _Printer(chain)
    actions = plain_labels(model.actions_, "Python") if decides else []
    return MODULE.format(
        version=version("calibrant"),
        and_decisions=" and decisions" if decides else "",
        says_decide=",\nand `decide(scores)` a label of ACTIONS." if decides else ".",
        rows="A row is one score." if one else f"A row is a sequence of {chain.program.n_columns} scores.",
        of_actions=", and what is decided" if decides else "",
        classes=_listed(plain_labels(model.classes_, "Python")),
        actions=f"ACTIONS = {_listed(actions)}\n" if decides else "",
        limits=_listed(chain.program.limits),
        decide=DECIDE if decides else "",
        as_tuple="row = tuple(row) if hasattr(row, '__len__') else (row,)",
        tables="".join(f"{name} = {_listed(values)}\n" for name, values in printer.tables()) + "\n",
        arguments=", ".join(f"s{column}" for column in range(chain.program.n_columns)),
        lines="\n".join(f"    {line}" for line in printer.lines),
    )


def _listed(values: list[Any]) -> str:
    """A tuple as it is written: text is quoted, with nothing but ASCII."""
    return f"({', '.join(map(ascii, values))}{',' * (len(values) == 1)})"


class _Printer:
    """The steps of a chain as lines of Python."""

    def __init__(self, chain: Chain) -> None:
        self.lines: list[str] = []
        self._margin = ""
        self._tables: dict[bytes, tuple[str, list[float]]] = {}
        self._text: dict[Step, str] = {}
        self._depth: dict[Step, int] = {}
        self._print(chain.results)
        decision = "None" if chain.decision is None else self._text[chain.decision]
        self._say(f"return [{self._listed(chain.proba)}], {decision}")

    def _say(self, line: str) -> None:
        self.lines.append(self._margin + line)

    def _listed(self, steps: Sequence[Step]) -> str:
        return ", ".join(self._text[step] for step in steps)

    def _print(self, results: Sequence[Step]) -> None:
        """Lines for all that results need, and is not there yet."""
        for step, uses in n_uses(results).items():
            if step in self._text:
                continue
            text, depth = self._printed(step), 1 + max((self._depth[each] for each in step.inputs), default=0)
            plain = step.operator in ("score", "number", "loop", "result")
            if not plain and (uses > 1 or len(text) > LONGEST or depth > DEEPEST):
                name = f"x{len(self.lines)}"
                self._say(f"{name} = {text}")
                text = name
            self._text[step], self._depth[step] = text, 0 if text.isidentifier() else depth

    def _loop(self, step: Step) -> str:
        """Lines for a loop; it is known by the beginning of the names of its numbers."""
        loop: Loop = step.value
        start = f"y{len(self.lines)}_"
        names = [f"{start}{number}" for number in range(len(loop.inside))]
        self._text |= dict(zip(loop.inside, names, strict=True))
        self._depth |= dict.fromkeys(loop.inside, 0)
        self._say(f"{', '.join(names)}, = {self._listed(step.inputs[: len(names)])},")
        self._say(f"for _ in range({loop.most}):")
        self._margin += "    "
        self._print((*loop.after, loop.goes_on))
        self._say(f"{', '.join(names)}, goes_on = {self._listed((*loop.after, loop.goes_on))}")
        self._say("if not goes_on:")
        self._say("    break")
        self._margin = self._margin[4:]
        return start

    def tables(self) -> list[tuple[str, list[float]]]:
        """The tables and their names."""
        return list(self._tables.values())

    def _printed(self, step: Step) -> str:  # noqa: C901, PLR0911  (one for each operator)
        texts = [self._text[each] for each in step.inputs]
        match step.operator:
            case "score":
                return f"s{step.value}"
            case "number":
                return repr(step.value) if step.value >= 0 else f"({step.value!r})"
            case "loop":
                return self._loop(step)
            case "result":
                return f"{texts[0]}{step.value}"
            case "choose":
                return f"({texts[1]} if {texts[0]} else {texts[2]})"
            case "place":
                return f"bisect_left({self._table(step.value)}, {texts[0]})"
            case "take":
                return f"{self._table(step.value)}[{texts[0]}]"
            case "=":
                return f"({texts[0]} == {texts[1]})"
            case "exp" | "log":
                return f"_{step.operator}({texts[0]})"
            case operator if operator in BINARY:
                return f"({texts[0]} {operator} {texts[1]})"
            case operator:
                return f"{operator}({', '.join(texts)})"

    def _table(self, values: Any) -> str:
        key = np.asarray(values).tobytes()
        return self._tables.setdefault(key, (f"T{len(self._tables)}", values.tolist()))[0]
