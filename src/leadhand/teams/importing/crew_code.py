"""Reads what is plain in a crew's Python without executing it: order, process, tools, models."""

import ast
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leadhand.teams.files import Value, read_text
from leadhand.teams.importing.definition import inside, one_line
from leadhand.teams.notes import FileLine, Notes

_MAX_SHOWN = 60
_KINDS = ("agent", "task", "crew")
_Method = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Item:
    """An agent, a task or the crew itself."""

    name: str
    """By which others refer to it."""
    place: FileLine
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    """Of Python: plain arguments, and the names of other methods, tools and processes."""
    places: dict[str, FileLine] = field(default_factory=dict[str, FileLine])
    key: str = ""
    """Of Python: the key in the YAML file."""

    def at(self, key: str) -> FileLine:
        """The line of a key."""
        return self.places.get(key, self.place)

    def text(self, key: str) -> str:
        """The text of a key; empty without it."""
        return str(self.values.get(key, "")).strip()


Items = dict[str, list[Item]]
"""The methods of a crew's class in their order, by the decorator: `agent`, `task` or `crew`."""


def read_code(path: Path, folder: Path, notes: Notes) -> Items:
    """The crew that is defined in a Python file; empty if that is not read, with a warning."""
    file = path.relative_to(folder).as_posix()
    text = read_text(path, file, notes) if inside(path, folder, file, notes) else None
    if text is None:
        return no_code()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings
            return _read(ast.parse(text).body, file, notes)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        notes.warn(FileLine(file, line), "not read: Python can't parse this file")
        return no_code()


def no_code() -> Items:
    """What a crew without Python has."""
    return {"agent": [], "task": [], "crew": []}


def _read(body: list[ast.stmt], file: str, notes: Notes) -> Items:
    found = no_code()
    crews = [node for node in body if isinstance(node, ast.ClassDef) and _is_crew(node)]
    for other in crews[1:]:
        place = FileLine(file, other.lineno)
        notes.warn(place, f"`{other.name}`: not imported, a team is made of the first crew alone")
    if not crews:
        notes.warn(FileLine(file, 0), "has no class with the methods of a crew")
        return found
    assigned = _assigned([*body, *crews[0].body])
    for kind, method in _methods(crews[0]).values():
        if kind in found:
            reader = _Reader(file, assigned | _assigned(method.body), notes)
            found[kind].append(reader.item(method))
        else:
            place = FileLine(file, method.lineno)
            notes.warn(place, f"`{method.name}` is code (@{kind}), not carried over")
    return found


def _is_crew(owner: ast.ClassDef) -> bool:
    return any(kind in _KINDS for kind, _ in _methods(owner).values())


def _methods(owner: ast.ClassDef) -> dict[str, tuple[str, _Method]]:
    """The decorated methods by name, each with its decorator; of the same name the last one."""
    methods: dict[str, tuple[str, _Method]] = {}
    for method in owner.body:
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.decorator_list:
            kinds = [_last(one) for one in method.decorator_list]
            methods[method.name] = (next((k for k in kinds if k in _KINDS), kinds[0]), method)
    return methods


def _assigned(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """What names stand for: `search_tool = SerperDevTool()`."""
    return {
        target.id: node.value
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


class _Reader:
    def __init__(self, file: str, assigned: Mapping[str, ast.expr], notes: Notes) -> None:
        self._file = file
        self._assigned = assigned
        self._notes = notes

    def item(self, method: _Method) -> Item:
        returned = [node.value for node in ast.walk(method) if isinstance(node, ast.Return)]
        call = returned[0] if len(returned) == 1 else None
        place = self._place(method)
        item = Item(method.name, place, key=_key(call) or method.name)
        if not isinstance(call, ast.Call):
            self._notes.warn(place, f"`{method.name}`: not read, it is more than one `return`")
            return item
        for number, value in enumerate(call.args, 1):
            self._lost(f"argument {number}", value)
        for keyword in call.keywords:
            name, value = keyword.arg or "**", keyword.value
            if name in ("agents", "tasks") and isinstance(value, ast.Attribute):
                continue  # `self.tasks`: all of them
            if name == "config":
                if _key(call) is None:
                    self._lost(name, value)
                continue
            item.places[name] = self._place(value)
            try:
                item.values[name] = self._value(name, value)
            except ValueError:
                self._lost(name, value)
        return item

    def _lost(self, name: str, value: ast.expr) -> None:
        shown = one_line(ast.unparse(value))
        cut = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
        self._notes.warn(self._place(value), f"`{name}` is code, not carried over: {cut}")

    def _value(self, name: str, node: ast.expr) -> Value:
        """The value of an argument. Raises `ValueError` if it is code."""
        if name == "tools":
            return [self._tool(item) for item in _items(node)]
        if name in ("context", "tasks", "agents"):
            return [_method(item) for item in _items(node)]
        if name == "agent":
            return _method(node)
        if name == "process":
            return _last(node)
        if name in ("llm", "manager_llm"):
            return _model(self._resolved(node))
        return _constant(node)

    def _resolved(self, node: ast.expr) -> ast.expr:
        name = _last(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        return self._assigned.get(name, node)

    def _tool(self, node: ast.expr) -> str:
        made = self._resolved(node)
        if isinstance(made, ast.Call):
            name = _last(made.func)
            return f"{name}(...)" if made.args or made.keywords else name
        return _last(made) or one_line(ast.unparse(made))[:_MAX_SHOWN]

    def _place(self, node: ast.expr | ast.stmt) -> FileLine:
        return FileLine(self._file, node.lineno)


def _items(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_items(node.left), *_items(node.right)]
    return list(node.elts) if isinstance(node, ast.List | ast.Tuple) else [node]


def _last(node: ast.expr) -> str:
    """The last name in `a.b.c` or `a.b.c()`; empty if there is none."""
    node = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _method(node: ast.expr) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr
    raise ValueError


def _key(call: ast.expr | None) -> str | None:
    """The text in `config=self.agents_config["text"]`."""
    for keyword in call.keywords if isinstance(call, ast.Call) else ():
        value = keyword.value
        if keyword.arg == "config" and isinstance(value, ast.Subscript):
            found = value.slice
            if isinstance(found, ast.Constant) and isinstance(found.value, str):
                return found.value
    return None


def _model(node: ast.expr) -> Value:
    """The name in `"gpt-5"` or `LLM(model="gpt-5")`."""
    if isinstance(node, ast.Call):
        named = [one.value for one in node.keywords if one.arg in ("model", "model_name")]
        node = next(iter([*named, *node.args]), node)
    return _constant(node)


def _constant(node: ast.expr) -> Value:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str | None):
        return node.value
    raise ValueError
