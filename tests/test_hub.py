"""A JupyterHub as docs/hub.md sets it up, with accounts of the system's own: two students, a teacher and a class."""

import json
import os
import re
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.classroom.alone import only_one
from autograder.classroom.attempts import graded_attempts, read_attempts
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import register
from autograder.paths import Course

from . import handing_in
from .accounts import accounts, acting_as, needs_accounts
from .browser import chromium, needs_chromium
from .conftest import LESSON, OVER_QUERIES, copy_course, needs_sandbox
from .hub_desk import START_PAGE, Desk, follow_the_browsers_colors, photograph, seconds_until, signed_in
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
from .waiting import wait_until

pytestmark = [needs_hub, needs_sandbox, needs_accounts, pytest.mark.slow]
FOLDER = f"attention-lessons/notebooks/{LESSON}"
NOTEBOOK = f"{FOLDER}/{LESSON}.ipynb"
ASSIGNMENT = {"course_id": "attention", "assignment_id": LESSON}
PEOPLE = ("ada", "bob", "teacher")
AT_ONCE = int(os.environ.get("HAND_IN_AT_ONCE", "10"))  # `make test-hub` has 60
Users = dict[str, User]


@pytest.fixture(scope="module")
def places() -> Iterator[Places]:
    """Accounts with homes that others may enter, as many systems have them."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        root = Path(name)
        root.chmod(0o755)
        (root / "home").mkdir()
        with accounts(*PEOPLE, homes=root / "home") as made:
            found = Places(root, dict(zip(PEOPLE, made, strict=True)))
            for who in PEOPLE:
                found.home(who).chmod(0o755)
            yield found


@pytest.fixture(scope="module")
def clone(places: Places, pristine: Course) -> Course:
    """The teacher's repository, with a gradebook in which the lesson is registered."""
    root = places.home("teacher") / "attention"
    root.mkdir(mode=0o700)
    made = copy_course(pristine, root)
    (root / "autograder").symlink_to(ROOT / "autograder")
    register(made, made.lesson(LESSON))
    return made


@pytest.fixture(scope="module")
def by_hand(clone: Course) -> Iterator[ExitStack]:
    """What keeps the hub's service from grading at hand-in, until it is closed."""
    with ExitStack() as stack:
        stack.enter_context(only_one(clone, print))
        yield stack


@pytest.fixture(scope="module")
def users(places: Places, by_hand: ExitStack, wheel: Path) -> Iterator[Users]:  # noqa: F811
    install(places, wheel)
    with running(places, configure(places)) as logged_in:
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
    wrong = {"project_qkv": right["project_qkv"], "attend": known["attend", "softmax_over_queries"].source}
    for name, edits in (("ada", right), ("bob", wrong)):
        save(released[name], submission(package, edits))
        assert released[name].ask("POST", "assignments/submit", data=ASSIGNMENT).json()["success"]
    press(released["teacher"], "collect")
    return released


@pytest.fixture(scope="module")
def returned(collected: Users) -> Users:
    for command in ("grade", "feedback"):
        line = f"cd ~/attention && {sys.executable} -m autograder {command}"
        code = f"import subprocess\nprint(subprocess.run({line!r}, shell=True, capture_output=True, text=True))"
        (said,) = collected["teacher"].run("terminal.ipynb", [code])
        assert "returncode=0" in said, said
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
    page = first.removeprefix(f"/user/{users['ada'].name}/lab/tree/")
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
    cells = [setup, right["project_qkv"], "check(project_qkv)", "no_such_name"]
    *_, card, lost = users["ada"].run(NOTEBOOK, cells)
    assert "passed" in card
    assert "run that cell first" in lost  # from the environment's etc/ipython
    progress = Path(FOLDER).parent / "progress.json"
    content = users["ada"].ask("GET", f"api/contents/{progress}").json()["content"]
    assert json.loads(content)[LESSON] == {"project_qkv": "passed"}


def test_nothing_is_sent_before_its_student_has_read_what(users: Users, right: dict[str, str], package) -> None:
    setup = next(cell.source for cell in submission(package, {}).cells if cell.cell_type == "code")
    show = 'from autograder import sharing\nsharing("show")'
    *_, unseen, kept = users["bob"].run(NOTEBOOK, [setup, right["attend"], "check(attend)", show])
    assert "tells your teacher's board" in unseen
    assert "kept nothing about you" in kept


def test_a_student_does_not_see_the_board(users: Users) -> None:
    for name, seen in (("ada", 403), ("teacher", 200)):
        page = User(name, f"{users[name].hub}/services/board/", users[name].token)
        assert page.request("GET", "").status_code == seen


