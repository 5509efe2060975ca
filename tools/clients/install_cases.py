"""`hookline install` and `uninstall` around what users have in the files of their agents.

The user has a hook of their own, which fires before every tool call. It must do so while Hookline is installed and when
it is gone again; and then the files are what they would be without Hookline, also if the client has changed them.
"""

import json
from collections.abc import Callable, Iterator

from tools.clients.case import MAIN, Case, Scripts
from tools.clients.client import CLIENTS, CODEX, Client
from tools.clients.model_server import Model
from tools.clients.scene import Scene

_MARKET = '{"name": "market", "owner": {"name": "nobody"}, "plugins": []}'


def cases() -> Iterator[Case]:
    for client in CLIENTS:
        yield _case(client, "own hook, installed", "fired, denied", _installed, forbidden=True)
        yield _case(client, "own hook, uninstalled", "fired, ran", _uninstalled)
        yield _case(client, "the client edits its files in between", "fired, ran", _edited)
    yield _case(CODEX, "own hook behind ours, uninstalled", "fired, fired behind, ran", _behind)


def _case(
    client: Client, name: str, expected: str, prepare: Callable[[Scene], str], *, forbidden: bool = False
) -> Case:
    problems: list[str] = []

    def script(scene: Scene) -> Scripts:
        text = client.own.format(mark=scene.marks / "own")
        scene.write(str(scene.settings), text)
        scene.write("market/.claude-plugin/marketplace.json", _MARKET)
        if client is CODEX:
            _trust_own(scene)
        problems[:] = [said for said in [prepare(scene)] if said]
        (scene.marks / "own").unlink(missing_ok=True)
        mark = scene.mark() if forbidden else scene.marks / "harmless"
        return {MAIN: [client.shell(f"touch {mark}")]}

    def verdict(scene: Scene, model: Model) -> str:
        made = {each.name for each in scene.marks.iterdir()}
        last = model.last_result
        ran = any(each.startswith("forbidden") for each in made) or "harmless" in made
        seen = [
            *problems,
            *(["fired"] if "own" in made else ["own hook did not fire"]),
            *(["fired behind"] if "behind" in made else []),
            "ran" if ran else "denied" if last is not None and last.is_error else "no effect",
        ]
        return ", ".join(seen)

    return Case(
        name=f"install, {client.name}: {name}", expected=expected, client=client, script=script, verdict=verdict,
        hooked="",
    )  # fmt: skip


def _trust_own(scene: Scene) -> None:
    entries = json.loads(scene.settings.read_text())
    for name, text in scene.client.trust(str(scene.settings), entries).items():
        scene.write(str(scene.home / name), f"# mine\n{text}")


def _installed(scene: Scene) -> str:
    scene.install()
    return ""


def _uninstalled(scene: Scene) -> str:
    before = _files(scene)
    scene.install()
    if _files(scene) == before:
        return "nothing was installed"
    scene.hookline("uninstall", scene.client.name, "--yes")
    return _difference(before, _files(scene))


def _edited(scene: Scene) -> str:
    """What the client makes of its files with Hookline in them, and without; a session is between the two."""
    before = _files(scene)
    _edit(scene)
    wanted = _files(scene)
    if wanted == before:
        return "the client changed nothing"
    for name in wanted:
        (scene.home / name).unlink()
    for name, content in before.items():
        (scene.home / name).write_bytes(content)
    scene.install()
    _edit(scene)
    _session(scene)
    scene.hookline("uninstall", scene.client.name, "--yes")
    return _difference(wanted, _files(scene))


def _behind(scene: Scene) -> str:
    """The user adds a hook after ours and trusts it; its place changes when ours is gone."""
    scene.install()
    file, config = scene.settings, scene.home / ".codex/config.toml"
    entries = json.loads(file.read_text())
    group = {"hooks": [{"type": "command", "command": f"touch {scene.marks}/behind"}]}
    entries["hooks"]["PreToolUse"].append(group)
    file.write_text(json.dumps(entries))
    (text,) = scene.client.trust(str(file), entries).values()
    config.write_text(text)
    scene.hookline("uninstall", scene.client.name, "--yes")
    return ""


def _edit(scene: Scene) -> None:
    scene.run(*scene.client.edit)


def _session(scene: Scene) -> None:
    with Model({MAIN: [scene.client.shell("true")]}, scene.client.protocol) as model:
        scene.run(*scene.client.words(MAIN, "default", model.url), model=model.url)


def _files(scene: Scene) -> dict[str, bytes]:
    """The user's files of the client that say something about hooks, and those of Hookline in its folder."""
    client = scene.client
    found = [scene.home / name for name in (client.settings, *client.others)]
    found += [each for each in scene.settings.parent.rglob("hookline/**/*") if each.is_file()]
    return {str(each.relative_to(scene.home)): each.read_bytes() for each in found if each.exists()}


def _difference(wanted: dict[str, bytes], found: dict[str, bytes]) -> str:
    names = [name for name in {**wanted, **found} if wanted.get(name) != found.get(name)]
    return "".join(f"{name} is {found.get(name)!r}, not {wanted.get(name)!r}" for name in names)
