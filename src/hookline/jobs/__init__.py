"""Run durable hooks: queue jobs on disk, run them, and deliver their results.

`port` has the records and what a queue must do, `file` is the queue in a SQLite file of the user, `runner`
accepts and runs jobs for an engine. `outbox` and `remote` are the files by which the fleet moves jobs between
machines.
"""
