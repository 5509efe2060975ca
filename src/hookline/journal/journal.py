"""Record runs in memory, in a file and with subscribers. Nothing here changes a decision."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TextIO, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.journal.file import JournalFile
from hookline.journal.redaction import MARK, Redactor
from hookline.model.events import field_of
from hookline.model.run import NO_CALL, Called, Run, Status
from hookline.model.safe_text import head_and_tail, one_line, printable

if TYPE_CHECKING:
    from hookline.journal.payloads import PayloadFile

T = TypeVar("T")
S = TypeVar("S")


class Journal:
    """An engine's sink: it redacts each run, remembers the last ones and passes them on. Recording never
    raises.

    `caller` and `origin` are common to all its runs: see `Called`.
    """

    def __init__(
        self,
        redactor: Redactor,
        memory: int = 1000,
        file: JournalFile | None = None,
        subscribers: Iterable[Callable[[Run], None]] = (),
        caller: str = "",
        origin: str = "",
        payloads: "PayloadFile | None" = None,
    ) -> None:
        self.caller = caller
        self.origin = origin
        #: The last payload and its project, and the call that it is: most dispatches run several hooks.
        self._last_call: tuple[Any, str, Called] = (None, "", NO_CALL)
        #: The last call that was cleaned, and its clean copy.
        self._clean_call = (NO_CALL, NO_CALL)
        self._cleaner = RunCleaner(redactor)
        self._known_clean = self._cleaner.known_clean
        self._memory: deque[Run | tuple[Callable[[Any], Run], Any]] = deque(maxlen=memory)
        self._remember = self._memory.append
        self._file = file
        self._payloads = payloads
        self._subscribers = Subscribers[Run]("journal", subscribers)
        self._counts: defaultdict[Status, int] = defaultdict(int)
        self._passed = 0

    def record(self, run: Run) -> None:
        """Redact a run, remember it, and pass it on."""
        self.watched(self._record, run)

    def _record(self, run: Run) -> None:
        self._counts[run.status] += 1
        if run.failed_open:
            self._passed += 1
        run = self._with_clean_texts(_with_short_ids(run))
        if self._file is not None or self._subscribers.callbacks:
            run = self._with_clean_call(run)
        self._remember(run)
        if self._file is not None:
            self._file.append(run)
        if self._subscribers.callbacks:
            self._subscribers.notify(run)

    def record_later(self, status: Status, make: Callable[[T], Run], noted: T) -> None:
        """Record a run that is built only when it is read: most never are. `noted` must be small."""
        if self._file is not None or self._subscribers.callbacks:
            self.record(make(noted))
            return
        self._counts[status] += 1
        self._remember((make, noted))

    def _with_clean_texts(self, run: Run) -> Run:
        known = self._known_clean
        if (
            run.stdout or run.stderr or run.detail or run.why or run.dropped or run.truncated
            or run.hook not in known or run.source not in known or run.doubt is not None
            or (run.reason is not None and run.reason not in known)  # a guard often repeats its reason
        ):  # fmt: skip
            return self._cleaner.clean(run)
        return run

    def called(self, payload: Any, project: str) -> Called:
        """Return the `Run.call` of a payload. Never raises."""
        last = self._last_call
        if payload is last[0] and project == last[1]:
            return last[2]
        try:
            tool, given = getattr(payload, "tool_name", None), getattr(payload, "tool_input", None)
            if tool is None:
                tool, given = field_of(payload, "tool_name"), field_of(payload, "tool_input")
            tool, text = str(tool or ""), input_summary(given)
            call_id = str(getattr(payload, "tool_use_id", None) or "")
        except Exception as error:  # noqa: BLE001 - payloads may come from the host
            tool, text, call_id = "", f"[left out: reading it raised {type(error).__name__}]", ""
        kept = self.watched(self._payloads.keep, payload) or "" if self._payloads is not None else ""
        called = Called(
            tool=_short_id(tool), input=text, id=_short_id(call_id), project=project, caller=self.caller,
            origin=self.origin, payload=kept,
        )  # fmt: skip
        self._last_call = (payload, project, called)
        return called

    def _with_clean_call(self, run: Run) -> Run:
        """Redact the call of a run when it is written or read, not at every event."""
        call = run.call
        if call is NO_CALL or call is self._clean_call[1]:
            return run
        if call is not self._clean_call[0]:
            self._clean_call = (call, self._cleaner.clean_call(call))
        return replace(run, call=self._clean_call[1])

    def cleaned(self, run: Run) -> Run:
        """Return the run as the journal would keep it, to show one that was not recorded."""
        return self._with_clean_call(self._cleaner.clean(run))

    def without_secrets(self, value: T) -> T:
        """Return a copy of a value with secrets removed from all its texts, to show what hooks said."""
        return self._cleaner.without_secrets(value)

    def recent(self, count: int | None = None) -> tuple[Run, ...]:
        """Return the newest runs, oldest first; without a count, all that are remembered."""
        runs = tuple(self._memory)
        wanted = runs if count is None else runs[max(len(runs) - count, 0) :]
        return tuple(
            self._with_clean_call(run if isinstance(run, Run) else self._with_clean_texts(run[0](run[1])))
            for run in wanted
        )

    def subscribe(self, callback: Callable[[Run], None]) -> Callable[[], None]:
        """Call `callback` with each run from now on. Call the returned function to unsubscribe."""
        return self._subscribers.add(callback)

    def watched(self, callback: Callable[..., T], *arguments: Any) -> T | None:
        """Call an observer outside dispatch: an exception is added to the problems, once."""
        return self._subscribers.call(callback, *arguments)

    @property
    def problems(self) -> tuple[str, ...]:
        """Errors of the journal itself, each once."""
        of_file = self._file.problems if self._file is not None else ()
        of_texts = (self._cleaner.problem,) if self._cleaner.problem else ()
        of_payloads = self._payloads.problems if self._payloads is not None else ()
        return (*of_file, *of_payloads, *of_texts, *self._subscribers.problems)

    @property
    def runs(self) -> int:
        return sum(self._counts.values())

    @property
    def failed_open(self) -> int:
        """The number of actions that proceeded because a hook failed open."""
        return self._passed

    @property
    def counts(self) -> Mapping[Status, int]:
        return dict(self._counts)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._payloads is not None:
            self._payloads.close()


class Subscribers(Generic[T]):
    """Callbacks that are notified. An exception in one is recorded once and not raised, and the others still run."""

    def __init__(self, what: str, callbacks: Iterable[Callable[[T], None]] = ()) -> None:
        self._what = what
        #: Other modules read it to skip work when there are none; they never set it.
        self.callbacks = tuple(callbacks)
        #: By the name of the callback.
        self._problems: dict[str, str] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(self._problems.values())

    def add(self, callback: Callable[[T], None]) -> Callable[[], None]:
        self.callbacks = (*self.callbacks, callback)

        def unsubscribe() -> None:
            rest = list(self.callbacks)
            if callback in rest:
                rest.remove(callback)
            self.callbacks = tuple(rest)

        return unsubscribe

    def notify(self, thing: T) -> None:
        for callback in self.callbacks:
            try:
                callback(thing)
            # A subscriber must never change a decision.
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001
                self._note(callback, error)

    def call(self, callback: Callable[..., S], *arguments: Any) -> S | None:
        """Call any function as the callbacks are called. Returns None if it raised."""
        try:
            return callback(*arguments)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 as above
            self._note(callback, error)
            return None

    def _note(self, callback: Callable[..., object], error: BaseException) -> None:
        name = getattr(callback, "__qualname__", type(callback).__name__)
        if name not in self._problems:
            text = f"{self._what}: {name} raised {type(error).__name__}: {error}"
            self._problems[name] = one_line(text, 300)


# Summary of a tool call

#: The arguments that describe a call best, best first.
_MAIN_ARGUMENTS = (
    "command",
    "cmd",
    "file_path",
    "path",
    "notebook_path",
    "url",
    "urls",
    "paths",
    "pattern",
    "query",
)
#: Characters of an input that are read: a summary is much shorter.
_LONGEST_INPUT = 1024


def input_summary(tool_input: Any) -> str:
    """Summarize a call by its command, path or address, else by its arguments. Neither redacted nor one line."""
    line = cast("dict[str, Any]", tool_input).get("command") if type(tool_input) is dict else None
    if type(line) is str and line:  # most calls, quickly
        return line if len(line) <= _LONGEST_INPUT else line[: _LONGEST_INPUT + 1]
    if not isinstance(tool_input, Mapping):
        return tool_input[: _LONGEST_INPUT + 1] if isinstance(tool_input, str) else ""
    arguments = cast("Mapping[Any, Any]", tool_input)
    for name in _MAIN_ARGUMENTS:
        if name in arguments and (text := _shown(arguments[name])):
            return text
    return " ".join(_pairs(arguments))


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value[: _LONGEST_INPUT + 1]
    if isinstance(value, list | tuple):
        words = [each[:_LONGEST_INPUT] for each in cast("list[Any]", value[:50]) if isinstance(each, str)]
        return " ".join(words)[: _LONGEST_INPUT + 1]
    return ""


def _pairs(arguments: Mapping[Any, Any]) -> Iterator[str]:
    room = _LONGEST_INPUT
    for name, value in arguments.items():
        text = str(value) if isinstance(value, int | float) else _shown(value) or ("…" if value else "")
        pair = f"{name}={text}"[: room + 1]
        yield pair
        room -= len(pair) + 1
        if room <= 0:
            return


# Redact runs, strip control characters and truncate before keeping them

#: Characters kept of each end of a text, and of a name.
_KEPT = 4096
_KEPT_OF_A_NAME = 512
_DROPPED_NAMES = 50
#: No secret is longer than this, so text this far from a cut is not a part of one.
_LONGEST_SECRET = 8 * 1024
#: Short texts found clean are remembered, so that a hook that repeats itself costs nothing.
_SHORT = 256
_REMEMBERED = 1024

_INPUT_COLUMNS = 200

_TEXTS = ("stdout", "stderr", "detail", "reason", "why", "doubt")
_NAMES = ("hook", "source")
#: Chosen by callers, at any length. Only their being the same each time means something.
_IDS = ("session", "agent", "translated_tool", "event", "dialect_event", "run_id", "decision_id")
_LONGEST_ID = 256


def _short_id(text: str) -> str:
    """Return an id of bounded length.

    A long one keeps its beginning and gets a digest, so that different ids stay different.
    """
    if len(text) <= _LONGEST_ID:
        return text
    from hashlib import sha256  # noqa: PLC0415 few are that long

    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{text[: _LONGEST_ID - 17]}…{digest}"


def _with_short_ids(run: Run) -> Run:
    """Bound ids that callers choose: ids of megabytes would rotate earlier runs out of the file after a few calls."""
    # Most runs, quickly: the other ids come from the configuration.
    if len(run.session) <= _LONGEST_ID and not run.agent and not run.translated_tool:
        return run
    long = {
        name: _short_id(text) for name in _IDS if (text := getattr(run, name)) and len(text) > _LONGEST_ID
    }
    return replace(run, **long) if long else run


class RunCleaner:
    """Cleaner of runs: it redacts secrets, strips control characters and truncates long texts, in that order."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.known_clean = redactor.known_clean
        self.problem: str | None = None

    def clean(self, run: Run) -> Run:
        try:
            changes = self._changes(run)
        except Exception as error:  # noqa: BLE001 - text that cannot be cleaned is left out, never kept as it is
            self.problem = f"texts of a run left out: cleaning them raised {type(error).__name__}"
            changes = {"stdout": "", "stderr": "", "reason": None, "why": "", "doubt": None, "dropped": ()}
            changes |= {"hook": "?", "source": "", "call": NO_CALL}
            changes["detail"] = "[left out: the text could not be cleaned]"
        return replace(run, **changes) if changes else run

    def clean_call(self, call: Called) -> Called:
        """Return the call without secrets, its input in one short line."""
        try:
            long = len(call.input) > _LONGEST_INPUT
            line = one_line(self._redacted(call.input[:_LONGEST_INPUT], ends_early=long), _INPUT_COLUMNS)
            tool, project, caller = map(self._clean_name, (call.tool, call.project, call.caller))
            call_id = one_line(self._redacted(_short_id(call.id)), _KEPT_OF_A_NAME)
        except Exception as error:  # noqa: BLE001 - as in `clean`
            self.problem = f"a call left out: cleaning it raised {type(error).__name__}"
            return NO_CALL
        return Called(
            tool=tool, input=line, id=call_id, project=project, caller=caller, origin=call.origin,
            payload=call.payload,
        )  # fmt: skip

    def _clean_name(self, name: str) -> str:
        """Return a name that most calls share, in one short line."""
        known = self._redactor.clean_names
        clean = known.get(name)
        if clean is None:
            clean = one_line(self._redacted(_short_id(name)), _KEPT_OF_A_NAME)
            if len(known) >= _REMEMBERED:
                known.clear()
            if len(name) <= _SHORT:
                known[name] = clean
        return clean

    def without_secrets(self, value: Any, name: str = "") -> Any:
        """Return a copy without secrets, at any depth; keys stay. `name`: the field that the value is in."""
        if isinstance(value, str):
            return MARK if self.is_secret(name, value) else self._redactor.redact(value)
        if isinstance(value, Struct):
            return replace(
                value,
                **{name: self.without_secrets(getattr(value, name)) for name in value.__struct_fields__},
            )
        if isinstance(value, Mapping):
            fields = cast("Mapping[Any, Any]", value)
            return {key: self.without_secrets(each, str(key)) for key, each in fields.items()}
        if isinstance(value, list | tuple):
            items = [self.without_secrets(each, name) for each in cast("list[Any]", value)]
            return tuple(items) if isinstance(value, tuple) else items
        return value

    def is_secret(self, name: str, text: str) -> bool:
        """Return True if the name of a field says that its text is a secret, as in `password = "…"`."""
        if not name or not text or len(text) > _KEPT:
            return False
        redact = self._redactor.redact
        return any(
            redact(before) + redact(text) != redact(before + text) for before in (f"{name}=", f"{name}: ")
        )

    def _changes(self, run: Run) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for name in _TEXTS:
            text: str | None = getattr(run, name)
            if text and (run.truncated or text not in self.known_clean):
                self._note(changes, name, text, self.clean_text(text, _KEPT, ends_early=run.truncated))
        for name in _NAMES:
            named: str = getattr(run, name)
            if named not in self.known_clean:
                self._note(changes, name, named, self.clean_text(named, _KEPT_OF_A_NAME))
        if run.dropped:
            names = tuple(one_line(self.clean_text(name, 64), 64) for name in run.dropped[:_DROPPED_NAMES])
            if names != run.dropped:
                changes["dropped"] = names
        return changes

    def _note(self, changes: dict[str, Any], name: str, text: str, clean: str) -> None:
        if clean != text:
            changes[name] = clean
        elif len(text) <= _SHORT:
            if len(self.known_clean) >= _REMEMBERED:
                self.known_clean.clear()
                self.known_clean.add("")
            self.known_clean.add(text)

    def clean_text(self, text: str, keep: int, *, ends_early: bool = False) -> str:
        """Redact a text, then keep this many characters of each end."""
        window = keep + 2 * _LONGEST_SECRET
        if len(text) <= 2 * window:
            return head_and_tail(self._redacted(text, ends_early=ends_early), keep)
        # Only the two ends are kept, so only they are read. Part of a secret can be left where a window was cut off,
        # and only there: that much of it is dropped.
        head = self._redacted(text[:window])
        tail = self._redacted(text[-window:], ends_early=ends_early)
        head = head[: max(min(keep, len(head) - _LONGEST_SECRET), 0)]
        tail = tail[len(tail) - max(min(keep, len(tail) - _LONGEST_SECRET), 0) :]
        return f"{head}\n[... {len(text) - len(head) - len(tail)} characters left out ...]\n{tail}"

    def _redacted(self, text: str, *, ends_early: bool = False) -> str:
        # In this order: a colour code in the middle of a secret would hide it from the redactor.
        return self._redactor.redact(printable(text), ends_early=ends_early)


