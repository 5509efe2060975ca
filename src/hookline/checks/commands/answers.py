"""Find answers that an agent ignores, by trying a script's text, decisions and exit codes on its wire."""

import os
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, get_origin

import msgspec
from msgspec import Struct

from hookline.checks.commands.command_line import first_bytes, programs_of
from hookline.checks.context import CheckContext, entries, once_per_hook
from hookline.config.load import Loaded
from hookline.dialects.dialect import Dialect
from hookline.dialects.report import about
from hookline.handlers.command import CommandSpec
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import PRE_TOOL_USE, USER_PROMPT_SUBMIT, Capability, EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome
from hookline.model.raw import Exited, RawResult, Replied
from hookline.model.session_info import SessionInfo
from hookline.model.wire import Decoded, HookInvocation

_INFO = SessionInfo(session_id="s-1", cwd="/", project_dir="/")


def understood(hook: Hook, raw: RawResult) -> Decoded | None:
    """Return what the hook's wire reads from a result, limited to what its event allows; None if the wire
    cannot tell.
    """
    try:
        payload = _any_payload(hook.event)
        call = HookInvocation(hook=hook, event=hook.event, payload=payload, info=_INFO, timeout=hook.timeout)
        decoded = hook.wire.decode(call, raw)
    except Exception:  # noqa: BLE001 - doctor reports nothing that is not certain
        return None
    outcome, _dropped = decoded.outcome.clipped(hook.policy.may & hook.event.may)
    return msgspec.structs.replace(decoded, outcome=outcome)


@cache
def _any_payload(event: EventSpec[Any]) -> Any:
    """Return a payload of the event; a wire reads the result and hardly its values."""
    blank: dict[Any, Any] = {str: "x", int: 1, bool: False, dict: {}, tuple: (), list: []}
    required = [each for each in msgspec.structs.fields(event.payload) if each.required]
    values = {each.name: blank.get(get_origin(each.type) or each.type, {}) for each in required}
    if event.subject and event.subjects:
        values[event.subject] = event.subjects[0]
    return event.payload(**values)


def uses_text(hook: Hook, text: str) -> bool:
    """Return True if plain text on stdout is used, whatever the exit status; True in doubt."""
    for code in (0, 1, 2):
        decoded = understood(hook, Exited(code, stdout=text.encode()))
        if decoded is None or text.strip() in _said(decoded.outcome):
            return True
        if decoded.outcome.answers or decoded.outcome.env_items or decoded.outcome.seeds:
            return True
    return False


def decides(hook: Hook, answer: object) -> bool:
    """Return True if a JSON answer blocks or stops anything; True in doubt."""
    return _votes(hook, Exited(0, stdout=msgspec.json.encode(answer)))


def _votes(hook: Hook, raw: RawResult) -> bool:
    decoded = understood(hook, raw)
    return decoded is None or bool(decoded.outcome.votes or decoded.outcome.halts)


def _said(outcome: Outcome) -> str:
    parts = [vote.reason or "" for vote in outcome.votes]
    parts += [item.text for item in outcome.context_items]
    parts += [message.text for message in outcome.messages]
    return "\n".join(parts)


_LONGEST: Final = 64 * 1024

_SHELL_LINE: Final = re.compile(r"#!.*\b(?:ba|da|z|k)?sh\b")
_PYTHON_LINE: Final = re.compile(r"#!.*\bpython")
#: Output that may go elsewhere, or lines whose meaning depends on others.
_UNCLEAR: Final = re.compile(
    r"\(\)\s{0,9}\{|^[ \t]*function\s|^[ \t]*exec\s|<<|\$\(\s{0,9}$|`|\{[^}\n]{0,300}\}\s{0,9}>"
    r"|^[ \t]*[})][ \t]{0,9}[>|]|\b(?:done|fi|esac)[ \t]{0,9}[>|]",
    re.MULTILINE,
)
#: `echo words` up to the end of the command: literal words on stdout that are not JSON.
_ECHO: Final = re.compile(
    r"""(?:^|;|&&|\|\||\bthen\b|\bdo\b|\{)[ \t]{0,99}echo[ \t]{1,9}(?:-e[ \t]{1,9})?"""
    r"""(?:"([A-Za-z][^"\n]*)"|'([A-Za-z][^'\n]*)'|([A-Za-z][\w .,:!-]{0,300}?))[ \t]{0,9}(?=$|;|&&|\|\||\})""",
    re.MULTILINE,
)
_PRINT: Final = re.compile(
    r"""^[ \t]*print\([ \t]{0,9}f?(?:"([A-Za-z][^"\n]*)"|'([A-Za-z][^'\n]*)')[ \t]{0,9}\)[ \t]{0,9}$""",
    re.MULTILINE,
)
_EXITS: Final = re.compile(r"\b(?:sys\.)?exit(?:[ \t]{1,9}|\()(-?\d{1,3})\b")
#: Python prints the text to stderr, and ends with 1.
_EXITS_WITH_TEXT: Final = re.compile(r"""\b(?:sys\.exit|SystemExit)\(\s{0,9}f?["']""")


