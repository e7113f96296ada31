"""The files given with `--input`, and the only way to read them (F17).

Names are looked up in the list and never become paths, so a model cannot reach other files.
"""

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from leadhand.tools.errors import ToolCallError
from leadhand.tools.files.kinds import (
    KIND_NAMES,
    PROBE_BYTES,
    FileKind,
    kind_of_bytes,
    kind_of_name,
)
from leadhand.tools.files.listing import (
    FoundFile,
    ListingLimits,
    display_name,
    distinct,
    list_files,
)
from leadhand.tools.files.opening import FileLocation, FileReplaced, open_listed
from leadhand.tools.text import UnreadFile
from leadhand.untrusted.cutting import cut

_LIMITS = ListingLimits()


class UnreadableInput(ToolCallError):
    """An input file that can't be read; `why` is a short reason."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self.why = why
        super().__init__(f"{name}: {why}")


@dataclass(frozen=True, slots=True)
class InputFile:
    name: str
    """Unique and short, with `/` between its parts, for tools and citations."""
    kind: FileKind
    size_bytes: int


class Inputs:
    """Use `Inputs.of` to make it."""

    __slots__ = ("_places", "files", "skipped")

    files: tuple[InputFile, ...]
    """In the order given; those of a folder by name."""
    skipped: tuple[UnreadFile, ...]
    """Files that are not read: hidden ones, links, devices, those beyond the limits."""

    def __init__(
        self,
        files: Sequence[InputFile],
        places: Mapping[str, FileLocation],
        *,
        skipped: Sequence[UnreadFile] = (),
    ) -> None:
        self.files = tuple(files)
        self.skipped = tuple(skipped)
        self._places = dict(places)

    @classmethod
    def of(cls, paths: Sequence[Path], *, limits: ListingLimits = _LIMITS) -> "Inputs":
        """The files at `paths` and in folders there. Raises `InputError` if one can't be read."""
        listing = list_files(paths, limits)
        skipped = list(listing.skipped)
        files: list[InputFile] = []
        places: dict[str, FileLocation] = {}
        for found in listing.found:
            name = distinct(display_name(found.shown), places)
            try:
                files.append(InputFile(name, _kind(found), found.size_bytes))
                places[name] = found.place
            except OSError:
                skipped.append(UnreadFile(name, "can't be read"))
        return cls(files, places, skipped=skipped)

    def find(self, name: str) -> InputFile:
        """The file listed as `name`. Raises `ToolCallError` that suggests similar names."""
        wanted = name.removeprefix("./")
        for file in self.files:
            if file.name == wanted:
                return file
        raise ToolCallError(_unknown(wanted, [file.name for file in self.files]))

    def open(self, name: str) -> BufferedReader:
        """The file listed as `name`, open for reading. Raises `ToolCallError` for an unlisted
        name, and `UnreadableInput` if the file is gone or was replaced."""
        file = self.find(name)
        try:
            return open_listed(self._places[file.name])
        except FileReplaced as error:
            raise UnreadableInput(file.name, f"not read, because {error}") from error
        except OSError as error:
            raise UnreadableInput(
                file.name, "not read: it was moved, replaced or locked since it was handed in"
            ) from error

    def of_kind(self, *kinds: FileKind) -> tuple[InputFile, ...]:
        return tuple(file for file in self.files if file.kind in kinds)

    def summary(self) -> str:
        """For example `3 CSV files`; has no untrusted text."""
        counts = Counter(file.kind for file in self.files)
        words = [
            f"{counts[kind]:,} {word} file{'s' if counts[kind] > 1 else ''}"
            for kind, word in KIND_NAMES.items()
            if counts[kind]
        ]
        return ", ".join(words) or "no files"


def _kind(found: FoundFile) -> FileKind:
    known = kind_of_name(found.place.parts[-1])
    if known is not None:
        return known
    with open_listed(found.place) as stream:
        return kind_of_bytes(stream.read(PROBE_BYTES))


def _unknown(wanted: str, names: list[str]) -> str:
    if wanted.startswith(("/", "~")) or ".." in wanted.split("/") or "\0" in wanted:
        return "name a file as list_files shows it: no absolute path, no '..', no NUL"
    near = difflib.get_close_matches(wanted[:200], names[:2000], n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else "list_files shows the names"
    return f"there is no file {cut(wanted, 100)!r}; {hint}"
