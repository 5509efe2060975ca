"""Encode payload documents, and decode raw results.

`PayloadKey` tables say which keys an event sends. `ResultReader` reads exit codes, replies and returned values by
the plain rules: exit 0 with one JSON object, exit 2 blocks, everything else is a failure. A dialect overrides
where it differs.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import msgspec
from msgspec import UNSET, Struct

from hookline.dialects.json_text import converted, field_first, written
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, HooklineError, UnknownEventError
from hookline.model.events import EventSpec, field_of
from hookline.model.outcome import PASS, Outcome, Vote, with_edits
from hookline.model.policy import Cause
from hookline.model.raw import Exited, Failed, RawResult, Replied, Returned, failure, first_line
from hookline.model.session_info import INFO_TEXTS, SessionInfo
from hookline.model.wire import NOTHING_SAID, Decoded, HookInvocation

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable


class PayloadError(HooklineError):
    """A payload that has no JSON form."""


class PayloadKey(Struct, frozen=True):
    """One key of a document."""

    name: str
    #: Sent where the value is not known; UNSET leaves the key out.
    default: Any = UNSET
    #: An empty value is sent too; only None is left out.
    keeps_empty: bool = False


def encoded(document: Mapping[str, Any]) -> bytes:
    """Encode a document. Raises `PayloadError`."""
    try:
        return written(document)
    except (TypeError, ValueError) as error:
        raise PayloadError(f"the payload cannot be written as JSON: {error}") from None


def info_document(event_name: str, info: SessionInfo) -> dict[str, Any]:
    """Return the keys every payload begins with."""
    return {
        "session_id": info.session_id,
        "transcript_path": info.transcript_path,
        "cwd": info.cwd,
        "hook_event_name": event_name,
        "permission_mode": info.permission_mode,
    }


def key_values(
    keys: Iterable[PayloadKey],
    payload: Any,
    *,
    otherwise: Callable[[str], Any],
    is_empty: Callable[[Any], bool],
) -> dict[str, Any]:
    """Return the keys an event sends. `otherwise` gives the value of a key that the payload does not have."""
    values: dict[str, Any] = {}
    for key in keys:
        value = field_of(payload, key.name)
        if value is None or is_empty(value):
            known = otherwise(key.name)
            value = value if known is None else known
        if value is not None and (key.keeps_empty or not is_empty(value)):
            values[key.name] = value
        elif key.default is not UNSET:
            values[key.name] = key.default
    return values


def event_name(document: Mapping[str, Any], known: Iterable[str], key: str = "hook_event_name") -> str:
    """Return the event of a document. Raises `ConfigError` or `UnknownEventError`."""
    name = document.get(key)
    if not isinstance(name, str):
        raise bad_payload(f"{key} is missing" if name is None else f"{key} is not text")
    if name not in known:
        from hookline.matching.nearest import nearest  # noqa: PLC0415 - only for this message

        raise UnknownEventError(name, nearest(name, known))
    return name


def payload_record(
    event: EventSpec[Any], name: str, values: Mapping[str, Any], keys: Mapping[str, str] | None = None
) -> Any:
    """Return the event's payload from a document that may hold more; `keys` are the document's names of its
    fields.

    Raises `ConfigError` that names the field.
    """
    try:
        return converted(values, event.payload)
    except msgspec.ValidationError as error:
        field, blank, problem = field_first(str(error)).partition(" ")
        field = (keys or {}).get(field, field)
        raise bad_payload(f"the payload of {name}: {field}{blank}{problem}") from None
    except RecursionError:
        raise bad_payload(f"the payload of {name} is nested too deeply") from None


def payload_of(event: EventSpec[Any], document: Mapping[str, Any]) -> Any:
    """Return the event's payload from a document that may hold more."""
    if issubclass(event.payload, Mapping):
        return {key: value for key, value in document.items() if key not in (*INFO_TEXTS, "hook_event_name")}
    return payload_record(event, event.name, dict(document))


