"""The process that parses documents: `python -m leadhand.tools.files.child SOCKET LIMITS`.

For each file the socket delivers its kind and two descriptors: one to read, and one for JSON lines,
a `page` for each page and `done`. A file that exceeds the resource limits, set before anything is
read, ends the process.
"""

import json
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO, Final, TextIO

from leadhand.tools.child_process import (
    end_process_group,
    end_with_parent,
    ending_with_parent,
    limit_resource,
)
from leadhand.tools.errors import TruncatedDocument, UnreadableDocument

MAX_CHARS: Final = 8 << 20
MAX_OUTPUT_BYTES: Final = 256 << 20
READY: Final = b"+"
"""Sent once, when the process has started."""
DONE: Final = b"."
"""Sent after each file."""
NO_MEMORY: Final = 77
"""The exit status after a file that takes too much memory."""


def main(arguments: list[str]) -> None:
    """Serve the socket `arguments[0]` until it closes, within the limits in `arguments[1:]`."""
    descriptor = int(arguments[0])
    cpu_s, memory_bytes = (float(argument) for argument in arguments[1:])
    limit_resource(resource.RLIMIT_AS, int(memory_bytes))
    limit_resource(resource.RLIMIT_FSIZE, MAX_OUTPUT_BYTES)
    limit_resource(resource.RLIMIT_CORE, 0)
    os.set_inheritable(descriptor, False)
    channel = socket.socket(fileno=descriptor)
    if sys.platform != "linux":  # There `ending_with_parent` does it without a thread.
        threading.Thread(target=end_with_parent, args=(descriptor,), daemon=True).start()
    channel.sendall(READY)
    while True:
        kind, numbers, _, _ = socket.recv_fds(channel, 16, 2)
        if not kind:
            end_process_group()
        # Its signal ends the process even inside a regular expression.
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        with (
            os.fdopen(numbers[0], "rb") as stream,
            os.fdopen(numbers[1], "w") as output,
            ending_with_parent(descriptor),
        ):
            try:
                _print_file(kind.decode(), stream, output)
            except MemoryError:
                os._exit(NO_MEMORY)
        channel.sendall(DONE)


def _print_file(kind: str, stream: BinaryIO, output: TextIO) -> None:
    ended: dict[str, object] = {"done": True}
    left = MAX_CHARS
    try:
        for text in _pages(kind, stream):
            _print({"page": text[:left]}, output)
            left -= len(text)
            if left < 0:
                ended["cut"] = f"it has more than {MAX_CHARS:,} characters"
                break
    except TruncatedDocument as cut:
        ended["cut"] = str(cut)
    except UnreadableDocument as broken:
        ended["error"] = str(broken)
    except MemoryError:
        raise
    except Exception as error:  # On a hostile file a parser may raise anything.
        what = "cut" if left < MAX_CHARS else "error"
        ended[what] = f"it is damaged, or no {kind.upper()} file ({type(error).__name__})"
    _print(ended, output)


def _print(line: dict[str, object], output: TextIO) -> None:
    output.write(json.dumps(line) + "\n")
    output.flush()


def _pages(kind: str, stream: BinaryIO) -> Iterator[str]:
    """Imports only the parser of its kind."""
    match kind:
        case "pdf":
            from leadhand.tools.files.pdf import pages
        case "docx":
            from leadhand.tools.files.docx import pages
        case "xlsx":
            from leadhand.tools.files.spreadsheet import pages
        case "html":
            from leadhand.tools.files.web_page import pages
        case _:
            raise UnreadableDocument(f"there is no reader for {kind}")
    return pages(stream)


if __name__ == "__main__":
    main(sys.argv[1:])
