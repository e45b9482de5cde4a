"""What takes long to import and few need: imported when the first of its names is used.

A fit needs SciPy and scikit-learn, which take seconds. Nothing that a fitted model does needs them: it loads
and answers with NumPy alone. So whatever such a model imports takes them from here, and files take Arrow's
functions. They are Any for those who check types.
"""

from importlib import import_module
from typing import Any


class _Late:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


blas: Any = _Late("scipy.linalg.blas")
compute: Any = _Late("pyarrow.compute")
parquet: Any = _Late("pyarrow.parquet")
arrow_json: Any = _Late("pyarrow.json")
lapack: Any = _Late("scipy.linalg.lapack")
linalg: Any = _Late("scipy.linalg")
optimize: Any = _Late("scipy.optimize")
spatial: Any = _Late("scipy.spatial")
special: Any = _Late("scipy.special")
base: Any = _Late("sklearn.base")
exceptions: Any = _Late("sklearn.exceptions")
metadata_routing: Any = _Late("sklearn.utils.metadata_routing")
not_fitted: Any = _Late("calibrant._core._not_fitted")
model_selection: Any = _Late("sklearn.model_selection")
sklearn_utils: Any = _Late("sklearn.utils")
