"""Apply permission updates that hooks return, as far as a hook may change permissions."""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from hookline.actions.kinds import rule_argument
from hookline.matching.patterns import LONGEST_PATTERN
from hookline.model.outcome import PermissionUpdate
from hookline.model.safe_text import one_line
from hookline.permissions.facts import Category, category_of
from hookline.permissions.modes import mode_of
from hookline.permissions.rules import BEHAVIORS, Behavior, PermissionRule

if TYPE_CHECKING:
    from hookline.permissions.state import Permissions


#: The only event whose hooks may change permissions.
UPDATING_EVENT = "PermissionRequest"
#: The most rules or directories that one session takes from hooks. More is generated or hostile, and each
#: rule costs every call.
MOST_FROM_HOOKS = 500

#: Categories of tools that a hook may allow without an argument. The effect of a tool without a category is
#: unknown.
_HARMLESS_AS_A_WHOLE: frozenset[Category] = frozenset({"read", "mcp", "agent"})
_BRACES = re.compile(r"\{([^{}]*)\}")
#: An unclosed class matches nothing specific, either.
_CLASS = re.compile(r"\[[^\]]*+(?:\]|\Z)")
_LITERAL = re.compile(r"\w")
_PROGRAM = re.compile(r"[^\s*:]+(?:\s|:\*$|$)")

What = Literal["mode", "rules", "directories", "nothing"]


class Applied(Struct, frozen=True):
    """The result of an update. `ok` is false when any part of it was refused."""

    ok: bool
    #: For readers of the journal: what was refused, and what else to know.
    why: str = ""
    what: What = "nothing"
    #: The change: rules, directories, or the current mode.
    taken: tuple[str, ...] = ()


def apply_update(permissions: "Permissions", update: PermissionUpdate, event_name: str, hook: str) -> Applied:
    """Apply a hook's update, as far as a hook may. Never raises; the result says what was refused."""
    if event_name != UPDATING_EVENT:
        return _refused(f"only hooks of {UPDATING_EVENT} change permissions, not those of {event_name}")
    change = _CHANGES.get(update.type)
    if change is None:
        return _refused(f"{_shown(update.type)!r} is not a kind of permission update")
    return change(permissions, update, f"hook {_shown(hook or update.by or 'without a name')}")


def _set_mode(permissions: "Permissions", update: PermissionUpdate, _source: str) -> Applied:
    known = mode_of(update.mode or "")
    if known is None:
        return _refused(f"no permission mode is called {_shown(update.mode or '')!r}")
    if known == "bypass":
        return _refused("a hook may not switch permissions off")
    permissions.set_mode(known)
    held = "" if permissions.mode == known else f"the mode above it still holds: {permissions.mode}"
    return _outcome("mode", (permissions.mode,), (), (held, _destination(update)))


def _add_rules(permissions: "Permissions", update: PermissionUpdate, source: str) -> Applied:
    behavior = _behavior(update)
    if behavior is None:
        return _refused(f"{_shown(update.behavior or '')!r} is not a behaviour of a rule")
    taken: list[str] = []
    problems: list[str] = []
    for item in update.rules:
        if len(permissions.hook_rules) >= MOST_FROM_HOOKS:
            problems.append(f"this session has {MOST_FROM_HOOKS} rules of hooks and takes no more")
            break
        rule, problem = _wanted_rule(permissions, behavior, item, source)
        problems.extend([problem] if problem else [])
        if rule is not None:
            permissions.take_from_hook(rule)
            taken.append(rule.text)
    if not update.rules:
        problems.append("it holds no rules")
    return _outcome("rules", taken, problems, (_destination(update),))


def _replace_rules(permissions: "Permissions", update: PermissionUpdate, source: str) -> Applied:
    """Replace only rules that hooks added: the rules of the user stay."""
    behavior = _behavior(update)
    if behavior is not None:
        permissions.hook_rules = permissions.hook_rules.without(permissions.hook_rules.of(behavior))
        if not update.rules:
            return Applied(ok=True, why=_destination(update), what="rules")
    return _add_rules(permissions, update, source)


def _remove_rules(permissions: "Permissions", update: PermissionUpdate, _source: str) -> Applied:
    """Remove a rule: one that allows may always go; one that guards only when a hook added it."""
    behavior = _behavior(update)
    if behavior is None:
        return _refused(f"{_shown(update.behavior or '')!r} is not a behaviour of a rule")
    texts = {text for item in update.rules if (text := rule_text(item)) is not None}
    found = texts & _texts(permissions, behavior)
    added = permissions.hook_rules.of(behavior)
    permissions.hook_rules = permissions.hook_rules.without(rule for rule in added if rule.text in found)
    if behavior == "allow":
        permissions.drop(found)
    gone = found - _texts(permissions, behavior)
    problems = [f"{_shown(text)}: no such rule" for text in sorted(texts - found)]
    problems += [f"{_shown(text)}: a hook may not lift this guard" for text in sorted(found - gone)]
    return _outcome("rules", sorted(gone), problems or ([] if texts else ["it holds no rules"]), ())


