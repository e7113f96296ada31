"""Who plans, works and answers in a run. Each role gets only what it needs for its part."""

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
from leadhand.contracts.task import PlanRequest
from leadhand.contracts.team import Role, Team
from leadhand.engine.recorder import Recorder
from leadhand.engine.turns import turn
from leadhand.models.ledger import Account, account_within
from leadhand.planners.early_tasks import EarlyTasks
from leadhand.planners.first_round import StepwisePlanner
from leadhand.planners.levels import Level, NoSubplanner
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
    from leadhand.models.calls import Caller
    from leadhand.run.settings import RunSettings
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
        ) -> Planner: ...


R = TypeVar("R", "Planner | Decider", Synthesizer)


@dataclass(frozen=True, slots=True)
class OwnRoles:
    """The user's own, whatever the team is."""

    planner: "Planner | Decider | PlannerMaker | None" = None
    """Also plans the levels of a recursive run."""
    synthesizer: "Synthesizer | SynthesizerMaker | None" = None
    remedies: Remedies | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Roles:
    """The planner, workers and synthesizer of one run, made from its team or given by the user."""

    team: Team
    recorder: Recorder
    request: PlanRequest
    """With the requests that it follows in its text."""
    caller: "Caller | None"
    """Asks models; `None` if no role or worker has one."""
    account: Account | None
    nonce: str
    tools: ToolFactory
    toolsets: OpenToolsets | None
    inputs: Callable[[], tuple[str, ...]]
    offline_switch: OfflineSwitch
    """Whether models are available, for workers that have offline code."""
    early: EarlyTasks
    """What starts tasks while the planner still writes."""
    level: Level | None
    """The place of the run's plan, if the team's planner is recursive."""
    own: OwnRoles = field(default_factory=OwnRoles)
    run_context: object = field(default=None, repr=False)
    """What the run was given as `context`, which its workers and tools receive."""
    task: Handoff | None = None
    breaks_down: bool = field(init=False)
    """Whether the run's plan breaks down a task of the plan around it."""
    planner: Planner = field(init=False)
    synthesizer: Synthesizer = field(init=False)
    remedies: Remedies | None = field(init=False)
    decider: Decider | None = field(init=False, default=None)
    """Who decides what is next while tasks run; `None` if the planner is not stepwise."""
    runners: Runners = field(init=False)

    def __post_init__(self) -> None:
        self.breaks_down = self.level is not None and self.level.is_nested
        own = self._made(self.own.planner)
        if own is None and self.team.planner.run is not None:
            from leadhand.run.code_roles import code_planner

            own = code_planner(self.team.planner)
        if isinstance(own, Decider):
            own = StepwisePlanner(own, self.recorder)
        router = self._router()
        self.planner = own or self._planner(router)
        if isinstance(self.planner, StepwisePlanner):
            self.decider = self.planner.decider
        self.synthesizer = self._made(self.own.synthesizer) or self._synthesizer()
        self._find_help(router)
        # What counts is the synthesis of the first plan: a nested plan may have one result only.
        if self.account is not None and self.synthesizer.calls_model and not self.breaks_down:
            self.account.keep_for_synthesis()

    def take(self, team: Team) -> None:
        """Have the other roles and the workers for `team`; the planner stays."""
        self.team = team
        if self.own.synthesizer is None:
            self.synthesizer = self._synthesizer()
        self._find_help(self._router())

    def _find_help(self, router: Router | None) -> None:
        """Make the workers, and the remedies for what they can't do."""
        self.remedies = self.own.remedies or _routed(router, self._remedies())
        self.runners = Runners(
            self.team,
            recorder=self.recorder,
            account=self.account,
            caller=self.caller,
            fence=self.fence,
            make_tool=self.tools.make,
            toolsets=self.toolsets,
            outer_task=self.task,
            inputs=self.inputs,
            unread=self.tools.unread,
            offline_switch=self.offline_switch,
        )

    def give_up_models(self, why: str) -> bool:
        """Have code in all roles, here and in the runs around this one; false, with no change, if
        a worker has none."""
        if not all(callable(one.run) or one.offline is not None for one in self.team.workers):
            return False
        if self.synthesizer.calls_model:
            self.synthesizer = Merge()
        self.remedies = _routed(self._router(), None)
        self.offline_switch.switch_on_everywhere(why)
        return True

    def nested(
        self, team: Team, recorder: Recorder, task: Handoff, *, request: PlanRequest
    ) -> "Roles":
        """The roles of a run within this one, which does `task`."""
        account = account_within(self.account, max_tokens=task.limits.max_tokens)
        uses_models = self.caller is not None and needs_model(team)
        level, own = _first_level(team, recorder, request.text), OwnRoles()
        if self.level is not None and task.to_agent == SUBPLANNER:
            level = self.level.below(task.task_id, self.recorder.state)
            if not isinstance(self.own.planner, Decider):
                own = OwnRoles(self.own.planner)
        return replace(
            self,
            team=team,
            recorder=recorder,
            request=request,
            caller=self.caller.nested(recorder, account) if self.caller and uses_models else None,
            account=account,
            nonce=recorder.state.nonce or self.nonce,
            offline_switch=OfflineSwitch(self.offline_switch),
            early=EarlyTasks(recorder.state),
            level=level,
            task=task,
            own=own,
        )

    @property
    def fence(self) -> Fence:
        return Fence(self.nonce)

    def _made(self, role: "R | Callable[[Caller | None, Fence], R] | None") -> "R | None":
        return role(self.caller, self.fence) if callable(role) else role

    def _planner(self, router: Router | None) -> Planner:
        team, kind = self.team, KINDS[self.team.planner.kind]
        planner: Planner = NoSubplanner() if self.breaks_down else TemplatePlanner()
        if kind.maker is not None and (team.tiers or team.planner.model):
            planner = LatePlanner()
            if self.caller is not None:
                module, _, name = kind.maker.partition(":")
                make: PlannerOfKind = getattr(importlib.import_module(module), name)
                planner = make(
                    self.caller,
                    team,
                    self.fence,
                    self.recorder,
                    level=self.level,
                    early=self.early,
                )
        if router is None or not kind.routes_first:
            return planner
        return RoutingPlanner(router, otherwise=planner)

    def _synthesizer(self) -> Synthesizer:
        caller, team = self.caller, self.team
        if team.synthesizer.run is not None:
            from leadhand.run.code_roles import code_synthesizer

            return code_synthesizer(team.synthesizer)
        if caller is None or not (team.tiers or team.synthesizer.model):
            return Merge()
        from leadhand.synthesis.model import ModelSynthesizer, context_tokens

        return ModelSynthesizer(
            caller,
            team,
            self.fence,
            request=self.request.text,
            context_tokens=context_tokens(caller, team),
        )

    def _remedies(self) -> Remedies | None:
        caller, team, fence = self.caller, self.team, self.fence
        if caller is None or not (team.tiers or team.planner.model):
            return None
        from leadhand.planners.remedies import ModelRemedies
        from leadhand.synthesis.judge import Judge

        arbiter, asked = Judge(caller, team, fence), self.request
        return ModelRemedies(
            caller, team, fence, request=asked.text, arbiter=arbiter, after=asked.after
        )

    def _router(self) -> Router | None:
        if not is_routed(self.team):
            return None

        def failed(why: str) -> None:
            stamp = self.recorder.stamp()
            self.recorder.record(events.PlanRejected(**stamp, problems=(why,), by=ROUTER))

        return Router(self.team, self._chooser(), failed=failed)

    def _chooser(self) -> Chooser | None:
        team = self.team
        role = team.router or (Role() if KINDS[team.planner.kind].must_route else None)
        if self.caller is None or role is None or not (models := team.models_of(role)):
            return None
        from leadhand.planners.choosing import ModelChooser

        return ModelChooser(self.caller, self.fence, role, models)


