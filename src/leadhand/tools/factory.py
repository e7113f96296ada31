"""Makes the ready-made tools of a run by name; each loads its libraries on first use."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from leadhand.contracts.worker_factory import READY_MADE_TOOLS
from leadhand.errors import InputError
from leadhand.tools.text import grouped_by_reason

if TYPE_CHECKING:
    from leadhand.tools.files.inputs import Inputs
    from leadhand.tools.files.toolset import FileTools
    from leadhand.tools.sql import SqlTools
    from leadhand.tools.web import WebTools


class ToolFactory:
    """Ready-made tools that share the inputs of one request."""

    def __init__(self, inputs: "Inputs | None", environ: Mapping[str, str]) -> None:
        """`environ` switches web tools on; see `WebSettings`."""
        self._inputs = inputs
        self._environ = environ
        self._files: FileTools | None = None
        self._sql: SqlTools | None = None
        self._web: WebTools | None = None
        self._reported: set[tuple[str, str]] = set()

    def make(self, name: str) -> Callable[..., object] | None:
        """The tool of that name; None if it is switched off. Raises `InputError` if unknown."""
        match name:
            case "list_files" | "search_files" | "read_file":
                return cast("Callable[..., object]", getattr(self._file_tools(), name))
            case "list_tables" | "query":
                return cast("Callable[..., object]", getattr(self._sql_tools(), name))
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
                known = ", ".join(READY_MADE_TOOLS)
                raise InputError(f"there is no ready-made tool {name!r}: there are {known}")

    def unread(self) -> tuple[str, ...]:
        """The inputs that tools could not read, one line for each reason, each file only once."""
        found = [
            *(self._files.unread() if self._files is not None else ()),
            *(self._sql.unread() if self._sql is not None else ()),
        ]
        new = [one for one in dict.fromkeys(found) if one not in self._reported]
        self._reported.update(new)
        return tuple(f"{names}: {why}" for names, why in grouped_by_reason(new))

    def close(self) -> None:
        """Delete databases and temporary files."""
        if self._sql is not None:
            self._sql.close()

    def _file_tools(self) -> "FileTools":
        if self._files is None:
            from leadhand.tools.files.toolset import FileTools

            self._files = FileTools(self._all_inputs())
        return self._files

    def _sql_tools(self) -> "SqlTools":
        if self._sql is None:
            from leadhand.tools.sql import SqlTools

            self._sql = SqlTools(self._all_inputs())
        return self._sql

    def _web_tools(self) -> "WebTools | None":
        if self._web is None:
            from leadhand.tools.web import WebSettings, WebTools

            settings = WebSettings.from_environment(self._environ)
            self._web = None if settings is None else WebTools(settings)
        return self._web

    def _all_inputs(self) -> "Inputs":
        if self._inputs is None:
            from leadhand.tools.files.inputs import Inputs

            self._inputs = Inputs.of([])
        return self._inputs