class ScriptText(Struct, frozen=True):
    #: Empty for the command line in the configuration itself.
    file: str
    text: str
    language: str


def script_text(hook: Hook, context: CheckContext) -> ScriptText | None:
    """Return the small shell or Python script that a command hook runs, else its command line."""
    spec = hook.spec
    if not isinstance(spec, CommandSpec) or spec.shell in ("powershell", "pwsh"):
        return None
    found = _source(hook, context)
    return found if found is not None and found.language else None


@once_per_hook
def _source(hook: Hook, context: CheckContext) -> ScriptText | None:
    """Return the script of a command hook in any language; `language` is empty if it is neither shell nor Python."""
    for program in reversed(programs_of(hook, context)):
        place = next((each for each in program.paths if os.path.isfile(each)), None)
        if place is not None:
            text = _small(place)
            return (
                ScriptText(place, text, _language(place, program.interpreter)) if text is not None else None
            )
    spec: CommandSpec = hook.spec
    line = spec.command if spec.args is None and len(spec.command) <= _LONGEST else None
    return ScriptText("", line, "shell") if line is not None else None


def _language(place: str, interpreter: str) -> str:
    first = first_bytes(place).split(b"\n", 1)[0].decode("utf-8", "replace")
    if interpreter.startswith("python") or _PYTHON_LINE.match(first):
        return "python"
    return "shell" if interpreter.endswith("sh") or _SHELL_LINE.match(first) else ""


def _small(place: str) -> str | None:
    try:
        with open(place, encoding="utf-8") as file:
            text = file.read(_LONGEST + 1)
    except (OSError, UnicodeDecodeError):
        return None
    return text if len(text) <= _LONGEST else None


def printed_words(script: ScriptText) -> str | None:
    """Return the words that it certainly prints to stdout; None if that is not certain."""
    code = without_comments(script.text)
    if script.language == "python":
        found = None if "redirect_stdout" in code or "sys.stdout" in code else _PRINT.search(code)
    else:
        found = None if _UNCLEAR.search(code) or _quotes_over_lines(code) else _ECHO.search(code)
    return next((group for group in found.groups() if group), None) if found is not None else None


def _quotes_over_lines(code: str) -> bool:
    """Return True if a quoted text may span lines, so that lines are not commands."""
    return any(line.count(quote) % 2 for line in code.split("\n") for quote in "'\"")


def exit_codes(script: ScriptText) -> frozenset[int]:
    """Return the exit codes that it names."""
    text = without_comments(script.text)
    says_why = script.language == "python" and _EXITS_WITH_TEXT.search(text) is not None
    return frozenset(int(found) for found in _EXITS.findall(text)) | frozenset((1,) if says_why else ())


def without_comments(text: str) -> str:
    return re.sub(r"^[ \t]*#.*$", "", text, flags=re.MULTILINE)


#: The table of an answer in which agents of the Claude family read decisions.
_FRAME: Final = "hookSpecificOutput"
#: The end of a line that gives the exit code 0, whatever its script said.
_LOST: Final = re.compile(r"(?:(?:\|\||;)\s{0,9}(?:true|:|exit\s{1,9}0)|(?<![&>])&)\s{0,9};?\s{0,9}\Z")
_CONTINUE: Final = re.compile(r"""["']continue\\?["']\s*:\s*(?:false|False)""")


