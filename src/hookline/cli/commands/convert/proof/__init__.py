"""What is certain of a hook's program: how it can end, and what of its surroundings it looks at.

A program is followed branch by branch without being run. Only what is known to mean one thing is followed: the commands
of a table, a subset of Python, a subset of jq. At anything else the proof ends, with the reason why, and Hookline runs
the program instead. So a command that is not in the table costs an entry that is called directly, never a guard.
"""