def _add_directories(permissions: "Permissions", update: PermissionUpdate, _source: str) -> Applied:
    taken: list[str] = []
    problems: list[str] = []
    for directory in update.directories:
        whole = permissions.whole_directory(directory)
        if len(permissions.directories) >= MOST_FROM_HOOKS:
            problems.append(f"this session has {MOST_FROM_HOOKS} directories and takes no more")
            break
        if whole is None:
            problems.append(f"{_shown(directory)}: it is not clear which directory this is")
        elif _holds_everything(whole, permissions.reader.home):
            problems.append(f"{_shown(directory)}: a hook may not open all of a home or a disk")
        else:
            permissions.add_directory(whole)
            taken.append(whole)
    if not update.directories:
        problems.append("it names no directory")
    return _outcome("directories", taken, problems, (_destination(update),))


def _remove_directories(permissions: "Permissions", update: PermissionUpdate, _source: str) -> Applied:
    gone = permissions.remove_directories(update.directories)
    problems = () if gone else ("none of these directories was added to this session",)
    return _outcome("directories", gone, problems, ())


_CHANGES: Mapping[str, Callable[["Permissions", PermissionUpdate, str], Applied]] = MappingProxyType(
    {
        "setMode": _set_mode,
        "addRules": _add_rules,
        "replaceRules": _replace_rules,
        "removeRules": _remove_rules,
        "addDirectories": _add_directories,
        "removeDirectories": _remove_directories,
    }
)


def rule_text(item: Mapping[str, Any]) -> str | None:
    """Return the text of one item: a tool with its argument in brackets, or a whole rule; None for anything else."""
    tool, content = item.get("toolName"), item.get("ruleContent")
    if not isinstance(tool, str | None) or not isinstance(content, str | None):
        return None
    if tool and content:
        return None if "(" in tool else f"{tool.strip()}({content})"
    return (tool or content or "").strip() or None


def _wanted_rule(
    permissions: "Permissions", behavior: Behavior, item: Mapping[str, Any], source: str
) -> tuple[PermissionRule | None, str | None]:
    text = rule_text(item)
    if text is None:
        return None, "an item names no tool and no rule"
    wide = too_wide(text, permissions.categories) if behavior == "allow" else None
    if wide:
        return None, f"{_shown(text)}: a hook may not allow this: {wide}"
    return permissions.hook_rules.read(behavior, text, source)


def _behavior(update: PermissionUpdate) -> Behavior | None:
    """Return the behaviour: allow if it is missing, None if it is unknown."""
    given = update.behavior or "allow"
    return next((known for known in BEHAVIORS if known == given), None)


def _texts(permissions: "Permissions", behavior: Behavior) -> set[str]:
    granted = permissions.grants.allow if behavior == "allow" else ()
    return {rule.text for rule in (*permissions.rules.of(behavior), *granted)}


def _holds_everything(directory: str, home: str) -> bool:
    return directory == "/" or (posixpath.join(home, "") if home else "/").startswith(directory + "/")


def _destination(update: PermissionUpdate) -> str:
    if update.destination in {None, "", "session"}:
        return ""
    return f"it holds for this session; nothing was written to {_shown(update.destination or '')}"


def _shown(text: str) -> str:
    return one_line(text, 120)


def _refused(why: str) -> Applied:
    return Applied(ok=False, why=why)


def _outcome(what: What, taken: Iterable[str], problems: Iterable[str], notes: Iterable[str]) -> Applied:
    changed, wrong = tuple(taken), tuple(problems)
    texts = (*wrong, *(notes if changed else ()))
    return Applied(not wrong, "; ".join(filter(None, texts)), what if changed else "nothing", changed)


# Rules so wide that a hook may not add them: they have to be written into the settings


def too_wide(text: str, categories: Mapping[str, Category] | None = None) -> str | None:
    """Return why a hook may not allow this; None when it may."""
    if len(text) > LONGEST_PATTERN:
        return "it is too long to be a rule"
    tool, _bracket, inside = text.strip().partition("(")
    tool = tool.rstrip()
    argument = inside.removesuffix(")").strip()
    if "*" in tool or not tool:
        return "it is about more than one tool"
    if tool.startswith("mcp__") and tool.count("__") < 2:
        return "it is about every tool of a server"
    category = category_of(tool, categories)
    if category == "read":
        return None
    if argument in {"", "*"}:
        return None if category in _HARMLESS_AS_A_WHOLE else f"it is about everything {tool} can do"
    return _wide_argument(tool, argument)


def _wide_argument(tool: str, argument: str) -> str | None:
    kind = rule_argument(tool)
    if kind in {"shell", "powershell"}:
        return None if _PROGRAM.match(argument) else "it does not name the program"
    if kind == "web" and argument.startswith("domain:"):
        host = argument.removeprefix("domain:").strip().removeprefix("*.")
        return None if "." in host and "*" not in host else "it does not name the host"
    if kind == "web":
        argument = argument.partition("://")[2]
    return None if _LITERAL.search(_weakest(argument)) else "it is about everything"


def _weakest(pattern: str) -> str:
    """Replace each group of alternatives in a pattern by the least specific one, and drop wildcards."""
    before = ""
    while pattern != before:
        before, pattern = pattern, _BRACES.sub(_least_specific, pattern)
    return _CLASS.sub("", pattern)


def _least_specific(group: re.Match[str]) -> str:
    return min(group[1].split(","), key=lambda one: len(_LITERAL.findall(_CLASS.sub("", one))))
