"""A JupyterHub as docs/hub.md sets it up: two students and a teacher, from the first page to the feedback."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.classroom.attempts import read_attempts
from autograder.classroom.feedback import make_feedback
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import grade_lesson, register
from autograder.paths import CONFIG_NAME, Course

from .browser import chromium, needs_chromium
from .conftest import LESSON, copy_course, needs_sandbox
from .hub_server import (
    ASSISTANT,
    ROOT,
    Places,
    User,
    configure,
    documented_files,
    documented_folders,
    install,
    needs_hub,
    running,
)
from .test_bundle import bundle, wheel  # noqa: F401

pytestmark = [needs_hub, needs_sandbox, pytest.mark.slow]
FOLDER = f"attention-lessons/notebooks/{LESSON}"
NOTEBOOK = f"{FOLDER}/{LESSON}.ipynb"
ASSIGNMENT = {"course_id": "attention", "assignment_id": LESSON}
Users = dict[str, User]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    return Places(tmp_path_factory.mktemp("hub"))


@pytest.fixture(scope="module")
def clone(places: Places, pristine: Course) -> Course:
    """The teacher's repository, with a gradebook in which the lesson is registered."""
    root = places.home("teacher") / "attention"
    root.mkdir(parents=True)
    made = copy_course(pristine, root)
    (root / "autograder").symlink_to(ROOT / "autograder")
    register(made, made.lesson(LESSON))
    return made


@pytest.fixture(scope="module")
def users(places: Places, clone: Course, wheel: Path) -> Iterator[Users]:  # noqa: F811
    install(places, wheel)
    with running(places, configure(places, "teacher"), ("ada", "bob", "teacher")) as logged_in:
        yield logged_in


def press(teacher: User, button: str) -> None:
    """Press a button of the lesson in Formgrader."""
    answer = teacher.ask("POST", f"formgrader/api/assignment/{LESSON}/{button}").json()
    assert answer["success"], answer


def save(user: User, notebook: object) -> None:
    content = {"type": "notebook", "format": "json", "content": json.loads(notebook_text(notebook))}
    user.ask("PUT", f"api/contents/{NOTEBOOK}", json=content)


@pytest.fixture(scope="module")
def released(users: Users) -> Users:
    press(users["teacher"], "release")
    return users


@pytest.fixture(scope="module")
def collected(released: Users, package, right: dict[str, str]) -> Users:
    """Ada hands in what is right, Bob a mistake; the teacher collects."""
    known = {(m.exercise, m.name): m for m in package.key.mistakes}
    wrong = {**right, "attend": known["attend", "softmax_over_queries"].source}
    for name, edits in (("ada", right), ("bob", wrong)):
        save(released[name], submission(package, edits))
        assert released[name].ask("POST", "assignments/submit", data=ASSIGNMENT).json()["success"]
    press(released["teacher"], "collect")
    return released


@pytest.fixture(scope="module")
def returned(collected: Users, clone: Course) -> Users:
    grade_lesson(clone, clone.lesson(LESSON))
    make_feedback(clone, clone.lesson(LESSON))
    press(collected["teacher"], "release_feedback")
    for name in ("ada", "bob"):
        assert collected[name].ask("POST", "assignments/fetch_feedback", data=ASSIGNMENT).json()["success"]
    return collected


