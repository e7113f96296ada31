"""SQL queries over input files, for a model (`SqlTools`) and without one (`profile_table`).

Importing this loads no database library; child processes do.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.tools.sql.database import RequestFailed
    from leadhand.tools.sql.growth import Growth, PeriodTotal
    from leadhand.tools.sql.messages import Row
    from leadhand.tools.sql.names import quoted_name
    from leadhand.tools.sql.periods import period_label
    from leadhand.tools.sql.profile import RankedRow, TableProfile, profile_table
    from leadhand.tools.sql.roles import ColumnProfile, is_number
    from leadhand.tools.sql.table_readings import (
        TableReading,
        combined_table,
        read_table,
        unpivoted_by,
    )
    from leadhand.tools.sql.tables import Column, SqlTools, Table, UnloadedFile

__all__ = [
    "Column",
    "ColumnProfile",
    "Growth",
    "PeriodTotal",
    "RankedRow",
    "RequestFailed",
    "Row",
    "SqlTools",
    "Table",
    "TableProfile",
    "TableReading",
    "UnloadedFile",
    "combined_table",
    "is_number",
    "period_label",
    "profile_table",
    "quoted_name",
    "read_table",
    "unpivoted_by",
]

_MODULES = {
    "database": "RequestFailed",
    "growth": "Growth PeriodTotal",
    "messages": "Row",
    "names": "quoted_name",
    "periods": "period_label",
    "profile": "RankedRow TableProfile profile_table",
    "roles": "ColumnProfile is_number",
    "table_readings": "TableReading combined_table read_table unpivoted_by",
    "tables": "Column SqlTools Table UnloadedFile",
}

if not TYPE_CHECKING:  # else checkers would take any name for one of the package's
    __getattr__ = lazy_attributes(__name__, _MODULES)
