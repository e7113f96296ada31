"""Where leadhand keeps its state."""

import sys
from collections.abc import Mapping
from pathlib import Path


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
