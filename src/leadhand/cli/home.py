"""Where leadhand stores its state, and the runs that are stored there."""

import os
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from leadhand import redaction
from leadhand.errors import InputError

if TYPE_CHECKING:
    from leadhand.journal.store import Store

_PASSWORDS = (
    re.compile(r"([?&](?:ssl)?password=)[^&#]*", re.IGNORECASE),
    re.compile(r"(?<=://)([^/@:]*:).*(?=@)", re.DOTALL),  # however little of it is escaped
)


def state_folder(environ: Mapping[str, str]) -> Path:
    """`$LEADHAND_HOME`, else the platform's folder for a user's data. It need not exist.

    If the variable names a database, the latter too. Raises `InputError` if it names neither.
    """
    from leadhand.journal import journal_location

    given = environ.get("LEADHAND_HOME")
    if given and isinstance(place := journal_location(given), Path):
        return place.absolute()
    if sys.platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "leadhand"


def home_of(given: str | None, environ: Mapping[str, str]) -> Path | str:
    """Where runs are stored: what `--home` names, else `$LEADHAND_HOME`, else the user's folder.

    A folder need not exist. Raises `InputError` for what is neither a folder nor the URL of a
    database that can store runs.
    """
    from leadhand.journal import journal_location

    named = given or environ.get("LEADHAND_HOME")
    place = journal_location(named) if named else state_folder(environ)
    return place.absolute() if isinstance(place, Path) else place


def run_folder(home: Path | str, run_id: str, environ: Mapping[str, str]) -> Path:
    """The folder for a run's files besides its events; it need not exist.

    No run id leads to a folder above: the folder is deleted with the run.
    """
    name = run_id if run_id.strip(".") else f"_{run_id}"
    return (home if isinstance(home, Path) else state_folder(environ)) / "runs" / name


def shown_home(home: Path | str) -> str:
    """The home without the passwords that its URL may hold, for messages."""
    shown = str(home)
    for password in _PASSWORDS:
        shown = password.sub(r"\1***", shown)
    return redaction.Redactor.of(os.environ)(shown)


def why_no_folder(folder: Path) -> str | None:
    """Why there can't be such a folder; `None` if there is or can be."""
    for path in (folder, *folder.parents):
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            if path.is_symlink():
                return "it is a link that leads nowhere"
        except OSError as error:
            return f"it can't be read ({error.strerror})"
        else:
            if stat.S_ISDIR(mode):
                return None
            if path != folder:
                return f"it can't be made ({path} is not a folder)"
            return "it is a file" if stat.S_ISREG(mode) else "it is not a folder"
    return None


def stored_runs(home: Path | str) -> "Store":
    """The store in `home`, or an empty one if the folder is empty or missing. Creates nothing.

    Raises `InputError` for a path that is not and can't become a folder.
    """
    from leadhand.journal import open_store

    try:
        if isinstance(home, Path):
            if why := why_no_folder(home):
                raise InputError(f"can't look for runs in {home}: {why}")
            if not (home.exists() and any(home.iterdir())):
                from leadhand.journal import MemoryStore  # slow to import

                return MemoryStore()
    except OSError as error:
        raise InputError(f"can't look for runs in {home}: {error.strerror}") from error
    return open_store(home)
