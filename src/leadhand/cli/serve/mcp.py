"""`leadhand mcp`: teams as tools of MCP over stdio, until the client closes it."""

import asyncio
from collections.abc import Callable, Iterator

from leadhand.cli.added_commands import added_command
from leadhand.cli.run.storage import RunStorage
from leadhand.cli.serve.command import supervisors_of
from leadhand.cli.serve.commands import TeamOptions
from leadhand.errors import InputError
from leadhand.serve.authentication import OPERATOR
from leadhand.serve.lifespan import serving
from leadhand.serve.mcp import server_of
from leadhand.serve.service import ServiceSettings, service_of
from leadhand.teams.installed import COMMANDS, entry_points


def mcp_command(options: TeamOptions) -> None:
    """Raises `InputError` before it serves."""
    with RunStorage(options.home) as storage:
        if storage.lost is not None:
            raise InputError(storage.lost)
        service = service_of(
            supervisors_of(options, storage),
            settings=ServiceSettings(),
            home=storage.home,
            allow_memory=False,
        )
        server = server_of(service, *_tools(options.home), principal=OPERATOR)

        async def serve() -> None:
            async with serving(service):
                await server.run_stdio_async()

        asyncio.run(serve())


def _tools(home: str | None) -> Iterator[Callable[..., object]]:
    """Those of commands of installed packages."""
    for name in entry_points(COMMANDS):
        command = added_command(name)
        if command is not None and command.tool is not None:
            yield command.tool(home)