def _routed(router: Router | None, remedies: Remedies | None) -> Remedies | None:
    """`remedies`, after the router if the team has one."""
    return remedies if router is None else RoutedRemedies(router, otherwise=remedies)


def _first_level(team: Team, recorder: Recorder, request: str) -> Level | None:
    return Level(recorder.state, request) if KINDS[team.planner.kind].breaks_down else None


@asynccontextmanager
async def open_roles(
    team: Team,
    recorder: Recorder,
    request: PlanRequest,
    settings: "RunSettings",
    *,
    own: OwnRoles,
    connections: SharedConnections,
    inputs: "Inputs | None" = None,
    run_context: object = None,
) -> AsyncGenerator[Roles]:
    """The roles of a run, and the connections and tools that they need, during the block.

    Code works if what calls models is not loaded by the run's deadline. Raises `InputError` for a
    team that can't be run with `run_context`.
    """
    check_context(team, run_context)
    by_model = needs_model(team)
    tools, stack = ToolFactory(inputs, os.environ), AsyncExitStack()
    caller, toolsets, offline_switch = None, None, OfflineSwitch()
    if by_model and (why := await load(team, recorder, settings.deadline_s)) is not None:
        offline_switch.switch_on(why)
    elif by_model:
        from leadhand.models import calls

        await turn()
        opened = await stack.enter_async_context(connections.of(team, settings.account))
        caller = calls.Caller(opened, recorder, account=settings.account)
        toolsets = connections.toolsets()
    # The same after a restart: models are asked again in the same words as before.
    nonce = recorder.state.nonce or secrets.token_hex(8)
    asked = request
    if request.after:
        from leadhand.planners.earlier_runs import requests

        earlier = requests(request.after, Fence(nonce))
        asked = replace(request, text=f"{request.text}\n\n{earlier}")
    try:
        yield Roles(
            team=team,
            recorder=recorder,
            request=asked,
            caller=caller,
            account=settings.account,
            nonce=nonce,
            tools=tools,
            toolsets=toolsets,
            inputs=lambda: (*recorder.state.inputs, *settings.uploaded),
            offline_switch=offline_switch,
            early=EarlyTasks(recorder.state),
            level=_first_level(team, recorder, request.text),
            own=own,
            run_context=run_context,
        )
    finally:
        tools.close()
        await stack.aclose()
