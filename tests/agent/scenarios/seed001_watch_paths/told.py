"""Keeps what it is told; the first change makes it want another file watched as well."""

import json
import os
import sys

told = json.load(sys.stdin)
if told["event"] == "add":
    second = os.path.join(told["cwd"], "second.txt")
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "FileChanged", "watchPaths": [second]}}))
with open("told.txt", "a") as kept:
    kept.write(f"{told['event']} {told['file_path']}\n")
