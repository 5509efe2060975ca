"""Words of hooks that ran in the background: text for the next request, and wakes for when the agent is idle."""

from collections import deque
from collections.abc import Callable

from hookline.agent.conversation import Conversation
from hookline.agent.outside import Listener, Shown
from hookline.background.inbox import Inbox, Late
from hookline.model.outcome import ContextItem


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
        self._wakes: deque[Late] = deque()

    def take(self) -> None:
        """What has come in so far, each where it belongs. Called before a request."""
        for late in self._inbox.take_all():
            self._put(late)

    def _put(self, late: Late) -> None:
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

    def wake(self) -> Late | None:
        """The next wake that is there already."""
        self.take()
        return self._wakes.popleft() if self._wakes else None

    async def next_wake(self) -> Late | None:
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


def notice(late: Late) -> str:
    """What the model is told when a hook wakes it."""
    facts = [("event", late.event), ("hook_type", late.type), ("hook", late.hook), ("reason", late.text)]
    lines = [f"{name}: {value}" for name, value in facts if value]
    return "\n".join(
        ["<background-hook-result>", *lines, "</background-hook-result>", "Deal with it, then go on."]
    )