def test_the_board_is_the_teachers_account_where_no_students_can_listen(users: Users, places: Places) -> None:
    port = int(re.search(r'"url": "http://127.0.0.1:(\d+)"', (places.root / "jupyterhub_config.py").read_text())[1])
    (board,) = (
        each.pid
        for each in psutil.net_connections("tcp4")
        if each.status == psutil.CONN_LISTEN and each.laddr == ("127.0.0.1", port)
    )
    assert psutil.Process(board).username() == places.people["teacher"].name
    with acting_as(places.people["bob"]), pytest.raises(PermissionError):
        socket.create_server(("127.0.0.1", port))


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
    hub = User("", f"{assistant.hub}/hub/api/users/", assistant.token)
    started = {who: hub.request("POST", f"{users[who].name}/server").status_code for who in ("teacher", "ada")}
    assert started == {
        "teacher": 400,
        "ada": 404,
    }  # it runs; she may not know who else is there
    for name in ("ada", "bob"):
        assert User("", users[name].address, assistant.token).request("GET", "api/contents").status_code == 403


def test_what_a_user_has_is_closed_to_others(users: Users, places: Places) -> None:
    for path in (places.home("ada") / NOTEBOOK, places.home("teacher") / "attention" / "solutions"):
        assert path.exists()
        with acting_as(places.people["bob"]), pytest.raises(PermissionError):
            path.stat()


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
    assert clone.students(clone.lesson(LESSON)) == [collected["ada"].name, collected["bob"].name]
    for name in ("ada", "bob"):
        (mine,) = collected[name].ask("GET", "assignments", params={"course_id": "attention"}).json()["value"][1:]
        assert mine["student_id"] == collected[name].name


def test_nobody_sees_who_has_handed_in(collected: Users, places: Places) -> None:
    inbound = places.exchange / "attention" / "inbound"
    assert {path.owner() for path in inbound.iterdir()} == {collected["ada"].name, collected["bob"].name}
    with acting_as(places.people["bob"]), pytest.raises(PermissionError):
        list(inbound.iterdir())


def test_it_is_graded(returned: Users, clone: Course) -> None:
    with open_gradebook(clone) as gradebook:
        points = {row.student.id: row.score for row in gradebook.assignment_submissions(LESSON)}
    assert points.keys() == {returned["ada"].name, returned["bob"].name}
    assert points[returned["ada"].name] > points[returned["bob"].name] > 0


def test_everybody_gets_their_own_feedback(returned: Users, places: Places, clone: Course) -> None:
    lesson = clone.lesson(LESSON)
    for name in ("ada", "bob"):
        (page,) = (places.home(name) / FOLDER / "feedback").glob("*/*.html")
        assert page.read_bytes() == clone.feedback_page(lesson, returned[name].name).read_bytes()


@pytest.fixture(scope="module")
def served(returned: Users, places: Places, clone: Course, by_hand: ExitStack) -> Users:
    """From here on, the hub's service grades at hand-in, without the pause between two attempts."""
    handing_in.configure(clone, "c.HandIn.pause = 0\n")
    by_hand.close()
    wait_until(lambda: "Watching" in places.log.read_text())
    return returned


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as page:
        assert page.context.browser
        yield page.context.browser


@pytest.fixture(scope="module")
def board(browser: Browser, users: Users) -> Page:
    teacher = users["teacher"]
    page = signed_in(browser, f"{teacher.hub}/services/board/?lesson={LESSON}", teacher.name)
    page.get_by_text("Live: the page follows the class.").wait_for()
    return page


@pytest.fixture(scope="module")
def pictures() -> Path:
    """Where pictures of the walk stay, to be looked at."""
    folder = ROOT / "build" / "walk"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def desk(browser: Browser, served: Users, places: Places) -> Desk:
    with acting_as(places.people["bob"]):
        follow_the_browsers_colors(places.home("bob"))
    return Desk(browser, served["bob"], NOTEBOOK)


def look(board: Page, student: User, exercise: str, state: str) -> None:
    """Wait until a student's cell for an exercise says something."""
    heads = [head.split()[-1] for head in board.locator("thead th").all_text_contents()]
    column = heads.index(exercise)
    row = board.locator("tbody tr", has=board.locator("th", has_text=student.name))
    row.locator("td").nth(column - 1).get_by_text(state).wait_for()


