"""Options of commands, as typer takes them, worded as in all other commands. Provisional.

Importing this imports typer alone, so that `leadhand --help` stays quick.
"""

from leadhand.cli.options import BudgetTokens as BudgetTokens
from leadhand.cli.options import BudgetUsd as BudgetUsd
from leadhand.cli.options import Concurrency as Concurrency
from leadhand.cli.options import Deadline as Deadline
from leadhand.cli.options import Debug as Debug
from leadhand.cli.options import Events as Events
from leadhand.cli.options import Home as Home
from leadhand.cli.options import Json as Json
from leadhand.cli.options import LimitOptions as LimitOptions
from leadhand.cli.options import NoModel as NoModel
from leadhand.cli.options import OutputOptions as OutputOptions
from leadhand.cli.options import Quiet as Quiet
