"""What a submission's code may use without anybody being asked: ordinary modules, public names, ordinary built-ins.

A function can be reached in more ways than anybody lists, and some of them lead past the record of what ran. So what is
ordinary is listed. What lies outside of it is a question for a person, and never a verdict.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
import types
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import torch

from ..errors import escaped
from .syntax import Path, as_code, bound_at, imported, reachable, wanted_by
from .vocabulary import is_in, is_usual_part


def listed(names: str) -> frozenset[str]:
    """Return the names in a text."""
    return frozenset(names.split())


MODULES = listed("""
__future__ abc bisect cmath collections contextlib copy dataclasses enum fractions functools heapq itertools math
numbers operator random re statistics string sys.float_info sys.maxsize textwrap time torch torch.backends torch.cuda
torch.nn torch.testing typing warnings
""")
OF_TORCH = (
    listed("""
Generator Size Tensor as_tensor asarray atleast_1d atleast_2d atleast_3d autocast block_diag broadcast_shapes cdist
cartesian_prod compile default_generator device dtype einsum enable_grad finfo from_numpy get_default_device
get_default_dtype get_num_threads get_rng_state iinfo inference_mode initial_seed is_complex is_floating_point
is_grad_enabled is_tensor layout load manual_seed meshgrid no_grad norm save seed set_default_device set_default_dtype
set_float32_matmul_precision set_flush_denormal set_grad_enabled set_num_threads set_printoptions set_rng_state split
stft tensor tensordot typename unique unique_consecutive unravel_index use_deterministic_algorithms vmap
""")
)  # beside its operators, types and numbers: PyTorch has classes that switch the record off, or run things in threads
ELSEWHERE = listed("""
IPython.display asyncio.gather asyncio.run asyncio.sleep datetime einops gc.collect inspect.getsource json matplotlib
multiprocessing.cpu_count numpy os.cpu_count os.environ os.getcwd os.listdir os.makedirs os.path pandas pathlib pprint
rich scipy seaborn sys.path sys.version torch.profiler torch.utils.benchmark torch.utils.data tqdm tracemalloc
""")  # in cells that no exercise leads to: what shows, measures and reads files
RUN_TEXTS = listed("""
functools.singledispatch functools.singledispatchmethod numpy.load operator.attrgetter operator.methodcaller pandas.eval
pandas.read_pickle string.Formatter torch.load typing.get_type_hints
""")  # in those modules, the public names that find or run what a text says
ASKED_ABOUT = listed("__import__ breakpoint compile eval exec get_ipython globals locals vars")
MAGICS = listed("""
capture conda config env history lsmagic matplotlib pip precision prun pwd time timeit who who_ls whos
""")
MAGIC = re.compile(r"^[ \t]*%{1,2}(\w+)|=[ \t]*%(\w+)", re.MULTILINE)
WRITES = listed("write_text write_bytes")  # a file that is imported afterward is read by nobody
MOST_SHOWN = 80  # characters of a word
BY_NAME = listed("getattr setattr hasattr delattr type")  # ordinary in a call that shows what it reaches
SPECIAL = listed("""
__init__ __call__ __name__ __class__ __len__ __getitem__ __iter__ __next__ __contains__ __enter__ __exit__ __repr__
__str__ __eq__ __hash__ __post_init__ __doc__ __version__
""")
RUNNING = (types.FrameType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.TracebackType)
FRAMES = {name for kind in (*RUNNING, types.CodeType) for name in dir(kind) if re.match("(f|gi|cr|ag|tb|co)_", name)}
EXACT = ("torch", "autograder")  # of these, each module has to be allowed by itself
ANYWHERE = frozenset(dir(builtins)).union(["display", "In", "Out", "_", "__"])  # names that no cell defines
OTHERS = (sys.stdlib_module_names - MODULES).union(EXACT)  # wherever one of these is met, it is that module
MOST_STEPS = 20
Names = Mapping[str, Path]


class CodeReader:
    """Reads a submission's code for what is not ordinary.

    Args:
        sources: all code cells.
        own: those that the student wrote or changed. They may use what the others import.
    """

    def __init__(self, sources: Sequence[str], own: Collection[str]) -> None:
        self._sources = [as_code(source) for source in sources]
        self._own = [source for source in self._sources if source in own]
        self._texts = list(own)
        given = [source for source in self._sources if source not in own]
        self._given = {id(node) for source in given for node in source.statements}
        imports = [path for source in given for path in source.imports.values()]
        self._modules = MODULES.union((path[0] for path in imports), map(".".join, imports))
        names = {name: path for source in self._sources for name, path in source.imports.items()}
        self._names = with_renamed((part for node in self._own_nodes() for part in ast.walk(node)), names)
        self._defined = ANYWHERE.union(*(source.bound for source in self._sources))

    def _own_nodes(self) -> Iterator[ast.stmt]:
        return (node for source in self._own for node in source.statements)

    def question(self, exercise: str, known: Collection[str] = ()) -> str:
        """Return what a person should look at before an exercise's points count, or ''.

        Args:
            exercise: its name. Read is what binds it, and what that leads to.
            known: what its honest answers use beyond what is ordinary.
        """
        nodes = self._reached(exercise)
        if word := next(self._words(nodes, known), ""):
            return f"its code uses `{shown_word(word)}`"
        if "*" not in self._defined and (
            names := sorted({n for node in nodes for n in wanted_by(node)} - self._defined.union(known))
        ):
            return f"its code uses `{shown_word(names[0])}`, which no cell defines that can be read"
        unread = any(exercise in source and source.strip() and not source.statements for source in self._own)
        return "a cell with its name cannot be read" if unread else ""

    def question_elsewhere(self, known: Collection[str] = ()) -> str:
        """Return what in any cell of the student's own may change what is recorded, or what a name means; or ''."""
        magics = (f"%{name}" for text in self._texts for name in magics_in(text) if name not in MAGICS)
        written = (word for node in self._own_nodes() for word in written_in(node) if word not in known)
        word = next(chain(self._words(self._own_nodes(), ELSEWHERE.union(known)), magics, written), "")
        return f"a cell uses `{shown_word(word)}`" if word else ""

    def words(self, exercise: str) -> frozenset[str]:
        """Return all that an exercise's code uses beyond what is ordinary."""
        return frozenset(self._words(self._reached(exercise), ()))

    def _reached(self, exercise: str) -> list[ast.stmt]:
        return [node for node in reachable(["", *self._sources], exercise) if id(node) not in self._given]

    def _words(self, nodes: Iterable[ast.stmt], known: Collection[str]) -> Iterator[str]:
        modules = self._modules.union(known)
        return (word for node in nodes for word in words_in(node, self._names, modules) if word not in known)


