"""Write a code matrix."""

from calibrant._core._errors import ParameterError
from calibrant.codes import check_code
from calibrant.files import code_table, open_sink


def run(name: str, classes: list[str], random_state: int, out: str) -> None:
    """Make the matrix, and write it as a table."""
    if len(classes) < 2:
        raise ParameterError(f"--classes must be two labels or more; got {', '.join(classes) or 'none'}")
    table = code_table(check_code(name, len(classes), random_state=random_state), classes)
    with open_sink(out) as sink:
        for batch in table.to_batches():
            sink.write(batch)
