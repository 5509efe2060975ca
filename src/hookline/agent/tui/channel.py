"""Share items between the screen's thread and the agent's thread. Neither waits for the other."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field
from rich.console import RenderableType

from hookline.agent.ports import Choice, Shown
from hookline.agent.prompts.local_commands import local_command
from hookline.agent.prompts.prompt import Steering
from hookline.agent.tui.workbench.events import EventHistory

if TYPE_CHECKING:
    from hookline.agent.build import BuiltAgent
    from hookline.agent.tools.user import Todo
    from hookline.config.engine import Engine
    from hookline.engine.running import RunningHook
    from hookline.model.hook import Hook
    from hookline.model.run import Run

T = TypeVar("T")

#: Lines of a running command.
_MOST_LINES = 3
#: Runs of a hook whose time is remembered.
_REMEMBERED = 99


class UserQuestion(Struct, frozen=True, eq=False, kw_only=True):
    """A question for the user."""

    title: str
    #: The text to judge: all of it is shown, above the question if it is too long.
    body: Sequence[RenderableType] = ()
    why: Sequence[RenderableType] = ()
    choices: Sequence[Choice] = ()
    #: Said below the choices.
    hint: str = ""
    #: The choice that other words than those of the choices mean; None: they are no answer.
    words_mean: str | None = None
    #: Any line is the answer, also an empty one.
    takes_line: bool = False
    #: Called on the screen's thread with the key of a choice, or None for no answer; and with the typed text.
    answer: Callable[[str | None, str], None]


class Note(Struct, frozen=True):
    """A note that is not part of the conversation."""

    text: str


class Taken(Struct, frozen=True):
    """A prompt that hooks are checking now."""

    text: str
    #: It is for the agent itself: nothing of it reaches the model.
    is_command: bool = False
    #: The time by `monotonic`, and the hooks that had run by then, with the milliseconds they took.
    at: float = 0.0
    runs: int = 0
    milliseconds: float = 0.0


class Withdrawn(Struct, frozen=True, eq=False):
    """A question that needs no answer any more."""

    asked: UserQuestion


class ReturnedPrompt(Struct, frozen=True):
    """A prompt that was not accepted."""

    text: str


class Stopped(Struct, frozen=True):
    queued: int


class Opened(Struct, frozen=True, eq=False):
    """A new session; its hooks have not run yet."""

    ready: "BuiltAgent"
    #: Hooks that do not run for lack of trust.
    untrusted: int = 0
    #: The session it continues, and what was said in it, as it was when it was opened.
    goes_on: str = ""
    earlier: Sequence[Shown] = ()
    #: What the start screen says about the session, by name.
    facts: Mapping[str, str] = {}


class Idle(Struct, frozen=True):
    """A sign that the agent waits for the user."""


Item = Shown | Note | Taken | UserQuestion | Withdrawn | ReturnedPrompt | Stopped | Opened | Idle

Call = Callable[[], object]


class PromptQueue(deque[str]):
    """Waiting prompts, the next one first; and the one that hooks check before it counts."""

    def __init__(self, post: "Callable[[Item], None]", stats: "HookStats | None" = None) -> None:
        super().__init__()
        self._post = post
        self._stats = stats if stats is not None else HookStats()
        self.taken = ""

    def popleft(self) -> str:
        return self._take(super().popleft())

    def remove(self, value: str) -> None:
        super().remove(value)
        self._take(value)

    def _take(self, text: str) -> str:
        is_command = local_command(text) is not None
        self.taken = "" if is_command else text
        self._post(Taken(text, is_command, time.monotonic(), self._stats.runs, self._stats.milliseconds))
        return text


def _may_steer(text: str) -> bool:
    """Return True for plain text: commands have turns of their own."""
    return not text.startswith(("/", "!"))


class HookActivity(Struct, eq=False):
    """Totals of one hook: how often it ran, how long it took, its last decision."""

    runs: int = 0
    failed_open: int = 0
    times: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    last: "Run | None" = None

    @property
    def median_ms(self) -> float | None:
        times = sorted(self.times)
        return times[len(times) // 2] if times else None


class HookStats:
    """Totals of hooks, written on the agent's thread, read on the screen's."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str, str], HookActivity] = {}
        #: Grows with every hook that ended.
        self.count = 0
        #: Grows with every hook that was not run for lack of trust.
        self.refused = 0
        #: The hooks that ran, and the milliseconds they took.
        self.runs = 0
        self.milliseconds = 0.0

    def ran(self, run: "Run") -> None:
        """Record a run; subscribe this to the journal."""
        record = self._records.setdefault((run.event, run.hook, run.source), HookActivity())
        # A hook that is not waited for is recorded twice: when it was started, and when it has ended.
        if run.status not in ("skipped", "untrusted", "background"):
            record.runs += 1
            record.times.append(run.duration_ms)
            self.runs += 1
            self.milliseconds += run.duration_ms
        record.failed_open += run.failed_open
        record.last = run
        self.refused += run.status == "untrusted"
        self.count += 1

    def of(self, hook: "Hook") -> HookActivity:
        return self._records.get((hook.event.name, hook.name, str(hook.where))) or HookActivity()


