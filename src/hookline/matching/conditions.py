"""Condition trees: always, tool name, tool category, mode, exit code, all, any.

`problem` says why a condition can never hold at an event, for the author of the configuration. `why` explains the
result of `holds`, on demand.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol, cast

from msgspec import Struct

from hookline.matching.matchers import problem
from hookline.matching.patterns import Glob, glob
from hookline.model.events import EventSpec, field_of, knows
from hookline.model.hook import Answer, Condition, Doubt, Matcher
from hookline.model.scene import Scene


class Explainable(Protocol):
    def why(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str: ...


class Always(Struct, frozen=True):
    text: str = "always"

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:  # noqa: ARG002 - the protocol
        return True

    def problem(self, event: EventSpec[Any]) -> str | None:  # noqa: ARG002 - the protocol
        return None

    def why(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str:  # noqa: ARG002 - the protocol
        return "it has no condition"


class ToolName(Struct, frozen=True):
    """The whole name; `*` is any text, every other character is itself."""

    name: str
    pattern: Glob

    @property
    def text(self) -> str:
        return f"tool_name {self.name}"

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:  # noqa: ARG002 - the protocol
        tool = field_of(payload, "tool_name")
        return isinstance(tool, str) and self.pattern.matches(tool)

    def problem(self, event: EventSpec[Any]) -> str | None:
        return _no_tool(self.text, event)

    def why(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str:
        verdict = "is" if self.holds(event, payload, scene) else "is not"
        return f'tool "{field_of(payload, "tool_name")}" {verdict} {self.name}'


def tool_name(name: str) -> ToolName:
    return ToolName(name, glob(name))


class ByAction(Struct, frozen=True):
    """A tool whose category depends on its `action` argument."""

    actions: Mapping[str, str]
    otherwise: str


Categories = Mapping[str, str | ByAction]

_FILE = ByAction(
    MappingProxyType(dict.fromkeys(("read", "list", "search_name", "search_content"), "safe")), "file_write"
)
_GIT = ByAction(MappingProxyType(dict.fromkeys(("status", "diff", "log", "show", "blame"), "safe")), "other")

#: Every category there is. Agents have words of their own for what their tools do.
_CATEGORIES = frozenset(("shell", "file_write", "safe", "web", "mcp", "agent", "other"))
#: How names of tools of MCP servers begin, and their row in a table.
MCP = "mcp__"

#: The categories of common tools. A tool that is not listed is `other`.
TOOL_CATEGORIES: Categories = MappingProxyType(
    {
        **dict.fromkeys(("Read", "Glob", "Grep", "LS", "TodoWrite"), "safe"),
        **dict.fromkeys(("Write", "Edit", "MultiEdit", "NotebookEdit", "Delete", "Move"), "file_write"),
        **dict.fromkeys(("bash", "Bash", "exec_shell", "Run", "run"), "shell"),
        **dict.fromkeys(("read", "todo_write"), "safe"),
        **dict.fromkeys(("write", "edit", "apply_patch"), "file_write"),
        "File": _FILE,
        "file": _FILE,
        "Git": _GIT,
        "git": _GIT,
    }
)


def category_of(payload: Any, table: Categories) -> str | None:
    """The category the host gives, else the one in the table; None without a tool."""
    given = field_of(payload, "tool_category")
    if isinstance(given, str) and given in _CATEGORIES:
        return given
    tool = field_of(payload, "tool_name")
    if not isinstance(tool, str):
        return None
    row = table.get(tool) or table.get(MCP if tool.startswith(MCP) else "", "other")
    if isinstance(row, str):
        return row
    arguments = field_of(payload, "tool_input")
    action = cast("Mapping[str, Any]", arguments).get("action") if isinstance(arguments, Mapping) else None
    return row.actions.get(action, row.otherwise) if isinstance(action, str) else row.otherwise


class ToolCategory(Struct, frozen=True):
    category: str
    table: Categories = TOOL_CATEGORIES

    @property
    def text(self) -> str:
        return f"tool_category {self.category}"

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:  # noqa: ARG002 - the protocol
        return category_of(payload, self.table) == self.category

    def problem(self, event: EventSpec[Any]) -> str | None:
        return _no_tool(self.text, event)

    def why(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str:  # noqa: ARG002 - the protocol
        found = category_of(payload, self.table)
        verdict = "is" if found == self.category else f"is {found}, not"
        return f'the category of tool "{field_of(payload, "tool_name")}" {verdict} {self.category}'


class InMode(Struct, frozen=True):
    """The permission mode of the scene; case does not count."""

    mode: str

    @property
    def text(self) -> str:
        return f"mode {self.mode}"

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:  # noqa: ARG002 - the protocol
        return scene.permission_mode.casefold() == self.mode.casefold()

    def problem(self, event: EventSpec[Any]) -> str | None:  # noqa: ARG002 - the protocol
        return None

    def why(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str:
        verdict = "is" if self.holds(event, payload, scene) else "is not"
        return f'mode "{scene.permission_mode}" {verdict} {self.mode}'


class ExitCode(Struct, frozen=True):
    """A code that was reported. Success without a code is not 0."""

    code: int

    @property
    def text(self) -> str:
        return f"exit_code {self.code}"

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:  # noqa: ARG002 - the protocol
        return exit_code_of(payload) == self.code

    def problem(self, event: EventSpec[Any]) -> str | None:
        if knows(event, "exit_code", "tool_response"):
            return None
        return f"{self.text} can never hold: no exit code is known at {event.name}"

    def why(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str:  # noqa: ARG002 - the protocol
        found = exit_code_of(payload)
        if found is None:
            return "no exit code was reported"
        return f"the exit code is {found}" + ("" if found == self.code else f", not {self.code}")


def exit_code_of(payload: Any) -> int | None:
    """The code the tool reported, next to its result or within it."""
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

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> Answer:
        total: Answer = True
        for condition in self.conditions:
            answer = condition.holds(event, payload, scene)
            if not answer:
                return False
            if total is True and isinstance(answer, Doubt):
                total = answer
        return total

    def covers(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:
        return all(covers(condition, event, payload, scene) for condition in self.conditions)

    def problem(self, event: EventSpec[Any]) -> str | None:
        return next(_problems(self.conditions, event), None)

    def why(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str:
        for condition in self.conditions:
            if not condition.holds(event, payload, scene):
                return why(condition, event, payload, scene)
        return " and ".join(why(each, event, payload, scene) for each in self.conditions) or "always"


class AnyOf(Struct, frozen=True):
    """At least one of them. None of them at all is false."""

    conditions: tuple[Condition, ...]

    @property
    def text(self) -> str:
        return "any(" + ", ".join(condition.text for condition in self.conditions) + ")"

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> Answer:
        total: Answer = False
        for condition in self.conditions:
            answer = condition.holds(event, payload, scene)
            if answer and not isinstance(answer, Doubt):
                return True
            total = total or answer
        return total

    def covers(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:
        return any(covers(condition, event, payload, scene) for condition in self.conditions)

    def problem(self, event: EventSpec[Any]) -> str | None:
        return next(_problems(self.conditions, event), None)

    def why(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str:
        answers = [(each.holds(event, payload, scene), each) for each in self.conditions]
        # A sure one first, as for the answer itself.
        answers.sort(key=lambda found: isinstance(found[0], Doubt))
        for answer, condition in answers:
            if answer:
                return why(condition, event, payload, scene)
        sentences = "; ".join(why(each, event, payload, scene) for each in self.conditions)
        return sentences or "any() of nothing never holds"


def covers(condition: Condition, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:
    """Whether it holds for all of the payload beyond doubt: what a permission needs."""
    strict = cast("Any", getattr(condition, "covers", None))
    return condition.holds(event, payload, scene) is True if strict is None else strict(event, payload, scene)


def why(condition: Condition, event: EventSpec[Any], payload: Any, scene: Scene) -> str:
    if hasattr(condition, "why"):
        return cast("Explainable", condition).why(event, payload, scene)
    answer = condition.holds(event, payload, scene)
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
    scene: Scene,
) -> Explanation:
    """The first thing that kept the hook from being chosen, else all that let it."""
    reasons: list[str] = []
    answer: Answer = True
    if matcher is not None:
        if subject is None:
            return Explanation(False, f'matcher "{matcher.text}" has nothing to test at {event.name}')
        reasons.append(explain_matcher(matcher, subject))
        if not matcher.matches(subject):
            return Explanation(False, reasons[0])
    if condition is not None:
        reasons.append(why(condition, event, payload, scene))
        answer = condition.holds(event, payload, scene)
        if not answer:
            return Explanation(False, reasons[-1])
    words = "; ".join(reasons) or "it has no matcher and no condition"
    return Explanation(True, words, isinstance(answer, Doubt))


def explain_matcher(matcher: Matcher, subject: str) -> str:
    reason = cast("Any", getattr(matcher, "why", None))
    if reason is not None:
        return reason(subject)
    verdict = "matches" if matcher.matches(subject) else "does not match"
    return f'matcher "{matcher.text}" {verdict} "{subject}"'
