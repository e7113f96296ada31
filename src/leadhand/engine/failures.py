"""Failures from exceptions: what was raised, where in the user's code, and the traceback.

Worker processes import this at their start, so it imports little.
"""

import os
import re
import traceback
from collections.abc import Collection, Iterator
from types import CodeType, FrameType, TracebackType
from typing import cast

from leadhand.contracts.outcome import Failed, Raised
from leadhand.errors import InputError, Permanent
from leadhand.untrusted.cutting import around, cut

MAX_MESSAGE = 2_000
MAX_TRACEBACK = 20_000
"""Characters of a traceback that are kept, of both its ends."""
_MAX_FRAMES = 100

PERMANENT: tuple[type[Exception], ...] = (
    TypeError, ValueError, ArithmeticError, LookupError, AttributeError, NameError,
    AssertionError, NotImplementedError, ImportError, PermissionError, FileNotFoundError,
    InputError,
)  # fmt: skip
"""Mistakes in code or input, which a retry would repeat. Workers raise `Permanent` for others."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PYTHON = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = re.compile(r"[\\/](?:site|dist)-packages[\\/]")


def failure_of(error: BaseException, *, on: Collection[str] | None = None) -> Failed:
    """The failure for an exception that a worker raised.

    Its attribute `transient` says whether a retry can help; without it, `on`, the names of the
    transient classes, or else `PERMANENT`.
    """
    return Failed(
        kind="error",
        message=bounded(described(error)),
        transient=_is_transient(error, on),
        raised=Raised(
            type=legible(type(error).__name__), where=_where(error), traceback=_traceback(error)
        ),
    )


def class_name(kind: type) -> str:
    """A class as `on` names it; the class object itself differs in a worker process."""
    return f"{kind.__module__}.{kind.__qualname__}"


def described(error: BaseException) -> str:
    """`ValueError: its message`, or the type alone; a group is followed by its first exception."""
    try:
        message = str(error)
    except Exception:
        message = ""
    name = type(error).__name__
    line = f"{name}: {message}" if message else name
    if name == "ApprovalRequired":  # of pydantic-ai
        return f"{line}: only tools can ask for an approval, or a result `Escalated` for advice"
    first = _first(error)
    return line if first is error else f"{line}: {described(first)}"


def bounded(message: str) -> str:
    """`message` cut to `MAX_MESSAGE` characters that UTF-8 can encode."""
    return legible(message if len(message) <= MAX_MESSAGE else cut(message, MAX_MESSAGE - 3, "..."))


def legible(text: str) -> str:
    """`text` with U+FFFD for lone surrogates, which UTF-8 cannot encode."""
    return _SURROGATE.sub("\ufffd", text)


def _first(error: BaseException) -> BaseException:
    """The first exception in nested groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _where(error: BaseException) -> str | None:
    """`file:line` of the last frame in user code, which is neither leadhand, the standard library,
    nor installed; without any, the package of the worker function."""
    frames = list(_frames(_first(error).__traceback__)) or list(_frames(error.__traceback__))
    if not frames:
        return None
    users = [one for one in frames if _is_users(one[0].f_code)]
    if not users:
        others = [one for one in frames if not _path(one[0].f_code).startswith(_OURS)] or frames
        package = _package(others[0][0])
        users = [one for one in others if _package(one[0]) == package]
    frame, line = users[-1]
    return legible(f"{_shown(_path(frame.f_code))}:{line}")


def _frames(tb: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while tb is not None:
        yield tb.tb_frame, tb.tb_lineno
        tb = tb.tb_next


def _is_users(code: CodeType) -> bool:
    path = _path(code)
    library = path.startswith((_OURS, _PYTHON, "<frozen ")) or _INSTALLED.search(path)
    return not library


def _path(code: CodeType) -> str:
    name = code.co_filename
    return name if name.startswith("<") else os.path.normpath(name)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _shown(path: str) -> str:
    try:
        here = os.getcwd().rstrip(os.sep) + os.sep
    except OSError:
        return path
    return path.removeprefix(here)


def _traceback(error: BaseException) -> str:
    try:
        lines = traceback.format_exception(error, limit=-_MAX_FRAMES)
    except Exception:  # it calls the worker's own code, which may raise anything
        return ""
    text = legible("".join(lines))
    if len(text) <= MAX_TRACEBACK:
        return text
    end, start = MAX_TRACEBACK // 2, len(text) - MAX_TRACEBACK // 2
    end, start = around(text, end)[0], around(text, start)[1]
    return f"{text[:end]}\n[... {start - end:,} characters left out ...]\n{text[start:]}"


def _is_transient(error: BaseException, on: Collection[str] | None) -> bool:
    """Whether a retry could succeed; for a group, whether it could for all its exceptions."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return all(_is_transient(one, on) for one in group.exceptions)
    if not isinstance(error, Exception) or isinstance(error, Permanent):
        return False
    if on is not None:
        return any(class_name(kind) in on for kind in type(error).__mro__)
    try:
        own = getattr(error, "transient", None)
    except Exception:
        own = None
    return own if isinstance(own, bool) else not isinstance(error, PERMANENT)
