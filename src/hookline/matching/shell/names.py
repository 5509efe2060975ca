"""What the rest of the layer needs to know of words, without loading what reads them."""

#: Stands for text that only the shell knows. A line that holds this character itself is never read.
HOLE = "\0"

Words = tuple[str, ...]


def base_name(word: str) -> str:
    """`/bin/rm` is rm, and so is zsh's `=rm`."""
    return word.rsplit("/", 1)[-1].removeprefix("=") or word
