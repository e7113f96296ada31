"""`teams new` creates a folder with a small working team that the user changes into their own."""

import keyword
import re
import shutil
import sys
import sysconfig
import unicodedata
from importlib.machinery import PathFinder
from pathlib import Path

from leadhand.teams.edits import fill_new

SCHEMAS = Path(__file__).parent / "schemas"
"""The JSON Schemas of a team's files, for editors."""
_TEMPLATE = Path(__file__).parent / "scaffold" / "support"
_MODULE = "support_desk"
"""The name of the template's module; in a new team it is named after the team."""


def create(folder: Path) -> Path:
    """Completely or not at all; raises as `fill_new` does."""
    return fill_new(folder, lambda new: _write(new, module_name(folder.resolve().name)))


def _write(folder: Path, module: str) -> None:
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


def module_name(team: str) -> str:
    """`my-team` becomes `my_team`; `calendar`, a module of Python's, becomes `calendar_team`."""
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
