"""Convert one file of Claude Code for the other clients: the same actions get the same decisions."""

import json
from collections.abc import Iterator, Sequence

from msgspec import Struct

from tools.clients.agents import CLIENTS
from tools.clients.agents.claude_code import CLAUDE_CODE
from tools.clients.case import MAIN, Case, Scripts
from tools.clients.client import Client
from tools.clients.model_server import Model
from tools.clients.protocols.protocol import Call
from tools.clients.scene import Scene

_FILE = ".claude/settings.json"
#: A script that reads the command, and denies some of them.
_LOOKS = "#!/bin/sh\ncase $(jq -r .tool_input.command) in *{word}*) {then} ;; esac\n"


def _looks(word: str, then: str) -> str:
    return _LOOKS.format(word=word, then=then)


_SCRIPTS = {
    "case.sh": _looks("by-case", "echo no case >&2; exit 2"),
    "silent.sh": _looks("in-silence", "exit 2"),
    "whole.sh": "#!/bin/sh\ncase $(cat) in *by-whole*) echo no whole >&2; exit 2 ;; esac\n",
    "argument.py": """import json, sys

command = json.load(sys.stdin)["tool_input"].get("command", "")
if "by-argument" in command:
    print("no argument", file=sys.stderr)
    sys.exit(2)
""",
    "place.sh": _looks("by-place", "echo no place >&2; exit 2"),
    "fails.sh": _looks("fails-1", "echo broken >&2; exit 1"),
    "odd.sh": _looks("fails-3", "echo broken >&2; exit 3"),
    "slow.sh": _looks("too-slow", "sleep 30; echo late >&2; exit 2"),
    "list.sh": _looks("by-list", "echo no list >&2; exit 2"),
    "regex.sh": _looks("by-regex", "echo no regex >&2; exit 2"),
    "prompt.sh": "#!/bin/sh\ncase $(jq -r .prompt) in *password*) echo no passwords >&2; exit 2 ;; esac\n",
    "tests.sh": "#!/bin/sh\n[ -e {marks}/gated ] || {{ touch {marks}/gated; echo no tests ran >&2; exit 2; }}\n",
    "deny.py": """import json, sys

if "by-answer" in json.load(sys.stdin)["tool_input"].get("command", ""):
    print(json.dumps({{"hookSpecificOutput": {{"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                             "permissionDecisionReason": "no answer"}}}}))
""",
    "rewrite.py": """import json, sys

command = json.load(sys.stdin)["tool_input"].get("command", "")
if "to-rewrite" in command:
    new = command.replace("to-rewrite", "rewritten")
    print(json.dumps({{"hookSpecificOutput": {{"hookEventName": "PreToolUse", "permissionDecision": "allow",
                                             "updatedInput": {{"command": new}}}}}}))
""",
}


def _entry(command: str, **fields: object) -> dict[str, object]:
    return {"type": "command", "command": command, **fields}


def _group(*entries: object, matcher: str | None = None) -> dict[str, object]:
    return {**({} if matcher is None else {"matcher": matcher}), "hooks": list(entries)}


def _answer(event: str, **fields: str) -> str:
    return f"echo '{json.dumps({'hookSpecificOutput': {'hookEventName': event, **fields}})}'"


_HOOKS = {
    "PreToolUse": [
        _group(_entry(".claude/hooks/case.sh"), matcher="Bash"),
        _group(_entry(".claude/hooks/silent.sh"), _entry(".claude/hooks/whole.sh"), matcher="Bash"),
        _group(_entry("python3 .claude/hooks/argument.py", timeout=30), matcher="Bash"),
        _group(_entry('"$CLAUDE_PROJECT_DIR"/.claude/hooks/place.sh'), matcher="Bash"),
        _group(_entry(".claude/hooks/fails.sh"), _entry("sh .claude/hooks/odd.sh"), matcher="Bash"),
        _group(_entry(".claude/hooks/slow.sh", timeout=2), matcher="Bash"),
        _group(_entry(".claude/hooks/list.sh"), matcher="Glob|Bash"),
        _group(_entry(".claude/hooks/regex.sh"), matcher="^Ba.h$"),
        _group(_entry("echo nothing is written here >&2; exit 2"), matcher="Write"),
        _group(_entry("python3 .claude/hooks/deny.py"), matcher="Bash"),
        _group(_entry("python3 .claude/hooks/rewrite.py"), matcher="Bash"),
        _group(
            _entry("echo no condition >&2; exit 2", **{"if": "Bash(touch *by-condition*)"}), matcher="Bash"
        ),
    ],
    "PostToolUse": [
        _group(_entry(_answer("PostToolUse", additionalContext="seen afterwards")), matcher="Bash")
    ],
    "UserPromptSubmit": [
        _group(_entry(".claude/hooks/prompt.sh")),
        _group(_entry("echo the sky is green")),
    ],
    "SessionStart": [_group(_entry("echo the session is young"), matcher="startup|resume")],
    "Stop": [_group(_entry(".claude/hooks/tests.sh"))],
}


