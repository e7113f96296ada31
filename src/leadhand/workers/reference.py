"""References to functions by name, which another process can import from the same `sys.path`."""

import functools
import importlib
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from pydantic import JsonValue
from pydantic_core import from_json, to_json

from leadhand.contracts.data import Record
from leadhand.errors import InputError

Function = Callable[..., object]

SCRIPT = "__leadhand_main__"
"""The module name of the main script in a worker process, so that its `__main__` guard holds."""

_loading = False


def is_loading() -> bool:
    """Whether this is a worker process that is importing its function."""
    return _loading


class FunctionReference(Record):
    function: str
    """`module:qualified.name`."""
    script: str | None = None
    """The path of the program's main script, if the function is defined there."""
    keywords: dict[str, JsonValue]

    @classmethod
    def of(cls, function: Function) -> "FunctionReference":
        """The reference to a function or a `functools.partial` of one. Raises InputError if
        another process could not import it or read its arguments."""
        keywords: Mapping[str, object] = {}
        if isinstance(function, functools.partial):
            if function.args:
                raise InputError(
                    f"{_shown(function.func)} can't be called in a process of its own with "
                    "positional arguments bound: bind them by keyword, as in "
                    "functools.partial(function, option=value)"
                )
            function, keywords = function.func, function.keywords
        module, script = _home(function)
        name = _importable_name(function, module)
        return cls(
            function=f"{SCRIPT if script else module}:{name}",
            script=script,
            keywords={key: _json(key, value, function) for key, value in keywords.items()},
        )

    def load(self) -> Function:
        """The function, imported in this process; its keywords are not bound."""
        global _loading
        module, _, name = self.function.partition(":")
        _loading = True
        try:
            found = _script(self.script) if self.script else importlib.import_module(module)
        finally:
            _loading = False
        function = _attribute(found, name)
        if not callable(function):
            raise TypeError(f"{self.function} is not a function")
        return function


def class_name_there(kind: type) -> str:
    """What `failures.class_name` gives for a class in a worker process."""
    module, script = _home(kind)
    return f"{SCRIPT if script else module}.{kind.__qualname__}"


def _home(function: Function) -> tuple[str, str | None]:
    """The module of `function`, and its path if that is the program's script."""
    module = getattr(function, "__module__", None)
    if not isinstance(module, str):
        raise InputError(f"{_shown(function)} belongs to no module: wrap it in a function of one")
    if module != "__main__":
        return module, None
    main = sys.modules["__main__"]
    spec = main.__spec__
    if spec is not None and spec.name != "__main__":
        return spec.name, None
    path = getattr(main, "__file__", None)
    if not isinstance(path, str):
        raise InputError(
            f"{_shown(function)} was typed in, and another process can't find it: put it in a "
            "file and import it from there"
        )
    return module, str(Path(path).absolute())


def _importable_name(function: Function, module: str) -> str:
    found = sys.modules.get(module) or sys.modules["__main__"]
    name = getattr(function, "__qualname__", None)
    if isinstance(name, str) and _attribute(found, name) == function:
        return name
    # A wrapped function has the name of the original, and may be assigned to another.
    for name, value in vars(found).items():
        if value is function:
            return name
    raise InputError(
        f"{_shown(function)} can't run in a process of its own, because it has no name in its "
        "module that another process could import: define it with `def` at the top level of a "
        "module, and bind values by functools.partial(function, option=value)"
    )


def _attribute(found: object, qualified_name: str) -> object:
    for name in qualified_name.split("."):
        found = getattr(found, name, None)
    return found


def _json(key: str, value: object, function: Function) -> JsonValue:
    try:
        data = from_json(to_json(value, inf_nan_mode="constants"), allow_inf_nan=False)
        same = bool(data == value)
    except ValueError:
        same, data = False, None
    if not same:
        raise InputError(
            f"{_shown(function)} runs in a process of its own, so its argument {key!r} must be "
            f"plain JSON data: text, numbers, lists and dicts, not {type(value).__qualname__}"
        )
    return cast("JsonValue", data)


def _script(path: str) -> types.ModuleType:
    known = sys.modules.get(SCRIPT)
    if known is not None:
        return known
    # It stays in `sys.modules`, where dataclasses and pydantic resolve annotations.
    module = types.ModuleType(SCRIPT)
    module.__file__ = path
    sys.modules[SCRIPT] = module
    try:
        exec(compile(Path(path).read_bytes(), path, "exec"), vars(module))
    except BaseException:
        del sys.modules[SCRIPT]
        raise
    return module


def _shown(function: Function) -> str:
    module = getattr(function, "__module__", "?")
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"function {module}:{name}"
