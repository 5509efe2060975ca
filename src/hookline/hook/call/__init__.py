"""Answer one call of another agent, from its payload to the answer in its own terms. Start at `answer.py`."""
