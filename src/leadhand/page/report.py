"""The report of an answer: the files that its team makes of it, or the answer as a page."""

import html
import re
from collections.abc import Mapping

from leadhand.contracts.answer import Answer
from leadhand.contracts.outcome import with_location
from leadhand.contracts.team import Team
from leadhand.engine.failures import failure_of
from leadhand.errors import ToolError
from leadhand.page.markdown import render
from leadhand.tools.files.legible import cleaned
from leadhand.untrusted.markdown import prose

REPORT = "report.html"
_NAME = re.compile(r"(?:[\w-][\w .-]*/)?[\w-][\w .-]*")
_STYLE = """\
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;\
margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}td,th{border:1px solid #8886;\
padding:.2rem .6rem;text-align:left}pre{overflow:auto}"""


def report_files(answer: Answer, team: Team | None, text: str) -> Mapping[str, str | bytes]:
    """The files by name; of a team without a report of its own, and of an answer without the output
    that the team declares, `text` as Markdown and HTML.

    Raises `ToolError` if the team's code fails.
    """
    lacks_output = team is not None and team.output is not None and answer.output is None
    if lacks_output:
        why = answer.gaps[0].why if answer.gaps else f"the run is {answer.status}"
        text = f"There is no result: {prose(cleaned(' '.join(why.split())))}\n\n{text}"
    if team is None or team.report is None or lacks_output:
        title = html.escape(cleaned(f"{answer.team}: {answer.request[:80]}"))
        page = (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{_STYLE}</style></head><body><h1>{title}</h1>{render(text)}</body></html>\n"
        )
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
