"""The report of an answer as files: `leadhand run --out DIR`."""

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from leadhand.cli.views.answer import markdown
from leadhand.cli.views.consoles import print_note
from leadhand.contracts.answer import Answer
from leadhand.contracts.outcome import with_location
from leadhand.contracts.team import Team
from leadhand.engine.failures import failure_of
from leadhand.errors import InputError, ToolError
from leadhand.trace.page.markup import Html, tag
from leadhand.trace.page.sections import render_markdown

REPORT = "report.html"
_NAME = re.compile(r"(?:[\w-][\w .-]*/)?[\w-][\w .-]*")
_STYLE = """\
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;\
margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}td,th{border:1px solid #8886;\
padding:.2rem .6rem;text-align:left}pre{overflow:auto}"""


def check_folder(folder: Path) -> None:
    """Raises `InputError`, before a run, if no files can be written into `folder`."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"can't write a report into {folder}: {there} is no folder you can write")


def write_report(answer: Answer, team: Team | None, folder: Path) -> None:
    """Write the files of the team's report, all of them or none, and say where the report is.

    Raises `ToolError`.
    """
    files = _files(answer, team)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".report-", dir=folder) as new:
            for name, content in files.items():
                (file := Path(new, name)).parent.mkdir(exist_ok=True)
                file.touch(mode=0o600)
                file.write_bytes(content.encode() if isinstance(content, str) else content)
                (folder / name).parent.mkdir(mode=0o700, exist_ok=True)
                if (folder / name).is_dir():
                    raise IsADirectoryError(0, f"{name} is a folder")
            for name in files:
                Path(new, name).replace(folder / name)
    except OSError as error:
        raise ToolError(f"can't write the report into {folder}: {error.strerror}") from error
    print_note(f"report: {folder / REPORT if REPORT in files else folder}")


def _files(answer: Answer, team: Team | None) -> Mapping[str, str | bytes]:
    if team is None or team.report is None:
        text = markdown(answer)
        title = f"{answer.team}: {answer.request[:80]}"
        head = Html('<meta charset="utf-8">'), tag("title", title), tag("style", Html(_STYLE))
        body = tag("body", tag("h1", title), render_markdown(text))
        page = f"<!doctype html>{tag('html', tag('head', *head), body, lang='en')}\n"
        return {REPORT: page, "report.md": text}
    try:
        files = {**team.report(answer)}
    except Exception as error:
        failed = failure_of(error)
        why = with_location(failed.message, failed.where)
        raise ToolError(f"the report of team {team.name!r} failed: {why}") from error
    for name, content in files.items():
        if not _NAME.fullmatch(name) or not isinstance(content, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
            what = f"{name!r} as {type(content).__name__}"
            raise ToolError(f"the report of team {team.name!r} has {what}: give plain names")
    return files
