"""Calls that block the event loop while they wait.

Covers functions that wait for the network, a process, a clock or a person, identified by their
import and called directly in an `async def`. Reading a file is not reported: it is rarely slow.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.performance.bindings import full_name, import_origins, local_value
from leadhand.teams.review.lenses.syntax import Tree, dotted, word_set

RULE = LensRule(
    "performance/blocking-call-in-async", "performance/async-blocking", "warning",
    "While it waits, nothing else on the event loop makes progress.",
    "Await an asynchronous counterpart, or run it with `asyncio.to_thread`.",
)  # fmt: skip
RULES = (RULE,)

_FIXES = {
    "time.sleep": "Use `await asyncio.sleep(...)`.",
    "subprocess": "Use `await asyncio.create_subprocess_exec(...)`, or `asyncio.to_thread`.",
    "requests": "Use an asynchronous client, or run it with `asyncio.to_thread`.",
    "httpx": "Use `httpx.AsyncClient`.",
}
_VERBS = word_set("get post put patch delete head options request")
_BLOCKING = word_set(
    "time.sleep urllib.request.urlopen urllib.request.urlretrieve "
    "subprocess.run subprocess.call subprocess.check_call subprocess.check_output "
    "subprocess.getoutput subprocess.getstatusoutput os.system os.wait os.waitpid "
    "socket.create_connection socket.getaddrinfo socket.gethostbyname socket.gethostbyaddr "
    "psycopg2.connect pymysql.connect MySQLdb.connect mysql.connector.connect psycopg.connect "
    "smtplib.SMTP smtplib.SMTP_SSL ftplib.FTP telnetlib.Telnet"
) | {f"{client}.{verb}" for client in ("requests", "httpx") for verb in _VERBS}
_SESSIONS = word_set("requests.Session requests.session httpx.Client")
_TRIGGER = re.compile(
    r"\b(?:sleep|urlopen|urlretrieve|subprocess|run|call|check_call|check_output|getoutput|system|"
    r"waitpid|create_connection|getaddrinfo|gethostbyname|connect|SMTP|SMTP_SSL|FTP|Telnet|input|"
    r"get|post|put|patch|delete|head|options|request)\("
)

_RENAMED = re.compile(
    r"^[ \t]*from[ \t]+(?:time|requests|subprocess|os|socket|httpx|urllib\.request)[ \t]+"
    r"import[^\n]{0,200}[ \t]as[ \t]",
    re.MULTILINE,
)


def relevant(file: ChangedFile) -> bool:
    """Whether the added lines may hold such a call, judged by their text."""
    if "async def" not in file.head:
        return False
    return any(map(_TRIGGER.search, file.added.values())) or bool(_RENAMED.search(file.head))


def find(file: ChangedFile, tree: Tree) -> Iterator[tuple[LensRule, ast.AST, str]]:
    """(rule with the fix for this call, node, message) of the blocking calls on added lines."""
    known = import_origins(tree)
    defined = {node.name for node in tree.nodes(ast.FunctionDef)}
    for node in tree.nodes(ast.Call):
        if not file.touches(node.lineno) or not _in_coroutine(tree, node):
            continue
        name = _blocking(tree, node, known)
        where = getattr(tree.enclosing_function(node), "name", "")
        builtin = dotted(node.func) == "input" and "input" not in defined | set(known)
        if name is None and builtin and where != "main":
            name = "input"
        if name is not None:
            fix = next((text for start, text in _FIXES.items() if name.startswith(start)), RULE.fix)
            message = f"`{name}` blocks inside the coroutine function `{where}`."
            yield replace(RULE, fix=fix), node, message


def _in_coroutine(tree: Tree, node: ast.Call) -> bool:
    """Whether the call is directly in an `async def` and not awaited."""
    return isinstance(tree.enclosing_function(node), ast.AsyncFunctionDef) and not isinstance(
        tree.parent(node), ast.Await
    )


def _blocking(tree: Tree, node: ast.Call, known: dict[str, str]) -> str | None:
    """The full name of the blocking function that is called, or `None`."""
    name = full_name(dotted(node.func), known)
    if name in _BLOCKING:
        delay = node.args[0] if node.args else None
        no_delay = isinstance(delay, ast.Constant) and delay.value == 0
        return None if name == "time.sleep" and no_delay else name
    if isinstance(node.func, ast.Attribute) and node.func.attr in _VERBS:
        owner = node.func.value
        if isinstance(owner, ast.Name):
            value = local_value(tree, node, owner.id) or _with_value(tree, node, owner.id)
            kind = full_name(dotted(value.func), known) if isinstance(value, ast.Call) else None
            if kind in _SESSIONS:
                return f"{kind}().{node.func.attr}"
    return None


def _with_value(tree: Tree, node: ast.AST, name: str) -> ast.expr | None:
    """The context manager that a `with ... as name` around `node` enters."""
    for up in tree.ancestors(node):
        if isinstance(up, ast.With):
            for item in up.items:
                if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name:
                    return item.context_expr
    return None
