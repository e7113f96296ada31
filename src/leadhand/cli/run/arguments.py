"""The arguments of commands: a team, a request, a plan. Imports nothing that runs."""

import codecs
import json
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from leadhand.cli.added_commands import check_runnable
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.errors import MAX_SHOWN_PROBLEMS, InputError
from leadhand.teams.sources import team_of

MAX_PLAN_BYTES = 200_000_000
"""A plan of 100,000 tasks, the most there may be, takes about a third of it."""
_OPEN_ALREADY = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")


def load_team(name: str, *, trust: bool, folder: str = "") -> Team:
    """Raises `InputError` if `run` can't run it."""
    check_runnable(name)
    return team_of(name, trust=trust, folder=folder)


def read_request(given: str | None, plan: Plan | None = None) -> str:
    """The request as given, from stdin for `-`, else the plan's goal."""
    if given is None:
        if plan is None:
            raise InputError("nothing to run: give a REQUEST, - to read it from stdin, or --plan")
        return plan.goal
    text = sys.stdin.buffer.read().decode("utf-8", "replace") if given == "-" else given
    if not text.strip():
        raise InputError("the request is empty: say what is to be done")
    return text.strip()


def read_plan(file: Path) -> Plan:
    """Raises `InputError`."""
    try:
        with _opened(file) as stream:
            data = stream.read(MAX_PLAN_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"can't read the plan {file}: {why}") from error
    if len(data) > MAX_PLAN_BYTES:
        raise InputError(f"plan {file} is too large: over {MAX_PLAN_BYTES:,} bytes")
    return parse_plan(data, str(file))


def parse_plan(data: bytes, name: str) -> Plan:
    """Raises `InputError` naming every field that is wrong."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        json.loads(data)
        return Plan.model_validate_json(data)
    except json.JSONDecodeError as error:
        place = f"{name}:{error.lineno}:{error.colno}"
        raise InputError(f"{place}: the plan is not valid JSON: {error.msg}") from error
    except ValidationError as error:
        faults = [_fault(fault["loc"], fault["msg"]) for fault in error.errors()]
        rest = len(faults) - MAX_SHOWN_PROBLEMS
        more = f"; and {rest:,} more" if rest > 0 else ""
        raise InputError(f"{name}: {'; '.join(faults[:MAX_SHOWN_PROBLEMS])}{more}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: the plan is not JSON that can be read: {error}") from error


def _opened(file: Path) -> BinaryIO:
    """Refuses a named pipe, as it may never be written to, but reads one that the shell has
    opened, as in `--plan <(leadhand plan ...)`."""
    number = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(number).st_mode
    piped = stat.S_ISFIFO(mode) and str(file).startswith(_OPEN_ALREADY)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or piped):
        os.close(number)
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a device"
        raise InputError(f"can't read the plan {file}: it is {kind}; give a file")
    os.set_blocking(number, True)
    try:
        return open(number, "rb")
    except OSError:
        os.close(number)
        raise


def _fault(place: tuple[int | str, ...], message: str) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return f"{path.lstrip('.') or 'the plan'}: {message[:1].lower()}{message[1:]}"