# HOOKLINE_TRACE: runs printed as they happen, one line each

_TRACE_OFF = frozenset({"", "0", "false", "no", "off"})
_REASON_COLUMNS = 160
_NAME_COLUMNS = 60


def trace_wanted(env: Mapping[str, str]) -> bool:
    return env.get("HOOKLINE_TRACE", "").strip().lower() not in _TRACE_OFF


class Trace:
    """A sink that prints. When its stream is closed or broken, it stops printing; hooks still run."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def record(self, run: Run) -> None:
        stream = self._stream
        if stream is None:
            return
        try:
            encoding = getattr(stream, "encoding", None) or "utf-8"
            line = trace_line(run) + "\n"
            stream.write(line.encode(encoding, "backslashreplace").decode(encoding))
            stream.flush()
        except (OSError, ValueError, LookupError):
            self._stream = None


def trace_line(run: Run) -> str:
    """Format a run: time, event, hook, status, decision, milliseconds, and the reason."""
    clock = time.strftime("%H:%M:%S", time.localtime(run.at)) + f".{int(run.at * 1000) % 1000:03d}"
    names = (one_line(name, _NAME_COLUMNS) for name in (run.dialect_event or run.event or "?", run.hook))
    results = filter(None, (run.cause, run.decision, *_flags(run)))
    words = ["hookline", clock, *names, run.status, *results, f"{run.duration_ms:.1f}ms"]
    reason = one_line(run.reason or run.detail, _REASON_COLUMNS)
    return " ".join(words) + (f": {reason}" if reason else "")


def _flags(run: Run) -> tuple[str, ...]:
    return (
        run.mode if run.mode in ("shadow", "paused") else "",
        "recheck" if run.recheck else "",
        "in-doubt" if run.doubt else "",
        f"as-{one_line(run.translated_tool, _NAME_COLUMNS)}"
        if run.translated_tool not in (None, run.call.tool)
        else "",
        "failed-open" if run.failed_open else "",
    )
