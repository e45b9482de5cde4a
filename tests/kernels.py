"""Run the tests that compare numbers as other processors would round them: `make kernels`.

NumPy and OpenBLAS choose their inner loops by the instructions and the cores that a processor has, and with
other loops a sum, a product of matrices or an exponential ends in other bits. What holds on one machine only
shows here. Tests that start processes, browsers or long experiments are left to `make test`. The loops of
another maker of processors are those of `make oldest`.
"""

import os
import subprocess
import sys

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__  # no public name has these

FOUND = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
LONG_VECTORS = [name for name in FOUND if "512" in name or name.endswith("V4")]
KERNELS = {
    "no vectors, one thread": (FOUND, "Nehalem", "1"),
    "short vectors, two threads": (LONG_VECTORS, "Haswell", "2"),
}
ROOMS = [
    "_core",
    "metrics",
    "codes",
    "calibrators",
    "decisions",
    "learners",
    "classifiers",
    "models",
    "monitor",
    "files",
]
COMMAND = [
    *(sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal"),
    *("-k", "not scikit_learn_contract"),
    *(f"tests/{room}" for room in ROOMS),
    *("tests/report", "--ignore=tests/report/test_page.py", "tests/cli/test_docs.py", "src"),
]


def main() -> int:
    """Run them under every kernel until one fails."""
    for name, (disabled, core, n_threads) in KERNELS.items():
        sys.stdout.write(f"{name}:\n")
        sys.stdout.flush()
        environment = os.environ | {
            "NPY_DISABLE_CPU_FEATURES": " ".join(disabled),
            "OPENBLAS_CORETYPE": core,
            "OPENBLAS_NUM_THREADS": n_threads,
            "OMP_NUM_THREADS": n_threads,
        }
        if subprocess.run(COMMAND, env=environment, check=False).returncode:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
