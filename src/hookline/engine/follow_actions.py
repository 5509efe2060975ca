"""Ask hooks about files also about files that a call touches in another way: by a shell line, a patch, a notebook.
Calls of undeclared tools, as those of MCP servers, are read by the names of their arguments: files, lines, addresses.
Text that is typed into a running shell is a line of it.

A hook that matches the call itself was asked about it. Any other one with `actions = "all"` gets each matching
action in the terms of its own agent, as if a tool for files had been called.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.actions.action import BY_NAMES, Action, PathContext
from hookline.actions.by_names import may_do
from hookline.actions.translate import ReadCall, TranslatedAction, Way
from hookline.engine.translate_calls import HookInput, TranslatedCall, translated_view
from hookline.guards.file_actions import (
    MOST_FILES,
    file_actions,
    files_below,
    one_file_per_directory,
    typed_lines,
)
from hookline.matching.rule_index import may_mean
from hookline.matching.tool_rules import has_argument, only_about_lines
from hookline.model.events import EventSpec
from hookline.model.hook import Doubt, Hook
from hookline.model.safe_text import one_line

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable
    from hookline.config.engine import Engine
    from hookline.engine.prepared_hook import PreparedHook
    from hookline.engine.translate_calls import TranslationCache

#: A hook gets at most as many actions of one call: each may be a process.
_MOST_ASKED = 50
_LONGEST_SHOWN = 80


def followed_call(
    prepared: "PreparedHook", event: EventSpec[Any], payload: Any, last: "TranslationCache", engine: "Engine"
) -> TranslatedCall | None:
    """Return the actions that the hook is to be asked about; None if the call does nothing that it is about.

    Raises what the hook's matcher or condition raises.
    """
    hook, call = prepared.hook, last.call
    target: ToolTable | None = getattr(hook.wire, "tools", None)
    # What calls of declared tools do beside what they say, they do to files, or they type it into a shell.
    if target is None or (
        hook.condition is not None
        and only_about_lines(hook.condition)
        and not call.is_undeclared
        and not typed_lines(call.actions)
    ):
        return None
    # A function knows the tools of its program, too.
    targets = (target, call.table) if hook.as_called else (target,)
    found: list[HookInput] = []
    for action in followed_actions(last, event, engine):
        if action.irreversible == BY_NAMES and not _may_be_asked_by_names(hook):
            continue
        ways = (
            (_first_held(hook, event, last.followed_ways(action, one), one, last), one) for one in targets
        )
        held, target = next((each for each in ways if each[0] is not None), (None, target))
        if held is None:
            continue
        found += _samples(held, hook, target, last)
        if len(found) >= _MOST_ASKED:
            if event.guard:
                doubt = f"it touches more than {_MOST_ASKED} files that the hook is about"
                found.append(replace(held, view=_in_doubt(held.view, doubt)))
            break
        found.append(held)
    # No number of answers is about the whole call.
    return TranslatedCall(payload, call, tuple(found), len(found) + 1) if found else None


def _may_be_asked_by_names(hook: Hook) -> bool:
    """Return True if a hook is asked about undeclared tools: a rule about a tool as a whole is about that one alone."""
    if hook.in_doubt == "pass":
        return False
    return hook.kind != "builtin" or (hook.condition is not None and has_argument(hook.condition))


def _in_doubt(view: TranslatedAction, doubt: str) -> TranslatedAction:
    return replace(view, action=replace(view.action, doubt=doubt), translated=None)


def followed_actions(last: "TranslationCache", event: EventSpec[Any], engine: "Engine") -> tuple[Action, ...]:
    """Return what the call does to files: by its own tool, by a line or code, and by undeclared arguments."""
    known = last.followed
    if known is None:
        call, context = last.call, last.call.path_context
        own = [
            replace(action, implied=True)
            for action in call.actions
            if action.kind is not None and action.paths
        ]
        more = _by_arguments(call) if event.guard and call.is_undeclared else ()
        reader = engine.home.tables()[1]
        typed = typed_lines(call.actions) if event.guard else ()
        lines = file_actions((*call.actions, *typed, *more), context, reader)
        found = (*own, *typed, *lines, *more)
        # After the call a file that was deleted is of no use to hooks that format or check what was written.
        known = last.followed = tuple(
            each for each in found if event.guard or each.kind is None or each.kind.name != "delete"
        )
    return known


def _by_arguments(call: ReadCall) -> tuple[Action, ...]:
    """Return what an undeclared tool may do, by the names of its arguments."""
    found = [action for action in may_do(call.tool_name, call.arguments) if not action.guess]
    return tuple(
        replace(
            action,
            arguments=_whole(action, call.path_context),
            implied=True,
            irreversible=action.doubt,
            doubt="",
            because=f"{call.tool_name} may {_verb(action)} {_object(action)}",
        )
        for action in found[:MOST_FILES]
    )


def _whole(action: Action, context: PathContext) -> dict[str, Any]:
    paths = action.kind.paths if action.kind is not None else ()
    return {
        name: context.path(value) if name in paths and isinstance(value, str) else value
        for name, value in action.arguments.items()
    }


def _verb(action: Action) -> str:
    kind = action.kind
    return "touch" if kind is None else kind.access or ("fetch" if kind.name == "fetch" else "run")


def _object(action: Action) -> str:
    shown = next(iter(action.paths), action.line or str(action.arguments.get("url") or "something"))
    return one_line(shown, _LONGEST_SHOWN)


def _first_held(
    hook: Hook, event: EventSpec[Any], ways: tuple[Way, ...], target: "ToolTable", last: "TranslationCache"
) -> HookInput | None:
    """Return the first translation of an action that the hook matches."""
    for view in (view for way in ways for view in way):
        names = (view.tool_name, *view.also)
        if view.action.kind is None or not (hook.matcher is None or any(map(hook.matcher.matches, names))):
            continue
        if hook.condition is not None and not may_mean(
            hook.condition, view.tool_name, last.call.tool_name, beside=bool(view.action.because)
        ):
            continue
        for path in _paths(view, hook):
            one = view if path is None else _about(view, path)
            shown = translated_view(one, last.call, target, last.payload, last.info)
            by_names = view.action.irreversible if view.action.irreversible == BY_NAMES else ""
            answer = hook.condition is None or hook.condition.holds(event, shown.payload, shown.info)
            if isinstance(answer, Doubt) and hook.in_doubt != "pass":
                return replace(shown, doubt=answer.text)
            if answer is True:
                return replace(shown, doubt=by_names)
    return None


def _paths(view: TranslatedAction, hook: Hook) -> Iterator[str | None]:
    """Yield None for the action itself; for a directory with everything in it also the files below."""
    yield None
    directory = view.action.arguments.get("file_path")
    if hook.condition is not None and view.action.extra.get("below") and isinstance(directory, str):
        yield from files_below(directory)


def _samples(
    held: HookInput, hook: Hook, target: "ToolTable", last: "TranslationCache"
) -> Iterator[HookInput]:
    """Yield a file of each directory that is changed as a whole: a hook without a condition decides by the path."""
    action, directory = held.view.action, held.view.action.arguments.get("file_path")
    changes = action.kind is not None and action.kind.access == "write"
    if hook.condition is None and changes and action.extra.get("below") and isinstance(directory, str):
        for path in one_file_per_directory(directory):
            yield translated_view(_about(held.view, path), last.call, target, last.payload, last.info)


def _about(view: TranslatedAction, path: str) -> TranslatedAction:
    """Return the same action on one file of its directory."""
    arguments = {**(view.similar or view.action).arguments, "file_path": path}
    if view.similar is not None:
        return replace(view, similar=replace(view.similar, arguments=arguments), translated=None)
    return replace(view, action=replace(view.action, arguments=arguments), translated=None)
