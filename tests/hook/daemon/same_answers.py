"""Make the same call without the daemon, by both relays to it, and by http: the answers must be equal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from msgspec import Struct

from hookline.dialects.registry import standard_dialects
from hookline.testing.recordings import Recorded, recorded
from tests.history.transcripts.rebuilt import DIRECTORIES as SESSIONS
from tests.history.transcripts.rebuilt import RECORDED, payloads
from tests.homes import at_home
from tests.hook.daemon.daemons import Daemons, command, hook_file
from tests.hook.relay.programs import KINDS, Kind, Ran, relay_of
from tests.recorded import recorded_cases as recorded_files
from tests.warm_process import run_warm

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
_TESTS: Final = Path(__file__).parent.parent
BLOCKED: Final = 2
CLIENTS = ("claude-code", "codex", "gemini-cli", "reasonix")


class Case(Struct, frozen=True):
    """One call of an agent."""

    name: str
    dialect: str
    event: str
    payload: dict[str, Any]


class Http(Struct, frozen=True):
    """The address of the daemon, and its token."""

    address: str
    token: str


def _says(event: str, **said: Any) -> str:
    received = json.dumps({"hookSpecificOutput": {"hookEventName": event, **said}})
    return command(f"echo '{received}'")


#: Hooks that answer, by event; each runs on every recorded payload of that event.
_SPEAKING = {
    "PreToolUse": (
        'type = "builtin"\ncommand = "force-push"',
        command("case $(cat) in *command*) echo no commands >&2; exit 2;; esac"),
        _says("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?"),
    ),
    "UserPromptSubmit": (command("echo mind the gap"),),
    "PostToolUse": (_says("PostToolUse", additionalContext="seen"),),
    "SessionStart": (command("echo today is Monday"),),
    "Stop": (command("""echo '{"decision":"block","reason":"run the tests"}'"""),),
    "SubagentStop": (command("exit 1"),),
    "PermissionRequest": (_says("PermissionRequest", decision={"behavior": "deny", "message": "never"}),),
    "Notification": (command("cat > /dev/null"),),
}


def speaking_hooks() -> str:
    return "".join(hook_file(*entries, event=event) for event, entries in _SPEAKING.items())


#: What goes wrong in a hook, and what it leaves.
FAILING: Sequence[tuple[str, str]] = (
    *((f"exit {code}", f"exit {code}") for code in (1, 2, 3, 42, 126, 127, 128, 200, 255)),
    *((f"stderr and {code}", f"echo why >&2; exit {code}") for code in (0, 1, 2, 3)),
    *((f"stdout and {code}", f"echo words; exit {code}") for code in (0, 1, 2, 3)),
    *((f"signal {name}", f"kill -{name} $$") for name in ("TERM", "KILL", "ABRT", "PIPE", "USR1")),
    *(
        (f"answer {text}", f"printf '%s' '{text}'")
        for text in (
            "deny", "[]", "{", '{"decision":', '{"decison":"deny"}', '[{"decision":"deny"}]', "null", "true", "1e999",
            '{"decision":"deny","decision":"approve"}', '{"continue":false}', '{"continue":"no"}', "{}", '{"a":1} x',
            '{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}', "{'decision':'deny'}",
        )
    ),
    ("no program", "no-such-program --at-all"),
    ("a directory", "/tmp"),
    ("not executable", "/etc/passwd"),
    ("syntax error", "if then fi ("),
    ("bytes that are no text", r"printf '\377\376{}'"),
    ("a million brackets", "head -c 200000 /dev/zero | tr '\\0' '['"),
    ("too much output", "head -c 3000000 /dev/zero"),
    ("escapes", r"printf '\033[31mred\033[0m' >&2; exit 2"),
    ("closes stdin", "exec <&-; exit 2"),
    ("closes stdout", "exec >&-; exit 2"),
    ("leaves a process", "sleep 60 & exit 2"),
    ("takes too long", "sleep 60"),
)  # fmt: skip


class Answered(Struct, frozen=True):
    """By http."""

    status: int
    content: bytes


class Difference(Struct, frozen=True):
    about: str
    way: str
    in_process: Ran
    seen: Any


def differences(daemons: Daemons, case: Case, http: Http | None = None) -> Iterator[Difference]:
    """Return the answers by both relays, and the decision by http."""
    words = ("hook", "--dialect", case.dialect, case.event)
    whole = in_process(daemons, words, _numbered(case, 0))
    for number, kind in enumerate(KINDS, 1):
        seen = by_relay(daemons, kind, words, _numbered(case, number))
        if seen != whole:
            yield Difference(case.name, kind, whole, seen)
    if http is not None:
        answered = by_http(http, words, _numbered(case, 9))
        if not same_decision(whole, answered):
            yield Difference(case.name, "http", whole, answered)


def in_process(
    daemons: Daemons, words: Sequence[str], payload: bytes, env: Mapping[str, str] = NO_VARIABLES
) -> Ran:
    done = run_warm(words, cwd=daemons.project, env={**daemons.env, **env}, stdin=payload)
    return Ran(done.status, done.stdout, done.stderr)


def by_relay(
    daemons: Daemons,
    kind: Kind,
    words: Sequence[str],
    payload: bytes,
    env: Mapping[str, str] = NO_VARIABLES,
) -> Ran:
    relay = relay_of(kind, daemons.directory)
    return relay.run(
        *at_home(words, daemons.env), given=payload, env={**daemons.env, **env}, cwd=daemons.project
    )


def by_http(http: Http, words: Sequence[str], payload: bytes) -> Answered:
    request = HttpRequest(f"{http.address}{words[2]}/{words[3]}", payload, method="POST")
    request.add_header("Authorization", f"Bearer {http.token}")
    try:
        with urlopen(request, timeout=60) as answered:
            return Answered(answered.status, answered.read())
    except HTTPError as refused:
        return Answered(refused.code, refused.read())


def same_decision(ran: Ran, answered: Answered) -> bool:
    """By http there is no exit code: 2 is a block in words, with its output beside it; others are errors."""
    if ran.code == 0 or (ran.code != BLOCKED and ran.stdout):
        return answered == Answered(200, ran.stdout)
    if ran.code != BLOCKED:
        return answered == Answered(
            500, json.dumps({"error": _text(ran.stderr)}, separators=(",", ":")).encode()
        )
    beside: dict[str, Any] = json.loads(ran.stdout) if ran.stdout.startswith(b"{") else {}
    reason = _text(ran.stderr) or "blocked by a hook"
    received = {"decision": "block", "reason": reason, **beside}
    return answered.status == 200 and json.loads(answered.content) == received


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()


def takes_http(dialect: str) -> bool:
    """Not agents that tell hooks about a call in variables."""
    return not standard_dialects()[dialect].build().payload_variables


def recorded_cases(project: Path) -> list[Case]:
    """The events that were recorded of the real agents, as if they happened in this project."""
    return [_placed(one, project) for dialect in CLIENTS for one in recorded(dialect)]


def other_recorded_cases(project: Path) -> list[Case]:
    """Yield the payloads of the recorded cases, and of the sessions whose transcripts are kept."""
    cases = {
        dialect: [
            payload
            for case in recorded_files(_TESTS / "dialects" / dialect.replace("-", "_")).values()
            for payload in case.get("payloads", ())
        ]
        for dialect in CLIENTS
    }
    for dialect, directory in SESSIONS.items():
        cases[dialect] += [
            one for session in sorted((RECORDED / directory).iterdir()) for one in payloads(session)
        ]
    found: dict[str, Case] = {}
    for dialect, each in cases.items():
        for payload in each:
            event = payload.get("hook_event_name") or payload.get("event")
            if event:
                case = _placed(Recorded(f"{event} of a case or session", event, payload, dialect), project)
                found.setdefault(json.dumps((dialect, case.payload), sort_keys=True), case)
    return list(found.values())


def _placed(one: Recorded, project: Path) -> Case:
    return Case(f"{one.dialect} {one.name}", one.dialect, one.event, one.placed(str(project)))


def failing_cases(daemons: Daemons, failing: Sequence[tuple[str, str]] = FAILING) -> Iterator[Case]:
    """A call for each way to fail, while the one hook of the project fails so."""
    for name, line in failing:
        daemons.write(".hookline/hooks.toml", hook_file(command(line, "timeout = 1")))
        payload = {
            "hook_event_name": "PreToolUse", "session_id": f"of {name}", "cwd": str(daemons.project),
            "tool_name": "Bash", "tool_input": {"command": "ls"},
        }  # fmt: skip
        yield Case(name, "claude-code", "PreToolUse", payload)


def _numbered(case: Case, number: int) -> bytes:
    """Return the same payload in a new session: a message that comes once per session comes to the others, too."""
    received = dict(case.payload)
    for key in ("session_id", "sessionId"):
        if key in received:
            received[key] = f"{received[key]}-{number}"
    return json.dumps(received).encode()
