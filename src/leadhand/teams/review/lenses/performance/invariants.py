"""Slow calls that a loop repeats with the same result, and one query per row.

Covers calls that are known to be slow: connections, requests, whole files, queries. Compiling a
constant pattern is not reported, since `re` caches compiled patterns, nor are loops that repeat on
purpose (retries, polls, measurements).
"""

import ast
import re
from collections.abc import Iterator

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses import syntax
from leadhand.teams.review.lenses.performance import bindings

REPEATED = LensRule(
    "performance/same-call-every-round", "performance/loop-invariant", "warning",
    "Nothing in it depends on the loop, so every iteration repeats the same slow work.",
    "Do it once before the loop.",
)  # fmt: skip
PER_ROW = LensRule(
    "performance/query-per-row", "performance/loop-invariant", "warning",
    "The number of queries grows with the number of rows.",
    "Fetch all rows with one query before the loop, or use a join.",
)  # fmt: skip
RULES = (REPEATED, PER_ROW)

_SLOW = syntax.word_set(
    "boto3.client boto3.resource boto3.Session boto3.session.Session sqlalchemy.create_engine "
    "ssl.create_default_context pymongo.MongoClient psycopg2.connect psycopg.connect "
    "pymysql.connect MySQLdb.connect sqlite3.connect redis.Redis redis.from_url "
    "requests.Session requests.session httpx.Client requests.get httpx.get "
    "urllib.request.urlopen jinja2.Environment smtplib.SMTP smtplib.SMTP_SSL "
    "pandas.read_csv pandas.read_excel pandas.read_parquet pandas.read_json pandas.read_sql "
    "numpy.load numpy.loadtxt numpy.genfromtxt joblib.load torch.load spacy.load "
    "subprocess.check_output"
)
_WRITES = re.compile(
    r"^(?:save|create|bulk_create|update|delete|insert|commit|write|writelines|add|execute|"
    r"executemany|post|put|patch|sleep|wait|flush|send|recv|get_or_create|update_or_create)$"
)
_TRIGGER = re.compile(
    r"\b(?:client|resource|Session|session|create_engine|create_default_context|MongoClient|connect|"
    r"Redis|from_url|Client|get|urlopen|Environment|SMTP|SMTP_SSL|read_\w{1,10}|load|loadtxt|"
    r"genfromtxt|check_output|open|execute|count|exists|first)\("
)
_FINAL = syntax.word_set("get first last count exists latest earliest aggregate")


def relevant(file: ChangedFile) -> bool:
    """Whether the added lines may hold such a call, judged by their text."""
    return "for " in file.head and any(map(_TRIGGER.search, file.added.values()))


def find(file: ChangedFile, tree: syntax.Tree) -> Iterator[tuple[LensRule, ast.AST, str]]:
    """(rule, node, message) of the slow calls in loops on added lines."""
    known = bindings.import_origins(tree)
    for node in tree.nodes(ast.Call):
        if not file.touches(node.lineno):
            continue
        name = _slow(node, known)
        query = _query(node)
        if name is None and query is None:
            continue
        loop = bindings.enclosing_loop(tree, node)
        if not isinstance(loop, ast.For) or bindings.is_short(loop.iter):
            continue
        if name is not None and _is_invariant(tree, node, loop):
            message = f"`{name}` is called in every iteration of the loop on line {loop.lineno}."
            yield REPEATED, node, message
        elif query is not None and _is_per_row(tree, node, loop):
            message = f"`{query}` runs a query for each row of the loop on line {loop.lineno}."
            yield PER_ROW, node, message


def _slow(node: ast.Call, known: dict[str, str]) -> str | None:
    """The full name of the slow function that is called, or `None`."""
    name = syntax.dotted(node.func)
    if name == "open" and "open" not in known:
        return "open" if _reads(node) else None
    full = bindings.full_name(name, known)
    return full if full in _SLOW else None


def _reads(node: ast.Call) -> bool:
    modes = [*node.args[1:2], *(one.value for one in node.keywords if one.arg == "mode")]
    return bool(node.args) and all(
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and set(mode.value) <= set("rbtU")
        for mode in modes
    )


def _is_invariant(tree: syntax.Tree, node: ast.Call, loop: ast.For) -> bool:
    """Whether every iteration makes the same call, and not on purpose."""
    changing = {name.split(".", 1)[0] for name in bindings.assigned_names(loop)}
    for below in syntax.walk_scope([*node.args, *(one.value for one in node.keywords)]):
        if isinstance(below, ast.Call | ast.Await | ast.Yield | ast.NamedExpr | ast.Starred):
            return False
        if isinstance(below, ast.Name) and below.id in changing:
            return False
    targets = _targets(loop)
    used = any(
        isinstance(one, ast.Name) and one.id in targets and isinstance(one.ctx, ast.Load)
        for one in syntax.walk_scope(loop.body)
    )
    return used and not _repeats_on_purpose(tree, node, loop)


def _targets(loop: ast.For) -> set[str]:
    return {one.id for one in syntax.walk_scope(loop.target) if isinstance(one, ast.Name)}


def _repeats_on_purpose(tree: syntax.Tree, node: ast.AST, loop: ast.For) -> bool:
    """Whether the loop retries, polls, ends early, or changes what the call reads."""
    for up in tree.ancestors(node):
        if up is loop:
            break
        if isinstance(up, ast.If | ast.Try | ast.IfExp | ast.BoolOp):
            return True
    for one in syntax.walk_scope(loop.body):
        if isinstance(one, ast.Break | ast.Return | ast.Yield | ast.YieldFrom | ast.Await):
            return True
        if isinstance(one, ast.Call) and one is not node:
            name = one.func.attr if isinstance(one.func, ast.Attribute) else syntax.dotted(one.func)
            if _WRITES.match(name):
                return True
    return False


def _query(node: ast.Call) -> str | None:
    """The name of a call that runs a Django query, such as `Book.objects.get`, or `None`."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _FINAL:
        return None
    inner: ast.AST = node.func.value
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        inner = inner.func.value
    name = syntax.dotted(inner)
    if not name.endswith(".objects") or not name[0].isupper():
        return None
    return f"{name}.{node.func.attr}"


def _is_per_row(tree: syntax.Tree, node: ast.Call, loop: ast.For) -> bool:
    """Whether the loop iterates over the rows of a query and the call depends on the row."""
    targets = _targets(loop)
    depends = any(isinstance(one, ast.Name) and one.id in targets for one in ast.walk(node))
    if not depends or any(
        isinstance(one, ast.Break | ast.Return) for one in syntax.walk_scope(loop.body)
    ):
        return False
    rows: ast.expr | None = loop.iter
    if isinstance(rows, ast.Name):
        rows = bindings.local_value(tree, loop, rows.id)
    scope = tree.enclosing_scope(loop)
    if rows is None or not isinstance(scope, syntax.FUNCTIONS):
        return False
    return any(
        isinstance(one, ast.Attribute) and one.attr == "objects"
        for one in (rows, *syntax.walk_scope(syntax.child_nodes(rows)))
    ) and not any(
        isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Slice)
        for one in ast.walk(rows)
    )
