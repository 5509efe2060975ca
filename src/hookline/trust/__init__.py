"""What of a project the user has vouched for: what an entry is, where that is stored, and what may run."""
