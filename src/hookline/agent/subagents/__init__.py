"""Run subagents: the tool that starts them, definitions of agents in files, git worktrees."""
