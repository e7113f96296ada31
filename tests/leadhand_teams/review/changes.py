"""Builds changes from plain texts, as the snapshot writer would, and runs a lens on them."""

import difflib
import json
from collections.abc import Sequence
from pathlib import Path

from leadhand.contracts.answer import Finding, LensReport
from leadhand.contracts.outcome import Handoff
from leadhand_teams.review.change import Change
from leadhand_teams.review.lens import LensWorker
from leadhand_teams.review.reported import ChangeQuotes

_LANGUAGES = {"py": "python", "pyi": "python", "js": "javascript", "md": "markdown", "go": "go"}


def make_change(
    folder: Path,
    after: dict[str, str],
    before: dict[str, str] | None = None,
    *,
    renamed: dict[str, str] | None = None,
    git_dir: Path | None = None,
    base: str | None = None,
    head: str | None = None,
    history: str | None = None,
) -> Change:
    """The change from `before` to `after` (path -> text). `renamed` maps new paths to old ones."""
    old, moved = before or {}, renamed or {}
    gone = set(old) - set(after) - set(moved.values())
    rows: list[dict[str, object]] = []
    for index, path in enumerate(sorted(set(after) | gone)):
        source = moved.get(path, path)
        was, now = old.get(source, ""), after.get(path, "")
        ending = path.rsplit(".", 1)[-1]
        kept = f".{ending}" if ending in ("py", "pyi") else ".txt"
        for side, text, there in (("head", now, path in after), ("base", was, source in old)):
            if there:
                file = folder / side / f"{index:06d}{kept}"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8", newline="")
        status = (
            "deleted" if path in gone else "renamed" if path in moved
            else "modified" if source in old else "added"
        )  # fmt: skip
        rows.append(
            {
                "path": path,
                "old_path": source if source in old and source != path else None,
                "status": status,
                "language": _LANGUAGES.get(ending, "text"),
                "complete": True,
                "hunks": _hunks(_lines(was), _lines(now)),
            }
        )
    (folder / "change.json").write_text(
        json.dumps(
            {
                "title": "a test change", "base": base, "head": head, "history": history,
                "git_dir": str(git_dir) if git_dir else None, "skipped": [], "files": rows,
            }
        )
    )  # fmt: skip
    return Change.load(str(folder))


def run_lens(lens: LensWorker, change: Change, *paths: str) -> LensReport:
    """The report of `lens` on the files at `paths`, or on all files of `change`."""
    handoff = Handoff(
        run_id="r",
        task_id="lens",
        attempt=1,
        from_agent="supervisor",
        to_agent="lens",
        intent="Review the change.",
        artifacts=paths or tuple(file.path for file in change.files),
        return_to="supervisor",
    )
    return lens(handoff, change=str(change.folder))


def quoted_report(lens: LensWorker, change: Change) -> LensReport:
    """The same on all files; every quote is checked against the change."""
    report, quotes = run_lens(lens, change), ChangeQuotes(change)
    for one in report.findings:
        assert quotes.quoted(one) is not None, one
    return report


def only(found: LensReport | Sequence[Finding]) -> Finding:
    """The only one that there is."""
    (one,) = found.findings if isinstance(found, LensReport) else found
    return one


def _lines(text: str) -> list[str]:
    return text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else []


def _hunks(was: list[str], now: list[str]) -> list[list[int]]:
    matcher = difflib.SequenceMatcher(a=was, b=now, autojunk=False)
    return [
        [a1 + 1 if a2 > a1 else a1, a2 - a1, b1 + 1 if b2 > b1 else b1, b2 - b1]
        for tag, a1, a2, b1, b2 in matcher.get_opcodes()
        if tag != "equal"
    ]
