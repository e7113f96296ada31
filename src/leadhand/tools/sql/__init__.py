"""Typed, bounded, read-only SQL over input files. Only child processes load a database library."""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.tools.sql.database import RequestFailed as RequestFailed
    from leadhand.tools.sql.messages import Cell as Cell
    from leadhand.tools.sql.messages import Row as Row
    from leadhand.tools.sql.names import quoted_name as quoted_name
    from leadhand.tools.sql.tables import Column as Column
    from leadhand.tools.sql.tables import SqlTools as SqlTools
    from leadhand.tools.sql.tables import Table as Table
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(__name__)
