"""Hold what the model is sent: the system text, the messages that stay, and text that hooks add for a while."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec.structs import replace

from hookline.agent.models.port import CompletionRequest, Effort, ToolOffer
from hookline.agent.ports import UserPort
from hookline.dialects.json_text import whole_text
from hookline.engine.background import Inbox, LateMessage
from hookline.model.messages import Assistant, Message, ToolMessage, Usage, User
from hookline.model.outcome import ContextItem
from hookline.model.policy import Lifetime

INTERRUPTED = "The call was interrupted before it gave a result."


class ConversationRecorder(Protocol):
    """Destination to which a conversation is written as it happens, such as a transcript."""

    @property
    def path(self) -> str:
        """The file, for hooks; empty if there is none."""
        ...

    def message(self, message: Message) -> None: ...

    def turn(self, number: int, status: str, usage: Usage, totals: Usage) -> None: ...

    def cleared(self) -> None: ...

    def compacted(self, summary: str, kept: Sequence[Message]) -> None: ...

    def close(self) -> None: ...


class NoRecords:
    """Records that write nothing."""

    path = ""

    def message(self, message: Message) -> None: ...

    def turn(self, number: int, status: str, usage: Usage, totals: Usage) -> None: ...

    def cleared(self) -> None: ...

    def compacted(self, summary: str, kept: Sequence[Message]) -> None: ...

    def close(self) -> None: ...


class Conversation:
    """One agent's conversation. A message that stays is recorded at once."""

    def __init__(
        self,
        system: str,
        records: ConversationRecorder | None = None,
        instructions: dict[str, str] | None = None,
    ) -> None:
        self.records: ConversationRecorder = records if records is not None else NoRecords()
        #: Texts of instruction files, by file. Subagents share their session's.
        self.instructions: dict[str, str] = instructions if instructions is not None else {}
        self.messages: list[Message] = []
        #: Grows whenever the history is replaced: positions in it are void then.
        self.version = 0
        #: Tokens of the last request and its answer, if the provider counts them.
        self.tokens: int | None = None
        #: How many messages there were then.
        self._counted = 0
        #: Called when a durable hook's result is in the records, with its id.
        self.acknowledge: Callable[[str], None] | None = None
        self._base = system
        #: How much the model thinks.
        self.effort: Effort = ""
        #: Where the agent works; part of the system text.
        self.environment = ""
        self._session_context: list[str] = []
        self._transient: list[tuple[Lifetime, User]] = []

    @property
    def system(self) -> str:
        """The system text; it changes only with its parts, because providers cache by it."""
        if not self.instructions and not self._session_context:
            return self.own_system
        parts = [self.own_system, *(f"[{file}]\n{text}" for file, text in self.instructions.items())]
        if self._session_context:
            parts += ["[Session context]", *self._session_context]
        return "\n\n".join(parts)

    @property
    def own_system(self) -> str:
        """The system text without that of files and hooks."""
        return f"{self._base}\n\n{self.environment}" if self.environment else self._base

    def count(self, tokens: int | None) -> None:
        """Note the tokens of a request and its answer; the answer is added next."""
        self.tokens = tokens
        self._counted = len(self.messages) + 1

    @property
    def size(self) -> int:
        """Return the tokens that the next request takes: those counted, and an estimate of what came since."""
        if self.tokens is None:
            return estimated(self.system) + sum(map(message_tokens, self.messages))
        return self.tokens + sum(map(message_tokens, self.messages[self._counted :]))

    def add(self, message: Message) -> None:
        text = _sendable(message.text)
        if text != message.text:
            message = replace(message, text=text)
        self.messages.append(message)
        self.records.message(message)
        if self.acknowledge is not None and isinstance(message, User) and message.late_id:
            self.acknowledge(message.late_id)

    def restore(self, messages: Iterable[Message]) -> None:
        """Add messages that are recorded already."""
        self.messages.extend(messages)

    def place(self, items: Sequence[ContextItem], wake: str = "") -> None:
        """Add text of hooks where its policy puts it. Text for a tool's result is placed with the result.

        `wake`: the id of a durable hook's result.
        """
        for item in items:
            if item.placement == "system":
                self._session_context.append(_sendable(item.text))
                continue
            message = User(text=_sendable(item.text), by=item.hook or "a hook", late_id=wake)
            lifetime = _lives(item)
            if lifetime == "session":
                self.add(message)
            else:
                self._transient.append((lifetime, message))

    def place_again(self, items: Sequence[ContextItem]) -> None:
        """Add again the text that was lost when the history was replaced. Transient text is still there."""
        self.place([item for item in items if item.placement == "system" or _lives(item) == "session"])

    def request(
        self, model: str, tools: tuple[ToolOffer, ...], agent_type: str | None = None
    ) -> CompletionRequest:
        """Return the next request. The last transient text marks how far the provider may cache."""
        extras = [message for _lives, message in self._transient]
        if extras:
            extras[-1] = replace(extras[-1], cache=True)
        return CompletionRequest(
            model=model,
            system=self.system,
            messages=(*self.messages, *extras),
            tools=tools,
            agent_type=agent_type,
            effort=self.effort,
        )

    @property
    def transient(self) -> tuple[str, ...]:
        """The texts of the next request that are not among the messages that stay."""
        return tuple(message.text for _lives, message in self._transient)

    def answered(self) -> None:
        """Drop the text that was meant for the answered request alone."""
        self._transient = [each for each in self._transient if each[0] != "call"]

    def turn_over(self) -> None:
        self._transient.clear()

    def close_open_calls(self, why: str = INTERRUPTED) -> None:
        """Give every open call a result: providers refuse a conversation with calls left open."""
        last = next((each for each in reversed(self.messages) if isinstance(each, Assistant)), None)
        if last is None:
            return
        settled = {each.tool_use_id for each in self.messages if isinstance(each, ToolMessage)}
        for use in last.tool_calls:
            if use.id not in settled:
                self.add(ToolMessage(tool_use_id=use.id, name=use.name, text=why, is_error=True))

    def replace_all(self, messages: Iterable[Message]) -> None:
        """Replace the history, after compaction or /clear, which are recorded as such.

        Transient text stays: it was never part of the history and still counts for this turn.
        """
        self.messages = list(messages)
        self.tokens = None
        self.version += 1

    def rewind(self, length: int) -> None:
        """Keep only the first messages."""
        self.messages = self.messages[:length]
        self.tokens = None
        if self.messages:
            self.records.compacted("", self.messages)
        else:
            self.records.cleared()

    def forget_session_context(self) -> None:
        """Drop the session's context before SessionStart fires again, whose hooks give new context."""
        self._session_context.clear()


