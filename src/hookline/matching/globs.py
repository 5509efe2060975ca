"""Patterns whose only special character is `*`: any text, also none, also blanks and slashes."""

from msgspec import Struct


class Glob(Struct, frozen=True):
    """The pieces between the stars. Linear: each piece is looked for once, from the left."""

    pieces: tuple[str, ...]

    @property
    def exact(self) -> bool:
        return len(self.pieces) == 1

    def matches(self, text: str) -> bool:
        pieces = self.pieces
        if len(pieces) == 1:
            return text == pieces[0]
        first, last = pieces[0], pieces[-1]
        end = len(text) - len(last)
        if end < len(first) or not text.startswith(first) or not text.endswith(last):
            return False
        at = len(first)
        for piece in pieces[1:-1]:
            at = text.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True

    def may_match(self, known: str) -> bool:
        """Whether some text that starts with `known` could match: false only when both are sure to differ."""
        first = self.pieces[0]
        if len(self.pieces) == 1 and len(known) > len(first):
            return False
        return first.startswith(known) or known.startswith(first)


def glob(pattern: str) -> Glob:
    pieces = pattern.split("*")
    # `a**b` is `a*b`: an empty inner piece only costs time.
    inner = [piece for piece in pieces[1:-1] if piece]
    return Glob((pieces[0], *inner, pieces[-1]) if len(pieces) > 1 else (pattern,))
