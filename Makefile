# Everything a developer types. Each target sets up what it needs in .venv first.
PYTHON ?= python3
BIN := .venv/bin
FILES := src tests benchmarks docs conftest.py
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo -n)

.DEFAULT_GOAL := help
.PHONY: help demo test browser postgres check format format-check lint types imports docstrings wheel docs bench arena fuzz kernels oldest spark node skl2onnx mlflow clean
.DELETE_ON_ERROR:

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.demo  ## See it work: reports on two learners and two problems (about a minute)
	$(BIN)/calibrant demo

test: .venv/.dev browser postgres  ## Run the test suite, doctests included
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

browser:  # The report is tested in a real one; where none can be had, those tests are skipped and say so.
	@command -v chromium > /dev/null || command -v google-chrome > /dev/null \
	  || { echo "installing chromium, for the tests of the report"; \
	       $(AS_ROOT) apt-get update -qq && $(AS_ROOT) apt-get install -y -qq chromium > /dev/null 2>&1; } \
	  || echo "chromium could not be installed; the tests of the page will be skipped" >&2

postgres:  # Queries are tested on a real server; where none can be had, those tests are skipped and say so.
	@command -v initdb > /dev/null || ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 \
	  || { echo "installing postgresql, for the tests of queries"; \
	       $(AS_ROOT) apt-get update -qq && $(AS_ROOT) apt-get install -y -qq postgresql > /dev/null 2>&1; } \
	  || echo "postgresql could not be installed; the tests of it will be skipped" >&2

check: format-check lint types imports docstrings test wheel docs  ## All that must hold before a change lands

format: .venv/.dev  ## Format the code
	$(BIN)/ruff format $(FILES)
	$(BIN)/ruff check --fix $(FILES)

format-check: .venv/.dev
	$(BIN)/ruff format --check $(FILES)

lint: .venv/.dev
	$(BIN)/ruff check $(FILES)

types: .venv/.dev
	$(BIN)/mypy

imports: .venv/.dev
	$(BIN)/lint-imports

docstrings: .venv/.dev
	$(BIN)/python docs/lint_docstrings.py

wheel: .venv/.dev  ## Build the wheel, install it alone, and try it
	rm -rf build/wheel && mkdir -p build/wheel
	$(BIN)/python -m build --wheel --outdir build/wheel . > build/wheel/log 2>&1 || (cat build/wheel/log; exit 1)
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/pip install -q build/wheel/*.whl
	cd build/wheel && venv/bin/calibrant --help > /dev/null
	cd build/wheel && venv/bin/python -W error -c "import calibrant; calibrant.PAVCalibrator; calibrant.metrics.brier_score"

docs: .venv/.dev  ## Build the documentation; warnings are errors
	$(BIN)/python -W ignore::DeprecationWarning -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: .venv/.dev build/spark/.ready  ## Measure ours beside the peers; tables go to benchmarks/results
	$(BIN)/python -m benchmarks
	build/spark/bin/python -m benchmarks.spark 1e6 1e7

arena: build/arena/.ready  ## Ours and the peers on the same scores (long; a part: ARENA='--quick --inner')
	build/arena/bin/python -m benchmarks.arena $(or $(ARENA),--splits 5)
	$(if $(ARENA),,build/arena/bin/python -m benchmarks.venn_abers)

kernels: .venv/.dev  ## Run the tests that compare numbers as other processors would round them
	$(BIN)/python tests/kernels.py

fuzz: .venv/.dev  ## Try hostile cases against slow oracles for SECONDS (default 300); failures become tests
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(or $(SECONDS),300) $(FUZZ)

oldest:  ## Run the tests with the oldest releases that pyproject.toml allows, as another maker's processors would round
	rm -rf build/oldest && $(PYTHON) -m venv build/oldest
	$(PYTHON) tests/oldest.py > build/oldest/constraints.txt
	build/oldest/bin/pip install -q -c build/oldest/constraints.txt -e '.[test]'
	OPENBLAS_CORETYPE=Zen build/oldest/bin/python -m pytest -q -n 2 --dist worksteal

spark: build/spark/.ready  ## Run the tests of calibrant.spark against a real Spark (needs Java 17)
	build/spark/bin/python docs/lint_docstrings.py
	build/spark/bin/python -m pytest -q tests/spark tests/cli/test_fit_spark.py src/calibrant/spark

node: .venv/.dev build/node/.ready  ## Compare the ONNX export in Node with Python (needs node and npm)
	PYTHONPATH=tests $(BIN)/python tests/node/check.py build/node

skl2onnx: build/skl2onnx/.ready  ## Run the tests of the converter for skl2onnx
	build/skl2onnx/bin/python -m pytest -q tests/models/test_skl2onnx.py

mlflow: build/mlflow/.ready  ## Run the tests of models in MLflow and skops
	build/mlflow/bin/python -m pytest -q tests/models/test_registries.py

build/mlflow/.ready: pyproject.toml  # an environment of its own: MLflow brings much
	test -x build/mlflow/bin/python || $(PYTHON) -m venv build/mlflow
	build/mlflow/bin/pip install -q -e '.[test]' mlflow skops
	@touch $@

build/node/.ready:  # of the package only what runs on processors, which comes with it
	mkdir -p build/node
	cd build/node && echo '{"private": true}' > package.json \
	  && ONNXRUNTIME_NODE_INSTALL_CUDA=skip npm install --silent --no-audit --no-fund onnxruntime-node
	@touch $@

build/skl2onnx/.ready: pyproject.toml  # an environment of its own, as skl2onnx can ask for other releases
	test -x build/skl2onnx/bin/python || $(PYTHON) -m venv build/skl2onnx
	build/skl2onnx/bin/pip install -q -e '.[test,skl2onnx]'
	@touch $@

build/spark/.ready: pyproject.toml  # an environment of its own, as pyspark wants a pandas below 3
	test -x build/spark/bin/python || $(PYTHON) -m venv build/spark
	build/spark/bin/pip install -q -e '.[test,spark]' 'pyspark[connect]>=4.0' numpydoc
	@touch $@

build/arena/.ready: pyproject.toml  # an environment of its own: the peers bring torch, of which the CPU build will do
	test -x build/arena/bin/python || $(PYTHON) -m venv build/arena
	build/arena/bin/pip install -q --no-deps --extra-index-url https://download.pytorch.org/whl/cpu 'torch==2.13.0+cpu'
	build/arena/bin/pip install -q -e '.[plots]' 'torch==2.13.0+cpu' probmetrics numba venn-abers betacal netcal
	@touch $@

clean:  ## Remove everything that make has made
	rm -rf .venv build dist docs/_build docs/api docs/gallery calibrant-demo

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "calibrant needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install -q -e .
	@touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $@ .venv/.demo
