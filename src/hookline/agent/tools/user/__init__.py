"""Tools by which the model addresses its user: a plan to approve, a list of steps, a question."""
