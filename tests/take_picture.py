"""Makes docs/card.png, the picture in the README: a student's cell with a mistake in it, and what `check` says.

`.venv/bin/python -m tests.take_picture`; needs Chromium.
"""

import shutil
import tempfile
from pathlib import Path

from autograder.authoring.lesson_package import package_of
from autograder.paths import find_course

from .browser import card, chromium, find, open_lesson, serving, write
from .conftest import LESSON

EXERCISE, MISTAKE = "attend", "softmax_over_queries"
CODE = """def attend(query, key, value):
    weights = (query @ key.mT).softmax(dim=-2)
    return weights @ value, weights"""
PICTURE = Path(__file__).parent.parent / "docs" / "card.png"
MARGIN = 6


def take_picture(target: Path) -> str:
    """Write the picture; return what the card says."""
    course = find_course(Path(__file__).parent)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(course.index.parent, Path(folder) / "notebooks")
        with serving(Path(folder), program=("autograder", "lab")) as lab, chromium() as page:
            page.set_viewport_size({"width": 1260, "height": 1300})
            open_lesson(page, lab, LESSON)
            find(page, "import torch").locator(".cm-content").click()
            page.keyboard.press("Control+Enter")
            write(page, EXERCISE, CODE)
            page.keyboard.press("Shift+Enter")
            page.keyboard.press("Shift+Enter")
            text = card(page, EXERCISE)
            page.wait_for_timeout(1_000)
            top = find(page, f"def {EXERCISE}(").locator(".jp-InputArea-editor").bounding_box()
            shown = page.locator("[role=status]").first.bounding_box()
            assert top
            assert shown
            height = shown["y"] + shown["height"] - top["y"]
            clip = {"x": top["x"], "y": top["y"], "width": top["width"], "height": height}
            grown = {name: value + (-MARGIN if name in "xy" else 2 * MARGIN) for name, value in clip.items()}
            page.screenshot(path=target, clip=grown)
    return text


if __name__ == "__main__":
    said = take_picture(PICTURE)
    messages = {m.name: m.message for m in package_of(find_course().lesson(LESSON)).key.mistakes_of(EXERCISE)}
    assert messages[MISTAKE] in said, said
    print(f"{PICTURE}: {said}")
