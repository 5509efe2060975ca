"""Trust in what a project brings: what an item is, where the user's answers are stored, and what may run."""