def shown_word(word: str) -> str:
    """Return a word as a line shows it: the student wrote it, and it may be long or hold what a terminal obeys."""
    return escaped(word)[:MOST_SHOWN]


def magics_in(text: str) -> Iterator[str]:
    """Yield the names of IPython's magics in a cell."""
    yield from (whole or value for whole, value in MAGIC.findall(text))


def written_in(node: ast.stmt) -> Iterator[str]:
    """Yield what writes a file as text."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr in WRITES:
            yield part.attr
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "open":
            modes = [*part.args[1:2], *(word.value for word in part.keywords if word.arg == "mode")]
            if any(not isinstance(mode, ast.Constant) or set(str(mode.value)) - set("rbt") for mode in modes):
                yield "open"


def words_in(node: ast.stmt, names: Names, modules: Collection[str]) -> Iterator[str]:
    """Yield what is not ordinary in a statement: modules, private names, built-ins that run a text.

    Args:
        node: the statement.
        names: what names of all cells stand for that lead into modules.
        modules: those that it may use.
    """
    parts, outside = list(ast.walk(node)), wanted_by(node)
    names = with_renamed(parts, {name: path for name, path in names.items() if name in outside})
    fields = {id(statement) for part in parts if isinstance(part, ast.ClassDef) for statement in part.body}
    followed = {id(inner) for part in parts if id(part) not in fields for inner in followed_in(part)}
    shown, loops = set[int](), loop_texts(parts)
    for part in parts:
        reached = list(reached_for(part, loops))
        if isinstance(part, ast.Call) and (reached or is_plain_type(part)):
            shown.add(id(part.func))
        for path in paths_of(part, reached, names):
            module, ordinary = follow(path, modules)
            if not ordinary or (module and isinstance(part, ast.Name | ast.Attribute) and id(part) not in followed):
                yield ".".join(path)
        asked = ASKED_ABOUT if id(part) in shown else ASKED_ABOUT | BY_NAME
        if isinstance(part, ast.Name) and part.id in outside & asked:
            yield part.id
        yield from (word for word, owner in reached if is_private(word, owner))


def with_renamed(parts: Iterable[ast.AST], names: Names) -> dict[str, Path]:
    """Return what names stand for, those with it that code imports itself or gives to what a path leads to."""
    known = dict(names)
    for part in parts:
        known |= imported(part)
        target = part.targets[0] if isinstance(part, ast.Assign) else None
        if isinstance(part, ast.Assign) and isinstance(target, ast.Name) and (path := path_of(part.value, known)):
            known[target.id] = path
    return known


def followed_in(part: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions in a node that may be a module, because what becomes of them is read."""
    if isinstance(part, ast.Attribute) or (isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)):
        yield part.value
    elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in BY_NAME | {"dir", "help"}:
        yield from part.args


