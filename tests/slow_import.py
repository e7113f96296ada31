"""A worker's function whose module takes its time in the worker's own process."""

import sys
import time

from leadhand import Handoff

SLOW_IMPORT_S = 0.5

if "pytest" not in sys.modules:
    time.sleep(SLOW_IMPORT_S)


def look(_: Handoff) -> str:
    """Says that it is done."""
    return "done"
