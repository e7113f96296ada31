"""`python -m leadhand`: the same as the `leadhand` program.

Python puts the current folder first on the path here. It is taken off again before anything else is
imported: no file of a folder in which somebody works may stand in for a module of ours. What can't
be kept out is a folder or file called `leadhand` itself; the `leadhand` program has no such gap.
"""

import os
import sys

if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from leadhand.cli import program

program()
