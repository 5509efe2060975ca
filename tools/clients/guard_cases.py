"""One native guard in each client: it denies, rewrites, adds context, and closes when it or Hookline breaks."""

import json
from collections.abc import Callable, Iterator

from tools.clients.case import MAIN, Case, Scripts
from tools.clients.client import CLIENTS, Client
from tools.clients.model_server import Model
from tools.clients.scene import REASON, Hooked, Scene

_CONTEXT = "the deploy key is in the vault"


def cases() -> Iterator[Case]:
    for client in CLIENTS:
        yield from _of(client)


def _of(client: Client) -> Iterator[Case]:
    def case(
        name: str,
        expected: str,
        prepare: Callable[[Scene], None] = lambda _scene: None,
        verdict: Callable[[Scene, Model], str] | None = None,
        *,
        forbidden: bool = True,
        hooked: Hooked = "installed",
    ) -> Case:
        """What the model does is the same in all of them: it makes a file."""

        def script(scene: Scene) -> Scripts:
            prepare(scene)
            mark = scene.mark() if forbidden else scene.marks / "harmless"
            return {MAIN: [client.shell(f"touch {mark}")]}

        def ran(scene: Scene) -> bool:
            return scene.mark().exists() or (scene.marks / "harmless").exists()

        title = f"{client.name}: {name}"
        return Case(
            name=title,
            expected=expected,
            client=client,
            script=script,
            ran=ran,
            verdict=verdict or _judged,
            hooked=hooked,
        )

    yield case("a harmless call", "ran", forbidden=False)
    yield case("a guard denies", "denied", verdict=_denied_with(REASON))
    yield case(
        "a guard denies, with printed entries", "denied", verdict=_denied_with(REASON), hooked="printed"
    )
    yield case("a guard rewrites", "rewritten", _rewrites, _was_rewritten)
    yield case("a hook adds context to the prompt", "told", _adds("UserPromptSubmit"), _was_told)
    yield case("a hook adds context to a result", "told", _adds("PostToolUse"), _was_told, forbidden=False)
    yield case(
        "a guard crashes",
        "denied",
        lambda scene: scene.add_hook("PreToolUse", "kill -9 $$"),
        forbidden=False,
    )
    yield case(
        "a guard cannot be started",
        "denied",
        lambda scene: scene.add_hook("PreToolUse", "no-such-program"),
        forbidden=False,
    )
    gone = _denied_with("hookline could not be run")
    for how, instead in {"is gone": "", "cannot start": "exit 1", "is killed": "kill -9 $$"}.items():
        yield case(f"hookline {how}", "denied", _loses(instead, client.before_tool), gone, forbidden=False)
    yield case(
        "hookline is gone when a prompt comes", "not asked", _loses("", client.prompted), _was_not_asked
    )


def _loses(instead: str, event: str) -> Callable[[Scene], None]:
    """Hookline is an entry at one event alone, and what is run is not Hookline."""

    def prepare(scene: Scene) -> None:
        scene.install(event)
        scene.lose_hookline(instead)

    return prepare


def _was_not_asked(_scene: Scene, model: Model) -> str:
    return "asked" if model.asked else "not asked"


def _judged(scene: Scene, model: Model) -> str:
    last = model.last_result
    if any(scene.marks.glob("forbidden-*")) or (scene.marks / "harmless").exists():
        return "ran"
    return "denied" if last is not None and last.is_error else "no effect"


def _denied_with(words: str) -> Callable[[Scene, Model], str]:
    def verdict(scene: Scene, model: Model) -> str:
        seen, last = _judged(scene, model), model.last_result
        if seen == "denied" and last is not None and words not in last.text:
            return f"denied with {last.text[:100]!r}"
        return seen

    return verdict


def _rewrites(scene: Scene) -> None:
    answer = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": {"command": f"touch {scene.marks}/rewritten"},
        }
    }
    scene.add_hook("PreToolUse", f"echo '{json.dumps(answer)}'", rewrites=True)


def _was_rewritten(scene: Scene, model: Model) -> str:
    done = (scene.marks / "rewritten").exists()
    return "rewritten" if done and not scene.mark().exists() else _judged(scene, model)


def _adds(event: str) -> Callable[[Scene], None]:
    answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": _CONTEXT}}
    return lambda scene: scene.add_hook(event, f"echo '{json.dumps(answer)}'")


def _was_told(_scene: Scene, model: Model) -> str:
    heard = (*model.told, *(result.text for result in model.results.values()))
    return "told" if any(_CONTEXT in text for text in heard) else "not told"
