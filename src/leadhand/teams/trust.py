"""Checks who owns a team's files: code of other users is imported only with `--trust`.

The folder with its links resolved, every folder above it, and every entry that leadhand reads or
Python could import must belong to the user who runs the program or to root. Nothing is imported
from a folder such as `/tmp`, into which all users may write.
"""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import all_suffixes
from pathlib import Path

from leadhand.errors import InputError

MAX_ENTRIES = 100_000
"""How many entries of a folder are checked; a folder with more needs `--trust`."""
_DATA = (".md", ".yaml")
_ADVICE = (
    "what is imported runs with your permissions; add --trust if you know that it is safe, or copy "
    "the team into a folder of your own"
)


def trusted_owners(environ: Mapping[str, str]) -> frozenset[int]:
    """The ids of the users whose files may be imported: this user, root, and the caller of sudo."""
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    caller = environ.get("SUDO_UID", "") if user == 0 else ""
    return frozenset({user, 0, *([int(caller)] if caller.isdecimal() else [])})


def check_owners(
    folder: Path,
    *,
    whole: bool = True,
    owners: frozenset[int] | None = None,
    max_entries: int = MAX_ENTRIES,
) -> None:
    """Raises `InputError` if another user could have written what is imported from `folder`.

    Without `whole` only its own entries and those of its packages are checked, for a folder in
    which a team's file is one among others.
    """
    if sys.platform == "win32":
        return  # files have no comparable owner there
    owners = trusted_owners(os.environ) if owners is None else owners
    place = folder.resolve()
    try:
        mode = place.stat().st_mode
        if mode & stat.S_ISVTX and mode & stat.S_IWOTH:
            raise InputError(
                f"all users may write into {place}, and so add modules to import: {_ADVICE}"
            )
        for above in (place, *place.parents):
            _check(above, owners | _unmapped() if above != place else owners)
        for number, entry in enumerate(_entries(place, whole=whole)):
            if number == max_entries:
                raise InputError(
                    f"{place} has more than {max_entries:,} entries, too many to check who owns "
                    "them: keep the team in a folder of its own, or add --trust"
                )
            _check(entry, owners)
    except OSError as error:
        raise InputError(f"can't check who owns {place}: {error.strerror or error}") from error


def _entries(folder: Path, *, whole: bool) -> Iterator[Path]:
    """The entries that leadhand reads or Python could import, and the folders around them."""
    suffixes = (*all_suffixes(), *_DATA)
    waiting, seen = [folder], {folder}
    while waiting:
        for entry in sorted(waiting.pop().iterdir()):
            is_folder = entry.is_dir()
            if not (entry.name.isidentifier() if is_folder else entry.name.endswith(suffixes)):
                continue
            yield entry
            is_package = entry.name == "__pycache__" or (entry / "__init__.py").exists()
            if not is_folder or not (whole or is_package):
                continue
            if (place := entry.resolve()) not in seen:
                seen.add(place)  # links may form a cycle
                waiting.append(entry)


def _check(path: Path, owners: frozenset[int]) -> None:
    """The target of a link, too."""
    for owner in {path.lstat().st_uid, *([path.stat().st_uid] if path.exists() else [])}:
        if owner not in owners:
            raise InputError(f"{path} belongs to {_name(owner)}: {_ADVICE}")


def _unmapped() -> frozenset[int]:
    """The owner that a rootless container reports for folders from outside it."""
    try:
        return frozenset({int(Path("/proc/sys/kernel/overflowuid").read_text())})
    except (OSError, ValueError):
        return frozenset()


def _name(owner: int) -> str:
    import pwd  # not there on Windows

    try:
        return f"user {pwd.getpwuid(owner).pw_name!r}"
    except KeyError:
        return f"another user (id {owner})"
