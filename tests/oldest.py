"""Print the lower bounds of pyproject.toml as exact versions, for `make oldest`."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
for requirement in [*project["dependencies"], *extras["plots"], *extras["excel"], *extras["sql"]]:
    name, bound = re.fullmatch(r"([A-Za-z0-9-]+)>=([0-9.]+)", requirement).groups()
    sys.stdout.write(f"{name}=={bound}{'' if bound.count('.') > 1 else '.0'}\n")
sys.stdout.write("pytest<9\n")  # scikit-learn's checks of that time use what later versions of pytest refuse
