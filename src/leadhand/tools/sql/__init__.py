"""SQL queries over input files, for a model (`SqlTools`) and without one (`profile_table`).

Importing this loads no database library; child processes do.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.tools.sql.database import RequestFailed as RequestFailed
    from leadhand.tools.sql.growth import Growth as Growth
    from leadhand.tools.sql.growth import PeriodTotal as PeriodTotal
    from leadhand.tools.sql.messages import Row as Row
    from leadhand.tools.sql.names import quoted_name as quoted_name
    from leadhand.tools.sql.periods import period_label as period_label
    from leadhand.tools.sql.profile import RankedRow as RankedRow
    from leadhand.tools.sql.profile import TableProfile as TableProfile
    from leadhand.tools.sql.profile import profile_table as profile_table
    from leadhand.tools.sql.roles import ColumnProfile as ColumnProfile
    from leadhand.tools.sql.roles import is_number as is_number
    from leadhand.tools.sql.table_readings import TableReading as TableReading
    from leadhand.tools.sql.table_readings import combined_table as combined_table
    from leadhand.tools.sql.table_readings import read_table as read_table
    from leadhand.tools.sql.table_readings import unpivoted_by as unpivoted_by
    from leadhand.tools.sql.tables import Column as Column
    from leadhand.tools.sql.tables import SqlTools as SqlTools
    from leadhand.tools.sql.tables import Table as Table
    from leadhand.tools.sql.tables import UnloadedFile as UnloadedFile
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(__name__)
