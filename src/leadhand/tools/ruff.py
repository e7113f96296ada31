"""Runs ruff over many files at once, with exactly the rules that the caller selects.

Configuration, ignore files and `noqa` comments of the reviewed code are not read. Nothing is fixed,
and a file that crashes ruff affects no other file.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, TypedDict, cast

from leadhand.errors import ToolError
from leadhand.tools.child_process import limit_data
from leadhand.tools.scratch import scratch_folder

UNREADABLE: Final = "unreadable"
"""The code of the diagnostic for a file that crashes ruff."""

UNKNOWN_RULE: Final = "unknown-rule"
"""The code of a diagnostic, of the first file, whose message is a rule that ruff does not know."""

MAX_PER_CODE: Final = 200
"""Diagnostics kept for one code in one file: more means generated code or an attempt to flood."""

_CHUNK_BYTES: Final = 96_000
"""Bytes of file names on one command line, well within the limit of any system."""

_NO_SETTINGS: Final[Mapping[str, str]] = {}

_UNKNOWN = re.compile(r"[Uu]nknown rule selector `\w+`")
_MARK = re.compile(
    r"#\s{0,4}(?:noqa\b(?::[ ]?[A-Z]{1,10}[0-9]{1,5}(?:[, ]{1,3}[A-Z]{1,10}[0-9]{1,5}){0,20})?"
    r"|ruff:[ ]?(?:noqa|ignore|disable|file-ignore)\b(?:\[[\w, -]{1,80}\])?"
    r"|type:[ ]?ignore\b(?:\[[\w, -]{1,80}\])?|pyright:[ ]?ignore\b(?:\[[\w, -]{1,80}\])?"
    r"|pylint:[ ]?disable=[\w, -]{1,80}|nosec\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One diagnostic of ruff. Lines and columns count from 1."""

    file: Path
    line: int
    end_line: int
    column: int
    code: str
    """`F821`, ..., `invalid-syntax` (which is always reported), or `UNREADABLE`."""
    message: str


class _Place(TypedDict):
    row: int
    column: int


class _Row(TypedDict):
    code: str | None
    filename: str
    location: _Place
    end_location: _Place
    message: str


def check(
    files: Sequence[Path],
    *,
    select: Sequence[str],
    settings: Mapping[str, str] = _NO_SETTINGS,
    target: str = "py313",
    preview: bool = False,
    timeout_s: float = 120.0,
    data_bytes: int = 1 << 30,
) -> list[Diagnostic]:
    """The diagnostics by file in the given order, then by place.

    `settings` are dotted keys of ruff's configuration with TOML values, for example
    `{"lint.mccabe.max-complexity": "10"}`. `preview` allows unstable rules. Unknown rules give an
    `UNKNOWN_RULE` each. A file for which ruff needs more than `data_bytes` of memory is unreadable.
    Raises `ToolError` if ruff is missing, refuses other arguments, or takes
    more than `timeout_s` in all.
    """
    if not files or not select:
        return []
    # Not `resolve`: ruff reports a link under the name of the link.
    given = {os.path.abspath(file): file for file in files}
    command = [
        _binary(), "check", "--isolated", "--no-cache", "--ignore-noqa", "--no-fix",
        "--preview" if preview else "--no-preview",
        "--no-respect-gitignore", "--no-force-exclude", "--output-format", "json-lines",
        "--target-version", target,
    ]  # fmt: skip
    if preview:
        command += ["--config", "lint.explicit-preview-rules = true"]
    for key, value in settings.items():
        command += ["--config", f"{key} = {value}"]
    deadline = time.monotonic() + timeout_s
    left = list(select)
    with scratch_folder("leadhand-ruff-") as neutral:
        found = _run(command, left, given, neutral, deadline, data_bytes)
    unknown = (code for code in select if code not in left)
    found += [Diagnostic(files[0], 1, 1, 1, UNKNOWN_RULE, code) for code in unknown]
    order = {file: n for n, file in enumerate(given.values())}
    return sorted(found, key=lambda one: (order[one.file], one.line, one.column, one.code))


