"""What takes long to import and few need: imported when the first of its names is used.

A fit needs SciPy and scikit-learn, which take seconds. Nothing that a fitted model does needs them: it loads
and answers with NumPy alone. So whatever such a model imports takes them from here, and files take Arrow's
functions. They are Any for those who check types.
"""

from contextlib import suppress
from importlib import import_module
from typing import Any


class _Late:
    def __init__(self, *names: str) -> None:
        *self._rather, self._name = names

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module(), name)
        setattr(self, name, value)
        return value

    def _module(self) -> Any:
        for name in self._rather:
            with suppress(ImportError):
                return import_module(name)
        return import_module(self._name)


blas: Any = _Late("scipy.linalg.blas")
compute: Any = _Late("pyarrow.compute")
#: What calls functions of Arrow by their names, without the 286 wrappers that pyarrow.compute makes first.
kernels: Any = _Late("pyarrow._compute", "pyarrow.compute")
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
zoneinfo: Any = _Late("zoneinfo")
not_fitted: Any = _Late("calibrant._core._not_fitted")
model_selection: Any = _Late("sklearn.model_selection")
sklearn_utils: Any = _Late("sklearn.utils")
