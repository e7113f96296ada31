"""One definition on one side of a change, and what rules ask about its nodes."""

import ast
import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leadhand_teams.review import syntax
from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.comparison.guards import Guard, called_in, guards_in
from leadhand_teams.review.comparison.parts import Definition, Kind, Part, parts_in

DEFINITIONS = (*syntax.FUNCTIONS, ast.ClassDef)
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
Placed = ast.stmt | ast.expr | ast.excepthandler | ast.arg
_CHOICES = (ast.If, ast.IfExp, ast.While, ast.Assert)


@dataclass(frozen=True, eq=False)
class Code:
    """One definition on one side of the change, without the definitions inside of it."""

    file: ChangedFile
    name: str
    """Qualified; empty for the module."""
    node: Definition
    text: Sequence[str]
    """The lines of its side of the file."""
    changed: Mapping[int, str]
    """The lines of its side of the file that the change removes or adds."""

    def changes(self, node: Placed) -> bool:
        """Whether the change removes or adds a line of `node`."""
        return any(line in self.changed for line in span(node))

    @functools.cached_property
    def lines(self) -> tuple[str, ...]:
        """Its text, with inner definitions, stripped and without blank lines; none for a module."""
        if isinstance(self.node, ast.Module):
            return ()
        own = self.text[syntax.first_line(self.node) - 1 : self.node.end_lineno]
        return tuple(line.strip() for line in own if line.strip())

    @functools.cached_property
    def statements(self) -> dict[str, ast.stmt]:
        """Source -> node of the simple statements that the change removes or adds."""
        simple = (node for node in self.nodes if isinstance(node, SIMPLE))
        return {ast.unparse(node): node for node in simple if self.changes(node)}

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the body."""
        found: list[ast.AST] = []
        waiting: list[ast.AST] = [*reversed(self.node.body)]
        while waiting:
            node = waiting.pop()
            if not isinstance(node, DEFINITIONS):
                found.append(node)
                waiting += reversed(list(syntax.child_nodes(node)))
        return found

    @functools.cached_property
    def parts(self) -> Mapping[Kind, list[Part]]:
        """What it has, by kind."""
        found: defaultdict[Kind, list[Part]] = defaultdict(list)
        for part in parts_in(self.node, self.nodes):
            found[part.kind].append(part)
        return found

    @property
    def calls(self) -> list[ast.Call]:
        """Every call in the body, in no particular order."""
        return [one.node for one in self.parts["call"] if isinstance(one.node, ast.Call)]

    @functools.cached_property
    def call_counts(self) -> Counter[str]:
        """Last name of what is called -> number of calls."""
        return Counter(one.name for one in self.parts["call"])

    @functools.cached_property
    def guards(self) -> list[Guard]:
        """What the body refuses, and when."""
        return list(guards_in(self.nodes))

    @functools.cached_property
    def tests(self) -> list[ast.expr]:
        """Every condition, and every part of one that `and` or `or` joins."""
        return [
            part
            for node in self.nodes
            for part in ([node.test] if isinstance(node, _CHOICES) else _inner_tests(node))
        ]

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """Every name, attribute and parameter in it, inner definitions included."""
        return names_in(self.node)

    def makers(self, names: frozenset[str]) -> frozenset[str]:
        """The last names of the functions from which the body computes `names`."""
        return frozenset[str]().union(*(called_in(value) for value in self._values(names)))

    def origins(self, names: frozenset[str]) -> frozenset[str]:
        """The names from which the body computes `names`, in any number of steps."""
        found: set[str] = set()
        fresh = names
        while fresh:
            step = frozenset[str]().union(*map(names_in, self._values(fresh)))
            fresh = step - found
            found |= step
        return frozenset(found)

    def _values(self, names: frozenset[str]) -> list[ast.expr]:
        return [
            node.value
            for node in self.nodes
            if isinstance(node, ast.Assign) and any(names & names_in(one) for one in node.targets)
        ]


@functools.lru_cache(maxsize=8)
def base_codes(file: ChangedFile) -> dict[str, Code]:
    """The definitions of the old side, as `codes` has them."""
    return codes(file, file.base_tree, file.base_lines, file.removed)


@functools.lru_cache(maxsize=8)
def head_codes(file: ChangedFile) -> dict[str, Code]:
    """The definitions of the new side."""
    return codes(file, file.head_tree, file.head_lines, file.added)


def codes(
    file: ChangedFile, tree: ast.Module | None, lines: list[str], changed: Mapping[int, str]
) -> dict[str, Code]:
    """The definitions of one side of a file by qualified name, the module under an empty one.

    The second one of a name has the key `name#2`, and so on.
    """
    if tree is None:
        return {}
    found: dict[str, Definition] = {"": tree, **definitions(tree)}
    return {key: Code(file, key.split("#")[0], node, lines, changed) for key, node in found.items()}


def definitions(tree: ast.Module) -> dict[str, syntax.Function | ast.ClassDef]:
    """Functions and classes by qualified name; the second one of a name has the key `name#2`."""
    found: dict[str, syntax.Function | ast.ClassDef] = {}
    seen: Counter[str] = Counter()
    waiting: list[tuple[str, ast.stmt]] = [("", statement) for statement in reversed(tree.body)]
    while waiting:
        prefix, statement = waiting.pop()
        if isinstance(statement, DEFINITIONS):
            name = f"{prefix}{statement.name}"
            seen[name] += 1
            found[name if seen[name] == 1 else f"{name}#{seen[name]}"] = statement
            prefix = f"{name}."
        for block in syntax.blocks(statement):
            waiting += [(prefix, inner) for inner in block]
    return found


def span(node: Placed) -> range:
    """The lines of a node."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def similarity(one: Code, other: Code) -> float:
    """The share of lines that two definitions have in common, 0 to 1."""
    lines, others = Counter(one.lines), Counter(other.lines)
    return 2 * (lines & others).total() / max(1, lines.total() + others.total())


def names_in(node: ast.AST | Iterable[ast.AST]) -> frozenset[str]:
    """Every name, attribute and parameter in `node`, except `self` and `cls`."""
    found: set[str] = set()
    for one in (node,) if isinstance(node, ast.AST) else node:
        for part in ast.walk(one):
            if isinstance(part, ast.Name):
                found.add(part.id)
            elif isinstance(part, ast.Attribute):
                found.add(part.attr)
            elif isinstance(part, ast.arg):
                found.add(part.arg)
    return frozenset(found - {"self", "cls"})


def squeezed(text: str) -> str:
    """`text` without white space and with one kind of quotes, so that formatting doesn't count."""
    return re.sub(r"\s+", "", text).replace("'", '"')


def _inner_tests(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BoolOp(values=values):
            return values
        case ast.comprehension(ifs=ifs):
            return ifs
        case ast.match_case(guard=ast.expr() as guard):
            return [guard]
        case _:
            return []
