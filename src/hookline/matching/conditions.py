"""Define condition trees: always, tool name, tool category, mode, exit code, all, any.

`problem` returns why a condition can never hold at an event, for the author of the configuration. `why`
explains the result of `holds`, on demand.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from msgspec import Struct

from hookline.actions.kinds import HOOK_WORDS
from hookline.matching.matchers import problem
from hookline.matching.patterns import Glob, glob
from hookline.model.events import EventSpec, field_of, knows
from hookline.model.hook import Answer, Condition, Doubt, Matcher
from hookline.model.session_info import SessionInfo

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable


class Explainable(Protocol):
    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str: ...


class Always(Struct, frozen=True):
    text: str = "always"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        return True

    def problem(self, event: EventSpec[Any]) -> str | None:  # noqa: ARG002 - the protocol
        return None

    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:  # noqa: ARG002 - the protocol
        return "it has no condition"


class ToolName(Struct, frozen=True):
    """The whole name; `*` is any text, every other character is itself."""

    name: str
    pattern: Glob

    @property
    def text(self) -> str:
        return f"tool_name {self.name}"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        tool = field_of(payload, "tool_name")
        return isinstance(tool, str) and self.pattern.matches(tool)

    def problem(self, event: EventSpec[Any]) -> str | None:
        return _no_tool(self.text, event)

    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:
        decision = "is" if self.holds(event, payload, info) else "is not"
        return f'tool "{field_of(payload, "tool_name")}" {decision} {self.name}'


def tool_name(name: str) -> ToolName:
    return ToolName(name, glob(name))


#: Every category. Agents have their own words for what their tools do.
CATEGORIES = ("shell", "file_write", "safe", "web", "mcp", "agent", "other")


def category_of(payload: Any, tools: "ToolTable", known: Collection[str] = CATEGORIES) -> str | None:
    """Return the host's category, else that of the tools, if it is a known one; None without a tool."""
    given = field_of(payload, "tool_category")
    if isinstance(given, str) and given in CATEGORIES:
        return given
    tool = field_of(payload, "tool_name")
    if not isinstance(tool, str):
        return None
    category = tools.category(tool, field_of(payload, "tool_input"))
    word = HOOK_WORDS.get(category, category)
    return word if word in known else "other"


class ToolCategory(Struct, frozen=True):
    category: str
    tools: "ToolTable"
    #: The categories that the hook's agent has.
    known: tuple[str, ...] = CATEGORIES

    @property
    def text(self) -> str:
        return f"tool_category {self.category}"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        return category_of(payload, self.tools, self.known) == self.category

    def problem(self, event: EventSpec[Any]) -> str | None:
        return _no_tool(self.text, event)

    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:  # noqa: ARG002 - the protocol
        found = category_of(payload, self.tools, self.known)
        decision = "is" if found == self.category else f"is {found}, not"
        return f'the category of tool "{field_of(payload, "tool_name")}" {decision} {self.category}'


class InMode(Struct, frozen=True):
    """The permission mode of the session; case is ignored."""

    mode: str

    @property
    def text(self) -> str:
        return f"mode {self.mode}"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        return info.permission_mode.casefold() == self.mode.casefold()

    def problem(self, event: EventSpec[Any]) -> str | None:  # noqa: ARG002 - the protocol
        return None

    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:
        decision = "is" if self.holds(event, payload, info) else "is not"
        return f'mode "{info.permission_mode}" {decision} {self.mode}'


class ExitCode(Struct, frozen=True):
    """A code that was reported. Success without a code is not 0."""

    code: int

    @property
    def text(self) -> str:
        return f"exit_code {self.code}"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        return exit_code_of(payload) == self.code

    def problem(self, event: EventSpec[Any]) -> str | None:
        if knows(event, "exit_code", "tool_response"):
            return None
        return f"{self.text} can never hold: no exit code is known at {event.name}"

    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:  # noqa: ARG002 - the protocol
        found = exit_code_of(payload)
        if found is None:
            return "no exit code was reported"
        return f"the exit code is {found}" + ("" if found == self.code else f", not {self.code}")


def exit_code_of(payload: Any) -> int | None:
    """Return the code the tool reported, next to its result or within it."""
    code = field_of(payload, "exit_code")
    if code is None:
        response = field_of(payload, "tool_response")
        code = field_of(response, "exit_code") if isinstance(response, Mapping) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


