"""Test the name of a hook without one: the script or program that its command runs."""

from hookline.dialects.labels import command_label, entry_label
from tests.every import every


@every(
    ("command", "name"),
    [
        ("./check.sh --fast", "check.sh"),
        ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh', "check.sh"),
        ("$(git rev-parse --show-toplevel)/hooks/check.sh", "check.sh"),
        ("python3 -u hooks/guard.py", "guard.py"),
        ("python3 -W error -m pkg.guard", "pkg.guard"),
        ("python3 -c 'import this'", "python3"),
        ("uv run guard.py", "guard.py"),
        ("uv --directory x run --with rich -q hooks/guard.py", "guard.py"),
        ("uv pip list", "uv"),
        ("uvx --from pkg tool@1.2", "tool"),
        ("npx -y @scope/lint --fix", "lint"),
        ("npm run lint", "lint"),
        ("npm test", "npm"),
        ("poetry run python -m pkg.guard", "pkg.guard"),
        ("env -u A B=1 timeout 5 node --import tsx hooks/a.ts", "a.ts"),
        ("bash -c 'cd x && ./guard.sh --all'", "guard.sh"),
        ("bash -euo pipefail -c './guard.sh'", "guard.sh"),
        ("bash hooks/guard.sh -c", "guard.sh"),
        ("cd x && ./guard.sh", "guard.sh"),
        ("[ -x ./guard.sh ] || exit 0; ./guard.sh", "guard.sh"),
        ("A=1 cat > /tmp/x", "cat"),
        ("cat | python3 guard.py", "guard.py"),
        ("if true; then ./guard.sh; fi", "guard.sh"),
        ("'/with blanks/my guard.sh'", "my guard.sh"),
        (r"C:\hooks\guard.exe --x", "guard.exe"),
        ("exit 2", "exit"),
        ("$GUARD  --all\nmore", "$GUARD --all"),
        ("", "command"),
    ],
)
def test_a_command_is_called_after_what_it_runs(command: str, name: str) -> None:
    assert command_label(command) == name


def test_arguments_that_no_shell_reads_count() -> None:
    assert entry_label({"command": "uv", "args": ["run", "hooks/my guard.py"]}) == "my guard.py"
    assert entry_label({"command": ["uv"]}) == ""


@every("piece", ["a", "\\", '"', "'", "$(", "uv run ", "sh -c ", "((", "|&;<"])
def test_a_line_without_end_still_has_a_short_name(piece: str) -> None:
    assert 0 < len(command_label(piece * 20_000)) <= 60
