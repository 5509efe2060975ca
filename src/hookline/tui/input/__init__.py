"""What the user types: keys, what they do, earlier prompts, completion."""
