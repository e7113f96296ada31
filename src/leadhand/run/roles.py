"""The crew of one run: planner, staff and synthesizer, put together as the team and caller say.

Three roles that never meet: each gets what it needs to do its part, and nothing of the others.
"""

import asyncio
import contextlib
import os
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from leadhand.contracts import events
from leadhand.contracts.budget import Budget
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.task import Plan
from leadhand.contracts.team import ModelSpec, Team
from leadhand.engine.recorder import Recorder
from leadhand.models.choice import models_of
from leadhand.models.ledger import Account, Amount, Ledger, account_within, nano_usd
from leadhand.planners import TemplatePlanner
from leadhand.planners.routed import RoutedRemedies
from leadhand.planners.routing import Chooser, Router, RoutingPlanner
from leadhand.plans.nesting import nested_teams
from leadhand.ports import Planner, Remedies, Synthesizer
from leadhand.synthesis.conflicts import roles_of
from leadhand.synthesis.merge import Merge
from leadhand.tools.factory import ToolFactory
from leadhand.untrusted.fence import Fence
from leadhand.workers.offline import OfflineSwitch
from leadhand.workers.runners import Runners, needs_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leadhand.models import Caller
    from leadhand.tools.files import Inputs

    PlannerMaker = Callable[[Caller | None, Fence], Planner]
    SynthesizerMaker = Callable[[Caller | None, Fence], Synthesizer]
    """A role of one's own that asks models through the run's caller; none without models."""

R = TypeVar("R", Planner, Synthesizer)


CLOSING_S = 0.2
"""How long closing connections may take, with the answer already there."""


