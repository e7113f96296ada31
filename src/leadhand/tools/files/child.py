"""The process in which documents are parsed: `python -m leadhand.tools.files.child LIMITS FILES`.

It is given open descriptors (`pdf:5 html:6`), never a path, and prints lines of JSON: one to say
that it is there, then for each file one with `page` for each page and one with `done`. It limits
itself before it reads a byte, and a file that goes beyond the limits ends the process; the parent
goes on with the next one.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, Final

from leadhand.tools.files.extract import Broken, Cut

MAX_CHARS: Final = 8 << 20
"""Text kept of one file."""


def main(arguments: list[str]) -> None:
    """Prints the text of each file in `arguments[3:]`, within the limits in `arguments[:3]`."""
    cpu_s, memory_bytes, output_bytes = (float(argument) for argument in arguments[:3])
    _limit(resource.RLIMIT_AS, int(memory_bytes))
    _limit(resource.RLIMIT_FSIZE, int(output_bytes))
    _limit(resource.RLIMIT_CORE, 0)
    _print({})
    for argument in arguments[3:]:
        kind, _, number = argument.partition(":")
        # Its signal ends a process that does not handle it, even inside a regular expression.
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        with os.fdopen(int(number), "rb") as stream:
            _print_file(kind, stream)


def _limit(what: int, amount: int) -> None:
    with suppress(ValueError, OSError):  # Some systems have not all of the limits.
        resource.setrlimit(what, (amount, amount))


def _print_file(kind: str, stream: BinaryIO) -> None:
    end: dict[str, object] = {"done": True}
    left = MAX_CHARS
    try:
        for text in _pages(kind, stream):
            _print({"page": text[:left]})
            left -= len(text)
            if left < 0:
                end["cut"] = f"it has more than {MAX_CHARS:,} characters"
                break
    except Cut as cut:
        end["cut"] = str(cut)
    except Broken as broken:
        end["error"] = str(broken)
    except MemoryError:
        raise
    except Exception as error:  # A parser of hostile files may fail in any way it likes.
        what = "cut" if left < MAX_CHARS else "error"
        end[what] = f"it is damaged, or no {kind.upper()} file ({type(error).__name__})"
    _print(end)


def _print(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _pages(kind: str, stream: BinaryIO) -> Iterator[str]:
    """The text of `stream`; each parser is imported only where it is needed."""
    match kind:
        case "pdf":
            from leadhand.tools.files.pdf import pages
        case "docx":
            from leadhand.tools.files.docx import pages
        case "html":
            from leadhand.tools.files.web_page import pages
        case _:
            raise Broken(f"there is no reader for {kind}")
    return pages(stream)


if __name__ == "__main__":
    main(sys.argv[1:])
