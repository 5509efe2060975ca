"""Nothing a hook, a configuration, a file name or the journal holds can steer the terminal it is shown in."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.cli.main import COMMANDS
from hookline.extending import Run
from hookline.model.run import Called
from tests.cli.journals import NOW, write_runs
from tests.cli.run_cli import Workspace, run_cli, run_here, workspace

#: One of each kind: colours and cursor (CSI, 7 and 8 bit), titles, links and clipboard (OSC 0, 8, 52), device
#: strings (DCS, APC), resets, lone controls, C1, reading direction, zero width, tags, line separators.
PLANTED = (
    "\x1b[31m", "\x1b[2J\x1b[H", "\x9b1A", "\x1b]0;title\x07", "\x1b]8;;http://x.example/\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;aGk=\x07", "\x1bPq#0\x1b\\", "\x1b_x\x1b\\", "\x1bc", "\x1b(0", "\x07", "\x08\x08", "\r", "\x7f", "\x85",
    "\x90x\x9c", "\u202e", "\u2066", "\u200b", "\u200f", "\ufeff", "\U000e0041", "\u2028", "\u00ad",
)  # fmt: skip
EVIL = "".join(f"a{each}" for each in PLANTED)
#: TOML and JSON both read \uXXXX.
SPELLED = json.dumps("".join(each for each in EVIL if ord(each) < 0x10000))[1:-1]
#: What a file name can hold.
EVIL_NAME = "p\nFORGED \x1b[31m\x1b]0;t\x07\u202e\x9b1Ao\u200b"

STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)

NATIVE = f"""\
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
name = "guard\\nFORGED {SPELLED}"
command = "./{SPELLED.replace("/", "")} ; sh script.sh"
statusMessage = "{SPELLED}"
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "deny"
args = ["because {SPELLED}"]
if = "Bash(*)"
[[hooks.PreToolUse.hooks]]
command = "sh script.sh"
timeout = "{SPELLED}"
[[hooks.PreToolUse]]
matcher = "{SPELLED}"
[[hooks.PreToolUse.hooks]]
command = "true"
[["hooks"."Evil {SPELLED}"]]
[["hooks"."Evil {SPELLED}".hooks]]
command = "true"
"""
CLAUDE = json.dumps(
    {
        "hooks": {
            "PreToolUse": [
                {"matcher": "Bash", "hooks": [{"type": "command", "command": f"sh script.sh '{EVIL}'"}]},
                {"matcher": EVIL, "hooks": [{"type": EVIL, "command": EVIL}]},
            ],
            EVIL: [],
        }
    }
)
SCRIPT = "cat said; cat said >&2; exit 2\n"

#: Command → the words that make it show most of what was planted; one that is not there yet is not asked.
SHOWN = {
    "doctor": [["doctor"]],
    "list": [["list"], ["list", EVIL]],
    "fire": [
        ["fire", "PreToolUse", "Bash", f"command={EVIL}"],
        ["fire", EVIL],
        ["fire", "Stop", f"{EVIL}=x"],
    ],
    "explain": [["explain", "PreToolUse", "Bash", f"command={EVIL}"], ["explain", EVIL]],
    "events": [["events", EVIL], ["events"]],
    "schema": [["schema", EVIL]],
    "guard": [
        ["guard", "add", "force-push", "--cwd", EVIL],
        ["guard", "add", EVIL, f"deny Bash({EVIL})"],
        ["guard", EVIL],
        ["guard", "list"],
        ["guard", "off", EVIL],
        ["guard", "add", "force-push", EVIL],
    ],
    "log": [["log"], ["log", "--counts"], ["log", "--times"], ["log", "--since", EVIL]],
    "hook": [
        ["hook", "--dialect", "claude-code", "PreToolUse"],
        ["hook", "--dialect", EVIL],
        ["hook", "--dialect", "claude-code", EVIL],
        ["hook", "--print-config", EVIL],
        ["hook", "--print-config", "claude-code", EVIL],
        ["hook", f"--{EVIL}"],
    ],
    "agent": [
        ["agent", "--print", f"run {EVIL}", "--model", "scripted:answers.yaml", "--allow", "Bash"],
        ["agent", "--print", "hi", "--model", EVIL],
        ["agent", "--print", "hi", "--model", f"scripted:{EVIL}"],
        ["agent", "--print", "hi", "--mode", EVIL],
        ["agent", "--print", "hi", "--resume", EVIL],
    ],
    "trust": [["trust"], ["trust", "--list"], ["trust", "--diff"]],
    "completion": [["completion", EVIL]],
    "docs": [["docs", EVIL]],
}
#: These start hooks or tools, or read what an agent sends to them.
PROCESSES = ("fire", "hook", "agent")
PAYLOAD = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": EVIL}})
ANSWERS = json.dumps(
    [
        {"text": EVIL, "tool_calls": [{"name": "Bash", "input": {"command": f"cat said; : '{EVIL}'"}}]},
        {"text": EVIL},
    ]
)
WORDS = [words for command, all_words in SHOWN.items() if command in COMMANDS for words in all_words]


@pytest.fixture(scope="module")
def evil() -> Iterator[Workspace]:
    with workspace() as made:
        where = Workspace(made.home, made.project / EVIL_NAME)
        where.project.mkdir()
        where.write(".hookline/hooks.toml", NATIVE)
        where.write(".claude/settings.json", CLAUDE)
        where.write("script.sh", SCRIPT)
        where.write("answers.yaml", ANSWERS)
        (where.project / "said").write_text(EVIL + "\n")
        runs = [
            Run(hook=EVIL, source=EVIL, status="failed", detail=EVIL, event=EVIL, dialect_event=EVIL, at=NOW),
            Run(
                hook="x\nFORGED line",
                at=NOW,
                call=Called(tool=EVIL, input=f"{EVIL}\nFORGED", project=EVIL, caller=EVIL),
            ),
            Run(hook=EVIL, reason=EVIL, decision="deny", status="blocked", session=EVIL, at=NOW, why=EVIL),
            Run(
                hook="x", stdout=EVIL, stderr=EVIL, dropped=(EVIL,), why=EVIL, dialect=EVIL, type=EVIL, at=NOW
            ),
        ]
        path = Path(write_runs(where, *runs))
        with path.open("ab") as stream:
            stream.write(EVIL.encode() + b"\n")
        yield where


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("words", WORDS, ids=lambda words: words[0])
def test_what_is_printed_is_text_and_nothing_else(
    evil: Workspace,
    words: list[str],
    as_json: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if as_json and words[0] == "hook":
        pytest.skip("what it prints is its agent's own format")
    words = [*words, "--json"] if as_json else words
    if words[0] in PROCESSES:
        ran = run_cli(words, evil.project, evil.home, stdin=PAYLOAD)
    else:
        ran = run_here(words, evil, capsys, monkeypatch)
    assert ran.status in (0, 1, 2)
    for shown in (ran.stdout, ran.stderr):
        assert "Traceback" not in shown
        assert not [line for line in shown.splitlines() if line.lstrip(" |").startswith("FORGED")]
        assert "hookline: broke" not in shown
        found = STEERING.search(shown)
        assert found is None, (found, shown[max(found.start() - 200, 0) : found.end() + 50])


def test_what_was_planted_is_there_to_be_seen(evil: Workspace) -> None:
    """Or else the test above would prove nothing."""
    shown = run_cli(["fire", "PreToolUse", "Bash", "command=x"], evil.project, evil.home).stdout
    assert "guard FORGED aa" in shown
    assert "because aa" in shown
    assert "<U+202E>" in shown
    assert "<U+202E>" in run_cli(["log"], evil.project, evil.home).stdout


def test_the_search_finds_each_kind() -> None:
    for planted in PLANTED:
        assert STEERING.search(f"x{planted}x"), planted
    assert STEERING.search("plain text\twith\nlines, caf\u00e9 and \U0001f600") is None
