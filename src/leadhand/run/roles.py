"""Who plans, works and answers in one run, as the team and the caller say.

Three roles that never meet: each gets what it needs for its part, and nothing of the others.
"""

import importlib
import os
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from leadhand.contracts import events
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import EarlierRun
from leadhand.contracts.team import Role, Team
from leadhand.engine.recorder import Recorder
from leadhand.engine.turns import turn
from leadhand.models.ledger import Account, account_within
from leadhand.planners.early_tasks import EarlyTasks
from leadhand.planners.levels import Level, NoSubplanner
from leadhand.planners.rounds import StepwisePlanner
from leadhand.planners.routing import ROUTER, Chooser, RoutedRemedies, Router, RoutingPlanner
from leadhand.planners.template import TemplatePlanner
from leadhand.plans.routes import is_routed
from leadhand.ports import Decider, Planner, Remedies, Synthesizer
from leadhand.run.connections import LatePlanner, SharedConnections, load
from leadhand.synthesis.merge import Merge
from leadhand.tools.factory import ToolFactory
from leadhand.untrusted.fence import Fence
from leadhand.workers.offline import OfflineSwitch
from leadhand.workers.open_toolsets import OpenToolsets
from leadhand.workers.runners import Runners, check_context, needs_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leadhand.models.calls import Caller
    from leadhand.tools.files.inputs import Inputs

    PlannerMaker = Callable[[Caller | None, Fence], Planner | Decider]
    SynthesizerMaker = Callable[[Caller | None, Fence], Synthesizer]
    """Makes a role of the user's own, which asks models through the run's caller if it has one."""

    class PlannerOfKind(Protocol):
        """What the `maker` of a kind of planner names."""

        def __call__(
            self,
            caller: Caller,
            team: Team,
            fence: Fence,
            recorder: Recorder,
            *,
            level: Level | None,
            early: EarlyTasks,
        ) -> Planner:
            """The planner of a team, at its level of a recursive run."""
            ...


