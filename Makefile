# Plain `make` lists the targets. `make lab` and `make test` need nothing but Python 3.11 to 3.13, make and git.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COURSE := $(BIN)/python -m autograder
TORCH := $(shell sed -n 's/^\(torch==.*\)/\1/p' constraints.txt)
LESSON_OPTION = $(if $(LESSON),--lesson $(LESSON))

.DEFAULT_GOAL := help
.PHONY: help lab setup update check submit reset gpt2

help:  ## list the targets
	@grep -hE '^[a-z0-9 -]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

lab: $(VENV)/ready  ## open JupyterLab on the lessons (LAB_ARGS=--no-browser to only serve it)
	$(COURSE) lab $(LESSON_OPTION) $(LAB_ARGS)

setup: $(VENV)/ready  ## make .venv (TORCH_INDEX=… chooses a PyTorch wheel index, such as its CPU one)

update check submit reset: $(VENV)/ready  ## for students: new lessons, run the checks, make the file to upload, start anew (LESSON=…)
	$(COURSE) $@ $(LESSON_OPTION)

gpt2: $(VENV)/ready  ## fetch GPT-2's published weights for lesson 13, half a gigabyte; asks first
	$(COURSE) gpt2

-include autograder/classroom/instructor.mk

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || \
	  { echo "error: Python 3.11, 3.12 or 3.13 is needed; choose one with 'make PYTHON=python3.11'" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/torch: $(VENV)/bin/python constraints.txt
	$(BIN)/python -m pip install --quiet $(TORCH) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))
	@touch $@

$(VENV)/ready: $(VENV)/torch pyproject.toml
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@
