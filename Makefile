# Plain `make` lists the targets. `make lab` and `make test` need nothing but Python 3.11 to 3.13, make and git.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COURSE := $(BIN)/python -m autograder
TORCH := $(shell sed -n 's/^\(torch==.*\)/\1/p' constraints.txt)
# what each kernel of the environment runs first
KERNELS = @mkdir -p $(VENV)/etc/ipython && cp autograder/student/lab/kernel/*.py $(VENV)/etc/ipython/
LESSON_OPTION = $(if $(LESSON),--lesson $(LESSON))

.DEFAULT_GOAL := help
.PHONY: help lab test setup build lesson verify collect grade feedback grades canvas moodle report bundle check submit reset bench formgrader format

help:  ## list the targets
	@grep -E '^[a-z ]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

lab: $(VENV)/ready  ## open JupyterLab on the lessons (LAB_ARGS=--no-browser to only serve it)
	JUPYTER_CONFIG_PATH=$(CURDIR)/autograder/student/lab $(BIN)/jupyter lab --ServerApp.root_dir=$(CURDIR)/notebooks $(LAB_ARGS)

test: $(VENV)/ready-dev  ## set up, then everything that CI checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadfile --nbval tests solutions notebooks $(TEST_ARGS)

setup: $(VENV)/ready  ## make .venv (TORCH_INDEX=… chooses a PyTorch wheel index, such as its CPU one)

build: $(VENV)/ready  ## regenerate notebooks from solutions/ (LESSON=…)
	$(COURSE) build $(LESSON_OPTION)

lesson: $(VENV)/ready  ## start a lesson from the template (NAME=07_position)
	$(COURSE) lesson --lesson $(NAME)

verify: $(VENV)/ready  ## prove exercises, checks, mistakes and grading (LESSON=…)
	$(COURSE) verify $(LESSON_OPTION)

collect: $(VENV)/ready  ## take LMS zips or loose notebooks (LESSON=… FROM=zips/)
	$(COURSE) collect $(LESSON_OPTION) --from $(FROM)

grade: $(VENV)/ready  ## grade what is new or changed (LESSON=…, JOBS=2, GRADE_ARGS=--force)
	$(COURSE) grade $(LESSON_OPTION) $(if $(JOBS),--jobs $(JOBS)) $(GRADE_ARGS)

feedback: $(VENV)/ready  ## make HTML feedback per student (LESSON=…)
	$(COURSE) feedback $(LESSON_OPTION)

grades: $(VENV)/ready  ## write coursework/grades.csv
	$(COURSE) grades

canvas moodle: $(VENV)/ready  ## write coursework/canvas.csv or moodle.csv, as that system imports it
	$(COURSE) $@

report: $(VENV)/ready  ## one page about the class: points, exercises, mistakes (LESSON=…)
	$(COURSE) report $(LESSON_OPTION)

bundle: $(VENV)/ready  ## write dist/attention-lessons.zip, what students get
	$(COURSE) bundle

check submit reset: $(VENV)/ready  ## for students: run the checks, make the file to upload, start anew (LESSON=…)
	$(COURSE) $@ $(LESSON_OPTION)

bench: $(VENV)/ready-dev  ## measure grading against stock nbgrader (BENCH_ARGS=--help)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

formgrader: $(VENV)/ready  ## JupyterLab with Formgrader for the course (LAB_ARGS=…)
	$(COURSE) register
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/jupyter lab $(LAB_ARGS)

format: $(VENV)/ready-dev  ## format modules and lessons
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || \
	  { echo "error: Python 3.11, 3.12 or 3.13 is needed; choose one with 'make PYTHON=python3.11'" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/torch: $(VENV)/bin/python constraints.txt
	$(BIN)/python -m pip install --quiet $(TORCH) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))
	@touch $@

$(VENV)/ready: $(VENV)/torch pyproject.toml
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	$(KERNELS)
	@touch $@

$(VENV)/ready-dev: $(VENV)/torch pyproject.toml
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	$(KERNELS)
	@touch $@ $(VENV)/ready