def paths_of(part: ast.AST, reached: Iterable[tuple[str, ast.AST | None]], names: Names) -> Iterator[Path]:
    """Yield where a node leads to: what it imports, and what it reaches from where a module begins."""
    if isinstance(part, ast.Import):
        yield from ((alias.name,) for alias in part.names)
    elif isinstance(part, ast.ImportFrom):
        yield from (some for path in imported(part).values() for some in (path[:1], path))
    elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
        yield from [names[part.id]] if part.id in names else []
    yield from ((*path, word) for word, owner in reached if (path := path_of(owner, names)))


def path_of(node: ast.AST | None, names: Names) -> Path:
    """Return the path of an expression that begins in a module; of a very long one none: its beginning is asked too."""
    steps: list[str] = []
    while isinstance(node, ast.Attribute) and len(steps) < MOST_STEPS:
        steps.append(node.attr)
        node = node.value
    begun = names.get(node.id, ()) if isinstance(node, ast.Name) else ()
    return (*begun, *reversed(steps)) if begun else ()


def follow(path: Path, modules: Collection[str]) -> tuple[str, bool]:
    """Return the module that a path leads to, '' where to something else, and whether all on it is ordinary."""
    module, *steps = path
    if not is_ordinary(module, modules):
        return "", bool(steps)  # a name from there is asked about where it is imported
    for name in steps:
        whole = f"{module}.{name}"
        if whole in RUN_TEXTS or (name.startswith("_") and name not in SPECIAL):
            return "", False
        if name == "*":
            return "", is_known(module) and not any(w.startswith(f"{module}.") for w in {*RUN_TEXTS, *MODULES})
        if module == "torch" and not is_ordinary_in_torch(name):
            return "", False
        inner = module_in(module, name)
        if not inner or not is_ordinary(inner, modules):
            return "", not inner
        module = inner
    return (module if not steps or is_known(module) else ""), True


def is_ordinary(module: str, modules: Collection[str]) -> bool:
    """Say whether a module may be used, or something in it."""
    if module.split(".")[0] in EXACT:
        return module in modules or is_usual_part(module)
    return is_in(module, modules) or any(name.startswith(f"{module}.") for name in modules)


def is_ordinary_in_torch(name: str) -> bool:
    """Say whether `torch.<name>` is an operator, a type, a number or a helper; a module is asked about itself."""
    value = getattr(torch, name, None)
    plain = (torch.dtype, torch.layout, torch.memory_format, float, int, str, types.ModuleType, types.NoneType)
    return name in OF_TORCH or isinstance(value, plain) or hasattr(torch._C._VariableFunctions, name)