def info_texts(document: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the session facts of a document, all of them text. Raises `ConfigError` that names the field."""
    known: dict[str, Any] = {}
    for name in names:
        value = document.get(name)
        if value is None:
            continue
        if not isinstance(value, str):
            raise bad_payload(f"{name} is not text")
        known[name] = value
    return known


def bad_payload(message: str) -> ConfigError:
    return ConfigError([Diagnostic("error", "bad-payload", message)])


#: Exit codes by which a shell reports that it could not run the program.
_NOT_RUN: Mapping[int, str] = {126: "the program is not executable", 127: "the program was not found"}


class UnreadableAnswerError(HooklineError):
    """An answer cannot be used; the text says why."""


class ResultReader:
    """A decoder of raw results. Stateless, and never raises, whatever a hook printed."""

    #: The reason of a block that gives none.
    no_reason: ClassVar[str] = "Blocked by hook"
    #: True if its agent's tools have canonical names. If not, `tools` is the agent's own table.
    standard_tools: bool = True

    @property
    def tools(self) -> "ToolTable":
        """The tools by the names that hooks see."""
        return self._tools

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.actions.standard_tools import STANDARD  # noqa: PLC0415 most calls need no translation

        return STANDARD

    def read_json(self, text: bytes) -> Any:
        """Read a JSON object as a mapping. Raises a `HooklineError` that says why it is not one."""
        raise NotImplementedError

    def read_answer(
        self, call: HookInvocation, document: Mapping[str, Any]
    ) -> tuple[Outcome, tuple[str, ...]]:
        """Return the outcome of an answer, and the names of its ignored fields. Raises `UnreadableAnswerError`."""
        raise NotImplementedError

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        """Return the payload with the event's field as the edits left it; the same object when there are none."""
        return with_edits(event, payload, outcome)

    def decode(self, call: HookInvocation, raw: RawResult) -> Decoded:
        if isinstance(raw, Returned):
            return NOTHING_SAID if raw.value is None else self.returned(call, raw.value)
        if isinstance(raw, Exited):
            return self.exited(call, raw)
        if isinstance(raw, Replied):
            return self.replied(call, raw)
        return self.broke(call, raw) if isinstance(raw, Failed) else NOTHING_SAID

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        if raw.code == 2:
            return self.blocked(call, raw)
        if raw.code != 0:
            return self.crashed(call, raw)
        if raw.truncated:
            return self.failed(call, raw, "truncated", "its output was cut off, so it was not read")
        return self.printed(call, raw, raw.stdout) if raw.stdout else NOTHING_SAID

    def blocked(self, call: HookInvocation, raw: Exited) -> Decoded:  # noqa: ARG002 for overrides
        """Decode exit 2: the reason is on stderr, and stdout is not read."""
        return Decoded(Outcome(votes=(Vote("block", stderr_text(raw) or self.no_reason),)))

    def crashed(self, call: HookInvocation, raw: Exited) -> Decoded:
        cause, detail = crash(raw)
        return self.failed(call, raw, cause, detail)

    def printed(self, call: HookInvocation, raw: Exited | Replied, output: bytes) -> Decoded:
        """Read one JSON object and nothing else; no output says nothing."""
        text = output.strip()
        return self.json_answer(call, raw, text) if text else NOTHING_SAID

    def json_answer(self, call: HookInvocation, raw: Exited | Replied, text: bytes) -> Decoded:
        if not text.startswith(b"{"):
            shown = text[:40].decode("utf-8", "replace")
            return self.failed(call, raw, "unreadable", f"the answer is not a JSON object: {shown!r}")
        try:
            document = self.read_json(text)
        except HooklineError as error:
            return self.failed(call, raw, "unreadable", f"the answer cannot be read: {error}")
        return self.answered(call, raw, document)

    def answered(
        self, call: HookInvocation, raw: Exited | Replied | None, document: Mapping[str, Any]
    ) -> Decoded:
        try:
            outcome, ignored = self.read_answer(call, document)
        except UnreadableAnswerError as error:
            return self.failed(call, raw, "unreadable", f"the answer cannot be read: {error}")
        if outcome == PASS:
            return Decoded(ignored=ignored) if ignored else NOTHING_SAID
        return Decoded(outcome, ignored=ignored)

    def replied(self, call: HookInvocation, raw: Replied) -> Decoded:
        if self.is_http_error(raw.status):
            return self.failed(call, raw, "transport", with_first_line(f"HTTP {raw.status}", raw.body))
        if raw.truncated:
            return self.failed(call, raw, "truncated", "the reply was cut off, so it was not read")
        if call.hook.kind in ("prompt", "agent"):
            return self.model_answered(call, raw)
        return self.printed(call, raw, raw.body)

    def model_answered(self, call: HookInvocation, raw: Replied) -> Decoded:
        """Read one JSON object, alone or in a code fence. It must decide something, or say to continue."""
        text = without_fence(raw.body.strip())
        said = self.json_answer(call, raw, text)
        if said.outcome != PASS or said.failure is not None or self.says_go_on(self.read_json(text)):
            return said
        fields = ", ".join(said.ignored)[:120]
        detail = "the model's answer decides nothing" + (f": {fields}" if fields else "")
        return self.failed(call, raw, "unreadable", detail)

    def says_go_on(self, document: Mapping[str, Any]) -> bool:
        """Return True if an answer that decides nothing is meant to let the agent continue."""
        return document.get("continue") is not None

    def is_http_error(self, status: int | None) -> bool:
        return status is not None and not 200 <= status < 300

    def returned(self, call: HookInvocation, value: Any) -> Decoded:
        if isinstance(value, Outcome):
            return self.returned_outcome(call, value)
        if isinstance(value, Mapping):
            return self.answered(call, None, cast("Mapping[str, Any]", value))
        detail = f"returned {type(value).__name__}, not an outcome, a mapping or None"
        return self.failed(call, None, "unreadable", detail)

    def returned_outcome(self, call: HookInvocation, outcome: Outcome) -> Decoded:  # noqa: ARG002 for overrides
        return Decoded(outcome)

    def broke(self, call: HookInvocation, raw: Failed) -> Decoded:  # noqa: ARG002 for overrides
        return Decoded(failure=raw)

    def failed(
        self, call: HookInvocation, raw: Exited | Replied | None, cause: Cause, detail: str
    ) -> Decoded:
        del call
        return Decoded(failure=failure(raw, cause, detail))


def crash(raw: Exited) -> tuple[Cause, str]:
    """Return the cause and detail of an exit code other than 0 and 2."""
    detail = with_first_line(f"exit {raw.code}", raw.stderr)
    not_run = _NOT_RUN.get(raw.code)
    return ("crashed", detail) if not_run is None else ("not_started", f"{not_run} ({detail})")


def with_first_line(what: str, output: bytes) -> str:
    line = first_line(output)
    return f"{what}: {line}" if line else what


def stderr_text(raw: Exited) -> str:
    return raw.stderr.decode("utf-8", "replace").strip()


def split_async_mark(stdout: bytes) -> tuple[bool, bytes]:
    """Return True for a hook that first prints `{"async": true}`, and the lines after it, which hold its
    answer."""
    if b'"async"' not in stdout[:4096]:
        return False, stdout
    from hookline.handlers.process.pipes import asks_for_background  # noqa: PLC0415 - few hooks print one

    stripped = stdout.lstrip()
    return (True, stripped.partition(b"\n")[2]) if asks_for_background(stripped) else (False, stdout)


def without_fence(text: bytes) -> bytes:
    """Strip a Markdown code fence: models often put JSON into one."""
    if not text.startswith(b"```") or not text.endswith(b"```") or len(text) < 6:
        return text
    _language, newline, inside = text[3:-3].partition(b"\n")
    return inside.strip() if newline else text[3:-3].removeprefix(b"json").strip()
