"""Rules on text that is run as a command, code, a query, a template or a pattern.

A rule matches if untrusted data reaches an interpreter as part of its text. Constants, checked
values and values that are passed separately from the text are fine.
"""

import re

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import Event, Hits, ResolvedCall, Topic, hit
from leadhand.teams.review.lenses.security.hints import ANYTHING, CALL, TRUE
from leadhand.teams.review.lenses.security.values import HOLE, Trust, Value
from leadhand.teams.review.syntax import word_set

_FAMILY = "security/untrusted-input"
SHELL = LensRule(
    "security/shell-injection", _FAMILY, "critical",
    "An attacker who controls that text can run any command.",
    "Pass a list of arguments without `shell=True`, or quote each part with `shlex.quote`.",
)  # fmt: skip
LOCAL_SHELL = LensRule(
    "security/shell-unquoted", "security/local-input", "warning",
    "A space or a quote in that text changes the command.",
    "Pass a list of arguments without `shell=True`, or quote each part with `shlex.quote`.",
)  # fmt: skip
CODE = LensRule(
    "security/code-injection", _FAMILY, "critical",
    "An attacker who controls that text can run any code in this process.",
    "Parse the input instead (`ast.literal_eval`, `json.loads`, a table of allowed names).",
)  # fmt: skip
SQL = LensRule(
    "security/sql-injection", _FAMILY, "critical",
    "A quote in the value changes the statement.",
    "Pass values as parameters (`execute(sql, params)`), never as part of the text.",
)  # fmt: skip
TEMPLATE = LensRule(
    "security/template-injection", _FAMILY, "critical",
    "Template syntax in the input is evaluated on the server.",
    "Keep the template constant and pass the input as a variable.",
)  # fmt: skip
LDAP = LensRule(
    "security/ldap-injection", _FAMILY, "critical",
    "Characters such as `*` and `)` in the value change what the search matches.",
    "Escape values with `ldap.filter.escape_filter_chars` and `ldap.dn.escape_dn_chars`.",
)  # fmt: skip
XPATH = LensRule(
    "security/xpath-injection", _FAMILY, "critical",
    "A quote in the value changes what the expression selects.",
    "Pass the value as an XPath variable: `tree.xpath('...[@id=$id]', id=value)`.",
)  # fmt: skip
NOSQL = LensRule(
    "security/nosql-injection", _FAMILY, "critical",
    "The value can change the condition itself.",
    "Keep the expression constant and pass values with placeholders.",
)  # fmt: skip
REGEX = LensRule(
    "security/regex-injection", _FAMILY, "warning",
    "A crafted pattern can take exponential time, and special characters match unintended text.",
    "Escape the input with `re.escape`, or match it as plain text.",
)  # fmt: skip
HOST_PATTERN = LensRule(
    "security/host-pattern", "security/web", "warning",
    "An unescaped dot matches any character, so other hosts pass the check.",
    "Escape the dots and anchor the pattern, or compare `urlsplit(url).hostname`.",
)  # fmt: skip
TAG_FILTER = LensRule(
    "security/html-filter", "security/web", "warning",
    "Browsers accept forms of the tag that the pattern does not match.",
    "Escape the text, or clean it with an HTML sanitizer.",
)  # fmt: skip
LOG = LensRule(
    "security/log-injection", "security/logging", "info",
    "Line breaks in the input can forge log records.",
    "Log it with `%r`, or remove line breaks first.",
)  # fmt: skip

_SHELL = word_set(
    "os.system os.popen subprocess.getoutput subprocess.getstatusoutput"
    " asyncio.create_subprocess_shell commands.getoutput commands.getstatusoutput"
    " popen2.popen2 popen2.popen3"
)
_RUNNERS = frozenset(
    f"subprocess.{name}" for name in ("run", "call", "Popen", "check_call", "check_output")
)
_CODE = word_set("eval exec builtins.eval builtins.exec code.interact")
_EXECUTORS = word_set("execute executemany executescript raw read_sql read_sql_query")
_TEMPLATES = word_set(
    "flask.render_template_string jinja2.Template jinja2.environment.Template"
    " mako.template.Template django.template.Template tornado.template.Template"
)
_LDAP = word_set("search_s search_ext_s search_st search_ext search paged_search")
_REGEX = frozenset(
    f"re.{name}"
    for name in word_set("compile search match fullmatch sub subn split findall finditer")
)
_LOGGERS = word_set("info warning warn error critical exception log")

