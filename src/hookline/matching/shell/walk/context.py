"""Where a command is in a line."""

from typing import NamedTuple

from hookline.matching.shell.found import Stdin
from hookline.matching.shell.walk.draft import Stages


class Context(NamedTuple):
    """Where a command is."""

    depth: int = 0
    #: The parts of pipelines and substitutions it belongs to.
    stages: Stages = ()
    stdin: Stdin = Stdin()
    #: It is run for sure, once, by the shell of the line itself.
    certain: bool = True
    #: A redirection around it is its standard input.
    fed: bool = False
    #: The function whose body it is in.
    function: str = ""
    #: Words of the command hold what the line itself may have made up: code put together from them is not known.
    made_up: bool = False
