"""`teams new` creates a folder with a small working team that the user changes into their own."""

import keyword
import os
import re
import shutil
import sys
import sysconfig
import tempfile
import unicodedata
from importlib.machinery import PathFinder
from pathlib import Path

from leadhand.errors import InputError
from leadhand.teams.draft import TEAM_FILE
from leadhand.teams.schema import FOLDER as SCHEMAS

_TEMPLATE = Path(__file__).parent / "scaffold" / "support"
_MODULE = "support_desk"
"""The name of the template's module; in a new team it is named after the team."""


def create(folder: Path) -> Path:
    """Create `folder` with a new team in it, completely or not at all.

    An empty folder is filled. Raises `InputError` if the folder is not empty or can't be written.
    """
    try:
        place = folder.resolve()
        if place.exists():
            _check_empty(place, folder)
            _fill(place)
        else:
            _make(place, folder)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"no team can be made in {str(folder)!r}: {why}") from error
    return folder


def _check_empty(place: Path, folder: Path) -> None:
    if not place.is_dir():
        raise InputError(f"{str(folder)!r} exists and is not a folder: name another")
    if any(place.iterdir()):
        raise InputError(f"folder {str(folder)!r} is not empty: name one that does not exist yet")


def _make(place: Path, folder: Path) -> None:
    if not place.parent.is_dir():
        raise InputError(
            f"there is no folder {str(folder.parent)!r} to make {place.name!r} in: make it first"
        )
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".new-team-") as beside:
        _write(Path(beside) / "team", module_name(place.name)).rename(place)


def _fill(place: Path) -> None:
    """Write into an existing folder. It is not replaced, because a shell may be in it."""
    with tempfile.TemporaryDirectory(dir=place, prefix=".new-team-") as beside:
        written = _write(Path(beside) / "team", module_name(place.name))
        # The file that makes it a team comes last.
        names = sorted(os.listdir(written), key=lambda name: name == TEAM_FILE)
        for name in names:
            (written / name).rename(place / name)


def _write(folder: Path, module: str) -> Path:
    # File by file: folders of an installed package may be read-only, and these must not be.
    for file in sorted(_TEMPLATE.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            target = folder / str(file.relative_to(_TEMPLATE)).replace(_MODULE, module)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(encoding="utf-8").replace(_MODULE, module)
            target.write_text(text, encoding="utf-8")
    (folder / SCHEMAS.name).mkdir()
    for file in sorted(SCHEMAS.glob("*.json")):
        shutil.copyfile(file, folder / SCHEMAS.name / file.name)
    return folder


def module_name(team: str) -> str:
    """The name of a team's Python module: an identifier that no other module has.

    `my-team` becomes `my_team`; `calendar` becomes `calendar_team`, since Python has a `calendar`.
    """
    plain = unicodedata.normalize("NFKD", team).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:60] or "team"
    if name[0].isdigit() or keyword.iskeyword(name) or keyword.issoftkeyword(name):
        name = f"team_{name}"
    return f"{name}_team" if _is_taken(name) else name


def _is_taken(name: str) -> bool:
    if name in sys.stdlib_module_names or name.startswith("leadhand"):
        return True
    installed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return PathFinder.find_spec(name, installed) is not None
