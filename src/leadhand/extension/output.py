"""Prints on the terminal and writes reports: what others wrote stays text. Provisional.

For a terminal, `safe`, `safe_block` and `sentence`; for a report, `prose`, `code`, `fenced` and
`escaped`. Data goes to a `DataConsole`, within `writing_output`; all else to `error_console`.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.cli.run.first_line import announce as announce
    from leadhand.cli.standard_streams import writing_output as writing_output
    from leadhand.cli.views.consoles import DataConsole as DataConsole
    from leadhand.cli.views.consoles import error_console as error_console
    from leadhand.cli.views.consoles import print_note as print_note
    from leadhand.cli.views.markdown_text import clip as clip
    from leadhand.cli.views.markdown_text import code as code
    from leadhand.cli.views.markdown_text import fenced as fenced
    from leadhand.cli.views.markdown_text import prose as prose
    from leadhand.cli.views.plan import show_plan as show_plan
    from leadhand.cli.views.terminal import encodable as encodable
    from leadhand.cli.views.terminal import safe as safe
    from leadhand.cli.views.terminal import safe_block as safe_block
    from leadhand.cli.views.terminal import sentence as sentence
    from leadhand.trace.formatting import format_duration as format_duration
    from leadhand.trace.formatting import format_speedup as format_speedup
    from leadhand.untrusted.markdown import escaped as escaped
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(__name__)
