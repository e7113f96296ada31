"""`python -m leadhand`: the same as the `leadhand` program.

The current folder is taken off the path before anything else is imported: its files must not stand
in for our modules. Only a folder or file called `leadhand` can't be kept out; the `leadhand`
program has no such gap.
"""

import os
import sys

if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from leadhand.cli import program

program()
