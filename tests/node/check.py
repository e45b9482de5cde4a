"""Compare what onnxruntime says in Node with what Python says: `make node` brings the package, and runs this.

    python tests/node/check.py FOLDER

FOLDER is where npm has installed onnxruntime-node.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from calibrant import ScoreModel
from calibrant.codes import LeastSquares
from calibrant.models import save_onnx
from models.cases import COST3
from registry_cases import PLAIN_CASES

SCRIPT = Path(__file__).parent / "answers.mjs"


def models():
    """Every method of the registry in every form, with costs; codes with combinations by steps."""
    for case in PLAIN_CASES:
        scores, y = case.rows()
        costs = COST3 if case.n_classes == 3 else [[0, 5], [1, 0]]
        combines = ["coupling", LeastSquares(weighted=True)] if case.form == "code" else ["normalize"]
        for combine in combines:
            code = "all_pairs" if case.form == "code" else None
            labels = np.array(["ant", "bee", "cat"])[y] if case.form == "row" else y
            name = f"{case}-{combine}"
            model = ScoreModel(case.method(), costs, code=code, combine=combine)
            yield name, model.fit(scores, labels), case.query()


def main(folder: str) -> int:
    """Write the models, ask, compare; the exit status is 1 if any differs."""
    warnings.simplefilter("ignore")
    known = list(models())
    with tempfile.TemporaryDirectory() as place:
        cases = []
        for number, (name, model, scores) in enumerate(known):
            matrix = scores.reshape(len(scores), -1)
            save_onnx(model, Path(place, f"{number}.onnx"))
            shape = {"rows": len(matrix), "columns": matrix.shape[1]}
            cases.append({"name": name, "file": f"{number}.onnx", "scores": matrix.ravel().tolist(), **shape})
        Path(place, "cases.json").write_text(json.dumps(cases), encoding="utf-8")
        command = ["node", str(SCRIPT.resolve()), str(Path(place, "cases.json"))]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    answers, wrong = json.loads(done.stdout), 0
    for name, model, scores in known:
        said = model.predict_proba(scores)
        proba = np.array(answers[name]["probabilities"]).reshape(said.shape)
        apart = float(np.abs(proba - said).max())
        same = answers[name]["decision"] == model.decide(scores).tolist()
        wrong += not (same and apart <= 1e-9)
        print(f"{apart:8.1e}  {'same decisions' if same else 'OTHER DECISIONS'}  {name}")  # noqa: T201
    print(f"{len(known) - wrong} of {len(known)} models say the same in Node")  # noqa: T201
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
