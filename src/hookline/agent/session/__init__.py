"""Run one session: its start and end, prompts, compaction, instructions, watched files, local commands."""
