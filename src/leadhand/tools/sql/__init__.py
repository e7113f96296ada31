"""SQL over the files handed in, for a model (`SqlTools`) and without one (`profile`).

Importing this loads no database library; that is loaded by the processes that need it.
"""

from leadhand.tools.sql.tables import Column, SqlTools, Table, UnloadedFile

__all__ = ["Column", "SqlTools", "Table", "UnloadedFile"]
