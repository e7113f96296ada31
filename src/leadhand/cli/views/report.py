"""The report of an answer as files: `leadhand run --out DIR`."""

import os
import tempfile
from pathlib import Path

from leadhand.cli.views.answer import markdown
from leadhand.cli.views.consoles import print_note
from leadhand.contracts.answer import Answer
from leadhand.contracts.team import Team
from leadhand.errors import InputError, ToolError
from leadhand.page.report import REPORT, report_files


def check_folder(folder: Path) -> None:
    """Raises `InputError`, before a run, if no files can be written into `folder`."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"can't write a report into {folder}: {there} is no folder you can write")


def write_report(answer: Answer, team: Team | None, folder: Path) -> None:
    """Write the files of the team's report, all of them or none, and say where the report is.

    Raises `ToolError`.
    """
    files = report_files(answer, team, markdown(answer))
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
