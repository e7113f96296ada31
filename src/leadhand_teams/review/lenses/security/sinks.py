"""Where untrusted data must not go: one table of calls, and what reaches them.

A row matches if data that is not trusted enough reaches an argument of the call. Constants, checked
values and values that are passed separately from a text are fine.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import cast

from leadhand_teams.review.lenses.security.events import (
    Assignment,
    Event,
    Hits,
    ResolvedCall,
    Return,
    hit,
)
from leadhand_teams.review.lenses.security.values import HOLE, Trust, Value
from leadhand_teams.review.syntax import pattern_of, words, words_of

_SQL_TEXT = pattern_of("sinks.sql_text")
_SQL_VALUE = pattern_of("sinks.sql_value")
_SQL_IDENTIFIER = re.compile(r"(?:\bfrom|\binto|\btable|\bjoin|\bupdate|\bset)\s+['\"`]?$", re.I)
_LDAP_VALUE = re.compile(r"\([\w.;-]{1,60}[~<>]?=\*?$")
_QUOTE = re.compile(r"(?:=|,)\s*['\"]$")
_LOOSE_HOST = re.compile(r"\w\.(?:com|org|net|io|edu|gov|co|dev)(?![\w])", re.IGNORECASE)
_SCHEME = re.compile(r"^https?://(?=\x00)|^//", re.IGNORECASE)
_FROM_OUTSIDE = words_of("sinks.from_outside")

When = Callable[[ResolvedCall, Value, Value], bool]
"""Whether a piece of a value matters in an argument of a call."""


@dataclass(frozen=True, slots=True)
class Sink:
    """A kind of call, and the data that must not reach it: a row of `sinks.toml`."""

    rule: str
    """Its name, without the lens."""
    calls: frozenset[str]
    use: str
    what: str
    argument: str
    trust: Trust
    """The least trusted data that is still fine is below this."""
    when: When | None

    def hits(self, event: ResolvedCall) -> Hits:
        """The hit of the first argument that untrusted data reaches."""
        first, *names = self.argument.split()
        if first == "*":
            found = [*event.args, *event.keywords.values()]
        else:
            found = [event.receiver if first == "self" else event.arg(int(first), *names)]
        for value in found:
            piece = value.least_trusted(self.use)
            enough = piece.trust >= self.trust
            if enough and (self.when is None or self.when(event, value, piece)):
                reached = hit("sink", event, piece, value, origin=_origin(piece), what=self.what)
                yield reached._replace(rule=self.rule)
                return


def _origin(piece: Value) -> str:
    return f"`{piece.origin}`" if piece.origin else "A value that is not constant"


def _shaped(value: Value, before: re.Pattern[str]) -> bool:
    """Whether a pattern matches the text before one of the holes of `value`."""
    return any(before.search(part[-80:]) for part in value.text.split(HOLE)[:-1])


def _in_shell(event: ResolvedCall, value: Value, piece: Value) -> bool:
    runs = not event.name.startswith("subprocess.") or event.last.startswith("get")
    return runs or event.passes("shell", True)


def _in_local_shell(event: ResolvedCall, value: Value, piece: Value) -> bool:
    # The user of a program may run commands anyway; the sender of a request may not.
    return piece.trust is not Trust.REMOTE and _in_shell(event, value, piece)


def _from_a_user(event: ResolvedCall, value: Value, piece: Value) -> bool:
    return piece.trust is Trust.REMOTE or piece.made_by == "input"


def _passed(event: ResolvedCall, value: Value, piece: Value) -> bool:
    return piece.trust is Trust.PARAMETER and not _from_outside(event, value, piece)


def _ldap(event: ResolvedCall, value: Value, piece: Value) -> bool:
    remote = piece.trust is Trust.REMOTE or _shaped(value, _LDAP_VALUE)
    return bool(event.scope.names.modules & {"ldap", "ldap3"}) and remote


def _controls_host(event: ResolvedCall | Assignment, url: Value, piece: Value) -> bool:
    """Whether the client controls the host of `url`."""
    start = _SCHEME.sub("", url.text)
    return start.startswith(HOLE) and bool(url.pieces) and url.pieces[0].trust is Trust.REMOTE


def _url_part(event: ResolvedCall, url: Value, piece: Value) -> bool:
    return not _controls_host(event, url, piece) and "?" not in url.text.split(HOLE, 1)[0]


def _from_outside(event: ResolvedCall, data: Value, piece: Value) -> bool:
    return piece.trust is Trust.REMOTE or bool(_FROM_OUTSIDE & set(words(piece.origin)))


_RESPONSES = words_of("sinks.responses")
_REGEX = words_of("sinks.regex")
_EXECUTORS = words_of("sinks.executors")
_WHEN: dict[str, When] = {
    "in_shell": _in_shell,
    "in_local_shell": _in_local_shell,
    "from_a_user": _from_a_user,
    "passed": _passed,
    "in_ldap": _ldap,
    "in_xpath": lambda _, value, piece: piece.trust is Trust.REMOTE or _shaped(value, _QUOTE),
    "is_built": lambda _, value, __: value.built,
    "from_outside": _from_outside,
    "has_no_parser": lambda event, _, __: len(event.args) < 2 and "parser" not in event.keywords,
    "of_a_path": lambda event, _, __: event.receiver.made_by.startswith("pathlib."),
    "controls_host": _controls_host,
    "is_in_path": _url_part,
}


def _sinks() -> Iterator[Sink]:
    text = resources.files("leadhand_teams.review").joinpath("sinks.toml").read_text("utf-8")
    for row in cast("dict[str, list[dict[str, str]]]", tomllib.loads(text))["sink"]:
        yield Sink(
            rule=row["rule"],
            calls=words_of(row["calls"]),
            use=row["use"],
            what=row["what"],
            argument=row["argument"],
            trust=Trust[row.get("trust", "REMOTE")],
            when=_WHEN[row["when"]] if "when" in row else None,
        )


SINKS = tuple(_sinks())
_BY_LAST: dict[str, list[Sink]] = {}
for _sink in SINKS:
    for _last in {name.rsplit(".", 1)[-1] for name in _sink.calls}:
        _BY_LAST.setdefault(_last, []).append(_sink)


def find(event: Event) -> Hits:
    """The hits of the table in `event`."""
    if isinstance(event, Return):
        scope = event.scope
        modules = scope.names.modules
        if scope.handler and "flask" in modules and "fastapi" not in modules:
            yield from _page(event, event.value, "`return`")
    elif isinstance(event, Assignment):
        if "headers" in event.name:
            yield from _header(event)
    elif isinstance(event, ResolvedCall):
        for sink in _BY_LAST.get(event.last, ()):
            if event.name in sink.calls or f".{event.last}" in sink.calls:
                yield from sink.hits(event)
        if event.name in _RESPONSES:
            kind = event.arg(-1, "content_type", "mimetype", "headers", "media_type")
            if not kind.text or "html" in kind.text:
                yield from _page(event, event.arg(0, "response", "content"), f"`{event.name}`")
        elif event.name in _EXECUTORS or f".{event.last}" in _EXECUTORS:
            yield from _sql(event)
        elif event.name in _REGEX or event.receiver.made_by == "re.compile":
            yield from _regex(event)


def _sql(event: ResolvedCall) -> Hits:
    statement = event.arg(0, "sql", "query", "statement", "operation", "raw_query")
    if not statement.built or not _SQL_TEXT.match(statement.text):
        return
    before = ""
    for part, piece in zip(statement.text.split(HOLE), statement.pieces, strict=False):
        before += part
        quoted = before.count("'") % 2 == 1
        as_value = quoted or _SQL_VALUE.search(before[-400:])
        as_value = as_value and not _SQL_IDENTIFIER.search(before[-40:])
        enough = Trust.PARAMETER if as_value else Trust.LOCAL
        if piece.trust >= enough and "sql" not in piece.safe_for:
            yield hit("sql-injection", event, piece, statement, origin=_origin(piece))
            return
        before += "0"


def _regex(event: ResolvedCall) -> Hits:
    compiled = event.receiver.made_by == "re.compile"
    pattern = event.receiver if compiled else event.arg(0, "pattern")
    subject = event.arg(0 if compiled else 1, "string")
    piece = pattern.least_trusted("regex")
    if event.last == "sub" and "<script" in pattern.text.lower():
        yield hit("html-filter", event)
    elif subject.least_trusted("url").trust is Trust.REMOTE and _LOOSE_HOST.search(pattern.text):
        yield hit("host-pattern", event, pattern)
    elif piece.trust is Trust.REMOTE and not compiled:
        yield hit("regex-injection", event, piece, pattern, origin=piece.origin)


def _page(event: ResolvedCall | Return, body: Value, where: str) -> Hits:
    piece = body.least_trusted("html")
    if piece.trust is Trust.REMOTE:
        yield hit("cross-site-scripting", event, piece, body, origin=piece.origin, where=where)
    elif "traceback.format_exc" in piece.made_by:
        yield hit("error-details", event, where=where)


def _header(event: Assignment) -> Hits:
    key = event.key.lower()
    piece = event.value.least_trusted("url" if key == "location" else "header")
    if piece.trust is not Trust.REMOTE:
        return
    if key == "location" and _controls_host(event, event.value, piece):
        yield hit("open-redirect", event, piece, event.value, origin=piece.origin)
    elif key == "content-type":
        yield hit("response-header", event, piece, event.value, origin=piece.origin)
