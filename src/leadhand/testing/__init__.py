"""Tools for tests of teams, public for users' tests too. They patch nothing.

Virtual time, scripted runners, the contract of journals, and a model server on loopback that
misbehaves on demand. Names resolve on first use, so that the server's process imports nothing else.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.testing.counts import Stats as Stats
    from leadhand.testing.exchange import Message as Message
    from leadhand.testing.exchange import ModelReply as ModelReply
    from leadhand.testing.exchange import Request as Request
    from leadhand.testing.exchange import ScriptedCall as ScriptedCall
    from leadhand.testing.exchange import Tool as Tool
    from leadhand.testing.journals import DurableConformance as DurableConformance
    from leadhand.testing.journals import JournalConformance as JournalConformance
    from leadhand.testing.process import ScriptedServer as ScriptedServer
    from leadhand.testing.runners import ScriptedRunner as ScriptedRunner
    from leadhand.testing.runners import completed as completed
    from leadhand.testing.scripted_model import ScriptedModel as ScriptedModel
    from leadhand.testing.virtual_time import VirtualClock as VirtualClock
    from leadhand.testing.virtual_time import VirtualTimeLoop as VirtualTimeLoop
    from leadhand.testing.virtual_time import run_virtual as run_virtual
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(
        __name__, renamed={"Reply": "ModelReply", "ToolCall": "ScriptedCall"}
    )
