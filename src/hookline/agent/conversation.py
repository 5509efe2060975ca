"""What the model is told: the system text, the messages that stay, and what hooks add for a while."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from hookline.agent.messages import Assistant, Message, ToolResult, User
from hookline.agent.models.port import Request, ToolOffer
from hookline.agent.ports import Listener, Shown
from hookline.dialects.surrogates import whole_text
from hookline.engine.background import Inbox, LateMessage
from hookline.model.outcome import ContextItem
from hookline.model.policy import Lives

INTERRUPTED = "The call was interrupted before it gave a result."


def _keep_nothing(message: Message) -> None:
    del message


class Conversation:
    """Messages that stay are told to `keep` as they come, so that a transcript has them at once."""

    def __init__(self, system: str, keep: Callable[[Message], None] = _keep_nothing) -> None:
        self._base = system
        self._keep = keep
        self._session_context: list[str] = []
        #: Texts of instruction files, by file.
        self.instructions: dict[str, str] = {}
        self._passing: list[tuple[Lives, User]] = []
        self.messages: list[Message] = []
        #: How long the last request and its answer were, in tokens.
        self.tokens = 0

    @property
    def system(self) -> str:
        """Without additions it is the text that was given, byte for byte: providers cache by it."""
        parts = [self._base, *(f"[{file}]\n{text}" for file, text in self.instructions.items())]
        if self._session_context:
            parts += ["[Session context]", *self._session_context]
        return "\n\n".join(parts) if len(parts) > 1 else self._base

    def add(self, message: Message) -> None:
        whole = whole_text(message.text)
        if whole != message.text:  # names of files and words of hooks may hold what no provider takes
            message = replace(message, text=whole)
        self.messages.append(message)
        self._keep(message)

    def restore(self, messages: Iterable[Message]) -> None:
        """Messages that a transcript has already."""
        self.messages.extend(messages)

    def place(self, items: Sequence[ContextItem]) -> None:
        """Text of hooks, each where its policy puts it. What belongs into a tool's result is not for here."""
        for item in items:
            if item.placement == "system":
                self._session_context.append(whole_text(item.text))
                continue
            message = User(text=whole_text(item.text), by=item.hook or "a hook")
            lives = _lives(item)
            if lives == "session":
                self.add(message)
            else:
                self._passing.append((lives, message))

    def place_again(self, items: Sequence[ContextItem]) -> None:
        """What of it went with the history that was replaced; the rest is still there."""
        self.place([item for item in items if item.placement == "system" or _lives(item) == "session"])

    def request(self, model: str, tools: tuple[ToolOffer, ...], agent_type: str | None = None) -> Request:
        """The next request. The last text that does not stay marks how far the provider may cache."""
        extras = [message for _lives, message in self._passing]
        if extras:
            extras[-1] = replace(extras[-1], cache=True)
        return Request(
            model=model,
            system=self.system,
            messages=(*self.messages, *extras),
            tools=tools,
            agent_type=agent_type,
        )

    @property
    def passing(self) -> tuple[str, ...]:
        """Texts of the next request that are not among the messages that stay."""
        return tuple(message.text for _lives, message in self._passing)

    def answered(self) -> None:
        """The request was answered: what was meant for it alone is gone."""
        self._passing = [each for each in self._passing if each[0] != "call"]

    def turn_over(self) -> None:
        self._passing.clear()

    def close_open_calls(self, why: str = INTERRUPTED) -> None:
        """A result for every call that has none: no provider takes a conversation with such gaps."""
        last = next((each for each in reversed(self.messages) if isinstance(each, Assistant)), None)
        if last is None:
            return
        settled = {each.tool_use_id for each in self.messages if isinstance(each, ToolResult)}
        for use in last.tool_calls:
            if use.id not in settled:
                self.add(ToolResult(tool_use_id=use.id, name=use.name, text=why, is_error=True))

    def replace_all(self, messages: Iterable[Message]) -> None:
        """Another history in place of this one: it was compacted or cleared. The transcript has its own record.

        Text that does not stay was never part of the history: what this turn was told still counts.
        """
        self.messages = list(messages)
        self.tokens = 0

    def forget_session_context(self) -> None:
        """A session that starts anew is given its context anew."""
        self._session_context.clear()


def _lives(item: ContextItem) -> Lives:
    lives = item.lives or "session"
    return "call" if item.placement == "transient" and lives == "session" else lives


class LateWords:
    def __init__(
        self,
        inbox: Inbox,
        conversation: Conversation,
        listener: Listener,
        watch: Callable[[tuple[str, ...]], None],
    ) -> None:
        self._inbox = inbox
        self._talk = conversation
        self._listener = listener
        self._watch = watch
        self._wakes: deque[LateMessage] = deque()

    def take(self) -> None:
        """What has come in so far, each where it belongs. Called before a request."""
        for late in self._inbox.take_all():
            self._put(late)

    def _put(self, late: LateMessage) -> None:
        if late.kind == "wake":
            self._wakes.append(late)
        elif late.kind == "message":
            self._listener.show(Shown(kind="notice", text=late.text))
        elif late.kind == "watch":
            self._watch(late.paths)
        else:
            # The result it was meant for is long there; it comes as a message of its own.
            placement = late.placement if late.placement not in {"tool_result", ""} else "conversation"
            self._talk.place([ContextItem(late.text, placement, late.lives, late.hook)])

    def wake(self) -> LateMessage | None:
        """The next wake that is there already."""
        self.take()
        return self._wakes.popleft() if self._wakes else None

    async def next_wake(self) -> LateMessage | None:
        """The next wake, or None when no hook is left that could wake the agent."""
        while (here := self.wake()) is None:
            late = await self._inbox.next_wake()
            if late is None:
                return None
            self._put(late)
        return here

    async def wait_for_wake(self) -> None:
        """Until there is a wake, however long it takes: for an agent that waits for its user."""
        self.take()
        while not self._wakes:
            self._put(await self._inbox.get())

    def hand_over(self, inbox: Inbox) -> None:
        """This conversation is over; wakes, and words that come later, are for another one."""
        for late in self._wakes:
            inbox.put(late)
        self._wakes.clear()
        self._inbox.hand_over(inbox)


def notice(late: LateMessage) -> str:
    """What the model is told when a hook wakes it."""
    facts = [("event", late.event), ("hook_type", late.type), ("hook", late.hook), ("reason", late.text)]
    lines = [f"{name}: {value}" for name, value in facts if value]
    return "\n".join(
        ["<background-hook-result>", *lines, "</background-hook-result>", "Deal with it, then go on."]
    )
