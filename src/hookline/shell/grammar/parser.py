"""Parse shell lines strictly, as bash reads them or, without `bash`, as a POSIX shell such as dash does.

Strict means that it recognises what the shells do and refuses everything else: what cannot be parsed must not
be judged. It never guesses and never recovers from a mistake. Its work is bounded by a count of steps.
"""

import re

from hookline.shell.grammar.redirect_parser import RedirectParser
from hookline.shell.grammar.syntax import (
    Assignment,
    Block,
    Item,
    List,
    Node,
    Part,
    Pipeline,
    Redirect,
    Simple,
    Test,
    Text,
    Word,
)
from hookline.shell.grammar.word_parser import UNKNOWN, CannotParseError, TooMuchError, UnclearError

__all__ = ["CannotParseError", "Parser", "TooMuchError", "UnclearError"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Between the commands of a list.
_SEPARATOR = re.compile(r"&&|\|\||;;&|;;|;&|;|\|&|\||&|\n")

#: Letters before a line that is continued: `else\\`.
_CONTINUED = re.compile(r"([a-z!{}\[]+)\\\n")
_OPENERS = frozenset(
    ("if", "while", "until", "for", "case", "select", "function", "{", "[[", "!", "time", "coproc")
)
_BASH_ONLY = frozenset(("select", "function", "[[", "time", "coproc"))
_CLOSERS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
#: Words that are the shell's own where a command may begin.
RESERVED = _OPENERS | _CLOSERS | {"in"}
#: Commands whose arguments may be assignments, arrays included.
_DECLARING = frozenset(("declare", "typeset", "local", "export", "readonly", "alias", "eval"))


class Parser(RedirectParser):
    """One text. `done` has the complete part before a mistake: a shell has run that by then."""

    def __init__(self, text: str, bash: bool = True, depth: int = 0, steps: list[int] | None = None) -> None:
        super().__init__(text, bash, depth, steps)
        self.done: list[Item] = []

    def parse(self) -> List:
        """Parse the text. Raises CannotParseError."""
        found = self._list((), self.done)
        if self.at < len(self.text):
            raise self.cannot(f"{self.text[self.at]} is not expected")
        self.end_here_documents()
        return found

    def nested(self, text: str) -> List:
        """Parse the code between backquotes, which is unescaped first."""
        return Parser(text, self.bash, self.depth + 1, self.steps).parse()

    def substituted(self) -> List:
        """Parse the code after `$(`, up to its `)`."""
        outer, self.pending = self.pending, []
        begun = self.at
        self.deeper(1)
        body = self._list(())
        self._expect(")")
        self.deeper(-1)
        if self.pending or (outer and "\n" in self.text[begun : self.at]):
            raise self.unclear(
                "a here-document inside a substitution cannot be distinguished from one around it"
            )
        self.pending = outer
        return body

    # Lists and pipelines

    def _list(self, closers: tuple[str, ...], done: list[Item] | None = None) -> List:
        """Parse commands up to a closing word, a `)` or the end."""
        items: list[Item] = done if done is not None else []
        after = ";"
        while True:
            self.step()
            self._blank_lines()
            if self._ends(closers):
                if after in {"&&", "||"}:
                    raise self.cannot("a command is missing")
                return List(tuple(items))
            items.append(Item(self._pipeline(), after))
            self._comment()
            separator = self._separator()
            after = separator if separator in {"&&", "||"} else ";"
            if separator == "&":
                items[-1] = items[-1]._replace(background=True)
            if separator == "" and not self._ends(closers):
                raise self.cannot(f"{self.text[self.at : self.at + 10]!r} is not expected")

    def _separator(self) -> str:
        """Read what ends a command, if it is not the end of the list itself. `|` belongs to the pipeline."""
        found = _SEPARATOR.match(self.text, self.at)
        if found is None or found[0] in {"|", "|&"} or found[0].startswith(";;") or found[0] == ";&":
            return ""
        self._joined_operator(found.end())
        if found[0] == "\n":
            return "\n"  # it is read with the blank lines, which begin here-documents
        self.at = found.end()
        return found[0]

    def _joined_operator(self, end: int) -> None:
        if self.text.startswith("\\\n", end) and self.text[end + 2 : end + 3] in {
            "&",
            "|",
            ";",
            "<",
            ">",
            "(",
        }:
            raise self.unclear("an operator continues on the next line")

    def _ends(self, closers: tuple[str, ...]) -> bool:
        if self.at >= len(self.text) or self.text[self.at] == ")":
            return True
        if self.text.startswith((";;", ";&"), self.at):
            return True
        word = self._reserved()
        if word in _CLOSERS:
            if word not in closers:
                raise self.cannot(f"{word} is not expected")
            return True
        return False

    def _comment(self) -> None:
        self.blanks()
        if self.text.startswith("#", self.at):
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def _blank_lines(self) -> None:
        while True:
            self._comment()
            if self.at < len(self.text) and self.text[self.at] == "\n":
                self.step()
                self.at += 1
                self.read_here_documents()
                continue
            return

    def _pipeline(self) -> Node:
        commands: list[Node] = []
        while True:
            self.step()
            commands.append(self._command())
            self.blanks()
            if self.text.startswith("||", self.at) or not self.text.startswith("|", self.at):
                break
            self._joined_operator(self.at + 1)
            self.at += 2 if self.bash and self.text.startswith("|&", self.at) else 1
            self._blank_lines()
        return commands[0] if len(commands) == 1 else Pipeline(tuple(commands))

    # One command

    def _reserved(self) -> str:
        """Return the reserved word that comes next, if one does."""
        word = self.plain_word()
        part = _CONTINUED.match(self.text, self.at) if not word else None
        if part is not None and any(each.startswith(part[1]) for each in _CLOSERS | _OPENERS):
            raise self.unclear(f"{part[1]} continues on the next line")
        if word in _CLOSERS:
            return word
        return word if word in _OPENERS and (self.bash or word not in _BASH_ONLY) else ""

    def _command(self) -> Node:
        word = self._reserved()
        if word in _CLOSERS:
            raise self.cannot(f"{word} is not expected")
        if self.text.startswith("(", self.at):
            return self._brackets()
        if not word:
            return self._simple()
        if word not in {"[[", "{"}:
            self.at += len(word)
        # It is read more than once on the way here.
        self.step(2)
        self.deeper(1)
        node = self._compound(word)
        self.deeper(-1)
        return node

    def _compound(self, word: str) -> Node:
        """Parse what the reserved word begins."""
        if word in {"!", "time"}:
            return self._prefixed()
        if word in {"while", "until"}:
            return self._while()
        if word in {"for", "select"}:
            return self._for()
        others = {"{": self._group, "if": self._if, "case": self._case, "[[": self._test}
        if word in others:
            return others[word]()
        return self._function() if word == "function" else self._coproc()

    def _prefixed(self) -> Node:
        """Parse `! command`, `time -p command`: both may stand alone."""
        self.blanks()
        while self.plain_word() in {"-p", "--"}:
            self.at += 2
            self.blanks()
        if self.at >= len(self.text) or self.text[self.at] in ";&|\n)":
            return Simple(())
        return self._command()

    def _simple(self) -> Node:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        declaring = False
        while True:
            self.step()
            self.blanks()
            if self.redirect(redirects):
                continue
            if self.at >= len(self.text) or self.text[self.at] in ";&|\n)":
                break
            if self.text[self.at] == "#":
                break
            if self.text[self.at] == "(":
                return self._function_of(words, assignments, redirects)
            if not words or declaring:
                assignment = self.assignment()
                if assignment is not None:
                    assignments.append(assignment)
                    if declaring:
                        words.append(
                            (Text(f"{assignment.name}=", quoted=True), *(assignment.value or (UNKNOWN,)))
                        )
                    continue
            word = self.word()
            words.append(word)
            declaring = declaring or (self.bash and len(words) == 1 and self.text_of(word) in _DECLARING)
        if not words and not assignments and not redirects:
            raise self.cannot("a command is missing")
        return Simple(tuple(words), tuple(assignments), tuple(redirects))

    def _function_of(
        self, words: list[Word], assignments: list[Assignment], redirects: list[Redirect]
    ) -> Node:
        """Parse `name() body`."""
        self.at += 1
        self.blanks()
        self._expect(")")
        name = self.text_of(words[0]) if len(words) == 1 else None
        if name is None or assignments or redirects:
            raise self.cannot("( is not expected")
        return self._function_body(name)

    def _function(self) -> Node:
        self.blanks()
        name = self.text_of(self.word()) if self._at_word() else None
        if name is None:
            raise self.cannot("a function has no name")
        self.blanks()
        if self.text.startswith("(", self.at) and not self.text.startswith("((", self.at):
            self.at += 1
            self.blanks()
            self._expect(")")
        return self._function_body(name)

    def _function_body(self, name: str) -> Node:
        self._blank_lines()
        if self.bash and not self.text.startswith("(", self.at) and self._reserved() in {"", "!", "time"}:
            raise self.cannot("a function has no body")
        self.deeper(1)
        body = self._command()
        self.deeper(-1)
        redirects: list[Redirect] = []
        if isinstance(body, Block | Test):
            body, redirects = body._replace(redirects=()), list(body.redirects)
        return Block("function", (List((Item(body),)),), tuple(redirects), name)

    def _at_word(self) -> bool:
        return self.at < len(self.text) and self.text[self.at] not in " \t\n;&|<>()"

    # Compound commands

    def _closed(self, node: Block | Test) -> Node:
        """Add the redirections that follow. Only an operator may come after these."""
        redirects: list[Redirect] = []
        while True:
            self.blanks()
            if not self.redirect(redirects):
                return node._replace(redirects=tuple(redirects))

    def _expect(self, text: str) -> None:
        if not self.text.startswith(text, self.at):
            raise self.cannot(f"{text} is missing")
        self.at += len(text)

    def _expect_word(self, *words: str) -> str:
        self._blank_lines()
        found = self.plain_word()
        if found not in words:
            raise self.cannot(f"{words[0]} is missing")
        self.at += len(found)
        return found

    def _brackets(self) -> Node:
        if self.bash and self.text.startswith("((", self.at):
            expression = self.double_brackets(self.at + 2)
            if expression is not None:
                return self._closed(Test((expression,), arithmetic=True))
        self.at += 1
        self.deeper(1)
        body = self._list(())
        self._expect(")")
        self.deeper(-1)
        return self._closed(Block("subshell", (body,)))

    def _group(self) -> Node:
        self._expect_word("{")
        body = self._list(("}",))
        self._expect_word("}")
        return self._closed(Block("group", (body,)))

    def _filled(self, *closers: str) -> List:
        found = self._list(closers)
        if not found.items:
            raise self.cannot("a command is missing")
        return found

    def _if(self) -> Node:
        bodies = [self._filled("then")]
        self._expect_word("then")
        while True:
            bodies.append(self._filled("elif", "else", "fi"))
            word = self._expect_word("fi", "elif", "else")
            if word == "fi":
                break
            bodies.append(self._filled("then" if word == "elif" else "fi"))
            if self._expect_word("then", "fi") == "fi":
                break
        return self._closed(Block("if", tuple(bodies)))

    def _while(self) -> Node:
        condition = self._filled("do")
        return self._closed(Block("loop", (condition, self._do())))

    def _do(self) -> List:
        if self.bash and self.plain_word() == "{":
            self._expect_word("{")
            body = self._filled("}")
            self._expect_word("}")
            return body
        self._expect_word("do")
        body = self._filled("done")
        self._expect_word("done")
        return body

    def _for(self) -> Node:
        self.blanks()
        if self.bash and self.text.startswith("((", self.at):
            header = self.double_brackets(self.at + 2)
            if header is None:
                raise self.cannot("(( is never closed")
            self._after_header()
            test = List((Item(Test((header,), arithmetic=True)),))
            return self._closed(Block("loop", (test, self._do())))
        name = _NAME.match(self.text, self.at)
        if name is None:
            raise self.cannot("a loop has no variable")
        self.at = name.end()
        self._blank_lines()
        words: list[Word] | None = None
        if self.plain_word() == "in":
            self.at += 2
            words = self._words_of_line()
        self._after_header()
        return self._closed(
            Block("loop", (self._do(),), name=name[0], words=None if words is None else tuple(words))
        )

    def _after_header(self) -> None:
        self.blanks()
        if self.text.startswith(";", self.at) and not self.text.startswith(";;", self.at):
            self.at += 1
        self._blank_lines()

    def _words_of_line(self) -> list[Word]:
        words: list[Word] = []
        while True:
            self.step()
            self.blanks()
            if self.at >= len(self.text) or self.text[self.at] in ";\n#":
                return words
            if not self._at_word() and not self.text.startswith(("<(", ">("), self.at):
                raise self.cannot(f"{self.text[self.at]} is not expected")
            words.append(self.word())

    def _case(self) -> Node:
        self.blanks()
        compared = [self.word()]
        self._expect_word("in")
        bodies: list[List] = []
        while True:
            self._blank_lines()
            if self.plain_word() == "esac":
                self.at += 4
                return self._closed(Block("case", tuple(bodies), words=tuple(compared)))
            if self.text.startswith("(", self.at):
                self.at += 1
            compared.extend(self._patterns())
            bodies.append(self._list(("esac",)))
            self._blank_lines()
            for end in (";;&", ";;", ";&") if self.bash else (";;",):
                if self.text.startswith(end, self.at):
                    self.at += len(end)
                    break
            else:
                if self.plain_word() != "esac":
                    raise self.cannot("esac is missing")

    def _patterns(self) -> list[Word]:
        found: list[Word] = []
        while True:
            self.step()
            self.blanks()
            if not self._at_word():
                raise self.cannot("a case has no pattern")
            found.append(self.word(pattern=True))
            self.blanks()
            if self.text.startswith(")", self.at):
                self.at += 1
                return found
            self._expect("|")

    def _coproc(self) -> Node:
        self.blanks()
        name = self.plain_word()
        named = _NAME.fullmatch(name) is not None and name not in _OPENERS
        if named:
            begun = self.at
            self.at += len(name)
            self.blanks()
            opens = self.text.startswith("(", self.at) or self._reserved() in _OPENERS - {"!", "time"}
            if not opens:
                self.at, name = begun, ""
        body = self._command()
        return Block("coproc", (List((Item(body),)),), name=name if named else "")

    def _test(self) -> Node:
        """Parse `[[ ... ]]`. Only its words matter, and where it ends."""
        self.at += 2
        words: list[Word] = []
        open_brackets = 0
        before = ""
        while True:
            self.step()
            self._blank_lines()
            if self.at >= len(self.text):
                raise self.cannot("]] is missing")
            if self.plain_word() == "]]" and open_brackets == 0 and before not in {"=~", "==", "=", "!="}:
                self.at += 2
                return self._closed(Test(tuple(words), arithmetic=False))
            regular = before == "=~"
            if not regular and self.text.startswith(("&&", "||"), self.at):
                self.at += 2
                before = "&&"
            elif (
                not regular
                and self.text[self.at] in "()<>"
                and not self.text.startswith(("<(", ">("), self.at)
            ):
                open_brackets += {"(": 1, ")": -1}.get(self.text[self.at], 0)
                self.at += 1
                before = "("
            elif not regular and self.text[self.at] in ";&|":
                raise self.cannot(f"{self.text[self.at]} is not expected in [[ ]]")
            else:
                word: tuple[Part, ...] = self.word(pattern=before in {"==", "=", "!=", "=~"}, regular=regular)
                before = self.text_of(word) or ""
                words.append(word)
