"""Writes the snapshot folder: texts under numbers, then `change.json`.

It enforces the limits of a review and skips generated files; `snapshot.py` provides the texts.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from leadhand import InputError
from leadhand.tools.git import RevisionRange
from leadhand.tools.text import ChangedText, is_safe_path, size_text
from leadhand_teams.review.change import Change, suffix
from leadhand_teams.review.languages import language, machine_made, says_generated
from leadhand_teams.review.settings import ChangeSettings


@dataclass(frozen=True, slots=True)
class SnapshotLimits:
    """How much of a change is reviewed; the rest is listed as skipped."""

    file_bytes: int = 1 << 20
    """The largest file, and the largest part of a patch for one file."""
    total_bytes: int = 64 << 20
    """All texts together, old and new."""
    files: int = 20_000
    hunks: int = 500_000


@dataclass
class SnapshotFolder:
    """Collects files under consecutive numbers, and what was skipped, until `finish`."""

    folder: Path
    limits: SnapshotLimits
    _rows: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    _skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _paths: set[str] = field(default_factory=set[str])
    _bytes: int = 0
    _unlisted: int = 0
    settings: ChangeSettings = field(default_factory=ChangeSettings)
    cut: str | None = None
    """Why the end of the change was not read."""

    def __post_init__(self) -> None:
        for side in ("base", "head"):
            (self.folder / side).mkdir(parents=True, exist_ok=True)

    def skip(self, path: str, why: str) -> None:
        """Record that the file at `path` is not reviewed; the list is limited, the count is not."""
        if len(self._skipped) < self.limits.files:
            self._skipped.append((path, why))
        else:
            self._unlisted += 1

    def skip_unnamed(self, count: int) -> None:
        """Record that `count` more files are not reviewed."""
        self._unlisted += count

    def refusal(self, path: str, *sizes: int) -> str | None:
        """Why a file of these sizes in bytes is skipped; if `None`, the limits now count it."""
        if not is_safe_path(path):
            return "a path that git would not check out"
        if path in self._paths:
            return "a second entry of the same name; only the first is reviewed"
        if (why := machine_made(path)) is not None:
            return why
        if max(sizes, default=0) > self.limits.file_bytes:
            return f"larger than {size_text(self.limits.file_bytes)}"
        if len(self._paths) >= self.limits.files:
            return f"over the limit of {self.limits.files:,} files"
        if self._bytes + sum(sizes) > self.limits.total_bytes:
            return f"the change has more than {size_text(self.limits.total_bytes)} of text"
        self._bytes += sum(sizes)
        self._paths.add(path)
        return None

    def add(self, text: ChangedText) -> None:
        """Write one file that `refusal` accepted."""
        # The old text decides: a change can't exclude a file by adding the mark of generated ones.
        first = text.base if text.base is not None else text.head
        if says_generated(first or ""):
            self.skip(text.path, "generated, according to its first lines")
            return
        number = f"{len(self._rows):06d}{suffix(text.path)}"
        for side, content in (("base", text.base), ("head", text.head)):
            if content is not None:
                with open(f"{self.folder}/{side}/{number}", "wb") as file:
                    file.write(content.encode())
        self._rows.append(
            {
                "path": text.path,
                "old_path": text.old_path,
                "status": text.status,
                "language": language(text.path, text.head or text.base or ""),
                "complete": text.complete,
                "hunks": text.hunks,
                "undecodable": text.undecodable,
                "encoding": text.encoding,
            }
        )

    def finish(
        self, title: str, ends: RevisionRange | None = None, git_dir: Path | None = None
    ) -> Change:
        """Write `change.json` and read the change back. Raises `InputError` if it is empty."""
        if not self._rows and not self._skipped:
            raise InputError(f"there is nothing to review: nothing changed in {title}")
        if self._unlisted:
            why = f"over the limit of {self.limits.files:,} files"
            self._skipped.append((f"({self._unlisted:,} more files)", why))
        document = {
            "title": title,
            "base": ends and ends.base,
            "head": ends and ends.head,
            "history": ends and ends.history,
            "git_dir": git_dir and str(git_dir),
            "skipped": self._skipped,
            "cut": self.cut,
            "settings": self.settings.model_dump(mode="json"),
            "files": self._rows,
        }
        (self.folder / "change.json").write_text(json.dumps(document), encoding="utf-8")
        return Change.load(str(self.folder))
