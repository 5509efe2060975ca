"""Handle what the user types: keys, their actions, earlier prompts, completion."""
