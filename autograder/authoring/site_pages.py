"""A lesson's page on the site: what students get, with what its demonstrations show before anything is solved."""

from __future__ import annotations

import ast
import dis
import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from nbformat.v4 import new_output

from ..errors import LessonError, command
from ..paths import Lesson
from .lesson import LessonCell, exercises_in, read_lesson
from .notebook import Notebook, join_cells, read_notebook, released_notebook, solved_cell

DEMONSTRATIONS = ("demo", "measured")
YOURS = "*What comes out here depends on your own solution. Run the lesson to see it.*"
TO_READ = "*This page is for reading. To run its cells and to check your solutions, [set up the course]({}).*"
PIECES = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)  # code at odd places, text at even ones
LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?P<file>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
FIGURE = """<figure class="moving" data-words="{words}" hidden>
<div class="frame"><img src="data:image/webp;base64,{webp}" alt=""></div>
{sliders}
<p role="status"></p>
</figure>"""
SLIDER = (
    '<label>{name} <input type="range" max="{last}" value="{start}" data-labels="{labels}"><output></output></label>'
)


def lesson_page(lesson: Lesson, site_paths: Mapping[str, str], setting_up: str) -> Notebook:
    """Return a lesson as the site shows it; `setting_up` is the file that says how to run one.

    Text and stubs are those of the release, which holds no solution. Outputs are those of the solved notebook, where no
    solution had a part in them: an unsolved notebook shows the same.

    Raises:
        LessonError: the solved notebook is not what the lesson says now.
    """
    cells = read_lesson(lesson)
    released = released_notebook(cells, dict.fromkeys(exercises_in(cells), 0))
    own = (lesson.released_dir / lesson.notebook_name).relative_to(lesson.root).as_posix()
    for cell, page_cell, outputs in zip(cells, released.cells, unsolved_outputs(lesson, cells), strict=True):
        page_cell.metadata = page_metadata(cell, outputs)
        if page_cell.cell_type == "code":
            page_cell.outputs = [*outputs, *moving_figures(outputs)]
        else:
            page_cell.source = relinked(page_cell.source, own, site_paths)
    to_read = TO_READ.format(posixpath.relpath(site_paths[setting_up], posixpath.dirname(site_paths[own])))
    released.cells[0].source = released.cells[0].source.replace("\n## ", f"\n{to_read}\n\n## ", 1)
    answers = {i for i, cell in enumerate(cells) if cell.kind == "question"}  # boxes to write in
    return join_cells([cell for i, cell in enumerate(released.cells) if i not in answers])


def page_metadata(cell: LessonCell, outputs: list[Any]) -> dict[str, Any]:
    """Return what the style sheet tells cells apart by, and the alternative text of a cell's figure."""
    texts = [o.metadata["image/png"]["alt"] for o in outputs if "alt" in o.get("metadata", {}).get("image/png", {})]
    return {"tags": [cell.kind], **({"mystnb": {"image": {"alt": " ".join(texts)}}} if texts else {})}


def moving_figures(outputs: list[Any]) -> Iterator[Any]:
    """Yield as HTML each figure that moves: one picture of all frames, and sliders that choose the one to be seen.

    The frames come from `plot.frames`; what moves them is website/static/lessons.js. Until that runs, the figure is
    hidden, and where no script runs, and on paper, the three frames before it are there.
    """
    for output in outputs:
        if frames := output.get("metadata", {}).get("image/png", {}).get("frames"):
            sliders = "\n".join(map(slider, frames["controls"]))
            figure = FIGURE.format(words=attribute(frames["words"]), webp=frames["webp"], sliders=sliders)
            yield new_output("display_data", {"text/html": figure})


def slider(control: Mapping[str, Any]) -> str:
    """Return the HTML of one slider, whose positions are counted from 0."""
    name, labels = escape(control["name"]), control["labels"]
    return SLIDER.format(name=name, last=len(labels) - 1, start=control["start"], labels=attribute(labels))


def attribute(value: Any) -> str:
    """Return a value as JSON that can stand between quotes."""
    return escape(json.dumps(value, ensure_ascii=False))


def unsolved_outputs(lesson: Lesson, cells: list[LessonCell]) -> Iterator[list[Any]]:
    """Yield each cell's outputs; a note in place of those that need a solution, and nothing below a check.

    Raises LessonError where the solved notebook is another lesson's, or an older one.
    """
    solved = read_notebook(lesson.solved_ipynb).cells if lesson.solved_ipynb.is_file() else []
    if [c.source for c in solved] != [solved_cell(c).source for c in cells]:
        remedy = f"`{command(f'build --lesson {lesson.name}')}` first."
        raise LessonError(lesson.shown(lesson.solved_ipynb), "this is not what the lesson says now.", remedy)
    for cell, solved_one, depends in zip(cells, solved, needs_solution(cells), strict=True):
        if cell.kind not in DEMONSTRATIONS:
            yield []
        elif depends:
            yield [new_output("display_data", {"text/markdown": YOURS})]
        else:
            yield solved_one.outputs


def needs_solution(cells: list[LessonCell]) -> list[bool]:
    """Say of each cell whether it uses an exercise, or anything that was made with one."""
    from_solutions: set[str] = set()
    dependent = []
    for cell in cells:
        code = [] if cell.kind in ("prose", "hints", "question") else ast.parse(solved_cell(cell).source).body
        depends = cell.kind == "exercise"
        for statement in code:
            if cell.kind == "exercise" or mentioned(statement) & from_solutions:
                depends = True
                from_solutions |= bound(statement)
            else:
                from_solutions -= bound(statement)
        dependent.append(depends)
    return dependent


def mentioned(statement: ast.stmt) -> set[str]:
    """Return the names whose values a statement may use, however deep inside."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)]
    names += [n.target for n in ast.walk(statement) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)]
    return {name.id for name in names}


def bound(statement: ast.stmt) -> set[str]:
    """Return the names that the following cells get from a statement: none that are a function's own."""
    code = compile(ast.Module([statement], []), "cell", "exec")
    return {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}


def relinked(text: str, own: str, site_paths: Mapping[str, str]) -> str:
    """Return Markdown of the file `own` whose links lead to the site's pages, or are text where there is none."""

    def link(match: re.Match[str]) -> str:
        target = site_paths.get(posixpath.normpath(posixpath.join(posixpath.dirname(own), match["file"])))
        if target is None:
            return match["text"]
        path = posixpath.relpath(target, posixpath.dirname(site_paths[own]))
        return f"[{match['text']}]({path}{match['anchor'] or ''})"

    pieces = PIECES.split(text)
    pieces[::2] = [LINK.sub(link, piece) for piece in pieces[::2]]
    return "".join(pieces)
