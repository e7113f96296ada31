"""The location of a journal: a folder, or the URL of a database."""

import re
from pathlib import Path

from leadhand.errors import InputError

_POSTGRES = re.compile(r"(postgres(?:ql)?)://", re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_PARAMETERS = re.compile(
    r"(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=", re.IGNORECASE
)
"""A database named by parameters instead of a URL."""


def journal_location(home: str | Path) -> Path | str:
    """`home` as a folder, with `~` expanded, or as a `postgresql://` URL.

    Raises `InputError` for anything else; its message has no password.
    """
    named = str(home).strip()
    if "\0" in named:
        raise _wrong("it has a character that no name can have")
    if isinstance(home, Path):
        return home
    if not named:
        raise _wrong("it names nothing")
    if found := _POSTGRES.match(named):
        return f"{found[1].lower()}://{named[found.end() :]}"
    if "://" in named or _PARAMETERS.match(named):
        kind = found[0] if (found := _URL.match(named)) else ""
        raise _wrong(f"{kind}… is neither")
    try:
        return Path(home).expanduser()
    except RuntimeError:
        raise _wrong(f"there is no user {home.partition('/')[0]}") from None


def _wrong(why: str) -> InputError:
    return InputError(f"home: give a folder or a postgresql:// URL; {why}")
