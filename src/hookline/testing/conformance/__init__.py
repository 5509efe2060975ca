"""The conformance suite: does an agent do what its hooks say?

You write a harness (`hookline.testing.conformance.harness` says how); the suite plays its cases with it.
"""

from hookline.testing.conformance.harness import (
    Conversation,
    Harness,
    Helper,
    Limit,
    Request,
    Response,
    Said,
    Script,
    Seen,
    Tool,
    ToolUse,
    UnplayableError,
    each_prompt,
)

__all__ = [
    "Conversation",
    "Harness",
    "Helper",
    "Limit",
    "Request",
    "Response",
    "Said",
    "Script",
    "Seen",
    "Tool",
    "ToolUse",
    "UnplayableError",
    "each_prompt",
]