def suppression(line: str) -> str | None:
    """The suppression comment in `line`, for example `# noqa: F821`, or None."""
    mark = _MARK.search(line) if "#" in line else None
    return mark.group().rstrip(" ,") if mark else None


def _binary() -> str:
    """The ruff of this environment: beside the interpreter, in its scripts, or on the path."""
    name = "ruff.exe" if os.name == "nt" else "ruff"
    scheme = sysconfig.get_preferred_scheme("user")
    scripts = (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme))
    for folder in (Path(sys.executable).parent, *map(Path, scripts)):
        if (folder / name).is_file():
            return str(folder / name)
    if (found := shutil.which(name)) is not None:
        return found
    raise ToolError(
        f"ruff was not found beside {sys.executable}; install it there with `pip install ruff`"
    )


def _chunks(names: list[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for name in names:
        length = len(os.fsencode(name)) + 1
        if chunk and size + length > _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(name)
        size += length
    if chunk:
        yield chunk


def _run(
    command: list[str],
    select: list[str],
    given: Mapping[str, Path],
    neutral: Path,
    deadline: float,
    data_bytes: int,
) -> list[Diagnostic]:
    """Removes unknown rules from `select`. A batch that crashes ruff is halved to find the file."""
    waiting = list(_chunks(list(given)))
    found: list[Diagnostic] = []
    while waiting and select:
        batch = waiting.pop()
        with (
            tempfile.TemporaryFile(dir=neutral) as output,
            tempfile.TemporaryFile(dir=neutral) as complaints,
        ):
            whole = [*command, "--select", ",".join(select), "--", *batch]
            status = _call(whole, output, complaints, neutral, deadline, data_bytes)
            complaints.seek(0)
            words = complaints.read(20_000).decode("utf-8", "replace").strip()
            # With `--preview` newer releases only warn of rules that they do not know.
            named = re.findall(r"\w+", words if status == 2 else " ".join(_UNKNOWN.findall(words)))
            known = [code for code in select if code not in named]
            if status in (0, 1):
                found += _parse(output, given)
            elif status == 2 and known == select:
                raise ToolError(f"ruff refused to run (exit status 2): {words[:2_000]}")
            elif status == 2:
                waiting.append(batch)
            elif len(batch) > 1:
                waiting += [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
            else:
                why = f"ruff crashed on this file (exit status {status})"
                if "memory allocation" in words:
                    why = f"ruff needs more than {data_bytes >> 20:,} MiB of memory for this file"
                found.append(Diagnostic(given[batch[0]], 1, 1, 1, UNREADABLE, why))
            select[:] = known
    return found


def _call(
    command: list[str],
    output: IO[bytes],
    complaints: IO[bytes],
    neutral: Path,
    deadline: float,
    data_bytes: int,
) -> int:
    try:
        with subprocess.Popen(
            command,
            cwd=neutral,
            env={"NO_COLOR": "1", "SYSTEMROOT": os.environ.get("SYSTEMROOT", "")},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
        ) as process:
            limit_data(process.pid, data_bytes)
            try:
                return process.wait(max(0.1, deadline - time.monotonic()))
            finally:
                process.kill()  # nothing, if it has ended
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"ruff was not done after {error.timeout:.0f} s and was stopped") from error
    except OSError as error:
        raise ToolError(f"ruff could not be started: {error}") from error


def _parse(output: IO[bytes], given: Mapping[str, Path]) -> Iterator[Diagnostic]:
    output.seek(0)
    seen: Counter[tuple[str, str]] = Counter()
    for text in output:
        try:
            row = cast("_Row", json.loads(text))
        except ValueError as error:
            raise ToolError(
                "ruff printed something that is not JSON; is its version at least 0.15.2?"
            ) from error
        code = row["code"] or "invalid-syntax"
        seen[row["filename"], code] += 1
        if row["filename"] not in given or seen[row["filename"], code] > MAX_PER_CODE:
            continue
        yield Diagnostic(
            file=given[row["filename"]],
            line=row["location"]["row"],
            end_line=row["end_location"]["row"],
            column=row["location"]["column"],
            code=code,
            message=row["message"],
        )
