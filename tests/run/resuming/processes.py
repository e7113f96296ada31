"""The processes of these tests: `leadhand`, and functions of modules beside this one."""

import os
from dataclasses import dataclass
from pathlib import Path

from tests.programs import ROOT, Ended, Forkserver, Program

CLI = "leadhand"


@dataclass(frozen=True, slots=True)
class Processes:
    """Begins processes that may be killed."""

    server: Forkserver

    def start(
        self, program: str, *arguments: str, folder: Path, env: dict[str, str] | None = None
    ) -> Program:
        """A process of `leadhand`, or one that calls `module:function`, with these arguments.

        It works in `folder`, where its runs are kept in `home`.
        """
        module, _, function = program.partition(":")
        called = ("-c", f"from {module} import {function}; {function}()")
        own = {"COLUMNS": "80", "NO_COLOR": "1", "LEADHAND_HOME": str(folder / "home")}
        return self.server.start(
            *(called if function else ("-m", module)),
            *arguments,
            folder=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **own, **(env or {})},
        )

    def run(
        self, program: str, *arguments: str, folder: Path, env: dict[str, str] | None = None
    ) -> Ended:
        """What such a process leaves behind."""
        return self.start(program, *arguments, folder=folder, env=env).ended()
