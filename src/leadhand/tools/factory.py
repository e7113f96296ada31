"""The ready-made tools of a run, made when a worker asks for one by name.

Each kind opens what it needs on first use: a run whose workers never query anything never loads a
database.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from leadhand.errors import InputError
from leadhand.tools.ready_made import READY_MADE_TOOLS
from leadhand.tools.text import grouped_by_reason

if TYPE_CHECKING:
    from leadhand.tools.files import FileTools, Inputs
    from leadhand.tools.sql import SqlTools
    from leadhand.tools.web import WebTools


class ToolFactory:
    """Ready-made tools over what was handed in with one request."""

    def __init__(self, inputs: "Inputs | None", environ: Mapping[str, str]) -> None:
        """`environ` says what of the web may be used; see `WebSettings`."""
        self._inputs = inputs
        self._environ = environ
        self._files: FileTools | None = None
        self._sql: SqlTools | None = None
        self._web: WebTools | None = None
        self._told: set[tuple[str, str]] = set()

    def make(self, name: str) -> Callable[..., object] | None:
        """The tool of that name; none for one that is switched off.

        Raises `InputError` that says which there are.
        """
        match name:
            case "list_files":
                return self._file_tools().list_files
            case "search_files":
                return self._file_tools().search_files
            case "read_file":
                return self._file_tools().read_file
            case "list_tables":
                return self._sql_tools().list_tables
            case "query":
                return self._sql_tools().query
            case "search_web":
                web = self._web_tools()
                return web.search_web if web is not None and web.can_search else None
            case "read_page":
                web = self._web_tools()
                return web.read_page if web is not None and web.can_read else None
            case "calculate":
                from leadhand.tools.calculate import calculate

                return calculate
            case _:
                raise InputError(f"there is no ready-made tool {name!r}: there are {_known()}")

    def unread(self) -> tuple[str, ...]:
        """What tools could not read of what was handed in, a line a reason; each file once."""
        found = [
            *(self._files.unread() if self._files is not None else ()),
            *(self._sql.unread() if self._sql is not None else ()),
        ]
        new = [one for one in dict.fromkeys(found) if one not in self._told]
        self._told.update(new)
        return tuple(f"{names}: {why}" for names, why in grouped_by_reason(new))

    def close(self) -> None:
        """Let go of databases and temporary files."""
        if self._sql is not None:
            self._sql.close()

    def _file_tools(self) -> "FileTools":
        if self._files is None:
            from leadhand.tools.files import FileTools

            self._files = FileTools(self._given())
        return self._files

    def _sql_tools(self) -> "SqlTools":
        if self._sql is None:
            from leadhand.tools.sql import SqlTools

            self._sql = SqlTools(self._given())
        return self._sql

    def _web_tools(self) -> "WebTools | None":
        if self._web is None:
            from leadhand.tools.web import WebSettings, WebTools

            settings = WebSettings.from_environment(self._environ)
            self._web = None if settings is None else WebTools(settings)
        return self._web

    def _given(self) -> "Inputs":
        if self._inputs is None:
            from leadhand.tools.files import Inputs

            self._inputs = Inputs.of([])
        return self._inputs


def _known() -> str:
    return ", ".join(READY_MADE_TOOLS)
