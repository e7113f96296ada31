"""What planners and synthesizers that are code receive and return. Provisional.

`Role(run=...)` and `Supervisor(planner=..., synthesizer=...)` take them. A synthesizer that asks a
model does so with its `Caller`, shows it untrusted text inside the `Fence`, and reads its own texts
with `prompt`.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.contracts.answer import Conflict as Conflict
    from leadhand.contracts.answer import Gap as Gap
    from leadhand.contracts.answer import Source as Source
    from leadhand.contracts.answer import Synthesis as Synthesis
    from leadhand.contracts.outcome import TaskResult as TaskResult
    from leadhand.contracts.planner_kinds import Decision as Decision
    from leadhand.contracts.planner_kinds import Round as Round
    from leadhand.contracts.task import Batch as Batch
    from leadhand.contracts.task import PlanRequest as PlanRequest
    from leadhand.contracts.team import MaterialFunction as MaterialFunction
    from leadhand.contracts.team import ModelSpec as ModelSpec
    from leadhand.contracts.team import Tier as Tier
    from leadhand.models.calls import Caller as Caller
    from leadhand.models.prompts import joined as joined
    from leadhand.models.prompts import prompt as prompt
    from leadhand.planners.template import TemplatePlanner as TemplatePlanner
    from leadhand.ports import Decider as Decider
    from leadhand.run.gaps import with_gaps as with_gaps
    from leadhand.untrusted.fence import Fence as Fence
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(__name__)
