"""Hold one package per command.

`__init__` has its parser (`add_parser`) and imports fast; `run` has `run(args)`, which does the work and
returns the exit status; `report` prints the result, as text and as JSON.
"""