_SQL_TEXT = re.compile(
    r"^\s*(?:--[^\n]*\n\s*)*(?:select\s.{1,2000}?\sfrom\s|insert\s+(?:or\s+\w+\s+)?into\s|"
    r"update\s.{1,400}?\sset\s|delete\s+from\s|with\s.{1,2000}?\sselect\s|replace\s+into\s|"
    r"drop\s+(?:table|database)\s|call\s|exec(?:ute)?\s)",
    re.IGNORECASE | re.DOTALL,
)
_SQL_VALUE = re.compile(
    r"(?:(?:['\"]|['\"]%|[=<>]\s*|\blike\s+|\bvalues\s*\(\s*)$)"
    r"|(?:\bvalues\s*\([^()]{0,300},\s*)$",
    re.IGNORECASE,
)
_SQL_IDENTIFIER = re.compile(r"(?:\bfrom|\binto|\btable|\bjoin|\bupdate|\bset)\s+['\"`]?$", re.I)
_LDAP_VALUE = re.compile(r"\([\w.;-]{1,60}[~<>]?=\*?$")
_LOOSE_HOST = re.compile(r"\w\.(?:com|org|net|io|edu|gov|co|dev)(?![\w])", re.IGNORECASE)
_MAPPING = re.compile(
    r"\.(?:args|form|values|headers|cookies|json|META|GET|POST|query_params|data)$"
)
"""Mappings, whose `repr` escapes line breaks."""
_QUOTE = re.compile(r"=\s*['\"]$|,\s*['\"]$")


def find(event: Event) -> Hits:
    """The hits of this topic's rules in `event`."""
    if not isinstance(event, ResolvedCall):
        return
    last = event.last
    if event.name in _SHELL or (event.name in _RUNNERS and event.is_true("shell")):
        yield from _shell(event)
    elif event.name in _CODE:
        yield from _code(event)
    elif last in _EXECUTORS or event.name in ("sqlalchemy.text", "sqlalchemy.sql.text"):
        yield from _sql(event)
    elif event.name in _TEMPLATES or (last == "from_string" and "jinja2" in event.scope.modules):
        yield from _template(event)
    elif last in _LDAP and event.scope.modules & {"ldap", "ldap3"}:
        yield from _ldap(event)
    elif last in ("xpath", "XPath"):
        yield from _xpath(event)
    elif event.name in _REGEX or last in ("match", "search", "fullmatch"):
        yield from _regex(event)
    elif last in _LOGGERS:
        yield from _log(event)
    yield from _nosql(event)


def _shell(event: ResolvedCall) -> Hits:
    command = event.arg(0, "args", "cmd", "command")
    piece = command.least_trusted("shell")
    if piece.trust >= Trust.LOCAL or (piece.trust is Trust.PARAMETER and command.built):
        # The user of a program may run commands anyway; the sender of a request may not.
        rule = SHELL if piece.trust is Trust.REMOTE else LOCAL_SHELL
        yield from _hits(rule, event, command, piece, "goes unquoted into the shell command of")


def _code(event: ResolvedCall) -> Hits:
    source = event.arg(0, "source")
    piece = source.least_trusted("code")
    if piece.trust is Trust.REMOTE or piece.made_by == "input":
        yield from _hits(CODE, event, source, piece, "is run as Python by")


def _sql(event: ResolvedCall) -> Hits:
    statement = event.arg(0, "sql", "query", "statement", "operation", "raw_query")
    if not statement.built or not _SQL_TEXT.match(statement.text):
        return
    before = ""
    for part, piece in zip(statement.text.split(HOLE), statement.pieces, strict=False):
        before += part
        as_value = _SQL_VALUE.search(before[-400:]) and not _SQL_IDENTIFIER.search(before[-40:])
        enough = Trust.PARAMETER if as_value else Trust.LOCAL
        if piece.trust >= enough and "sql" not in piece.safe_for:
            yield from _hits(SQL, event, statement, piece, "is pasted into the SQL passed to")
            return
        before += "0"


