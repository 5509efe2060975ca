"""Words of a command, in which a hole replaces what only the shell knows."""

#: A line that contains this character itself is never read.
HOLE = "\0"

Words = tuple[str, ...]


def base_name(word: str) -> str:
    """`/bin/rm` is rm, and so is zsh's `=rm`."""
    return word.rsplit("/", 1)[-1].removeprefix("=") or word
