"""Write docs/reference/secrets.md: the formats of secrets, from their table."""

import re
from collections.abc import Iterator

from hookline.journal.redaction import MARK
from hookline.journal.secret_formats import CONTEXTS, TOKEN_FORMATS
from tools.markdown import GENERATED, code, page, table

_INTRO = f"""\
Before Hookline stores or shows a text (in the journal, `hookline log`, the trace, the output of the commands), it
replaces secrets with `{MARK}`: the values of your environment variables whose names say that they are secret, in
every form (quoted, URL-encoded, in base64 or hexadecimal), and the formats on this page.

Hookline does not change payloads of hooks and their answers to an agent."""

_TOKENS = "Recognised anywhere in a text. `…` stands for the rest of a token."

_CONTEXTS = "Recognised by the text around them; `…` stands for the redacted part."


def secrets_page() -> str:
    return page(
        "# Secrets that are redacted",
        GENERATED,
        _INTRO,
        "## Tokens",
        _TOKENS,
        table(("Token", "Example"), [(row.name, code(_shortened(row.example))) for row in TOKEN_FORMATS]),
        "## Passwords and keys in context",
        _CONTEXTS,
        table(("What", "Example"), list(_contexts())),
    )


def _shortened(example: str) -> str:
    return re.sub(r"(?:\{[xAd]?\d+\})", "…", example.replace("·", ""))


def _contexts() -> Iterator[tuple[str, str]]:
    for context in CONTEXTS:
        example = re.sub("«.*»", "…", context.example.replace("·", ""), flags=re.DOTALL)
        yield context.name, code(_shortened(example).strip().replace("\n", " ⏎ "))
