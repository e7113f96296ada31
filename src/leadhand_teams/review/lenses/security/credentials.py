"""Rules on passwords and keys in Python code.

The name must say that the value is a credential, and the value must look like a real one and not
like a placeholder or a name. How random the value looks does not matter.
"""

import ast
import itertools
import re

from leadhand_teams.review.lenses.security import events
from leadhand_teams.review.lenses.security.values import HOLE
from leadhand_teams.review.syntax import pattern_of, words, words_of

_PASSWORDS = words_of("credentials.passwords")
_KEYS = words_of("credentials.keys")
_PAIRS = words_of("credentials.pairs")
_NOT_CREDENTIALS = words_of("credentials.not_credentials")
_DEFAULTS = words_of("credentials.defaults")
"""Functions that read a setting, with a default."""
_CONNECTS = pattern_of("credentials.connects")
_DATABASES = re.compile(r"^(?:mysql\.connector|psycopg2?|pymysql|MySQLdb|mariadb|pymssql)\.")
_DATABASE_URL = pattern_of("credentials.database_url")
_PLACEHOLDER = pattern_of("credentials.placeholder")
_NOT_A_VALUE = pattern_of("credentials.not_a_value")


def find(event: events.Event) -> events.Hits:
    """The hits of this topic's rules in `event`."""
    if isinstance(event, events.Assignment):
        yield from _stored(event)
    elif isinstance(event, events.ResolvedCall):
        yield from _passed(event)
    elif isinstance(event, events.Comparison):
        for one, other in ((event.left, event.right), (event.right, event.left)):
            value = other.constant
            name = one.origin.rsplit(".", 1)[-1]
            if value is not None and not one.constant and _is_password(name) and _is_real(value):
                yield events.hit("hard-coded-credential.compared", event, origin=one.origin)


def _stored(event: events.Assignment) -> events.Hits:
    expression = _default(event.node.value)
    if not isinstance(expression, ast.Constant) or not isinstance(expression.value, str | bytes):
        return
    value = str(expression.value)
    url = _DATABASE_URL.match(value)
    if url and url[1] not in ("localhost", "127.0.0.1"):
        yield events.hit("empty-database-password.url", event, name=event.key, host=url[1])
    elif _names_a_credential(event.key, value):
        yield events.hit("hard-coded-credential", event, name=event.key)


def _default(node: ast.expr | None) -> ast.expr | None:
    """The value in `SecretStr("...")` and `Field(default="...")`."""
    match node:
        case ast.Call(func=ast.Name(id="SecretStr"), args=[value]):
            return value
        case ast.Call(func=ast.Name(id="Field" | "field"), keywords=keywords):
            return next((one.value for one in keywords if one.arg == "default"), node)
        case _:
            return node


def _passed(event: events.ResolvedCall) -> events.Hits:
    match event.node:
        case ast.Call(args=[ast.Constant(value=str(name)), ast.Constant(value=str(value))]):
            if event.last in _DEFAULTS and _names_a_credential(name, value):
                yield events.hit("hard-coded-credential.default", event, name=name)
        case _:
            pass
    for keyword in event.node.keywords:
        value = event.keywords.get(keyword.arg or "")
        if not keyword.arg or value is None or not _is_password(keyword.arg):
            continue
        literal = isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
        if not literal or HOLE in value.text:
            continue
        connects = _CONNECTS.match(event.name) is not None
        passed = events.hit("hard-coded-credential.passed", event, name=keyword.arg)
        if connects and value.text and not _PLACEHOLDER.match(value.text):
            yield passed
        elif not connects and _is_real(value.text):
            yield passed._replace(node=keyword.value)
        elif not value.text and _DATABASES.match(event.name):
            user = event.arg(-1, "user", "username").constant
            if user:
                yield events.hit("empty-database-password", event, name=event.name, user=user)


def _names_a_credential(name: str, value: str) -> bool:
    found = words(name)
    if set(found) & _NOT_CREDENTIALS or _PLACEHOLDER.match(value) or _NOT_A_VALUE.search(value):
        return False
    if _is_password(name):
        return _is_real(value)
    pairs = {"_".join(pair) for pair in itertools.pairwise(found)}
    if pairs & _PAIRS or (found and found[-1] in _KEYS):
        return len(value) >= 12 and _mixed(value)
    is_key = found == ["key"] and len(value) >= 40 and value.isalnum()
    return is_key and _mixed(value) and value != value.lower() and value != value.upper()


def _is_password(name: str) -> bool:
    found = words(name)
    return bool(found) and found[-1] in _PASSWORDS and not set(found) & _NOT_CREDENTIALS


def _is_real(value: str) -> bool:
    fake = _PLACEHOLDER.match(value) or _NOT_A_VALUE.search(value)
    return len(value) >= 6 and not fake and _mixed(value)


def _mixed(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
