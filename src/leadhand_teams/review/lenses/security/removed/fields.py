"""Fields and parameters whose declared type or constraints accept more than before."""

import ast
import re
from collections.abc import Iterator

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison.code import Code
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, shown
from leadhand_teams.review.lenses.security.removed.rules import VALIDATOR

_STRICT = re.compile(
    r"con(str|int|float|bytes|list|set|decimal|date)|(Email|Name|Strict|Secret|Constrained)\w*Str"
    r"|EmailStr|\w*Url|\w*Dsn|(Positive|Negative|NonNegative|NonPositive|Finite|Strict)\w+"
    r"|UUID\d?|Literal|IPv[46]\w*|IPvAny\w+|FilePath|DirectoryPath|Past\w+|Future\w+"
)
"""Types that refuse values of the plain types below."""
_PLAIN = syntax.word_set("str int float bytes bool object Any list set dict date datetime")
_BOUNDS = syntax.word_set(
    "min_length max_length pattern regex gt ge lt le multiple_of max_digits min_items max_items"
    " min_value max_value"
)


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """Fields of a class, and parameters, that lost what made them strict."""
    if pair.new is None:
        return
    now = _declared(pair.new)
    for name, (old, line, value) in _declared(pair.old).items():
        if name not in now or not pair.removes(line):
            continue
        new, _, value_now = now[name]
        strict = {part for part in _names(old) if _STRICT.fullmatch(part)}
        lost = strict - _names(new)
        if lost and strict == lost and _names(new) & _PLAIN and not _strict(new):
            gone = ast.unparse(old)
        elif bounds := _bounds(old, value) - _bounds(new, value_now):
            if _bounds(new, value_now) or sides.protects(syntax.last_name(_called(value_now))):
                continue  # another bound
            gone = min(bounds)
        else:
            continue
        message = f"Does `{name}` accept more now? {pair.place} declared it as `{shown(gone)}`."
        yield Removal(VALIDATOR, line, message)


def _declared(code: Code) -> dict[str, tuple[ast.expr, int, ast.expr | None]]:
    """Name -> (type, its line, value) of annotated fields and parameters."""
    found: dict[str, tuple[ast.expr, int, ast.expr | None]] = {}
    if isinstance(code.node, syntax.FUNCTIONS):
        defaults = syntax.defaults(code.node)
        for one in syntax.parameters(code.node):
            if one.annotation is not None:
                found[one.arg] = (one.annotation, one.annotation.lineno, defaults.get(one.arg))
        return found  # variables of a function accept nothing from outside
    for node in code.node.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = (node.annotation, node.annotation.lineno, node.value)
    return found


def _names(node: ast.expr) -> set[str]:
    parts = (part for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute))
    return {syntax.last_name(part) for part in parts}


def _strict(node: ast.expr) -> bool:
    return any(_STRICT.fullmatch(name) for name in _names(node))


def _called(value: ast.expr | None) -> ast.expr:
    return value.func if isinstance(value, ast.Call) else ast.Name(id="")


def _bounds(annotation: ast.expr, value: ast.expr | None) -> set[str]:
    """The bounds that a type or a value such as `Field(le=5)` declares."""
    nodes = [annotation] if value is None else [annotation, value]
    return {
        f"{keyword.arg}={ast.unparse(keyword.value)}"
        for node in nodes
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg in _BOUNDS
    }
