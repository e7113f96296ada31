"""Makes the ready-made tools of a run by name; each loads its libraries on first use."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from leadhand.contracts.worker import READY_MADE_TOOLS
from leadhand.errors import InputError
from leadhand.tools.text import grouped_by_reason

if TYPE_CHECKING:
    from leadhand.tools.files.inputs import Inputs
    from leadhand.tools.files.toolset import FileTools
    from leadhand.tools.sql import SqlTools
    from leadhand.tools.web import WebTools


class ToolFactory:
    def __init__(self, inputs: "Inputs | None", environ: Mapping[str, str]) -> None:
        """`environ` switches web tools on; see `WebSettings`."""
        self._given = inputs
        self._environ = environ
        self._reading: list[FileTools | SqlTools] = []
        self._reported: set[tuple[str, str]] = set()

    def make(self, name: str) -> Callable[..., object] | None:
        """The tool of that name; None if it is switched off. Raises `InputError` if unknown."""
        match name:
            case "list_files":
                return self._files.list_files
            case "search_files":
                return self._files.search_files
            case "read_file":
                return self._files.read_file
            case "list_tables":
                return self._sql.list_tables
            case "query":
                return self._sql.query
            case "search_web":
                return self._web.search_web if self._web and self._web.can_search else None
            case "read_page":
                return self._web.read_page if self._web and self._web.can_read else None
            case "calculate":
                from leadhand.tools.calculate import calculate

                return calculate
            case _:
                known = ", ".join(READY_MADE_TOOLS)
                raise InputError(f"there is no ready-made tool {name!r}: there are {known}")

    def unread(self) -> tuple[str, ...]:
        """The inputs that tools could not read, one line for each reason, each file only once."""
        found = [pair for tools in self._reading for pair in tools.unread()]
        new = [one for one in dict.fromkeys(found) if one not in self._reported]
        self._reported.update(new)
        return tuple(f"{names}: {why}" for names, why in grouped_by_reason(new))

    def close(self) -> None:
        if "_sql" in vars(self):
            self._sql.close()

    @cached_property
    def _files(self) -> "FileTools":
        from leadhand.tools.files.toolset import FileTools

        tools = FileTools(self._inputs)
        self._reading.append(tools)
        return tools

    @cached_property
    def _sql(self) -> "SqlTools":
        from leadhand.tools.sql import SqlTools

        tools = SqlTools(self._inputs)
        self._reading.append(tools)
        return tools

    @cached_property
    def _web(self) -> "WebTools | None":
        from leadhand.tools.web import WebSettings, WebTools

        settings = WebSettings.from_environment(self._environ)
        return None if settings is None else WebTools(settings)

    @cached_property
    def _inputs(self) -> "Inputs":
        from leadhand.tools.files.inputs import Inputs

        return Inputs.of([]) if self._given is None else self._given