def disabled(user: User) -> set[str]:
    page = user.ask("GET", "lab").text
    config = json.loads(re.search(r'id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.S)[1])
    return {name.removeprefix("@jupyter/nbgrader:") for name in config["disabledExtensions"]}


def test_what_a_student_sees_first_is_the_start_page(users: Users) -> None:
    first = users["ada"].request("GET", "", allow_redirects=False).headers["location"].split("?")[0]
    page = first.removeprefix("/user/ada/lab/tree/")
    assert users["ada"].ask("GET", f"api/contents/{page}").json()["type"] == "notebook"
    assert "Next: " in users["ada"].run(page, ["from autograder import progress\nprogress()"])[0]


def test_students_have_assignment_list_in_their_menu_and_nothing_of_a_teachers(users: Users) -> None:
    hidden = {"formgrader", "create-assignment", "course-list"}
    assert disabled(users["ada"]) & {*hidden, "menu", "assignment-list", "validate-assignment"} == hidden


def test_a_teacher_opens_formgrader_by_its_address(users: Users) -> None:
    assert "Manage Assignments" in users["teacher"].ask("GET", "formgrader/manage_assignments").text
    listed = users["teacher"].ask("GET", "formgrader/api/assignments").json()
    assert [lesson["name"] for lesson in listed if lesson["max_score"]] == [LESSON]  # what is registered


def test_a_check_runs_in_the_kernel_and_is_recorded(users: Users, right: dict[str, str], package) -> None:
    setup = next(cell.source for cell in submission(package, {}).cells if cell.cell_type == "code")
    cells = [setup, right["project_qkv"], "check(project_qkv)", "no_such_name"]  # the board's walk needs attend open
    *_, card, lost = users["ada"].run(NOTEBOOK, cells)
    assert "passed" in card
    assert "run that cell first" in lost  # from the environment's etc/ipython
    progress = Path(FOLDER).parent / "progress.json"
    content = users["ada"].ask("GET", f"api/contents/{progress}").json()["content"]
    assert json.loads(content)[LESSON] == {"project_qkv": "passed"}


def look(page: Page, student: str, state: str) -> None:
    """Wait until a student's cell for attend says something."""
    column = page.locator("thead th").all_text_contents().index("attend")
    row = page.locator("tbody tr", has=page.locator("th", has_text=student))
    row.locator("td").nth(column - 1).get_by_text(state).wait_for(timeout=120_000)


@needs_chromium
def test_the_board_follows_a_student_from_a_wrong_answer_to_a_right_one(
    users: Users, right: dict[str, str], package, tmp_path: Path
) -> None:
    known = {(m.exercise, m.name): m for m in package.key.mistakes}
    setup = next(cell.source for cell in submission(package, {}).cells if cell.cell_type == "code")
    wrong = known["attend", "softmax_over_queries"].source
    unseen = users["bob"].run(NOTEBOOK, [setup, right["attend"], "check(attend)"])[-1]
    assert "tells your teacher's board" in unseen  # and nothing was sent
    with chromium() as page:
        page.goto(users["ada"].address.replace("/user/ada/", f"/services/board/?lesson={LESSON}"))
        page.get_by_label("Username").fill("teacher")
        page.get_by_label("Password").fill("any")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("Live: the page follows the class.").wait_for()
        start = "from autograder import progress\nprogress()"
        assert "tells your teacher's board" in users["ada"].run("attention-lessons/notebooks/index.ipynb", [start])[0]
        users["ada"].run(NOTEBOOK, [setup, wrong, *["check(attend)"] * 3])
        look(page, "ada", "! stuck")
        page.locator("summary", has_text="1 × Your columns sum to 1").click()
        assert page.locator("details[open] .names").text_content() == "ada"
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=str(tmp_path / f"stuck-{scheme}.png"))
        users["ada"].run(NOTEBOOK, [setup, right["attend"], "check(attend)"])
        look(page, "ada", "✓ passed")
        assert page.locator("tbody th", has_text="bob").count() == 0
    mine = 'from autograder import sharing\nsharing("show")'
    assert users["ada"].run(NOTEBOOK, [mine])[0].count("attend: softmax_over_queries") == 3


def test_a_student_does_not_see_the_board(users: Users) -> None:
    for name, seen in (("ada", 403), ("teacher", 200)):
        address = users[name].address.replace(f"/user/{name}/", "/services/board/")
        assert User(name, address, users[name].token).request("GET", "").status_code == seen


def test_a_students_environment_has_no_part_of_grading(users: Users) -> None:
    code = (
        "import importlib.util as u; print(*[u.find_spec(f'autograder.{layer}') for layer in ('grading', 'classroom')])"
    )
    assert users["bob"].run(NOTEBOOK, [code]) == ["None None\n"]


def test_nobody_opens_the_server_of_another(users: Users) -> None:
    intruder = User("bob", users["ada"].address, users["bob"].token)
    assert intruder.request("GET", "api/contents").status_code == 403
    assert intruder.request("GET", f"files/{NOTEBOOK}").status_code == 403


def test_an_assistant_grades_on_the_teachers_server_and_opens_no_other(users: Users) -> None:
    assistant = users[ASSISTANT]
    assert "Manage Assignments" in assistant.ask("GET", "formgrader/manage_assignments").text
    hub = assistant.address.replace("/user/teacher/", "/hub/api/users/")
    started = {n: User("", hub, assistant.token).request("POST", f"{n}/server").status_code for n in ("teacher", "ada")}
    assert started == {
        "teacher": 400,
        "ada": 404,
    }  # it runs; she may not know who else is there
    for name in ("ada", "bob"):
        assert User("", users[name].address, assistant.token).request("GET", "api/contents").status_code == 403


def test_what_a_user_has_is_closed_to_others(users: Users, places: Places) -> None:
    folder = places.home("ada") / "attention-lessons"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_lesson_is_there_to_be_handed_in_once_it_is_released(released: Users) -> None:
    (listed,) = released["ada"].ask("GET", "assignments", params={"course_id": "attention"}).json()["value"]
    assert (listed["assignment_id"], listed["status"]) == (LESSON, "fetched")


def test_a_deleted_lesson_is_fetched_with_its_checks(released: Users, places: Places) -> None:
    folder = places.home("bob") / FOLDER
    before = {path.name for path in folder.iterdir()}
    shutil.rmtree(folder)
    assert released["bob"].ask("POST", "assignments/fetch", data=ASSIGNMENT).json()["success"]
    assert {path.name for path in folder.iterdir()} == before
    assert "attend" in released["bob"].run(NOTEBOOK, ["from autograder import check\nattend = 1\ncheck(attend)"])[0]


def test_work_arrives_under_the_name_of_whoever_handed_it_in(collected: Users, clone: Course) -> None:
    assert clone.students(clone.lesson(LESSON)) == ["ada", "bob"]
    for name in ("ada", "bob"):
        (mine,) = collected[name].ask("GET", "assignments", params={"course_id": "attention"}).json()["value"][1:]
        assert mine["student_id"] == name


def test_it_is_graded(returned: Users, clone: Course) -> None:
    with open_gradebook(clone) as gradebook:
        points = {row.student.id: row.score for row in gradebook.assignment_submissions(LESSON)}
    assert points.keys() == {"ada", "bob"}
    assert points["ada"] > points["bob"] > 0


def test_everybody_gets_their_own_feedback(returned: Users, places: Places, clone: Course) -> None:
    lesson = clone.lesson(LESSON)
    for name in ("ada", "bob"):
        (page,) = (places.home(name) / FOLDER / "feedback").glob("*/*.html")
        assert page.read_bytes() == clone.feedback_page(lesson, name).read_bytes()


@contextmanager
def grading_at_hand_in(places: Places, clone: Course) -> Iterator[None]:
    """Run `lessons serve` as the page's service does, without the pause between two attempts."""
    with (clone.root / CONFIG_NAME).open("a", encoding="utf-8") as config:
        config.write("c.HandIn.pause = 0\n")
    command = [sys.executable, "-m", "autograder", "serve", "--jobs", "1"]  # the sandbox needs a whole environment
    settings = str(places.environment / "etc" / "jupyter")
    variables = {**os.environ, "HOME": str(places.home("teacher")), "JUPYTER_CONFIG_PATH": settings}
    with (places.root / "serve.log").open("w") as log:
        service = subprocess.Popen(command, cwd=clone.root, env=variables, stdout=log, stderr=log)
        try:
            yield
        finally:
            service.terminate()
            service.wait(60)


def start_page(user: User) -> str:
    code = "from autograder import progress\nprogress()"
    return user.run("attention-lessons/notebooks/index.ipynb", [code])[0]


def test_what_is_handed_in_again_comes_back_graded_by_itself(
    returned: Users, places: Places, clone: Course, package, right: dict[str, str]
) -> None:
    bob = returned["bob"]
    assert "New feedback" not in start_page(bob)
    with grading_at_hand_in(places, clone):
        save(bob, submission(package, right))
        assert bob.ask("POST", "assignments/submit", data=ASSIGNMENT).json()["success"]
        for _ in range(300):
            time.sleep(1)
            if sum(attempt.released != "" for attempt in read_attempts(clone, clone.lesson(LESSON), "bob")) == 2:
                break
        assert "New feedback: fetch it in the menu Nbgrader" in start_page(bob)
        assert bob.ask("POST", "assignments/fetch_feedback", data=ASSIGNMENT).json()["success"]
    shown = start_page(bob)
    assert "New feedback" not in shown
    assert "It counts, being the best so far." in shown
    *_, better = sorted((places.home("bob") / FOLDER / "feedback").glob("*/*.html"))
    assert better.read_text(encoding="utf-8").count("all checks passed") == len(package.key.exercises)


def test_the_page_shows_every_file_that_the_test_wrote() -> None:
    assert {Path(name).name for name in documented_files()} == {
        *("jupyterhub_config.py", "nbgrader_config.py", "page_config.json")
    }
    assert len(documented_files()) == 4


def test_what_students_could_make_first_is_made_for_the_teacher() -> None:
    made = {line.split()[-1].removeprefix("/srv/nbgrader"): line.split()[3:-1] for line in documented_folders()}
    course = "/exchange/attention"
    inside = [course, *(f"{course}/{part}" for part in ("outbound", "inbound", "feedback")), "/board"]
    assert list(made) == ["/exchange", *inside]
    assert [made[path][1:] for path in inside] == [["-o", "<teacher>"]] * 5


def test_the_page_says_how_to_part_the_origins_of_users() -> None:
    assert "c.JupyterHub.subdomain_host = " in documented_files()["jupyterhub_config.py"]
