"""Rules on passwords and keys written into Python code.

The name says that it is a credential, the value that it is a real one: no placeholder, no name of
something else. How random it looks is not asked.
"""

import ast
import itertools
import re
from collections.abc import Iterator

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import (
    Comparison,
    Event,
    ResolvedCall,
    SecurityHit,
    Store,
    Topic,
)
from leadhand.teams.review.lenses.security.names import listed, words
from leadhand.teams.review.lenses.security.values import HOLE

_FAMILY = "security/secrets"
HARD_CODED = LensRule(
    "security/hard-coded-credential", _FAMILY, "critical",
    "Everyone who can read the code can use it, and it can't be changed without a release.",
    "Read it from the environment or a secret store, and change it.",
)  # fmt: skip
EMPTY = LensRule(
    "security/empty-database-password", _FAMILY, "warning",
    "Anyone who reaches the database is let in.",
    "Give the account a password, and read it from the environment.",
)  # fmt: skip

_PASSWORDS = listed("password passwd pwd passphrase")
_KEYS = listed("secret token apikey")
_PAIRS = listed(
    "api_key secret_key access_key auth_key private_key signing_key encryption_key master_key"
    " client_secret"
)
_SOMETHING_ELSE = listed(
    "url uri file path name field header type env var prefix suffix regex pattern label param help"
    " message msg error text title hint prompt format id column placeholder class scheme method"
    " endpoint description re template page form algorithm mode length min max policy hash hasher"
    " validator validators input option options flag attr attribute alias default kind sep"
    " separator index tag re end start eos bos pad unk cls mask special model dir location cookie"
    " salt reset expired regexp style node lexer state event doc docs test"
)
_CONNECTS = re.compile(
    r"^(?:mysql\.connector|psycopg2?|pymysql|MySQLdb|mariadb|pymssql|cx_Oracle|oracledb|pyodbc|asyncpg"
    r"|aiomysql|redis|pymongo|ftplib|paramiko|smtplib|imaplib|ldap3?|neo4j|clickhouse_driver|jaydebeapi)\b"
)
_DATABASES = re.compile(r"^(?:mysql\.connector|psycopg2?|pymysql|MySQLdb|mariadb|pymssql)\.")
_DATABASE_URL = re.compile(
    r"^(?:postgres(?:ql)?|mysql|mariadb|mssql|oracle)(?:\+\w+)?://[\w.-]+:@([\w.-]+)"
)
_PLACEHOLDER = re.compile(
    r"^(?:x+|\*+|\.+|-+|<.*>|\[.*\]|your.*|.*example.*|.*placeholder.*|.*change.?me.*|.*redacted.*|none|null"
    r"|todo.*|.*\bhere|test.*|dummy.*|fake.*|.*\.\.\.)$",
    re.IGNORECASE,
)
_NOT_A_VALUE = re.compile(
    r"[\s{}<>$%\x00]|://|^[./~]|^--|\(|^[a-z]+(?:[._:-][a-z]+)+$|^[A-Z]+(?:_[A-Z]+)*$"
)


def look(event: Event) -> Iterator[SecurityHit]:
    """What is wrong with `event`, if anything."""
    if isinstance(event, Store):
        yield from _stored(event)
    elif isinstance(event, ResolvedCall):
        yield from _passed(event)
    elif isinstance(event, Comparison):
        for one, other in ((event.left, event.right), (event.right, event.left)):
            value = other.constant
            name = one.origin.rsplit(".", 1)[-1]
            if value is not None and not one.constant and _is_password(name) and _is_real(value):
                message = f"`{one.origin}` is compared with a constant in {event.scope.title}."
                yield SecurityHit(HARD_CODED, event.node, message)


def _stored(event: Store) -> Iterator[SecurityHit]:
    expression = event.expression
    if not isinstance(expression, ast.Constant) or not isinstance(expression.value, str | bytes):
        return
    value = event.value.constant or ""
    url = _DATABASE_URL.match(value)
    if url and url[1] not in ("localhost", "127.0.0.1"):
        message = f"`{event.key}` holds a URL of `{url[1]}` with an empty password."
        yield SecurityHit(EMPTY, event.node, message)
    elif _names_a_credential(event.key, value):
        yield SecurityHit(HARD_CODED, event.node, f"`{event.key}` holds a constant credential.")


def _passed(event: ResolvedCall) -> Iterator[SecurityHit]:
    connects = bool(_CONNECTS.match(event.name))
    for keyword in event.node.keywords:
        value = event.keywords.get(keyword.arg or "")
        if not keyword.arg or value is None or not _is_password(keyword.arg):
            continue
        literal = isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
        if not literal or HOLE in value.text:
            continue
        if connects and value.text and not _PLACEHOLDER.match(value.text):
            message = f"`{event.name}` in {event.scope.title} is given a constant `{keyword.arg}`."
            yield SecurityHit(HARD_CODED, event.node, message)
        elif not connects and _is_real(value.text):
            message = f"`{event.name}` in {event.scope.title} is given a constant `{keyword.arg}`."
            yield SecurityHit(HARD_CODED, keyword.value, message)
        elif not value.text and _DATABASES.match(event.name):
            user = event.arg(-1, "user", "username").constant
            if user:
                message = f"`{event.name}` logs `{user}` in with an empty password."
                yield SecurityHit(EMPTY, event.node, message)


def _names_a_credential(name: str, value: str) -> bool:
    found = words(name)
    if set(found) & _SOMETHING_ELSE or _PLACEHOLDER.match(value) or _NOT_A_VALUE.search(value):
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
    return bool(found) and found[-1] in _PASSWORDS and not set(found) & _SOMETHING_ELSE


def _is_real(value: str) -> bool:
    if len(value) < 6 or _PLACEHOLDER.match(value) or _NOT_A_VALUE.search(value):
        return False
    return _mixed(value)


def _mixed(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


TOPIC = Topic(
    rules=(HARD_CODED, EMPTY),
    calls=frozenset(("connect", "Connection", "login", "Redis", "StrictRedis", "create_pool")),
    look=look,
    hints={},
    others=frozenset((Store, Comparison)),
)
