"""Reads what is plain in a crew's Python without executing it: order, process, tools, models."""

import ast
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from leadhand.teams.files import Value, read_text
from leadhand.teams.importing.definition import inside, one_line
from leadhand.teams.notes import FileLine, Notes

_MAX_SHOWN = 60
_KINDS = ("agent", "task", "crew")
_Method = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Part:
    """An agent, a task or the crew as a decorated method makes it."""

    name: str
    """The method's name, by which others refer to it."""
    key: str
    """Its key in the YAML file; by default its name."""
    place: FileLine
    values: dict[str, Value]
    """Arguments that are plain: text, numbers, and names of other methods, tools and processes."""
    places: dict[str, FileLine]


@dataclass(frozen=True, slots=True)
class CrewCode:
    """The methods of a crew's class, in their order."""

    agents: tuple[Part, ...] = ()
    tasks: tuple[Part, ...] = ()
    crew: Part | None = None


def read_code(path: Path, folder: Path, notes: Notes) -> CrewCode:
    """The crew that is defined in a Python file; empty if it can't be parsed, with a warning."""
    file = path.relative_to(folder).as_posix()
    text = read_text(path, file, notes) if inside(path, folder, file, notes) else None
    if text is None:
        return CrewCode()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        notes.warn(FileLine(file, line), "not read: Python can't parse this file")
        return CrewCode()
    crews = [node for node in tree.body if isinstance(node, ast.ClassDef) and _is_crew(node)]
    for other in crews[1:]:
        place = FileLine(file, other.lineno)
        notes.warn(place, f"`{other.name}`: not imported, a team is made of the first crew alone")
    if not crews:
        notes.warn(FileLine(file, 0), "has no class with the methods of a crew")
        return CrewCode()
    assigned = _assigned([*tree.body, *crews[0].body])
    found: dict[str, list[Part]] = {kind: [] for kind in _KINDS}
    for kind, method in _methods(crews[0]).values():
        if kind in found:
            reader = _Reader(file, assigned | _assigned(method.body), notes)
            found[kind].append(reader.part(method))
        else:
            place = FileLine(file, method.lineno)
            notes.warn(place, f"`{method.name}` is code (@{kind}), not carried over")
    crew = found["crew"][0] if found["crew"] else None
    return CrewCode(tuple(found["agent"]), tuple(found["task"]), crew)


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

    def part(self, method: _Method) -> Part:
        """What a method returns, if that is one call."""
        returned = [node.value for node in ast.walk(method) if isinstance(node, ast.Return)]
        call = returned[0] if len(returned) == 1 else None
        place = self._place(method)
        part = Part(method.name, _key(call) or method.name, place, {}, {})
        if not isinstance(call, ast.Call):
            self._notes.warn(place, f"`{method.name}`: not read, it is more than one `return`")
            return part
        for number, value in enumerate(call.args, 1):
            self._lost(f"argument {number}", value)
        for keyword in call.keywords:
            name, value = keyword.arg or "**", keyword.value
            if name in ("agents", "tasks") and _is_all(value):
                continue
            if name == "config":
                if _key(call) is None:
                    self._lost(name, value)
                continue
            part.places[name] = self._place(value)
            try:
                part.values[name] = self._value(name, value)
            except ValueError:
                self._lost(name, value)
        return part

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
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.Call():
            return _last(node.func)
        case _:
            return ""


def _method(node: ast.expr) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr
    raise ValueError


def _is_all(node: ast.expr) -> bool:
    """Whether it is `self.agents` or `self.tasks`, which are all of them."""
    return isinstance(node, ast.Attribute) and node.attr in ("agents", "tasks")


def _key(call: ast.expr | None) -> str | None:
    """The text in `config=self.agents_config["text"]`."""
    for keyword in call.keywords if isinstance(call, ast.Call) else ():
        value = keyword.value
        if keyword.arg == "config" and isinstance(value, ast.Subscript):
            found = value.slice
            if isinstance(found, ast.Constant) and isinstance(found.value, str):
                return found.value
    return None


def _model(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        names = ("model", "model_name")
        given = [*(k.value for k in node.keywords if k.arg in names), *node.args]
        node = given[0] if given else node
    value = _constant(node)
    if isinstance(value, str):
        return value
    raise ValueError


def _constant(node: ast.expr) -> Value:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str | None):
        return node.value
    raise ValueError
