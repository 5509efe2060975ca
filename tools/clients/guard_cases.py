"""One native guard in each client: it denies, rewrites, adds context, and closes when it or Hookline breaks."""

import json
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from tools.clients.agents import CLIENTS
from tools.clients.case import MAIN, Case, Scripts
from tools.clients.client import Client
from tools.clients.model_server import Model
from tools.clients.scene import REASON, Hooked, Scene

QUESTION = "is the deploy window open?"
_CONTEXT = "the deploy key is in the vault"


def cases() -> Iterator[Case]:
    for client in CLIENTS:
        yield from _of(client)
        if client.ends:
            yield Case(
                name=f"{client.name}: its Python is gone when the turn ends", expected="ended", client=client,
                script=_without_python, decision=_has_ended, hooked="",
            )  # fmt: skip


def _of(client: Client) -> Iterator[Case]:
    def case(
        name: str,
        expected: str,
        prepare: Callable[[Scene], None] = lambda _info: None,
        decision: Callable[[Scene, Model], str] | None = None,
        *,
        forbidden: bool = True,
        hooked: Hooked = "installed",
        background: bool = False,
    ) -> Case:
        """Make a case; in each of them the model makes a file."""

        def script(info: Scene) -> Scripts:
            prepare(info)
            mark = info.mark() if forbidden else info.marks / "harmless"
            first = client.shell(f"touch {mark}")
            if not background:
                return {MAIN: [first]}
            # A last step gives a command in the background the time to end.
            waits = [] if forbidden else [client.shell("sleep 2")]
            return {MAIN: [replace(first, given={**first.given, **client.background}), *waits]}

        def ran(info: Scene) -> bool:
            return info.mark().exists() or (info.marks / "harmless").exists()

        title = f"{client.name}: {name}"
        return Case(
            name=title,
            expected=expected,
            client=client,
            script=script,
            ran=ran,
            decision=decision or judged,
            hooked=hooked,
        )

    yield case("a harmless call", "ran", forbidden=False)
    yield case("a guard denies", "denied", decision=denied_with(REASON))
    if client.background:
        yield case("a harmless call in the background", "ran", forbidden=False, background=True)
        yield case(
            "a guard denies in the background", "denied", decision=denied_with(REASON), background=True
        )
    if client.printed:
        denied = denied_with(REASON)
        yield case("a guard denies, with printed entries", "denied", decision=denied, hooked="printed")
    yield case("a guard rewrites", "rewritten" if client.rewrites else "denied", rewrites, was_rewritten)
    yield case(
        "a guard asks, and nobody is there", client.asked, asks, denied_with(QUESTION), forbidden=False
    )
    if client.prompt_context:
        prompted = _adds("UserPromptSubmit")
        yield case("a hook adds context to the prompt", "received", prompted, _was_received, forbidden=False)
    if client.result_context:
        used = _adds("PostToolUse")
        yield case("a hook adds context to a result", "received", used, _was_received, forbidden=False)
    yield case(
        "a guard crashes",
        "denied",
        lambda info: info.add_hook("PreToolUse", "kill -9 $$"),
        forbidden=False,
    )
    yield case(
        "a guard cannot be started",
        "denied",
        lambda info: info.add_hook("PreToolUse", "no-such-program"),
        forbidden=False,
    )
    missing, broken = denied_with("Hookline is not installed"), denied_with("hookline could not be run")
    yield case("hookline is gone", "denied", _loses("", client.before_tool), missing, forbidden=False)
    yield case(
        "hookline cannot start", "denied", _loses("exit 1", client.before_tool), broken, forbidden=False
    )
    # The shell says first that a program was killed.
    words = broken if client.whole_reasons else judged
    yield case(
        "hookline is killed", "denied", _loses("kill -9 $$", client.before_tool), words, forbidden=False
    )
    yield case(
        "hookline is gone, and calls may pass",
        "ran",
        _loses("", client.before_tool, "allow"),
        forbidden=False,
    )
    if client.gates_prompts:
        lost = _loses("", client.prompted, "block", client.starts)
        yield case("hookline is gone when a prompt comes", "not asked", lost, _was_not_asked)


def _loses(instead: str, event: str, if_missing: str = "block", *others: str) -> Callable[[Scene], None]:
    """Write an entry at these events alone that runs another program than Hookline."""

    def prepare(info: Scene) -> None:
        info.install(event, *others, if_missing=if_missing)
        info.lose_hookline(instead)

    return prepare


def _without_python(info: Scene) -> Scripts:
    info.install(info.client.ends)
    info.lose_python()
    return {MAIN: [info.client.shell("true")]}


def _has_ended(_info: Scene, model: Model) -> str:
    """A block at the end of a turn starts another one, with the reason."""
    return "went on" if any("hookline-relay: " in text for text in model.received) else "ended"


def _was_not_asked(info: Scene, model: Model) -> str:
    """The user must read why: the model reads nothing."""
    if model.asked:
        return "asked"
    return (
        "not asked"
        if "Hookline is not installed" in info.said or not info.client.shows_refusals
        else info.said[-300:]
    )


def judged(info: Scene, model: Model) -> str:
    last = model.last_result
    if any(info.marks.glob("forbidden-*")) or (info.marks / "harmless").exists():
        return "ran"
    return "denied" if last is not None and last.is_error else "no effect"


def denied_with(words: str) -> Callable[[Scene, Model], str]:
    def decision(info: Scene, model: Model) -> str:
        seen, last = judged(info, model), model.last_result
        if seen == "denied" and last is not None and words not in last.text:
            return f"denied with {last.text[:100]!r}"
        return seen

    return decision


def rewrites(info: Scene) -> None:
    answer = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": {"command": f"touch {info.marks}/rewritten"},
        }
    }
    info.add_hook("PreToolUse", f"echo '{json.dumps(answer)}'", rewrites=True)


def asks(info: Scene) -> None:
    answer = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "ask",
            "permissionDecisionReason": QUESTION,
        }
    }
    info.add_hook("PreToolUse", f"echo '{json.dumps(answer)}'")


def was_rewritten(info: Scene, model: Model) -> str:
    done = (info.marks / "rewritten").exists()
    return "rewritten" if done and not info.mark().exists() else judged(info, model)


def _adds(event: str) -> Callable[[Scene], None]:
    answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": _CONTEXT}}
    return lambda info: info.add_hook(event, f"echo '{json.dumps(answer)}'")


def _was_received(_info: Scene, model: Model) -> str:
    heard = (*model.received, *(result.text for result in model.results.values()))
    return "received" if any(_CONTEXT in text for text in heard) else "not received"
