"""What `check` tells a teacher's board where a hub has one: nothing before its student has seen what that is."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from pathlib import Path
from typing import Any

from IPython.display import display

from ..errors import CourseError
from ..judging.card import with_code
from ..judging.sentences import CHANGES
from ..judging.verdict import Failure, Verdict
from ..paths import progress_file, replace_text
from .repairing import defining_cell
from .telling import MOST_CODE, append, ask_board, board_address, deliver_soon, queue_beside, withdraw

ON, OFF, CODE, SHOW = "on", "off", "code", "show"
SHARING_NAME = "sharing.json"
GAP = re.compile(r"\\{\w+\\}")  # in the words of an edit, for what is the student's
OPEN_NOTEBOOK = "JPY_SESSION_NAME"  # Jupyter's servers set it for the kernel of a notebook that is open
SENTENCES = {
    ON: "On this hub, `check` tells your teacher's board which exercise you checked, whether it passed, which message "
    'you saw and when, but not your code; `from autograder import sharing; sharing("off")` turns that off.',
    CODE: "On this hub, `check` tells your teacher's board which exercise you checked, whether it passed, which "
    'message you saw and when, with your code; `from autograder import sharing; sharing("on")` leaves out the code, '
    'and `sharing("off")` turns it all off.',
    OFF: "On this hub, your teacher has a board that `check` could tell what came out, and you have turned that off; "
    '`from autograder import sharing; sharing("on")` turns it on again.',
}
KEPT = "The board does not answer. If you have shared code with it, run this again later: then it deletes that code."


class Note:
    """A sentence for a student to read, with code between backticks."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        """Return it as plain text."""
        return self._text

    def _repr_html_(self) -> str:
        """Return it as a paragraph."""
        return f"<p style='margin:4px 0'>{with_code(self._text)}</p>"


def sharing(choice: str = "") -> None:
    """Say what `check` tells your teacher's board, or change that.

    Args:
        choice: "on" (the exercise, whether it passed, the message and the time), "code" (your code as well), "off"
            (nothing), or "show", which prints what the board has kept about you. Without one, nothing changes. With
            "on" and "off", the board also deletes the code that it has of yours.

    Raises:
        CourseError: there is no such choice, or the board does not answer.
    """
    path = sharing_file()
    if choice not in ("", ON, OFF, CODE, SHOW):
        raise CourseError(f'sharing({choice!r}) is not possible. Choose "on", "off", "code" or "show".')
    if path is None:
        print("There is no board here: `check` tells nobody anything.")
    elif choice == SHOW:
        print("\n".join(map(line_about, ask_board())) or "The board has kept nothing about you.")
    else:
        chosen = choice or read_choice(path) or ON
        display(Note(SENTENCES[chosen]))
        write_choice(path, chosen)
        if choice in (ON, OFF) and not withdraw(queue_beside(path), everything=choice == OFF):
            print(KEPT)


def notice() -> Note | None:
    """Return what a student is to read about the board, and remember that it was shown; None where there is none.

    What runs outside a notebook that somebody has open, as Validate does, is not shown to anybody.
    """
    path = sharing_file()
    if path is None:
        return None
    chosen = read_choice(path)
    if not chosen and OPEN_NOTEBOOK in os.environ:
        with contextlib.suppress(OSError):
            write_choice(path, ON)
    return Note(SENTENCES[chosen or ON])


def tell_board(exercise: str, verdict: Verdict, work: Any) -> Note | None:
    """Tell the board what came out, as far as the student agrees; return what the student has to read first.

    It waits for nobody: what cannot be sent now is sent after a later check.
    """
    path = sharing_file()
    if path is None or not verdict.started:
        return None
    chosen = read_choice(path)
    if not chosen:
        return notice()
    if chosen != OFF:
        with contextlib.suppress(OSError):
            append(queue_beside(path), try_of(exercise, verdict, defining_cell(work) if chosen == CODE else ""))
            deliver_soon(queue_beside(path))
    return None


def try_of(exercise: str, verdict: Verdict, code: str) -> dict[str, Any]:
    """Return what is told about one check."""
    return {
        "id": os.urandom(16).hex(),
        "lesson": Path.cwd().name,
        "exercise": exercise,
        "passed": verdict.passed,
        "message": message_id(verdict.failure) if verdict.failure else "",
        "time": time.time(),
        **({"code": code[:MOST_CODE]} if code else {}),
    }


def message_id(failure: Failure) -> str:
    """Return a message's name: the known mistake's, or the rule's that made it, with the edit it found."""
    if failure.mistake:
        return failure.mistake
    more = change_in(failure.message) if failure.rule == "repair" else ""
    return ":".join(filter(None, (failure.rule or "unexplained", more.replace(" ", "_"))))


def change_in(message: str) -> str:
    """Return the kind of edit that a message about a repair names, without the student's code; '' where it is none."""
    for kind, words in CHANGES.items():
        if re.search(f": {GAP.sub('.+?', re.escape(words))}[,;.]", message):
            return kind
    return ""


def sharing_file() -> Path | None:
    """Return where a student's choice is kept; None where there is no board, or no lesson."""
    progress = progress_file() if board_address() else None
    return progress.with_name(SHARING_NAME) if progress else None


def read_choice(path: Path) -> str:
    """Return what the student has chosen or been told; '' where nothing was shown yet."""
    try:
        choice = json.loads(path.read_text(encoding="utf-8"))["choice"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return choice if choice in SENTENCES else ""


def write_choice(path: Path, choice: str) -> None:
    """Keep a choice, with the moment in which it was shown."""
    replace_text(path, json.dumps({"choice": choice, "shown": time.strftime("%Y-%m-%d %H:%M:%S")}) + "\n")


def line_about(kept: dict[str, Any]) -> str:
    """Return one of the board's rows as a line."""
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(kept["time"]))
    what = "passed" if kept["passed"] else kept["message"]
    return f"{moment}  {kept['lesson']}  {kept['exercise']}: {what}" + (", with your code" if kept["code"] else "")
