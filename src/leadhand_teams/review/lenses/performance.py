"""The performance lens: calls that block the event loop, and a query for each row of a query (N+1).

Ruff finds the calls; queries are those of Django and SQLAlchemy.
"""

import ast
import itertools
import re
from collections.abc import Iterator, Sequence

from leadhand.extension.findings import Finding, NotAssessed
from leadhand.tools.git import GitFailed, GitTimeout, grep
from leadhand_teams.review import syntax
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.comparison.code import squeezed
from leadhand_teams.review.lens import Seen, lens
from leadhand_teams.review.ruff_rules import ruff_findings
from leadhand_teams.review.rules import rule

_RULE = rule("performance/query-in-loop")

_HINT = re.compile(r"\.objects\b|\bget_queryset\(|\.query\b|session\b")
_ONCE = syntax.pattern_of("performance.once")
"""Code that no request waits for, however long it takes."""
_WRAPPERS = syntax.words_of("queries.wrappers")
_SESSION = syntax.words_of("queries.session")
_ONE = syntax.words_of("queries.one")
"""Ends of queries that give one row or one value."""
_WRITES = syntax.words_of("queries.writes")
_SAVES = _WRITES | {"save", "asave", "commit"}
_OF_RELATIONS = syntax.words_of("queries.of_relations")
_FETCHED = re.compile(r"select_related|prefetch_related|joinedload|selectinload|subqueryload")
_RELATION = r"\s*{}\s*(?::[^=]+)?=\s*(?:\w+\.)*(?:ForeignKey|OneToOneField|relationship)\("
_Loop = ast.For | ast.AsyncFor | ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_LOOPS = (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Slow work in the Python files of a task."""
    for file in files:
        if file.language == "python" and not (file.complete or file.status == "deleted"):
            why = "only a patch was given, not the whole file"
            yield NotAssessed(lens="performance", path=file.path, why=why)
        elif file.language == "python":
            yield from _queries(change, file)
    yield from ruff_findings("performance", files)


def _queries(change: Change, file: ChangedFile) -> Iterator[Finding]:
    """One finding for each loop of the file with such a query, if the change touches either."""
    if _ONCE.search(file.path) or syntax.is_test(file.path):
        return
    if not file.added or not _HINT.search(file.head) or file.head_tree is None:
        return
    before = squeezed(file.base)
    for loop in _loops(file.head_syntax):
        rows, targets, body = _parts(loop)
        source = _source(rows, file.head_syntax, loop)
        names = {one.id for one in ast.walk(targets) if isinstance(one, ast.Name)}
        if source is None or not names or _is_task(file.head_syntax.enclosing_function(loop)):
            continue
        inner = sorted(_inner(body), key=lambda one: (one.lineno, one.col_offset))
        if any(_SAVES & set(_chain(one)[-1:]) for one in inner if isinstance(one, ast.Call)):
            continue  # a row that is written takes a statement of its own
        for node in inner:
            line = next((n for n in (node.lineno, loop.lineno) if n in file.added), 0)
            if all(squeezed(ast.unparse(one)) in before for one in (rows, node)):
                continue  # it did before
            if line and _asks(node, names, source, change, file):
                message = (
                    f"`{ast.unparse(node)[:100]}` asks the database for each row of "
                    f"`{ast.unparse(rows)[:100]}`."
                )
                yield _RULE.finding(file, line, message=message)
                break


def _is_task(function: ast.AST | None) -> bool:
    """Whether a queue runs the function, so that no request waits for it."""
    decorators: list[ast.expr] = getattr(function, "decorator_list", [])
    return any("task" in syntax.words(ast.unparse(one)) for one in decorators)


def _loops(tree: syntax.Tree) -> list[_Loop]:
    return sorted((one for kind in _LOOPS for one in tree.nodes(kind)), key=lambda one: one.lineno)


def _parts(loop: _Loop) -> tuple[ast.expr, ast.expr, list[ast.AST]]:
    """What a loop runs over, its variables, and what it does for each."""
    if isinstance(loop, ast.For | ast.AsyncFor):
        return loop.iter, loop.target, [*loop.body]
    first = loop.generators[0]
    inside = [one for one in syntax.child_nodes(loop) if one is not first]
    return first.iter, first.target, [*inside, *first.ifs]


def _inner(body: list[ast.AST]) -> Iterator[ast.expr]:
    nodes = (node for part in body for node in syntax.walk_scope(part))
    return (node for node in nodes if isinstance(node, ast.Call | ast.Attribute))


def _source(rows: ast.expr, tree: syntax.Tree, loop: _Loop) -> str | None:
    """The source of the query that gives the rows; `None` if they are from elsewhere."""
    while isinstance(rows, ast.Call) and isinstance(rows.func, ast.Name) and rows.args:
        if rows.func.id not in _WRAPPERS:
            return None
        rows = rows.args[0]
    chain = _chain(rows)
    if _gives_rows(chain):
        return ast.unparse(rows)
    if not chain:
        return None
    scope = tree.enclosing_scope(loop)
    values = [
        value
        for node in syntax.walk_scope(syntax.child_nodes(scope))
        for target, value in syntax.assigned(node)
        if isinstance(target, ast.Name) and target.id == chain[0]
    ]
    asks = [
        value for value in values if _is_query(found := _chain(value)) and found[-1] not in _ONE
    ]
    return (
        " ".join(map(ast.unparse, (*values, rows))) if asks and len(asks) == len(values) else None
    )


def _chain(node: ast.expr) -> list[str]:
    """`Book`, `objects`, `filter` for `Book.objects.filter(a=b)[:5]`."""
    parts: list[str] = []
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(attr=name, value=inner):
                parts.append(name)
                node = inner
            case ast.Call(func=inner) | ast.Await(value=inner) | ast.Subscript(value=inner):
                node = inner
            case _:
                return []
    return [node.id, *reversed(parts)]


def _gives_rows(chain: list[str]) -> bool:
    return _is_query(chain) and _ONE.isdisjoint(chain)


def _is_query(chain: list[str]) -> bool:
    if "objects" in chain[1:-1] or "get_queryset" in chain:
        return True
    if len(chain) > 2 and chain[1] == "query" and chain[0][:1].isupper():
        return True
    pairs = itertools.pairwise(chain)
    return any("session" in syntax.words(one) and other in _SESSION for one, other in pairs)


def _asks(node: ast.expr, names: set[str], source: str, change: Change, file: ChangedFile) -> bool:
    """Whether an expression in the loop asks the database for something of the row."""
    chain = _chain(node)
    if not chain or _WRITES & set(chain):
        return False
    if isinstance(node, ast.Call) and _is_query(chain):
        return any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(node))
    if chain[0] not in names or len(chain) < 3 or _FETCHED.search(source):
        return False
    if isinstance(node, ast.Call):
        return chain[1].endswith("_set") or (
            chain[-1] in _OF_RELATIONS and len(chain) == 3 and _is_relation(chain[1], change, file)
        )
    return _is_relation(chain[1], change, file, many=False)


def _is_relation(name: str, change: Change, file: ChangedFile, *, many: bool = True) -> bool:
    """Whether a model has a field of this name that refers to another model."""
    pattern = _RELATION.format(re.escape(name))
    if many:
        pattern = pattern.replace("relationship", "relationship|ManyToManyField|GenericRelation")
    declared = re.compile(pattern)
    if any(map(declared.match, file.head_lines)):
        return True
    if change.git_dir is None or change.head is None:
        return False
    try:
        hits = grep(change.git_dir, change.head, [name], max_hits=2_000, timeout_s=5.0)
    except (GitFailed, GitTimeout):
        return False
    related = re.compile(rf".*related_name=['\"]{re.escape(name)}['\"]")
    return any(declared.match(text) or (many and related.match(text)) for _, _, text in hits)
