"""The command line. `program` is the `leadhand` program; `main` is for a process that continues.

This module imports next to nothing, so that Ctrl-C during the imports of all others is quiet.
"""

import gc
import os
import signal
import sys
import threading

from leadhand.cli import start_time as start_time

_INTERRUPTED = 130


def main() -> None:
    """Run the command that was typed. Ends in `SystemExit`."""
    from leadhand.cli.app import main as run_app

    run_app()


def program() -> None:
    """Run the command that was typed, and end the process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Nothing has started yet that needs to be cleaned up.
        signal.signal(signal.SIGINT, _quit)
    # Imports create many objects and no garbage: collecting took an eighth of their time.
    gc.set_threshold(50_000, 20, 20)
    try:
        import leadhand.cli.app  # noqa: F401  # pyright: ignore[reportUnusedImport]

        if signal.getsignal(signal.SIGINT) is _quit:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        main()
    except KeyboardInterrupt:
        _leave(_INTERRUPTED)
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            raise
        _leave(end.code or 0)


def _quit(number: int, frame: object) -> None:
    os._exit(_INTERRUPTED)


def _leave(status: int) -> None:
    """End the process now, after its exit handlers.

    The interpreter would first free every object, which takes longer than many runs. Threads that
    are not daemons are waited for: they may be writing something.
    """
    import atexit
    import contextlib

    def stop(number: int, frame: object) -> None:
        os._exit(status)

    if any(not thread.daemon for thread in threading.enumerate()[1:]):
        sys.exit(status)
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
    # Nothing public runs them before `os._exit`.
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # its reader has left
            stream.flush()
    os._exit(status)