class Roles:
    """Who does what in one run. Connections, threads and tools end with the `async with` block."""

    def __init__(
        self,
        team: Team,
        recorder: Recorder,
        *,
        request: str,
        planner: "Planner | PlannerMaker | None" = None,
        synthesizer: "Synthesizer | SynthesizerMaker | None" = None,
        remedies: Remedies | None = None,
        inputs: "Inputs | None" = None,
        account: Account | None = None,
        outer: "Roles | None" = None,
        given: Handoff | None = None,
    ) -> None:
        """`planner`, `synthesizer` and `remedies` stand in for the team's own; `account` says what
        may be spent.

        `outer` is the crew of the run around a nested one, whose connections and tools it uses,
        and `given` the task that it does. Raises `InputError` for what can't be run.
        """
        self._team = team
        self._recorder = recorder
        self._request = request
        self._stack = AsyncExitStack()
        self._outer = outer
        self._tools = outer._tools if outer is not None else ToolFactory(inputs, os.environ)
        outermost = outer.nonce if outer is not None else ""
        # The same after a restart: what a model was asked before is asked in the same words.
        self.nonce = recorder.state.nonce or outermost or secrets.token_hex(8)
        self._fence = Fence(self.nonce)
        self.offline_switch = OfflineSwitch(outer.offline_switch if outer is not None else None)
        """Whether there are models, for the workers that have code in their place."""
        self._inputs: Callable[[], tuple[str, ...]] = (
            outer._inputs if outer is not None else lambda: recorder.state.inputs
        )
        self.account = account
        self._caller = self._connect() if needs_model(team) else None
        self.router = Router(team, self._chooser())
        self.planner: Planner = self._made(planner) or self._routing(self._planner())
        self.synthesizer: Synthesizer = self._made(synthesizer) or self._synthesizer()
        self.remedies = remedies or self._routed(self._remedies())
        if account is not None and self.synthesizer.calls_model:
            account.keep_for_synthesis()
        self.runners = Runners(
            team,
            caller=self._caller,
            fence=self._fence,
            make_tool=self._tools.make,
            outer_task=given,
            inputs=self._inputs,
            unread=self._tools.unread,
            offline_switch=self.offline_switch,
        )

    def do_without_models(self, why: str) -> bool:
        """Have code do all that is still to be done, which says `why`; false where it can't."""
        if not all(callable(one.run) or one.offline is not None for one in self._team.workers):
            return False
        self.offline_switch.switch_on_everywhere(why)
        self.synthesizer = Merge(roles_of(self._team))
        self.remedies = self._routed(None)
        return True

    def nested(self, team: Team, recorder: Recorder, given: Handoff, *, request: str) -> "Roles":
        """The crew of a run within this one's, which does the task `given`."""
        account = account_within(self.account, max_tokens=given.limits.max_tokens)
        return Roles(team, recorder, request=request, account=account, outer=self, given=given)

    async def __aenter__(self) -> "Roles":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._outer is not None:
            return
        self._tools.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_S):
                await self._stack.aclose()

    def _connect(self) -> "Caller":
        if self._outer is not None and self._outer._caller is not None:
            return self._outer._caller.nested(self._recorder, self.account)
        # The libraries behind it weigh seconds; a run without a model never gets here.
        from leadhand.models import Caller, Connections
        from leadhand.models.admission import check_price
        from leadhand.models.rates import rates_of

        teams = [self._team, *(inner.team for inner in nested_teams(self._team))]
        rates = {name: rate for team in reversed(teams) for name, rate in team.rates.items()}
        connections = Connections(rates=rates_of(rates, os.environ))
        # All of them at once: a wrong name is told before anything is spent on the others.
        for spec in [spec for team in teams for spec in (*models_of(team), *_of_agents(team))]:
            connection = connections.to(spec)
            if self.account is not None:
                check_price(connection, self.account)
        self._stack.push_async_exit(connections)
        return Caller(connections, self._recorder, account=self.account)

    def _made(self, role: "R | Callable[[Caller | None, Fence], R] | None") -> "R | None":
        return role(self._caller, self._fence) if callable(role) else role

    def _planner(self) -> Planner:
        if self._caller is None or not (self._team.tiers or self._team.planner.model):
            return TemplatePlanner()
        from leadhand.planners import ModelPlanner

        return ModelPlanner(self._caller, rejected=self._rejected)

    def _routing(self, planner: Planner) -> Planner:
        """`planner`, after the router where the team has one."""
        team = self._team
        if not team.routes and team.router is None:
            return planner
        router = self.router if team.router is not None else Router(team)
        return RoutingPlanner(router, otherwise=planner)

    def _chooser(self) -> Chooser | None:
        """The model that says whose a task is; the planner's, where the team names none for it."""
        role = self._team.router or self._team.planner
        if self._caller is None or not (self._team.tiers or role.model):
            return None
        from leadhand.planners.choosing import ModelChooser

        return ModelChooser(self._caller, self._fence, role, self._team.tiers)

    def _routed(self, remedies: Remedies | None) -> Remedies | None:
        """`remedies`, after the router where the team has one."""
        team = self._team
        if not team.routes and team.router is None:
            return remedies
        router = self.router if team.router is not None else Router(team)
        return RoutedRemedies(router, otherwise=remedies)

    def _remedies(self) -> Remedies | None:
        if self._caller is None or not (self._team.tiers or self._team.planner.model):
            return None
        from leadhand.planners import ModelRemedies
        from leadhand.synthesis.judge import Judge

        return ModelRemedies(
            self._caller,
            self._team,
            self._fence,
            request=self._request,
            arbiter=Judge(self._caller, self._team, self._fence),
        )

    def _synthesizer(self) -> Synthesizer:
        if self._caller is None or not (self._team.tiers or self._team.synthesizer.model):
            return Merge(roles_of(self._team))
        from leadhand.synthesis import ModelSynthesizer

        return ModelSynthesizer(
            self._caller,
            self._team,
            self._fence,
            request=self._request,
            context_tokens=_context_tokens(self._caller, self._team),
        )

    def _rejected(self, plan: Plan | None, problems: "Sequence[str]") -> None:
        """Write down a proposal that the planner itself has to mend."""
        if plan is not None:
            self._recorder.record(
                events.PlanProposed(**self._recorder.stamp(), plan=plan, by=self.planner.name)
            )
        self._recorder.record(
            events.PlanRejected(**self._recorder.stamp(), problems=tuple(problems))
        )


def account_of(budget: Budget | None, recorder: Recorder) -> Account | None:
    """What a run may still spend, with what it spent before it was resumed; None: anything."""
    if budget is None:
        return None
    calls = [event for event in recorder.past if isinstance(event, events.ModelCalled)]
    spent = Amount(
        len(calls),
        sum(call.input_tokens + call.output_tokens for call in calls),
        sum(nano_usd(call.cost_usd or 0.0) for call in calls),
    )
    return Account(Ledger(budget, spent=spent))


def _of_agents(team: Team) -> list[ModelSpec]:
    """The models that a team's agents bring along."""
    agents = [worker.run for worker in team.workers if not callable(worker.run)]
    return [model for agent in agents if (model := getattr(agent, "model", None)) is not None]


def _context_tokens(caller: "Caller", team: Team) -> int | None:
    """The smallest known context of the models that may be asked for the answer."""
    role = team.synthesizer
    specs = (role.model,) if role.model is not None else team.tiers[role.tier]
    known = [size for spec in specs if (size := caller.model(spec).context_window) is not None]
    return min(known, default=None)