@needs_chromium
def test_a_wrong_answer_is_stuck_on_the_teachers_page(desk: Desk, board: Page, served, package, pictures) -> None:
    (wrong,) = (m for m in package.key.mistakes_of("attend") if m.name == "softmax_over_queries")
    desk.open()
    cell = desk.check("attend", wrong.source, times=4)  # before the first, nobody has agreed to anything
    cell.get_by_text(OVER_QUERIES).first.wait_for()
    photograph(desk.page, pictures, "1-wrong-answer")
    look(board, served["bob"], "attend", "! stuck")
    board.locator("summary", has_text=f"1 × {OVER_QUERIES}").click()
    photograph(board, pictures, "2-stuck-on-the-board")
    assert board.locator("details[open] .names").text_content() == served["bob"].name


@needs_chromium
def test_the_right_answer_is_on_the_teachers_page(desk: Desk, board: Page, served, right, pictures) -> None:
    desk.check("attend", right["attend"]).get_by_text("✓ attend:").first.wait_for()
    photograph(desk.page, pictures, "3-right-answer")
    look(board, served["bob"], "attend", "✓ passed")
    photograph(board, pictures, "4-passed-on-the-board")
    mine = 'from autograder import sharing\nsharing("show")'
    assert served["bob"].run(START_PAGE, [mine])[0].count("attend: softmax_over_queries") >= 3


def hand_in_and_fetch(desk: Desk, places: Places, clone: Course, bob: User, attempt: int) -> None:
    """Submit, wait for feedback and fetch it; print how long it took until that was possible."""
    lesson, folder = clone.lesson(LESSON), places.home("bob") / FOLDER / "feedback"
    desk.submit()
    took = seconds_until(
        lambda: sum(bool(a.released) for a in graded_attempts(read_attempts(clone, lesson, bob.name))) == attempt
    )
    desk.fetch(lambda: len(list(folder.glob("*/*.html"))) == attempt)
    print(f"feedback could be fetched {took:.1f} s after Submit")


@needs_chromium
def test_what_is_submitted_comes_back_graded(desk: Desk, places, clone, served, pictures) -> None:
    hand_in_and_fetch(desk, places, clone, served["bob"], attempt=2)
    photograph(desk.page, pictures, "5-submitted-and-fetched")
    shown = desk.start_page()
    shown.get_by_text("Attempt 2. It counts, being the best so far.").first.wait_for()
    photograph(desk.page, pictures, "6-start-page")
    page = desk.feedback()
    photograph(desk.page, pictures, "7-feedback")
    assert page.get_by_role("row", name=re.compile("2.3 attend")).first.inner_text().endswith("all checks passed")
    sizes = {page.locator(part).first.evaluate("part => getComputedStyle(part).fontSize") for part in ("p", "td")}
    assert len(sizes) == 1


@needs_chromium
def test_a_better_answer_gets_a_better_grade(desk: Desk, board, places, clone, served, right, pictures) -> None:
    desk.open()
    for exercise, code in right.items():
        desk.check(exercise, code)
        look(board, served["bob"], exercise, "✓ passed")
    hand_in_and_fetch(desk, places, clone, served["bob"], attempt=3)
    desk.start_page().get_by_text("Attempt 3. It counts, being the best so far.").first.wait_for()
    desk.feedback()
    photograph(desk.page, pictures, "8-better-grade")
    points = [a.points for a in graded_attempts(read_attempts(clone, clone.lesson(LESSON), served["bob"].name))]
    assert points == sorted(set(points))


def test_many_who_hand_in_at_once_all_get_feedback(served: Users, places: Places, package, right) -> None:
    mistakes = [{**right, mistake.exercise: mistake.source} for mistake in package.key.mistakes]
    texts = [notebook_text(submission(package, edits)) for edits in (right, *mistakes[:8], {})]
    waiting, waited = dict[Path, float](), list[float]()
    with accounts(*(f"s{number}" for number in range(AT_ONCE))) as students:
        for number, student in enumerate(students):
            with acting_as(student):
                secret = handing_in.hand_in(places.exchange, student.name, texts[number % len(texts)], LESSON)
            waiting[handing_in.page_of(places.exchange, secret, LESSON)] = time.monotonic()
        pages = dict(zip(students, waiting, strict=True))
        while waiting and time.monotonic() < max(waiting.values()) + 900:
            waited += [time.monotonic() - waiting.pop(page) for page in list(waiting) if page.exists()]
            time.sleep(0.05)
        for student, page in pages.items():
            with acting_as(student):
                assert "Attempt 1. It counts." in page.read_text()
    print(f"{AT_ONCE} at once: feedback after {statistics.median(waited):.1f} s (median), {max(waited):.1f} s (most)")


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
