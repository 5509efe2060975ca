"""Follow options that a line gives its programs without writing them: by variables, stored settings and files."""

import re
from collections.abc import Iterator, Mapping, Sequence

from hookline.shell.environment import git_settings, options_of_variable
from hookline.shell.found import Found, Inner
from hookline.shell.placeholders import Words
from hookline.shell.programs import row_of

_CONFIG_ENV = "--config-env"
_OF_CURL = r"(?m)^[ \t]{0,40}-{0,2}(?:url|data|form|upload-file|proxy|json|header)\b"
#: `url = "…"` in a file of settings for curl.
_SETTING = r"\s*-{0,2}([a-z][\w-]*)(?:\s*[=:]\s*|\s+)\"?([^\"\n]*)"
_MOST_OPTIONS = 128
_MOST_LINES = 100


class GivenOptions:
    def __init__(self) -> None:
        #: By program, its further options.
        self.given: dict[str, list[str]] = {}
        self._values: dict[str, str] = {}
        self._made: set[Words] = set()
        #: Commands that store settings: it is not they that go by them.
        self._stores: set[Words] = set()

    def sets(self, name: str, value: str) -> None:
        """Note a variable, which may be an option of a program."""
        self._values[name] = value
        for program, option in options_of_variable(name) if value else ():
            if option != "-c":
                self._give(program, option, value)
            elif name == "GIT_CONFIG_PARAMETERS":
                self._give(program, option, *git_settings(value))
            else:
                number = name.rpartition("_")[2]
                pair = [self._values.get(f"GIT_CONFIG_{part}_{number}") for part in ("KEY", "VALUE")]
                self._give(program, option, *(f"{key}={text}" for key, text in [pair] if key and text))

    def note(self, program: str, words: Words) -> None:
        """Note a command that stores settings, or sets variables for another one."""
        row = row_of(program)
        if row is not None and row.assigns:
            for name, equals, value in (word.partition("=") for word in words[1:]):
                if equals:
                    self.sets(name, value)
        elif program == "git":
            from hookline.shell.programs import git  # noqa: PLC0415 few lines need it

            kept = tuple(git.kept_settings(words))
            if kept:
                self._stores.add(words)
            self._give("git", "-c", *kept)
            for at, word in enumerate(words):
                if word.startswith(_CONFIG_ENV):
                    setting = word[len(_CONFIG_ENV) + 1 :] or "".join(words[at + 1 : at + 2])
                    key, _, name = setting.rpartition("=")
                    self._give(
                        "git", "-c", *(f"{key}={self._values[name]}" for _ in "1" if name in self._values)
                    )

    def note_files(self, texts: Mapping[str, Sequence[str | None]]) -> None:
        """Note settings in files that the line writes."""
        from hookline.shell.programs import git  # noqa: PLC0415 as above

        for file, text in ((file, text) for file, known in texts.items() for text in known if text):
            self._give("git", "-c", *git.settings_in(file, text))
            if re.search(_OF_CURL, text):
                settings = (re.match(_SETTING, line) for line in text.splitlines()[:_MOST_LINES])
                self._give("curl", "", *(f"--{one[1]}={one[2]}" for one in settings if one))

    def _give(self, program: str, option: str, *values: str) -> None:
        given = self.given.setdefault(program, []) if values else []
        for value in values:
            if value not in given and len(given) < _MOST_OPTIONS:
                given += (option, value) if option else (value,)

    def found(self, program: str, words: Words) -> Iterator[Found]:
        """Yield the command with these options."""
        more = tuple(self.given.get(program, ()))
        made = (words[0], *more, *words[1:])
        if more and words not in self._stores and words[1 : len(more) + 1] != more and made not in self._made:
            self._made.add(made)
            yield Inner(made)
