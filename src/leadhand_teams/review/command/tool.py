"""`review` as a tool of `leadhand mcp`: the command in a process of its own."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError


def review_tool(home: str | None) -> Callable[..., Awaitable[dict[str, Any]]]:
    """The tool, whose runs are stored in `home`."""

    async def review(
        ctx: Context, range: str = "HEAD", repo: str = ".", threshold: int | None = None
    ) -> dict[str, Any]:
        """Review a change in a git repository on this machine: `A..B`, `A...B` or a commit. Gives
        the findings, each with the words of the change that show it, and what needs a look. No code
        of the repository is run, and nothing is sent anywhere."""
        given = ["--repo", repo, "--json", "--no-model"]
        given += [] if home is None else ["--home", home]
        given += [] if threshold is None else ["--threshold", str(threshold)]
        return await _reviewed(ctx, [*given, "--", range])

    return review


async def _reviewed(ctx: Context, arguments: list[str]) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "leadhand", "review", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    reading = asyncio.ensure_future(process.stdout.read())
    try:
        said, lines = "", 0
        async for line in process.stderr:
            said, lines = line.decode(errors="replace").strip(), lines + 1
            await ctx.report_progress(lines, message=said)
        report = await reading
        await process.wait()
    finally:
        reading.cancel()
        if process.returncode is None:
            process.terminate()
            await process.wait()
    if not report:
        raise ToolError(said or "the review ended without a report")
    answer = json.loads(report)
    return {name: answer[name] for name in ("run_id", "status", "answer")} | answer["output"]