class AllOf(Struct, frozen=True):
    """Every one of them. None of them at all is true."""

    conditions: tuple[Condition, ...]

    @property
    def text(self) -> str:
        return "all(" + ", ".join(condition.text for condition in self.conditions) + ")"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> Answer:
        total: Answer = True
        for condition in self.conditions:
            answer = condition.holds(event, payload, info)
            if not answer:
                return False
            if total is True and isinstance(answer, Doubt):
                total = answer
        return total

    def covers(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:
        return all(covers(condition, event, payload, info) for condition in self.conditions)

    def problem(self, event: EventSpec[Any]) -> str | None:
        return next(_problems(self.conditions, event), None)

    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:
        for condition in self.conditions:
            if not condition.holds(event, payload, info):
                return why(condition, event, payload, info)
        return " and ".join(why(each, event, payload, info) for each in self.conditions) or "always"


class AnyOf(Struct, frozen=True):
    """At least one of them. None of them at all is false."""

    conditions: tuple[Condition, ...]

    @property
    def text(self) -> str:
        return "any(" + ", ".join(condition.text for condition in self.conditions) + ")"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> Answer:
        total: Answer = False
        for condition in self.conditions:
            answer = condition.holds(event, payload, info)
            if answer and not isinstance(answer, Doubt):
                return True
            total = total or answer
        return total

    def covers(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:
        return any(covers(condition, event, payload, info) for condition in self.conditions)

    def problem(self, event: EventSpec[Any]) -> str | None:
        return next(_problems(self.conditions, event), None)

    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:
        answers = [(each.holds(event, payload, info), each) for each in self.conditions]
        # A sure one first, as for the answer itself.
        answers.sort(key=lambda found: isinstance(found[0], Doubt))
        for answer, condition in answers:
            if answer:
                return why(condition, event, payload, info)
        sentences = "; ".join(why(each, event, payload, info) for each in self.conditions)
        return sentences or "any() of nothing never holds"


def covers(condition: Condition, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:
    """Return True if it holds for all of the payload beyond doubt: what a permission needs."""
    strict = cast("Any", getattr(condition, "covers", None))
    return condition.holds(event, payload, info) is True if strict is None else strict(event, payload, info)


def why(condition: Condition, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:
    if hasattr(condition, "why"):
        return cast("Explainable", condition).why(event, payload, info)
    answer = condition.holds(event, payload, info)
    if isinstance(answer, Doubt):
        return f'condition "{condition.text}" in doubt: {answer.text}'
    return f'condition "{condition.text}" {"holds" if answer else "does not hold"}'


def _problems(conditions: tuple[Condition, ...], event: EventSpec[Any]) -> Iterator[str]:
    for condition in conditions:
        found = problem(condition, event)
        if found is not None:
            yield found


def _no_tool(text: str, event: EventSpec[Any]) -> str | None:
    if knows(event, "tool_name"):
        return None
    return f"{text} can never hold: {event.name} is not about a tool"


# Why a hook was selected or not, for people: dispatch itself builds no text


class Explanation(Struct, frozen=True):
    matched: bool
    why: str
    in_doubt: bool = False


def explain_match(
    matcher: Matcher | None,
    condition: Condition | None,
    subject: str | None,
    event: EventSpec[Any],
    payload: Any,
    info: SessionInfo,
) -> Explanation:
    """Return the first thing that kept the hook from being chosen, else all that let it."""
    reasons: list[str] = []
    answer: Answer = True
    if matcher is not None:
        if subject is None:
            return Explanation(False, f'matcher "{matcher.text}" has nothing to test at {event.name}')
        reasons.append(explain_matcher(matcher, subject))
        if not matcher.matches(subject):
            return Explanation(False, reasons[0])
    if condition is not None:
        reasons.append(why(condition, event, payload, info))
        answer = condition.holds(event, payload, info)
        if not answer:
            return Explanation(False, reasons[-1])
    words = "; ".join(reasons) or "it has no matcher and no condition"
    return Explanation(True, words, isinstance(answer, Doubt))


def explain_matcher(matcher: Matcher, subject: str) -> str:
    reason = cast("Any", getattr(matcher, "why", None))
    if reason is not None:
        return reason(subject)
    decision = "matches" if matcher.matches(subject) else "does not match"
    return f'matcher "{matcher.text}" {decision} "{subject}"'
