"""Write the golden model files of version 1, once, and the schema: `python tests/models/golden/write_v1.py`.

They stand for the files that users have. A file that exists is left as it is: if a change makes one of them
load or predict otherwise, then it is the change that is wrong. Methods of the registry need not be named
below.
"""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent / "v1"
SCHEMA = Path(__file__).parents[3] / "src" / "calibrant" / "models" / "schemas" / "v1.json"
NAMES = [
    "pav",
    "pav_linear",
    "sigmoid",
    "binning",
    "binning_cv",
    "identity",
    "one_vs_all",
    "code",
    "code_constant",
    "accuracy_table_aic",
    "accuracy_table_nan",
    "ranked_logistic",
    "ranked_logistic_shared",
    "normalize",
    "least_squares",
    "coupling",
    "expected",
    "parallel",
    "parallel_free",
    "lachiche_flach",
    "mossman",
    "model_binary",
    "model_binary_cost",
    "model_multiclass",
    "model_ranked",
    "model_actions",
    "model_code",
    "parallel_actions",
    "model_rule_actions",
]


def main() -> None:
    """Write what is missing."""
    sys.path.insert(0, str(Path(__file__).parent.parent.parent))
    from calibrant.calibrators import METHODS
    from calibrant.models import save
    from calibrant.models._schema import make_schema
    from calibrant.models._text import to_text
    from models.cases import CASES, answers

    methods = [*METHODS, *(f"one_vs_all_{name}" for name in METHODS)]
    for name in dict.fromkeys([*NAMES, *(each for each in methods if each in CASES)]):
        model, data = CASES[name]
        path, expected = HERE / f"{name}.json", HERE / f"{name}.expected.json"
        if path.exists():
            continue
        rows = None if data is None else data[:12]
        save(model, path, date="2026-03-31")
        said = [np.where(each == each, each, None).tolist() for each in answers(model, rows)]
        contents = {"rows": None if rows is None else rows.tolist(), "answers": said}
        expected.write_text(json.dumps(contents, ensure_ascii=False) + "\n", "utf-8")
    SCHEMA.write_text(to_text(make_schema()), "utf-8")


if __name__ == "__main__":
    main()