class Act(Struct, frozen=True):
    name: str
    expected: str
    #: A file that a shell line makes; "+" before it: that a tool for files writes.
    makes: str = "harmless"
    prompt: str = MAIN
    #: What the model must have read.
    received: str = ""


ACTS: Sequence[Act] = (
    Act("a harmless call", "ran"),
    Act("exit 2 of a script", "denied", makes="by-case"),
    Act("exit 2 of a script that reads an argument", "denied", makes="by-argument"),
    Act("exit 2 without a word", "denied", makes="in-silence"),
    Act("a script that reads the whole payload", "denied", makes="by-whole"),
    Act("a script in the project's directory", "denied", makes="by-place"),
    Act("exit 1", "ran", makes="fails-1"),
    Act("another exit status", "ran", makes="fails-3"),
    Act("a timeout", "ran", makes="too-slow"),
    Act("a list of tools", "denied", makes="by-list"),
    Act("a regular expression", "denied", makes="by-regex"),
    Act("a tool that is not meant", "ran", makes="not-written"),
    Act("a tool that is called otherwise", "denied", makes="+written"),
    Act("a prompt that is refused", "not asked", prompt=f"{MAIN} password"),
    Act("a turn that must go on", "received", received="no tests ran"),
    Act("text at the start", "received", received="the session is young"),
    Act("text beside a prompt", "received", received="the sky is green"),
    Act("a denial in JSON", "denied", makes="by-answer"),
    Act("text beside a result", "received", received="seen afterwards"),
    Act("a rewrite", "rewritten", makes="to-rewrite"),
    Act("a condition", "denied", makes="by-condition"),
)


def cases() -> Iterator[Case]:
    for client in CLIENTS:
        yield from (_case(client, action) for action in ACTS if client.converts)


def _case(client: Client, action: Act) -> Case:
    problems: list[str] = []

    def script(info: Scene) -> Scripts:
        problems[:] = _prepare(info, client)
        return {MAIN: [_call(info, client, action)]}

    def decision(info: Scene, model: Model) -> str:
        return "; ".join(problems) or _decision(info, model, action)

    return Case(
        name=f"convert, {client.name}: {action.name}", expected=action.expected, client=client, script=script,
        decision=decision, hooked="", guarded=False, prompt=action.prompt,
    )  # fmt: skip


def _call(info: Scene, client: Client, action: Act) -> Call:
    if action.makes.startswith("+"):
        return client.write(str(info.project / action.makes[1:]), "text\n")
    return client.shell(f"touch {info.marks}/{action.makes}")


def _prepare(info: Scene, client: Client) -> list[str]:
    """Convert the file for this client; return what is wrong with the result."""
    for name, text in _SCRIPTS.items():
        file = info.write(f".claude/hooks/{name}", text.format(marks=info.marks) if "{{" in text else text)
        file.chmod(0o755)
    info.write(_FILE, json.dumps({"hooks": _HOOKS}, indent=2))
    if client is CLAUDE_CODE:
        return []
    report = json.loads(info.hookline("convert", _FILE, "--to", client.name, "--write", "--trust", "--json"))
    lost = [entry["source"] for entry in report["entries"] if entry["how"] == "lost"]
    return [f"{each} is lost" for each in lost]


def _decision(info: Scene, model: Model, action: Act) -> str:
    if action.received:
        heard = (*model.received, *(result.text for result in model.results.values()))
        return "received" if any(action.received in text for text in heard) else "not received"
    if not model.asked:
        return "not asked"
    made = [info.marks / action.makes, info.project / action.makes.removeprefix("+")]
    if (info.marks / "rewritten").exists() and not any(each.exists() for each in made):
        return "rewritten"
    if any(each.exists() for each in made):
        return "ran"
    last = model.last_result
    return "denied" if last is not None and last.is_error else "no effect"