def _template(event: ResolvedCall) -> Hits:
    source = event.arg(0, "source", "template_string", "text")
    piece = source.least_trusted("template")
    if piece.trust >= Trust.LOCAL:
        yield from _hits(TEMPLATE, event, source, piece, "becomes part of the template passed to")


def _ldap(event: ResolvedCall) -> Hits:
    for value in (*event.args, *event.keywords.values()):
        piece = value.least_trusted("ldap")
        shaped = any(_LDAP_VALUE.search(part[-80:]) for part in value.text.split(HOLE)[:-1])
        if piece.trust is Trust.REMOTE or (piece.trust >= Trust.PARAMETER and shaped):
            yield from _hits(LDAP, event, value, piece, "goes unescaped into the LDAP search of")
            return


def _xpath(event: ResolvedCall) -> Hits:
    expression = event.arg(0, "path", "query")
    piece = expression.least_trusted("xpath")
    shaped = any(_QUOTE.search(part[-20:]) for part in expression.text.split(HOLE)[:-1])
    if piece.trust is Trust.REMOTE or (piece.trust >= Trust.LOCAL and shaped):
        yield from _hits(XPATH, event, expression, piece, "is pasted into the XPath expression of")


def _nosql(event: ResolvedCall) -> Hits:
    for name in ("FilterExpression", "KeyConditionExpression", "ConditionExpression"):
        value = event.keywords.get(name)
        piece = value.least_trusted("nosql") if value else None
        if value and piece and value.built and piece.trust >= Trust.PARAMETER:
            yield from _hits(NOSQL, event, value, piece, f"is pasted into the {name} of")


def _regex(event: ResolvedCall) -> Hits:
    compiled = event.receiver.made_by == "re.compile"
    if event.name not in _REGEX and not compiled:
        return
    pattern = event.receiver if compiled else event.arg(0, "pattern")
    subject = event.arg(0 if compiled else 1, "string")
    piece = pattern.least_trusted("regex")
    if event.last == "sub" and "<script" in pattern.text.lower():
        message = f"{event.title} removes `<script>` tags with a regular expression."
        yield hit(TAG_FILTER, event, message)
    elif subject.least_trusted("url").trust is Trust.REMOTE and _LOOSE_HOST.search(pattern.text):
        message = f"The pattern in {event.scope.title} has unescaped dots in a host name."
        yield hit(HOST_PATTERN, event, message, pattern)
    elif piece.trust is Trust.REMOTE and not compiled:
        yield from _hits(REGEX, event, pattern, piece, "is used as a regular expression by")


def _log(event: ResolvedCall) -> Hits:
    if "log" not in event.receiver.origin.lower():
        return
    index = 1 if event.last == "log" else 0
    if index < len(event.args) and "%r" in event.args[index].text:
        return
    for value in event.args[index:]:
        piece = value.least_trusted("log")
        if piece.trust is Trust.REMOTE and not _MAPPING.search(piece.made_by):
            yield from _hits(LOG, event, value, piece, "is logged unescaped by")
            return


def _hits(rule: LensRule, event: ResolvedCall, value: Value, piece: Value, what: str) -> Hits:
    origin = f"`{piece.origin}`" if piece.origin else "A value that is not constant"
    yield hit(rule, event, f"{origin} {what} {event.title}.", piece, value)


TOPIC = Topic(
    rules=(
        SHELL, LOCAL_SHELL, CODE, SQL, TEMPLATE, LDAP, XPATH, NOSQL, REGEX, HOST_PATTERN,
        TAG_FILTER, LOG,
    ),
    calls=frozenset(
        {name.rsplit(".", 1)[-1] for name in _SHELL | _RUNNERS | _CODE | _TEMPLATES | _REGEX}
        | _EXECUTORS | _LDAP | _LOGGERS
        | {"text", "from_string", "xpath", "XPath", "scan", "query", "put_item", "update_item"}
    ),
    find=find,
    hints={
        TRUE: "shell",
        CALL: "system popen getoutput getstatusoutput create_subprocess_shell execute executemany"
        " executescript raw read_sql read_sql_query text search_s search_st search_ext"
        " search_ext_s paged_search",
        ANYTHING: "FilterExpression KeyConditionExpression ConditionExpression script",
    },
)  # fmt: skip
