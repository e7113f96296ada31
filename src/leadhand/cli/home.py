"""Where leadhand stores its state, and the runs that are stored there."""

import difflib
import os
import re
import shlex
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from leadhand import redaction
from leadhand.cli.views.terminal import safe
from leadhand.errors import InputError
from leadhand.tools.text import counted

if TYPE_CHECKING:
    from leadhand.journal.store import Store

MAX_SHOWN_CHARS = 60
"""How much of a request or of a wrong id is shown."""
MAX_ID_CHARS = 200
MAX_NEAREST = 3
_PASSWORDS = (
    re.compile(r"([?&](?:ssl)?password=)[^&#]*", re.IGNORECASE),
    re.compile(r"(?<=://)([^/@:]*:).*(?=@)", re.DOTALL),  # however little of it is escaped
)


def state_folder(environ: Mapping[str, str]) -> Path:
    """`$LEADHAND_HOME`, else the platform's folder for a user's data; also if the variable names
    a database. Raises `InputError` if it names neither."""
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
    """What `--home` names, else `$LEADHAND_HOME`, else the user's folder, which need not exist.
    Raises `InputError` for other than folders and URLs of databases that store runs."""
    from leadhand.journal import journal_location

    named = given or environ.get("LEADHAND_HOME")
    place = journal_location(named) if named else state_folder(environ)
    return place.absolute() if isinstance(place, Path) else place


def run_folder(home: Path | str, run_id: str, environ: Mapping[str, str]) -> Path:
    """For a run's other files. It is deleted with the run: no run id leads to a folder above."""
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
    """An empty store if the folder is empty or missing. Creates nothing. Raises `InputError` for
    a path that can't be a folder."""
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


def find_run(store: "Store", given: str, home: Path | str) -> str:
    """`given` is an id, the start of only one, or `last`. Raises `InputError` with similar ids."""
    if _may_be_an_id(given) and store.last_seq(given):
        return given
    ids = [run.run_id for run in store.runs(limit=1 if given == "last" else None)]
    if not ids:
        raise InputError(f"no runs are stored in {shown_home(home)}")
    if given == "last":
        return ids[0]
    asked = repr(cut(given))
    begun = [id for id in ids if given and id.startswith(given)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        more = f" and {len(begun) - MAX_NEAREST:,} more" if len(begun) > MAX_NEAREST else ""
        names = ", ".join(begun[:MAX_NEAREST])
        raise InputError(f"{asked} may be any of {counted(len(begun), 'run')}: {names}{more}")
    like = given[:MAX_ID_CHARS]
    near = difflib.get_close_matches(like, ids, n=MAX_NEAREST, cutoff=0.5) or ids[:1]
    hint = "the nearest: " if near != ids[:1] else "the last one is "
    raise InputError(f"there is no run {asked}; {hint}{', '.join(near)}")


def home_options(home: str | None) -> str:
    return f" --home {shlex.quote(safe(shown_home(home)))}" if home is not None else ""


def _may_be_an_id(text: str) -> bool:
    """No database takes every text."""
    try:
        return len(text.encode()) <= MAX_ID_CHARS and "\0" not in text
    except UnicodeEncodeError:  # an argument that is not UTF-8
        return False


def cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[: MAX_SHOWN_CHARS - 1]}…"
