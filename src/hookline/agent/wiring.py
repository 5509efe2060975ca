"""A loop with everything it plays turns with: the same for an agent and for its sub-agents."""

from collections.abc import Mapping

from hookline.agent.asking import Asking
from hookline.agent.calls import Calls
from hookline.agent.conversation import Conversation
from hookline.agent.gates import Gates
from hookline.agent.hooksport import Hooks
from hookline.agent.loop import Loop
from hookline.agent.modelport import ModelPort
from hookline.agent.outside import Listener
from hookline.agent.permitting import Permitting
from hookline.agent.settings import AgentSettings
from hookline.agent.tooling import Tool, Workplace
from hookline.permissions.state import Permissions


def wired_loop(
    *,
    model: ModelPort,
    hooks: Hooks,
    conversation: Conversation,
    tools: Mapping[str, Tool],
    permissions: Permissions,
    permitting: Permitting,
    place: Workplace,
    settings: AgentSettings,
    listener: Listener,
    gates: Gates,
) -> Loop:
    asking = Asking(
        model=model,
        hooks=hooks,
        conversation=conversation,
        tools=tools,
        place=place,
        listener=listener,
        gates=gates,
    )
    return Loop(
        asking=asking,
        hooks=hooks,
        calls=Calls(hooks, permitting, place, listener),
        conversation=conversation,
        tools=tools,
        permissions=permissions,
        place=place,
        settings=settings,
        listener=listener,
        gates=gates,
    )
