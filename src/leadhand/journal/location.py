"""The location of a journal: a folder, or the URL of a database."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from leadhand.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "leadhand.journals"
"""The group of entry points with journals of other packages; each name is a URL scheme."""

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_PARAMETERS = re.compile(
    r"(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=", re.IGNORECASE
)
"""A database named by parameters instead of a URL."""


def journal_location(home: str | Path) -> Path | str:
    """`home` as a folder, with `~` expanded, or as a URL whose scheme has a journal. Raises
    `InputError`, without any password, for anything else."""
    named = str(home).strip()
    if "\0" in named:
        raise _wrong("it has a character that no name can have")
    if isinstance(home, Path):
        return home
    if not named:
        raise _wrong("it names nothing")
    if found := _URL.match(named):
        scheme = found[1].lower()
        if scheme in {"postgres", "postgresql"} or installed_journal(scheme):
            return f"{scheme}://{named[found.end() :]}"
        raise _wrong(f"no installed package stores runs at {scheme}://")
    if "://" in named or _PARAMETERS.match(named):
        raise _wrong("… is neither")
    try:
        return Path(home).expanduser()
    except RuntimeError:
        raise _wrong(f"there is no user {home.partition('/')[0]}") from None


def installed_journal(scheme: str) -> "EntryPoint | None":
    """The package that stores runs at such URLs. Raises `InputError` if several do."""
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    found = {point.value: point for point in entry_points(group=GROUP, name=scheme)}
    if len(found) > 1:
        raise InputError(f"home: several packages store runs at {scheme}://: uninstall all but one")
    return next(iter(found.values()), None)


def _wrong(why: str) -> InputError:
    return InputError(f"home: give a folder or a postgresql:// URL; {why}")