class _Answer(Struct, frozen=True):
    """One form of decision: its pattern in a script, and a sample for the agent's wire."""

    code: str
    says: str
    looks: re.Pattern[str]
    sample: dict[str, Any]


_ANSWERS: Final = (
    _Answer(
        "unread-answer", '"decision": "block"', re.compile(r"""["']decision\\?["']\s*:\s*\\?["']block"""),
        {"decision": "block", "reason": "x"},
    ),
    _Answer(
        "unread-answer", '"permissionDecision": "deny"',
        re.compile(r"""["']permissionDecision\\?["']\s*:\s*\\?["']deny"""),
        {
            "hookSpecificOutput": {
                "hookEventName": "EVENT", "permissionDecision": "deny", "permissionDecisionReason": "x",
            }
        },
    ),
    _Answer(
        "unread-answer", '"decision": "deny"', re.compile(r"""["']decision\\?["']\s*:\s*\\?["']deny"""),
        {"decision": "deny", "reason": "x"},
    ),
    _Answer("continue-false", '"continue": false', _CONTINUE, {"continue": False, "stopReason": "x"}),
)  # fmt: skip


def answers(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    for hook in entries(loaded):
        if hook.broken is not None or hook.mode != "enforce":
            continue
        if hook.kind in ("prompt", "agent"):
            yield from _unread_refusal(hook, context.dialect(hook))
            continue
        script = script_text(hook, context) if hook.kind == "command" else None
        if script is not None:
            yield from _of_script(hook, script, context.title(hook.dialect))


def _of_script(hook: Hook, script: ScriptText, agent: str) -> Iterator[Diagnostic]:
    given = [answer for answer in _ANSWERS if answer.looks.search(without_comments(script.text))]
    # A script for several agents has the answers of each: one of them is this agent's.
    read = {answer.code for answer in given if _is_read(hook, answer)}
    for answer in (each for each in given if each.code not in read):
        unread = f"which {agent} ignores at {hook.policy.event_name}"
        message = f"{_named(script)} answers {answer.says}, {unread}"
        yield about(hook, "warning", answer.code, message, "command", fix=_instead(hook))
    yield from _unframed(hook, script, agent)
    yield from _ends_the_turn(hook, script)
    yield from _no_block(hook, script, agent)
    yield from _lost_status(hook, script)
    words = printed_words(script)
    if words is not None and hook.waiting == "wait" and hook.output == "answer":
        yield from _unread_text(hook, words, script, agent)


def _unread_text(hook: Hook, words: str, script: ScriptText, agent: str) -> Iterator[Diagnostic]:
    if uses_text(hook, words):
        return
    shell = script.language == "shell"
    fix = "print it to stderr (>&2), or answer in JSON" if shell else "print it to sys.stderr"
    event, decoded = hook.policy.event_name, understood(hook, Exited(0, stdout=words.encode()))
    failure = None if decoded is None else decoded.failure
    closes = failure is not None and hook.reaction(failure.cause) == "block"
    if failure is not None and closes and 2 not in exit_codes(script):  # exit 2 blocks, whatever was printed
        message = f"{_named(script)} prints text, which is a failure at {event}: {failure.detail}"
        yield about(hook, "error", "unread-output", message, "command", fix=fix)
    else:
        message = f"{_named(script)} prints text, which {agent} ignores at {event}"
        yield about(hook, "warning", "unread-output", message, "command", fix=fix)


def _is_read(hook: Hook, answer: _Answer) -> bool:
    """Return True if the agent reads this form of decision at the hook's event."""
    sample: dict[str, Any] = {
        key: {**value, "hookEventName": hook.policy.event_name} if key == "hookSpecificOutput" else value
        for key, value in answer.sample.items()
    }
    # Some agents read the fields of an answer without a table around them.
    flat = {**sample, **sample.get("hookSpecificOutput", {})}
    return decides(hook, sample) or decides(hook, flat)


def _unframed(hook: Hook, script: ScriptText, agent: str) -> Iterator[Diagnostic]:
    """Warn of a decision outside of the table in which its agent reads it."""
    deny, text = _ANSWERS[1], without_comments(script.text)
    if _FRAME in text or not deny.looks.search(text):
        return
    inner = {**deny.sample[_FRAME], "hookEventName": hook.policy.event_name}
    if decides(hook, {_FRAME: inner}) and not decides(hook, inner):
        message = f"{_named(script)} answers {deny.says} outside of {_FRAME}, where {agent} ignores it"
        fix = f'{{"{_FRAME}": {{"hookEventName": "{hook.policy.event_name}", {deny.says}, …}}}}'
        yield about(hook, "warning", deny.code, message, "command", fix=fix)


def _lost_status(hook: Hook, script: ScriptText) -> Iterator[Diagnostic]:
    """Warn of a guard that blocks by its exit code, in a line that gives another one."""
    command: str = getattr(hook.spec, "command", "")
    lost = _LOST.search(command) if script.file and getattr(hook.spec, "args", None) is None else None
    says_more = any(answer.looks.search(script.text) for answer in _ANSWERS) or '"deny"' in script.text
    if lost is None or 2 not in exit_codes(script) or says_more or not hook.policy.may & Capability.BLOCK:
        return
    if hook.event not in (PRE_TOOL_USE, USER_PROMPT_SUBMIT) or 2 in exit_codes(
        ScriptText("", command, "shell")
    ):
        return
    end = " ".join(lost[0].split())
    message = (
        f"its line ends with `{end}`, so exit 2 of {os.path.basename(script.file)} is lost: it never blocks"
    )
    yield about(hook, "warning", "lost-status", message, "command", fix=f"remove `{end}`")


def _instead(hook: Hook) -> str:
    if not hook.policy.may & hook.event.may & Capability.BLOCK:
        return f"nothing can be blocked at {hook.policy.event_name}"
    return "exit 2, with the reason on stderr"


def _ends_the_turn(hook: Hook, script: ScriptText) -> Iterator[Diagnostic]:
    """Warn of `continue: false` at a tool call, which ends the turn, not only the call."""
    if hook.event is not PRE_TOOL_USE or not _CONTINUE.search(without_comments(script.text)):
        return
    decoded = understood(hook, Exited(0, stdout=b'{"continue": false, "stopReason": "x"}'))
    if decoded is not None and decoded.outcome.halts:
        message = f'{_named(script)} answers "continue": false, which ends the whole turn, not only this call'
        fix = 'permissionDecision "deny" denies only the call'
        yield about(hook, "warning", "continue-false", message, "command", fix=fix)


def _no_block(hook: Hook, script: ScriptText, agent: str) -> Iterator[Diagnostic]:
    """Warn of a guard that exits with 1 to block, where that is only an error.

    A hook that adds context to prompts exits with 1 when it fails: with 2 it would block them.
    """
    guards = hook.event is PRE_TOOL_USE or (hook.event is USER_PROMPT_SUBMIT and _named_a_guard(hook, ""))
    guards = guards and bool(hook.policy.may & Capability.BLOCK)
    codes = exit_codes(script)
    says_more = any(answer.looks.search(script.text) for answer in _ANSWERS) or '"deny"' in script.text
    if not guards or hook.waiting != "wait" or codes & {2} or not codes & {1, -1} or says_more:
        return
    decoded = understood(hook, Exited(1))
    if decoded is None or decoded.outcome.votes or hook.reaction("crashed") == "block":
        return
    message = (
        f"{_named(script)} ends with exit {1 if 1 in codes else -1}, which does not block: {agent} goes ahead"
    )
    yield about(hook, "warning", "exit-1", message, "command", fix="exit 2, if it is to block")


def _unread_refusal(hook: Hook, dialect: Dialect) -> Iterator[Diagnostic]:
    """Warn of a model that may refuse at an event where its answer decides nothing."""
    if dialect.model_refusal is None or not hook.policy.may & Capability.BLOCK or hook.waiting != "wait":
        return
    refused = understood(hook, Replied(dialect.model_refusal))
    if refused is not None and not refused.outcome.votes and not refused.outcome.halts:
        unread = f"{dialect.title} ignores its answer"
        message = f"a {hook.kind} hook decides nothing at {hook.policy.event_name}: {unread}"
        fix = "a command or http hook can decide here"
        yield about(hook, "warning", "unread-answer", message, "type", fix=fix)


#: Marks of a decision in any language: an answer, a rewrite, or a word for one in a variable.
_DECIDES: Final = re.compile(
    r"""["'](?:deny|block|ask)\\?["']|=(?:deny|block|ask)\b|decision\W{1,6}(?:deny|block|ask)\b|updated_?input"""
    r"""|["']continue\\?["']\s*:\s*false""",
    re.IGNORECASE,
)
#: An exit code that only the script knows, and one that a function returns for it.
_COMPUTED_EXIT: Final = re.compile(r"\bexit[ \t(]{1,9}[\"']?\$")
_RETURNS: Final = re.compile(r"\breturn[ \t]{1,9}(\d{1,3})\b")
#: Programs that print, record or look something up. Their exit codes decide nothing.
_PLAIN: Final = frozenset({
    "[", "[[", ":", "afplay", "aplay", "awk", "basename", "break", "cat", "cd", "continue", "cp", "curl", "cut",
    "date", "dirname", "echo", "exit", "export", "false", "find", "git", "head", "hostname", "id", "jq", "ln",
    "local", "logger", "ls", "mkdir", "mktemp", "mv", "notify-send", "osascript", "paplay", "printenv", "printf",
    "pwd", "read", "readlink", "realpath", "return", "rm", "say", "sed", "seq", "set", "shift", "sleep", "sort",
    "stat", "tail", "tee", "terminal-notifier", "test", "touch", "tr", "trap", "true", "uname", "uniq", "unset",
    "wait", "wc", "wget", "which", "whoami", "yq",
})  # fmt: skip
_GUARD_NAME: Final = re.compile(
    r"guard|gate|den(?:y|ies)|block|judge|protect|prevent|polic(?:y|ies)|forbid|secur|safe|\bno[-_ ]",
    re.IGNORECASE,
)


@once_per_hook
def judges(hook: Hook, context: CheckContext) -> bool | None:
    """Return True if a hook decides anything; None if that cannot be known without running it.

    One that only adds context, records or notifies is not a guard, whatever its event lets it do.
    """
    if hook.kind in ("prompt", "agent") or hook.rewrites:
        return True
    spec = hook.spec
    if hook.kind == "command" and isinstance(spec, CommandSpec):
        return _command_judges(hook, spec, context)
    return False if hook.output == "ignore" else _named_a_guard(hook, str(getattr(spec, "url", "")))


def _command_judges(hook: Hook, spec: CommandSpec, context: CheckContext) -> bool | None:
    if any(each.paths and not any(map(os.path.exists, each.paths)) for each in programs_of(hook, context)):
        return False  # it cannot start, which is reported separately
    script = _source(hook, context)
    if script is None:
        return _named_a_guard(hook, spec.command)
    code = without_comments(script.text)
    codes = exit_codes(script) | {int(found) for found in _RETURNS.findall(code)}
    answers_it = hook.output == "answer" and _DECIDES.search(code)
    if answers_it or any(_votes(hook, Exited(number, stderr=b"x")) for number in codes):
        return True
    unclear = _COMPUTED_EXIT.search(code) or (script.language == "shell" and _runs_others(code, context))
    return _named_a_guard(hook, spec.command) if unclear else False


def _runs_others(code: str, context: CheckContext) -> bool:
    """Return True if a shell script runs programs that may decide instead of it."""
    reading = context.shell.read(code)
    own = set(re.findall(r"^[ \t]*(?:function[ \t]+)?([\w-]{1,60})[ \t]*\(\)", code, re.MULTILINE))
    others = (
        command
        for command in reading.commands
        if command.base_name not in _PLAIN
        and command.words[0] not in own
        and not (command.base_name.endswith("sh") and command.words[1:2] in (("-c",), ("-lc",), ("-ec",)))
    )
    return bool(reading.uncertain) or any(others)


def _named_a_guard(hook: Hook, what: str) -> bool | None:
    return True if _GUARD_NAME.search(hook.name[:_LONGEST]) or _GUARD_NAME.search(what[:_LONGEST]) else None


def _named(script: ScriptText) -> str:
    return "it" if not script.file else script.file.rsplit("/", 1)[-1]
