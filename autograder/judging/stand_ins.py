"""What stands in place of things in Python that find or set something by a text: the same, through a guard."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any


class Fields(dict[str, Any]):
    """An object's fields; what is set here is set there.

    Args:
        owner: the object.
        setting: sets one of its attributes.
    """

    def __init__(self, owner: object, setting: Callable[[object, str, Any], None]) -> None:
        super().__init__(vars(owner))
        self._owner, self._setting = owner, setting

    def __setitem__(self, name: str, value: Any) -> None:
        self._setting(self._owner, name, value)
        super().__setitem__(name, value)

    def __reduce__(self) -> Any:
        """Copy it as a dictionary: a copy is no object's."""
        return dict, (dict(self),)

    def update(self, *given: Any, **named: Any) -> None:
        """Set several."""
        for name, value in dict(*given, **named).items():
            self[name] = value


class Text(string.Formatter):
    """Fills a text as `str.format` does.

    Args:
        text: what is filled.
        guard: gives attributes, and looks at values.
    """

    def __init__(self, text: str, guard: Any) -> None:
        self._text, self._guard = text, guard

    def format(self, /, *given: Any, **named: Any) -> str:
        """Fill the text with what is given."""
        return self.vformat(self._text, given, named)

    def format_map(self, names: Mapping[str, Any]) -> str:
        """Fill the text with what has the names in it."""
        return self.vformat(self._text, (), names)

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return what a name in the text stands for."""
        first, rest = string._string.formatter_field_name_split(field_name)  # type: ignore[attr-defined]
        found = self._guard.seen(self.get_value(first, args, kwargs))
        for is_attribute, name in rest:
            found = self._guard.get(found, name) if is_attribute else self._guard.seen(found[name])
        return found, first


class Held(SimpleNamespace):
    """Holds a value where Python's grammar wants an attribute."""

    value: Any


def plain_text(name: Any) -> str:
    """Return a text by which something is looked for; a subclass of texts may be another one when it is asked again."""
    if type(name) is not str:
        raise TypeError("attribute name must be string")
    return name


def without_guard(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of some names, without those that no code can spell and the interpreter's own."""
    return {name: value for name, value in names.items() if not name.startswith(("$", "__"))}