def estimated(text: str) -> int:
    """Estimate the tokens of a text: about four characters each."""
    return len(text) // 4


def message_tokens(message: Message) -> int:
    """Estimate the tokens of a message, with those of its calls."""
    calls = message.tool_calls if isinstance(message, Assistant) else ()
    return estimated(message.text) + sum(estimated(f"{call.name} {call.input}") for call in calls)


def _sendable(text: str) -> str:
    """Remove lone surrogates, which file names and output of hooks may hold and no provider accepts."""
    return text if text.isascii() else whole_text(text)


def _lives(item: ContextItem) -> Lifetime:
    lifetime = item.lifetime or "session"
    return "call" if item.placement == "transient" and lifetime == "session" else lifetime


class LateMessages:
    """Results of background hooks: text for the next request, and wakes for an idle agent."""

    def __init__(
        self,
        inbox: Inbox,
        conversation: Conversation,
        user: UserPort,
        watch: Callable[[tuple[str, ...]], None],
    ) -> None:
        self._inbox = inbox
        self._conversation = conversation
        self._user = user
        self._watch = watch
        self._wakes: deque[LateMessage] = deque()
        # Only what is in the transcript was delivered: the agent may be killed in between.
        inbox.owner_acknowledges = True
        conversation.acknowledge = inbox.delivered

    def acknowledge(self, wake_id: str) -> None:
        """Record that a durable hook's result was delivered."""
        self._inbox.delivered(wake_id)

    def take(self) -> None:
        """Deliver everything that has arrived. Called before a request."""
        for late in self._inbox.take_all():
            self._deliver(late)

    def _deliver(self, late: LateMessage) -> None:
        if late.kind == "wake":
            self._wakes.append(late)
            return
        if late.kind == "message":
            about = {"hook": late.hook, "event": late.event, "source": late.source, "label": late.label}
            self._user.show("warning" if late.failed else "notice", late.text, **about)
        elif late.kind == "watch":
            self._watch(late.paths)
        else:
            # Its tool result was sent long ago, so the text becomes a separate message.
            placement = late.placement if late.placement not in {"tool_result", ""} else "conversation"
            self._conversation.place(
                [ContextItem(late.text, placement, late.lifetime, late.hook)], late.wake_id
            )
        self.acknowledge(late.wake_id)

    def wake(self) -> LateMessage | None:
        """Return the next wake that has arrived."""
        self.take()
        return self._wakes.popleft() if self._wakes else None

    async def next_wake(self) -> LateMessage | None:
        """Wait for the next wake; return None when no hook is left that could wake the agent."""
        while (here := self.wake()) is None:
            late = await self._inbox.next_wake()
            if late is None:
                return None
            self._deliver(late)
        return here

    async def wait_for_wake(self) -> None:
        """Wait for a wake without end: for an agent that waits for its user."""
        self.take()
        while not self._wakes:
            self._deliver(await self._inbox.get())

    def show_messages(self) -> None:
        """Show messages for the user at the end.

        Other results of durable hooks wait until the conversation is resumed.
        """
        for late in self._inbox.take_all():
            if late.kind == "message":
                self._deliver(late)

    def hand_over(self, inbox: Inbox) -> None:
        """Pass on wakes, and everything that arrives later, because this conversation is over."""
        for late in self._wakes:
            inbox.put(late)
        self._wakes.clear()
        self._inbox.hand_over(inbox)


def wake_prompt(late: LateMessage) -> str:
    """Return the prompt that the model gets when a hook wakes it."""
    facts = [("event", late.event), ("hook_type", late.type), ("hook", late.hook), ("reason", late.text)]
    lines = [f"{name}: {value}" for name, value in facts if value]
    return "\n".join(
        ["<background-hook-result>", *lines, "</background-hook-result>", "Deal with it, then continue."]
    )
