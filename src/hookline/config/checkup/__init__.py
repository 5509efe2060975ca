"""What can be known about hooks without running one: each module finds one kind of mistake."""