def is_known(module: str) -> bool:
    """Say whether the judge has a module itself, and so what is in it: PyTorch, the course, what these import."""
    return module in sys.modules and module.split(".")[0] in MODULES.union(EXACT)


def module_in(module: str, name: str) -> str:
    """Return the module that a name in another one is or may be, '' where it is none."""
    if not is_known(module):
        return name if name in OTHERS else f"{module}.{name}"
    found = vars(sys.modules[module]).get(name)
    if name in vars(sys.modules[module]) and not isinstance(found, types.ModuleType):
        return ""
    return getattr(found, "__name__", f"{module}.{name}")


def reached_for(part: ast.AST, loops: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ast.AST | None]]:
    """Yield the names that a node reaches for or defines, each with the object that has it, where there is one.

    Args:
        part: the node.
        loops: the texts that names of loops stand for.
    """
    if isinstance(part, ast.Attribute):
        yield part.attr, part.value
    elif isinstance(part, ast.MatchClass):
        yield from ((name, part.cls) for name in part.kwd_attrs)
    elif isinstance(part, ast.Name | ast.FunctionDef | ast.AsyncFunctionDef):
        yield part.id if isinstance(part, ast.Name) else part.name, None
    elif isinstance(part, ast.Call) and len(part.args) > 1 and asks_by_name(part.func, part.args[0]):
        yield from ((text, part.args[0]) for text in texts_of(part.args[1], loops))


def asks_by_name(function: ast.expr, owner: ast.expr) -> bool:
    """Say whether a function gives what a text names, or sets it in the object itself."""
    name = function.id if isinstance(function, ast.Name) else ""
    return name in ("getattr", "hasattr") or (name in ("setattr", "delattr") and is_own(owner))


def texts_of(node: ast.AST, loops: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the texts that an expression can be, or begins with, where they are written out: also in a loop's head."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    if isinstance(node, ast.Name):
        return loops.get(node.id, ())
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def loop_texts(parts: Iterable[ast.AST]) -> dict[str, list[str]]:
    """Return the texts of names that nothing binds but loops over a few texts that are written out."""
    bound, found = Counter[str](), dict[str, list[list[str]]]()
    for part in parts:
        bound.update(bound_at(part))
        for target, values in columns_of(part) if isinstance(part, ast.For | ast.comprehension) else ():
            texts = [text for value in values[:MOST_STEPS] if isinstance(text := getattr(value, "value", None), str)]
            if isinstance(target, ast.Name) and len(texts) == len(values):
                found.setdefault(target.id, []).append(texts)
    return {name: [*chain(*texts)] for name, texts in found.items() if len(texts) == bound[name] <= MOST_STEPS}


def columns_of(loop: ast.For | ast.comprehension) -> Iterator[tuple[ast.AST, Sequence[ast.AST | None]]]:
    """Yield what a loop over a list that is written out gives to each of its names."""
    rows = getattr(loop.iter, "elts", [None])
    yield loop.target, rows
    for n, target in enumerate(getattr(loop.target, "elts", [])):
        yield target, [row.elts[n] if isinstance(row, ast.Tuple) and n < len(row.elts) else None for row in rows]


def is_plain_type(call: ast.Call) -> bool:
    """Say whether a call asks for an object's type, and does not make a new one."""
    return isinstance(call.func, ast.Name) and call.func.id == "type" and len(call.args) == 1


def is_private(word: str, owner: ast.AST | None) -> bool:
    """Say whether a name is the language's or a library's own: of an object's own ones, only the language's."""
    if word.startswith("__") and word.endswith("__"):
        return word not in SPECIAL
    return owner is not None and (word in FRAMES or (word.startswith("_") and not is_own(owner)))


def is_own(node: ast.AST) -> bool:
    """Say whether an expression is the object whose method this is: `self`, `cls`, `super()`."""
    name = node.func if isinstance(node, ast.Call) else node
    return isinstance(name, ast.Name) and name.id in ("self", "cls", "super")
