import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
ALIASES = {"pytorch-cpu": "torch", "matplotlib-base": "matplotlib"}
CONDA_ONLY = {"python", "pip", "make"}
PINS = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split() if "==" in line)
CONDA = dict(
    re.fullmatch(r"([a-z0-9_-]+)((?:[<>=]+[0-9.*]+,?)*)", spec).groups()
    for spec in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


# the oldest of each: Debian 12 has 3.11.2, and pip refuses every pin where a single one does not fit
PYTHONS = ("3.11.0", "3.12.0", "3.13.0")


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[ ]", r)[0] for r in requirements}


@pytest.mark.parametrize("name", sorted(CONDA.keys() - CONDA_ONLY))
def test_a_conda_pin_agrees_with_the_constraints(name: str) -> None:
    assert CONDA[name] == "=" + PINS[ALIASES.get(name, name)]


def test_conda_users_get_every_package_that_the_project_needs() -> None:
    given = {ALIASES.get(name, name) for name in CONDA}
    assert names(PROJECT["dependencies"]) <= given


def test_every_direct_requirement_is_pinned() -> None:
    extras = [requirement for extra in PROJECT["optional-dependencies"].values() for requirement in extra]
    wanted = names(PROJECT["dependencies"] + extras) - {PROJECT["name"]}
    assert wanted - {n.lower() for n in PINS} == set()


def refuses(name: str, python: str) -> bool:
    """Say whether an installed package, in its pinned version, does not run under a Python."""
    try:
        needs = distribution(name).metadata.get("Requires-Python") or ""
    except PackageNotFoundError:  # of another platform
        return False
    return not SpecifierSet(needs).contains(python)


@pytest.mark.parametrize("python", PYTHONS)
def test_every_pin_allows_every_python_that_the_project_names(python: str) -> None:
    assert SpecifierSet(PROJECT["requires-python"]).contains(python)
    assert [name for name in PINS if refuses(name, python)] == []


def test_a_python_that_is_too_old_is_refused_by_most_pins() -> None:
    assert len([name for name in PINS if refuses(name, "3.6.0")]) > 0.8 * len(PINS)


def test_whoever_checks_everything_has_every_optional_package() -> None:
    extras = PROJECT["optional-dependencies"]
    assert f"attention-lessons[{','.join(sorted(extras.keys() - {'dev'}))}]" in extras["dev"]


def test_the_page_for_students_names_the_pinned_pytorch() -> None:
    assert f"pip install torch=={PINS['torch']} " in (ROOT / "docs" / "students.md").read_text()


PAGES = "".join(path.read_text() for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")))


def make_targets() -> set[str]:
    files = (ROOT / "Makefile", ROOT / "autograder" / "classroom" / "instructor.mk")
    lines = [line for file in files for line in re.findall(r"^([a-z0-9 -]+):.*##", file.read_text(), re.M)]
    return {target for line in lines for target in line.split()}


def test_the_pages_name_every_make_target() -> None:
    targets = make_targets()
    assert {t for t in targets if not re.search(rf"make {t}(?![a-z-])", PAGES)} == {"help"}


def test_the_pages_name_no_target_that_does_not_exist() -> None:
    targets = make_targets()
    assert set(re.findall(r"`make ([a-z0-9-]+)", PAGES)) <= targets


def test_every_command_that_a_message_names_is_a_make_target() -> None:
    sources = [path.read_text() for path in (ROOT / "autograder").rglob("*.py")]
    named = {name for source in sources for name in re.findall(r"\bcommand\(f?[\"']([a-z0-9]+)", source)}
    assert named - make_targets() == set()
