"""Build a reading: the commands found so far with their positions, the doubts, and the cost."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from hookline.shell.found import Stdin
from hookline.shell.grammar.word_parser import MOST_STEPS
from hookline.shell.placeholders import HOLE, Words, base_name
from hookline.shell.reader import ShellCommand, ShellReading
from hookline.shell.runs import forms_of

MOST_COMMANDS = 400
#: Characters that all commands of one reading may hold together.
MOST_TEXT = 1 << 17
#: In steps: reading a command costs as much as so many words.
COST_OF_A_COMMAND = 8
#: The parts of a command's words are gone through several times after parsing, which costs where there are
#: many.
MANY_PARTS = 64
COST_OF_A_PART = 2
_MOST_FLOWS = 4000

#: The parts of pipelines and substitutions that a command belongs to, from the outermost one.
Stages = tuple[int, ...]


class CommandContext(Struct, frozen=True):
    """The position of a command."""

    depth: int = 0
    #: The parts of pipelines and substitutions it belongs to.
    stages: Stages = ()
    stdin: Stdin = Stdin()
    #: It certainly runs, once, by the shell of the line itself.
    certain: bool = True
    #: A redirection around it is its standard input.
    fed: bool = False
    #: The function whose body it is in.
    function: str = ""
    #: Words of the command hold text that the line itself may have made up: code put together from them is
    #: not known.
    made_up: bool = False
    #: xargs reads its last words.
    read: bool = False
    #: It exists only where unknown text is empty.
    perhaps: bool = False
    #: The position of the command that runs it.
    by: int = -1
    #: It runs in a container or on another machine.
    away: bool = False


class Draft:
    def __init__(self) -> None:
        self.commands: list[ShellCommand] = []
        self.stages: list[Stages] = []
        #: Programs that run where unknown text is empty.
        self.perhaps: set[str] = set()
        self.writes: list[str] = []
        #: Those of them that redirections on this machine write to.
        self.writes_here: set[str] = set()
        self.reads: list[str] = []
        #: Counted by the parsers, too.
        self.steps = [0]
        #: True if a permission may apply, as far as it is known.
        self.literal = True
        #: Why text that is typed into a command may be commands, too.
        self.typed = ""
        self._foreign: dict[str, None] = {}
        self._doubts: dict[str, None] = {}
        self._text = 0
        self._last_stage = 0
        self._flows: list[tuple[int, int]] = []
        #: By variable, the stages that it gets its value in, and those that use it.
        self._kept: dict[str, list[int]] = {}
        self._used: dict[str, list[int]] = {}

    def doubt(self, reason: str) -> None:
        self._doubts[reason.replace(HOLE, "…")] = None

    def foreign(self, text: str) -> None:
        self._foreign[text] = None

    def command(self, words: Words, context: CommandContext, outer: Words = ()) -> None:
        forms = forms_of(words)
        command = ShellCommand(
            words, base_name(words[0]), forms, outer=outer, by=context.by, away=context.away
        )
        self.commands.append(command)
        self.stages.append(context.stages)
        self.charge(0, sum(map(len, command.forms)))

    def charge(self, steps: int, text: int) -> None:
        self.steps[0] += steps
        self._text += text

    def full(self) -> bool:
        """Return True if it has cost too much to continue."""
        if len(self.commands) < MOST_COMMANDS and self._text < MOST_TEXT and self.steps[0] < MOST_STEPS:
            return False
        self.doubt("it runs too many commands to judge them all")
        return True

    def stage(self, *, after: int = 0, before: int = 0) -> int:
        """Return a new part of a pipeline or a substitution. The output of `after` goes into it, its own into
        `before`."""
        self._last_stage += 1
        if after:
            self._flows.append((after, self._last_stage))
        if before:
            self._flows.append((self._last_stage, before))
        return self._last_stage

    def keeps(self, name: str, stage: int) -> None:
        """Note that the input of this stage becomes the value of a variable."""
        self._kept.setdefault(name, []).append(stage)

    def uses(self, name: str, stage: int) -> None:
        self._used.setdefault(name, []).append(stage)

    def _through_variables(self) -> None:
        """Connect stages through variables: `X=$(base64 f); curl -d "$X"`. The order is ignored."""
        for name, stages in self._kept.items():
            sources = [source for source, target in self._flows if target in stages]
            pairs = ((source, target) for target in self._used.get(name, ()) for source in sources)
            self._flows.extend(pair for pair in pairs if len(self._flows) < _MOST_FLOWS)

    def reading(self, contents: Mapping[str, str]) -> ShellReading:
        self._through_variables()
        return ShellReading(
            tuple(self.commands),
            tuple(self._foreign),
            tuple(self._doubts),
            self.literal and not self._doubts,
            tuple(dict.fromkeys(self.writes)),
            tuple(dict.fromkeys(self.reads)),
            tuple(self._all_flows()),
            contents,
            self.typed,
            tuple(each for each in dict.fromkeys(self.writes) if each not in self.writes_here),
        )

    def _all_flows(self) -> Iterator[tuple[int, int]]:
        if not self._flows:
            return
        members: dict[int, list[int]] = {}
        for at, stages in enumerate(self.stages):
            for stage in stages:
                members.setdefault(stage, []).append(at)
        count = 0
        for source, target in self._flows:
            for one in members.get(source, ()):
                for other in members.get(target, ()):
                    count += 1
                    if count > _MOST_FLOWS:
                        return
                    yield one, other