R = TypeVar("R", "Planner | Decider", Synthesizer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What the roles of one run work with."""

    team: Team
    recorder: Recorder
    request: str
    caller: "Caller | None"
    """Asks models; `None` if no role or worker has one."""
    account: Account | None
    """What the run may spend; `None` for no limit."""
    nonce: str
    """What fences are made of."""
    tools: ToolFactory
    toolsets: OpenToolsets | None
    inputs: Callable[[], tuple[str, ...]]
    offline_switch: OfflineSwitch
    """Whether models are available, for workers that have offline code."""
    early: EarlyTasks
    """What starts tasks while the planner still writes."""
    level: Level | None
    """The place of the run's plan, if the team's planner is recursive."""
    own_planner: "Planner | PlannerMaker | None" = None
    """The user's own, which also plans the levels of a recursive run."""
    after: "Sequence[EarlierRun]" = ()
    """The runs that this one follows."""
    run_context: object = field(default=None, repr=False)
    """What the run was given as `context`, which its workers and tools receive."""

    @property
    def fence(self) -> Fence:
        """Goes around untrusted text."""
        return Fence(self.nonce)

    def nested(self, team: Team, recorder: Recorder, task: Handoff, request: str) -> "Resources":
        """The resources of a run within this one, which does `task`."""
        account = account_within(self.account, max_tokens=task.limits.max_tokens)
        uses_models = self.caller is not None and needs_model(team)
        level, own_planner = _first_level(team, recorder, request), None
        if self.level is not None and task.to_agent == SUBPLANNER:
            level = self.level.below(task.task_id, self.recorder.state)
            own_planner = self.own_planner
        return replace(
            self,
            team=team,
            recorder=recorder,
            request=request,
            after=(),
            caller=self.caller.nested(recorder, account) if self.caller and uses_models else None,
            account=account,
            nonce=recorder.state.nonce or self.nonce,
            offline_switch=OfflineSwitch(self.offline_switch),
            early=EarlyTasks(recorder.state),
            level=level,
            own_planner=own_planner,
        )


def _first_level(team: Team, recorder: Recorder, request: str) -> Level | None:
    """The level of a run's plan, if no other plan is around it."""
    return Level(recorder.state, request) if KINDS[team.planner.kind].breaks_down else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Who plans, works and answers in one run. Settled before the run starts."""

    planner: Planner
    synthesizer: Synthesizer
    remedies: Remedies | None
    runners: Runners
    resources: Resources
    own_synthesizer: Synthesizer | None = None
    """The user's own, whatever the team is."""
    own_remedies: Remedies | None = None
    task: Handoff | None = None
    """What a nested run does."""

    @property
    def decider(self) -> Decider | None:
        """Who decides what is next while tasks run; `None` if the planner is not stepwise."""
        return self.planner.decider if isinstance(self.planner, StepwisePlanner) else None

    @property
    def account(self) -> Account | None:
        """What the run may spend; `None` for no limit."""
        return self.resources.account

    @property
    def nonce(self) -> str:
        """What fences are made of."""
        return self.resources.nonce

    @property
    def offline_switch(self) -> OfflineSwitch:
        """Whether models are available, for workers that have offline code."""
        return self.resources.offline_switch

    def without_models(self) -> "Roles | None":
        """The same with code in the roles that remain; `None` if a worker has no code."""
        team = self.resources.team
        if not all(callable(one.run) or one.offline is not None for one in team.workers):
            return None
        return replace(self, synthesizer=Merge(), remedies=_routed(_router(self.resources), None))

    def with_team(self, team: Team) -> "Roles":
        """The same planner, and the other roles and the workers for `team`."""
        resources = replace(self.resources, team=team)
        return replace(
            self,
            resources=resources,
            synthesizer=self.own_synthesizer or _synthesizer(resources),
            remedies=self.own_remedies or _routed(_router(resources), _remedies(resources)),
            runners=_runners(resources, self.task),
        )

    def nested(self, team: Team, recorder: Recorder, task: Handoff, *, request: str) -> "Roles":
        """The roles of a run within this one, which does `task`."""
        resources = self.resources.nested(team, recorder, task, request)
        return _roles(resources, task=task, planner=resources.own_planner)


@asynccontextmanager
async def open_roles(
    team: Team,
    recorder: Recorder,
    *,
    request: str,
    planner: "Planner | Decider | PlannerMaker | None" = None,
    synthesizer: "Synthesizer | SynthesizerMaker | None" = None,
    remedies: Remedies | None = None,
    inputs: "Inputs | None" = None,
    account: Account | None = None,
    run_context: object = None,
    connections: SharedConnections | None = None,
    after: "Sequence[EarlierRun]" = (),
    deadline_s: float | None = None,
) -> AsyncGenerator[Roles]:
    """The roles of a run, with the connections and tools that they need while the block lasts.

    The `request` follows those of the runs in `after`. `planner`, `synthesizer` and `remedies`
    replace the team's own; `account` limits what the run may spend; `connections` may be shared.
    Code works if what calls models is not loaded by `deadline_s`. Raises `InputError` for a team
    that can't be run with `run_context`.
    """
    check_context(team, run_context)
    tools, stack = ToolFactory(inputs, os.environ), AsyncExitStack()
    caller, toolsets, offline_switch = None, None, OfflineSwitch()
    if needs_model(team) and (why := await load(team, recorder, deadline_s)) is not None:
        offline_switch.switch_on(why)
    elif needs_model(team):
        from leadhand.models import calls

        await turn()
        shared = connections or SharedConnections()
        opened = await stack.enter_async_context(shared.of(team, account))
        caller, toolsets = calls.Caller(opened, recorder, account=account), shared.toolsets()
    # The same after a restart: models are asked again in the same words as before.
    nonce = recorder.state.nonce or secrets.token_hex(8)
    try:
        resources = Resources(
            team=team,
            recorder=recorder,
            request=_with_earlier(request, after, nonce),
            caller=caller,
            account=account,
            nonce=nonce,
            tools=tools,
            toolsets=toolsets,
            inputs=lambda: recorder.state.inputs,
            offline_switch=offline_switch,
            early=EarlyTasks(recorder.state),
            level=_first_level(team, recorder, request),
            own_planner=None if isinstance(planner, Decider) else planner,
            after=after,
            run_context=run_context,
        )
        yield _roles(resources, planner=planner, synthesizer=synthesizer, remedies=remedies)
    finally:
        tools.close()
        await stack.aclose()


def _with_earlier(request: str, after: "Sequence[EarlierRun]", nonce: str) -> str:
    if not after:
        return request
    from leadhand.planners.earlier import requests

    return f"{request}\n\n{requests(after, Fence(nonce))}"


def _roles(
    resources: Resources,
    *,
    task: Handoff | None = None,
    planner: "Planner | Decider | PlannerMaker | None" = None,
    synthesizer: "Synthesizer | SynthesizerMaker | None" = None,
    remedies: Remedies | None = None,
) -> Roles:
    router = _router(resources)
    own_planner, own_synthesizer = _made(planner, resources), _made(synthesizer, resources)
    if isinstance(own_planner, Decider):
        own_planner = StepwisePlanner(own_planner, resources.recorder)
    roles = Roles(
        planner=own_planner or _planner(resources, router),
        synthesizer=own_synthesizer or _synthesizer(resources),
        remedies=remedies or _routed(router, _remedies(resources)),
        runners=_runners(resources, task),
        resources=resources,
        own_synthesizer=own_synthesizer,
        own_remedies=remedies,
        task=task,
    )
    # What counts is the synthesis of the first plan: a nested plan may have one result only.
    breaks_down = resources.level is not None and resources.level.is_nested
    if roles.account is not None and roles.synthesizer.calls_model and not breaks_down:
        roles.account.keep_for_synthesis()
    return roles


def _runners(resources: Resources, task: Handoff | None) -> Runners:
    return Runners(
        resources.team,
        recorder=resources.recorder,
        account=resources.account,
        caller=resources.caller,
        fence=resources.fence,
        make_tool=resources.tools.make,
        toolsets=resources.toolsets,
        outer_task=task,
        inputs=resources.inputs,
        unread=resources.tools.unread,
        offline_switch=resources.offline_switch,
    )


def _made(
    role: "R | Callable[[Caller | None, Fence], R] | None", resources: Resources
) -> "R | None":
    return role(resources.caller, resources.fence) if callable(role) else role


def _router(resources: Resources) -> Router | None:
    if not is_routed(resources.team):
        return None

    def failed(why: str) -> None:
        """Record why the router's model did not choose."""
        resources.recorder.record(
            events.PlanRejected(**resources.recorder.stamp(), problems=(why,), by=ROUTER)
        )

    return Router(resources.team, _chooser(resources), failed=failed)


def _chooser(resources: Resources) -> Chooser | None:
    """The model that says whose a task is."""
    caller, team = resources.caller, resources.team
    role = team.router or (Role() if KINDS[team.planner.kind].must_route else None)
    if caller is None or role is None or not (models := resources.team.models_of(role)):
        return None
    from leadhand.planners.choosing import ModelChooser

    return ModelChooser(caller, resources.fence, role, models)


def _planner(resources: Resources, router: Router | None) -> Planner:
    caller, team, level = resources.caller, resources.team, resources.level
    is_nested = level is not None and level.is_nested
    planner: Planner = NoSubplanner() if is_nested else TemplatePlanner()
    kind = KINDS[team.planner.kind]
    if kind.by_model and (team.tiers or team.planner.model):
        planner = LatePlanner()
        if caller is not None:
            module, _, name = kind.maker.partition(":")
            make: PlannerOfKind = getattr(importlib.import_module(module), name)
            planner = make(
                caller,
                team,
                resources.fence,
                resources.recorder,
                level=level,
                early=resources.early,
            )
    if router is None or not kind.routes_first:
        return planner
    return RoutingPlanner(router, otherwise=planner)


def _routed(router: Router | None, remedies: Remedies | None) -> Remedies | None:
    """`remedies`, after the router if the team has one."""
    return remedies if router is None else RoutedRemedies(router, otherwise=remedies)


def _remedies(resources: Resources) -> Remedies | None:
    caller, team, fence = resources.caller, resources.team, resources.fence
    if caller is None or not (team.tiers or team.planner.model):
        return None
    from leadhand.planners.remedies import ModelRemedies
    from leadhand.synthesis.judge import Judge

    arbiter = Judge(caller, team, fence)
    request, after = resources.request, resources.after
    return ModelRemedies(caller, team, fence, request=request, arbiter=arbiter, after=after)


def _synthesizer(resources: Resources) -> Synthesizer:
    caller, team = resources.caller, resources.team
    if caller is None or not (team.tiers or team.synthesizer.model):
        return Merge()
    from leadhand.synthesis.model import ModelSynthesizer, context_tokens

    return ModelSynthesizer(
        caller,
        team,
        resources.fence,
        request=resources.request,
        context_tokens=context_tokens(caller, team),
    )
