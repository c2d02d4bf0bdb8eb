# The targets of instructors and authors. Students' copy of the Makefile goes without them.

OTHER_PYTHON ?= python3.12
.PHONY: test lint test-all test-measured test-threads test-hub build lesson verify pretrain collect grade serve merge feedback grades canvas moodle report mistake demo bundle site bench bench-load formgrader format

test: $(VENV)/ready-dev  ## set up, then all checks but those that are slow and rarely change
	$(MAKE) --no-print-directory test-all TEST_ARGS="-m 'not slow' $(TEST_ARGS)"

test-all: lint  ## everything that CI checks: also a hub, PostgreSQL, a cluster's faults, every page in a browser
	$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder --nbval tests solutions notebooks $(TEST_ARGS)

test-measured: $(VENV)/ready-dev  ## train from several seeds what lessons claim of trainings, and note that it holds
	$(BIN)/python -m tests.measurements $(TEST_ARGS)

lint: $(VENV)/ready-dev  ## spelling, style and types
	$(BIN)/codespell
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test-threads: build/$(OTHER_PYTHON)/ready  ## the tests of threads on another Python (OTHER_PYTHON=python3.12)
	build/$(OTHER_PYTHON)/bin/python -m pytest tests/test_threads.py $(TEST_ARGS)

test-hub: $(VENV)/ready-dev build/hub/node_modules  ## a JupyterHub with accounts of the system's own, which only root can make; npm installs its proxy
	HAND_IN_AT_ONCE=60 $(BIN)/python -m pytest tests/test_hub.py $(TEST_ARGS)

build: $(VENV)/ready  ## regenerate notebooks from solutions/ (LESSON=…)
	$(COURSE) build $(LESSON_OPTION)

lesson: $(VENV)/ready  ## start a lesson from the template (NAME=14_my_lesson)
	$(COURSE) lesson --lesson $(NAME)

verify: $(VENV)/ready  ## prove exercises, checks, mistakes and grading (LESSON=…)
	$(COURSE) verify $(LESSON_OPTION)

pretrain: $(VENV)/ready  ## train the model that a lesson ships (LESSON=…; its pretrain.py says how long it takes)
	$(COURSE) pretrain $(LESSON_OPTION)

collect: $(VENV)/ready  ## take LMS zips or loose notebooks (LESSON=… FROM=zips/)
	$(COURSE) collect $(LESSON_OPTION) --from $(FROM)

grade: $(VENV)/ready  ## grade what is new or changed (LESSON=…, JOBS=2, EXECUTOR=tls://…, SHARD=2/8, GRADE_ARGS=--force)
	$(COURSE) grade $(LESSON_OPTION) $(if $(JOBS),--jobs $(JOBS)) $(if $(EXECUTOR),--executor $(EXECUTOR)) $(if $(SHARD),--shard $(SHARD)) $(GRADE_ARGS)

serve: $(VENV)/ready  ## grade what is handed in as it arrives, until Ctrl-C (JOBS=2)
	$(COURSE) serve $(if $(JOBS),--jobs $(JOBS))

merge: $(VENV)/ready  ## take what the tasks of a job array have graded (LESSON=…, MERGE_ARGS=--force)
	$(COURSE) merge $(LESSON_OPTION) $(MERGE_ARGS)

feedback: $(VENV)/ready  ## make HTML feedback per student (LESSON=…)
	$(COURSE) feedback $(LESSON_OPTION)

grades canvas moodle: $(VENV)/ready  ## write coursework/grades.csv; or canvas.csv, moodle.csv to import there (LESSON=…, AUTOMATIC=1)
	$(COURSE) $@ $(LESSON_OPTION) $(if $(AUTOMATIC),--automatic)

report: $(VENV)/ready  ## one page about the class: points, exercises, mistakes (LESSON=…)
	$(COURSE) report $(LESSON_OPTION)

mistake: $(VENV)/ready  ## draft a known mistake from what a student wrote (LESSON=… EXERCISE=… FROM=student)
	$(COURSE) mistake $(LESSON_OPTION) --exercise $(EXERCISE) --from $(FROM)

demo: $(VENV)/ready  ## a class of twelve made-up submissions, collected, graded and reported in build/demo
	$(COURSE) demo $(LESSON_OPTION)

bundle: $(VENV)/ready  ## write dist/attention-lessons.zip, what students get
	$(COURSE) bundle

site: $(VENV)/ready-site  ## write build/site/, the lessons as a website that works offline
	$(COURSE) site

bench: $(VENV)/ready-dev  ## measure grading against stock nbgrader (BENCH_ARGS=--help)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

bench-load: $(VENV)/ready-dev  ## grade 600, one in twenty hostile or broken, kill it ten times, compare (LOAD_ARGS=--help)
	$(BIN)/python -m benchmarks.load $(LOAD_ARGS)

formgrader: $(VENV)/ready  ## JupyterLab with Formgrader for the course (LAB_ARGS=…)
	$(COURSE) register
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/jupyter lab $(LAB_ARGS)

format: $(VENV)/ready-dev  ## format modules and lessons
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/ready-site: $(VENV)/torch pyproject.toml
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[site]'
	@touch $@ $(VENV)/ready

$(VENV)/ready-dev: $(VENV)/torch pyproject.toml
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(VENV)/ready $(VENV)/ready-site

build/$(OTHER_PYTHON)/ready: constraints.txt pyproject.toml
	$(OTHER_PYTHON) -m venv build/$(OTHER_PYTHON)
	build/$(OTHER_PYTHON)/bin/python -m pip install --quiet $(TORCH) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))
	build/$(OTHER_PYTHON)/bin/python -m pip install --quiet --constraint constraints.txt --editable . hypothesis pytest pytest-timeout pytest-xdist
	@touch $@

build/hub/node_modules:
	npm install --silent --no-save --prefix build/hub configurable-http-proxy@5.3.0
