"""List the same actions on files as lines of a shell, which every agent can run."""

from collections.abc import Iterator

from tests.reach.calls import OUTSIDE, SSH, MadeCall

_PATCH = "apply_patch <<'E'\n*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\nE"
#: Each writes one file.
WRITES = {
    "sed -i": "sed -i s/a/b/ {}",
    "tee": "echo x | tee {}",
    "here-document": "cat > {} <<'E'\nx\nE",
    "cp": "cp README.md {}",
    "mv": "mv README.md {}",
    "rm": "rm {}",
    "python -c": "python3 -c \"open('{}', 'w').write('x')\"",
    "apply_patch": _PATCH,
}
#: Each reads one file.
READS = {
    "cat": "cat {}",
    "input": "wc -l < {}",
    "cp": "cp {} copy.txt",
    "python -c": "python3 -c \"print(open('{}').read())\"",
}


def made_calls(tool: str, key: str) -> Iterator[tuple[str, MadeCall]]:
    """Yield what each line is called, and its call by a tool: one that is denied and one that is harmless."""
    for guard, lines, denied, harmless in (
        (SSH, READS, "{home}/.ssh/id", "README.md"),
        (OUTSIDE, WRITES, "{home}/notes.txt", "notes.txt"),
    ):
        for name, line in lines.items():
            for file in (denied, harmless):
                text = line.replace("{}", file)
                yield name, MadeCall(tool, {key: text}, guard, denied=file is denied)
