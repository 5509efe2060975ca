"""Outputs that hooks should not print, and a way to make thousands of them."""

import random
from collections.abc import Iterator, Mapping

ANSWERS: tuple[bytes, ...] = (
    b"",
    b"{}",
    b'{"continue": false, "stopReason": "enough"}',
    b'{"decision": "block", "reason": "no"}',
    b'{"decision": "approve", "systemMessage": "fine"}',
    b'{"ok": false, "reason": "no", "impossible": true}',
    b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}',
    b'{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "ls"}}}',
    b'{"hookSpecificOutput": {"additionalContext": "text", "watchPaths": ["/a", "b"], "retry": true}}',
    b'{"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "no", "interrupt": true}}}',
    b'{"hookSpecificOutput": {"updatedPermissions": [{"type": "addRules", "rules": [{"toolName": "Bash"}]}]}}',
    b'{"hookSpecificOutput": {"env": {"A": "b"}, "answer": [1], "initialUserMessage": "hi", "summary": "s"}}',
    b'{"async": true}\n{"decision": "block"}',
    b"plain text",
)

_TOKENS = (
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"true", b"1e999", b"NaN", b"-0", b"\\u0000", b"\\ud800",
    b"\xff", b"\xef\xbb\xbf", b"\x00", b"\n", b'"decision":', b'"hookSpecificOutput":', b'"block"', b"1" * 30,
    b"[" * 70, b'{"a":' * 70, b'"continue":false',
)  # fmt: skip


def hostile_outputs(count: int, seed: int = 7) -> Iterator[bytes]:
    """Answers that were cut, doubled, mixed and dirtied; the same ones for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        output = bytearray(chance.choice(ANSWERS))
        for _ in range(chance.randint(0, 4)):
            _spoil(output, chance)
        yield bytes(output)


def _spoil(output: bytearray, chance: random.Random) -> None:
    at = chance.randint(0, len(output))
    end = min(len(output), at + chance.randint(0, 12))
    match chance.randint(0, 5):
        case 0:
            del output[at:]
        case 1:
            del output[at:end]
        case 2:
            output[at:at] = chance.choice(_TOKENS)
        case 3:
            output[at:end] = chance.randbytes(chance.randint(0, 6))
        case 4:
            output[at:at] = output[at:end] * 2
        case _:
            output[:0] = chance.choice(_TOKENS + ANSWERS)


#: What stdout may hold while the exit code says block.
STDOUTS: Mapping[str, bytes] = {
    "empty": b"",
    "blank": b" \n\t",
    "plain text": b"all good",
    "an allow": b'{"hookSpecificOutput": {"permissionDecision": "allow"}}',
    "an approve": b'{"decision": "approve"}',
    "continue": b'{"continue": true}',
    "a rewrite": b'{"hookSpecificOutput": {"updatedInput": {"command": "ls"}}}',
    "broken JSON": b'{"decision": ',
    "wrong types": b'{"decision": 3}',
    "another event": b'{"hookSpecificOutput": {"hookEventName": "Stop"}}',
    "a list": b"[1, 2]",
    "not UTF-8": b'{"a": "\xff\xfe"}',
    "UTF-16": '{"decision": "approve"}'.encode("utf-16"),
    "deep": b"[" * 5000,
    "duplicate keys": b'{"decision": "approve", "decision": "approve"}',
    "a megabyte": b'{"systemMessage": "' + b"x" * (1 << 20),
    "an async mark": b'{"async": true}\n{"decision": "approve"}',
    "zero bytes": b"\0" * 100,
}
STDERRS: Mapping[str, bytes] = {
    "empty": b"",
    "a reason": b"not here\n",
    "not UTF-8": b"\xff\xfe no",
    "blank": b"\n\n",
}
