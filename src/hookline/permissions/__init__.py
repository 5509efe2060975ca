"""Whether a tool call may run: rules, modes, grants, and the order in which they are asked."""
