"""Where leadhand keeps its state, and the runs that are kept there."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from leadhand.errors import InputError

if TYPE_CHECKING:
    from leadhand.ports import Journal

_PASSWORD = re.compile(r"(?<=://)([^/@:]*:)[^/@]*@")


def state_folder(environ: Mapping[str, str]) -> Path:
    """`$LEADHAND_HOME`, else the platform's folder for a user's data. It need not exist."""
    if given := environ.get("LEADHAND_HOME"):
        return Path(given).expanduser().absolute()
    if sys.platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "leadhand"


def home_of(given: str | None, environ: Mapping[str, str]) -> Path | str:
    """Where runs are kept: what `--home` names, else `$LEADHAND_HOME`, else the user's folder.

    The URL of a database stays as it is. A folder need not exist. Raises `InputError` for a URL of
    anything else.
    """
    named = given or environ.get("LEADHAND_HOME") or ""
    if named.startswith(("postgresql://", "postgres://")):
        return named
    if "://" in named:
        kind = named.partition("://")[0]
        raise InputError(f"runs can't be kept in {kind}://: give a folder or a postgresql:// URL")
    return Path(given).expanduser().absolute() if given else state_folder(environ)


def run_folder(home: Path | str, run_id: str, environ: Mapping[str, str]) -> Path:
    """The folder for what belongs to a run and is no event; it need not exist.

    It is never one above, however the run is called: it is deleted with the run.
    """
    name = run_id if run_id.strip(".") else f"_{run_id}"
    return (home if isinstance(home, Path) else state_folder(environ)) / "runs" / name


def shown_home(home: Path | str) -> str:
    """The home as it may be shown: without the password that its URL may hold."""
    return _PASSWORD.sub(r"\1***@", str(home))


def stored_runs(home: Path | str) -> "Journal | None":
    """The journal in `home`; none where that is a folder without anything, and nothing is made.

    Raises `InputError` for what is no folder.
    """
    from leadhand.journal import open_journal

    try:
        if isinstance(home, Path) and not (home.exists() and any(home.iterdir())):
            return None
    except NotADirectoryError as error:
        raise InputError(f"can't look for runs in {home}: it is a file") from error
    except OSError as error:
        raise InputError(f"can't look for runs in {home}: {error.strerror}") from error
    return open_journal(home)
