"""SQL queries over input files, for a model (`SqlTools`) and without one (`profile`).

Importing this loads no database library; child processes do.
"""

from leadhand.tools.sql.tables import Column, SqlTools, Table, UnloadedFile

__all__ = ["Column", "SqlTools", "Table", "UnloadedFile"]
