"""Play the exec guard in the real Claude Code: its shell, chosen by `install --exec-guard`.

The client judges and shows the command as the model wrote it, and starts our shell after that. Measured as in
`speed_cases`: sessions with and without the guard take turns.
"""

import json
import statistics
from collections.abc import Callable, Iterator, Mapping

from tools.clients.agents.claude_code import CLAUDE_CODE
from tools.clients.case import MAIN, Case, Scripts
from tools.clients.model_server import Model
from tools.clients.protocols.protocol import call
from tools.clients.scene import Scene
from tools.clients.speed_cases import say, session

#: How much longer a guarded call may take than one without.
BOUND = 1.3
_ROUNDS = 8
_RULES: Mapping[str, object] = {"deny": ["Bash(rm *)"], "ask": ["Bash(mkdir *)"]}
#: A program that starts `rm`, in which no text shows it.
_CLEANER = """#include <unistd.h>
int main(void) {
    char name[] = "qm", *words[] = {name, "-f", "kept", 0};
    name[0]++;
    execvp(name, words);
    return 3;
}
"""
_BUILD = "cc -o cleaner cleaner.c"


def cases() -> Iterator[Case]:
    yield _case("a compiled rm is denied", "denied", "./cleaner")
    yield _case("in the background too", "denied", "./cleaner", background=True)
    yield _case("without the guard it runs", "ran", "./cleaner", guarded=False)
    yield _case("the model and the user see the original command", "as written", "echo original")
    yield _case("a rule of the user's still judges the line", "refused before", "rm -f kept")
    yield _case("a hook and an MCP server are not started by our shell", "plain", "true")
    yield Case(
        name="exec guard: latency of a guarded call", expected="within the bound", hooked="", guarded=False,
        script=_timed, decision=lambda _info, _model: _FIGURES.pop(),
    )  # fmt: skip


def _case(name: str, expected: str, line: str, *, background: bool = False, guarded: bool = True) -> Case:
    def script(info: Scene) -> Scripts:
        info.write("kept", "")
        info.write("cleaner.c", _CLEANER)
        info.write(str(info.home / ".claude.json"), json.dumps({"mcpServers": {"own": _server(info)}}))
        _settings(info, guarded=guarded)
        last = call("Bash", command=line, description="a step", run_in_background=background)
        # The last step gives a command in the background the time to end.
        waits = [info.client.shell("sleep 2")] if background else []
        return {MAIN: [info.client.shell(_BUILD), last, *waits]}

    return Case(
        name=f"exec guard: {name}", expected=expected, hooked="", guarded=False, script=script,
        decision=_decided(expected),
    )  # fmt: skip


def _decided(expected: str) -> Callable[[Scene, Model], str]:
    return lambda info, model: _DECISIONS[expected](info, model)  # noqa: PLW0108 the table comes later


def _settings(info: Scene, *, guarded: bool) -> None:
    """Write the user's rules and own hook, and install Hookline with or without the guard."""
    note = f"tr '\\0' ' ' < /proc/$PPID/cmdline >> {info.marks}/hook; echo >> {info.marks}/hook"
    own = {"hooks": [{"type": "command", "command": note}]}
    # The daemon of these scenes is off; the server of the guard belongs to the client, and ends with it.
    settings = {"permissions": _RULES, "env": {"HOOKLINE_DAEMON": "on"}, "hooks": {"PostToolUse": [own]}}
    info.write(str(info.settings), json.dumps(settings))
    if guarded:
        info.hookline("install", info.client.name, "--yes", "--exec-guard", "--events", "PreToolUse")
        if "hookline-bash" not in info.settings.read_text():
            raise RuntimeError("the shell was not installed")


def _server(info: Scene) -> Mapping[str, object]:
    """An MCP server that notes who has started it, and ends."""
    return {"command": "sh", "args": ["-c", f"echo started-by-$PPID > {info.marks}/server"]}


def _denied(info: Scene, model: Model) -> str:
    if not (info.project / "kept").exists():
        return "the file is gone"
    texts = [result.text for result in model.results.values()]
    texts += [file.read_text() for file in info.marks.parent.rglob("tasks/*.output")]
    said = any("denied by the rule Bash(rm *)" in text for text in texts)
    return "denied" if said else f"no reason: {texts[1:]}"


def _ran(info: Scene, _model: Model) -> str:
    return "denied" if (info.project / "kept").exists() else "ran"


def _as_written(info: Scene, model: Model) -> str:
    last = model.last_result
    if last is None or last.text.strip() != "original":
        return f"another result: {last}"
    lines = [
        line
        for file in (info.home / ".claude" / "projects").rglob("*.jsonl")
        for line in file.read_text().splitlines()
    ]
    commands = [
        part["input"]["command"]
        for entry in map(json.loads, lines)
        if entry.get("type") == "assistant"
        for part in entry["message"]["content"]
        if part.get("type") == "tool_use"
    ]
    return "as written" if commands == [_BUILD, "echo original"] else f"the transcript has {commands}"


def _refused_before(info: Scene, model: Model) -> str:
    last = model.last_result
    text = last.text if last is not None else ""
    return "refused before" if "ermission" in text and (info.project / "kept").exists() else text


def _plain(info: Scene, _model: Model) -> str:
    hook, server = ((info.marks / name).read_text() for name in ("hook", "server"))
    return "guarded" if "hookline" in hook or "started-by-" not in server else "plain"


_DECISIONS = {
    "denied": _denied,
    "ran": _ran,
    "as written": _as_written,
    "refused before": _refused_before,
    "plain": _plain,
}
_FIGURES: list[str] = []


def _timed(info: Scene) -> Scripts:
    """Measure a plain call with and without the guard, and without any hook."""
    taken: dict[bool, list[float]] = {True: [], False: []}
    for number in range(_ROUNDS):
        for guarded in (True, False) if number % 2 else (False, True):
            info.hookline("uninstall", info.client.name, "--yes")
            _settings(info, guarded=guarded)
            settings = json.loads(info.settings.read_text())
            del settings["hooks"]
            info.write(str(info.settings), json.dumps(settings))
            taken[guarded] += session(info)
        medians = [1000 * statistics.median(taken[guarded]) for guarded in (True, False)]
        say(f"round {number + 1} of {_ROUNDS}: guarded {medians[0]:.1f} ms, without {medians[1]:.1f} ms")
    ratio = statistics.median(taken[True]) / statistics.median(taken[False])
    say(f"a guarded call takes {ratio:.2f}x one without (at most {BOUND}x)")
    _FIGURES.append("within the bound" if ratio <= BOUND else f"{ratio:.2f}x")
    return {MAIN: [CLAUDE_CODE.shell("true")]}
