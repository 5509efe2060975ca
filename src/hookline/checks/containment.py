"""How well processes that hooks leave behind can be found on this system."""

import sys
from typing import Literal

Tier = Literal["subreaper", "process group"]

KNOWN_GAP = "a process that left its session, emptied its environment and lost its parent is not found"


def containment_tier(platform: str = sys.platform) -> Tier:
    """What the command line gets when it asks; a host that embeds the engine asks for more than groups itself."""
    return "subreaper" if platform == "linux" else "process group"
