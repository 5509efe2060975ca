"""Represent words of a command, in which a placeholder replaces text only the shell can expand."""

#: A line that contains this character itself is never read.
HOLE = "\0"

Words = tuple[str, ...]


def base_name(word: str) -> str:
    """Return the base name: `/bin/rm` is rm, and so is zsh's `=rm`."""
    if "/" not in word and "=" not in word:
        return word
    return word.rsplit("/", 1)[-1].removeprefix("=") or word


def without_version(name: str) -> str:
    """Remove `3.12`, `-3` or `.5` at the end. No regular expression: it would try every digit of a long number."""
    bare = name.rstrip("0123456789.")
    version = name[len(bare) :].lstrip(".")
    if not version or not bare:
        return name
    dots = len(name) - len(bare) - len(version)
    return name[: len(bare) + dots - 1] if dots else bare.removesuffix("-")
