"""`hookline install` and `uninstall` around what users have in the files of their agents.

The user's own hook runs before every tool call. It must run while Hookline is installed and after it is uninstalled;
and then the files are what they would be without Hookline, also if the client has changed them.
"""

import json
from collections.abc import Callable, Iterator

from hookline.dialects.registry import dialect_named
from tools.clients.agents import CLIENTS
from tools.clients.agents.codex import CODEX
from tools.clients.case import MAIN, Case, Scripts
from tools.clients.client import Client
from tools.clients.model_server import Model
from tools.clients.scene import Scene

_MARKET = '{"name": "market", "owner": {"name": "nobody"}, "plugins": []}'


def cases() -> Iterator[Case]:
    for client in CLIENTS:
        yield _case(client, "own hook, installed", "fired, denied", _installed, forbidden=True)
        yield _case(client, "own hook, uninstalled", "fired, ran", _uninstalled)
        if getattr(dialect_named(client.name), "own_plugin", None) is not None:
            yield _case(client, "own hook, a plugin", "fired, denied", _plugin, forbidden=True)
            yield _case(client, "own hook, a plugin uninstalled", "fired, ran", _plugin_uninstalled)
        if client.edit:
            yield _case(client, "the client edits its files in between", "fired, ran", _edited)
    yield _case(CODEX, "own hook behind ours, uninstalled", "fired, fired behind, ran", _behind)


def _case(
    client: Client, name: str, expected: str, prepare: Callable[[Scene], str], *, forbidden: bool = False
) -> Case:
    problems: list[str] = []

    def script(info: Scene) -> Scripts:
        text = client.own.format(mark=info.marks / "own", url=info.url)
        info.write(str(info.settings), text)
        info.write("market/.claude-plugin/marketplace.json", _MARKET)
        if client is CODEX:
            _trust_own(info)
        problems[:] = [said for said in [prepare(info)] if said]
        (info.marks / "own").unlink(missing_ok=True)
        mark = info.mark() if forbidden else info.marks / "harmless"
        return {MAIN: [client.shell(f"touch {mark}")]}

    def decision(info: Scene, model: Model) -> str:
        made = {each.name for each in info.marks.iterdir()}
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
        name=f"install, {client.name}: {name}", expected=expected, client=client, script=script, decision=decision,
        hooked="",
    )  # fmt: skip


def _trust_own(info: Scene) -> None:
    entries = json.loads(info.settings.read_text())
    for name, text in info.client.trust(str(info.settings), entries).items():
        info.write(str(info.home / name), f"# mine\n{text}")


def _installed(info: Scene) -> str:
    info.install()
    return ""


def _plugin(info: Scene) -> str:
    info.hookline("install", info.client.name, "--as-plugin", "--yes")
    return ""


def _plugin_uninstalled(info: Scene) -> str:
    return _uninstalled(info, _plugin)


def _uninstalled(info: Scene, install: Callable[[Scene], str] = _installed) -> str:
    before = _home(info)
    install(info)
    if _home(info) == before:
        return "nothing was installed"
    info.hookline("uninstall", info.client.name, "--yes")
    return _difference(before, _home(info))


def _edited(info: Scene) -> str:
    """Let the client rewrite its files with Hookline in them, and without; a session is between the two."""
    before = _files(info)
    _edit(info)
    wanted = _files(info)
    if wanted == before:
        return "the client changed nothing"
    for name in wanted:
        (info.home / name).unlink()
    for name, content in before.items():
        (info.home / name).write_bytes(content)
    info.install()
    _edit(info)
    _session(info)
    info.hookline("uninstall", info.client.name, "--yes")
    return _difference(wanted, _files(info))


def _behind(info: Scene) -> str:
    """Let the user add a hook after ours and trust it; its position changes when ours is gone."""
    info.install()
    file, config = info.settings, info.home / ".codex/config.toml"
    entries = json.loads(file.read_text())
    group = {"hooks": [{"type": "command", "command": f"touch {info.marks}/behind"}]}
    entries["hooks"]["PreToolUse"].append(group)
    file.write_text(json.dumps(entries))
    (text,) = info.client.trust(str(file), entries).values()
    config.write_text(text)
    info.hookline("uninstall", info.client.name, "--yes")
    return ""


def _edit(info: Scene) -> None:
    info.run(*info.client.edit)


def _session(info: Scene) -> None:
    with Model({MAIN: [info.client.shell("true")]}, info.client.protocol, info.port) as model:
        info.run(*info.client.words(MAIN, "default", model.url))


def _files(info: Scene) -> dict[str, bytes]:
    """Return the user's files of the client that mention hooks, and Hookline's files in its directory."""
    client = info.client
    found = [info.home / name for name in (client.settings, *client.others)]
    found += [each for each in info.settings.parent.rglob("hookline/**/*") if each.is_file()]
    return {str(each.relative_to(info.home)): each.read_bytes() for each in found if each.exists()}


def _home(info: Scene) -> dict[str, bytes]:
    """Return everything in the user's home, directories too, except what Hookline itself has there."""
    own = (info.home / ".local", info.home / ".config/hookline")
    found = [each for each in info.home.rglob("*") if not any(each.is_relative_to(one) for one in own)]
    return {str(each.relative_to(info.home)): each.read_bytes() if each.is_file() else b"" for each in found}


def _difference(wanted: dict[str, bytes], found: dict[str, bytes]) -> str:
    names = [name for name in {**wanted, **found} if wanted.get(name) != found.get(name)]
    return "".join(f"{name} is {found.get(name)!r}, not {wanted.get(name)!r}" for name in names)