class Channel:
    def __init__(self) -> None:
        self.items: deque[Item] = deque()
        #: Totals of the hooks.
        self.hook_stats = HookStats()
        self.queue = PromptQueue(self.post, self.hook_stats)
        #: The user wants to leave.
        self.over = False
        self.engine: Engine | None = None
        self.ready: BuiltAgent | None = None
        #: The last events that were fired.
        self.events = EventHistory()
        #: The agent's loop; None before it runs and after it has ended.
        self.loop: asyncio.AbstractEventLoop | None = None
        #: Handlers of Ctrl-C and of a closed terminal; the last one is used.
        self.reactions: list[tuple[Call, Call]] = []
        #: Set on the agent's loop when the user has typed something, or leaves.
        self.typed: asyncio.Event | None = None
        #: The agent's last sign of life.
        self.alive = time.monotonic()
        #: Wakes the screen; set by it.
        self.wake: Call = _nothing

    # -- for the agent's thread -------------------------------------------------------------------------

    def post(self, item: Item) -> None:
        self.items.append(item)
        self.wake()

    # -- for the screen's thread ------------------------------------------------------------------------

    def running_hooks(self) -> "tuple[RunningHook, ...]":
        return self.engine.status.now() if self.engine is not None else ()

    def tail(self, tool_use_id: str) -> Sequence[str]:
        """Return the last lines of a running command."""
        streams = self.ready.agent.workplace.outputs.get(tool_use_id) if self.ready is not None else None
        return streams.tail(_MOST_LINES) if streams is not None else ()

    @property
    def todos(self) -> "Sequence[Todo]":
        """The model's list of steps, while it works."""
        return self.ready.todos if self.ready is not None and self.busy else ()

    @property
    def asks(self) -> bool:
        """True if the screen has not handled a posted question yet."""
        return any(isinstance(item, UserQuestion) for item in tuple(self.items))

    def call(self, function: Call) -> bool:
        """Run this on the agent's loop; return False if it has none."""
        loop = self.loop
        if loop is None:
            return False
        try:
            loop.call_soon_threadsafe(function)
        except RuntimeError:  # it was closed meanwhile
            return False
        return True

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await something on the agent's loop, from the screen's. Raises what it raises."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def hand_over(task: "asyncio.Future[T]") -> None:
            loop.call_soon_threadsafe(_settle, done, task)

        if not self.call(lambda: asyncio.ensure_future(work()).add_done_callback(hand_over)):
            raise RuntimeError("the agent has ended")
        return await done

    def submit(self, text: str) -> None:
        """Queue a prompt; one for the running turn steers it. It also releases those on hold."""
        # It does not overtake what waits for the end of the turn.
        steers = (
            self.busy and _may_steer(text) and all(isinstance(one, Steering) for one in tuple(self.queue))
        )
        self.queue.append(Steering(text) if steers else text)
        self.release()

    def switch_last(self) -> str | None:
        """Let the last waiting prompt steer the turn, or wait for its end. Returns the prompt as it is now."""
        text = self.take_back()
        if text is None:
            return None
        steers = not isinstance(text, Steering) and _may_steer(text)
        self.queue.append(Steering(text) if steers else str(text))
        return self.queue[-1]

    def release(self) -> None:
        self.call(self._release)

    def _release(self) -> None:
        if self.ready is not None:
            self.ready.agent.holds = False
        self._stir()

    def _stir(self) -> None:
        if self.typed is not None:
            self.typed.set()

    def take_back(self) -> str | None:
        """Remove the last waiting prompt from the queue, and return it."""
        try:
            return self.queue.pop()
        except IndexError:
            return None

    def stop(self) -> None:
        """Handle Ctrl-C while the agent is working."""
        self.call(lambda: self.reactions and self.reactions[-1][0]())

    def leave(self, *, signalled: bool = False) -> None:
        """End the session properly: at once where the agent waits, else by interrupting it."""
        self.over = True
        self.call(lambda: self._leave(signalled=signalled))

    def _leave(self, *, signalled: bool) -> None:
        agent = self.ready.agent if self.ready is not None else None
        if agent is not None and not signalled:
            agent.leaving = agent.leaving or "prompt_input_exit"
        if self.reactions and (signalled or agent is None or agent.busy):
            self.reactions[-1][1]()
        self._stir()

    @property
    def busy(self) -> bool:
        return self.ready is not None and self.ready.agent.busy

    def check_alive(self) -> None:
        """Ask for a sign of life."""
        self.call(self._live)

    def _live(self) -> None:
        self.alive = time.monotonic()


def _settle(future: "asyncio.Future[T]", ended: "asyncio.Future[T]") -> None:
    """Give a future the result of another one."""
    if future.done():
        return
    if ended.cancelled():
        future.cancel()
    elif (problem := ended.exception()) is not None:
        future.set_exception(problem)
    else:
        future.set_result(ended.result())


def _nothing() -> None:
    """Do nothing, while no screen is there."""
