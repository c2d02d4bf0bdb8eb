"""Which of PyTorch's functions run while a student's code does, whatever it calls them, and which modules call them.

A record is a set of names of four kinds: a function as Python calls it (`softmax`), an operator that it ends in, with
its namespace (`aten::_softmax`), a module between a student's code and a function (`from torch.nn.functional`), and an
object that may compute when nothing is recorded: it came back (`later::generator`), or PyTorch asks it for its items.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import islice
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FrameType,
    FunctionType,
    MethodDescriptorType,
    MethodWrapperType,
    NoneType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np
import torch
from torch._tensor_str import PRINT_OPTS
from torch.overrides import TorchFunctionMode, _get_current_function_mode
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode

from .intact import classes_changed
from .modules import ModuleFinder
from .threads import noting_threads

MOST_NAMES = 500  # PyTorch has more operators, but no answer needs so many
AND_MORE = "(and more)"
CALLER = "from "
OUTERMOST = ("__main__", "reference", "checks", "hidden")  # a student's code, a solution, what calls them
BETWEEN = ("torch.overrides", "torch._ops")  # what is recorded goes through them
MESSAGES = "autograder.grading."  # which sends what a black box is asked
FOR_NUMPY = ("numpy", "__array__", "__dlpack__")  # by which a tensor's numbers leave PyTorch
LATER = "later::"  # before the kind of an object that may run code when nobody records it
PLAIN = (
    *(NoneType, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range, slice),
    *(EllipsisType, torch.layout, torch.memory_format),
    *(torch.Tensor, torch.nn.Parameter, torch.Size, torch.dtype, torch.device, np.ndarray, np.generic),
    *(torch.UntypedStorage, torch.TypedStorage),  # which a deep copy hands over
    torch.ScriptObject,  # which a profiler hands over
)
CALLED = (FunctionType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, MethodWrapperType)
CALLING = ("apply_", "map_", "map2_", "register_hook", "register_post_accumulate_grad_hook")
READ_BY = ("__iter__", "__getitem__", "__len__", "__getattribute__")
LIBRARIES = ("collections", "torch", "numpy")
DEEPEST, MOST_LOOKED_AT = 8, 1000
# nobody watches while a recorder asks these: a method that somebody has put in their place is not called
IS_COMPLEX, IS_FLOATING_POINT = torch._C.TensorBase.is_complex, torch._C.TensorBase.is_floating_point
TO_PYTHON, MOST_NUMBERS = "aten::_local_scalar_dense", 5000
USUAL_DIGITS, USUAL_NUMBERS = 6, 1000  # of what is printed
NAME, MODULE, MRO = (vars(type)[name].__get__ for name in ("__name__", "__module__", "__mro__"))
ODD = "<odd>"  # a name that is no text
HOLDERS = (list, tuple, dict, slice)
FROZEN = "<frozen "
FROM_TEXT = "<string>"  # where `exec` and `eval` say that code comes from
INSIDE, AFTERWARD = f"{LATER}code_within_an_operator", f"{LATER}code_afterward"
OF_NAMED_TUPLES = 3  # globals of the one function that a named tuple has of a text, none of them a built-in
OF_CHECKS = ("checks.py", "hidden.py")
FOLDERS = (Path(torch.__file__).parents[1], Path(contextlib.__file__).parent, Path(__file__).parents[1])
INSTALLED = tuple(str(folder / "_")[:-1] for folder in FOLDERS)  # libraries, Python's own, and this one
Watch = Callable[[FrameType, str, Any], object]


class FunctionRecorder(TorchFunctionMode):
    """Notes the names of functions as Python calls them, such as `scaled_dot_product_attention` and `softmax`."""

    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self._names, self._watch = names, watching(names)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note a function and the modules that call it, and call it."""
        kind = type(func)
        known = any(kind is each for each in CALLED) or is_librarys(kind) or func is torch.device
        name = text(func.__name__) if known else LATER + name_of(kind)
        note(self._names, name)
        if name == "__repr__" and not prints_few():
            note(self._names, "item")
        if name in CALLING:
            note(self._names, f"{LATER}function")
        given = (args, kwargs, vars(PRINT_OPTS))
        note_all(self._names, () if is_deep_copy(name, args) else unrecorded_in(given))
        for module in callers(sys._getframe(1)):
            note(self._names, CALLER + module)
        return watched(self._names, self._watch, lambda: func(*args, **(kwargs or {})))


class OperatorRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes the operators that functions end in, such as `aten::_softmax`, by whatever way they were reached."""

    supports_higher_order_operators = True  # else PyTorch refuses to run those that it has no rule for

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Leave the compiler out of it: PyTorch's hook. Else the first operator imports it, which takes two seconds."""
        return False

    def __init__(self, names: set[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._names, self._watch, self._left = names, watching(names), 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note an operator, and run it."""
        return watched(self._names, None, lambda: self._run(func, types, args, kwargs or {}))

    def _run(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = operator_name(func)
        note(self._names, name)
        note_all(self._names, (LATER + name_of(kind) for kind in types if not is_plain(kind)))
        if name == TO_PYTHON:
            self._note_number(args[0])
        result = watched(self._names, self._watch, lambda: func(*args, **kwargs))
        if isinstance(result, torch.Tensor) and IS_COMPLEX(result):
            note(self._names, "complex")
        return result

    def _note_number(self, number: torch.Tensor) -> None:
        """Note that a number leaves PyTorch, by whatever way, as `item` does; printing does not come here."""
        if IS_FLOATING_POINT(number):
            note(self._names, "item")
            return
        self._left += 1
        if self._left > MOST_NUMBERS:  # whole numbers and answers to questions may spell out any number
            note(self._names, AND_MORE)


def watching(names: set[str]) -> Watch:
    """Return a function for `sys.setprofile` that notes a student's code, and NumPy, in what a recorder calls."""

    def watch(frame: FrameType, event: str, called: Any) -> None:
        if frame.f_code.co_filename != __file__:
            name = called.__name__ if event == "c_call" else frame.f_code.co_name
            if name in FOR_NUMPY:
                note(names, name)
            if is_students(frame.f_code, frame.f_globals):
                note(names, INSIDE)

    return watch


@contextlib.contextmanager
def noticing(names: set[str] | None) -> Iterator[None]:
    """Note in the block where a student's code runs while nothing is recorded: what was kept for later may call it.

    Whatever keeps it, a handler of a logger, a weak reference, a hook of the graph, or a generator that ends when its
    last owner does. Nothing is noted where there is no set to note it in.
    """
    before = sys.getprofile()

    def watch(frame: FrameType, _event: str, _called: Any) -> None:
        if names is not None and is_students(frame.f_code, frame.f_globals):
            note(names, AFTERWARD)

    sys.setprofile(before if names is None else watch)
    try:
        yield
    finally:
        if names is not None and sys.getprofile() is not watch:  # it stopped with an error, as deep in a recursion
            note(names, AFTERWARD)
        sys.setprofile(before)


def watched(names: set[str], watch: Watch | None, work: Callable[[], Any]) -> Any:
    """Return what some work gives, watched where a recorder is out of the way.

    An object may end there, a hook or a backward function may be called, and whatever PyTorch asks for something.
    """
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        return work()
    finally:
        if watch and sys.getprofile() is not watch:
            note(names, AND_MORE)
        sys.setprofile(before)


def is_students(code: CodeType, names: Mapping[str, Any]) -> bool:
    """Say whether code is neither a library's nor the lesson's. What its module calls itself is not enough for that.

    Args:
        code: it.
        names: its globals.
    """
    file = code.co_filename
    if file.startswith(INSTALLED) or file.endswith(OF_CHECKS):  # asked first: it is so nearly always
        return False
    if names.get("_tuple_new") is tuple.__new__ and len(names) == OF_NAMED_TUPLES:
        return False  # PyTorch makes named tuples when a tensor is printed
    module = text(names.get("__name__", ""))
    if file.startswith(FROZEN):  # _collections_abc calls itself collections.abc, which is another module
        module = file[len(FROZEN) : -1]
    loaded = module != "__main__" and vars(sys.modules.get(module, sys)) is names
    of_lesson = type(names.get("__loader__")) is ModuleFinder or (loaded and file.endswith(f"/{module}.py"))
    return not (of_lesson or (loaded and file.startswith("<")))


def is_deep_copy(name: str, args: Any) -> bool:
    """Say whether a tensor is copied with what it is in: an ordinary dictionary has all that was copied before."""
    return name == "__deepcopy__" and len(args) == 2 and type(args[1]) is dict


def prints_few() -> bool:
    """Say whether a tensor is printed with few digits, and not very many of its numbers."""
    digits, numbers = PRINT_OPTS.precision, PRINT_OPTS.threshold
    return type(digits) is int and digits <= USUAL_DIGITS and type(numbers) is int and numbers <= USUAL_NUMBERS


def operator_name(func: Any) -> str:
    """Return an operator's name with its namespace. One of higher order, which takes functions, has none of its own."""
    schema = getattr(func, "_schema", None)
    return str(schema.name) if schema else f"higher_order::{getattr(func, '__name__', '')}"


def callers(frame: FrameType | None) -> list[str]:
    """Return the modules from a frame up to the student's code, or the check's; none of what a message goes through."""
    modules: list[str] = []
    while frame is not None:
        module, code = text(frame.f_globals.get("__name__", "")), frame.f_code
        of_that_name = vars(sys.modules.get(module, sys))
        if module.startswith(MESSAGES) and frame.f_globals is of_that_name:  # whoever gives itself the name is not it
            return []
        if not module or module in OUTERMOST or module.startswith("autograder."):
            usual = code.co_filename != FROM_TEXT or code.co_name.startswith("__")  # a dataclass's methods are usual
            return modules if usual else [*modules, FROM_TEXT]
        if module not in BETWEEN:
            modules.append(module)
        frame = frame.f_back
    return modules


def text(name: object) -> str:
    """Return a name that code gives itself. Another object than a text may run code when it is made one."""
    return name if type(name) is str else ODD


def name_of(kind: type) -> str:
    """Return a class's name, without asking its own class."""
    return text(NAME(kind))


def kinds_in(items: Iterable[object]) -> list[type]:
    """Return the classes of some objects, each once. They are told apart by identity: their own classes may say."""
    return [*{id(kind): kind for kind in map(type, items)}.values()]


def later_code_in(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the kinds of objects in a returned value that may run code when they are looked at: it is in no record."""
    kind = type(value)
    if not is_plain(kind):
        yield LATER + ("Module" if issubclass(kind, torch.nn.Module) else name_of(kind))
    elif issubclass(kind, torch.Tensor) and (vars(value) or vars_of_storage(value)):  # methods of its own
        yield LATER + "attributes"
    elif issubclass(kind, list | tuple | dict) and depth < DEEPEST:
        for item in islice(value.values() if issubclass(kind, dict) else value, MOST_LOOKED_AT):
            yield from later_code_in(item, depth + 1)


def attributes_of(values: Iterable[Any], depth: int = 0) -> Iterator[str]:
    """Yield where tensors have methods or fields of their own: whoever uses them next may call those."""
    for value in islice(values, MOST_LOOKED_AT):
        if issubclass(type(value), torch.Tensor) and (vars(value) or vars_of_storage(value)):
            yield LATER + "attributes"
        elif any(type(value) is kind for kind in (list, tuple, dict)) and depth < DEEPEST:
            yield from attributes_of(parts_of(value), depth + 1)


def vars_of_storage(tensor: torch.Tensor) -> dict[str, Any]:
    """Return the fields that somebody gave to what holds a tensor's numbers; none where no single thing does."""
    # a check that follows what is done with tensors is not told of this
    with contextlib.suppress(NotImplementedError, RuntimeError), torch._C.DisableTorchFunction():
        return vars(tensor.untyped_storage())
    return {}


def note_later_code(names: set[str], value: Any) -> None:
    """Note what in a returned value may run code when somebody looks at it."""
    note_all(names, later_code_in(value))


def unrecorded_in(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the kinds of objects in arguments that are no data: PyTorch may call them with no recorder in its way.

    Args:
        value: a list, tuple, dictionary or slice.
        depth: how many others it is in.
    """
    items, holds = parts_of(value), False
    for kind in kinds_in(items):
        if is_plain(kind):
            holds = holds or issubclass(kind, HOLDERS)
        elif kind is type:
            yield from (LATER + name_of(item) for item in items if type(item) is type and not is_plain(item))
        elif not is_librarys(kind) or has_own_ways(kind):
            yield LATER + name_of(kind)
    if holds and depth > DEEPEST:
        yield LATER + "list"
    elif holds:
        for item in items:
            if issubclass(type(item), HOLDERS) and is_plain(type(item)):
                yield from unrecorded_in(item, depth + 1)


def parts_of(value: Any) -> Any:
    """Return what a list, tuple, dictionary or slice holds."""
    if type(value) is slice:
        return value.start, value.stop, value.step
    return (*value, *value.values()) if issubclass(type(value), dict) else value


def has_own_ways(kind: type) -> bool:
    """Say whether objects of a class may hold others, or are called."""
    ways = {"__iter__", "__getitem__", "__len__", "__call__"}
    return any(not ways.isdisjoint(vars(base)) for base in MRO(kind))


def note_all(names: set[str], found: Iterable[str]) -> None:
    """Keep some names more, within limits."""
    for name in found:
        note(names, name)


def is_plain(kind: type) -> bool:
    """Say whether objects of a class are data: Python's, a library's, or a named tuple of the student's own.

    The class is looked at and not asked, because nobody records what it, or its own class, would do.
    """
    if any(kind is plain for plain in PLAIN):
        return True
    if issubclass(kind, tuple) and all(inspect.getattr_static(kind, name) is vars(tuple)[name] for name in READ_BY):
        return True
    return issubclass(kind, PLAIN) and is_librarys(kind)


def is_librarys(kind: type) -> bool:
    """Say whether a class is a library's own."""
    module = text(MODULE(kind))
    return module.split(".")[0] in LIBRARIES and vars(sys.modules.get(module, sys)).get(name_of(kind)) is kind


def note(names: set[str], name: str) -> None:
    """Keep one name more, within limits; what is left out is said so."""
    names.add(name if len(names) < MOST_NAMES - 1 or name in names else AND_MORE)


def saving_hooks() -> Any:
    """Return what is called with each tensor that is kept for a backward pass; None where nothing is."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True)


@cache
def is_frozen() -> bool:
    """Say whether what was there at the start of this process is kept from the garbage collector.

    Python counts it object by object, which takes 20 milliseconds in a sandbox: it is asked once, before the forks.
    """
    return gc.get_freeze_count() > 0


@contextlib.contextmanager
def recording(names: set[str] | None) -> Iterator[None]:
    """Note what runs in the block; nothing where there is no set to note it in.

    PyTorch takes a mode off its stack by place, so a student's own context manager, left in the block, may take a
    recorder off. That is noted: the recorders have to be on top again at the end. The garbage collector, which runs the
    ends of forgotten generators, waits until then, because it might come while a recorder notes something and is off;
    in a sandbox, where little is left to collect, it comes before anything is returned.
    """
    if names is None:
        yield
        return
    enabled, hooks, profile = gc.isenabled(), saving_hooks(), sys.getprofile()
    gc.disable()
    sys.setprofile(None)
    threads = noting_threads(partial(note, names, f"{LATER}thread"))
    try:
        with threads, FunctionRecorder(names) as functions, OperatorRecorder(names) as operators:
            try:
                yield
            finally:
                if enabled and is_frozen():
                    gc.collect()
                on_top = (_get_current_function_mode(), _get_current_dispatch_mode())  # type: ignore[no-untyped-call]
                if on_top != (functions, operators):
                    note(names, AND_MORE)
                if saving_hooks() != hooks:  # which the next one who calculates would call
                    note(names, f"{LATER}hook")
                if classes_changed():
                    note(names, f"{LATER}changed_class")
    finally:
        sys.setprofile(profile)
        if enabled:
            gc.enable()
