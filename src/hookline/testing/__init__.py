"""What people test their hooks and their agents with."""
