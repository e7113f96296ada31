"""SQL over the files handed in, for a model (`SqlTools`) and without one (`profile`).

Importing this loads no database library; that is loaded by the processes that need it.
"""

from leadhand.tools.sql.tables import BrokenFile, Column, SqlTools, Table

__all__ = ["BrokenFile", "Column", "SqlTools", "Table"]
