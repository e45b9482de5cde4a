"""A law is a check and the cases that it must stand; a case is plain data, so that it can be kept as JSON."""

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings, strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from calibrant import CalibrantError

#: Where broken laws leave the smallest case that broke them; the tests try all of these again.
FAILURES = Path(__file__).parent / "failures"
#: The laws by name.
LAWS: dict[str, "Law"] = {}


@dataclass(frozen=True)
class Law:
    """What must hold for all cases of a kind."""

    family: str
    name: str
    check: Callable[..., None]
    cases: st.SearchStrategy[dict[str, Any]]
    few: int
    """How many cases are a short run."""


@dataclass(frozen=True)
class Failure:
    """The smallest case found that breaks a law."""

    law: Law
    case: dict[str, Any]
    error: BaseException

    def keep(self, folder: Path = FAILURES) -> Path:
        """Write the case down, so that the tests try it from now on."""
        told = {"law": self.law.name, "error": what_went_wrong(self.error)}
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in told.items()]
        case = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in self.case.items()]
        lines.append('"case": {\n' + ",\n".join(case) + "\n}")
        name = hashlib.sha256(json.dumps(self.case, sort_keys=True).encode()).hexdigest()[:8]
        path = folder / f"{self.law.name}-{name}.json"
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return path


def what_went_wrong(error: BaseException) -> str:
    """One line of an error."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


class Refused(Exception):  # noqa: N818  (nothing went wrong)
    """The library has said no, and may."""


@contextmanager
def may_refuse(allowed: bool) -> Iterator[None]:
    """A case so extreme that a clear refusal is as good as the right answer; others must be answered."""
    try:
        yield
    except CalibrantError as error:
        if not allowed:
            raise
        raise Refused from error


def law(family: str, *, few: int = 40, **arguments: st.SearchStrategy[Any]) -> Callable[..., Any]:
    """Make a check a law of a family: its arguments are drawn from these strategies of plain data."""

    def register(check: Callable[..., None]) -> Callable[..., None]:
        name = check.__name__
        same = LAWS.get(name)  # pytest imports modules twice
        assert same is None or same.check.__wrapped__.__code__ == check.__code__, f"two laws named {name}"

        @wraps(check)
        def checked(**case: Any) -> None:
            with suppress(Refused), warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", UserWarning)  # what the library has to say
                check(**case)

        LAWS[name] = Law(family, name, checked, st.fixed_dictionaries(arguments), few)
        return check

    return register


def search(
    tried: Law, examples: int, number: int, shrink_seconds: float = 60.0
) -> tuple[int, Failure | None]:
    """Try a law on some cases, always the same for a number; count them, and find the least that breaks it.

    A case that breaks the law is made smaller for a while. When the time is over, all others pass, so that
    the search ends; hypothesis then calls the check flaky, which it is not, and is not heard.
    """
    count, broken, stop = 0, None, float("inf")

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(tried.cases)
    def trial(case: dict[str, Any]) -> None:
        nonlocal count, broken, stop
        if time.monotonic() > stop:
            return
        count += 1
        case = json.loads(json.dumps(case))  # what is kept is what was tried
        try:
            tried.check(**case)
        except UnsatisfiedAssumption:
            raise
        except Exception as error:
            if broken is None:
                stop = time.monotonic() + shrink_seconds
            broken = Failure(tried, case, error)
            raise

    try:
        trial()
    except Exception:
        if broken is None:
            raise
    return count, broken


def kept_cases(folder: Path = FAILURES) -> list[Path]:
    """The cases that have broken a law once."""
    return sorted(folder.glob("*.json"))


def try_again(path: Path) -> None:
    """Try a kept case."""
    kept = json.loads(path.read_text())
    LAWS[kept["law"]].check(**kept["case"])
