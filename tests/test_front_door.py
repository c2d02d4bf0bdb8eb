"""What a passer-by finds: pages whose links lead somewhere, licenses, a workflow that calls what exists."""

import re
from pathlib import Path

import pytest
import yaml

from autograder.authoring.lesson import minutes_of, read_lesson
from autograder.paths import find_course

from .test_packaging import make_targets

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
WORKFLOW = ROOT / ".github" / "workflows" / "test.yml"
LINK = re.compile(r"\]\(([^)#\s]+)")


@pytest.fixture(scope="module")
def jobs() -> dict:
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]


def commands(job: dict) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).is_file()] == []


def test_the_readme_lists_every_lesson() -> None:
    text = (ROOT / "README.md").read_text()
    assert [lesson.name for lesson in find_course().lessons() if f"{lesson.name}.ipynb)" not in text] == []


def test_the_readme_gives_each_lesson_the_time_that_the_lesson_gives() -> None:
    text = (ROOT / "README.md").read_text()
    for lesson in find_course().lessons():
        minutes = re.findall(r"About (\d+) minutes", lesson.lesson_py.read_text(encoding="utf-8"))
        assert re.findall(rf"{lesson.name}\.ipynb\).*\| (\d+) min \|", text) == minutes, lesson.name


@pytest.mark.parametrize("page", ["README.md", "solutions/index.py"])
def test_the_hours_of_the_core_are_those_of_its_lessons(page: str) -> None:
    core = [lesson for lesson in find_course().lessons() if 1 <= int(lesson.name[:2]) <= 8]
    minutes = [minutes_of(read_lesson(lesson), lesson) for lesson in core]
    hours = {16: "sixteen", 17: "seventeen", 18: "eighteen"}[round(sum(minutes) / 60)]
    assert f"{hours} hours if you read quickly" in (ROOT / page).read_text()


def test_what_decides_about_a_change_runs_the_commands_that_the_readme_names() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert "set -euo pipefail" in lines
    assert [
        name for name in ("demo", "site", "test-all") if not any(re.match(rf"make {name}\b", line) for line in lines)
    ] == []


def test_the_workflow_calls_only_targets_that_exist(jobs: dict) -> None:
    called = {target for job in jobs.values() for target in re.findall(r"\bmake ([a-z-]+)", commands(job))}
    assert called >= {"test-all", "demo", "site"}
    assert called <= make_targets()


def test_whatever_grades_is_isolated(jobs: dict) -> None:
    """Without that, the tests that need it would be skipped in silence."""
    for job in jobs.values():
        assert "bubblewrap" in commands(job)
        assert "kernel.apparmor_restrict_unprivileged_userns=0" in commands(job)


def test_what_dask_serves_without_asking_for_the_key_is_not_on_the_network() -> None:
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    started = re.findall(r"^\.venv/bin/dask (\w+) (.*)$", text, re.M)
    assert [name for name, _ in started] == ["scheduler", "worker"]
    assert all(re.search(r"--no-dashboard --dashboard-address 127\.0\.0\.1:\d+", options) for _, options in started)
