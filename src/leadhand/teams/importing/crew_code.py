"""Reads what is plain in a crew's Python without executing it: order, process, tools, models."""

import ast
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from leadhand.teams.files import Value
from leadhand.teams.importing.definition import Item, one_line, read_inside
from leadhand.teams.notes import FileLine, Notes

_MAX_SHOWN = 60
_MODELS = ("llm", "manager_llm")
_NAMES = ("agent", "agents", "context", "process", "tasks", "tools", *_MODELS)
"""Arguments that name something: a method, a tool, a process or a model."""
_Method = ast.FunctionDef | ast.AsyncFunctionDef


class CrewCode:
    """The first crew that a Python file defines. `notes` gets a warning for all but plain
    arguments and names; `config` is the key in the YAML file."""

    def __init__(self, path: Path | None, folder: Path, notes: Notes) -> None:
        self.found: dict[str, list[Item]] = {"agent": [], "task": [], "crew": []}
        """The methods of the crew's class by decorator, in order."""
        self._notes = notes
        self._file, text = read_inside(path, folder, notes) if path else ("crew.py", None)
        self._names: dict[str, ast.expr] = {}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about escapes in strings
                self._read(ast.parse(text or "").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.found = {kind: [] for kind in self.found}
            place = FileLine(self._file, getattr(error, "lineno", None) or 0)
            notes.warn(place, "not read: Python can't parse this file")

    def _read(self, body: list[ast.stmt]) -> None:
        classes = [node for node in body if isinstance(node, ast.ClassDef)]
        crews = [node for node in classes if any(_kind(one) in self.found for one in node.body)]
        for other in crews[1:]:
            self._lost(other.name, other)
        for method in crews[0].body if crews else ():
            kind = _kind(method)
            if kind is None or not isinstance(method, _Method):
                continue
            self._names = _assigned([*body, *crews[0].body, *method.body])
            if kind in self.found:
                self.found[kind].append(self._item(method))
            else:
                self._lost(method.name, method)

    def _item(self, method: _Method) -> Item:
        item = Item(method.name, FileLine(self._file, method.lineno))
        returned = [node.value for node in ast.walk(method) if isinstance(node, ast.Return)]
        call = returned[0] if len(returned) == 1 else None
        if not isinstance(call, ast.Call):
            self._lost(method.name, method)
            return item
        arguments = [(f"argument {n}", value) for n, value in enumerate(call.args, 1)]
        arguments += [(one.arg or "**", one.value) for one in call.keywords]
        for name, value in arguments:
            item.places[name] = FileLine(self._file, value.lineno)
            try:
                item.values[name] = self._value(name, value)
            except (ValueError, TypeError):
                self._lost(name, value)
        return item

    def _value(self, name: str, node: ast.expr) -> Value:
        """Raises `ValueError` or `TypeError` if it is code."""
        if isinstance(node, ast.Name | ast.Attribute):
            node = self._names.get(_last(node), node)
        if name == "config":
            (key,) = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
            return str(key)
        if name not in _NAMES or isinstance(node, ast.Constant):
            return cast("Value", ast.literal_eval(node))
        if isinstance(node, ast.List):
            return [self._value(name, one) for one in node.elts]
        if isinstance(node, ast.Call) and name in _MODELS:  # LLM(model="gpt-5")
            named = [one.value for one in node.keywords if one.arg in ("model", "model_name")]
            (model,) = [*named, *node.args][:1]
            return self._value(name, model)
        has_arguments = isinstance(node, ast.Call) and (node.args or node.keywords)
        if not _last(node) or name in _MODELS or (has_arguments and name != "tools"):
            raise ValueError
        return f"{_last(node)}(...)" if has_arguments else _last(node)

    def _lost(self, name: str, code: ast.expr | ast.stmt) -> None:
        shown = one_line(ast.unparse(code))
        cut = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
        place = FileLine(self._file, code.lineno)
        self._notes.warn(place, f"`{name}` is code, not carried over: {cut}")


def _kind(method: ast.stmt) -> str | None:
    """The decorator that says what a method is."""
    names = [_last(one) for one in getattr(method, "decorator_list", ())]
    return next(
        (name for name in names if name in ("agent", "task", "crew")), next(iter(names), None)
    )


def _assigned(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """What names stand for: `search_tool = SerperDevTool()`."""
    pairs = ((node.targets[0], node.value) for node in body if isinstance(node, ast.Assign))
    return {target.id: value for target, value in pairs if isinstance(target, ast.Name)}


def _last(node: ast.expr) -> str:
    """The last name in `a.b.c` or `a.b.c()`; empty if there is none."""
    node = node.func if isinstance(node, ast.Call) else node
    return getattr(node, "attr", "") or getattr(node, "id", "")
