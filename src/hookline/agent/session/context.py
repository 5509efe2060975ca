"""Describe how much of the model's context window a conversation takes, and what takes it (`/context`)."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from hookline.agent.conversation import Conversation, estimated, message_tokens
from hookline.agent.session.session import Agent, PromptTurn
from hookline.agent.tools.base import AgentTool
from hookline.model.messages import Assistant, Message, User

_NAMES = {"prompts": "your prompts", "hooks": "added by hooks", "summary": "summary",
          "answers": "answers and calls", "results": "results of tools"}  # fmt: skip


async def context(agent: Agent, argument: str) -> PromptTurn:
    """Carry out /context."""
    del argument
    agent.user.show("notice", "\n".join(_lines(agent)))
    return PromptTurn(status="completed")


def _lines(agent: Agent) -> Iterator[str]:
    conversation, compaction = agent.conversation, agent.compaction
    size, window = conversation.size, compaction.window(agent.model_name)
    known = (
        f" of {window:,} ({100 * size / window:.0f} %)"
        if window
        else "; the model's window is not known: set context_window"
    )
    limit = compaction.limit(agent.model_name)
    yield f"{size:,} tokens{known}" + (f"; compaction at {limit:,}" if limit else "; no automatic compaction")
    rows = {**_fixed(conversation, tuple(agent.tools.values())), **_messages(conversation.messages)}
    for name, tokens in rows.items():
        if tokens:
            yield f"  {name:20} {tokens:>9,}"
    yield "Parts are estimated: four characters a token."


def _fixed(conversation: Conversation, tools: tuple[AgentTool, ...]) -> dict[str, int]:
    instructions = sum(map(estimated, conversation.instructions.values()))
    schemas = (msgspec.json.encode(tool.schema).decode() for tool in tools)
    return {
        "system text": estimated(conversation.system) - instructions,
        "instruction files": instructions,
        f"{len(tools)} tools": sum(map(estimated, (*schemas, *(tool.description for tool in tools)))),
    }


def _messages(messages: list[Message]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for message in messages:
        counts[_kind(message)] += message_tokens(message)
    return {text: counts[name] for name, text in _NAMES.items()}


def _kind(message: Message) -> str:
    if isinstance(message, User):
        return "prompts" if not message.by else "summary" if message.by == "compaction" else "hooks"
    return "answers" if isinstance(message, Assistant) else "results"
